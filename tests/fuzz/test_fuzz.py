"""The runtime survives any file: a short, fixed run of the fuzz target, and proof that the target sees faults.

`make fuzz` is the long run.
"""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from tests.fuzz import fuzzing
from tests.fuzz.corpus import program_of
from tests.fuzz.fuzzing import SEEDS, build_target, clang, fuzz, replay, write_seeds
from tests.kernels.calls import KINDS

RUNS = 60_000
DEADLINE_S = 400.0
CONTROLS = {
    "write_past_tensor": "use-after-poison",
    "read_past_tensor": "use-after-poison",
    "write_into_program": "a kernel wrote into the program",
    "write_into_method": "a kernel wrote into the method's data",
}


@pytest.fixture(scope="module")
def target() -> Path:
    """Build the fuzz target."""
    compiler = clang()
    if compiler is None:
        pytest.skip("no clang++ with libFuzzer (tools/system_packages.sh --fuzzer)")
    return build_target(compiler)


@pytest.fixture(scope="module")
def unseeded(target: Path) -> set[str]:
    """Write the seeds; return the kernels without one."""
    return write_seeds(target)


def control_call(name: str) -> bytes:
    """Return a call (constant input, out, out) of a kernel of controls.cpp, four bytes each."""
    constant = name == "write_into_program"
    tensor = struct.pack("=4BiB", KINDS.index("tensor"), 1, 1, constant, 4, 0) + bytes(4)
    out = struct.pack("=4BiB", KINDS.index("out"), 1, 1, 0, 4, 0)
    full = f"test::{name}.out".encode()
    head = struct.pack("=I", len(full)) + full + struct.pack("=I", 3)
    return head + tensor + out + bytes([KINDS.index("same")])


@pytest.mark.parametrize(("name", "message"), CONTROLS.items())
def test_a_kernel_that_leaves_its_tensors_is_seen(
    target: Path, tmp_path: Path, name: str, message: str
) -> None:
    """One byte beside a tensor inside the arena, a write into the program or the method's data: each aborts."""
    path = tmp_path / "control.pte"
    path.write_bytes(program_of(control_call(name)))

    done = replay(target, path)

    assert done.returncode != 0
    assert message in done.stderr


def test_every_kernel_has_a_seed(unseeded: set[str]) -> None:
    """Each kernel of the host image starts in the corpus with a call that it accepts."""
    assert set() == unseeded


@pytest.mark.usefixtures("unseeded")
def test_seeds_are_programs_that_run(target: Path) -> None:
    """The seeds load and run, but for a few that want too much or have an index that leads nowhere."""
    done = replay(target, *sorted(SEEDS.glob("*.pte")))

    outcomes = [line.split()[:2] for line in done.stdout.splitlines()]
    ran = [outcome for outcome in outcomes if outcome == ["ran", "ok"]]
    assert done.returncode == 0, done.stderr[-2000:]
    assert len(outcomes) == len(list(SEEDS.glob("*.pte")))
    assert len(ran) > 0.9 * len(outcomes)
    assert ["refused", "argument-value"] not in outcomes


@pytest.mark.usefixtures("unseeded")
def test_short_run(target: Path, tmp_path: Path) -> None:
    """Some ten thousand changed programs, the same each time: no report of a sanitizer, no loop without end."""
    done = fuzz(target, tmp_path / "corpus", RUNS, seed=1, deadline_s=DEADLINE_S)

    assert done.exit_code == 0, done.log[-3000:]
    assert done.executions >= RUNS
    assert done.share("ran") > 0.03
    assert {outcome for outcome, _ in done.outcomes} == {"refused", "too-large", "failed", "ran"}
    assert fuzzing.FOLDER.exists()
