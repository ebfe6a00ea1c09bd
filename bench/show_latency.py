"""Every timed window of records, with what its samples are like."""

from __future__ import annotations

from collections.abc import Iterable

from rich.table import Table

from bench.record import Evidence, Measure, Record, Summary, summarise
from bench.show import board_label

_WINDOWS = {  # prefix of the measure's name -> what it is, in the order of time
    "load": "load",
    "latency_first_pre": "cold: inputs in",
    "latency_first": "cold: inference",
    "latency_first_post": "cold: outputs out",
    "latency_warmup_pre": "warm-up: inputs in",
    "latency_warmup": "warm-up: inference",
    "latency_warmup_post": "warm-up: outputs out",
    "latency_pre": "warm: inputs in",
    "latency": "warm: inference",
    "latency_post": "warm: outputs out",
}
_ORDER = tuple(_WINDOWS)
_HEADINGS = ("n", "minimum", "median", "p95", "p99", "maximum", "spread", "95 % of the median")


def latency_tables(records: Iterable[Record]) -> list[Table]:
    """Return a table a record: a row for each window and kind of evidence."""
    return [_table(record) for record in records if record.measures]


def _table(record: Record) -> Table:
    title = f"{record.model.name} {record.scheme} on {board_label(record)}: every window"
    table = Table(title=title, title_justify="left", header_style="bold")
    for heading in ("window", "unit"):
        table.add_column(heading, no_wrap=True)
    for heading in _HEADINGS:
        table.add_column(heading, justify="right", no_wrap=True)
    windows = [measure for measure in record.measures if measure.name in _WINDOWS]
    kinds = [kind for kind in Evidence if any(one.evidence is kind for one in windows)]
    for kind in kinds:
        table.add_section()
        mine = (one for one in windows if one.evidence is kind)
        for measure in sorted(mine, key=lambda one: _ORDER.index(one.name)):
            table.add_row(_WINDOWS[measure.name], measure.unit, *_figures(measure))
    return table


def _figures(measure: Measure) -> list[str]:
    summary: Summary = measure.summary or summarise(measure.values)

    def text(value: float | None) -> str:
        if value is None:
            return "-"
        return f"{value:,.4g}" if measure.unit == "ms" else f"{value:,.0f}"

    percentiles = [text(getattr(summary, name)) for name in ("minimum", "median", "p95", "p99", "maximum")]  # fmt: skip
    return [str(summary.n), *percentiles, text(summary.spread), _interval(measure)]


def _interval(measure: Measure) -> str:
    if measure.evidence in {Evidence.COUNT, Evidence.ESTIMATE}:
        return "counted" if measure.evidence is Evidence.COUNT else "see the band"
    if measure.interval is None:
        return "too few"
    low, high = measure.interval
    middle = (low + high) / 2
    return f"{(high - low) / middle:.2%} wide" if middle else "0.00% wide"
