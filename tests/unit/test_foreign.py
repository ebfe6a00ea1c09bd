"""A ready .pte and its inputs: sizes and layouts are checked before anything boots."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from bench.errors import InputError
from bench.foreign import foreign_program, read_input, write_output
from bench.program import TensorInfo

UPSTREAM = Path(__file__).parents[1] / "data" / "upstream"
NHWC = TensorInfo((1, 2, 3, 4), "float32", (0, 2, 3, 1), 96)


def test_npy_of_the_logical_shape_becomes_the_programs_layout(tmp_path: Path) -> None:
    """NCHW in, bytes with the channel innermost out; expected written by hand with transpose."""
    array = np.arange(24, dtype=np.float32).reshape(1, 2, 3, 4)
    np.save(tmp_path / "x.npy", array)

    data = read_input(tmp_path / "x.npy", NHWC)

    assert np.frombuffer(data, np.float32)[:4].tolist() == [0.0, 12.0, 1.0, 13.0]


def test_an_output_comes_back_in_its_logical_shape(tmp_path: Path) -> None:
    """Writing what was read gives the array again."""
    array = np.arange(24, dtype=np.float32).reshape(1, 2, 3, 4)
    np.save(tmp_path / "x.npy", array)

    write_output(tmp_path / "y.npy", read_input(tmp_path / "x.npy", NHWC), NHWC)

    assert np.array_equal(np.load(tmp_path / "y.npy"), array)


@pytest.mark.parametrize(
    "array",
    [np.zeros((1, 3, 4, 2), np.float32), np.zeros((1, 2, 3, 4), np.float64)],
    ids=["shape", "dtype"],
)
def test_another_shape_or_type_is_refused(array: np.ndarray, tmp_path: Path) -> None:
    """Bytes of the right number are not enough."""
    np.save(tmp_path / "x.npy", array)

    with pytest.raises(InputError, match=r"the program wants float32 \[1, 2, 3, 4\]"):
        read_input(tmp_path / "x.npy", NHWC)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    """Where it was looked for is in the message."""
    with pytest.raises(InputError, match=r"no\.bin"):
        read_input(tmp_path / "no.bin", NHWC)


def test_the_number_of_inputs_is_checked() -> None:
    """One too many is not ignored."""
    path = UPSTREAM / "linear_cortex-m4.in.bin"

    with pytest.raises(InputError, match="2 inputs given, the program has 1"):
        foreign_program(UPSTREAM / "linear_cortex-m4.pte", (path, path))


def test_made_inputs_are_the_same_every_time() -> None:
    """Without inputs the same file gets the same random ones."""
    first = foreign_program(UPSTREAM / "linear_cortex-m4.pte")
    again = foreign_program(UPSTREAM / "linear_cortex-m4.pte")

    assert first.folder == again.folder
    assert len(set((first.folder / "input_0.bin").read_bytes())) > 64


def test_a_program_that_names_no_cpu_is_said_to(tmp_path: Path) -> None:
    """Upstream's exporter writes none: a note of the record, for nothing is proven."""
    findings = foreign_program(UPSTREAM / "linear_cortex-m4.pte", ()).manifest.findings

    assert ["no-host-reference", "cpu-unknown"] == [finding.code for finding in findings]
