"""Pricing: sequences whose cycles a manual gives, and what is added for branches."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from bench.estimate.dump import Block, Count
from bench.estimate.price import Price, Pricer
from bench.estimate.table import table_of
from bench.estimate.transcription import Example, examples

FLAGS = {
    "cortex-m0plus": ("-mfloat-abi=soft",),
    "cortex-m3": ("-mfloat-abi=soft",),
    "cortex-m4": ("-mfloat-abi=hard", "-mfpu=fpv4-sp-d16"),
    "cortex-m7": ("-mfloat-abi=hard", "-mfpu=fpv5-d16"),
    "cortex-m55": ("-mfloat-abi=hard",),
}


def _price(core: str, code: str, runs: int = 1, taken: int = 0, entered: int = 0) -> Price:
    block = Block(0x100, 0, bytes.fromhex(code))
    return Pricer(table_of(core)).price([(block, Count(runs, taken, entered))])


@pytest.mark.parametrize("example", examples(), ids=lambda one: f"{one.core}-{one.assembly}")
def test_a_program_of_a_manual_costs_what_the_manual_says(example: Example) -> None:
    """Each example's source is in transcription.toml."""
    assert example.agrees(), f"{example.cycles()} cycles, {example.source} says {example.low}"


@pytest.mark.toolchain
@pytest.mark.parametrize("core", FLAGS)
def test_the_bytes_of_the_examples_are_their_assembly(core: str, tmp_path: Path) -> None:
    """The assembler makes of each example's text the bytes beside it."""
    mine = [example for example in examples() if example.core == core]
    source, built, raw = tmp_path / "a.s", tmp_path / "a.o", tmp_path / "a.bin"
    text = "\n".join(example.assembly.replace("; ", "\n") for example in mine)
    source.write_text(f".syntax unified\n.thumb\n{text}\n")
    compiler = ["arm-none-eabi-gcc", f"-mcpu={core}", "-mthumb", *FLAGS[core]]
    subprocess.run([*compiler, "-c", str(source), "-o", str(built)], check=True)
    copy = ["arm-none-eabi-objcopy", "-O", "binary", "-j", ".text"]
    subprocess.run([*copy, str(built), str(raw)], check=True)

    assert b"".join(example.code for example in mine) == raw.read_bytes()


def test_causes_sum_to_the_cycles() -> None:
    """Nothing is priced without a cause: a loop of load, multiply-accumulate, subtract, branch on an M7."""
    price = _price("cortex-m7", "086801fb0232013bfbd1", runs=100, taken=99, entered=100)

    assert price.cycles == pytest.approx(sum(price.causes.values()))
    assert price.instructions == 400


def test_executions_multiply() -> None:
    """Ten executions cost ten times one."""
    one, ten = _price("cortex-m4", "08680a44"), _price("cortex-m4", "08680a44", runs=10)

    assert ten.cycles == pytest.approx(10 * one.cycles)


def test_a_taken_branch_costs_its_refill() -> None:
    """`beq` falls through in one cycle on an M0+, and takes two when taken (DDI 0484C, Table 3-1)."""
    code = "fed0"

    assert (100, 200) == (
        _price("cortex-m0plus", code, runs=100).cycles,
        _price("cortex-m0plus", code, runs=100, taken=100).cycles,
    )


def test_a_loop_of_vectors_overlaps_across_its_end() -> None:
    """VLDRW, VMLADAVA, LE: two pipes in turn, two cycles an instruction, one of four hidden (LLVM's M55 schedule)."""
    price = _price("cortex-m55", "b0ec041ff0ee220f0ff007c0", runs=100, taken=99, entered=1)

    assert price.causes["loop_overlap"] == -99


def test_a_wide_instruction_at_an_odd_halfword_is_a_late_target() -> None:
    """Only entries by a jump count, and only on cores whose table has a number for it."""
    block = Block(0x102, 0, bytes.fromhex("01fb0230"))
    price = Pricer(table_of("cortex-m33")).price([(block, Count(10, 0, 4))])

    assert price.causes["wide_unaligned"] == 4 * table_of("cortex-m33").taken.wide_unaligned.value


def test_the_overhead_of_an_empty_window_comes_off() -> None:
    """A price minus itself is nothing."""
    price = _price("cortex-m4", "08680a44", runs=3)
    nothing = price.plus(price, -1)

    assert (0, 0, {"issue": 0}) == (
        nothing.cycles,
        nothing.instructions,
        {cause: cycles for cause, cycles in nothing.causes.items() if cause == "issue"},
    )
