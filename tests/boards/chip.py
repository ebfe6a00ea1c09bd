"""Enough of a chip to boot a board's image in Unicorn: memory, registers that answer as the manual says, a UART.

Registers are bytes in memory, by the names of registers.hpp. A chip says what a read gives where that is not what was
written last, and which write sends a byte.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from elftools.elf.elffile import ELFFile
from unicorn import (
    UC_ARCH_ARM,
    UC_HOOK_MEM_READ,
    UC_HOOK_MEM_WRITE,
    UC_MODE_MCLASS,
    UC_MODE_THUMB,
    Uc,
)
from unicorn import arm_const as arm

from bench.board import Board
from bench.image import Image
from bench.twin import read_regions
from tests.boards.svd import read_facts

_CYCCNT = 0xE0001004
_SYSTICK = 0xE000E018
_SYSTICK_MASK = (1 << 24) - 1
_PAGE = 0x1000
_INSTRUCTIONS = 3_000_000
_MODELS = {
    "cortex-m0plus": arm.UC_CPU_ARM_CORTEX_M0,
    "cortex-m4": arm.UC_CPU_ARM_CORTEX_M4,
    "cortex-m7": arm.UC_CPU_ARM_CORTEX_M7,
    "cortex-m33": arm.UC_CPU_ARM_CORTEX_M33,
}


@dataclass(frozen=True)
class Model:
    """How a chip's registers behave.

    Attributes:
        transmit: register whose write sends a byte, or starts to send what a pointer names.
        reads: register -> what a read gives.
        pointer: register that holds the address of the byte, where a DMA sends it.
        hz: the core's frequency by what the registers hold.
        more: starts of register blocks outside the region of peripherals.
    """

    transmit: str
    reads: dict[str, Callable[[Registers], int]]
    hz: Callable[[Registers], float]
    pointer: str = ""
    more: tuple[int, ...] = ()


@dataclass
class Registers:
    """Registers of a running chip by the names of registers.hpp."""

    core: Uc

    addresses: dict[str, int] = field(default_factory=dict)
    sizes: dict[str, int] = field(default_factory=dict)
    places: dict[tuple[str, str], tuple[int, int]] = field(default_factory=dict)

    def raw(self, name: str) -> int:
        """Return what was written last."""
        return int.from_bytes(self.core.mem_read(self.addresses[name], self.sizes[name]), "little")

    def get(self, name: str, bits: str) -> int:
        """Return a field of what was written last."""
        low, width = self.places[name, bits]
        return self.raw(name) >> low & ((1 << width) - 1)

    def bit(self, name: str, bits: str, value: int = 1) -> int:
        """Return a value at a field's place."""
        return value << self.places[name, bits][0]


class Chip:
    """A chip with an image in its Flash, reset."""

    def __init__(self, board: Board, image: Image, model: Model) -> None:
        self.sent = bytearray()
        self.model = model
        self.core = core = Uc(UC_ARCH_ARM, UC_MODE_THUMB | UC_MODE_MCLASS)
        core.ctl_set_cpu_model(_MODELS[board.cpu])
        for start, end in _spans(board):
            core.mem_map(start, end - start)
        for start in (0x40000000, 0x48000000, 0x50000000, 0x52000000, 0x58000000):
            core.mem_map(start, 0x1000000)
        core.mem_map(0xE0000000, 0x100000)
        for start in model.more:
            core.mem_map(start, 0x1000000)
        facts = read_facts(board.folder / "registers.hpp")
        self.registers = Registers(
            core,
            {name: register.address for name, register in facts.registers.items()},
            {name: register.bits // 8 for name, register in facts.registers.items()},
            facts.fields,
        )
        with image.elf.open("rb") as file:
            for segment in ELFFile(file).iter_segments("PT_LOAD"):
                core.mem_write(segment["p_paddr"], segment.data())
        self._names = {address: name for name, address in self.registers.addresses.items()}
        core.hook_add(UC_HOOK_MEM_READ, self._read, begin=0x40000000, end=0xE00FFFFF)
        core.hook_add(UC_HOOK_MEM_WRITE, self._write, begin=0x40000000, end=0xE00FFFFF)
        self._cycles = 0

    def boot(self, start: int, until: bytes) -> bytes:
        """Take stack and reset handler from the words at `start`, run until the UART sent `until`; return all of it."""
        stack, reset = (int.from_bytes(self.core.mem_read(start + i, 4), "little") for i in (0, 4))
        self.core.reg_write(arm.UC_ARM_REG_MSP, stack)
        self.core.reg_write(arm.UC_ARM_REG_SP, stack)
        self._until = until
        self.core.emu_start(reset | 1, 0xFFFFFFFE, count=_INSTRUCTIONS)
        return bytes(self.sent)

    def _read(
        self, core: Uc, _access: int, address: int, size: int, _value: int, _: object
    ) -> None:
        if address == _CYCCNT:
            self._cycles += 7
            core.mem_write(address, self._cycles.to_bytes(4, "little"))
        if address == _SYSTICK:  # counts down
            self._cycles += 7
            core.mem_write(address, (-self._cycles & _SYSTICK_MASK).to_bytes(4, "little"))
        rule = self.model.reads.get(self._names.get(address, ""))
        if rule is not None:
            core.mem_write(address, rule(self.registers).to_bytes(size, "little"))

    def _write(
        self, core: Uc, _access: int, address: int, _size: int, value: int, _: object
    ) -> None:
        if self._names.get(address) != self.model.transmit:
            return
        if self.model.pointer:
            value = core.mem_read(self.registers.raw(self.model.pointer), 1)[0]
        self.sent.append(value & 0xFF)
        if self.sent.endswith(self._until):
            core.emu_stop()


def _spans(board: Board) -> list[tuple[int, int]]:
    """Return the pages of all regions of a board's memory, those that touch joined."""
    spans: list[tuple[int, int]] = []
    for region in sorted(read_regions(board.folder / "memory.ld").values(), key=lambda r: r.origin):
        start = region.origin // _PAGE * _PAGE
        end = -(-(region.origin + region.nbytes) // _PAGE) * _PAGE
        if spans and start <= spans[-1][1]:
            spans[-1] = (spans[-1][0], max(end, spans[-1][1]))
        else:
            spans.append((start, end))
    return spans


def _k64_status(r: Registers) -> int:
    source = r.get("MCG.C1", "CLKS")
    pll = r.get("MCG.C6", "PLLS")
    return (
        r.bit("MCG.S", "CLKST", 3 if source == 0 and pll else source)
        | r.bit("MCG.S", "IREFST", r.get("MCG.C1", "IREFS"))
        | r.bit("MCG.S", "PLLST", pll)
        | r.bit("MCG.S", "LOCK0", pll)
    )


def _ready(name: str, on: str, ready: str) -> Callable[[Registers], int]:
    """Return a read whose bit `ready` follows bit `on`."""

    def read(r: Registers) -> int:
        kept = r.raw(name) & ~r.bit(name, ready)
        return kept | r.bit(name, ready, r.get(name, on))

    return read


def _l4_clock(r: Registers) -> int:
    value = r.raw("RCC.CR") & ~(r.bit("RCC.CR", "HSIRDY") | r.bit("RCC.CR", "PLLRDY"))
    return (
        value
        | r.bit("RCC.CR", "HSIRDY", r.get("RCC.CR", "HSION"))
        | r.bit("RCC.CR", "PLLRDY", r.get("RCC.CR", "PLLON"))
    )


def _switched(r: Registers) -> int:
    low, width = r.places["RCC.CFGR", "SWS"]
    kept = r.raw("RCC.CFGR") & ~(((1 << width) - 1) << low)
    return kept | r.get("RCC.CFGR", "SW") << low


def _resets_done(r: Registers) -> int:
    """Return that every block is out of reset that is not held in it."""
    return ~r.raw("RESETS.RESET") & 0x01FFFFFF


def _selected(name: str) -> Callable[[Registers], int]:
    """Return a read that has the bit of the source that a clock's control register asks for."""
    return lambda r: 1 << r.get(name, "SRC")


def _pico_hz(r: Registers) -> float:
    down = [r.get("PLL_SYS.PWR", bit) for bit in ("PD", "POSTDIVPD", "VCOPD")]
    assert [0, 0, 0] == down, down
    source = (r.get("CLOCKS.CLK_SYS_CTRL", "SRC"), r.get("CLOCKS.CLK_SYS_CTRL", "AUXSRC"))
    assert (1, 0) == source
    divided = 12e6 / r.get("PLL_SYS.CS", "REFDIV")
    oscillator = divided * r.raw("PLL_SYS.FBDIV_INT")
    return oscillator / r.get("PLL_SYS.PRIM", "POSTDIV1") / r.get("PLL_SYS.PRIM", "POSTDIV2")


MODELS = {
    "rpi-pico": Model(
        "UART0.UARTDR",
        {
            "RESETS.RESET_DONE": _resets_done,
            "XOSC.STATUS": lambda r: r.bit(
                "XOSC.STATUS", "STABLE", int(r.get("XOSC.CTRL", "ENABLE") == 0xFAB)
            ),
            "CLOCKS.CLK_REF_SELECTED": _selected("CLOCKS.CLK_REF_CTRL"),
            "CLOCKS.CLK_SYS_SELECTED": _selected("CLOCKS.CLK_SYS_CTRL"),
            "PLL_SYS.CS": lambda r: r.raw("PLL_SYS.CS") | r.bit("PLL_SYS.CS", "LOCK"),
        },
        _pico_hz,
        more=(0x14000000, 0x18000000),
    ),
    "nrf52840dk": Model(
        "UART0.TXD",
        {
            "CLOCK.EVENTS_HFCLKSTARTED": lambda r: r.raw("CLOCK.TASKS_HFCLKSTART"),
            "UART0.EVENTS_TXDRDY": lambda r: r.raw("UART0.TASKS_STARTTX"),
        },
        lambda _: 64e6,
    ),
    "nrf5340dk": Model(
        "UARTE0.TASKS_STARTTX",
        {
            "CLOCK.EVENTS_HFCLKSTARTED": lambda r: r.raw("CLOCK.TASKS_HFCLKSTART"),
            "UARTE0.EVENTS_ENDTX": lambda r: r.raw("UARTE0.TASKS_STARTTX"),
            "UARTE0.EVENTS_ENDRX": lambda _: 0,
        },
        lambda r: 128e6 / (1 << r.get("CLOCK.HFCLKCTRL", "HCLK")),
        pointer="UARTE0.TXD.PTR",
    ),
    "frdm-k64f": Model(
        "UART0.D",
        {"MCG.S": _k64_status, "UART0.S1": lambda r: r.bit("UART0.S1", "TDRE")},
        lambda r: (
            50e6
            / (r.get("MCG.C5", "PRDIV0") + 1)
            * (r.get("MCG.C6", "VDIV0") + 24)
            / (r.get("SIM.CLKDIV1", "OUTDIV1") + 1)
        ),
    ),
    "lpc55s69-evk": Model(
        "USART0.FIFOWR",
        {"USART0.FIFOSTAT": lambda r: r.bit("USART0.FIFOSTAT", "TXNOTFULL")},
        lambda r: {3: 96e6}[r.raw("SYSCON.MAINCLKSELA")] / (r.get("SYSCON.AHBCLKDIV", "DIV") + 1),
    ),
    "nucleo-l4r5zi": Model(
        "LPUART1.TDR",
        {
            "RCC.CR": _l4_clock,
            "RCC.CFGR": _switched,
            "LPUART1.ISR": lambda r: r.bit("LPUART1.ISR", "TXE"),
        },
        lambda r: (
            16e6
            / (r.get("RCC.PLLCFGR", "PLLM") + 1)
            * r.get("RCC.PLLCFGR", "PLLN")
            / (2 * r.get("RCC.PLLCFGR", "PLLR") + 2)
            / {0: 1, 8: 2}[r.get("RCC.CFGR", "HPRE")]
        ),
    ),
    "nucleo-h743zi2": Model(
        "USART3.TDR",
        {
            "PWR.CSR1": lambda r: r.bit("PWR.CSR1", "ACTVOSRDY"),
            "PWR.D3CR": lambda r: r.raw("PWR.D3CR") | r.bit("PWR.D3CR", "VOSRDY"),
            "RCC.CR": _ready("RCC.CR", "PLL1ON", "PLL1RDY"),
            "RCC.CFGR": _switched,
            "USART3.ISR": lambda r: r.bit("USART3.ISR", "TXE"),
        },
        lambda r: (
            64e6
            / r.get("RCC.PLLCKSELR", "DIVM1")
            * (r.get("RCC.PLL1DIVR", "DIVN1") + 1)
            / (r.get("RCC.PLL1DIVR", "DIVP1") + 1)
        ),
    ),
}
