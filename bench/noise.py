"""Is it a change or is it noise? Statistics of medians, proportions and steps, each with its source."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from statistics import median

Z95 = 1.959963984540054  # two-sided 95 % quantile of the normal distribution
_MAD_TO_SIGMA = 1.482602218505602  # 1 / quantile(3/4): Rousseeuw and Croux 1993, JASA 88, section 1
# the smallest spread that a counter in whole units can show: of a value rounded to the nearest one (B. Widrow 1956)
_ROUNDING = 1 / math.sqrt(12)


def wilson(correct: int, n: int) -> tuple[float, float]:
    """Return Wilson's 95 % score interval of a proportion (E. B. Wilson 1927, JASA 22)."""
    p, z2 = correct / n, Z95**2
    centre = (p + z2 / (2 * n)) / (1 + z2 / n)
    half = Z95 / (1 + z2 / n) * math.sqrt(p * (1 - p) / n + z2 / (4 * n * n))
    return max(0.0, centre - half), min(1.0, centre + half)


def difference_of_proportions(c1: int, n1: int, c2: int, n2: int) -> tuple[float, float]:
    """Return the 95 % interval of c1/n1 - c2/n2 (R. G. Newcombe 1998, Stat. Med. 17:873, method 10)."""
    p1, p2 = c1 / n1, c2 / n2
    (l1, u1), (l2, u2) = wilson(c1, n1), wilson(c2, n2)
    low = math.hypot(p1 - l1, u2 - p2)
    high = math.hypot(u1 - p1, p2 - l2)
    return p1 - p2 - low, p1 - p2 + high


@cache
def _median_rank(n: int) -> int:
    """Return the largest rank d with P(Binomial(n, 1/2) < d) <= 2.5 %; 0 if there is none."""
    total, d = 0.0, 0
    for k in range(n + 1):
        total += math.comb(n, k) / 2**n
        if total > 0.025:
            break
        d = k + 1
    return d


def median_interval(values: Sequence[float]) -> tuple[float, float] | None:
    """Return the interval of at least 95 % of a median from order statistics, None below 6 values.

    Source: H. A. David and H. N. Nagaraja, Order Statistics, 3rd ed. 2003, section 7.1.
    """
    rank = _median_rank(len(values))
    if rank == 0:
        return None
    ordered = sorted(values)
    return ordered[rank - 1], ordered[-rank]


def median_variance(n: int) -> float:
    """Return the variance of the median of n standard normal values.

    pi / (2 (n + pi/2 - 1)): J. F. Kenney and E. S. Keeping, Mathematics of Statistics, 1962, section 3.8; exact for
    n = 1, 2 % low for odd n, high for even n.
    """
    return math.pi / (2 * (n + math.pi / 2 - 1))


def spread(values: Sequence[float]) -> float:
    """Return a standard deviation from successive differences, which a step or a drift hardly moves.

    Mean square successive difference (J. von Neumann et al. 1941, Ann. Math. Stat. 12:153), without the differences
    beyond 4 robust standard deviations (1.48 times their median: Rousseeuw and Croux 1993, JASA 88), so that an
    outlier does not count. Never below the rounding of a counter in whole units.
    """
    if len(values) < 2:
        return math.inf
    steps = [abs(b - a) for a, b in pairwise(values)]
    limit = 4 * _MAD_TO_SIGMA * median(steps)
    kept = [step for step in steps if step <= limit]
    return max(math.sqrt(sum(step * step for step in kept) / (2 * len(kept))), _ROUNDING)


@dataclass(frozen=True)
class Sensitivity:
    """Thresholds in standard deviations of what is compared; docs/decide.md says what they cost and find.

    Attributes:
        history: fewer nights than this are no history: nothing is tested.
        suspect: of tonight's run alone, that makes it run again.
        watch: the same, the night after a suspicious one.
        confirm: of the runs that were made again.
        alarm: of the median of the last 3, 5, 9 or 15 nights, for what grows slowly.
        reruns: how often a suspicious point runs again.
    """

    history: int = 10
    suspect: float = 1.6
    watch: float = 0.5
    confirm: float = 4.0
    alarm: float = 5.5
    reruns: int = 7


_WINDOWS = (3, 5, 9, 15)  # odd: a single outlier never is their median


@dataclass(frozen=True)
class Step:
    """How far the newest values lie from those before.

    Attributes:
        nights: how many of the newest values are compared.
        score: difference in standard deviations of itself; positive when the newest are larger.
    """

    nights: int
    before: float
    after: float
    sigma: float
    score: float

    @property
    def relative(self) -> float:
        """The difference as a part of what was before."""
        return (self.after - self.before) / abs(self.before) if self.before else math.inf


def _caution(n: int) -> float:
    """Return by how much thresholds grow because the spread itself is estimated from n values.

    One standard error: sqrt(3 / (4 n)) of a mean square successive difference (von Neumann et al. 1941: its
    variance is 3/2 of the sample variance's).
    """
    return 1 + math.sqrt(0.75 / n)


def compared(history: Sequence[float], newest: Sequence[float]) -> Step:
    """Return how the median of `newest` differs from that of `history`, in units of what chance would give."""
    sigma = spread(history)
    before, after = median(history), median(newest)
    error = sigma * math.sqrt(median_variance(len(newest)) + median_variance(len(history)))
    return Step(
        len(newest), before, after, sigma, (after - before) / error / _caution(len(history))
    )


def suspicious(
    history: Sequence[float],
    tonight: float,
    worse: int,
    *,
    watching: bool = False,
    sensitivity: Sensitivity | None = None,
) -> bool:
    """Whether tonight's first value deserves to be run again.

    Args:
        history: as `find_step`.
        tonight: value of the first run.
        worse: 1 if larger is worse, -1 if smaller is, 0 if both are; what is better can wait for more nights.
        watching: whether the night before was suspicious too.
        sensitivity: thresholds.
    """
    limits = sensitivity or Sensitivity()
    if len(history) < limits.history:
        return False
    score = compared(history, [tonight]).score * _caution(len(history))
    return (abs(score) if worse == 0 else score * worse) > (
        limits.watch if watching else limits.suspect
    )


def find_step(
    history: Sequence[float],
    firsts: Sequence[float],
    again: Sequence[float] = (),
    settled: Sequence[float] | None = None,
    sensitivity: Sensitivity | None = None,
) -> Step | None:
    """Return the change that the newest nights show, None if it is noise or there is too little history.

    Args:
        history: a first run's value a night since the last change that was accepted, oldest first.
        firsts: the first runs' values of tonight and of the suspicious nights directly before it.
        again: values of the runs that were made again in these nights. Only they confirm: the first runs were chosen
            because they looked bad.
        settled: a value for each night of `history` and `firsts`, the median of all its runs where it ran again: an
            outlier that did not come again is none. The spread is that of first runs: medians vary less.
        sensitivity: thresholds.
    """
    limits = sensitivity or Sensitivity()
    if len(history) < limits.history:
        return None
    if again:
        step = compared(history, again)
        if abs(step.score) > limits.confirm:
            return step
    nights = [*history, *firsts]
    newest = settled if settled is not None else nights
    best: Step | None = None
    for window in _WINDOWS:
        if len(nights) - window < limits.history:
            break
        step = compared(nights[:-window], newest[-window:])
        if abs(step.score) > limits.alarm and (best is None or abs(step.score) > abs(best.score)):
            best = step
    return best
