"""Softmax of int8 as CMSIS-NN's arm_softmax_s8 computes it, in vectors of torch's int64.

Written after CMSIS-NN's arm_nnsupportfunctions.h: `arm_nn_exp_on_negative_values`,
`arm_nn_one_over_one_plus_x_for_x_in_0_1` and `arm_nn_softmax_common_s8`.
"""

from __future__ import annotations

import torch

_SUM_BITS = 12
_Q31_MAX = 2**31 - 1
_EXP_FACTORS = (1672461947, 1302514674, 790015084, 290630308, 39332535, 720401, 242)


def softmax_integers(
    values: torch.Tensor, dim: int, multiplier: int, shift: int, diff_min: int
) -> torch.Tensor:
    """Return int8 probabilities of scale 1/256 and zero point -128, in the layout of `values`.

    Args:
        values: int8.
        dim: dimension whose elements compete.
        multiplier: with `shift`, the input's scale times 2^26, as the program has them.
        shift: see `multiplier`.
        diff_min: elements further below the largest one count as 0.
    """
    wide = values.to(torch.int64)
    difference = wide - wide.amax(dim, keepdim=True)
    counted = difference >= diff_min
    scaled = _high_product(difference.clamp(min=diff_min) << shift, torch.tensor(multiplier))
    power = _exponential(scaled)
    terms = torch.where(counted, _divide_by_power(power, torch.tensor(_SUM_BITS)), 0)
    total = terms.sum(dim, keepdim=True)
    bit_length = torch.floor(torch.log2(total.to(torch.float64))).to(torch.int64) + 1
    headroom = 32 - bit_length
    inverse = _reciprocal((total << headroom) - 2**31)
    quotient = _divide_by_power(_high_product(inverse, power), _SUM_BITS - headroom + 23)
    probability = torch.where(counted, quotient - 128, -128).clamp(-128, 127)
    return torch.empty_like(values).copy_(probability)


def _high_product(a: torch.Tensor, b: torch.Tensor | int) -> torch.Tensor:
    return (a * b + 2**30) >> 31


def _divide_by_power(value: torch.Tensor, bits: torch.Tensor) -> torch.Tensor:
    """Divide by 2^bits, to nearest, ties away from zero."""
    magnitude = (value.abs() + (1 << (bits - 1))) >> bits
    return value.sign() * magnitude


def _exponential(value: torch.Tensor) -> torch.Tensor:
    """Return e^value in Q0.31 of values <= 0 in Q5.26."""
    quarter = 1 << 24
    in_quarter = (value & (quarter - 1)) - quarter
    rest = in_quarter - value
    x = (in_quarter << 5) + (1 << 28)
    x2 = _high_product(x, x)
    x4_quarter = _divide_by_power(_high_product(x2, x2), torch.tensor(2))
    tail = _high_product(x4_quarter + _high_product(x2, x), 715827883) + x2
    result = 1895147668 + _high_product(x + _divide_by_power(tail, torch.tensor(1)), 1895147668)
    for bit, factor in enumerate(_EXP_FACTORS):
        chosen = (rest >> (24 + bit)) & 1
        result = torch.where(chosen == 1, _high_product(result, factor), result)
    return torch.where(value == 0, _Q31_MAX, result)


def _reciprocal(value: torch.Tensor) -> torch.Tensor:
    """Return 1 / (1 + value) in Q0.31 of values of [0, 1) in Q0.31."""
    half = torch.div(value + _Q31_MAX + 1, 2, rounding_mode="trunc")
    x = 1515870810 + _high_product(half, -1010580540)
    for _ in range(3):
        step = _high_product(x, (1 << 29) - _high_product(half, x))
        x = x + (step << 2).clamp(-(2**31), _Q31_MAX)
    return (x << 1).clamp(-(2**31), _Q31_MAX)
