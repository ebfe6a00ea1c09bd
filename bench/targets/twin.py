"""Run a board's twin: an image of the same objects, on QEMU's machine of the same core."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bench.targets.qemu import QemuTarget

if TYPE_CHECKING:
    from bench.board import Board


class TwinTarget(QemuTarget):
    """QEMU in place of a board that is not there; requests name the machine and the twin's image.

    Attributes:
        machine: the emulated board that runs.
    """

    attachment = "twin"

    def __init__(self, machine: Board) -> None:
        self.machine = machine
