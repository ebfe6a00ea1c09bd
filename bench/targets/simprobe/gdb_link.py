"""QEMU as a process, and gdb's remote protocol with the stub in it."""

from __future__ import annotations

import os
import re
import select
import shutil
import socket
import subprocess
import time
from typing import TYPE_CHECKING

from bench.errors import ToolMissingError
from bench.qemu_plugins import build_plugin
from bench.targets.simprobe.debug_port import BusError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from bench.targets.simprobe.machines import Machine

_QEMU = "qemu-system-arm"
# Set: the guest's counters run by this machine's clock, and equal work takes unequal ticks, as with a part's noise.
HOST_CLOCK = "BENCH_SIMULATED_HOST_CLOCK"
# Set: instructions are counted, and none runs before its time has come by this machine's clock: exact, and in time.
PACED = "BENCH_SIMULATED_PACED"
_START_DEADLINE_S = 10.0
REPLY_DEADLINE_S = 5.0
_PACKET = re.compile(rb"[+]*\$([^#]*)#..", re.DOTALL)
_CHUNK_BYTES = 1024  # QEMU's packets hold 4096 characters


class GdbLink:
    """An emulator that was started for this link, and the link.

    Args:
        machine: which.
        folder: where its sockets lie, and the pipes of its UART.
        died: called when the emulator is found gone.
    """

    def __init__(self, machine: Machine, folder: Path, died: Callable[[], None]) -> None:
        self._buffer = b""
        self._died = died
        with _listen(folder / "gdb") as listener:
            self.process = _launch(machine, folder)
            self._socket, _ = listener.accept()
        self._socket.settimeout(REPLY_DEADLINE_S)
        self.command("qSupported")
        self.command("qXfer:features:read:target.xml:0,ffb")  # without it no single registers
        # Armv8-M: only the core sees the Secure aliases; Armv7-M: past the MPU, whose guard would stop a reader.
        self.command(f"Qqemu.PhyMemMode:{0 if machine.is_v8m else 1}")

    def close(self) -> None:
        """End the emulator."""
        self.process.kill()
        self.process.wait()
        self._socket.close()

    def send(self, text: str) -> None:
        """Send a packet and wait for nothing."""
        data = text.encode("latin-1")
        try:
            self._socket.sendall(b"$" + data + b"#%02x" % (sum(data) & 0xFF))
        except OSError as error:
            self._is_gone(error)

    def receive(self, wait_s: float) -> str | None:
        """Return the next packet, or None if none came in time."""
        until = time.monotonic() + wait_s
        while True:
            if match := _PACKET.match(self._buffer):
                self._buffer = self._buffer[match.end() :]
                self._socket.sendall(b"+")
                return match.group(1).decode("latin-1")
            if not select.select([self._socket], [], [], max(0.0, until - time.monotonic()))[0]:
                return None
            try:
                data = self._socket.recv(1 << 16)
            except OSError as error:
                self._is_gone(error)
            if not data:
                self._is_gone(EOFError("the emulator ended"))
            self._buffer += data

    def _is_gone(self, error: Exception) -> None:
        self._died()
        raise BusError from error

    def command(self, text: str) -> str:
        """Send a packet and return its answer."""
        self.send(text)
        reply = self.receive(REPLY_DEADLINE_S)
        if reply is None:
            raise BusError
        return reply

    def interrupt(self) -> None:
        """Stop the guest."""
        self._socket.sendall(b"\x03")
        self.receive(REPLY_DEADLINE_S)

    def read(self, address: int, nbytes: int) -> bytes:
        """Read memory of a guest that stands still."""
        parts = []
        for offset in range(0, nbytes, _CHUNK_BYTES):
            count = min(_CHUNK_BYTES, nbytes - offset)
            reply = self.command(f"m{address + offset:x},{count:x}")
            if reply.startswith("E"):
                raise BusError
            parts.append(bytes.fromhex(reply))
        return b"".join(parts)

    def write(self, address: int, data: bytes) -> None:
        """Write memory of a guest that stands still."""
        for offset in range(0, len(data), _CHUNK_BYTES):
            part = data[offset : offset + _CHUNK_BYTES]
            if self.command(f"M{address + offset:x},{len(part):x}:{part.hex()}") != "OK":
                raise BusError


def _listen(path: Path) -> socket.socket:
    path.unlink(missing_ok=True)
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(path))
    listener.listen(1)
    listener.settimeout(_START_DEADLINE_S)
    return listener


def _clock(machine: Machine) -> tuple[str, ...]:
    """Return the options of the guest's time: counted instructions, this machine's clock, or both.

    Both, because QEMU's own way (`-icount align=on`) stands still in QEMU 7.2, by a plugin that holds the guest back.
    """
    if os.environ.get(HOST_CLOCK):
        return ()
    counted = ("-icount", f"shift={machine.icount_shift},sleep=off")
    if not os.environ.get(PACED):
        return counted
    return *counted, "-plugin", f"{build_plugin('pace')},nanoseconds={1 << machine.icount_shift}"


def _launch(machine: Machine, folder: Path) -> subprocess.Popen[bytes]:
    command = [
        *("setpriv", "--pdeathsig", "KILL", _QEMU),  # it must not outlive this process
        *("-M", machine.name, "-display", "none", "-monitor", "none", "-S"),
        *_clock(machine),
        *("-chardev", f"socket,id=gdb0,path={folder / 'gdb'}", "-gdb", "chardev:gdb0"),
        *("-chardev", f"pipe,id=uart0,path={folder / 'uart'}", "-serial", "chardev:uart0"),
    ]
    if shutil.which(_QEMU) is None:
        raise ToolMissingError(f"{_QEMU} is not installed", hint="apt-get install qemu-system-arm")
    try:
        with (folder / "emulator.log").open("wb") as log:
            return subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT
            )
    except FileNotFoundError as error:
        raise ToolMissingError(
            "setpriv is not installed", hint="apt-get install util-linux"
        ) from error
