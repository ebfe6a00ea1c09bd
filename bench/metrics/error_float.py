"""What did quantization cost? Device outputs against the original model in torch, float32."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from bench.record import Evidence, Measure, measured

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bench.metrics import Run

_SNR_LIMIT_DB = (
    300.0  # equal outputs have no noise: shown as this instead of infinity, which JSON has not
)


def snr_db(reference: NDArray[np.float64], value: NDArray[np.float64]) -> float:
    """Return 10 log10(sum reference^2 / sum (value - reference)^2), within +-300 dB."""
    noise = float(((value - reference) ** 2).sum())
    signal = float((reference**2).sum())
    if math.isnan(noise):
        return -_SNR_LIMIT_DB
    if noise == 0.0:
        return _SNR_LIMIT_DB
    if signal == 0.0:
        return -_SNR_LIMIT_DB
    return max(-_SNR_LIMIT_DB, min(_SNR_LIMIT_DB, 10.0 * math.log10(signal / noise)))


def measure(run: Run) -> list[Measure]:
    """Return `error_float` as SNR (dB), largest absolute error, and that error over the largest |reference|."""
    manifest = run.program.manifest
    if not manifest.expect_float:
        return []
    count = range(len(manifest.outputs))
    device = np.concatenate([run.real_output(i).ravel() for i in count])
    truth = np.concatenate([run.reference("float", i).astype(np.float64).ravel() for i in count])
    worst = float(np.abs(device - truth).max())
    worst = math.inf if math.isnan(worst) else worst
    scale = float(np.abs(truth).max()) or 1.0
    evidence, n, source = Evidence.EMULATED, device.size, "the original model in torch, float32"
    return [
        measured("error_float", "dB", evidence, snr_db(truth, device), n=n, source=source),
        measured("error_float", "max_abs", evidence, worst, n=n, source=source),
        measured("error_float", "max_relative", evidence, worst / scale, n=n, source=source),
    ]
