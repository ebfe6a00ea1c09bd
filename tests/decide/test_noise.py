"""Statistics against published values and hand calculations."""

from __future__ import annotations

import math
import random

import pytest

from bench.noise import (
    Sensitivity,
    difference_of_proportions,
    find_step,
    median_interval,
    median_variance,
    spread,
    suspicious,
)


def test_newcombe_interval_of_the_published_example() -> None:
    """Newcombe 1998, table II, case (a): 56/70 - 48/80, method 10: 0.0524 to 0.3339."""
    low, high = difference_of_proportions(56, 70, 48, 80)

    assert 0.0524 == pytest.approx(low, abs=5e-5)
    assert 0.3339 == pytest.approx(high, abs=5e-5)


@pytest.mark.parametrize(
    ("c1", "n1", "c2", "n2", "low", "high"),
    [(9, 10, 3, 10, 0.1705, 0.8090), (5, 56, 0, 29, -0.0381, 0.1926), (10, 10, 0, 10, 0.6075, 1.0)],
)
def test_newcombe_interval_of_small_and_extreme_counts(
    c1: int, n1: int, c2: int, n2: int, low: float, high: float
) -> None:
    """Newcombe 1998, table II, cases (c), (e) and (g)."""
    found = difference_of_proportions(c1, n1, c2, n2)

    assert (low, high) == pytest.approx(found, abs=1e-4)


@pytest.mark.parametrize(("n", "rank"), [(6, 1), (8, 1), (10, 2), (15, 4), (20, 6), (25, 8)])
def test_the_interval_of_a_median_uses_the_tabled_ranks(n: int, rank: int) -> None:
    """Ranks of the sign test at 95 % (two-sided), as tables of order statistics give them."""
    assert (rank, n + 1 - rank) == median_interval(range(1, n + 1))


def test_a_median_of_five_has_no_interval() -> None:
    """Even the extremes cover only 93.75 %."""
    assert median_interval([1, 2, 3, 4, 5]) is None


@pytest.mark.parametrize(("n", "exact"), [(1, 1.0), (3, 0.4487), (5, 0.2868), (9, 0.1661)])
def test_the_variance_of_a_median_is_near_the_tabled_one(n: int, exact: float) -> None:
    """Normal order statistics (Sarhan and Greenberg 1962, table 10C.1)."""
    assert exact == pytest.approx(median_variance(n), rel=0.03)


def test_spread_is_the_mean_square_successive_difference() -> None:
    """By hand: differences 2, 1, 1, 2; sqrt((4 + 1 + 1 + 4) / (2 * 4))."""
    assert math.sqrt(10 / 8) == pytest.approx(spread([10, 12, 11, 12, 10]))


def test_a_step_an_outlier_and_a_drift_hardly_move_the_spread() -> None:
    """So that what is looked for does not hide itself."""
    rng = random.Random(1)
    noise = [rng.gauss(1000, 10) for _ in range(60)]
    step = [v + (300 if i >= 30 else 0) for i, v in enumerate(noise)]
    drift = [v + i for i, v in enumerate(noise)]
    outlier = [*noise[:20], 5000, *noise[20:]]

    for values in (noise, step, drift, outlier):
        assert 10 == pytest.approx(spread(values), rel=0.25)


def test_a_counter_that_never_varies_has_the_spread_of_its_rounding() -> None:
    """One count more is a change then, not an infinite one."""
    assert 1 / math.sqrt(12) == pytest.approx(spread([604_000] * 20))


def test_s38_thirty_quiet_nights_then_four_percent() -> None:
    """S38: 604k +-0.3 % for 30 nights, then 629k."""
    rng = random.Random(38)
    history = [604_000 * (1 + rng.gauss(0, 0.003)) for _ in range(30)]

    assert suspicious(history, 629_000, 1)
    step = find_step(history, [629_000], [629_000 + d for d in (-900, 500, 1200, 0, -300)])
    assert step is not None
    assert 0.041 == pytest.approx(step.relative, abs=0.004)


def test_an_outlier_does_not_alarm_when_it_does_not_come_again() -> None:
    """One bad night is run again, and that was that; nor does it alarm later from the history."""
    rng = random.Random(2)
    history = [rng.gauss(1000, 10) for _ in range(30)]

    assert suspicious(history, 1300, 1)
    assert find_step(history, [1300], [1004, 990, 1001, 1010, 996, 999, 1003]) is None
    assert find_step([*history, 1300], [1002]) is None


def test_what_gets_better_is_told_without_running_again() -> None:
    """Three to fifteen nights show it; no alarm is in a hurry."""
    rng = random.Random(3)
    history = [rng.gauss(1000, 10) for _ in range(30)]
    better = [rng.gauss(950, 10) for _ in range(9)]

    assert not suspicious(history, 950, 1)
    step = find_step([*history, *better[:-1]], better[-1:])
    assert step is not None
    assert step.score < 0


def test_a_short_history_tests_nothing() -> None:
    """Ten nights make one."""
    assert find_step([1.0] * 9, [2.0], [2.0] * 7) is None
    assert not suspicious([1.0] * 9, 2.0, 1)
    assert 10 == Sensitivity().history
