"""Images of the emulated boards, built once, and programs run on them without the pytest front door."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path

import pytest

from bench.board import Board, find_boards
from bench.build import build_image
from bench.bundle import Options
from bench.errors import LabError
from bench.foreign import foreign_program
from bench.image import Image
from bench.pipeline import Attempt, Case, Outcome, Plan, run_case, target_for
from bench.program import Program
from bench.programs import ensure_programs

UPSTREAM = Path(__file__).parents[1] / "data" / "upstream"
EMULATED = [board.id for board in find_boards("emulated")]


@functools.cache
def image_of(board_id: str) -> Image:
    """Build what changed and read the image."""
    return build_image(find_boards(board_id)[0])


def attempt_of(
    board_id: str, program: Program, options: Options, deadline_s: float = 120.0
) -> Attempt:
    """Make a run of a program on a board."""
    board: Board = find_boards(board_id)[0]
    plan = Plan(options, deadline_s=deadline_s)
    case = Case(board, program.manifest.model, program.manifest.scheme)
    return Attempt(case, program, image_of(board_id), target_for(board), plan)


def vector(model: str, cpu: str) -> tuple[Program, bytes]:
    """Return an upstream program with its input, and the output that upstream's runtime gave."""
    stem = UPSTREAM / f"{model}_{cpu}"
    program = foreign_program(Path(f"{stem}.pte"), (Path(f"{stem}.in.bin"),))
    return program, Path(f"{stem}.out.bin").read_bytes()


@functools.cache
def trained(board_id: str) -> Program:
    """Return digits_cnn, the model that is trained on a data set, with 8 samples of it."""
    case = Case(find_boards(board_id)[0], "digits_cnn", "int8")
    program = ensure_programs([case], 8, lambda _text: None)[
        case.model, case.scheme, case.board.cpu
    ]
    assert not isinstance(program, LabError), program
    return program


@pytest.fixture
def run_once() -> Callable[..., Outcome]:
    """Return a function that runs a program once on a board."""

    def run(board_id: str, program: Program, **options: object) -> Outcome:
        wanted = Options(**{"warmup": 0, "iterations": 0, **options})  # type: ignore[arg-type]
        return run_case(attempt_of(board_id, program, wanted))

    return run
