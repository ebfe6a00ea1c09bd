"""Debug registers of a Cortex-M as a debugger sees them on the bus, shared by the chips behind the simulated probe.

Armv7-M Architecture Reference Manual (DDI 0403), C1.6 (DHCSR, DCRSR, DEMCR), C1.11 (FPB), B3.2 (SCB).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

_REGISTER_READY, _HALTED, _RETIRED, _WAS_RESET = 1 << 16, 1 << 17, 1 << 24, 1 << 25
_DEBUG_ENABLE, _HALT, _STEP = 1, 2, 4
_KEY = 0xA05F
_CPUID, _VTOR, _AIRCR, _DFSR = 0xE000ED00, 0xE000ED08, 0xE000ED0C, 0xE000ED30
_DHCSR, _DCRSR, _DCRDR, _DEMCR = 0xE000EDF0, 0xE000EDF4, 0xE000EDF8, 0xE000EDFC
_FP_CTRL, _FP_COMP = 0xE0002000, 0xE0002008
_PRIVATE_BUS = range(0xE0000000, 0xE0100000)
_BREAKPOINTS, _WATCHPOINTS = 6, 4
_ROM_TABLE = 0xE00FF000
_WORD = 0xFFFFFFFF


def _identity(part: int, kind: int) -> dict[int, int]:
    """Return peripheral and component id registers of an Arm component (JEP106 code 4:0x3B), IHI0029 B2.2."""
    number = part | 0x3B << 12 | 1 << 19 | 4 << 32
    found = {0xFE0 + 4 * i: number >> 8 * i & 0xFF for i in range(4)}
    found |= {0xFD0 + 4 * i: number >> 8 * (i + 4) & 0xFF for i in range(4)}
    return found | {0xFF0 + 4 * i: b for i, b in enumerate((0x0D, kind << 4, 0x05, 0xB1))}


def _rom(parts: tuple[int, int, int, int]) -> dict[int, int]:
    """Return the ROM table and the ids of SCS, DWT and FPB: address -> word."""
    scs, dwt, fpb, table = parts
    words = {_ROM_TABLE + offset: value for offset, value in _identity(table, 1).items()}
    words[_ROM_TABLE + 0xFCC] = 1
    for i, (address, part) in enumerate(((0xE000E000, scs), (0xE0001000, dwt), (0xE0002000, fpb))):
        words[_ROM_TABLE + 4 * i] = address - _ROM_TABLE & 0xFFFFF000 | 3
        words |= {address + offset: value for offset, value in _identity(part, 0xE).items()}
    return words


class CoreDebug(ABC):
    """The private peripheral bus; what is behind it, a chip gives.

    Args:
        cpuid: of the core.
        parts: part numbers of SCS, DWT, FPB and ROM table.
        has_fpu: what MVFR0 tells.
    """

    dpidr = 0x2BA01477
    ap_idr = 0x24770011  # the AHB-AP of Cortex-M3 and M4
    ap_wrap_bytes = 0x1000  # which counts through 4 KB; plain ADIv5 says 1 KB
    rom_base = _ROM_TABLE

    def __init__(
        self,
        cpuid: int,
        parts: tuple[int, int, int, int] = (0x00C, 0x002, 0x003, 0x4C4),
        *,
        has_fpu: bool = True,
    ) -> None:
        self.powered = True
        self.locked = False
        self.in_reset = False
        self.resets = self.mass_erases = 0
        self.on_reset: Callable[[], None] = lambda: None
        self._fixed = _rom(parts) | {
            _CPUID: cpuid,
            0xE000EF40: 0x10110021 if has_fpu else 0,  # MVFR0
            0xE000ED90: 0x800,  # MPU_TYPE
            0xE000ED6C: 0x01111131,  # ID_ISAR3: DSP
        }
        self._forget_debugger()

    def _forget_debugger(self) -> None:
        """Set the state that debug power keeps."""
        self.debug_enabled = False
        self._data = self._monitor = self._status = 0
        self._was_reset = True
        self._plain: dict[int, int] = {}
        self._comparators = [0] * _BREAKPOINTS
        self._breakpoints_on = False

    # --- what a chip gives ---

    @abstractmethod
    def core_halt(self) -> None:
        """Halt the core."""

    @abstractmethod
    def core_run(self) -> None:
        """Let the core run, unless reset is held."""

    @abstractmethod
    def core_step(self) -> None:
        """Execute one instruction."""

    @abstractmethod
    def core_reset(self) -> None:
        """Reset the core and leave it halted at its reset vector."""

    @abstractmethod
    def core_is_running(self) -> bool:
        """Whether the core runs; a breakpoint that it met is noticed here."""

    @abstractmethod
    def register_read(self, number: int) -> int:
        """Read a core register, numbered as in DCRSR."""

    @abstractmethod
    def register_write(self, number: int, value: int) -> None:
        """Write a core register."""

    @abstractmethod
    def read_block(self, address: int, nbytes: int) -> bytes:
        """Read memory; raises BusError."""

    @abstractmethod
    def write_block(self, address: int, data: bytes) -> None:
        """Write memory as a bus master does, which Flash ignores; raises BusError."""

    @abstractmethod
    def poke(self, address: int, data: bytes) -> None:
        """Write memory, Flash included, past every controller."""

    @abstractmethod
    def power_off(self) -> None:
        """Cut power: nothing answers; Flash keeps its contents."""

    @abstractmethod
    def power_on(self) -> None:
        """Give power: RAM holds garbage, the core boots."""

    def sleep(self) -> None:  # noqa: B027  a chip that costs nothing need not
        """Stand still without anybody noticing, until `wake`."""

    def wake(self) -> None:  # noqa: B027  as above
        """Go on where `sleep` stopped."""

    def vendor_port_read(self, register: int) -> int:  # noqa: ARG002  chips with such a port override it
        """Read the vendor's access port; no such port reads as zero."""
        return 0

    def vendor_port_write(self, register: int, value: int) -> None:  # noqa: B027  chips without one ignore it
        """Write the vendor's access port."""

    # --- reset ---

    def hold_reset(self) -> None:
        """Pull the reset pin."""
        self.core_halt()
        self.in_reset = True

    def release_reset(self) -> None:
        """Let the reset pin go."""
        self.in_reset = False
        self.reset()

    def reset(self) -> None:
        """Reset; the core halts at its vector if a debugger asked for that (DEMCR.VC_CORERESET)."""
        self._was_reset = True
        self._plain.pop(_VTOR, None)
        self.resets += 1
        self.core_reset()
        self.on_reset()
        if self.debug_enabled and self._monitor & 1:
            self._status |= 8
        else:
            self.core_run()

    def note_breakpoint(self) -> None:
        """Say in DFSR that a breakpoint stopped the core."""
        self._status |= 2

    def breakpoints(self) -> list[int]:
        """Return the addresses of the hardware breakpoints that are set."""
        if not self._breakpoints_on:
            return []
        found = []
        for word in (c for c in self._comparators if c & 1):
            found += [word & 0x1FFFFFFC] if word >> 30 & 1 else []
            found += [(word & 0x1FFFFFFC) + 2] if word >> 31 & 1 else []
        return found

    # --- the bus as the access port sees it ---

    def bus_read(self, address: int, size: int) -> int:
        """Read 1, 2 or 4 bytes."""
        if address in _PRIVATE_BUS:
            return self._read_private(address & ~3) >> 8 * (address & 3) & (1 << 8 * size) - 1
        return int.from_bytes(self.read_block(address, size), "little")

    def bus_write(self, address: int, size: int, value: int) -> None:
        """Write 1, 2 or 4 bytes."""
        if address not in _PRIVATE_BUS:
            self.write_block(address, value.to_bytes(size, "little"))
            return
        shift, mask = 8 * (address & 3), (1 << 8 * size) - 1
        old = self._read_private(address & ~3) if size != 4 else 0
        self._write_private(address & ~3, old & ~(mask << shift) & _WORD | value << shift)

    def _read_private(self, address: int) -> int:
        if address == _DHCSR:
            running = self.core_is_running()
            value = _REGISTER_READY | int(self.debug_enabled)
            value |= _RETIRED if running else _HALTED | _HALT
            value |= _WAS_RESET if self._was_reset else 0
            self._was_reset = False
            return value
        plain = {_DCRDR: self._data, _DEMCR: self._monitor, _DFSR: self._status}
        if address in plain:
            return plain[address]
        if address == _FP_CTRL:
            return _BREAKPOINTS << 4 | 2 << 8 | int(self._breakpoints_on)
        if _FP_COMP <= address < _FP_COMP + 4 * _BREAKPOINTS:
            return self._comparators[(address - _FP_COMP) // 4]
        if address == 0xE0001000:
            return _WATCHPOINTS << 28 | self._plain.get(address, 0)
        return self._fixed.get(address, self._plain.get(address, 0))

    def _write_private(self, address: int, value: int) -> None:
        act = {
            _DHCSR: self._write_control,
            _DCRSR: self._select_register,
            _DCRDR: lambda v: setattr(self, "_data", v),
            _DEMCR: lambda v: setattr(self, "_monitor", v),
            _DFSR: lambda v: setattr(self, "_status", self._status & ~v),
            _AIRCR: self._write_reset,
            _FP_CTRL: self._write_breakpoint_control,
        }.get(address)
        if act is not None:
            act(value)
        elif _FP_COMP <= address < _FP_COMP + 4 * _BREAKPOINTS:
            self._comparators[(address - _FP_COMP) // 4] = value
        else:
            self._plain[address] = value

    def _select_register(self, value: int) -> None:
        if self.core_is_running():
            return
        if value & 0x10000:
            self.register_write(value & 0x7F, self._data)
        else:
            self._data = self.register_read(value & 0x7F) & _WORD

    def _write_reset(self, value: int) -> None:
        if value >> 16 == 0x05FA and value & 5:
            self.core_halt()
            self.reset()

    def _write_breakpoint_control(self, value: int) -> None:
        if value & 2:
            self._breakpoints_on = bool(value & 1)

    def _write_control(self, value: int) -> None:
        if value >> 16 != _KEY:
            return
        self.debug_enabled = bool(value & _DEBUG_ENABLE)
        running = self.core_is_running()
        if self.debug_enabled and value & _HALT:
            if running:
                self.core_halt()
                self._status |= 1
        elif self.debug_enabled and value & _STEP:
            self.core_step()
            self._status |= 1
        elif not running:
            self.core_run()
