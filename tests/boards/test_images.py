"""Images of boards with real chips: they link, fit, start where the chip starts, and speak."""

from __future__ import annotations

import io
from functools import cache

import pytest
from elftools.elf.elffile import ELFFile

from bench.board import all_boards
from bench.build import build_image
from bench.image import Image
from bench.twin import read_regions
from tests.boards.chip import MODELS, Chip
from tests.boards.test_registers import CHIPS

pytestmark = pytest.mark.toolchain

# where the core reads stack pointer and reset vector at power-on: the start of Flash
# (the Pico's is behind the second stage, which goes on there: test_second_stage.py)
BOOT = {"nucleo-l4r5zi": 0x08000000, "nucleo-h743zi2": 0x08000000, "rpi-pico": 0x10000100}
FLASH = {**BOOT, "rpi-pico": 0x10000000}


@cache
def _image(board_id: str) -> Image:
    return build_image(all_boards()[board_id])


def _flash(board_id: str) -> dict[int, int]:
    """Return what a loader writes, byte by byte."""
    file = ELFFile(io.BytesIO(_image(board_id).elf.read_bytes()))
    return {
        segment["p_paddr"] + index: value
        for segment in file.iter_segments("PT_LOAD")
        for index, value in enumerate(segment.data())
    }


def _word(flash: dict[int, int], address: int) -> int:
    return int.from_bytes(bytes(flash[address + i] for i in range(4)), "little")


@pytest.mark.parametrize("board_id", CHIPS)
def test_the_chip_finds_stack_and_reset_handler(board_id: str) -> None:
    """The first two words of Flash, as the core reads them, are the image's."""
    image, flash = _image(board_id), _flash(board_id)
    file = ELFFile(io.BytesIO(image.elf.read_bytes()))
    reset = file.get_section_by_name(".symtab").get_symbol_by_name("reset_handler")[0]["st_value"]
    boot = BOOT.get(board_id, 0)

    assert (image.stack.end, reset | 1) == (_word(flash, boot), _word(flash, boot + 4))
    assert flash.keys() & set(range(image.model.start, image.model.end)) == set()


@pytest.mark.parametrize("board_id", CHIPS)
def test_flash_stays_inside_its_regions(board_id: str) -> None:
    """Nothing is written outside Flash, and the slot begins at an erase unit of its own."""
    regions = read_regions(all_boards()[board_id].folder / "memory.ld")
    end = regions["CODE"].origin + regions["CODE"].nbytes

    assert max(_flash(board_id)) < end <= regions["MODEL"].origin
    assert FLASH.get(board_id, 0) == min(_flash(board_id))


def test_the_k64f_is_not_locked() -> None:
    """Its Flash configuration field says unsecured, mass erase allowed, no protection."""
    flash = _flash("frdm-k64f")

    assert "ff" * 12 + "feffffff" == bytes(flash[0x400 + i] for i in range(16)).hex()


@pytest.mark.parametrize("board_id", CHIPS)
def test_it_boots_at_its_clock_and_says_hello(board_id: str) -> None:
    """In Unicorn, with the registers' models: every wait ends, the lines come out, the clock is the board file's."""
    board = all_boards()[board_id]
    chip = Chip(board, _image(board_id), MODELS[board_id])

    said = chip.boot(BOOT.get(board_id, 0), b"@1 ")

    assert f"hello board={board_id} ".encode() in said, said
    assert f"counter={board.counter} counter_hz={board.clock_hz} ".encode() in said
    assert board.clock_hz == MODELS[board_id].hz(chip.registers)
