"""Formulas of the metrics against values from elsewhere: hand calculations and published tables."""

from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np
import pytest

from bench.metrics import Run
from bench.metrics.accuracy import wilson
from bench.metrics.error_float import snr_db
from bench.metrics.latency import instructions
from bench.program import TensorInfo
from bench.wire import Counter


def test_wilson_interval_of_a_published_example() -> None:
    """NIST/SEMATECH e-Handbook 7.2.4.1: 4 of 20, 95 %: 0.0807 to 0.4160."""
    low, high = wilson(4, 20)

    assert (low, high) == (pytest.approx(0.0807, abs=5e-4), pytest.approx(0.4160, abs=5e-4))


def test_wilson_interval_at_the_ends() -> None:
    """All right has 1 as its upper end and not 1 as its lower: 1 / (1 + z^2/n) by hand."""
    low, high = wilson(360, 360)

    assert high == pytest.approx(1.0)
    assert low == pytest.approx(1 / (1 + 1.959964**2 / 360), abs=1e-6)


@pytest.mark.parametrize(("zero_point", "value"), [(0, 2.0), (-3, 8.0)])
def test_s14_an_int8_output_is_compared_as_what_it_means(zero_point: int, value: float) -> None:
    """S14: int8 [1] of scale 2.0 and zero point 0 is 2.0, with zero point -3 it is 8.0; nothing compares the raw 1."""
    info = TensorInfo((1, 1), "int8", (0, 1), 1, scale=2.0, zero_point=zero_point)
    run = Run(
        board=SimpleNamespace(),
        program=SimpleNamespace(manifest=SimpleNamespace(outputs=(info,))),
        image=SimpleNamespace(),
        log=SimpleNamespace(outputs={(0, 0): b"\x01"}),
        samples=1,
    )

    assert [[value]] == run.real_output(0).tolist()
    assert [[1]] == run.device_output(0).tolist()


def test_snr_of_a_known_ratio() -> None:
    """An error of a tenth of the signal is 20 dB."""
    reference = np.array([1.0, -1.0, 2.0])

    assert snr_db(reference, reference * 1.1) == pytest.approx(20.0)


def test_snr_of_equal_values_is_finite() -> None:
    """JSON has no infinity; equal outputs are shown as the limit."""
    assert snr_db(np.ones(3), np.ones(3)) == 300.0


def test_snr_with_a_nan_is_the_worst() -> None:
    """A NaN is not lost in a comparison."""
    assert snr_db(np.ones(2), np.array([1.0, math.nan])) == -300.0


@pytest.mark.parametrize("hz", [20_000_000, 25_000_000, 32_000_000])
@pytest.mark.parametrize("executed", [1, 10, 999, 123_457, 30_000_001, 5_000_000_000])
def test_ticks_give_back_the_instructions(hz: int, executed: int) -> None:
    """Windows of n instructions of 64 ns, five of the window itself and five a wrap, in whole ticks, give n.

    The counter is played here in nanoseconds, as QEMU does it: it wraps each 2^24 ticks, and each wrap's
    interrupt takes time too.
    """
    empty = 5 * 64 * hz // 10**9
    wraps = 0
    while (ticks := (executed + 5 + 5 * wraps) * 64 * hz // 10**9) >> 24 > wraps:
        wraps += 1

    assert executed == instructions(ticks, hz, 6, Counter(empty, 24, 5))
