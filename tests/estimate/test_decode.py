"""The decoder against objdump, on the project's own firmware and on one instruction of every form."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.board import find_boards
from bench.build import build_image
from bench.estimate.decode import UnknownInstructionError, decode, decode_word, words
from bench.estimate.kinds import FLAGS, S0, Kind
from tests.estimate.objdump import disassemble, kinds_of

HERE = Path(__file__).parent
EMULATED = ["microbit", *(board.id for board in find_boards("emulated"))]
LISTS = {
    "scalar.s": ("-mcpu=cortex-m7", "-mfloat-abi=hard", "-mfpu=fpv5-d16"),
    "vector.s": ("-mcpu=cortex-m55", "-mfloat-abi=hard"),
}


def _disagreements(path: Path) -> tuple[int, list[str]]:
    """Return how many instructions there are, and those that the decoder takes for something else."""
    total, wrong = 0, []
    for address, word, size, mnemonic in disassemble(path):
        total += 1
        try:
            kind = decode_word(word, size).kind
        except UnknownInstructionError:
            wrong.append(f"{address:x}: {mnemonic} {word:x} is unknown")
            continue
        if kind not in kinds_of(mnemonic):
            wrong.append(f"{address:x}: {mnemonic} {word:x} is taken for {kind}")
    return total, wrong


@pytest.mark.toolchain
@pytest.mark.parametrize("board_id", EMULATED)
def test_every_instruction_of_the_firmware_is_classified_as_objdump_does(board_id: str) -> None:
    """No instruction of any core's image is unknown or taken for another kind."""
    image = build_image(find_boards(board_id)[0])

    total, wrong = _disagreements(image.elf)

    assert wrong == []
    assert total > 5000


@pytest.mark.toolchain
@pytest.mark.parametrize("name", LISTS)
def test_one_instruction_of_every_form_is_classified_as_objdump_does(
    name: str, tmp_path: Path
) -> None:
    """What compilers seldom use is decoded as well."""
    built = tmp_path / "list.o"
    command = [
        "arm-none-eabi-gcc",
        "-mthumb",
        *LISTS[name],
        "-c",
        str(HERE / name),
        "-o",
        str(built),
    ]
    subprocess.run(command, check=True)

    total, wrong = _disagreements(built)

    assert wrong == []
    assert total > 180


def test_operands_are_read_from_their_fields() -> None:
    """`ldr.w r0, [r1, r2, lsl #2]` writes r0 and forms an address of r1 and r2."""
    (found,) = decode(bytes.fromhex("51f82200"))

    assert (Kind.LOAD, 1 << 0, 0b110, True) == (
        found.kind,
        found.written,
        found.address,
        found.indexed,
    )


def test_a_list_counts_its_registers_and_knows_a_return() -> None:
    """`pop {r4, pc}` loads two and branches."""
    (found,) = decode(bytes.fromhex("10bd"))

    assert (2, True) == (found.registers, found.to_pc)


def test_double_registers_are_two_single_ones() -> None:
    """`vadd.f64 d0, d1, d2` writes s0 and s1, reads s2 to s5."""
    (found,) = decode(bytes.fromhex("31ee020b"))

    assert (0b11 << S0, 0b111100 << S0, "vadd_double") == (found.written, found.read, found.key)


def test_a_compare_writes_the_flags_alone() -> None:
    """`cmp r0, #1` has no result but the flags."""
    (found,) = decode(bytes.fromhex("0128"))

    assert FLAGS == found.written


def test_code_that_ends_inside_an_instruction_is_refused() -> None:
    """Half of a 32-bit instruction is no code."""
    with pytest.raises(UnknownInstructionError, match="ends inside"):
        words(bytes.fromhex("00bf31ee"))


@given(st.integers(0, 2**32 - 1))
def test_any_word_is_an_instruction_or_refused(word: int) -> None:
    """Nothing but the one named error comes of bytes that are no code."""
    try:
        found = decode_word(word, 4)
    except UnknownInstructionError:
        return

    assert found.size == 4
    assert found.address & ~found.read == 0
