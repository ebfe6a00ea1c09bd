"""A device on the bench as a target: locked, worked with by a process under a deadline, mended step by step."""

from __future__ import annotations

import json
import tempfile
import time
from dataclasses import dataclass, replace
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

from bench.errors import InputError
from bench.locks import device_lock
from bench.targets.chips import chip_of, image_parts
from bench.targets.device_process import Done, work
from bench.targets.orders import Order
from bench.targets.recovery import (
    LADDER,
    POWER_CYCLE,
    REFLASH,
    RESET,
    SLOWER,
    Recovery,
    cycle_power,
)
from bench.wire import Transcript

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from bench.board import Board
    from bench.image import Image
    from bench.site import Device
    from bench.targets import Request

_LOCK_WAIT_S = 600.0
_BOOT_S = 10.0
_SLOW_HZ = (
    100_000  # of the debug clock, for long cables and cores in a slow mode; pyOCD takes 1 MHz
)
_HASH_BYTES_PER_S = 200_000  # a slow core hashes the bundle before it says hello
_CONNECT_S = 30.0
_FLASH_BYTES_PER_S = 20_000  # erase, program and read back of slow parts
_REPAIR_S = 60.0


@dataclass(frozen=True)
class Flashed:
    """What flashing a device did.

    Attributes:
        seconds: of comparing, erasing and programming.
        whole_seconds: with the process and the connection.
    """

    device: str
    programmed_bytes: int
    identical_bytes: int
    erased_bytes: int
    seconds: float
    verify_seconds: float
    whole_seconds: float


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
        self._recovery = Recovery(devices, lock_wait_s, ladder)

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
            parts = image_parts(request.image, folder)
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
            done = self._work(order, lock, 2 * request.deadline_s + order.boot_s + _REPAIR_S)
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
                arrived={int(number): at_s for number, at_s in ran["arrived"].items()},
                received=done.received if done.received != done.transcript else b"",
            )

        transcript, tried = self._recovery.run(once)
        return replace(transcript, recovery=tried)

    def flash(self, board: Board, image: Image, *, everything: bool = False) -> Flashed:
        """Flash an image and read it back; the board runs it afterwards."""

        def once(device: Device, lock: int, step: str, folder: Path) -> Flashed:
            order = self._order("flash", device, board, step, folder)
            order = replace(
                order,
                parts=image_parts(image, folder),
                everything=everything or order.everything,
            )
            started = time.monotonic()
            told = dict(self._work(order, lock, 0.0).events["flashed"])
            del told["event"]
            return Flashed(device.name, **told, whole_seconds=time.monotonic() - started)

        return self._recovery.run(once)[0]

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
                cycle_power(device)
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

    # --- the process ---

    def _order(self, do: str, device: Device, board: Board, step: str, folder: Path) -> Order:
        chip = chip_of(board)
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
            clock_hz=_SLOW_HZ if step == SLOWER else 0,
            **chip,
        )

    def _work(self, order: Order, lock: int, run_s: float) -> Done:
        """Let a process do the order; end it when it takes longer than anything healthy does."""
        folder = Path(order.folder)
        nbytes = sum(Path(file).stat().st_size for _, file in order.parts)
        deadline_s = _CONNECT_S + nbytes / _FLASH_BYTES_PER_S + run_s
        return work(order, folder, deadline_s, lock)
