"""The host runner, built once, and the vectors that it is given."""

from __future__ import annotations

import functools
import struct
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from bench.errors import LabError
from bench.image import kernel_list
from bench.tables import lay_out
from tests.runtime.building import ROOT, build

VECTORS = ROOT / "tests" / "data" / "upstream"
TIMEOUT_S = 120
REFUSED = 3  # runner.cpp: an error was reported as it should be


@dataclass(frozen=True)
class Run:
    """What the runner said.

    Attributes:
        facts: its `key value` lines by key, the hook's excepted.
        hook: the hook's lines in order.
        output: bytes of all outputs, empty after an error.
    """

    facts: dict[str, str]
    hook: list[str]
    output: bytes


class Runner:
    """The runtime with all reference kernels, under AddressSanitizer and UBSan."""

    def __init__(self, binary: Path, scratch: Path) -> None:
        self._binary = binary
        self._scratch = scratch

    def run(
        self,
        program: Path,
        *inputs: Path,
        method: str = "forward",
        arena_bytes: int = -1,
        arena_skew: int = 0,
        program_skew: int = 0,
        tables: bytes | None = None,
    ) -> Run:
        """Load and execute once; what loads is compared with the same method from tables (tests/runtime/laid.hpp).

        Args:
            program: the .pte.
            inputs: raw bytes of each input.
            method: name of the plan.
            arena_bytes: size of the arena, -1 for what the program needs.
            arena_skew: bytes between a multiple of 16 and the arena's start.
            program_skew: likewise for the program.
            tables: those to take instead of the program's own.

        Raises:
            AssertionError: a sanitizer's report, a crash, or another method from tables.
        """
        out = self._scratch / "out.bin"
        out.write_bytes(b"")
        tables = self.tables(program, method) if tables is None else tables
        laid = self._scratch / "tables.bin"
        laid.write_bytes(tables)
        numbers = (str(n) for n in (arena_bytes, arena_skew, program_skew))
        text = self._call("run", program, method, *numbers, laid if tables else "-", out, *inputs)
        lines = [line.split(" ", 1) for line in text.splitlines()]
        hook = [" ".join(line) for line in lines if line[0] in {"before", "after"}]
        facts = {key: value for key, value in lines if key not in {"before", "after"}}
        assert tables or "error" in facts, "a program that loads cannot be laid out"
        return Run(facts, hook, out.read_bytes())

    @functools.cached_property
    def _kernels(self) -> tuple[str, ...]:
        return kernel_list(self._binary)

    def tables(self, program: Path, method: str = "forward") -> bytes:
        """Return the tables of a program; none if it cannot be laid out, as one that is refused."""
        try:
            return lay_out(program.read_bytes(), method, self._kernels, 0)
        except LabError:
            return b""

    def run_bytes(self, program: bytes) -> Run:
        """Load and execute a program given as bytes, without inputs."""
        path = self._scratch / "program.pte"
        path.write_bytes(program)
        return self.run(path)

    def truncate(self, program: Path, count: int) -> dict[str, int]:
        """Load evenly spaced prefixes; return how often each error came, `ok` included."""
        return _counts(self._call("truncate", program, str(count)))

    def flip(self, program: Path, end: int, step: int, seed: int) -> dict[str, int]:
        """Load, and run, copies with one changed byte each; return as `truncate`."""
        return _counts(self._call("flip", program, str(end), str(step), str(seed)))

    def invert(self, program: Path, count: int, given: Path) -> dict[str, int]:
        """Load and run copies with one of `count` evenly spaced bytes inverted; return how many came to what."""
        return _counts(self._call("invert", program, str(count), given))

    def _call(self, *arguments: str | Path) -> str:
        done = subprocess.run(
            [self._binary, *arguments],
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
            check=False,
        )
        assert done.returncode in {0, REFUSED}, f"{arguments}\n{done.stderr[-4000:]}"
        assert not done.stderr, done.stderr[-4000:]
        return done.stdout


def _counts(text: str) -> dict[str, int]:
    pairs = (line.split() for line in text.splitlines())
    return {name: int(count) for name, count in pairs}


def flatbuffer_bytes(program: Path) -> int:
    """Return the size of the part before the constants (extended header of the .pte)."""
    (size,) = struct.unpack_from("<Q", program.read_bytes(), 16)
    return int(size)


@pytest.fixture(scope="session")
def runner(tmp_path_factory: pytest.TempPathFactory) -> Runner:
    """Build the runner."""
    folder = build(Path(__file__).parent, "runtime")
    return Runner(folder / "runner", tmp_path_factory.mktemp("runner"))
