"""Commands that look inside a run: what each instruction costs, and what each wrote."""

from __future__ import annotations

import dataclasses
import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Table

from bench import store
from bench.cache import write_atomically
from bench.catalogue import find_boards
from bench.errors import InputError, UnknownNameError
from bench.operators import FILE, REMAINDER, OperatorTable, read_table, shape_text
from bench.record import Record

if TYPE_CHECKING:
    from bench.diff import Difference, LayerDiff

_WIDE = 240
_SHOWN_CHANNELS = 4


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command()(diff)


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
        console.print(operators_of(record, table))


def operators_of(record: Record, table: OperatorTable) -> Table:
    """Return the operators of a record, beside the estimate of its whole inference: the warm one, else the first."""
    estimate = record.find("latency", "est_cycles") or record.find("latency_first", "est_cycles")
    return operators_table(table, _title(record), estimate.median if estimate else None)


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


def diff(
    model: Annotated[str, typer.Argument(help="Model: a zoo name or path/to/file.py:build.")],
    board: Annotated[str, typer.Option(help="Board to run on.")],
    scheme: Annotated[str, typer.Option(help="Quantization scheme.")] = "int8",
    samples: Annotated[int, typer.Option(min=1, help="Run so many of the model's samples.")] = 1,
    pte: Annotated[
        Path | None,
        typer.Option(help="Run this program in the place of the exported one; the same operators."),
    ] = None,
    *,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for a machine.")] = False,
) -> None:
    """Compare every layer on the device with host int8 and float: which is the first that differs?

    Exit code 1 if one does.
    """
    from bench.diff import diff_model  # noqa: PLC0415  only this command runs anything
    from bench.pipeline import Case  # noqa: PLC0415

    chosen = find_boards(board)
    if len(chosen) != 1:
        raise UnknownNameError(f"{board!r} names {len(chosen)} boards, one program runs on one")
    found = diff_model(
        Case(chosen[0], model, scheme), samples, lambda text: typer.echo(text, err=True), pte=pte
    )
    if as_json:
        first = found.first
        told = dataclasses.asdict(found) | {"first": None if first is None else first.info.index}
        typer.echo(json.dumps(told, indent=1))
    else:
        Console(width=None if sys.stdout.isatty() else _WIDE).print(difference_table(found))
        typer.echo(verdict_of(found))
    if found.first is not None:
        raise typer.Exit(1)


def difference_table(found: Difference) -> Table:
    """Return every layer as a row."""
    samples = f"{found.samples} sample{'' if found.samples == 1 else 's'}"
    title = f"{found.model} {found.scheme} on {found.board}, {samples}"
    shown = Table(title=title, title_justify="left", header_style="bold")
    shown.add_column("#", justify="right")
    for heading in ("layer", "operator", "result"):
        shown.add_column(heading, no_wrap=True)
    for heading in ("\u2260 host", "largest", "SNR vs float"):
        shown.add_column(heading, justify="right", no_wrap=True)
    shown.add_column("channels that differ most")
    shown.add_column("stuck at a rail")
    for layer in found.layers:
        info = layer.info
        shape = "x".join(str(size) for size in info.output)
        shown.add_row(
            str(info.index),
            info.layer,
            info.operator,
            f"{layer.dtype} {shape}",
            f"{layer.differing:,} of {layer.elements:,}" if layer.compared else "no reference",
            _distance(layer.largest, layer) if layer.differing else "-",
            "-" if layer.snr_db is None else f"{layer.snr_db:.1f} dB",
            _channels(layer),
            _stuck(layer),
            style="bold red" if layer is found.first else None,
        )
    return shown


def verdict_of(found: Difference) -> str:
    """Return the one sentence that matters."""
    unknown = sum(not layer.compared for layer in found.layers)
    aside = f" ({unknown} without a reference)" if unknown else ""
    first = found.first
    if first is None:
        return f"no layer differs from {found.oracle}{aside}"
    layer = first.info.layer or "no layer's"
    return (
        f"first difference: instruction {first.info.index}, {layer}, {first.info.operator}: "
        f"{first.differing:,} of {first.elements:,} elements, by up to {_distance(first.largest, first)}{aside}"
    )


def _distance(value: float, layer: LayerDiff) -> str:
    return f"{value:g} step{'' if value == 1 else 's'}" if layer.in_steps else f"{value:.3g}"


def _channels(layer: LayerDiff) -> str:
    shown = [
        f"{one.channel}: {one.differing:,} by {one.largest:g}"
        for one in layer.channels[:_SHOWN_CHANNELS]
    ]
    more = len(layer.channels) - len(shown)
    return "; ".join(shown) + (f"; and {more} more" if more > 0 else "")


def _stuck(layer: LayerDiff) -> str:
    wrong = [one for one in layer.stuck if not one.dead_in_float]
    dead = len(layer.stuck) - len(wrong)
    shown = [f"{one.channel} at {one.rail}" for one in wrong[:_SHOWN_CHANNELS]]
    if len(wrong) > len(shown):
        shown.append(f"{len(wrong) - len(shown)} more")
    if dead:
        shown.append(f"{dead} dead in float too")
    return ", ".join(shown)
