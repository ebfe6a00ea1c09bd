"""Debug probes through pyOCD: find, connect, identify, flash what changed, read back, reset, read and write memory.

pyOCD's defaults are not for a bench (docs/boards_on_a_bench.md): it asks on stdin, waits for ever, erases locked parts,
wipes what shares a sector and never verifies. Here every session names its probe by its whole id and unlocks nothing.
"""

from __future__ import annotations

import errno
import struct
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import usb.core
from pyocd.core import exceptions
from pyocd.core.helpers import ConnectHelper
from pyocd.core.session import Session
from pyocd.flash.loader import MemoryLoader
from pyocd.probe.pydapaccess.dap_access_api import DAPAccessIntf
from pyocd.probe.pydapaccess.interface.interface import Interface

from bench.errors import (
    FlashProtocolError,
    FlashTargetError,
    FlashVerifyError,
    LabError,
    LockedError,
    NoPowerError,
    PackMissingError,
    ProbeMissingError,
    ProbeProtocolError,
    ProbeTakenError,
    WrongChipError,
    WrongProbeError,
)
from bench.site import same_id

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from bench.board import ChipId
    from bench.targets.simprobe.client import SimulatedDevice

_USB_TIMEOUT_S = 3  # of one packet; pyOCD waits 10 s, twice
_FLASH_TIMEOUT_S = 5.0  # of one call of a flash algorithm: a sector of the slowest parts takes 2 s
_READ_CHUNK_BYTES = 1 << 14
_LOCK_READINGS = 3
_GENERIC_TARGETS = {"", "cortex_m"}
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

Interface.DEFAULT_USB_TIMEOUT_S = _USB_TIMEOUT_S
Interface.DEFAULT_USB_TIMEOUT_MS = _USB_TIMEOUT_S * 1000


@dataclass(frozen=True)
class FoundProbe:
    """A debug probe on this machine's buses.

    Attributes:
        target: pyOCD's name of the chip that it sits beside, if it was asked and knows.
    """

    uid: str
    description: str
    target: str = ""


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
class FlashReport:
    """What flashing did."""

    programmed_bytes: int
    identical_bytes: int
    erased_bytes: int
    seconds: float
    verify_seconds: float


@dataclass(frozen=True)
class Place:
    """Where a core stood when it was halted."""

    pc: int
    locked_up: bool


def simulate(devices: Sequence[SimulatedDevice]) -> None:
    """From now on this process sees these simulated devices on its bus, and no real ones."""
    from bench.targets.simprobe import pyocd_targets, usb_backend  # noqa: PLC0415  only where asked for

    usb_backend.install(devices)
    pyocd_targets.install()


def find_probes(*, identify: bool = False) -> tuple[FoundProbe, ...]:
    """Return the probes that are attached; none is no error.

    Args:
        identify: ask each what it sits beside, which opens it: not while another program may use it.
    """
    try:
        probes = ConnectHelper.get_all_connected_probes(blocking=False)
    except (exceptions.Error, DAPAccessIntf.Error, usb.core.USBError) as error:
        raise ProbeProtocolError(f"the probes cannot be listed: {error}") from error
    return tuple(
        FoundProbe(
            str(probe.unique_id),
            str(probe.description).replace("\n", " "),
            _beside(probe) if identify else "",
        )
        for probe in probes
    )


def _beside(probe: Any) -> str:
    with suppress(Exception):  # a probe in use, or one that does not know: both are no news
        info = probe.associated_board_info
        return str(info.target or "").lower() if info is not None else ""
    return ""


def _choose(uid: str) -> Any:
    """Return the one probe with exactly this id; pyOCD itself takes any whose id contains it."""
    probes = ConnectHelper.get_all_connected_probes(blocking=False)
    exact = [probe for probe in probes if same_id(uid, str(probe.unique_id))]
    if len(exact) == 1:
        return exact[0]
    if exact:
        raise WrongProbeError(
            f"{len(exact)} probes say that their id is {uid}",
            where=uid,
            hint="clones of a probe may share one serial number: attach one of them at a time",
        )
    present = ", ".join(str(probe.unique_id) for probe in probes) or "none"
    near = [probe for probe in probes if uid.lower() in str(probe.unique_id).lower()]
    if near:
        raise WrongProbeError(
            f"no probe has the id {uid}, {len(near)} have ids that contain it; attached: {present}",
            where=uid,
            hint="give probe_uid in bench.toml in full",
        )
    raise ProbeMissingError(
        f"the probe {uid} is not attached; attached: {present}",
        where=uid,
        hint="cable, power of the hub, udev rules (docs/boards_on_a_bench.md); `bench doctor` lists probes",
    )


def _is_attached(uid: str) -> bool:
    with suppress(Exception):  # the answer matters, not how the bus failed
        return any(same_id(uid, probe.uid) for probe in find_probes())
    return False


def _chain(error: BaseException) -> Iterator[BaseException]:
    """Yield an exception and what it came from."""
    seen: BaseException | None = error
    while seen is not None:
        yield seen
        seen = seen.__cause__ or seen.__context__


def explain(error: BaseException, doing: str, uid: str) -> LabError:
    """Make the lab's error of whatever pyOCD, pyusb or Python raised while it was `doing` something."""
    chain = list(_chain(error))
    for link in chain:
        if isinstance(link, LabError):
            return link
    told = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    return _fault_of_cable(error, chain, doing, uid, told) or _fault_of_chip(
        error, chain, doing, uid, told
    )


def _fault_of_cable(
    error: BaseException, chain: Sequence[BaseException], doing: str, uid: str, told: str
) -> LabError | None:
    """Return what is wrong between this machine and the probe, None if it is behind the probe."""
    numbers = {link.errno for link in chain if isinstance(link, usb.core.USBError)}
    if numbers & {errno.EBUSY, errno.EACCES, errno.EPERM} or "claim interface" in str(error):
        return ProbeTakenError(
            f"the probe {uid} cannot be opened: another program has it, or this user may not ({told})",
            where=uid,
            hint="end other debuggers; for permissions install udev rules (docs/boards_on_a_bench.md)",
        )
    trouble = (usb.core.USBError, exceptions.ProbeError, DAPAccessIntf.DeviceError)
    if any(isinstance(link, trouble) for link in chain) and not _is_attached(uid):
        return ProbeMissingError(
            f"the probe {uid} vanished while {doing} ({told})",
            where=uid,
            hint="cable or power of the hub; what was being written is incomplete until the next run",
        )
    return None


_WAIT = (exceptions.TransferTimeoutError, DAPAccessIntf.TransferTimeoutError)
# Of pyOCD's exceptions only their texts tell a chip that is silent from a probe that answers nonsense.
_SILENCE = ("No ACK", "Target not detected")


def _fault_of_chip(
    error: BaseException, chain: Sequence[BaseException], doing: str, uid: str, told: str
) -> LabError:
    """Return what is wrong behind the probe, by the kind of pyOCD's exception."""
    if isinstance(error, exceptions.FlashFailure):
        return FlashProtocolError(
            f"the flash controller failed while {doing}: {error}",
            where=uid,
            hint="a write-protected or worn sector, or a clock the algorithm does not expect",
        )
    if isinstance(error, exceptions.TargetSupportError):
        return PackMissingError(
            f"pyOCD does not know this chip: {error}",
            where=uid,
            hint="it needs a CMSIS-Pack: `bench doctor` names it, --pack-dir says where it lies",
        )
    if any(silence in str(link) for link in chain for silence in _SILENCE):
        return NoPowerError(
            f"the probe answers, the chip does not, while {doing} ({told})",
            where=uid,
            hint="is the board powered, is the debug cable in, is the chip held in reset?",
        )
    what = "the debug port answers WAIT for ever" if isinstance(error, _WAIT) else "it failed"
    return ProbeProtocolError(
        f"the debug connection is not sound: {what} while {doing} ({told})",
        where=uid,
        hint="a long or loose debug cable, a slow hub; the probe's firmware may want an update",
    )


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
                    f"address 0x{known.address:08x} reads {text}, this chip has 0x{known.value:08x} there",
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
        self._check_map(parts)
        self.doing = "resetting"
        self._target.reset_and_halt()
        self.doing = "flashing"
        started = time.monotonic()
        loader = _Loader(
            self._session,
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
            raise FlashTargetError(
                "pyOCD programmed 0 bytes and found 0 identical", where=self._uid
            )
        flashed = time.monotonic()
        self.doing = "reading back"
        # If nothing was programmed, pyOCD has just read all of it and found it identical.
        for address, data in parts if programmed else ():
            self._verify(address, data)
        return FlashReport(
            programmed,
            identical,
            sum(each.erase_byte_count for each in done),
            flashed - started,
            time.monotonic() - flashed,
        )

    def _check_map(self, parts: Sequence[tuple[int, bytes]]) -> None:
        if self._chip.target in _GENERIC_TARGETS:
            raise FlashTargetError(
                "the generic target cortex_m has no Flash: pyOCD would program 0 bytes and say that all is well",
                where=self._uid,
                hint="give [pyocd] target in board.toml",
            )
        for address, data in parts:
            region = self._target.memory_map.get_region_for_address(address)
            if region is None or not region.is_flash or address + len(data) - 1 > region.end:
                raise FlashTargetError(
                    f"0x{address:08x} to 0x{address + len(data):08x} is not Flash of {self._chip.target}",
                    where=self._uid,
                    hint="board.toml's target or memory.ld is wrong",
                )

    def _verify(self, address: int, data: bytes) -> None:
        for offset in range(0, len(data), _READ_CHUNK_BYTES):
            want = data[offset : offset + _READ_CHUNK_BYTES]
            got = self.read(address + offset, len(want))
            if got == want:
                continue
            at = next(i for i in range(len(want)) if got[i] != want[i])
            differ = sum(a != b for a, b in zip(got, want, strict=True))
            raise FlashVerifyError(
                f"Flash reads back otherwise than written: 0x{got[at]:02x} instead of 0x{want[at]:02x} at "
                f"0x{address + offset + at:08x}, {differ} bytes in this block",
                where=self._uid,
                hint="a worn or protected sector; a supply that sags while it programs",
            )

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
        return Place(int(self._target.read_core_register("pc")), locked_up)

    def erase_everything(self) -> bool:
        """Erase the whole chip by its own way to recover, protection included."""
        self.doing = "erasing everything"
        return bool(self._target.mass_erase())


class _Loader(MemoryLoader):  # type: ignore[misc]
    """pyOCD's loader, which tells its figures to the log alone."""

    def _log_performance(self, perf_list: list[Any]) -> None:
        self.performance = list(perf_list)


@contextmanager
def connect(uid: str, chip: Chip, *, mode: str = "halt") -> Iterator[Debugger]:
    """Open a session with the chip at this probe; at its end the core runs and the debugger is off the bus.

    Args:
        uid: the probe's whole id.
        chip: what must be there.
        mode: `halt`, `attach` (without halting) or `under-reset`.

    Raises:
        LabError: of the kind that says what failed.
    """
    session = _session(uid, chip, mode)
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
        raise explain(error, debugger.doing, uid) from error


def _session(uid: str, chip: Chip, mode: str) -> Any:
    try:
        probe = _choose(uid)
        options = {**_OPTIONS, "target_override": chip.target, "connect_mode": mode}
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
