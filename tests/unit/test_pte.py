"""Reading a .pte without torch: facts of real programs, and no crash on anything else."""

from __future__ import annotations

import contextlib
import csv
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.errors import LabError, ProgramError
from bench.pte import read_pte

UPSTREAM = Path(__file__).parents[1] / "data" / "upstream"
LINEAR = (UPSTREAM / "linear_cortex-m4.pte").read_bytes()
FIGURES = list(csv.DictReader((UPSTREAM / "figures.csv").open()))


@pytest.mark.parametrize(
    "row",
    [r for r in FIGURES if r["cpu"] in ("cortex-m4", "cortex-m55")],
    ids=lambda r: f"{r['model']}-{r['cpu']}",
)
def test_planned_memory_is_what_upstream_measured(row: dict[str, str]) -> None:
    """Planned bytes and file size of every upstream program, from its own table of figures."""
    data = (UPSTREAM / f"{row['model']}_{row['cpu']}.pte").read_bytes()

    facts = read_pte(data)

    assert (int(row["planned_bytes"]), int(row["pte_bytes"])) == (facts.planned_bytes, len(data))


def test_inputs_outputs_and_operators_of_a_known_program() -> None:
    """DS-CNN: 490 floats in, 12 out, sixteen instructions that begin with quantize and end with dequantize."""
    facts = read_pte((UPSTREAM / "ds_cnn_cortex-m4.pte").read_bytes())

    assert [(i.shape, i.dtype, i.nbytes) for i in facts.inputs] == [
        ((1, 1, 49, 10), "float32", 1960)
    ]
    assert [(o.shape, o.nbytes) for o in facts.outputs] == [((1, 12), 48)]
    names = [operator.operator for operator in facts.operators]
    assert (len(names), names[0], names[-1]) == (
        16,
        "cortex_m::quantize_per_tensor.out",
        "cortex_m::dequantize_per_tensor.out",
    )
    assert facts.cpu == ""


def test_a_method_that_is_not_there_is_named_with_those_that_are() -> None:
    """The hint lists the program's methods."""
    with pytest.raises(ProgramError, match="no method 'backward'") as caught:
        read_pte(LINEAR, method="backward")

    assert "forward" in caught.value.hint


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "empty"),
        (b"abc", "program identifier"),
        (b"PK\x03\x04" + bytes(100), "zip archive"),
        (b"\x1c\0\0\0TFL3" + bytes(100), "TFLite"),
        (b"\0" + LINEAR, "first byte"),
        (LINEAR[:-1], "truncated: 5223 bytes, its header promises 5224"),
        (LINEAR[: len(LINEAR) // 2], "truncated"),
    ],
)
def test_what_is_no_program_is_named(data: bytes, message: str) -> None:
    """S17: what it looks like instead."""
    with pytest.raises(ProgramError, match=message):
        read_pte(data)


def test_no_flipped_byte_crashes_the_reader() -> None:
    """Every single byte of a program inverted: facts, or a fault of the lab's own."""
    refused = 0
    for position in range(len(LINEAR)):
        damaged = bytearray(LINEAR)
        damaged[position] ^= 0xFF
        try:
            read_pte(bytes(damaged))
        except LabError:
            refused += 1

    assert refused > 100


@settings(max_examples=200, deadline=None, derandomize=True)
@given(st.integers(0, len(LINEAR)), st.binary(max_size=64))
def test_random_changes_never_crash_the_reader(position: int, patch: bytes) -> None:
    """Bytes of any length put anywhere."""
    with contextlib.suppress(ProgramError):
        read_pte(LINEAR[:position] + patch + LINEAR[position + len(patch) :])
