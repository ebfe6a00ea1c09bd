"""The gate with a kernel that was made slower for real: the night fails and names the operator and the symbol."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import bench
from bench import baseline, frame, store
from bench.board import all_boards
from bench.build import build_image
from bench.bundle import Options
from bench.image import Image, symbol_sizes
from bench.pipeline import Attempt, Case, Plan, attachments, run_case, target_for
from bench.program import Program
from bench.programs import ensure_programs
from tests.patched_image import patched_image

BOARD = "mps2-an386"
SOURCE = "runtime/kernels/dsp/quantized_linear.cpp"
END = "  return Error::kOk;\n}\n\n}  // namespace\n"
SLOWER = f'  for (int i = 0; i < 200; ++i) {{\n    asm volatile("");\n  }}\n{END}'


def _record(image: Image, program: Program, root: Path) -> None:
    """Run `linear` once more with an image, and save what the front door saves."""
    board = all_boards()[BOARD]
    case = Case(board, "linear", "int8")
    plan = Plan(
        Options(iterations=2, operator_ticks=True), samples=1, deployment=False, estimate=False
    )
    outcome = run_case(Attempt(case, program, image, target_for(board), plan))
    symbols = json.dumps(symbol_sizes(image.elf)).encode()
    store.save(outcome.record, attachments(outcome) | {"symbols.json": symbols}, root)


@pytest.mark.qemu
@pytest.mark.toolchain
def test_a_slower_kernel_fails_the_gate_by_name(tmp_path: Path) -> None:
    """Two hundred turns of an empty loop in one kernel: the operator, its symbol, and nothing else got slower."""
    board = all_boards()[BOARD]
    found = ensure_programs([Case(board, "linear", "int8")], None, lambda _text: None)
    program = found["linear", "int8", board.cpu]
    assert isinstance(program, Program)
    _record(build_image(board), program, tmp_path / "before")
    accepted, count = baseline.accept(
        baseline.Baselines(), frame.latest(bench.load(tmp_path / "before")), "as committed"
    )

    slow = patched_image(board, SOURCE, END, SLOWER, tmp_path)
    _record(slow, program, tmp_path / "after")
    (told,) = baseline.gate(accepted, frame.latest(bench.load(tmp_path / "after")))

    text = "\n".join(told.lines)
    operators = [line for line in told.lines if line.startswith("operator #")]
    assert 1 == count
    assert told.state is baseline.State.CHANGED
    assert "latency [instructions]: " in text
    assert {"cortex_m::quantized_linear.out"} == {line.split()[2] for line in operators}
    assert "symbol quantized_linear.cpp:" in text
    assert "outputs differ" not in text
