"""A serial wire debug port with a memory access port (0) and, where the chip has one, an access port of its vendor (1).

Arm IHI0031 (ADIv5): B2.2 DP registers, C2 MEM-AP. Everything above speaks to it with the four transactions of SWD.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from bench.targets.simprobe.faults import Faults

_STICKY_ERROR = 0x20
_DEBUG_POWER_REQUEST, _SYSTEM_POWER_REQUEST = 1 << 28, 1 << 30
_CSW, _TAR, _DRW, _CFG, _BASE, _IDR = 0x00, 0x04, 0x0C, 0xF4, 0xF8, 0xFC
_CSW_DEVICE_ENABLE = 0x40
_WORD = 0xFFFFFFFF
_PRIVATE_BUS = range(0xE0000000, 0xE0100000)


class NoAnswerFromPortError(Exception):
    """Nobody drives the wire."""


class WaitError(Exception):
    """The port answers WAIT."""


class PortFaultError(Exception):
    """The port answers FAULT: a sticky error is set."""


class BusError(Exception):
    """An access of the memory system failed."""


class Chip(Protocol):
    """What a debug port asks of the chip behind it."""

    dpidr: int
    ap_idr: int
    ap_wrap_bytes: int
    rom_base: int
    powered: bool
    locked: bool

    def bus_read(self, address: int, size: int) -> int: ...  # noqa: D102  as their names say
    def bus_write(self, address: int, size: int, value: int) -> None: ...  # noqa: D102
    def read_block(self, address: int, nbytes: int) -> bytes: ...  # noqa: D102
    def write_block(self, address: int, data: bytes) -> None: ...  # noqa: D102
    def hold_reset(self) -> None: ...  # noqa: D102
    def release_reset(self) -> None: ...  # noqa: D102
    def vendor_port_read(self, register: int) -> int: ...  # noqa: D102
    def vendor_port_write(self, register: int, value: int) -> None: ...  # noqa: D102


class DebugPort:
    """State of the port between transactions."""

    def __init__(self, chip: Chip, faults: Faults) -> None:
        self.chip = chip
        self.faults = faults
        self.reset_released = True
        self.deaf = self.asked = False
        self.clock_hz = 1_000_000
        self._forget()

    def _forget(self) -> None:
        self._select = self._control = self._sticky = self._read_buffer = self._address = 0
        self._csw = 0x23000042

    def power_up(self) -> None:
        """Lose what only power kept."""
        self._forget()

    def line_reset(self) -> None:
        """Take a line reset; banks are forgotten."""
        self._select = 0

    def drive_reset(self, *, released: bool) -> None:
        """Drive the chip's reset pin."""
        if self.reset_released and not released:
            self.chip.hold_reset()
        elif released and not self.reset_released:
            self.chip.release_reset()
        self.reset_released = released

    def _answer(self) -> None:
        """Raise unless the port answers at all."""
        self.asked = True
        too_fast = 0 < self.faults.deaf_above_hz < self.clock_hz
        if self.deaf or too_fast or not self.chip.powered:
            raise NoAnswerFromPortError

    def read(self, register: int, *, access_port: bool) -> int:
        """One read transaction."""
        self._answer()
        if access_port:
            with self._access():
                self._read_buffer = self._ap_read(self._select & 0xF0 | register)
                return self._read_buffer
        if register == 0x0:
            return self.chip.dpidr
        if register == 0x4:
            if self._select & 0xF:
                return 0
            granted = (self._control & (_DEBUG_POWER_REQUEST | _SYSTEM_POWER_REQUEST)) << 1
            return self._control | granted | self._sticky
        return 0 if register == 0x8 else self._read_buffer

    def write(self, register: int, value: int, *, access_port: bool) -> None:
        """One write transaction."""
        self._answer()
        if access_port:
            with self._access():
                self._ap_write(self._select & 0xF0 | register, value)
        elif register == 0x0:
            if value & 0x4:
                self._sticky &= ~_STICKY_ERROR
        elif register == 0x4:
            if not self._select & 0xF:
                self._control = value & 0x50000F0F
        elif register == 0x8:
            self._select = value

    def read_words(self, register: int, count: int) -> list[int]:
        """Read a register so many times; consecutive memory in one go, as the probe's clock would."""
        if not self._is_plain_memory(register, count):
            return [self.read(register, access_port=True) for _ in range(count)]
        self._answer()
        with self._access():
            data = self.chip.read_block(self._address, 4 * count)
            self._advance(4 * count)
            return [int.from_bytes(data[i : i + 4], "little") for i in range(0, len(data), 4)]

    def write_words(self, register: int, values: Sequence[int]) -> None:
        """Write a register so many times."""
        if not self._is_plain_memory(register, len(values)):
            for value in values:
                self.write(register, value, access_port=True)
            return
        self._answer()
        with self._access():
            self.chip.write_block(
                self._address, b"".join(value.to_bytes(4, "little") for value in values)
            )
            self._advance(4 * len(values))

    def _is_plain_memory(self, register: int, count: int) -> bool:
        """Whether these are words of memory one after another, within the range that the address counts through."""
        return (
            register == _DRW
            and self._select == self._select & 0xF  # access port 0, bank 0
            and self._csw & 0x37 == 0x12  # words, single increment
            and self._address not in _PRIVATE_BUS
            and self._address % self.chip.ap_wrap_bytes + 4 * count <= self.chip.ap_wrap_bytes
            and self.faults.fault_once_after_accesses is None
            and self.faults.wait_after_accesses is None
        )

    @contextmanager
    def _access(self) -> Iterator[None]:
        """Surround an access-port transaction: a failure of the bus leaves the sticky error."""
        if self.faults.due("wait_after_accesses"):
            raise WaitError
        if self._sticky or not self._control & _DEBUG_POWER_REQUEST:
            self._sticky |= _STICKY_ERROR
            raise PortFaultError
        try:
            if self.faults.due("fault_once_after_accesses"):
                self.faults.fault_once_after_accesses = None
                raise BusError  # noqa: TRY301  what a bus error does is below
            yield
        except BusError:
            self._sticky |= _STICKY_ERROR
            raise PortFaultError from None

    def _advance(self, nbytes: int) -> None:
        if self._csw & 0x30:
            wrap = self.chip.ap_wrap_bytes - 1
            self._address = (self._address & ~wrap) | (self._address + nbytes & wrap)

    def _ap_read(self, register: int) -> int:
        if self._select >> 24:
            return self.chip.vendor_port_read(register) if self._select >> 24 == 1 else 0
        enabled = 0 if self.chip.locked else _CSW_DEVICE_ENABLE
        plain = {
            _CSW: self._csw & ~_CSW_DEVICE_ENABLE | enabled,
            _TAR: self._address,
            _CFG: 0,
            _BASE: self.chip.rom_base | 3,
            _IDR: self.chip.ap_idr,
        }
        if register in plain:
            return plain[register]
        if register != _DRW and not 0x10 <= register <= 0x1C:
            return 0
        if self.chip.locked:
            raise BusError
        if register != _DRW:
            return self.chip.bus_read(self._address & ~0xF | register & 0xC, 4)
        size = 1 << (self._csw & 7)
        value = self.chip.bus_read(self._address, size) << 8 * (self._address & 3 & ~(size - 1))
        self._advance(size)
        return value & _WORD

    def _ap_write(self, register: int, value: int) -> None:
        if self._select >> 24:
            if self._select >> 24 == 1:
                self.chip.vendor_port_write(register, value)
        elif register == _CSW:
            size = min(value & 7, 2)
            self._csw = value & ~7 & 0x2F000F37 | 0x03000040 | size
        elif register == _TAR:
            self._address = value
        elif register == _DRW or 0x10 <= register <= 0x1C:
            if self.chip.locked:
                raise BusError
            if register != _DRW:
                self.chip.bus_write(self._address & ~0xF | register & 0xC, 4, value)
                return
            size = 1 << (self._csw & 7)
            lane = 8 * (self._address & 3 & ~(size - 1))
            self.chip.bus_write(self._address, size, value >> lane & (1 << 8 * size) - 1)
            self._advance(size)
