"""Boards against models: does it fit or by how much not, and what time it takes; measured and estimated never mixed."""

from __future__ import annotations

from collections.abc import Iterable

from rich.table import Table

from bench.quantity import show_bytes, show_seconds
from bench.record import Evidence, Measure, Record, Status
from bench.show import board_label

_CHIPS = frozenset({"probe", "twin"})  # attachments of boards that have a clock of their own
_UNITS = {"est_cycles": Evidence.ESTIMATE, "cycles": Evidence.SILICON}


def chips_table(records: Iterable[Record]) -> Table | None:
    """Return the table of the boards with chips among the records; None if there are fewer than two.

    A cell has the time of a warm inference, with the estimate's band or, if it was measured, the word; or what is
    missing of which memory.
    """
    cells = {
        (one.board.id, one.model.name, one.scheme): one
        for one in records
        if one.attachment in _CHIPS
    }
    boards = {one.board.id: one for one in cells.values()}
    if len(boards) < 2:
        return None
    models = sorted({(model, scheme) for _, model, scheme in cells})
    table = Table(
        title="what fits, and how long an inference takes; (from - to) is the band of an estimate, `too large` has the "
        "bytes that are missing, `?` a board whose memory speed is guessed",
        title_justify="left",
        header_style="bold",
    )
    for heading in ("board", "core", "MHz"):
        table.add_column(heading, no_wrap=True)
    for model, scheme in models:
        table.add_column(model if scheme == "int8" else f"{model} {scheme}", justify="right")
    for one in sorted(boards.values(), key=lambda r: (_core(r), r.board.id)):
        row = [cells.get((one.board.id, *wanted)) for wanted in models]
        guessed = any("(guessed)" in m.table for r in row if r is not None for m in r.measures)
        name = board_label(one) + (" ?" if guessed else "")
        table.add_row(name, _core(one), f"{one.board.clock_hz / 1e6:g}", *map(_cell, row))
    return table


def _core(record: Record) -> str:
    return record.board.cpu.removeprefix("cortex-").upper()


def _cell(record: Record | None) -> str:
    if record is None:
        return "-"
    if record.status is Status.INVALID:
        return record.issues[0].code if record.issues else "invalid"
    lacking = [
        f"too large: {show_bytes(-one.headroom_bytes)} of {one.kind}"
        for one in record.regions
        if one.headroom_bytes < 0
    ]
    return "; ".join([*lacking, _time(record)])


def _time(record: Record) -> str:
    for name in ("latency", "latency_first"):
        for measure in record.measures:
            if measure.name == name and measure.unit in _UNITS:
                return _seconds(measure, record.board.clock_hz)
    return "no time"


def _seconds(measure: Measure, hz: int) -> str:
    shown = show_seconds(measure.median / hz)
    if measure.evidence is Evidence.SILICON:
        return f"{shown} measured"
    low, high = measure.band or (measure.median, measure.median)
    return f"{shown} ({show_seconds(low / hz)} - {show_seconds(high / hz)})"
