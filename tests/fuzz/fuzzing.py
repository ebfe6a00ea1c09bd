"""Build the fuzz target, make its seeds, run it (docs/robustness.md)."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from tests.kernels.calls import CallStore
from tests.runtime.building import BUILD, ROOT, build

SOURCE = Path(__file__).parent
FOLDER = ROOT / "build" / "fuzz"
SEEDS = FOLDER / "seeds"
# Larger files are slower, and say nothing that small ones cannot.
MAX_FILE_BYTES = 4096
# A program that may cost an attempt (attempt.cpp) takes milliseconds: beyond this a loop has no bound.
TIMEOUT_S = 20
MEMORY_MB = 2500
KERNEL_TESTS_TIMEOUT_S = 900


@dataclass(frozen=True)
class Fuzzed:
    """What a run did.

    Attributes:
        exit_code: of libFuzzer; 0: it found nothing.
        outcomes: executions by (outcome, error name).
        edges: edges of the control flow that were taken at least once.
        log: what libFuzzer said.
    """

    exit_code: int
    outcomes: Counter[tuple[str, str]]
    edges: int
    log: str

    @property
    def executions(self) -> int:
        """Files that were attempted."""
        return self.outcomes.total()

    def share(self, outcome: str) -> float:
        """Return the share of executions with that outcome."""
        found = sum(n for (what, _), n in self.outcomes.items() if what == outcome)
        return found / max(self.executions, 1)


def clang() -> str | None:
    """Return a clang++ that has libFuzzer, None if there is none."""
    names = ["clang++", *(f"clang++-{version}" for version in range(25, 13, -1))]
    for name in filter(shutil.which, names):
        query = [name, "-print-file-name=libclang_rt.fuzzer-x86_64.a"]
        place = subprocess.run(query, capture_output=True, text=True, timeout=20, check=True).stdout
        if Path(place.strip()).is_absolute():
            return name
    return None


def build_target(compiler: str) -> Path:
    """Build target and replay; return the folder they are in."""
    return build(SOURCE, "fuzz", f"-DCMAKE_CXX_COMPILER={compiler}")


def kernels_of(folder: Path) -> set[str]:
    """Return the names of the kernels that the target has, the controls' left out."""
    done = subprocess.run(
        [folder / "replay"], capture_output=True, text=True, timeout=60, check=True
    )
    return {name for name in done.stdout.split() if not name.startswith("test::")}


def write_seeds(folder: Path) -> set[str]:
    """Write the seeds; where a kernel has no call yet, run the tests of the kernels first.

    Returns:
        kernels without a seed: no test of `tests/kernels/` calls them.
    """
    from tests.fuzz.corpus import write  # noqa: PLC0415  torch, which no other step needs

    wanted = kernels_of(folder)
    if not wanted <= set(CallStore().kernels()):
        command = [sys.executable, "-m", "pytest", "-q", "tests/kernels"]
        subprocess.run(
            command, cwd=ROOT, capture_output=True, timeout=KERNEL_TESTS_TIMEOUT_S, check=False
        )
    return wanted - set(write(SEEDS))


def fuzz(folder: Path, corpus: Path, runs: int, seed: int, deadline_s: float) -> Fuzzed:
    """Run the target on the seeds and what was found before.

    Args:
        folder: where the target was built.
        corpus: new files of interest are added there.
        runs: executions.
        seed: of libFuzzer's generator; the same seed, seeds and empty corpus give the same run.
        deadline_s: when to give up.
    """
    corpus.mkdir(parents=True, exist_ok=True)
    counts = FOLDER / f"counts-{seed}.txt"
    counts.unlink(missing_ok=True)
    command = [
        str(folder / "fuzz"),
        f"-runs={runs}",
        f"-seed={seed}",
        f"-max_len={MAX_FILE_BYTES}",
        f"-timeout={TIMEOUT_S}",
        f"-rss_limit_mb={MEMORY_MB}",
        f"-artifact_prefix={FOLDER}/",
        # The mutator knows the format; feature frequencies and smaller inputs cost a third of the time.
        "-entropic=0",
        "-reduce_inputs=0",
        "-detect_leaks=0",
        "-print_final_stats=1",
        str(corpus),
        str(SEEDS),
    ]
    quick = "malloc_context_size=0:quarantine_size_mb=4:detect_leaks=0"
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=deadline_s,
        check=False,
        env={**os.environ, "FUZZ_COUNTS": str(counts), "ASAN_OPTIONS": quick},
    )
    edges = [int(n) for n in re.findall(r"cov: (\d+)", done.stderr)]
    outcomes = Counter[tuple[str, str]]()
    for line in counts.read_text().splitlines() if counts.exists() else []:
        outcome, error, count = line.split()
        outcomes[outcome, error] += int(count)
    return Fuzzed(done.returncode, outcomes, max(edges, default=0), done.stderr)


def replay(folder: Path, *files: Path) -> subprocess.CompletedProcess[str]:
    """Attempt each file once, in one process."""
    return subprocess.run(
        [folder / "replay", *files], capture_output=True, text=True, timeout=300, check=False
    )


def line_coverage() -> dict[str, tuple[int, int]]:
    """Attempt corpus and seeds under gcov; return (lines run, lines) of each file of runtime/."""
    folder = build(SOURCE, "fuzz-coverage", "-DFUZZ_COVERAGE=ON")
    for old in folder.rglob("*.gcda"):
        old.unlink()
    files = sorted((FOLDER / "corpus").glob("*")) + sorted(SEEDS.glob("*"))
    for start in range(0, len(files), 500):
        subprocess.run(
            [folder / "replay", *files[start : start + 500]], capture_output=True, check=True
        )
    notes = [str(path) for path in folder.rglob("*.gcda")]
    text = subprocess.run(
        ["gcov", "--no-output", "--relative-only", "--source-prefix", str(ROOT), *notes],
        capture_output=True, text=True, check=True, cwd=folder,
    ).stdout  # fmt: skip
    found = re.findall(r"File '(?:.*/)?(runtime/\S+)'\nLines executed:([\d.]+)% of (\d+)", text)
    best: dict[str, tuple[int, int]] = {}
    for name, percent, lines in found:
        run = round(float(percent) * int(lines) / 100)
        best[name] = max(best.get(name, (0, int(lines))), (run, int(lines)))
    return best


__all__ = ["BUILD", "FOLDER", "SEEDS", "Fuzzed", "build_target", "clang", "fuzz", "line_coverage"]
