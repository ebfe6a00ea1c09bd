"""Before anything boots: can this program run in this image on this board? Everything that says no, at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bench.bundle import ALIGNMENT, Bundle
from bench.errors import AlignmentError, CpuMismatchError, DoesNotFitError, OperatorMissingError

if TYPE_CHECKING:
    from bench.board import Board
    from bench.image import Image
    from bench.program import Program

_SHOWN_LAYERS = 4


def check(program: Program, image: Image, board: Board) -> None:
    """Raise the first kind of reason why the image cannot run the program, naming every instance of it.

    Raises:
        CpuMismatchError: the program says that it was lowered for another cpu.
        OperatorMissingError: all operators without a kernel, with the layers that need each.
    """
    _check_cpu(program, board)
    _check_operators(program, image, board)


def check_fit(
    program: Program, image: Image, board: Board, bundle: Bundle, arena_bytes: int
) -> None:
    """Raise the first reason why the run has no room in the image.

    Args:
        arena_bytes: what the run may use of the arena.

    Raises:
        DoesNotFitError: the bundle and the slot, or the memory plan and the arena.
        AlignmentError: the program would lie at an address that is not 16-byte aligned.
    """
    if board.host is None:
        if len(bundle.data) > image.model.nbytes:
            raise DoesNotFitError(
                f"the program and one sample do not fit the model slot: have {image.model.nbytes} bytes, need "
                f"{len(bundle.data)}, {len(bundle.data) - image.model.nbytes} too many",
                where=f"{program.manifest.model} on {board.id}",
                hint="give MODEL more room in memory.ld, or run its twin: --attach=twin tells what a product needs",
            )
        address = image.model.start + bundle.pte_offset
        if address % ALIGNMENT:
            raise AlignmentError(
                f"the program would lie at 0x{address:08x}, which is not a multiple of {ALIGNMENT}",
                where=board.id,
                hint="align the MODEL region in memory.ld",
            )
        if arena_bytes > image.program_arena_bytes:
            raise DoesNotFitError(
                f"the arena is limited to {arena_bytes} bytes, and the image has {image.program_arena_bytes} for a program",
                where=board.id,
            )
    if arena_bytes and program.manifest.planned_bytes > arena_bytes:
        raise DoesNotFitError(
            f"the memory plan does not fit the arena: have {arena_bytes} bytes, need at least "
            f"{program.manifest.planned_bytes} for the plan alone, "
            f"{program.manifest.planned_bytes - arena_bytes} too many",
            where=f"{program.manifest.model} on {board.id}",
        )


def _check_cpu(program: Program, board: Board) -> None:
    cpu = program.manifest.cpu
    if cpu and board.host is None and cpu != board.cpu:
        raise CpuMismatchError(
            f"the program was lowered for {cpu}, the board has a {board.cpu}",
            where=f"{program.manifest.model} on {board.id}",
            hint="scratch sizes and weights' sums belong to a cpu: export it for this one",
        )


def _check_operators(program: Program, image: Image, board: Board) -> None:
    if not image.kernels:
        return  # another engine's registry is filled when it starts: it says itself what it lacks
    missing: dict[str, list[str]] = {}
    for operator in program.manifest.operators:
        if operator.operator not in image.kernels:
            place = operator.layer or f"instruction {operator.index}"
            missing.setdefault(operator.operator, []).append(place)
    if not missing:
        return
    told = []
    for name, layers in sorted(missing.items()):
        more = f" and {len(layers) - _SHOWN_LAYERS} more" if len(layers) > _SHOWN_LAYERS else ""
        told.append(f"{name} (needed by {', '.join(layers[:_SHOWN_LAYERS])}{more})")
    raise OperatorMissingError(
        f"the image has no kernel for {len(missing)} of the program's operators: {'; '.join(told)}",
        where=f"{program.manifest.model} on {board.id}",
        hint="add a file per operator in runtime/kernels/ref/ (CONTRIBUTING.md) or change the layer",
    )
