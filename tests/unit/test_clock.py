"""The clock check's arithmetic, against counters that are played here."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from bench.clock import counted_hz
from bench.targets.line_store import LineStore
from bench.wire import frame

DUE_S = (0.0, 0.1, 0.2, 2.4, 2.5, 2.6)  # docs/wire.md, by the device's own counter
NOMINAL = 64_000_000


def _played(
    true_hz: float, delays_s: Sequence[float] = (0.0,) * 6
) -> tuple[dict[int, int], dict[int, float]]:
    """Return ticks and arrivals of a device that believes that it counts at NOMINAL; line 40 is the first."""
    ticks = {40 + i: round(due * NOMINAL) for i, due in enumerate(DUE_S)}
    arrived = {
        number: 1000.0 + count / true_hz + delay
        for (number, count), delay in zip(ticks.items(), delays_s, strict=True)
    }
    return ticks, arrived


@pytest.mark.parametrize("true_hz", [32e6, 60e6, 64e6, 65.28e6, 128e6])
def test_the_rate_is_that_of_the_part(true_hz: float) -> None:
    """Twice, half or a percent off: it is found whatever the device believes."""
    assert true_hz == pytest.approx(counted_hz(*_played(true_hz), NOMINAL), rel=1e-6)


@pytest.mark.parametrize("late", [(0.15, 0.09, 0.0, 0.2, 0.0, 0.3), (0.0, 0.2, 0.1, 0.0, 0.0, 0.4)])
def test_lines_that_come_late_do_not_count(late: Sequence[float]) -> None:
    """This machine was busy: the line of each group that came in time decides."""
    assert pytest.approx(64e6, rel=1e-6) == counted_hz(*_played(64e6, late), NOMINAL)


def test_the_lines_that_are_compared_are_two_seconds_apart() -> None:
    """Whichever of each three is taken."""
    assert DUE_S[3] - DUE_S[2] >= 2.0


def test_a_lost_line_gives_no_rate() -> None:
    """A line that was sent again says nothing of when it was due."""
    ticks, arrived = _played(64e6)
    del arrived[42]

    assert counted_hz(ticks, arrived, NOMINAL) is None
    assert counted_hz({}, {}, NOMINAL) is None


def test_arrival_is_noted_of_whole_lines_in_their_turn() -> None:
    """The time is that of the bytes that made the line whole; a line that comes again keeps none."""
    store = LineStore()
    first, second, third = (frame(i, f"clock i={i} ticks={i}") for i in range(3))

    store.feed(first[:10], 1.0)
    store.feed(first[10:], 2.0)
    store.feed(third, 3.0)
    store.feed(second, 4.0)

    assert {0: 2.0, 2: 3.0} == store.arrived
