"""What the firmware tests share: bundles, edited headers, and a run with its lines checked."""

from __future__ import annotations

import dataclasses
import struct
import zlib
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from bench.board import all_boards
from bench.build import build_image
from bench.bundle import Bundle, Options, pack
from bench.targets import Request
from bench.targets.host import HostTarget
from bench.targets.qemu import QemuTarget
from bench.wire import Line, Transcript, read_lines

if TYPE_CHECKING:
    from bench.board import Board
    from bench.image import Image

VECTORS = Path(__file__).parents[1] / "data" / "upstream"
NONCE = 0x0123456789ABCDEF
DEADLINE_S = 30.0

# Offsets of the header's fields, docs/bundle.md.
FIELDS = {
    "magic": 0,
    "version": 4,
    "header_bytes": 8,
    "total_bytes": 12,
    "pte_offset": 16,
    "pte_bytes": 20,
    "samples_offset": 24,
    "sample_count": 28,
    "sample_stride_bytes": 32,
    "flags": 44,
    "arena_limit_bytes": 48,
    "inject": 52,
    "method": 56,
}
EMULATED = [board.id for board in all_boards().values() if board.qemu is not None]


@dataclasses.dataclass(frozen=True)
class Ran:
    """A run of the device: its lines, checked and in order, and how it ended."""

    lines: tuple[Line, ...]
    transcript: Transcript

    def of(self, kind: str) -> list[Line]:
        """Return the lines of a kind."""
        return [line for line in self.lines if line.kind == kind]

    def one(self, kind: str) -> dict[str, str]:
        """Return the fields of the only line of a kind."""
        (line,) = self.of(kind)
        return line.fields

    @property
    def kinds(self) -> list[str]:
        """Kinds of all lines, in order."""
        return [line.kind for line in self.lines]


@cache
def _image_of(board_id: str) -> Image:
    return build_image(all_boards()[board_id])


def image_of(board: Board) -> Image:
    """Build a board's image, once a session."""
    return _image_of(board.id)


def edited(bundle: Bundle, **fields: int | bytes) -> Bundle:
    """Return the bundle with fields of its header replaced, and the CRC to match."""
    data = bytearray(bundle.data)
    for name, value in fields.items():
        raw = value if isinstance(value, bytes) else struct.pack("<I", value)
        data[FIELDS[name] : FIELDS[name] + len(raw)] = raw
    return raw_bundle(bytes(data))


def raw_bundle(data: bytes) -> Bundle:
    """Return bytes as they are in the place of a bundle."""
    return Bundle(data=data, crc32=f"{zlib.crc32(data):08x}", pte_offset=0)


def upstream_bundle(board: Board, model: str, *, samples: int = 1, **options: object) -> Bundle:
    """Return a bundle of one of upstream's programs, lowered for the board's cpu, with its input."""
    cpu = "cortex-m55" if board.cpu == "cortex-m55" else "cortex-m4"
    pte = (VECTORS / f"{model}_{cpu}.pte").read_bytes()
    sample = (VECTORS / f"{model}_{cpu}.in.bin").read_bytes()
    return pack(pte, [[sample]] * samples, Options(**options))  # type: ignore[arg-type]


def upstream_output(board: Board, model: str) -> bytes:
    """Return what upstream's runtime answered on the emulated device."""
    cpu = "cortex-m55" if board.cpu == "cortex-m55" else "cortex-m4"
    return (VECTORS / f"{model}_{cpu}.out.bin").read_bytes()


def run_on(board: Board, bundle: Bundle, *, deadline_s: float = DEADLINE_S) -> Ran:
    """Run the bundle; every line must be whole and in sequence, and there must be no noise."""
    target = HostTarget() if board.qemu is None else QemuTarget()
    transcript = target.run(Request(board, image_of(board), bundle, NONCE, deadline_s))
    lines, noise_bytes, damage = read_lines(transcript.raw)
    assert (noise_bytes, damage) == (0, ()), transcript.diagnostics
    assert [line.seq for line in lines] == list(range(len(lines)))
    return Ran(lines, transcript)


def instructions(ran: Ran, board: Board, ticks: int) -> int:
    """Return the instructions of a window, docs/wire.md."""
    assert board.qemu is not None
    counter = {key: int(value) for key, value in ran.one("counter").items()}
    per_second = int(ran.one("hello")["counter_hz"]) << board.qemu.icount_shift
    handler = counter["wrap_instructions"]

    def count(t: int) -> int:
        return ((2 * t + 1) * 10**9 + per_second) // (2 * per_second)

    wraps = max(0, ticks - handler * per_second // 10**9) >> counter["wrap_bits"]
    return count(ticks) - count(counter["overhead"]) - wraps * handler
