"""A seeded history of nights with known events, run through the nightly's own test; the table of what it found.

`python -m tests.decide.history` (`make bench-nightly`) prints docs/decide.md's figures.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from statistics import median

from bench.noise import Sensitivity, find_step, suspicious

NIGHTS = 60
LEVEL = 604_000.0  # field case S38
NOISE = 0.01
_PAST = 200
_WATCHED = 4

Value = Callable[[random.Random, int], float]


@dataclass
class Seen:
    """What the nights gave.

    Attributes:
        alarms: nights on which a worse step was told; the history then starts anew, as after an accept.
        better: nights on which a better one was told.
        runs: how many runs were made.
    """

    alarms: list[int] = field(default_factory=list)
    better: list[int] = field(default_factory=list)
    runs: int = 0


def watch(seed: int, value: Value, nights: int = NIGHTS, lost: float = 0.0) -> Seen:
    """Run nights through the test as `bench.nightly` does.

    Args:
        seed: of the noise.
        value: of a run in a night.
        nights: how many.
        lost: part of the nights in which the bench could not run at all.
    """
    rng = random.Random(seed)
    limits = Sensitivity()
    seen = Seen()
    history: list[tuple[float, float]] = []  # first run, all runs
    watched: list[tuple[float, float]] = []
    again: list[float] = []
    for night in range(nights):
        if lost and rng.random() < lost:
            history += watched
            watched, again = [], []
            continue
        first = value(rng, night)
        seen.runs += 1
        past = [f for f, _ in history[-_PAST:]]
        more: list[float] = []
        if suspicious(past, first, 1, watching=bool(watched), sensitivity=limits):
            more = [value(rng, night) for _ in range(limits.reruns)]
            seen.runs += limits.reruns
        else:
            history += watched
            watched, again = [], []
        again += more
        watched.append((first, median([first, *more])))
        nights_now = [*history[-_PAST:], *watched]
        step = find_step(
            [f for f, _ in history[-_PAST:]],
            [f for f, _ in watched],
            again,
            [s for _, s in nights_now],
            limits,
        )
        if not more or len(watched) > _WATCHED:
            history += watched
            watched, again = [], []
        if step is not None:
            (seen.alarms if step.score > 0 else seen.better).append(night)
            history, watched, again = [], [], []
    return seen


def noise(rng: random.Random, _night: int) -> float:
    """Return a quiet run."""
    return LEVEL * (1 + rng.gauss(0, NOISE))


def step(part: float, at: int = 30) -> Value:
    """Return runs that are slower by a part from a night on."""
    return lambda rng, night: noise(rng, night) * (1 + part * (night >= at))


def drift(part: float, at: int = 20) -> Value:
    """Return runs that grow slower by a part each night."""
    return lambda rng, night: noise(rng, night) * (1 + part * max(0, night - at))


def outliers(rng: random.Random, night: int) -> float:
    """Return a quiet run, one in twenty of them 10 % slower."""
    return noise(rng, night) * (1.1 if rng.random() < 0.05 else 1.0)


def table(repeats: int = 200) -> list[tuple[str, str, str, str, str, str]]:
    """Return rows: event, detected, within three nights, median delay, missed, false alarms a 1,000 nights."""
    rows = []
    for name, value, at in (
        ("step +3 % (3 sigma)", step(0.03), 30),
        ("step +2 % (2 sigma)", step(0.02), 30),
        ("step +1 % (1 sigma)", step(0.01), 30),
        ("step +4.1 %", step(0.041), 30),
        ("drift +0.1 % a night", drift(0.001), 20),
        ("drift +0.2 % a night", drift(0.002), 20),
        ("step -3 % (better)", step(-0.03), 30),
        ("outliers, 1 in 20 at +10 %", outliers, NIGHTS),
        ("noise alone", noise, NIGHTS),
    ):
        for lost in (0.0, 0.1):
            found = [watch(seed, value, lost=lost) for seed in range(repeats)]
            events = [s.better if "better" in name else s.alarms for s in found]
            delays = [min((n - at + 1 for n in e if n >= at), default=0) for e in events]
            hit = [d for d in delays if d]
            false = sum(n < at for s in found for n in s.alarms)
            nights = repeats * (min(at, NIGHTS))
            event = at < NIGHTS
            rows.append(
                (
                    name + (", 1 night in 10 lost" if lost else ""),
                    f"{len(hit) / repeats:.1%}" if event else "-",
                    f"{sum(d <= 3 for d in hit) / repeats:.1%}" if event else "-",
                    f"{median(hit):g}" if hit else "-",
                    f"{1 - len(hit) / repeats:.1%}" if event else "-",
                    f"{1000 * false / nights:.2f}",
                )
            )
    return rows


def main() -> None:
    """Print the table, and false alarms in long runs of pure noise."""
    print(f"{NIGHTS} nights, noise {NOISE:.0%}, 200 seeds each")  # noqa: T201
    head = (
        "event",
        "detected",
        "within 3 nights",
        "median delay",
        "missed",
        "false / 1,000 nights",
    )
    for row in (head, *table()):
        print("| " + " | ".join(row) + " |")  # noqa: T201
    seen = [watch(seed, noise, 1000) for seed in range(200)]
    alarms = sum(len(s.alarms) for s in seen)
    better = sum(len(s.better) for s in seen)
    runs = sum(s.runs for s in seen) / 200_000
    print(f"1,000 nights of pure noise, 200 seeds: {alarms} false alarms, {better} false improvements, {runs:.2f} runs a night")  # noqa: T201  # fmt: skip


if __name__ == "__main__":
    main()
