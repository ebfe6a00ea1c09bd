"""Commands that look inside a run: what each instruction costs."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

import typer
from rich.console import Console
from rich.table import Table

from bench import store
from bench.cache import write_atomically
from bench.errors import InputError
from bench.operators import FILE, REMAINDER, OperatorTable, read_table, shape_text
from bench.record import Record

_WIDE = 200


def show_operators(
    records: Iterable[tuple[Path, Record]],
    *,
    etdump: Path | None = None,
    chart: Path | None = None,
    as_json: bool = False,
) -> None:
    """Print the operators of each record, or write the one that is left as ETDump or SVG.

    Raises:
        InputError: a file was asked for and the records are not exactly one.
        RecordError: a table is missing or was changed.
    """
    chosen = [(path, record) for path, record in records if record.measures]
    if (etdump is not None or chart is not None) and len(chosen) != 1:
        raise InputError(
            f"one file holds the operators of one run, {len(chosen)} match",
            hint="choose with --board and --model",
        )
    tables = [(r, read_table(store.read_attachment(path, r, FILE))) for path, r in chosen]
    if etdump is not None:
        from bench.etdump import write_etdump  # noqa: PLC0415  needs the generated writer

        write_atomically(etdump, write_etdump(tables[0][1]))
    if chart is not None:
        from bench.chart import operators_svg  # noqa: PLC0415  matplotlib takes a second

        record, table = tables[0]
        write_atomically(chart, operators_svg(table, _title(record)))
    if as_json:
        typer.echo("[" + ",\n".join(table.to_json() for _, table in tables) + "]")
        return
    if not tables:
        typer.echo("no records match; `bench show` tells what there is")
    console = Console(width=None if sys.stdout.isatty() else _WIDE)
    for record, table in tables:
        estimate = record.find("latency", "est_cycles")
        est_latency = estimate.median if estimate is not None else None
        console.print(operators_table(table, _title(record), est_latency))


def _title(record: Record) -> str:
    return f"{record.model.name} {record.scheme} on {record.board.id}"


def operators_table(table: OperatorTable, title: str, est_latency: float | None = None) -> Table:
    """Return the operators as a table: rows, the remainder by its name, and the whole.

    Args:
        est_latency: estimated cycles of the whole inference, if a timing model gave them.
    """
    estimates = [row.est_cycles for row in table.rows if row.est_cycles is not None]
    estimated = bool(estimates)
    est_remainder = None if est_latency is None else est_latency - sum(estimates)
    shown = Table(title=f"{title}: {table.evidence}", title_justify="left", header_style="bold")
    shown.add_column("#", justify="right")
    for heading in ("layer", "operator", "shapes", "kind"):
        shown.add_column(heading, no_wrap=True)
    for heading in (
        "MACs",
        table.unit,
        *(["est_cycles"] if estimated else []),
        "share",
        "MACs each",
    ):
        shown.add_column(heading, justify="right", no_wrap=True)

    def figures(value: float, est: float | None) -> list[str]:
        share = value / table.latency if table.latency else 0.0
        beside = ["-" if est is None else f"{est:,.0f}"] if estimated else []
        return [f"{value:,.{3 if table.unit == 'ms' else 0}f}", *beside, f"{share:.1%}"]

    for row in table.rows:
        info = row.info
        shown.add_row(
            str(info.index),
            info.layer,
            info.operator,
            shape_text(info),
            info.kind,
            f"{info.macs:,}" if info.macs else "-",
            *figures(row.value, row.est_cycles),
            f"{row.macs_per_unit:.2f}" if info.macs else "-",
        )
    shown.add_row(
        "", "", REMAINDER, "", "", "", *figures(table.remainder, est_remainder), "", style="dim"
    )
    macs = sum(row.info.macs for row in table.rows)
    shown.add_section()
    shown.add_row(
        *("", "", "latency", "", "", f"{macs:,}" if macs else "-"),
        *figures(table.latency, est_latency),
        f"{macs / table.latency:.2f}" if macs and table.latency else "-",
    )
    return shown
