"""Top-1 accuracy on a labelled test split: on the device, of host int8 and of the float model, side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bench.noise import wilson
from bench.record import Evidence, Measure, measured

if TYPE_CHECKING:
    from bench.metrics import Run


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
    if manifest.expect_host_int8 and manifest.quantized:
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
