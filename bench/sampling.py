"""How many inferences to measure where samples vary: until the interval of their median is as narrow as wanted.

An emulator counts the same each time, two inferences show that; there nothing is added.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bench.noise import median_interval

WIDTH = 0.01  # of the median: differences between boards and builds that anyone acts on are larger
MOST_SAMPLES = 300
MOST_SECONDS = 60.0  # inside inferences: of a model that takes seconds fewer samples must do
RUN_SAMPLES = (
    32  # of a further run: their lines all stay in the device's journal, to be sent again if lost
)


@dataclass(frozen=True)
class Wanted:
    """When there are samples enough.

    Attributes:
        width: of the 95 % interval of the median, as a fraction of the median; 0 takes the first run's alone.
        samples: at most.
        seconds: at most, inside the measured inferences.
    """

    width: float = WIDTH
    samples: int = MOST_SAMPLES
    seconds: float = MOST_SECONDS


def width_of(values: Sequence[float]) -> float | None:
    """Return the width of the 95 % interval of a median as a fraction of it; None below 6 samples (`median_interval`)."""
    interval = median_interval(values)
    if interval is None:
        return None
    middle = (interval[0] + interval[1]) / 2
    return (interval[1] - interval[0]) / middle if middle else 0.0


def further(samples_s: Sequence[float], wanted: Wanted) -> int:
    """Return how many inferences the next run is to measure, 0 if there are enough or no more may be.

    Looking again after each run makes the interval cover the median slightly less often than 95 %.

    Args:
        samples_s: latencies so far, in seconds.
    """
    width = width_of(samples_s)
    if not wanted.width or not samples_s or (width is not None and width <= wanted.width):
        return 0
    left_s = wanted.seconds - sum(samples_s)
    by_time = int(left_s / max(samples_s)) if max(samples_s) > 0 else 0
    return max(0, min(RUN_SAMPLES, wanted.samples - len(samples_s), by_time))
