"""Is a run right? What turns a record into a failed benchmark."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bench.record import Record

# fp32: the device's sums are rounded in another order than torch's. 2**-24 a rounding, some hundred roundings a
# layer, thirty layers: errors of 1e-6 are seen, 1e-4 of the largest output is a fault.
FP32_RELATIVE_TOLERANCE = 1e-4


def faults_of(record: Record, *, tolerance_steps: float = 0.0) -> list[str]:
    """Return one sentence for each reason why the record's outputs are wrong; an empty list is a pass.

    Args:
        tolerance_steps: largest difference from host int8 that passes, in quantization steps.
    """
    found = []
    steps = record.find("mismatch_host_int8", "steps")
    elements = record.find("mismatch_host_int8", "elements")
    if steps is not None and elements is not None and steps.median > tolerance_steps:
        found.append(
            f"{elements.median:.0f} of {elements.n} output elements differ from host int8, by up to "
            f"{steps.median:g} quantization steps (tolerance {tolerance_steps:g}); reference: {record.oracle}"
        )
    shipped = record.find("mismatch_deployment")
    if shipped is not None and shipped.median:
        found.append(
            f"the deployment image's outputs differ from the lab image's in {shipped.median:.0f} bytes"
        )
    error = record.find("error_float", "max_relative")
    if (
        record.scheme == "fp32"
        and error is not None
        and not error.median <= FP32_RELATIVE_TOLERANCE
    ):
        found.append(
            f"fp32 outputs are off by {error.median:.2e} of the largest output (tolerance "
            f"{FP32_RELATIVE_TOLERANCE:.0e}); reference: {error.source}"
        )
    return found
