"""What if inputs and outputs were int8? What the float ends cost, from the measured operators and the memory plan."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bench.float_ends import find_float_ends
from bench.metrics import latency, per_operator
from bench.record import Evidence, Measure, measured

if TYPE_CHECKING:
    from bench.metrics import Run

_WHAT = "what-if, not measured: less with int8 inputs and outputs"


def measure(run: Run) -> list[Measure]:
    """Return `what_if_int8_ends_*`: what an int8 program would need less if its ends were int8; none without float ends.

    Nothing is said where there is no deployment image, such as on the host.

    Latency is what the instructions that quantize inputs and dequantize outputs took (with operators timed). RAM is
    how much less of the memory plan is alive at once, Flash what the deployment image is smaller without the kernels
    that only they need; a few hundred bytes of the program's own metadata are not counted.
    """
    if run.deployment is None or run.program.manifest.scheme == "fp32":
        return []
    ends = find_float_ends(run.program.pte.read_bytes(), run.program.manifest.method)
    if not ends.instructions:
        return []
    found = []
    table = per_operator.table(run)
    rows = [row for row in table.rows if row.info.index in ends.instructions]
    if rows:
        numbers = ", ".join(str(row.info.index) for row in rows)
        found.append(
            measured(
                "what_if_int8_ends_latency",
                table.unit,
                latency.scale_of(run).evidence,
                sum(row.value for row in rows),
                source=f"{_WHAT}: instructions {numbers}",
            )
        )
    saved = ends.live_bytes - ends.live_bytes_without
    source = f"{_WHAT}: of {ends.live_bytes:,} bytes alive at once {ends.live_bytes_without:,}"
    found.append(measured("what_if_int8_ends_ram", "bytes", Evidence.STATIC, saved, source=source))
    if run.without_float_ends is not None:
        smaller = run.deployment[0].flash.total - run.without_float_ends.flash.total
        kernels = ", ".join(sorted(ends.operators)) or "no kernel goes"
        found.append(
            measured(
                "what_if_int8_ends_flash",
                "bytes",
                Evidence.STATIC,
                smaller,
                source=f"{_WHAT}: linked without {kernels}"
                if ends.operators
                else f"{_WHAT}: {kernels}",
            )
        )
    return found
