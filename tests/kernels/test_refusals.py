"""Arguments that a kernel cannot take are refused when the method is loaded, by name and position.

A program may hold anything; what `prepare` lets pass, `run` executes without further checks.
"""

from __future__ import annotations

from typing import Any

import pytest
import torch

from tests.kernels.harness import Harness, KernelRefusedError, Out, Planned, Same

SCRATCH = torch.empty(0, dtype=torch.uint8)


def image(*shape: int) -> torch.Tensor:
    """Return zeros, channels last."""
    return torch.zeros(shape, dtype=torch.int8).to(memory_format=torch.channels_last)


def ints(*values: int) -> torch.Tensor:
    """Return int32."""
    return torch.tensor(values, dtype=torch.int32)


CONV = (
    "cortex_m::quantized_conv2d.out",
    [
        *(Planned(image(1, 4, 5, 5)), torch.zeros(2, 3, 3, 4, dtype=torch.int8), ints(0, 0)),
        *([1, 1], [1, 1], [1, 1], 128, -128, ints(2**30, 2**30), ints(0, 0), -128, 127),
        *(Planned(SCRATCH), Out(image(1, 2, 5, 5)), Same()),
    ],
)
LINEAR = (
    "cortex_m::quantized_linear.out",
    [
        *(Planned(torch.zeros(1, 8, dtype=torch.int8)), torch.zeros(3, 8, dtype=torch.int8)),
        *(ints(0, 0, 0), None, 128, 0, -128, [2**30], [0], 127, -128),
        *(Out(torch.zeros(1, 3, dtype=torch.int8)), Same()),
    ],
)
POOL = (
    "cortex_m::quantized_avg_pool2d.out",
    [
        *(Planned(image(1, 2, 4, 4)), [2, 2], [2, 2], [0, 0], False, 0, 2**30, 0),
        *(Planned(SCRATCH), Out(image(1, 2, 2, 2)), Same()),
    ],
)
ADD = (
    "cortex_m::quantized_add.out",
    [
        *(image(1, 2, 4, 4), 0, 2**30, 0, image(1, 2, 4, 4), 0, 2**30, 0, 0, 2**30, -18),
        *(-128, 127, Out(image(1, 2, 4, 4)), Same()),
    ],
)
QUANTIZE = (
    "cortex_m::quantize_per_tensor.out",
    [
        *(torch.zeros(4), 0.5, 0, -128, 127, 1),
        *(Out(torch.zeros(4, dtype=torch.int8)), Same()),
    ],
)
MISTAKES = [
    # kernel, argument, what it becomes, error
    (CONV, 0, Planned(image(1, 4, 6, 5)), "argument-shape", 13),
    (CONV, 0, Planned(image(1, 4, 5, 5).contiguous()), "argument-layout", 0),
    (CONV, 0, Planned(image(1, 4, 5, 5).float()), "argument-scalar-type", 0),
    (CONV, 0, Planned(image(1, 6, 5, 5)), "argument-shape", 1),
    (CONV, 0, 3, "argument-kind", 0),
    (CONV, 2, ints(0), "argument-shape", 2),
    (CONV, 3, [0, 1], "argument-value", 3),
    (CONV, 3, [], "argument-value", 3),
    (CONV, 3, [2**31, 1], "argument-value", 3),
    (CONV, 4, [-1, 0], "argument-value", 4),
    (CONV, 4, [0, 0], "argument-shape", 13),
    (CONV, 5, [70000, 1], "argument-value", 5),
    (CONV, 6, 129, "argument-value", 6),
    (CONV, 6, 2**40, "argument-value", 6),
    (CONV, 7, 128, "argument-value", 7),
    (CONV, 8, Planned(ints(2**30, 2**30)), "argument-value", 8),
    (CONV, 8, ints(2**30), "argument-shape", 8),
    (CONV, 8, ints(-(2**31), 1), "argument-value", 9),
    (CONV, 9, ints(0, 32), "argument-value", 9),
    (CONV, 9, ints(0, -63), "argument-value", 9),
    (CONV, 10, 127 + 1, "argument-value", 10),
    (CONV, 11, -129, "argument-value", 11),
    (CONV, 13, image(1, 2, 5, 5), "argument-kind", 13),
    (CONV, 14, image(1, 2, 5, 5), "argument-kind", 14),
    (LINEAR, 1, torch.zeros(3, 7, dtype=torch.int8), "argument-shape", 0),
    (LINEAR, 3, ints(0, 0), "argument-shape", 3),
    (LINEAR, 7, [], "argument-value", 7),
    (LINEAR, 8, [40], "argument-value", 8),
    (LINEAR, 11, Out(torch.zeros(1, 4, dtype=torch.int8)), "argument-shape", 11),
    (POOL, 1, [0, 2], "argument-value", 1),
    (POOL, 3, [2, 2], "argument-value", 3),
    (POOL, 4, 0, "argument-kind", 4),
    (POOL, 9, Out(image(1, 2, 3, 2)), "argument-shape", 9),
    (ADD, 4, image(1, 3, 4, 4), "argument-shape", 4),
    (ADD, 5, 200, "argument-value", 5),
    (ADD, 10, 40, "argument-value", 10),
    (ADD, 11, 5.0, "argument-kind", 11),
    (QUANTIZE, 1, 0.0, "argument-value", 1),
    (QUANTIZE, 1, float("nan"), "argument-value", 1),
    (QUANTIZE, 5, 0, "argument-scalar-type", 5),
]


@pytest.mark.parametrize(("kernel", "at", "wrong", "code", "refused"), MISTAKES)
def test_one_wrong_argument(
    call: Harness, kernel: tuple[str, list[Any]], at: int, wrong: Any, code: str, refused: int
) -> None:
    """Each argument is checked, and the error names the one at fault."""
    name, arguments = kernel

    with pytest.raises(KernelRefusedError) as caught:
        call(name, *arguments[:at], wrong, *arguments[at + 1 :])

    assert (code, refused) == (caught.value.code, caught.value.argument)


@pytest.mark.parametrize("kernel", [CONV, LINEAR, POOL, ADD, QUANTIZE], ids=lambda k: k[0])
def test_number_of_arguments(call: Harness, kernel: tuple[str, list[Any]]) -> None:
    """One argument too few or too many is refused; the right number runs."""
    name, arguments = kernel

    call(name, *arguments)
    with pytest.raises(KernelRefusedError, match="argument-count"):
        call(name, *arguments[:-1])
    with pytest.raises(KernelRefusedError, match="argument-count"):
        call(name, *arguments, None)


def test_unknown_kernel(call: Harness) -> None:
    """A name that is only the beginning of a kernel's is none of it."""
    for name in ("aten::add", "aten::add.", "aten::ad.out", "aten::add.outer", ".out"):
        with pytest.raises(KernelRefusedError, match="operator-missing"):
            call(name)
