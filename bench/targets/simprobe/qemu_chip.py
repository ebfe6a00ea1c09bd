"""A chip whose core and memory are QEMU's: what the debugger does goes through its gdbstub, its UART is a pair of pipes.

Three things that QEMU 7.2 does otherwise than silicon are made up for here: BKPT does not stop a guest for gdb, so the
one that flash algorithms return to becomes a breakpoint; a lockup ends the emulator, so a core without a vector table
is not started; and so does a semihosting call that nobody answers, so a core that comes to one stands still there.
"""

from __future__ import annotations

import os
import re
import time
from typing import TYPE_CHECKING

from bench.errors import TargetError
from bench.targets.simprobe.core_debug import CoreDebug
from bench.targets.simprobe.debug_port import BusError
from bench.targets.simprobe.gdb_link import REPLY_DEADLINE_S, GdbLink

if TYPE_CHECKING:
    from pathlib import Path

    from bench.targets.simprobe.faults import Faults
    from bench.targets.simprobe.machines import Machine

_START_DEADLINE_S = 10.0
_CODE_BYTES = 0x40000  # what is searched of a board's code
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
        self._gdb = GdbLink(machine, folder, self._died)
        for start, nbytes in machine.flash:
            self._fill(start, nbytes)
        self.core_reset()

    def close(self) -> None:
        """End the emulator."""
        self._gdb.close()

    def _died(self) -> None:
        """The emulator is gone: the chip is dead until it gets power again."""
        self.powered = False

    def _poll(self) -> None:
        """Notice that the guest has stopped."""
        self.wake()
        if self._running and not self._hung and self._gdb.receive(0) is not None:
            waits = self.register_read(_PC) in self._semihosting
            self._stopped()
            if waits:
                self._hung = self._running = True
            else:
                self.note_breakpoint()

    def _stopped(self) -> None:
        self._running = False
        for address in self._set_breakpoints:
            self._gdb.command(f"z1,{address:x},2")
        self._set_breakpoints.clear()
        for address, mask in self.faults.stuck_bits.items():
            value = int(self._gdb.command(f"m{address:x},1"), 16)
            self._gdb.command(f"M{address:x},1:{value & ~mask:02x}")

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
            self._gdb.interrupt()
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
            self._gdb.command(f"Z1,{address:x},2")
        self._set_breakpoints = wanted
        self._gdb.send("c")
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
        self._gdb.command("s")

    def core_reset(self) -> None:
        """Reset the machine; QEMU does it some time after it said so: wait until a register shows it."""
        self.core_halt()
        mark = 0xDEADBEEF
        self.register_write(5, mark)
        self._gdb.send("qRcmd," + b"system_reset".hex())
        until = time.monotonic() + REPLY_DEADLINE_S
        while self._gdb.receive(REPLY_DEADLINE_S) not in ("OK", "E01", None):
            pass
        while self.register_read(5) == mark:
            if time.monotonic() > until:
                raise BusError

    def register_read(self, number: int) -> int:
        """Read a core register."""
        known = _gdb_number(number)
        if known is None:
            return 0
        return int.from_bytes(bytes.fromhex(self._gdb.command(f"p{known:x}"))[:4], "little")

    def register_write(self, number: int, value: int) -> None:
        """Write a core register; the program counter without its Thumb bit."""
        known = _gdb_number(number)
        if known is not None:
            value &= ~1 if known == _PC else 0xFFFFFFFF
            self._gdb.command(f"P{known:x}={value.to_bytes(4, 'little').hex()}")

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
            return self._gdb.read(address, nbytes)

    def write_block(self, address: int, data: bytes) -> None:
        """Write RAM; Flash ignores what is not its controller's."""
        if self._inside(self.machine.flash, address, len(data)):
            return
        if not self._inside(self.machine.ram, address, len(data)):
            raise BusError
        with _Standstill(self):
            self._gdb.write(address, data)

    def poke(self, address: int, data: bytes) -> None:
        """Write memory, Flash included."""
        with _Standstill(self):
            self._gdb.write(address, data)

    def _fill(self, start: int, nbytes: int) -> None:
        """Set memory to ones by a loop in the guest: gdb would take a second a megabyte."""
        work = self.machine.work
        self._gdb.write(work, _FILL)
        for number, value in ((0, start), (1, 0xFFFFFFFF), (2, start + nbytes), (_PC, work)):
            self.register_write(number, value)
        self.register_write(_XPSR, 1 << 24)
        end = work + len(_FILL) - 2
        self._gdb.command(f"Z1,{end:x},2")
        self._gdb.send("c")
        if self._gdb.receive(_START_DEADLINE_S) is None:
            raise TargetError(f"{self.machine.name} did not come up")
        self._gdb.command(f"z1,{end:x},2")

    # --- power ---

    def sleep(self) -> None:
        """Stop the guest."""
        self._poll()
        if self._running and not self._hung and not self._asleep:
            self._gdb.interrupt()
            self._asleep = True

    def wake(self) -> None:
        """Let it go on."""
        if self._asleep:
            self._asleep = False
            self._gdb.send("c")

    def power_off(self) -> None:
        """Cut power: the core stops, nothing answers; Flash keeps its contents."""
        if self._running and not self._hung:
            self._gdb.interrupt()
            self._stopped()
        self._running = self._hung = self._locked_up = False
        self.powered = False

    def power_on(self) -> None:
        """Give power: RAM holds garbage, the core boots."""
        self.powered = True
        self._forget_debugger()
        if self._gdb.process.poll() is not None:
            for handle in self.uart:
                os.close(handle)
            self._start()
        start, _ = self.machine.ram[0]
        self._gdb.write(start, b"\xa5\x5a" * 0x4000)
        self.reset()


class _Standstill:
    """While this lasts, the guest stands still."""

    def __init__(self, chip: QemuChip) -> None:
        self._chip = chip

    def __enter__(self) -> None:
        self._chip._poll()  # noqa: SLF001  one class in two
        self._was_running = self._chip._running and not self._chip._hung  # noqa: SLF001
        if self._was_running:
            self._chip._gdb.interrupt()  # noqa: SLF001

    def __exit__(self, *_: object) -> None:
        if self._was_running:
            self._chip._gdb.send("c")  # noqa: SLF001
