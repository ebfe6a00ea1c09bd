"""A device on the bench as a target: locked, worked with by a process under a deadline, mended step by step."""

from __future__ import annotations

import io
import json
import logging
import os
import shlex
import sys
import tempfile
import time
from dataclasses import dataclass, replace
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from elftools.elf.elffile import ELFFile

from bench import process
from bench.cache import PROJECT
from bench.errors import (
    FlashTargetError,
    InputError,
    LabError,
    PowerCommandError,
    ProbeProtocolError,
    QuarantinedError,
)
from bench.locks import device_lock
from bench.targets.orders import Order, failure_of
from bench.targets.simprobe.machines import MACHINES, pyocd_target_name
from bench.wire import Transcript

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from bench.board import Board
    from bench.image import Image
    from bench.site import Device
    from bench.targets import Request

_LOG = logging.getLogger(__name__)
_Result = TypeVar("_Result")
_LOCK_WAIT_S = 600.0
_BOOT_S = 10.0
_HASH_BYTES_PER_S = 200_000  # a slow core hashes the bundle before it says hello
_CONNECT_S = 30.0
_FLASH_BYTES_PER_S = 20_000  # erase, program and read back of slow parts
_REPAIR_S = 60.0
_POWER_S = 60.0
_LIST_S = 30.0
_QUARANTINE_AFTER = 2
RETRY, RESET, REFLASH, POWER_CYCLE = "retry", "reset", "reflash", "power-cycle"
# What is tried, in order, when a device fails so. What needs a hand, or would erase, is not tried.
LADDER = {
    "probe-missing": (POWER_CYCLE,),
    "probe-protocol": (RETRY, RESET, POWER_CYCLE),
    "no-power": (RETRY, POWER_CYCLE),
    "flash-protocol": (RETRY, RESET, POWER_CYCLE),
    "flash-verify": (REFLASH, POWER_CYCLE),
    "no-boot": (RESET, REFLASH, POWER_CYCLE),
    "hang": (POWER_CYCLE,),
    "serial-missing": (POWER_CYCLE,),
    "serial-gone": (RETRY, POWER_CYCLE),
    "serial-corrupt": (RETRY,),
}


@dataclass(frozen=True)
class Flashed:
    """What flashing a device did."""

    device: str
    programmed_bytes: int
    identical_bytes: int
    erased_bytes: int
    seconds: float
    verify_seconds: float


@dataclass(frozen=True)
class _Done:
    """What a device's process told and left."""

    events: dict[str, dict[str, Any]]
    transcript: bytes
    received: bytes
    log: str


class DeviceTarget:
    """The devices of one board type on this bench; a run takes one that is free.

    Args:
        devices: which may be used.
        bus: (kind, id) of every simulated device that shares a bus with them.
        packs: files of CMSIS-Packs.
        boot_s: until a device must have said its first line.
        lock_wait_s: how long to wait for a device that another run holds.
        ladder: code of a fault -> what is tried, in order.
    """

    def __init__(
        self,
        devices: Sequence[Device],
        bus: Sequence[tuple[str, str]] = (),
        *,
        packs: Sequence[Path] = (),
        boot_s: float = _BOOT_S,
        lock_wait_s: float = _LOCK_WAIT_S,
        ladder: Mapping[str, tuple[str, ...]] = LADDER,
    ) -> None:
        self._devices = {device.uid: device for device in devices}
        self._bus = tuple(bus)
        self._packs = tuple(str(pack) for pack in packs)
        self._boot_s = boot_s
        self._lock_wait_s = lock_wait_s
        self._ladder = ladder
        self._failed: dict[str, int] = {}

    @property
    def attachment(self) -> str:
        """`simulated` as soon as one of them is: such figures are never a part's."""
        return "simulated" if any(d.simulated for d in self._devices.values()) else "probe"

    def version(self) -> str:
        """Return pyOCD's version."""
        return f"pyOCD {metadata.version('pyocd')}"

    # --- what can be done with a device ---

    def run(self, request: Request) -> Transcript:
        """Flash what changed and run once, on the first device that is free.

        Raises:
            LabError: of the kind that says what failed, after every step that may mend it.
        """
        if self.attachment == "simulated" and request.board.evidence == "silicon":
            raise InputError(
                f"a simulated {request.board.id} can be flashed and recovered; it measures nothing",
                where=request.board.id,
                hint="figures of this board come from a real one alone",
            )

        def once(device: Device, lock: int, step: str, folder: Path) -> Transcript:
            parts = _image_parts(request.image, folder)
            bundle = folder / "bundle.bin"
            bundle.write_bytes(request.bundle.data)
            parts += ((request.image.model.start, str(bundle)),)
            order = replace(
                self._order("run", device, request.board, step, folder),
                parts=parts,
                elf=str(request.image.elf),
                mailbox=request.image.mailbox,
                nonce=str(request.nonce),
                boot_s=self._boot_s + len(request.bundle.data) / _HASH_BYTES_PER_S,
                deadline_s=request.deadline_s,
            )
            started = time.monotonic()
            done = self._work(order, lock, request.deadline_s + order.boot_s + _REPAIR_S)
            ran, flashed = done.events["ran"], done.events["flashed"]
            return Transcript(
                raw=done.transcript,
                exit_code=None,
                timed_out=False,
                overflowed=False,
                seconds=time.monotonic() - started,
                diagnostics=f"flash: {json.dumps(flashed)}\n{done.log}",
                device=device.name,
                repaired_lines=ran["repaired"],
                received=done.received if done.received != done.transcript else b"",
            )

        transcript, tried = self._with_recovery(once)
        return replace(transcript, recovery=tried)

    def flash(self, board: Board, image: Image, *, everything: bool = False) -> Flashed:
        """Flash an image and read it back; the board runs it afterwards."""

        def once(device: Device, lock: int, step: str, folder: Path) -> Flashed:
            order = self._order("flash", device, board, step, folder)
            order = replace(
                order,
                parts=_image_parts(image, folder),
                everything=everything or order.everything,
            )
            told = dict(self._work(order, lock, 0.0).events["flashed"])
            del told["event"]
            return Flashed(device.name, **told)

        return self._with_recovery(once)[0]

    def recover(self, board: Board) -> tuple[str, ...]:
        """Erase the whole chip of the only device, cycle its power if it can be, and see that it answers.

        Returns:
            What was done, in order.
        """
        (device,) = self._devices.values()
        steps = ["erase everything"]
        with (
            device_lock([device.uid], self._lock_wait_s) as (_, lock),
            tempfile.TemporaryDirectory(prefix="bench-") as folder,
        ):
            self._work(self._order("recover", device, board, "", Path(folder)), lock, _REPAIR_S)
            if device.power_command:
                steps.append(POWER_CYCLE)
                _cycle_power(device)
            self._work(self._order("look", device, board, "", Path(folder)), lock, 0.0)
        return (*steps, "connect")

    def look(self, board: Board) -> None:
        """Connect to the only device and identify its chip; change nothing.

        Raises:
            LabError: what is wrong with it.
        """
        (device,) = self._devices.values()
        with (
            device_lock([device.uid], self._lock_wait_s) as (_, lock),
            tempfile.TemporaryDirectory(prefix="bench-") as folder,
        ):
            self._work(self._order("look", device, board, "", Path(folder)), lock, 0.0)

    # --- mending ---

    def _with_recovery(
        self, once: Callable[[Device, int, str, Path], _Result]
    ) -> tuple[_Result, tuple[str, ...]]:
        """Do it; when it fails, try the steps that may mend this kind of fault, each once."""
        with device_lock(self._usable(), self._lock_wait_s) as (uid, lock):
            device = self._devices[uid]
            tried: list[str] = []
            step = ""
            while True:
                if step == POWER_CYCLE:
                    _cycle_power(device)
                try:
                    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
                        result = once(device, lock, step, Path(folder))
                    self._failed[uid] = 0
                    return result, tuple(tried)
                except LabError as fault:
                    step = self._next_step(fault, tried, device)
                    if not step:
                        self._failed[uid] = self._failed.get(uid, 0) + 1
                        fault.where = device.name
                        fault.what += f" (tried: {', '.join(tried)})" if tried else ""
                        raise
                    _LOG.warning("%s: %s; next: %s", device.name, fault.what, step)
                    tried.append(step)

    def _next_step(self, fault: LabError, tried: list[str], device: Device) -> str:
        """Return what to try next for this fault, or nothing."""
        for step in self._ladder.get(fault.code, ()):
            if step not in tried and (step != POWER_CYCLE or device.power_command):
                return step
        return ""

    def _usable(self) -> list[str]:
        """Return the devices that have not failed again and again."""
        usable = [u for u in self._devices if self._failed.get(u, 0) < _QUARANTINE_AFTER]
        if not usable:
            names = ", ".join(device.name for device in self._devices.values())
            raise QuarantinedError(
                f"{names} failed {_QUARANTINE_AFTER} times in a row and is left alone for the rest of this run",
                where=names,
                hint="the first of its errors says why; `bench doctor` looks at it again",
            )
        return usable

    # --- the process ---

    def _order(self, do: str, device: Device, board: Board, step: str, folder: Path) -> Order:
        chip = _chip(board)
        return Order(
            do=do,
            uid=device.uid,
            kind=device.simulated,
            bus=self._bus or (((device.simulated, device.uid),) if device.simulated else ()),
            cpu=board.cpu,
            packs=self._packs,
            serial=device.serial,
            vcom=device.vcom,
            folder=str(folder),
            mode="under-reset" if step == RESET else "halt",
            everything=step == REFLASH,
            **chip,
        )

    def _work(self, order: Order, lock: int, run_s: float) -> _Done:
        """Let a process do the order; end it when it takes longer than anything healthy does."""
        folder = Path(order.folder)
        nbytes = sum(Path(file).stat().st_size for _, file in order.parts)
        deadline_s = _CONNECT_S + nbytes / _FLASH_BYTES_PER_S + run_s
        return _work(order, folder, deadline_s, lock)


def _work(order: Order, folder: Path, deadline_s: float, *inherit: int) -> _Done:
    path = folder / "order.json"
    order.write(path)
    events: dict[str, dict[str, Any]] = {}

    def on_line(line: str) -> None:
        try:
            event = json.loads(line)
            events[event["event"]] = event
        except (ValueError, TypeError, KeyError):
            _LOG.info("not an event: %s", line)

    done = process.run(
        [sys.executable, "-P", "-m", "bench.targets.device_job", str(path)],
        deadline_s=deadline_s,
        cwd=folder,  # pyOCD reads scripts and settings of the folder that it finds itself in
        environment={**os.environ, "PYTHONPATH": str(PROJECT)},
        on_line=on_line,
        inherit=inherit,
    )
    log = done.stderr.decode("utf-8", "replace")
    files = [folder / "transcript.bin", folder / "received.bin"]
    transcript, received = (file.read_bytes() if file.exists() else b"" for file in files)
    if done.timed_out or done.exit_code != 0:
        fault = _failure(events, done, log)
        fault.received = received
        raise fault
    return _Done(events, transcript, received, log)


def _failure(events: dict[str, dict[str, Any]], done: process.Finished, log: str) -> LabError:
    if "failed" in events:
        return failure_of(events["failed"])
    doing = events.get("doing", {}).get("what", "connecting")
    if done.timed_out:
        return ProbeProtocolError(
            f"the device's process was still {doing} after {done.seconds:.0f} s and was ended",
            hint="the probe or its driver hangs: unplug it and plug it in again",
        )
    return ProbeProtocolError(
        f"the device's process ended with {done.exit_code} while {doing}: {log.strip()[-300:]}"
    )


def _cycle_power(device: Device) -> None:
    command = shlex.split(device.power_command)
    done = process.run(command, deadline_s=_POWER_S, tool_hint="power_command in bench.toml")
    if done.exit_code != 0 or done.timed_out:
        raise PowerCommandError(
            f"power_command ended with {done.exit_code}: {done.stderr.decode('utf-8', 'replace')[-200:]}",
            where=device.name,
        )


def _chip(board: Board) -> dict[str, Any]:
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


def _image_parts(image: Image, folder: Path) -> tuple[tuple[int, str], ...]:
    """Write what an image puts into Flash to files; return each with its address."""
    parts = []
    file = ELFFile(io.BytesIO(image.elf.read_bytes()))
    for index, segment in enumerate(file.iter_segments("PT_LOAD")):
        if segment["p_filesz"]:
            path = folder / f"segment{index}.bin"
            path.write_bytes(segment.data())
            parts.append((int(segment["p_paddr"]), str(path)))
    return tuple(parts)


@dataclass(frozen=True)
class FoundProbe:
    """A probe that is attached; its chip only if it was asked and knows."""

    uid: str
    description: str
    target: str


@dataclass(frozen=True)
class FoundPort:
    """A serial port of a USB device."""

    path: str
    serial_number: str
    description: str


@dataclass(frozen=True)
class Attached:
    """What is attached to this machine."""

    probes: tuple[FoundProbe, ...]
    ports: tuple[FoundPort, ...]


def attached(bus: Sequence[tuple[str, str]] = (), *, identify: bool = False) -> Attached:
    """Return what is attached.

    Args:
        bus: (kind, id) of simulated devices; with any, they are seen and real ones are not.
        identify: ask each probe what it sits beside, which opens it.

    Raises:
        LabError: the buses cannot be looked at.
    """
    order = Order("identify" if identify else "list", bus=tuple(bus))
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        told = _work(replace(order, folder=folder), Path(folder), _LIST_S).events["list"]
    return Attached(
        tuple(FoundProbe(**probe) for probe in told["probes"]),
        tuple(FoundPort(**port) for port in told["ports"]),
    )


def target_name(board: Board) -> str:
    """Return pyOCD's name of a board's chip; empty if no probe reaches it."""
    try:
        return str(_chip(board)["target"])
    except FlashTargetError:
        return ""
