"""Rewritten programs: what goes, what stays, and what packed weights stand for."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from executorch_flatbuffer.KernelTypes import KernelTypes

from bench.board import find_boards
from bench.errors import InputError, ProgramError
from bench.foreign import foreign_program
from bench.pte import read_pte
from bench.rewrite.dsp_weights import KeepError, encode, pack
from bench.rewrite.flat import FlatProgram, is_tensor, nbytes, read_flat, write_flat
from bench.rewrite.programs import packed
from bench.rewrite.slim import slim

UPSTREAM = Path(__file__).parents[1] / "data" / "upstream"
PROGRAMS = sorted(path.stem for path in UPSTREAM.glob("*.pte"))


def flat(name: str) -> FlatProgram:
    """Read one of upstream's programs."""
    return read_flat((UPSTREAM / f"{name}.pte").read_bytes())


def slimmed(name: str) -> bytes:
    """Return one of upstream's programs without what is dead."""
    program = flat(name)
    slim(program)
    return write_flat(program)


def calls(program: FlatProgram) -> list[tuple[bytes, list[object]]]:
    """Return each call: the operator and, of each argument, the number, or the shape and constant bytes of a tensor."""
    plan = program.plan("forward")

    def seen(index: int) -> object:
        value = plan.values[index]
        if is_tensor(value):
            constant = program.constants[value.val.dataBufferIdx][: nbytes(value.val)]
            place = value.val.allocationInfo
            return tuple(value.val.sizes), constant, place and place.memoryOffsetLow
        if value.valType in (KernelTypes.IntList, KernelTypes.TensorList):
            return [seen(int(item)) for item in value.val.items]
        held = {} if value.val is None else vars(value.val)
        return value.valType, {key: np.asarray(item).tolist() for key, item in held.items()}

    found = []
    for instruction in plan.chains[0].instructions:
        call = instruction.instrArgs
        operator = plan.operators[call.opIndex]
        name = operator.name + b"." + operator.overload
        found.append((name, [seen(int(index)) for index in call.args]))
    return found


@pytest.mark.parametrize("name", PROGRAMS)
def test_slim_keeps_every_call(name: str) -> None:
    """Operators, numbers, shapes, places and constants of each instruction are what they were."""
    before, after = flat(name), read_flat(slimmed(name))

    assert calls(before) == calls(after)


@pytest.mark.parametrize(("name", "least"), [("mobilenet_v1_025", 0.12), ("ds_cnn", 0.18)])
def test_slim_removes_what_upstream_leaves(name: str, least: float) -> None:
    """Original weights, scales and dead tensors make at least this share of the file."""
    before = (UPSTREAM / f"{name}_cortex-m4.pte").stat().st_size

    assert len(slimmed(f"{name}_cortex-m4")) <= (1 - least) * before


def test_slim_twice_changes_nothing_more() -> None:
    """What is left is used."""
    once = slimmed("ds_cnn_cortex-m55")

    again = read_flat(once)
    slim(again)

    assert once == write_flat(again)


def test_a_slim_program_says_the_same_of_itself() -> None:
    """Inputs, outputs, operators and the memory plan are read as before."""
    before = read_pte((UPSTREAM / "resnet8_cortex-m4.pte").read_bytes())

    after = read_pte(slimmed("resnet8_cortex-m4"))

    assert (before.inputs, before.outputs, before.operators, before.plan) == (
        after.inputs,
        after.outputs,
        after.operators,
        after.plan,
    )


def test_a_damaged_program_is_refused() -> None:
    """A vector that is longer than the file is a fault with a name."""
    data = bytearray((UPSTREAM / "linear_cortex-m4.pte").read_bytes())
    data[40:600] = b"\xff" * 560

    with pytest.raises(ProgramError):
        read_flat(bytes(data))


def packed_sum(weights: bytes, bias: bytes, inputs: np.ndarray) -> int:
    """Do what the kernel does with one filter, in 32 bits: SMLAD(word, o), SMLAD(SXTB16(word), e), and the mend."""
    words = np.frombuffer(weights, "<i2").astype(np.int64)
    even = np.frombuffer(weights, "i1")[0::2].astype(np.int64)
    o = inputs[1::2].astype(np.int64) - 127
    e = 256 * inputs[0::2].astype(np.int64) - o
    assert o.min() >= -(1 << 15)
    assert e.min() >= -(1 << 15)
    assert e.max() < 1 << 15
    start = int(np.frombuffer(bias, "<i4")[0])
    total = start + int((words * o + even * e).sum())
    if start & 255:
        last = len(words) - 2 * (start & 255)
        at = last + 1 if words[last + 1] >= 0x7F80 else last
        total -= 65536 * int(o[at]) + (start & 255)
    total = (total + (1 << 31)) % (1 << 32) - (1 << 31)
    assert total % 256 == 0
    return total >> 8


@pytest.mark.parametrize("seed", range(20))
def test_packed_weights_give_the_same_sums(seed: int) -> None:
    """Bias + sum of weight * (input + offset), for weights and inputs of every size, and one pair that needs 17 bits."""
    random = np.random.default_rng(seed)
    length, offset = 8 * int(random.integers(1, 30)), int(random.integers(-127, 129))
    weights = random.integers(-127, 128, (1, length)).astype(np.int8)
    pair = 2 * int(random.integers(0, length // 2))
    weights[0, pair : pair + 2] = (-int(random.integers(1, 129)), -128)
    bias = random.integers(-(1 << 20), 1 << 20, 1).astype(np.int32)
    inputs = random.choice([-128, -1, 0, 127, 55], length)
    expected = int(bias[0]) + int((weights[0].astype(np.int64) * (inputs + offset)).sum())

    made = encode(weights, bias, offset, one_beyond=True)

    assert (length, expected) == (len(made[0]), packed_sum(*made, inputs))


@pytest.mark.parametrize(
    ("weights", "bias", "why"),
    [
        ([[-1, -128, -1, -128, 0, 0, 0, 0]], [0], "-128 beside"),
        ([[0] * 8], [1 << 23], "2\\^23"),
        ([[0] * 8], [-(1 << 23) - 1], "2\\^23"),
    ],
)
def test_what_does_not_fit_keeps_its_weights(
    weights: list[list[int]], bias: list[int], why: str
) -> None:
    """Two pairs beyond 16 bits in a filter, or sums beyond 24."""
    with pytest.raises(KeepError, match=why):
        encode(np.array(weights, np.int8), np.array(bias, np.int32), 0, one_beyond=True)


def test_packing_marks_operators_and_keeps_the_size() -> None:
    """Calls that are packed name an operator that only the kernels for packed weights have."""
    program = flat("ds_cnn_cortex-m4")
    before = len(slimmed("ds_cnn_cortex-m4"))

    done = pack(program)
    slim(program)
    data = write_flat(program)

    names = [operator.operator for operator in read_pte(data).operators]
    assert (5, 5) == (done.calls, done.packed)
    assert 4 == names.count("cortex_m::quantized_conv2d.dsp1")
    assert 1 == names.count("cortex_m::quantized_linear.dsp1")
    assert len(data) == before


def test_a_packed_program_has_a_name_of_its_own() -> None:
    """Model, packing, hash and calls that keep their weights are in program.json."""
    board = find_boards("mps2-an386")[0]
    program = foreign_program(UPSTREAM / "resnet8_cortex-m4.pte")

    manifest = packed(program, board).manifest

    assert ("resnet8_cortex-m4-dsp1", "dsp1") == (manifest.model, manifest.pack)
    assert manifest.pte_sha256 != program.manifest.pte_sha256
    kept = [finding.node for finding in manifest.findings if finding.code == "pack-kept"]
    assert ["1 cortex_m", "7 cortex_m", "11 cortex_m"] == kept


@pytest.mark.parametrize(
    ("board", "model", "why"),
    [("mps3-an547", "ds_cnn_cortex-m55", "read no packed weights"), ("mps2-an386", "transformer_block_cortex-m4", "none of 6 calls")],
)  # fmt: skip
def test_what_cannot_be_packed_is_refused(board: str, model: str, why: str) -> None:
    """A core without such kernels, a program without such calls."""
    with pytest.raises(InputError, match=why):
        packed(foreign_program(UPSTREAM / f"{model}.pte"), find_boards(board)[0])
