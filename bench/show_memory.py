"""RAM and Flash of records: every part in one table with instructions and estimate, and headroom by memory region."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from rich.table import Table

from bench.headroom import FLASH_PARTS, RAM_PARTS, with_reserves
from bench.record import NOT_ESTABLISHED, Measure, Record
from bench.show import best_latency, board_label, evidence_title

_SHORT = {"input_output": "in/out"}


def parts_tables(records: Sequence[Record]) -> list[Table | str]:
    """Return a table for each kind of evidence: latency, estimate with its band, and bytes by part; then what a star means."""
    groups: dict[str, list[Record]] = {}
    for record in records:
        if record.measures:
            groups.setdefault(evidence_title(record), []).append(record)
    tables = [_parts(title, group) for title, group in groups.items()]
    estimates = (best_latency(record, estimated=True) for record in records)
    starred = any(one is not None and NOT_ESTABLISHED in one.source for one in estimates)
    return [*tables, _FOOTNOTE] if starred else [*tables]


def _parts(title: str, records: list[Record]) -> Table:
    table = Table(
        title=f"{title}; bytes of the deployment image, parts add up to the totals",
        title_justify="left",
        header_style="bold",
    )
    for heading in ("board", "core", "model", "scheme"):
        table.add_column(heading, no_wrap=True)
    for heading in (
        *("latency", "est. cycles", "band", "RAM"),
        *(_short(part) for part in RAM_PARTS),
        "Flash",
        *(_short(part) for part in FLASH_PARTS),
    ):
        table.add_column(heading, justify="right", no_wrap=True)
    for record in sorted(records, key=lambda r: (r.model.name, r.scheme, r.board.cpu, r.board.id)):
        table.add_row(
            board_label(record),
            record.board.cpu.removeprefix("cortex-").upper(),
            record.model.name,
            record.scheme,
            _figure(best_latency(record)),
            *_estimate(best_latency(record, estimated=True)),
            *(_figure(record.find(name)) for name in ("ram_total", *RAM_PARTS)),
            *(_figure(record.find(name)) for name in ("flash_total", *FLASH_PARTS)),
        )
    return table


def _short(part: str) -> str:
    name = part.split("_", 1)[1]
    return _SHORT.get(name, name)


def _figure(measure: Measure | None) -> str:
    if measure is None:
        return "-"
    return f"{measure.median:,.{3 if measure.unit == 'ms' else 0}f}"


def _estimate(measure: Measure | None) -> tuple[str, str]:
    """Return the estimate and its band in percent; a star marks the default where no band is established."""
    if measure is None or measure.band is None or not measure.median:
        return "-", "-"
    low, high = (100 * (end / measure.median - 1) for end in measure.band)
    star = " *" if NOT_ESTABLISHED in measure.source else ""
    return f"{measure.median:,.0f}", f"{low:+.0f} to {high:+.0f} %{star}"


_FOOTNOTE = f"* {NOT_ESTABLISHED}: a wide default (docs/estimate.md)"


def region_tables(
    records: Iterable[Record], reserves: Mapping[str, int] | None = None
) -> list[Table]:
    """Return one table: a row for each physical memory of each record's board.

    Args:
        reserves: bytes by kind, `RAM` and `Flash`, in the place of the records' own.
    """
    table = Table(
        title="memory regions: what the model needs, what is left after the application's reserve",
        title_justify="left",
        header_style="bold",
    )
    for heading in ("board", "model", "scheme", "memory", "kind", "image"):
        table.add_column(heading, no_wrap=True)
    for heading in ("have B", "need B", "reserve B", "headroom B", "headroom"):
        table.add_column(heading, justify="right", no_wrap=True)
    for record in sorted(records, key=lambda r: (r.model.name, r.scheme, r.board.cpu, r.board.id)):
        found = record.regions if reserves is None else with_reserves(record.regions, reserves)
        for one in found:
            table.add_row(
                board_label(record),
                record.model.name,
                record.scheme,
                one.name,
                one.kind,
                one.image if one.image == "deployment" else "lab: upper bound",
                f"{one.have_bytes:,}",
                f"{one.need_bytes:,}",
                f"{one.reserve_bytes:,}",
                f"{one.headroom_bytes:,}",
                f"{one.headroom_percent:.1f} %",
                style="bold red" if one.headroom_bytes < 0 else None,
            )
    return [table]


_LESS = {"latency": None, "ram": "ram_total", "flash": "flash_total"}


def what_if_tables(records: Iterable[Record]) -> list[Table]:
    """Return one table: what each int8 program would need less with int8 inputs and outputs. Nothing of it was run."""
    table = Table(
        title="what if inputs and outputs were int8 (not measured; --scheme=int8-ends makes such a program)",
        title_justify="left",
        header_style="bold",
    )
    for heading in ("board", "model", "scheme"):
        table.add_column(heading, no_wrap=True)
    for heading in ("latency now", "less", "RAM B now", "less, at most", "Flash B now", "less"):
        table.add_column(heading, justify="right", no_wrap=True)
    for record in sorted(records, key=lambda r: (r.model.name, r.scheme, r.board.cpu, r.board.id)):
        saved = {kind: record.find(f"what_if_int8_ends_{kind}") for kind in _LESS}
        if not any(saved.values()):
            continue
        cells = []
        for kind, total in _LESS.items():
            whole = best_latency(record) if total is None else record.find(total)
            unit = f" {whole.unit}" if total is None and whole is not None else ""
            cells += [f"{_figure(whole)}{unit}", _share(saved[kind], whole)]
        table.add_row(board_label(record), record.model.name, record.scheme, *cells)
    return [table]


def _share(saved: Measure | None, whole: Measure | None) -> str:
    if saved is None:
        return "-"
    share = f" ({saved.median / whole.median:.1%})" if whole is not None and whole.median else ""
    return f"{_figure(saved)}{share}"
