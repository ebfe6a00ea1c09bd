"""Ways to reach a board: one file each, all with the same `run`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from bench.board import Board
    from bench.bundle import Bundle
    from bench.image import Image
    from bench.wire import Transcript


@dataclass(frozen=True)
class Request:
    """One run: this image with this bundle under this nonce, within the deadline.

    Attributes:
        plugin: what QEMU's -plugin gets (bench.estimate); nothing without one, and nothing on other targets.
    """

    board: Board
    image: Image
    bundle: Bundle
    nonce: int
    deadline_s: float
    plugin: str = ""


class Target(Protocol):
    """A way to reach a board."""

    @property
    def attachment(self) -> str:
        """How records name it: `emulator`, `host`, `probe`, ..."""

    def run(self, request: Request) -> Transcript:
        """Run once and return everything the device said."""

    def version(self) -> str:
        """Name and version of the tool that runs the board."""
