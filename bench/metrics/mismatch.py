"""Is the port right? Device outputs against the host reference of the same program, element by element."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bench.record import Evidence, Measure, measured

if TYPE_CHECKING:
    from bench.metrics import Run


def measure(run: Run) -> list[Measure]:
    """Return `mismatch_host_int8` in elements and in quantization steps, over all outputs and samples.

    Only for quantized programs with a host reference; a NaN on one side alone counts as a difference and as an
    infinite number of steps.
    """
    manifest = run.program.manifest
    if not manifest.quantized or not manifest.expect_host_int8:
        return []
    differ, total, most_steps = 0, 0, 0.0
    for index, info in enumerate(manifest.outputs):
        device = run.device_output(index).astype(np.float64)
        host = run.reference("host_int8", index).astype(np.float64)
        same = (device == host) | (np.isnan(device) & np.isnan(host))
        differ += int((~same).sum())
        total += device.size
        step = manifest.output_step[index] if info.dtype == "float32" else 1.0
        if not same.all():
            distance = np.abs(device - host)[~same].max() / (step or 1.0)
            most_steps = max(most_steps, float("inf") if np.isnan(distance) else float(distance))
    source = "; ".join((manifest.oracle.name, *manifest.oracle.corrections))
    return [
        measured(
            "mismatch_host_int8", "elements", Evidence.EMULATED, differ, n=total, source=source
        ),
        measured(
            "mismatch_host_int8", "steps", Evidence.EMULATED, most_steps, n=total, source=source
        ),
    ]
