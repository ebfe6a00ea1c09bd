"""Transform the weights of 3x3 convolutions for exact integer Winograd F(2x2, 3x3), read by `quantized_conv2d.winograd1`.

The layout is that of `runtime/kernels/dsp/winograd.hpp`: 4 G g G^T of each filter and channel as int16, the bias
4 * (bias + input offset * sum of the filter). 32 bytes stand for nine, so a transformed program is larger, and its
kernel wants scratch for the transform of four tiles; both are reported.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bench.rewrite.dsp_weights import Call, KeepError, new_constant, overloaded
from bench.rewrite.flat import FlatProgram, nbytes

if TYPE_CHECKING:
    from numpy.typing import NDArray

OVERLOAD = b"winograd1"
_LIMIT = 1 << 29  # of sums, which are kept fourfold in 32 bits
_TWICE_G = np.array([[2, 0, 0], [1, 1, 1], [1, -1, 1], [0, 0, 2]], np.int64)
_QUAD = 4  # channels: a word of bytes
_OUTPUTS_AT_ONCE = 16


@dataclass(frozen=True)
class Transformed:
    """A call whose weights were transformed.

    Attributes:
        position: of the call in the program.
        extra_bytes: by how much its weights grew.
        scratch_bytes: what its kernel works in.
    """

    position: int
    extra_bytes: int
    scratch_bytes: int


def scratch_bytes(channels: int, outputs: int) -> int:
    """Return the scratch of the kernel, as WinogradScratch in winograd.hpp counts it."""
    return 128 * channels + 256 * min(outputs, _OUTPUTS_AT_ONCE) + 320 + 10 * channels


def encode(
    weights: NDArray[np.int8], bias: NDArray[np.int32], input_offset: int
) -> tuple[bytes, bytes]:
    """Return transformed weights and bias.

    Args:
        weights: [outputs, 3, 3, channels]; outputs are even, channels a multiple of four.
        bias: one an output.
        input_offset: what the operator adds to each input.

    Raises:
        KeepError: a sum does not fit.
    """
    outputs, _, _, channels = weights.shape
    wide = weights.astype(np.int64)
    rows = wide.reshape(outputs, -1)
    sums = bias.astype(np.int64) + input_offset * rows.sum(axis=1)
    positive = np.where(rows > 0, rows, 0).sum(axis=1)
    negative = np.where(rows < 0, rows, 0).sum(axis=1)
    largest = sums + 127 * positive - 128 * negative
    smallest = sums - 128 * positive + 127 * negative
    if largest.max() >= _LIMIT or smallest.min() < -_LIMIT:
        raise KeepError("sums of 2^29 and more")
    tiles = np.einsum("ia,oabc,jb->ijoc", _TWICE_G, wide, _TWICE_G)
    # [i, j, pair of outputs, output, quad, half, word] to [i, j, pair of outputs, quad, word, output, half]
    split = tiles.reshape(4, 4, outputs // 2, 2, channels // _QUAD, 2, 2)
    laid = split.transpose(0, 1, 2, 4, 6, 3, 5)
    return laid.astype("<i2").tobytes(), (4 * sums).astype("<u4").tobytes()


def pack(program: FlatProgram, method: str = "forward") -> tuple[Transformed, ...]:
    """Transform the weights of every call of a method that allows it and gains by it."""
    plan = program.plan(method)
    overloads: dict[int, int] = {}
    done = []
    for chain in plan.chains:
        for position, instruction in enumerate(chain.instructions):
            call = instruction.instrArgs
            operator = plan.operators[call.opIndex]
            if operator.name != b"cortex_m::quantized_conv2d" or operator.overload != b"out":
                continue
            args = [int(index) for index in call.args]
            try:
                found = _transformed(Call(plan, program.constants, args))
            except KeepError:
                continue
            weights, bias, sizes = found
            before = nbytes(plan.values[args[1]].val)
            args[1] = new_constant(program, plan, plan.values[args[1]], weights, sizes)
            args[2] = new_constant(program, plan, plan.values[args[2]], bias)
            call.args = args
            call.opIndex = overloaded(plan, call.opIndex, OVERLOAD, overloads)
            scratch = scratch_bytes(sizes[3] // 2, sizes[0])
            done.append(Transformed(position, len(weights) - before, scratch))
    return tuple(done)


def _transformed(call: Call) -> tuple[bytes, bytes, list[int]]:
    """Return weights, bias and the weights' sizes; raise KeepError."""
    weight = call.array(1, "i1")
    outputs, height, width, channels = weight.shape
    window = {tuple(call.integers(place)) for place in (3, 5)}
    if (height, width) != (3, 3) or not window <= {(1,), (1, 1)}:
        raise KeepError("another window than 3x3 of stride 1")
    if channels != int(call.tensor(0).sizes[1]) or channels % _QUAD or outputs % 2:
        raise KeepError("groups, channels that are no multiple of four, or an odd filter")
    if call.array(9, "<i4").max() >= 0:
        raise KeepError("a shift to the left")
    out = [int(size) for size in call.tensor(13).sizes]
    if not _gains(channels, outputs, out[2], out[3]):
        raise KeepError("as fast as exported")
    weights, bias = encode(weight, call.array(2, "<i4"), call.integer(6))
    return weights, bias, [outputs, 4, 4, 2 * channels]


def _gains(channels: int, outputs: int, height: int, width: int) -> bool:
    """Whether fewer instructions are expected than of packed weights, counted in both kernels' loops."""
    tiles = 200 * channels + 16 * (outputs // 2) * (11 * channels // 2 + 22) + 300 * outputs
    five = outputs * (27 * 9 * channels // 8 + 48) + 80 * channels
    return tiles * -(-height // 2) * -(-width // 8) < five * height * width / 5
