"""A chip whose core and memory are QEMU's: what the debugger does goes through its gdbstub, its UART is a pair of pipes.

Three things that QEMU 7.2 does otherwise than silicon are made up for here: BKPT does not stop a guest for gdb, so the
one that flash algorithms return to becomes a breakpoint; a lockup ends the emulator, so a core without a vector table
is not started; and so does a semihosting call that nobody answers, so a core that comes to one stands still there.
"""

from __future__ import annotations

import os
import re
import select
import shutil
import socket
import subprocess
import time
from typing import TYPE_CHECKING

from bench.errors import TargetError, ToolMissingError
from bench.targets.simprobe.core_debug import CoreDebug
from bench.targets.simprobe.debug_port import BusError

if TYPE_CHECKING:
    from pathlib import Path

    from bench.targets.simprobe.faults import Faults
    from bench.targets.simprobe.machines import Machine

_QEMU = "qemu-system-arm"
_START_DEADLINE_S = 10.0
_REPLY_DEADLINE_S = 5.0
_PACKET = re.compile(rb"[+]*\$([^#]*)#..", re.DOTALL)
_CODE_BYTES = 0x40000  # what is searched of a board's code
_CHUNK_BYTES = 1024  # QEMU's packets hold 4096 characters
_XPSR, _MAIN_STACK, _PROCESS_STACK = 16, 17, 18
_GDB_XPSR, _SP, _LR, _PC = 25, 13, 14, 15
# strw r1, [r0], #4; cmp r0, r2; bne; bkpt: fills Flash with ones when the board is new.
_FILL = bytes.fromhex("40f8041b9042fbd100be")


def _gdb_number(number: int) -> int | None:
    """Return gdb's number of a register in DCRSR's numbering; None for those that gdb has not."""
    special = {_XPSR: _GDB_XPSR, _MAIN_STACK: _SP, _PROCESS_STACK: _SP}
    return number if number < _XPSR else special.get(number)


class QemuChip(CoreDebug):
    """A machine of QEMU's; its contents last as long as this object, through resets and losses of power.

    Args:
        machine: which.
        folder: where its sockets lie.
        faults: what is to go wrong.
    """

    def __init__(self, machine: Machine, folder: Path, faults: Faults) -> None:
        super().__init__(machine.cpuid, has_fpu=machine.has_fpu)
        self.machine = machine
        self.faults = faults
        self._folder = folder
        self._start()

    def _start(self) -> None:
        """Begin with a new board: all Flash is erased."""
        machine, folder = self.machine, self._folder
        self._buffer = b""
        self._running = self._locked_up = self._hung = self._asleep = False
        self._set_breakpoints: set[int] = set()
        self._semihosting: set[int] = set()
        # Pipes, not a socket: QEMU sends byte by byte, and a socket keeps a buffer of its own for each.
        for name in ("uart.in", "uart.out"):
            (folder / name).unlink(missing_ok=True)
            os.mkfifo(folder / name)
        self.uart = (
            os.open(folder / "uart.out", os.O_RDWR | os.O_NONBLOCK),
            os.open(folder / "uart.in", os.O_RDWR | os.O_NONBLOCK),
        )
        with _listen(folder / "gdb") as gdb:
            self.process = _launch(machine, folder)
            self._gdb, _ = gdb.accept()
        self._gdb.settimeout(_REPLY_DEADLINE_S)
        self._command("qSupported")
        self._command("qXfer:features:read:target.xml:0,ffb")  # without it no single registers
        # Armv8-M: only the core sees the Secure aliases; Armv7-M: past the MPU, whose guard would stop a reader.
        self._command(f"Qqemu.PhyMemMode:{0 if machine.is_v8m else 1}")
        for start, nbytes in machine.flash:
            self._fill(start, nbytes)
        self.core_reset()

    def close(self) -> None:
        """End the emulator."""
        self.process.kill()
        self.process.wait()
        self._gdb.close()

    # --- gdb's remote protocol ---

    def _send(self, text: str) -> None:
        data = text.encode("latin-1")
        try:
            self._gdb.sendall(b"$" + data + b"#%02x" % (sum(data) & 0xFF))
        except OSError as error:
            self._died(error)

    def _receive(self, wait_s: float) -> str | None:
        """Return the next packet, or None if none came in time."""
        until = time.monotonic() + wait_s
        while True:
            if match := _PACKET.match(self._buffer):
                self._buffer = self._buffer[match.end() :]
                self._gdb.sendall(b"+")
                return match.group(1).decode("latin-1")
            if not select.select([self._gdb], [], [], max(0.0, until - time.monotonic()))[0]:
                return None
            try:
                data = self._gdb.recv(1 << 16)
            except OSError as error:
                self._died(error)
            if not data:
                self._died(EOFError("the emulator ended"))
            self._buffer += data

    def _died(self, error: Exception) -> None:
        """The emulator is gone: the chip is dead until it gets power again, which it cannot."""
        self.powered = False
        raise BusError from error

    def _command(self, text: str) -> str:
        self._send(text)
        reply = self._receive(_REPLY_DEADLINE_S)
        if reply is None:
            raise BusError
        return reply

    def _interrupt(self) -> None:
        self._gdb.sendall(b"\x03")
        self._receive(_REPLY_DEADLINE_S)

    def _poll(self) -> None:
        """Notice that the guest has stopped."""
        self.wake()
        if self._running and not self._hung and self._receive(0) is not None:
            waits = self.register_read(_PC) in self._semihosting
            self._stopped()
            if waits:
                self._hung = self._running = True
            else:
                self.note_breakpoint()

    def _stopped(self) -> None:
        self._running = False
        for address in self._set_breakpoints:
            self._command(f"z1,{address:x},2")
        self._set_breakpoints.clear()
        for address, mask in self.faults.stuck_bits.items():
            value = int(self._command(f"m{address:x},1"), 16)
            self._command(f"M{address:x},1:{value & ~mask:02x}")

    # --- the core ---

    def core_is_running(self) -> bool:
        """Whether the core runs, or is locked up, which looks the same to a debugger that only polls S_HALT."""
        self._poll()
        return self._running or self._locked_up

    def core_halt(self) -> None:
        """Halt the core."""
        self._poll()
        self._locked_up = False
        if self._hung:
            self._hung = self._running = False
        elif self._running:
            self._interrupt()
            self._stopped()

    def core_run(self) -> None:
        """Let the core run."""
        if self.in_reset or self._running or not self.powered:
            return
        wanted = set(self.breakpoints())
        returns_to = self.register_read(_LR) & ~1
        algorithm = self._halfword(returns_to) & 0xFF00 == 0xBE00
        if algorithm:
            wanted.add(returns_to)
            if self.faults.due("power_loss_after_runs"):
                self.power_off()
                return
            if self.faults.due("hang_after_runs"):
                self._hung = self._running = True
                return
        elif self._halfword(self.register_read(_PC)) in (0xFFFF, 0):
            self._locked_up = True
            return
        self._semihosting = set() if algorithm else self._semihosting_calls()
        wanted |= self._semihosting
        for address in wanted:
            self._command(f"Z1,{address:x},2")
        self._set_breakpoints = wanted
        self._send("c")
        self._running = True

    def _halfword(self, address: int) -> int:
        try:
            return int.from_bytes(self._memory(address, 2), "little")
        except BusError:
            return 0xFFFF

    def _semihosting_calls(self) -> set[int]:
        """Return where the image calls its host (BKPT 0xAB); what only looks like it is never executed."""
        start, nbytes = self.machine.flash[0]
        code = self._memory(start, min(nbytes, _CODE_BYTES))
        found = {start + m.start() for m in re.finditer(rb"\xab\xbe", code)}
        return {address for address in found if address % 2 == 0}

    def core_step(self) -> None:
        """Execute one instruction."""
        self._command("s")

    def core_reset(self) -> None:
        """Reset the machine; QEMU does it some time after it said so: wait until a register shows it."""
        self.core_halt()
        mark = 0xDEADBEEF
        self.register_write(5, mark)
        self._send("qRcmd," + b"system_reset".hex())
        until = time.monotonic() + _REPLY_DEADLINE_S
        while self._receive(_REPLY_DEADLINE_S) not in ("OK", "E01", None):
            pass
        while self.register_read(5) == mark:
            if time.monotonic() > until:
                raise BusError

    def register_read(self, number: int) -> int:
        """Read a core register."""
        known = _gdb_number(number)
        if known is None:
            return 0
        return int.from_bytes(bytes.fromhex(self._command(f"p{known:x}"))[:4], "little")

    def register_write(self, number: int, value: int) -> None:
        """Write a core register; the program counter without its Thumb bit."""
        known = _gdb_number(number)
        if known is not None:
            value &= ~1 if known == _PC else 0xFFFFFFFF
            self._command(f"P{known:x}={value.to_bytes(4, 'little').hex()}")

    # --- memory ---

    def _inside(self, regions: tuple[tuple[int, int], ...], address: int, nbytes: int) -> bool:
        return any(start <= address and address + nbytes <= start + size for start, size in regions)

    def read_block(self, address: int, nbytes: int) -> bytes:
        """Read memory or a register of the machine."""
        if address == self.machine.chip_id_address and self.faults.chip_id is not None:
            return self.faults.chip_id.to_bytes(4, "little")[:nbytes]
        known = self.machine.flash + self.machine.ram
        if not self._inside(known, address, nbytes) and address != self.machine.chip_id_address:
            raise BusError
        return self._memory(address, nbytes)

    def _memory(self, address: int, nbytes: int) -> bytes:
        """Read; gdb is answered only while the guest stands still, so a running one is stopped for a moment."""
        with _Standstill(self):
            parts = []
            for offset in range(0, nbytes, _CHUNK_BYTES):
                count = min(_CHUNK_BYTES, nbytes - offset)
                reply = self._command(f"m{address + offset:x},{count:x}")
                if reply.startswith("E"):
                    raise BusError
                parts.append(bytes.fromhex(reply))
            return b"".join(parts)

    def write_block(self, address: int, data: bytes) -> None:
        """Write RAM; Flash ignores what is not its controller's."""
        if self._inside(self.machine.flash, address, len(data)):
            return
        if not self._inside(self.machine.ram, address, len(data)):
            raise BusError
        with _Standstill(self):
            self._write(address, data)

    def poke(self, address: int, data: bytes) -> None:
        """Write memory, Flash included."""
        with _Standstill(self):
            self._write(address, data)

    def _write(self, address: int, data: bytes) -> None:
        for offset in range(0, len(data), _CHUNK_BYTES):
            part = data[offset : offset + _CHUNK_BYTES]
            if self._command(f"M{address + offset:x},{len(part):x}:{part.hex()}") != "OK":
                raise BusError

    def _fill(self, start: int, nbytes: int) -> None:
        """Set memory to ones by a loop in the guest: gdb would take a second a megabyte."""
        work = self.machine.work
        self._write(work, _FILL)
        for number, value in ((0, start), (1, 0xFFFFFFFF), (2, start + nbytes), (_PC, work)):
            self.register_write(number, value)
        self.register_write(_XPSR, 1 << 24)
        end = work + len(_FILL) - 2
        self._command(f"Z1,{end:x},2")
        self._send("c")
        if self._receive(_START_DEADLINE_S) is None:
            raise TargetError(f"{self.machine.name} did not come up")
        self._command(f"z1,{end:x},2")

    # --- power ---

    def sleep(self) -> None:
        """Stop the guest."""
        self._poll()
        if self._running and not self._hung and not self._asleep:
            self._interrupt()
            self._asleep = True

    def wake(self) -> None:
        """Let it go on."""
        if self._asleep:
            self._asleep = False
            self._send("c")

    def power_off(self) -> None:
        """Cut power: the core stops, nothing answers; Flash keeps its contents."""
        if self._running and not self._hung:
            self._interrupt()
            self._stopped()
        self._running = self._hung = self._locked_up = False
        self.powered = False

    def power_on(self) -> None:
        """Give power: RAM holds garbage, the core boots."""
        self.powered = True
        self._forget_debugger()
        if self.process.poll() is not None:
            for handle in self.uart:
                os.close(handle)
            self._start()
        start, _ = self.machine.ram[0]
        self._write(start, b"\xa5\x5a" * 0x4000)
        self.reset()


class _Standstill:
    """While this lasts, the guest stands still."""

    def __init__(self, chip: QemuChip) -> None:
        self._chip = chip

    def __enter__(self) -> None:
        self._chip._poll()  # noqa: SLF001  one class in two
        self._was_running = self._chip._running and not self._chip._hung  # noqa: SLF001
        if self._was_running:
            self._chip._interrupt()  # noqa: SLF001

    def __exit__(self, *_: object) -> None:
        if self._was_running:
            self._chip._send("c")  # noqa: SLF001


def _listen(path: Path) -> socket.socket:
    path.unlink(missing_ok=True)
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(path))
    listener.listen(1)
    listener.settimeout(_START_DEADLINE_S)
    return listener


def _launch(machine: Machine, folder: Path) -> subprocess.Popen[bytes]:
    command = [
        *("setpriv", "--pdeathsig", "KILL", _QEMU),  # it must not outlive this process
        *("-M", machine.name, "-display", "none", "-monitor", "none", "-S"),
        *("-icount", f"shift={machine.icount_shift},sleep=off"),
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
