"""The what-if of int8 ends, against the program that really has them."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from bench.board import all_boards
from bench.bundle import Options
from bench.errors import LabError
from bench.float_ends import find_float_ends
from bench.pipeline import Attempt, Case, Plan, ensure_images, run_case, target_for
from bench.programs import ensure_programs
from bench.pte import read_pte
from bench.record import Record

MODEL = str(Path(__file__).with_name("wide_input.py"))
BOARD = "mps2-an386"
UPSTREAM = Path(__file__).parents[1] / "data" / "upstream"
DISPATCH = 200  # instructions between two of a program, at most (tests/firmware/test_run.py)


@cache
def _record(scheme: str) -> Record:
    board = all_boards()[BOARD]
    case = Case(board, MODEL, scheme)
    (program,) = ensure_programs([case], 1, print).values()
    image = ensure_images([board], print)[BOARD]
    assert not isinstance(program, LabError), program
    assert not isinstance(image, LabError), image
    plan = Plan(Options(warmup=0, iterations=1, operator_ticks=True))
    return run_case(Attempt(case, program, image, target_for(board), plan)).record


def _of(scheme: str, name: str) -> float:
    measure = _record(scheme).find(name)
    assert measure is not None, name
    return measure.median


def _less(*names: str) -> float:
    """Return by how much the program with int8 ends is smaller, really."""
    return sum(_of("int8", name) - _of("int8-ends", name) for name in names)


@pytest.mark.qemu
def test_flash_is_what_the_real_image_has_less() -> None:
    """To the byte: both are linked. The program's metadata is said not to be counted."""
    assert _of("int8", "what_if_int8_ends_flash") == _less(
        "flash_runtime", "flash_kernels", "flash_firmware"
    )


@pytest.mark.qemu
def test_latency_is_what_the_real_program_takes_less() -> None:
    """But for the step from one instruction to the next, of two instructions."""
    assert 0 <= _less("latency") - _of("int8", "what_if_int8_ends_latency") <= 2 * DISPATCH


@pytest.mark.qemu
def test_ram_is_at_least_what_the_real_plan_has_less() -> None:
    """The what-if is a bound: no plan can save more than 512 floats and 512 int8 become 512 int8 and 16."""
    saved = _of("int8", "what_if_int8_ends_ram")
    plans = [_record(scheme).program.planned_bytes for scheme in ("int8", "int8-ends")]

    assert 512 * 5 - (512 + 16) == saved
    assert 0.9 * saved < plans[0] - plans[1] <= saved


@pytest.mark.qemu
def test_it_is_labelled_and_none_where_the_ends_are_int8() -> None:
    """Each figure says that it was not measured; a program with int8 ends has none."""
    found = [m for m in _record("int8").measures if m.name.startswith("what_if")]

    assert 3 == len(found)
    assert all(m.source.startswith("what-if, not measured") for m in found)
    assert not [m for m in _record("int8-ends").measures if m.name.startswith("what_if")]


@pytest.mark.parametrize(
    ("model", "live", "without"),
    [
        # 64 floats in, their 64 int8; the widest two neighbours inside: 64 and 32 int8
        ("linear", 64 * 4 + 64, 64 + 32),
        # 96 x 96 x 3 floats and their int8; the first depthwise layer: 48 x 48 x 8 in and 48 x 48 x 8 out, or the
        # first pointwise one: 48 x 48 x 8 in and 48 x 48 x 16 out
        ("mobilenet_v1_025", 96 * 96 * 3 * 5, 48 * 48 * (8 + 16)),
        ("autoencoder", 640 * 5, 640 + 128),
    ],
)
def test_live_bytes_are_those_of_the_layers_shapes(model: str, live: int, without: int) -> None:
    """By hand, from the models' shapes: what lives at once with float ends and without."""
    data = (UPSTREAM / f"{model}_cortex-m4.pte").read_bytes()
    found = find_float_ends(data, "forward")
    last = max(info.index for info in read_pte(data).operators)

    assert (live, without) == (found.live_bytes, found.live_bytes_without)
    assert (0, last) == found.instructions


def test_kernels_that_others_need_stay() -> None:
    """A transformer block dequantizes inside, too: no kernel goes with its ends."""
    data = (UPSTREAM / "transformer_block_cortex-m4.pte").read_bytes()

    assert frozenset() == find_float_ends(data, "forward").operators
