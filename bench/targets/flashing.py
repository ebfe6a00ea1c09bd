"""Flashing through pyOCD: program what differs, keep what is beside it, read all of it back."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyocd.flash.loader import MemoryLoader

from bench.errors import FlashTargetError, FlashVerifyError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_READ_CHUNK_BYTES = 1 << 14
_GENERIC_TARGETS = {"", "cortex_m"}


@dataclass(frozen=True)
class FlashReport:
    """What flashing did."""

    programmed_bytes: int
    identical_bytes: int
    erased_bytes: int
    seconds: float
    verify_seconds: float


class _Loader(MemoryLoader):  # type: ignore[misc]
    """pyOCD's loader, which tells its figures to the log alone."""

    performance: tuple[Any, ...] = ()

    def _log_performance(self, perf_list: list[Any]) -> None:
        self.performance = tuple(perf_list)


def check_map(session: Any, uid: str, target: str, parts: Sequence[tuple[int, bytes]]) -> None:
    """Raise FlashTargetError unless there is something to flash, and all of it goes into Flash that pyOCD knows."""
    if target in _GENERIC_TARGETS:
        raise FlashTargetError(
            "the generic target cortex_m has no Flash: pyOCD would program 0 bytes and say that all is well",
            where=uid,
            hint="give [pyocd] target in board.toml",
        )
    for address, data in parts:
        region = session.target.memory_map.get_region_for_address(address)
        if region is None or not region.is_flash or address + len(data) - 1 > region.end:
            raise FlashTargetError(
                f"0x{address:08x} to 0x{address + len(data):08x} is not Flash of {target}",
                where=uid,
                hint="board.toml's target, its pack or memory.ld is wrong",
            )


def program(
    session: Any, uid: str, parts: Sequence[tuple[int, bytes]], *, everything: bool
) -> FlashReport:
    """Program what differs, or everything; the core is halted.

    Raises:
        FlashTargetError: nothing was programmed and nothing was there already: whatever pyOCD says, nothing is flashed.
    """
    started = time.monotonic()
    loader = _Loader(
        session,
        chip_erase="sector",
        smart_flash=not everything,
        trust_crc=False,
        keep_unwritten=True,
    )
    for address, data in parts:
        loader.add_data(address, data)
    loader.commit()
    done = loader.performance
    programmed = sum(each.program_byte_count for each in done)
    identical = sum(each.skipped_byte_count for each in done)
    if programmed + identical == 0:
        asked = sum(len(data) for _, data in parts)
        raise FlashTargetError(
            f"0 bytes were programmed and 0 were there already, of {asked} that were to be flashed",
            where=uid,
            hint="an image without loadable segments, or a memory map that ignores where they lie",
        )
    erased = sum(each.erase_byte_count for each in done)
    return FlashReport(programmed, identical, erased, time.monotonic() - started, 0.0)


def verify(read: Callable[[int, int], bytes], uid: str, parts: Sequence[tuple[int, bytes]]) -> None:
    """Read parts back and compare; raise FlashVerifyError at the first block that differs."""
    for start, data in parts:
        for offset in range(0, len(data), _READ_CHUNK_BYTES):
            want = data[offset : offset + _READ_CHUNK_BYTES]
            got = read(start + offset, len(want))
            if got == want:
                continue
            at = next(i for i in range(len(want)) if got[i] != want[i])
            differ = sum(a != b for a, b in zip(got, want, strict=True))
            raise FlashVerifyError(
                f"Flash reads back otherwise than written: 0x{got[at]:02x} instead of 0x{want[at]:02x} at "
                f"0x{start + offset + at:08x}; {differ} of the {len(want)} bytes from 0x{start + offset:08x} on differ",
                where=uid,
                hint="a worn or protected sector; a supply that sags while it programs",
            )
