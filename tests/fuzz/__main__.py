"""The long run: `python -m tests.fuzz [RUNS] [SEED]`, what `make fuzz` calls.

It goes in rounds, each with the next seed and with what the rounds before found interesting, and says after each what
was done so far: a run that is ended early loses one round.
"""

from __future__ import annotations

import sys
import time
from collections import Counter

from tests.fuzz.fuzzing import FOLDER, build_target, clang, fuzz, line_coverage, write_seeds

RUNS = 10_000_000
ROUND = 500_000
SECONDS_A_RUN = 0.005  # what a slow machine takes, and more


def say(text: str) -> None:
    """Write a line."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def main() -> int:
    """Fuzz; return what libFuzzer returned last."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else RUNS
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else int(time.time())
    compiler = clang()
    if compiler is None:
        say("no clang++ with libFuzzer: install clang and libclang-rt-<version>-dev")
        return 3
    folder = build_target(compiler)
    missing = write_seeds(folder)
    say(f"{runs:,} executions, seed {seed}; kernels without a seed: {sorted(missing) or 'none'}")
    outcomes = Counter[tuple[str, str]]()
    while runs > outcomes.total():
        count = min(ROUND, runs - outcomes.total())
        begin = time.monotonic()
        done = fuzz(folder, FOLDER / "corpus", count, seed, 600 + count * SECONDS_A_RUN)
        outcomes += done.outcomes
        took = time.monotonic() - begin
        say(f"{outcomes.total():,} executions; seed {seed}: {done.edges} edges, {took:.0f} s")
        if done.exit_code != 0:
            say("\n".join(done.log.splitlines()[-60:]))
            return done.exit_code
        seed += 1
    for (outcome, error), count in outcomes.most_common():
        say(f"{outcome:>10} {error:<28} {count:>12,}")
    coverage = line_coverage()
    ran, lines = (sum(pair[i] for pair in coverage.values()) for i in (0, 1))
    say(f"lines of runtime/ {ran} of {lines} ({100 * ran / lines:.1f} %)")
    return 0


sys.exit(main())
