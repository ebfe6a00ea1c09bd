"""An nRF52840 whose core is Unicorn's: Flash with its controller, FICR, UICR, UART and the control access port.

nRF52840 Product Specification 1.7: 4.3 NVMC (page erase 0x508, ready 0x400, config 0x504), 4.4 FICR, 4.5 UICR, 4.8.3
CTRL-AP, 6.34 UART. pyOCD's own flash algorithm runs on it as on a part. There are no exceptions and no interrupts: an
image that needs them stops at the first.
"""

from __future__ import annotations

import os
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from unicorn import (
    UC_ARCH_ARM,
    UC_HOOK_INTR,
    UC_HOOK_MEM_WRITE,
    UC_MODE_MCLASS,
    UC_MODE_THUMB,
    Uc,
    UcError,
)
from unicorn import arm_const as arm

from bench.targets.simprobe.core_debug import CoreDebug
from bench.targets.simprobe.debug_port import BusError

if TYPE_CHECKING:
    from bench.targets.simprobe.faults import Faults

FLASH_BYTES, PAGE_BYTES, RAM_START, RAM_BYTES = 0x100000, 0x1000, 0x20000000, 0x40000
_FICR, _UICR = 0x10000000, 0x10001000
_PERIPHERALS, _PERIPHERAL_BYTES = 0x40000000, 0x80000
_NVMC = 0x4001E000
_READY, _CONFIG, _ERASE_PAGE, _ERASE_ALL = (
    _NVMC + 0x400,
    _NVMC + 0x504,
    _NVMC + 0x508,
    _NVMC + 0x50C,
)
_UART_TXD, _UART_SENT = 0x4000251C, 0x4000211C
_WRITE_ENABLED, _ERASE_ENABLED = 1, 2
# PART, VARIANT "AAF0", PACKAGE QI, RAM and Flash in KB, and the page size and count before them.
_FACTS = {0x10: PAGE_BYTES, 0x14: 256, 0x100: 0x52840, 0x104: 0x41414630, 0x108: 0x2004, 0x10C: 256, 0x110: 1024}  # fmt: skip
_PART = _FICR + 0x100
_CTRL_RESET, _CTRL_ERASE_ALL, _CTRL_ERASE_STATUS, _CTRL_LOCK_STATUS, _CTRL_IDR = (
    0x0,
    0x4,
    0x8,
    0xC,
    0xFC,
)
_SLICE_INSTRUCTIONS = 20_000
_STAND_BACK_S = 1e-4
_REGISTERS = (
    *(getattr(arm, f"UC_ARM_REG_R{i}") for i in range(13)),
    arm.UC_ARM_REG_SP,
    arm.UC_ARM_REG_LR,
    arm.UC_ARM_REG_PC,
    arm.UC_ARM_REG_XPSR,
    arm.UC_ARM_REG_MSP,
    arm.UC_ARM_REG_PSP,
)
_SP, _LR, _PC = 13, 14, 15


class _Turns:
    """A lock that says how many want it: a core that runs for ever would otherwise never let its debugger in."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.asked = 0
        self._count = threading.Lock()

    def __enter__(self) -> None:
        with self._count:
            self.asked += 1
        self.lock.acquire()
        with self._count:
            self.asked -= 1

    def __exit__(self, *_: object) -> None:
        self.lock.release()


class Nrf52Chip(CoreDebug):
    """The chip; a thread of its own executes it while it runs."""

    def __init__(self, faults: Faults) -> None:
        super().__init__(0x410FC241)
        self.faults = faults
        received, sent = os.pipe(), os.pipe()
        self.uart = (sent[0], received[1])
        self._uart_out = sent[1]
        os.set_blocking(sent[1], False)
        self._lock = _Turns()
        self._wake = threading.Condition(self._lock.lock)
        self._running = False
        self._stopped_at: int | None = None
        self._config = 0
        self._undo: list[tuple[int, bytes]] = []
        self._core = self._make_core()
        self._write(0, b"\xff" * FLASH_BYTES)
        self._write(_FICR, b"\xff" * 0x2000)
        for offset, value in _FACTS.items():
            self._write(_FICR + offset, value.to_bytes(4, "little"))
        threading.Thread(target=self._execute, daemon=True, name="core").start()
        self.core_reset()

    def close(self) -> None:
        """Stop."""
        self.core_halt()

    def _make_core(self) -> Any:
        core = Uc(UC_ARCH_ARM, UC_MODE_THUMB | UC_MODE_MCLASS)
        core.ctl_set_cpu_model(arm.UC_CPU_ARM_CORTEX_M4)
        core.mem_map(0, FLASH_BYTES)
        core.mem_map(_FICR, 0x2000)
        core.mem_map(RAM_START, RAM_BYTES)
        core.mmio_map(_PERIPHERALS, _PERIPHERAL_BYTES, self._on_read, None, self._on_write, None)
        core.hook_add(UC_HOOK_INTR, self._on_exception)
        for start, end in ((0, FLASH_BYTES - 1), (_UICR, _UICR + 0x3FF)):
            core.hook_add(UC_HOOK_MEM_WRITE, self._on_flash_write, None, start, end)
        return core

    def _write(self, address: int, data: bytes) -> None:
        self._core.mem_write(address, data)

    # --- the core ---

    def _execute(self) -> None:
        while True:
            while self._lock.asked:
                time.sleep(_STAND_BACK_S)
            with self._wake:
                while not self._running:
                    self._wake.wait()
                self._slice(_SLICE_INSTRUCTIONS)

    def _slice(self, instructions: int) -> None:
        self._stopped_at = None
        try:
            pc = self._core.reg_read(arm.UC_ARM_REG_PC)
            self._core.emu_start(pc | 1, 0xFFFFFFFE, 0, instructions)
        except UcError:
            self._running = False  # an access of nothing: a part would be in HardFault
        self._settle()
        if self._stopped_at is not None:
            self._core.reg_write(arm.UC_ARM_REG_PC, self._stopped_at)
            self._running = False
            self.note_breakpoint()

    def _on_exception(self, core: Any, _number: int, _user: object) -> None:
        self._stopped_at = core.reg_read(arm.UC_ARM_REG_PC) & ~1
        core.emu_stop()

    def core_is_running(self) -> bool:
        """Whether the core runs."""
        return self._running

    def core_halt(self) -> None:
        """Halt the core."""
        with self._lock:
            self._running = False

    def core_run(self) -> None:
        """Let the core run."""
        with self._lock:
            if self.in_reset or not self.powered:
                return
            algorithm = self.register_read(_LR) & ~1 == RAM_START
            if algorithm and self.faults.due("power_loss_after_runs"):
                self.power_off()
                return
            if algorithm:
                self.faults.due("hang_after_runs")
            self._running = True
            self._wake.notify()

    def core_step(self) -> None:
        """Execute one instruction."""
        with self._lock:
            self._slice(1)
            self._running = False

    def core_reset(self) -> None:
        """Reset the core."""
        with self._lock:
            self._running = False
            for register in _REGISTERS[:13]:
                self._core.reg_write(register, 0)
            vectors = bytes(self._core.mem_read(0, 8))
            self.register_write(_SP, int.from_bytes(vectors[:4], "little") & ~3)
            self.register_write(_LR, 0xFFFFFFFF)
            self.register_write(_PC, int.from_bytes(vectors[4:], "little"))
            self._config = 0

    def register_read(self, number: int) -> int:
        """Read a core register."""
        with self._lock:
            return int(self._core.reg_read(_REGISTERS[number])) if number < len(_REGISTERS) else 0

    def register_write(self, number: int, value: int) -> None:
        """Write a core register."""
        with self._lock:
            if number < len(_REGISTERS):
                self._core.reg_write(_REGISTERS[number], value & ~1 if number == _PC else value)

    # --- Flash ---

    def _on_flash_write(
        self, _core: Any, _access: int, address: int, size: int, value: int, _user: object
    ) -> None:
        """Unicorn writes after this hook: what Flash really holds is put there before it is looked at again."""
        self._settle()
        self._undo.append((address, self._programmed(address, size, value)))

    def _settle(self) -> None:
        for address, data in self._undo:
            self._write(address, data)
        self._undo.clear()

    def _programmed(self, address: int, size: int, value: int) -> bytes:
        """Return what a word holds after it was written: programming clears bits, if it is enabled at all."""
        old = int.from_bytes(self._core.mem_read(address, size), "little")
        if self._config != _WRITE_ENABLED:
            return old.to_bytes(size, "little")
        stuck = sum(self.faults.stuck_bits.get(address + i, 0) << 8 * i for i in range(size))
        return (old & value & ~stuck).to_bytes(size, "little")

    def _erase_all(self) -> None:
        self._write(0, b"\xff" * FLASH_BYTES)
        self._write(_UICR, b"\xff" * 0x1000)
        self.mass_erases += 1

    # --- peripherals ---

    def _on_read(self, _core: Any, offset: int, _size: int, _user: object) -> int:
        return self._read_peripheral(_PERIPHERALS + offset)

    def _on_write(self, _core: Any, offset: int, _size: int, value: int, _user: object) -> None:
        self._write_peripheral(_PERIPHERALS + offset, value)

    def _read_peripheral(self, address: int) -> int:
        if address == _READY:
            return 0 if self.faults.hang_after_runs == 0 else 1
        if address == _CONFIG:
            return self._config
        return 1 if address == _UART_SENT else self._plain.get(address, 0)

    def _write_peripheral(self, address: int, value: int) -> None:
        if address == _CONFIG:
            self._config = value & 3
        elif address == _ERASE_PAGE and self._config == _ERASE_ENABLED:
            self._settle()
            self._write(value & ~(PAGE_BYTES - 1), b"\xff" * PAGE_BYTES)
        elif address == _ERASE_ALL and self._config == _ERASE_ENABLED and value & 1:
            self._settle()
            self._erase_all()
        elif address == _UART_TXD:
            with suppress(BlockingIOError):
                os.write(self._uart_out, bytes([value & 0xFF]))
        else:
            self._plain[address] = value

    # --- the bus as the debugger sees it ---

    def _is_mapped(self, address: int, nbytes: int) -> bool:
        end = address + nbytes
        return (
            end <= FLASH_BYTES
            or _FICR <= address <= end <= _FICR + 0x2000
            or RAM_START <= address <= end <= RAM_START + RAM_BYTES
        )

    def read_block(self, address: int, nbytes: int) -> bytes:
        """Read memory or a peripheral's register."""
        with self._lock:
            if _PERIPHERALS <= address < _PERIPHERALS + _PERIPHERAL_BYTES:
                return self._read_peripheral(address & ~3).to_bytes(4, "little")[:nbytes]
            if not self._is_mapped(address, nbytes):
                raise BusError
            if address == _PART and self.faults.chip_id is not None:
                return self.faults.chip_id.to_bytes(4, "little")[:nbytes]
            return bytes(self._core.mem_read(address, nbytes))

    def write_block(self, address: int, data: bytes) -> None:
        """Write RAM, a peripheral's register, or Flash as its controller allows."""
        with self._lock:
            if _PERIPHERALS <= address < _PERIPHERALS + _PERIPHERAL_BYTES:
                self._write_peripheral(address, int.from_bytes(data, "little"))
            elif not self._is_mapped(address, len(data)):
                raise BusError
            elif address >= RAM_START:
                self._write(address, data)
            elif address < FLASH_BYTES or address >= _UICR:
                value = int.from_bytes(data, "little")
                self._write(address, self._programmed(address, len(data), value))

    def poke(self, address: int, data: bytes) -> None:
        """Write memory, Flash included."""
        with self._lock:
            self._write(address, data)

    # --- the control access port ---

    def vendor_port_read(self, register: int) -> int:
        """Read a register of CTRL-AP."""
        if register == _CTRL_LOCK_STATUS:
            if self.faults.false_lock_readings > 0:
                self.faults.false_lock_readings -= 1
                return 0
            return 0 if self.locked else 1
        return {_CTRL_ERASE_STATUS: 0, _CTRL_IDR: 0x02880000}.get(register, 0)

    def vendor_port_write(self, register: int, value: int) -> None:
        """Write a register of CTRL-AP: erasing everything unlocks the part."""
        if register == _CTRL_ERASE_ALL and value & 1:
            with self._lock:
                self._erase_all()
                self.locked = False
        elif register == _CTRL_RESET:
            if value & 1:
                self.hold_reset()
            else:
                self.release_reset()

    # --- power ---

    def power_off(self) -> None:
        """Cut power."""
        with self._lock:
            self.powered = False
            self._running = False

    def power_on(self) -> None:
        """Give power: RAM holds garbage, the core boots."""
        with self._lock:
            self._write(RAM_START, b"\xa5\x5a" * (RAM_BYTES // 2))
            self.powered = True
            self._forget_debugger()
            self.reset()
