"""A session with a chip through pyOCD: connect, identify, flash, reset, read and write memory, recover.

pyOCD's defaults are not for a bench (docs/boards_on_a_bench.md): it asks on stdin, waits for ever, erases locked parts,
wipes what shares a sector and never verifies. Here every session names its probe by its whole id and unlocks nothing.
"""

from __future__ import annotations

import logging
import struct
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from pyocd.core import exceptions
from pyocd.core.session import Session

from bench.errors import (
    FlashProtocolError,
    LabError,
    LockedError,
    ProbeProtocolError,
    WrongChipError,
)
from bench.targets.flashing import check_map, program, verify
from bench.targets.probe_faults import explain
from bench.targets.probes import choose

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from bench.board import ChipId
    from bench.targets.flashing import FlashReport

_LOG = logging.getLogger(__name__)
_FLASH_TIMEOUT_S = 5.0  # of one call of a flash algorithm: a sector of the slowest parts takes 2 s
_LOCK_READINGS = 3
_CPUID = 0xE000ED00
_CPU_PARTS = {
    "cortex-m0": 0xC20,
    "cortex-m0plus": 0xC60,
    "cortex-m3": 0xC23,
    "cortex-m4": 0xC24,
    "cortex-m7": 0xC27,
    "cortex-m33": 0xD21,
    "cortex-m55": 0xD22,
    "cortex-m85": 0xD23,
}
_DHCSR, _LOCKUP = 0xE000EDF0, 1 << 19
_OPTIONS = {
    "auto_unlock": False,  # on, it mass-erases a locked part, and writes UICR of a blank nRF52
    "no_config": True,
    "hide_programming_progress": True,
    "flash.timeout.init": _FLASH_TIMEOUT_S,
    "flash.timeout.program": _FLASH_TIMEOUT_S,
    "flash.timeout.erase_sector": _FLASH_TIMEOUT_S,
    "reset.halt_timeout": 2.0,
}


@dataclass(frozen=True)
class Chip:
    """The chip that must be at the other end.

    Attributes:
        target: pyOCD's name.
        cpu: GCC's name of its core.
        packs: files of CMSIS-Packs that describe it.
    """

    target: str
    cpu: str
    chip_id: tuple[ChipId, ...] = ()
    packs: tuple[str, ...] = ()


@dataclass(frozen=True)
class Place:
    """Where a core stood when it was halted."""

    pc: int
    lr: int
    locked_up: bool


class Debugger:
    """An open session with the right chip."""

    def __init__(self, session: Any, uid: str, chip: Chip) -> None:
        self._session = session
        self._target = session.target
        self._uid = uid
        self._chip = chip
        self.doing = "connecting"

    def check_chip(self) -> None:
        """Raise WrongChipError unless core and identification are the board file's."""
        self.doing = "identifying the chip"
        part = self._target.read32(_CPUID) >> 4 & 0xFFF
        want = _CPU_PARTS.get(self._chip.cpu)
        if want is not None and part != want:
            raise WrongChipError(
                f"the core's part number is 0x{part:03x}, a {self._chip.cpu} has 0x{want:03x}",
                where=self._uid,
                hint="bench.toml gives this probe another board, or the cables were swapped",
            )
        for known in self._chip.chip_id:
            try:
                got = self._target.read32(known.address) & known.mask
            except exceptions.TransferFaultError:
                got = None
            if got != known.value:
                text = "nothing" if got is None else f"0x{got:08x}"
                raise WrongChipError(
                    f"address 0x{known.address:08x} reads {text}, the board's chip has 0x{known.value:08x} there",
                    where=self._uid,
                    hint="bench.toml gives this probe another board, or the cables were swapped",
                )

    def flash(self, parts: Sequence[tuple[int, bytes]], *, everything: bool) -> FlashReport:
        """Program what differs, or everything, and read all of it back.

        Args:
            parts: (address, bytes); nothing outside them changes, even where they share a sector with it.
            everything: also what is there already.

        Raises:
            FlashTargetError: an address lies in no Flash that pyOCD knows, or nothing would be programmed.
            FlashVerifyError: what is read back is something else.
        """
        self.doing = "looking at the memory map"
        check_map(self._session, self._uid, self._chip.target, parts)
        self.doing = "resetting"
        self._target.reset_and_halt()
        self.doing = "flashing"
        report = program(self._session, self._uid, parts, everything=everything)
        self.doing = "reading back"
        started = time.monotonic()
        # If nothing was programmed, pyOCD has just read all of it and found it identical.
        if report.programmed_bytes:
            verify(self.read, self._uid, parts)
        return replace(report, verify_seconds=time.monotonic() - started)

    def read(self, address: int, nbytes: int) -> bytes:
        """Read memory, of a running core too."""
        if address % 4 or nbytes % 4:
            return bytes(self._target.read_memory_block8(address, nbytes))
        # by words: pyOCD makes a list of each
        return struct.pack(
            f"<{nbytes // 4}I", *self._target.read_memory_block32(address, nbytes // 4)
        )

    def write(self, address: int, data: bytes) -> None:
        """Write RAM, of a running core too."""
        self._target.write_memory_block8(address, list(data))

    def write_word(self, address: int, value: int) -> None:
        """Write a word at once."""
        self._target.write32(address, value)

    def reset_halt(self) -> None:
        """Reset and stop at the first instruction."""
        self.doing = "resetting"
        self._target.reset_and_halt()

    def where(self) -> Place:
        """Halt the core and say where it was."""
        self.doing = "halting"
        locked_up = bool(self._target.read32(_DHCSR) & _LOCKUP)
        self._target.halt()
        pc, lr = (int(self._target.read_core_register(name)) for name in ("pc", "lr"))
        return Place(pc, lr, locked_up)

    def erase_everything(self) -> bool:
        """Erase the whole chip by its own way to recover, protection included."""
        self.doing = "erasing everything"
        return bool(self._target.mass_erase())


@contextmanager
def connect(uid: str, chip: Chip, *, mode: str = "halt", clock_hz: int = 0) -> Iterator[Debugger]:
    """Open a session with the chip at this probe; at its end the core runs and the debugger is off the bus.

    Args:
        uid: the probe's whole id.
        chip: what must be there.
        mode: `halt`, `attach` (without halting) or `under-reset`.
        clock_hz: of the debug clock; 0 for pyOCD's own.

    Raises:
        LabError: of the kind that says what failed.
    """
    session = _session(uid, chip, mode, clock_hz)
    debugger = Debugger(session, uid, chip)
    try:
        _open(session, uid)
        debugger.check_chip()
        yield debugger
        debugger.doing = "disconnecting"
        session.close()
    except LabError:
        with suppress(Exception):  # the port is healthy: leave the board running
            session.close()
        raise
    except Exception as error:
        # not closed: a port that does not answer would be waited for again; this process ends soon
        if mode == "under-reset":
            _release_reset(session)
        raise explain(error, debugger.doing, uid) from error


def _release_reset(session: Any) -> None:
    """Let go of the reset pin: a probe keeps it as it is, and the next session would meet a dead core."""
    try:
        session.probe.assert_reset(False)
    except Exception as error:  # noqa: BLE001  whatever failed before is what is reported
        _LOG.warning("the reset pin could not be released: %s", error)


def _session(uid: str, chip: Chip, mode: str, clock_hz: int = 0) -> Any:
    try:
        probe = choose(uid)
        options = {**_OPTIONS, "target_override": chip.target, "connect_mode": mode}
        if clock_hz:
            options["frequency"] = clock_hz
        if chip.packs:
            options["pack"] = list(chip.packs)
        return Session(probe, options=options)
    except Exception as error:
        raise explain(error, "looking for the probe", uid) from error


def _open(session: Any, uid: str) -> None:
    """Open a session; a part that is locked is not erased, and not called locked by a single reading."""
    try:
        session.open()
    except Exception as error:
        if _is_locked(session.target):
            raise _locked(session, uid) from error
        raise
    with suppress(Exception):  # not every probe can say
        if session.probe.is_reset_asserted():  # left so by a session that was killed
            _release_reset(session)
    if not session.target.cores:
        if _is_locked(session.target):
            raise _locked(session, uid)
        raise ProbeProtocolError("no core was found behind the debug port", where=uid)
    if _is_locked(session.target):
        raise _locked(session, uid)


def _is_locked(target: Any) -> bool:
    try:
        return all(target.is_locked() for _ in range(_LOCK_READINGS))
    except Exception:  # noqa: BLE001  a port that cannot be asked is another fault, already on its way
        return False


def _locked(session: Any, uid: str) -> LockedError:
    flash = [region for region in session.target.memory_map if region.is_flash]
    told = ", ".join(f"0x{region.start:08x} to 0x{region.end + 1:08x}" for region in flash)
    return LockedError(
        "the part is locked: its debug access is protected",
        where=uid,
        hint=f"`bench recover --device=NAME` erases all of it ({told}) and unlocks it; nothing else does",
    )


def recover(uid: str, chip: Chip) -> None:
    """Erase the whole chip, which unlocks it, and make sure that it can be reached afterwards."""
    session = _session(uid, chip, "halt")
    with suppress(
        Exception
    ):  # of a locked part opening fails half-way, behind the port that is needed
        session.open()
    try:
        erased = bool(session.target.mass_erase())
        with suppress(Exception):
            session.close()
    except Exception as error:
        raise explain(error, "erasing everything", uid) from error
    if not erased:
        raise FlashProtocolError("the chip did not finish erasing", where=uid)
