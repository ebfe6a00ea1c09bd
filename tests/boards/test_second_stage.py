"""The Pico's second stage: its checksum is the ROM's, its code is what its comments say, and it readies the Flash."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
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

from bench.board import find_boards
from bench.build import build_image
from bench.image import read_image
from tests.boards.svd import read_facts

pytestmark = pytest.mark.toolchain

BOARD = find_boards("rpi-pico")[0]
COPIED_TO = 0x20041F00  # RP2040 Datasheet, "Processor Controlled Boot Sequence"
VECTORS, VTOR = 0x10000100, 0xE000ED08
SSI = 0x18000000


def _stage() -> bytes:
    with build_image(BOARD).elf.open("rb") as file:
        return bytes(ELFFile(file).get_section_by_name(".boot").data())


def _crc(data: bytes) -> int:
    """Return the CRC-32 of the RP2040's ROM, bit by bit over the message's polynomial division."""
    value = int.from_bytes(data, "big") << 32
    value ^= 0xFFFFFFFF << (8 * len(data))
    divisor = 1 << 32 | 0x04C11DB7
    for shift in range(8 * len(data) - 1, -1, -1):
        if value >> (shift + 32) & 1:
            value ^= divisor << shift
    return value


def test_the_rom_would_take_it() -> None:
    """256 bytes, the last four the checksum of those before; CRC-32/MPEG-2 of `123456789` is 0x0376E6E7."""
    stage = _stage()

    assert 0x0376E6E7 == _crc(b"123456789")
    assert 256 == len(stage)
    assert _crc(stage[:252]) == int.from_bytes(stage[252:], "little")


def test_the_code_is_what_its_comments_say(tmp_path: Path) -> None:
    """Assembled again from the comments, the bytes are the same."""
    lines = (BOARD.folder / "boot2.hpp").read_text().splitlines()
    code = [m[1] for line in lines if (m := re.match(r"\s+(?:0x[0-9A-F]{4}, ?)+ // (.*)$", line))]
    words = [int(m[1], 16) for line in lines if (m := re.match(r"\s+0x([0-9A-F]{8}),", line))]
    source = [".syntax unified", ".cpu cortex-m0plus", ".thumb", *code, ".align 2", ".ltorg", ""]
    (tmp_path / "stage.s").write_text("\n".join(source))
    made = tmp_path / "stage.o"
    subprocess.run(["arm-none-eabi-as", str(tmp_path / "stage.s"), "-o", str(made)], check=True)
    with made.open("rb") as file:
        text = bytes(ELFFile(file).get_section_by_name(".text").data())

    assert 6 == len(words)
    assert text == _stage()[: len(text)]
    assert not any(_stage()[len(text) : 252])


def _run(*, quad_enabled: bool) -> tuple[list[int], dict[str, int], tuple[int, int, int]]:
    """Run the stage where the ROM puts it, with a Flash that is busy once after its status was written.

    Returns:
        What was sent to the Flash, the SSI's last settings, and (vector table, stack, next instruction).
    """
    image = build_image(BOARD)
    sent: list[int] = []
    answers: list[int] = []
    busy = iter([1, 0])
    core = Uc(UC_ARCH_ARM, UC_MODE_THUMB | UC_MODE_MCLASS)
    core.ctl_set_cpu_model(arm.UC_CPU_ARM_CORTEX_M0)
    for start, nbytes in (
        (0x10000000, 1 << 21),
        (0x20000000, 0x42000),
        (SSI, 0x1000),
        (0xE000E000, 0x1000),
    ):
        core.mem_map(start, nbytes)
    with image.elf.open("rb") as file:
        for segment in ELFFile(file).iter_segments("PT_LOAD"):
            core.mem_write(segment["p_paddr"], segment.data())
    core.mem_write(COPIED_TO, _stage())

    def write(uc: Uc, _access: int, address: int, _size: int, value: int, _: object) -> None:
        enabled = int.from_bytes(uc.mem_read(SSI + 8, 4), "little")
        if address == SSI + 0x60:
            assert enabled, "written while the SSI was off"
            sent.append(value)
            # a byte comes back for each that goes out: the second of 35h and 05h is the register
            last = sent[-2:]
            status = 2 * quad_enabled if last == [0x35, 0x35] else 0
            answers.append(next(busy) if last == [5, 5] and len(sent) % 2 == 0 else status)
        elif address != SSI + 8:
            assert not enabled or address == SSI + 8, f"{address:#x} set while the SSI was on"

    def read(uc: Uc, _access: int, address: int, _size: int, _value: int, _: object) -> None:
        value = 4 if address == SSI + 0x28 else answers.pop(0) if address == SSI + 0x60 else None
        if value is not None:
            uc.mem_write(address, value.to_bytes(4, "little"))

    core.hook_add(UC_HOOK_MEM_WRITE, write, begin=SSI, end=SSI + 0xFF)
    core.hook_add(UC_HOOK_MEM_READ, read, begin=SSI, end=SSI + 0xFF)
    reset = int.from_bytes(core.mem_read(VECTORS + 4, 4), "little")
    core.emu_start(COPIED_TO | 1, reset & ~1, count=10_000)
    facts = read_facts(BOARD.folder / "registers.hpp")
    settings = {
        f"{register}.{name}": int.from_bytes(
            core.mem_read(facts.registers[register].address, 4), "little"
        )
        >> low
        & ((1 << width) - 1)
        for (register, name), (low, width) in facts.fields.items()
        if register.startswith("XIP_SSI.")
    }
    vtor = int.from_bytes(core.mem_read(VTOR, 4), "little")
    where = (vtor, core.reg_read(arm.UC_ARM_REG_SP), core.reg_read(arm.UC_ARM_REG_PC) | 1)
    assert where[2] == reset
    return sent, settings, where


@pytest.mark.parametrize("quad_enabled", [True, False])
def test_it_readies_the_flash_and_starts_the_image(quad_enabled: bool) -> None:
    """W25Q16JV: status is written only if quad is off, then one EBh read with mode A0h; XIP goes on without EBh."""
    sent, settings, (vtor, stack, _) = _run(quad_enabled=quad_enabled)

    status = [] if quad_enabled else [0x06, 0x01, 0x00, 0x02, 0x05, 0x05, 0x05, 0x05]
    assert [0x35, 0x35, *status, 0xEB, 0xA0] == sent
    wanted = {
        "XIP_SSI.CTRLR0.SPI_FRF": 2,  # quad
        "XIP_SSI.CTRLR0.DFS_32": 31,
        "XIP_SSI.CTRLR0.TMOD": 3,
        "XIP_SSI.SPI_CTRLR0.XIP_CMD": 0xA0,
        "XIP_SSI.SPI_CTRLR0.WAIT_CYCLES": 4,
        "XIP_SSI.SPI_CTRLR0.INST_L": 0,
        "XIP_SSI.SPI_CTRLR0.ADDR_L": 8,  # 24 bits of address, 8 of mode
        "XIP_SSI.SPI_CTRLR0.TRANS_TYPE": 2,
    }
    assert wanted == {name: value for name, value in settings.items() if name in wanted}
    assert (VECTORS, read_image(build_image(BOARD).elf).stack.end) == (vtor, stack)
