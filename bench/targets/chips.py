"""What an order says of a board's chip and of what goes into its Flash."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

from elftools.elf.elffile import ELFFile

from bench.errors import FlashTargetError
from bench.targets.simprobe.machines import MACHINES, pyocd_target_name

if TYPE_CHECKING:
    from pathlib import Path

    from bench.board import Board
    from bench.image import Image


def chip_of(board: Board) -> dict[str, Any]:
    """Return what an order says of the board's chip."""
    if board.pyocd is not None:
        ids = tuple((known.address, known.value, known.mask) for known in board.pyocd.chip_id)
        return {"target": board.pyocd.target, "chip_id": ids, "baud": board.pyocd.baud}
    if board.id in MACHINES:
        machine = MACHINES[board.id]
        known = ((machine.chip_id_address, machine.chip_id, 0xFFFFFFFF),)
        return {
            "target": pyocd_target_name(board.id),
            "chip_id": known if machine.chip_id_address else (),
        }
    raise FlashTargetError(
        f"{board.id} has no [pyocd] section: it cannot be reached through a probe", where=board.id
    )


def target_name(board: Board) -> str:
    """Return pyOCD's name of a board's chip; empty if no probe reaches it."""
    try:
        return str(chip_of(board)["target"])
    except FlashTargetError:
        return ""


def image_parts(image: Image, folder: Path) -> tuple[tuple[int, str], ...]:
    """Write what an image puts into Flash to files; return each with its address."""
    parts = []
    file = ELFFile(io.BytesIO(image.elf.read_bytes()))
    for index, segment in enumerate(file.iter_segments("PT_LOAD")):
        if segment["p_filesz"]:
            path = folder / f"segment{index}.bin"
            path.write_bytes(segment.data())
            parts.append((int(segment["p_paddr"]), str(path)))
    return tuple(parts)
