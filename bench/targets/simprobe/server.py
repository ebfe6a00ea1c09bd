"""The simulated device itself, a process: its USB cable and switches are a socket, its serial port a pseudo-terminal.

A client says in one line what it is. `look` asks whether the device is plugged in; `claim` opens the probe's interface
for packets, each after its length (32 bits, little-endian); `control` sends JSON lines: {"set": {fault: value}},
{"do": "plug" | "unplug" | "power_off" | "power_on" | ...}, {"read": [address, bytes]}, and gets one each back.
The process ends when nobody has been connected for a while.
"""

from __future__ import annotations

import fcntl
import json
import signal
import socket
import struct
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO, cast

from bench.targets.simprobe.cmsis_dap import ProbeFirmware
from bench.targets.simprobe.debug_port import BusError, DebugPort
from bench.targets.simprobe.faults import Faults
from bench.targets.simprobe.machines import MACHINES, pyocd_target_name
from bench.targets.simprobe.qemu_chip import QemuChip
from bench.targets.simprobe.serial_cable import SerialCable

SOCKET = "device"
_POLL_S = 0.1
_QUIET_S = 2.0  # without a debugger and a reader of the port for so long, the core is stopped to save the machine's
_LENGTH = struct.Struct("<I")


class Device:
    """A chip, its probe and its port, and who is connected."""

    def __init__(self, kind: str, uid: str, folder: Path) -> None:
        self.folder = folder
        self.faults = Faults()
        self.chip: Any  # of one of two classes, of which one needs unicorn
        if kind == "nrf52840":
            from bench.targets.simprobe.nrf52_chip import Nrf52Chip  # noqa: PLC0415  unicorn where it is used

            self.chip = Nrf52Chip(self.faults)
        else:
            self.chip = QemuChip(MACHINES[kind], folder, self.faults)
        self.port = DebugPort(self.chip, self.faults)
        target = pyocd_target_name(kind) if kind in MACHINES else kind
        self.firmware = ProbeFirmware(uid, kind, target, self.port)
        self.lock = threading.RLock()
        self.cable = SerialCable(
            lambda: self.chip.uart, folder / "tty", self.faults, self._pulse_reset
        )
        self.chip.on_reset = self.cable.note_reset
        self.plugged = True
        self.claimed_by: socket.socket | None = None
        self.connections = 0
        self.ended = False
        self.last_seen = time.monotonic()

    def _pulse_reset(self) -> None:
        """Pull the reset pin for a moment, as DTR does on some boards when a port is opened."""
        with self.lock:
            if self.chip.powered:
                self.chip.wake()
                self.chip.hold_reset()
                self.chip.release_reset()

    # --- clients ---

    def serve(self, client: socket.socket) -> None:
        """Serve one client to its end."""
        with self.lock:
            self.connections += 1
        stream = cast("BinaryIO", client.makefile("rwb"))
        try:
            self._serve(stream.readline().strip(), client, stream)
        except (OSError, ValueError):
            pass  # the client went away
        finally:
            with self.lock:
                self.connections -= 1
                self.last_seen = time.monotonic()
                if self.claimed_by is client:
                    self.claimed_by = None
                    # a session that only asks the probe for its name does not count
                    self.faults.deaf_sessions -= int(self.port.deaf and self.port.asked)
            with suppress(OSError):
                stream.close()
            client.close()  # last: who waits for it may claim at once

    def _serve(self, wants: bytes, client: socket.socket, stream: BinaryIO) -> None:
        if wants == b"look":
            _tell(stream, "here" if self.plugged else "gone")
        elif wants == b"claim":
            self._packets(client, stream)
        elif wants == b"control":
            for line in stream:
                with self.lock:
                    answer = self._control(json.loads(line))
                _tell(stream, json.dumps(answer))

    def _packets(self, client: socket.socket, stream: BinaryIO) -> None:
        """Be the USB interface: whoever claims it first has it."""
        with self.lock:
            if not self.plugged or self.claimed_by is not None:
                _tell(stream, "gone" if not self.plugged else "busy")
                return
            self.claimed_by = client
            self.port.deaf, self.port.asked = self.faults.deaf_sessions > 0, False
            self.cable.note_debugger()
            self.chip.wake()
        _tell(stream, "claimed")
        while head := stream.read(_LENGTH.size):
            packet = stream.read(_LENGTH.unpack(head)[0])
            with self.lock:
                if self.faults.due("unplug_after_packets"):
                    self._do("unplug")
                if not self.plugged:
                    return
                try:
                    reply = self.firmware.handle(packet)
                except BusError:  # the chip died under the transfer
                    reply = bytes([packet[0], 0, 7])
                if self.faults.due("drop_after_packets"):
                    self.faults.drop_after_packets = None
                    continue
                if self.faults.due("corrupt_after_packets"):
                    self.faults.corrupt_after_packets = None
                    reply = bytes([reply[0] ^ 0x55]) + reply[1:]
            stream.write(_LENGTH.pack(len(reply)) + reply)
            stream.flush()

    # --- what a hand at the bench does ---

    def _control(self, order: dict[str, Any]) -> object:
        for name, value in order.get("set", {}).items():
            old = getattr(self.faults, name)
            if isinstance(old, dict):
                value = {int(key): item for key, item in value.items()}  # noqa: PLW2901  JSON keys are text
            setattr(self.faults, name, value.encode("latin-1") if isinstance(old, bytes) else value)
        if "read" in order:
            address, nbytes = order["read"]
            return self.chip.read_block(address, nbytes).hex()
        if "write" in order:
            address, data = order["write"]
            self.chip.poke(address, bytes.fromhex(data))
        return self._do(order.get("do", "nothing"))

    def _do(self, what: str) -> object:
        if what == "unplug":
            self.plugged = False
            self.cable.unplug()
            if self.claimed_by is not None:
                with suppress(OSError):
                    self.claimed_by.shutdown(socket.SHUT_RDWR)
        elif what == "plug":
            self.plugged = True
            self.cable.plug()
        elif what == "power_off":
            self.chip.power_off()
        elif what == "power_on":
            if not self.chip.powered:
                self.port.power_up()
                self.chip.power_on()
        elif what == "end":
            self.ended = True
        elif what == "power_cycle":
            self._do("power_off")
            self._do("power_on")
        elif what == "lock":
            self.chip.locked = True
        elif what == "mend":
            self.faults.__init__()  # type: ignore[misc]
            self._do("plug")
            self._do("power_on")
        elif what == "status":
            return {
                "plugged": self.plugged,
                "powered": self.chip.powered,
                "locked": self.chip.locked,
                "claimed": self.claimed_by is not None,
                "erased_all": self.chip.mass_erases,
                "resets": self.chip.resets,
                "watched_from": self.cable.watched_from,
            }
        return "done"

    def rest(self) -> None:
        """Stop the core of a board that nobody looks at, so that it does not use up the machine's."""
        with self.lock:
            if not self.chip.powered:
                return
            watched = self.cable.read_by_host or self.claimed_by is not None
            if watched:
                self.chip.wake()
                self.last_seen = time.monotonic()
            elif time.monotonic() > self.last_seen + _QUIET_S:
                self.chip.sleep()


def _tell(stream: BinaryIO, text: str) -> None:
    stream.write(text.encode() + b"\n")
    stream.flush()


def serve(kind: str, uid: str, folder: Path, idle_s: float) -> None:
    """Be the device until nobody has been connected for `idle_s`; do nothing if another process is it already."""
    with (folder / "server.lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return
        _serve(kind, uid, folder, idle_s)


def _serve(kind: str, uid: str, folder: Path, idle_s: float) -> None:
    device = Device(kind, uid, folder)
    listener = socket.socket(socket.AF_UNIX)
    temporary = folder / f"{SOCKET}.new"
    temporary.unlink(missing_ok=True)
    listener.bind(str(temporary))
    listener.listen(16)
    listener.settimeout(_POLL_S)
    temporary.replace(folder / SOCKET)  # there only when it can be connected to
    try:
        while not device.ended and (
            device.connections or time.monotonic() < device.last_seen + idle_s
        ):
            try:
                client, _ = listener.accept()
            except TimeoutError:
                with suppress(
                    BusError
                ):  # the emulator ended: the chip is dead until it gets power again
                    device.rest()
                continue
            client.settimeout(None)
            threading.Thread(target=device.serve, args=(client,), daemon=True).start()
    finally:
        (folder / SOCKET).unlink(missing_ok=True)
        device.chip.close()


def main() -> None:
    """Run as `python -m bench.targets.simprobe.server KIND UID FOLDER IDLE_S`."""
    kind, uid, folder, idle_s = sys.argv[1:]
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    serve(kind, uid, Path(folder), float(idle_s))


if __name__ == "__main__":
    main()
