"""Top-1 accuracy on a labelled test split: on the device, of host int8 and of the float model, side by side."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from bench.record import Evidence, Measure, measured

if TYPE_CHECKING:
    from bench.metrics import Run

_Z95 = 1.959963984540054  # two-sided 95 % quantile of the normal distribution


def wilson(correct: int, n: int) -> tuple[float, float]:
    """Return Wilson's 95 % score interval of a proportion (E. B. Wilson, 1927, JASA 22)."""
    p, z2 = correct / n, _Z95**2
    centre = (p + z2 / (2 * n)) / (1 + z2 / n)
    half = _Z95 / (1 + z2 / n) * math.sqrt(p * (1 - p) / n + z2 / (4 * n * n))
    return max(0.0, centre - half), min(1.0, centre + half)


def measure(run: Run) -> list[Measure]:
    """Return `top1_device`, `top1_host_int8`, `top1_float` and the share of samples on which device and host agree.

    Only for trained models with labels, and only if the device ran the samples.
    """
    manifest = run.program.manifest
    if not manifest.labelled or not manifest.trained:
        return []
    labels = run.labels()
    device = run.device_output(0).argmax(axis=1)
    found = [_top1("top1_device", Evidence.EMULATED, int((device == labels).sum()), run.samples)]
    if manifest.expect_host_int8 and manifest.scheme == "int8":
        host = run.reference("host_int8", 0).argmax(axis=1)
        found.append(
            _top1("top1_host_int8", Evidence.STATIC, int((host == labels).sum()), run.samples)
        )
        same = int((host == device).sum())
        found.append(_top1("top1_agreement", Evidence.EMULATED, same, run.samples))
    if manifest.expect_float:
        truth = run.reference("float", 0).argmax(axis=1)
        found.append(
            _top1("top1_float", Evidence.STATIC, int((truth == labels).sum()), run.samples)
        )
    return found


def _top1(name: str, evidence: Evidence, correct: int, n: int) -> Measure:
    return measured(name, "fraction", evidence, correct / n, interval=wilson(correct, n), n=n)
