"""Write a table of operators as ETDump, the trace that ExecuTorch's own tools read.

    from executorch.devtools import Inspector
    from executorch.devtools.inspector import TimeScale
    Inspector("FILE", source_time_scale=TimeScale.CYCLES, target_time_scale=TimeScale.CYCLES).print_data_tabular()

An ETDump has times and no unit: they are in the table's own (milliseconds as nanoseconds), which the block's name
says. With estimated cycles a second block has those. Instructions follow one another; `Method::execute` spans the
whole inference, so that what it has more than their sum is the remainder; the estimates' block has none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import flatbuffers

from bench.errors import ToolMissingError

try:
    from etdump import ETDump, Event, ProfileEvent, RunData
except ImportError as missing:
    raise ToolMissingError(
        "the writer of ETDumps has not been generated", hint="run `make setup`"
    ) from missing

if TYPE_CHECKING:
    from bench.operators import OperatorTable

IDENTIFIER = b"ED00"
VERSION = 0  # what ExecuTorch's runtime writes: ETDUMP_VERSION of its etdump_flatcc.h
_NS_PER_MS = 1_000_000


@dataclass(frozen=True)
class _Event:
    name: str
    instruction: int  # -1: the method itself
    start: int
    end: int


def write_etdump(table: OperatorTable) -> bytes:
    """Return the bytes of an ETDump, size-prefixed as ExecuTorch's runtime writes it."""
    factor = _NS_PER_MS if table.unit == "ms" else 1
    unit = "ns" if table.unit == "ms" else table.unit
    builder = flatbuffers.Builder(4096)
    whole = _Event("Method::execute", -1, 0, round(table.latency * factor))
    timed = _events(table, [row.value * factor for row in table.rows])
    blocks = [_run_data(builder, unit, [whole, *timed])]
    estimates = [row.est_cycles for row in table.rows if row.est_cycles is not None]
    if estimates and len(estimates) == len(table.rows):
        blocks.append(_run_data(builder, "est_cycles", _events(table, estimates)))
    vector = _offsets(builder, blocks)
    ETDump.ETDumpStart(builder)
    ETDump.ETDumpAddVersion(builder, VERSION)
    ETDump.ETDumpAddRunData(builder, vector)
    builder.FinishSizePrefixed(ETDump.ETDumpEnd(builder), IDENTIFIER)
    return bytes(builder.Output())


def _events(table: OperatorTable, values: Sequence[float]) -> list[_Event]:
    events, at = [], 0
    for row, value in zip(table.rows, values, strict=True):
        end = at + round(value)
        events.append(_Event(f"native_call_{row.info.operator}", row.info.index, at, end))
        at = end
    return events


def _run_data(builder: flatbuffers.Builder, name: str, events: Sequence[_Event]) -> int:
    text = builder.CreateString(name)
    vector = _offsets(builder, [_event(builder, event) for event in events])
    RunData.RunDataStart(builder)
    RunData.RunDataAddName(builder, text)
    RunData.RunDataAddEvents(builder, vector)
    offset: int = RunData.RunDataEnd(builder)
    return offset


def _event(builder: flatbuffers.Builder, event: _Event) -> int:
    text = builder.CreateString(event.name)
    ProfileEvent.ProfileEventStart(builder)
    ProfileEvent.ProfileEventAddName(builder, text)
    ProfileEvent.ProfileEventAddInstructionId(builder, event.instruction)
    ProfileEvent.ProfileEventAddStartTime(builder, event.start)
    ProfileEvent.ProfileEventAddEndTime(builder, event.end)
    profiled = ProfileEvent.ProfileEventEnd(builder)
    Event.EventStart(builder)
    Event.EventAddProfileEvent(builder, profiled)
    offset: int = Event.EventEnd(builder)
    return offset


def _offsets(builder: flatbuffers.Builder, offsets: Sequence[int]) -> int:
    builder.StartVector(4, len(offsets), 4)
    for offset in reversed(offsets):
        builder.PrependUOffsetTRelative(offset)
    vector: int = builder.EndVector()
    return vector
