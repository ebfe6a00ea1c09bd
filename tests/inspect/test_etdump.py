"""The ETDump, opened by ExecuTorch's own Inspector."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from etdump import ETDump

from bench.etdump import write_etdump
from bench.operators import OperatorTable


@pytest.mark.filterwarnings("ignore")
def test_inspector_opens_it(table: OperatorTable, tmp_path: Path) -> None:
    """Inspector finds every instruction with its figure, and the inference as a whole."""
    from executorch.devtools import Inspector  # noqa: PLC0415  imports torch, which takes seconds
    from executorch.devtools.inspector import TimeScale  # noqa: PLC0415

    path = tmp_path / "run.etdp"
    path.write_bytes(write_etdump(table.with_estimate({0: 120.4, 1: 900.5, 2: 70.0})))
    inspector = Inspector(
        str(path), source_time_scale=TimeScale.CYCLES, target_time_scale=TimeScale.CYCLES
    )
    blocks = {
        block.name: {event.name: event.perf_data.raw for event in block.events}
        for block in inspector.event_blocks
    }

    assert blocks == {
        "instructions": {
            "Method::execute": [1000],
            "native_call_cortex_m::quantize_per_tensor.out": [100],
            "native_call_cortex_m::quantized_linear.out": [750],
            "native_call_cortex_m::dequantize_per_tensor.out": [50],
        },
        "est_cycles": {
            "native_call_cortex_m::quantize_per_tensor.out": [120],
            "native_call_cortex_m::quantized_linear.out": [900],
            "native_call_cortex_m::dequantize_per_tensor.out": [70],
        },
    }
    assert ["-1", "0", "1", "2"] == [
        str(event._instruction_id) for event in inspector.event_blocks[0].events
    ]


def test_time_is_in_nanoseconds_for_milliseconds(table: OperatorTable) -> None:
    """A host's milliseconds become whole nanoseconds, and the block says so."""
    host = replace(table, unit="ms", latency=0.0015)
    dump = ETDump.ETDump.GetRootAs(write_etdump(host)[4:])

    assert b"ns" == dump.RunData(0).Name()
    assert 1500 == dump.RunData(0).Events(0).ProfileEvent().EndTime()
