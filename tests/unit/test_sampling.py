"""How many samples, and what they are like: against numpy and by hand."""

from __future__ import annotations

import numpy as np
import pytest

from bench.record import summarise
from bench.sampling import MOST_SAMPLES, RUN_SAMPLES, Wanted, further, width_of


@pytest.mark.parametrize("n", [1, 2, 3, 10, 99, 100, 101])
def test_summary_is_numpys(n: int) -> None:
    """Percentiles as numpy's default, spread as its std with ddof=1; one sample has no spread."""
    values = np.random.default_rng(n).normal(1e6, 1e3, n)

    found = summarise(list(values))

    assert (n, values.min(), values.max()) == (found.n, found.minimum, found.maximum)
    assert [found.median, found.p95, found.p99] == pytest.approx(
        list(np.percentile(values, [50, 95, 99])), rel=1e-12
    )
    assert found.spread == (pytest.approx(values.std(ddof=1)) if n > 1 else None)


def test_width_is_that_of_the_order_statistics() -> None:
    """Of 10 samples the 2nd and 9th hold the median with 97.9 % (Conover 1999, table A3); of 5 nothing does."""
    values = [float(value) for value in range(100, 110)]

    assert width_of(values) == pytest.approx((108 - 101) / 104.5)
    assert width_of(values[:5]) is None


def test_steady_samples_are_enough_at_once() -> None:
    """Six equal samples have an interval of no width; three say nothing yet."""
    assert 0 == further([0.01] * 6, Wanted())
    assert RUN_SAMPLES == further([0.01] * 3, Wanted())


def test_samples_that_vary_ask_for_more_up_to_the_limits() -> None:
    """Until the interval is narrow, the samples are many or the time is gone; width 0 asks for none."""
    noisy = [0.010, 0.012] * 20

    assert RUN_SAMPLES == further(noisy, Wanted())
    assert 5 == further(noisy, Wanted(samples=45))
    assert 0 == further(noisy * 8, Wanted(samples=MOST_SAMPLES))
    assert 3 == further([1.0, 2.0, 3.0], Wanted(seconds=15.5))
    assert 0 == further(noisy, Wanted(seconds=0.4))
    assert 0 == further(noisy, Wanted(width=0.5))
    assert 0 == further(noisy, Wanted(width=0.0))
