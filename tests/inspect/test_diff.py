"""`bench diff`: the first layer that differs is named, by exports and runs on the host's own process."""

from __future__ import annotations

import json
import struct
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from executorch_flatbuffer import KernelCall, Tensor
from executorch_flatbuffer.Program import Program as FlatProgram
from typer.testing import CliRunner

from bench import intermediate
from bench.board import all_boards
from bench.cli import app
from bench.diff import compare
from bench.errors import ExportError, InputError, LabError, WireValueError
from bench.pipeline import Case
from bench.program import Program
from bench.programs import ensure_programs

MODEL = str(Path(__file__).with_name("small_model.py"))
RUN = CliRunner()
CONVOLUTION = 2  # instruction of the second convolution
CHANNEL = 5


@pytest.fixture(scope="session")
def program() -> Program:
    """The small model with its intermediates, for the host board."""
    case = Case(all_boards()["host"], MODEL, "int8")
    (made,) = ensure_programs([case], 1, print, intermediates=True).values()
    assert not isinstance(made, LabError), made
    return made


@pytest.fixture
def results(program: Program) -> dict[tuple[int, int], bytes]:
    """What a device without fault sends."""
    files = {item.index: intermediate.host_file(item.index) for item in expected_of(program)}
    return {(0, index): (program.folder / file).read_bytes() for index, file in files.items()}


def expected_of(program: Program) -> tuple[intermediate.Intermediate, ...]:
    """Read the list beside the program."""
    return intermediate.from_json((program.folder / intermediate.INDEX).read_text())


def weights_of(pte: bytes, instruction: int) -> int:
    """Return where in the file the weights of an instruction begin (its second argument, a constant)."""
    program = FlatProgram.GetRootAs(pte, 0)
    plan = program.ExecutionPlan(0)
    table: Any = plan.Chains(0).Instructions(instruction).InstrArgs()
    call = KernelCall.KernelCall()
    call.Init(table.Bytes, table.Pos)
    value = plan.Values(call.Args(1)).Val()
    tensor = Tensor.Tensor()
    tensor.Init(value.Bytes, value.Pos)
    (segment_base,) = struct.unpack_from("<Q", pte, 24)
    offset = program.ConstantSegment().Offsets(tensor.DataBufferIdx())
    return int(segment_base + program.Segments(0).Offset() + offset)


def test_every_instruction_has_its_references(program: Program) -> None:
    """Host int8 and float are there for each instruction, paired by name, ReLU fused into its convolution."""
    found = expected_of(program)

    assert [info.index for info in program.manifest.operators] == [item.index for item in found]
    assert all(item.has_host for item in found)
    assert ["x", "relu", "relu_1"] == ["x", *(item.float_node for item in found[1:3])]
    assert all(item.float_node for item in found)
    assert (1, 16, 4, 4) == program.manifest.operators[CONVOLUTION].output
    assert ((1, 8, 8, 8),) == program.manifest.operators[CONVOLUTION].inputs


def test_last_intermediate_is_the_expected_output(program: Program) -> None:
    """Both references end where the program's own do."""
    last = expected_of(program)[-1].index

    for kind, file in (("host_int8", "host_at"), ("float", "float_at")):
        output = (program.folder / f"{kind}_0.bin").read_bytes()
        at = (program.folder / f"{file}_{last}.bin").read_bytes()
        assert np.allclose(np.frombuffer(output, np.float32), np.frombuffer(at, np.float32), 1e-5)


def test_nothing_differs_on_a_device_without_fault(program: Program) -> None:
    """Run on the host: every layer is host int8's, exit code 0."""
    shown = RUN.invoke(app, ["diff", MODEL, "--board=host", "--json"])
    told = json.loads(shown.stdout)

    assert 0 == shown.exit_code
    assert told["first"] is None
    assert all(layer["compared"] and not layer["differing"] for layer in told["layers"])
    assert all(layer["snr_db"] > 15 for layer in told["layers"])


def test_wrong_weight_is_found_where_it_is(program: Program, tmp_path: Path) -> None:
    """One changed weight of the second convolution: that layer, that channel alone, and exit code 1."""
    pte = bytearray(program.pte.read_bytes())
    per_channel = 3 * 3 * 8
    pte[weights_of(bytes(pte), CONVOLUTION) + CHANNEL * per_channel + 40] ^= 0x40
    path = tmp_path / "wrong.pte"
    path.write_bytes(pte)

    shown = RUN.invoke(app, ["diff", MODEL, "--board=host", f"--pte={path}", "--json"])
    told = json.loads(shown.stdout)
    first = told["layers"][CONVOLUTION]

    assert 1 == shown.exit_code
    assert CONVOLUTION == told["first"]
    assert [CHANNEL] == [channel["channel"] for channel in first["channels"]]
    assert 0 < first["differing"] <= 16
    text = RUN.invoke(app, ["diff", MODEL, "--board=host", f"--pte={path}"])
    assert f"first difference: instruction {CONVOLUTION}, 2, cortex_m::quantized_conv2d.out" in (
        text.stdout
    )


def test_wrong_kernel_is_found_where_it_is(
    program: Program, results: dict[tuple[int, int], bytes]
) -> None:
    """What a rounding fault of one kernel does to its result: elements, steps and channels, and no other layer."""
    wrong = np.frombuffer(results[0, CONVOLUTION], np.int8).copy().reshape(4, 4, 16)
    wrong[1, 2, CHANNEL] += 2
    wrong[0, :2, 9] -= 1
    results[0, CONVOLUTION] = wrong.tobytes()

    layers = compare(program, expected_of(program), results, 1)

    assert [CONVOLUTION] == [layer.info.index for layer in layers if layer.differing]
    layer = layers[CONVOLUTION]
    assert (3, 2.0, True) == (layer.differing, layer.largest, layer.in_steps)
    assert [(5, 1, 2.0), (9, 2, 1.0)] == [
        (one.channel, one.differing, one.largest) for one in layer.channels
    ]


def test_stuck_channels_are_told(program: Program, results: dict[tuple[int, int], bytes]) -> None:
    """A channel that saturates everywhere is named with its rail, apart from one that is dead in float too."""
    stuck = np.frombuffer(results[0, CONVOLUTION], np.int8).copy().reshape(4, 4, 16)
    stuck[:, :, 3] = 127
    results[0, CONVOLUTION] = stuck.tobytes()

    layer = compare(program, expected_of(program), results, 1)[CONVOLUTION]

    assert (3, 127, False) in {(one.channel, one.rail, one.dead_in_float) for one in layer.stuck}


def test_result_of_another_size_is_refused(
    program: Program, results: dict[tuple[int, int], bytes]
) -> None:
    """A dump that does not belong to the program is not compared."""
    results[0, CONVOLUTION] = b"short"

    with pytest.raises(WireValueError, match="instruction 2"):
        compare(program, expected_of(program), results, 1)


def test_program_of_another_model_is_refused(tmp_path: Path) -> None:
    """--pte takes a program with the same instructions alone."""
    other = Path(__file__).parents[1] / "data" / "upstream" / "linear_cortex-m4.pte"

    with pytest.raises(InputError, match="instructions, other ones"):
        RUN.invoke(app, ["diff", MODEL, "--board=host", f"--pte={other}"], catch_exceptions=False)


def test_ready_program_is_refused() -> None:
    """A .pte has no graph to compare with."""
    other = Path(__file__).parents[1] / "data" / "upstream" / "linear_cortex-m4.pte"

    with pytest.raises(ExportError, match="no intermediates"):
        RUN.invoke(app, ["diff", str(other), "--board=host"], catch_exceptions=False)


def test_float_results_differ_beyond_rounding(
    program: Program, results: dict[tuple[int, int], bytes]
) -> None:
    """A result without quantization is compared within 1e-4 of its largest element."""
    items = expected_of(program)
    last = items[-1]
    plain = tuple(replace(item, scale=0.0) if item is last else item for item in items)
    values = np.frombuffer(results[0, last.index], np.float32).copy()
    values[0] += 1e-6 * np.abs(values).max()
    results[0, last.index] = values.tobytes()
    rounded = compare(program, plain, results, 1)[-1]
    values[1] += 0.01 * np.abs(values).max()
    results[0, last.index] = values.tobytes()
    wrong = compare(program, plain, results, 1)[-1]

    assert (0, 1) == (rounded.differing, wrong.differing)
    assert not wrong.in_steps
