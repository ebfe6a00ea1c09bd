"""Kernels of other engines that are known to go wrong: a program is checked against the list before it runs there.

The list is `bench/data/known_bad.toml`; a condition that no entry has yet is a function here (`_CONDITIONS`).
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from bench.errors import KnownBadKernelError
from bench.pte import Argument, arguments_of, flat_plan

LIST = Path(__file__).parent / "data" / "known_bad.toml"
_HELIUM = {"cortex-m52", "cortex-m55", "cortex-m85"}
_DSP = {"cortex-m4", "cortex-m7", "cortex-m33", "cortex-m35p"}
_SHOWN = 4

Condition = Callable[[list[Argument]], bool]


@dataclass(frozen=True)
class Fault:
    """An entry of the list; its head says what the fields mean."""

    id: str
    engine: str
    operators: tuple[str, ...]
    isa: tuple[str, ...]
    since: str
    before: str
    condition: str
    what: str
    sources: tuple[str, ...]

    def concerns(self, engine: str, version: str, isa: str) -> bool:
        """Whether that build of that version has it."""
        number = _number(version)
        older = bool(self.since) and number < _number(self.since)
        mended = bool(self.before) and number >= _number(self.before)
        return engine == self.engine and isa in self.isa and not older and not mended


@dataclass(frozen=True)
class Found:
    """An instruction of a program that meets a fault."""

    fault: Fault
    instruction: int
    operator: str


def _number(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version.split("+", maxsplit=1)[0])[:3])


@cache
def faults() -> tuple[Fault, ...]:
    """Read the list."""
    raw = tomllib.loads(LIST.read_text())["fault"]
    return tuple(
        Fault(
            **{
                **entry,
                "operators": tuple(entry["operators"]),
                "isa": tuple(entry["isa"]),
                "sources": tuple(entry["sources"]),
            }
        )
        for entry in raw
    )


def isa_of(cpu: str) -> str:
    """Return which of CMSIS-NN's builds a core has: `mve`, `dsp` or `scalar`."""
    return "mve" if cpu in _HELIUM else "dsp" if cpu in _DSP else "scalar"


def find(pte: bytes, method: str, cpu: str, engine: str, version: str) -> list[Found]:
    """Return every instruction that an engine is known to get wrong on a cpu, in order.

    Args:
        pte: a program that `read_pte` took.
        version: of the engine.
    """
    concerned = [fault for fault in faults() if fault.concerns(engine, version, isa_of(cpu))]
    return list(_found(flat_plan(pte, method)[0], concerned)) if concerned else []


def _found(plan: Any, concerned: list[Fault]) -> Iterator[Found]:
    for index, operator, arguments in arguments_of(plan):
        for fault in concerned:
            if operator in fault.operators and _CONDITIONS[fault.condition](arguments):
                yield Found(fault, index, operator)


def check(pte: bytes, method: str, cpu: str, engine: str, version: str, where: str) -> None:
    """Refuse a program that the engine is known to get wrong.

    Raises:
        KnownBadKernelError: with every fault, the instructions that meet it, and its public source.
    """
    met: dict[Fault, list[int]] = {}
    for found in find(pte, method, cpu, engine, version):
        met.setdefault(found.fault, []).append(found.instruction)
    if not met:
        return
    told = []
    for fault, instructions in met.items():
        some = ", ".join(str(i) for i in instructions[:_SHOWN])
        more = f" and {len(instructions) - _SHOWN} more" if len(instructions) > _SHOWN else ""
        told.append(
            f"{fault.id} (instruction {some}{more}): {fault.what} [{', '.join(fault.sources)}]"
        )
    raise KnownBadKernelError(
        f"{engine} {version} is known to get this program wrong on {cpu}: {'; '.join(told)}",
        where=where,
        hint="run it on the lab's engine, change the layer, or mend the engine and give the version that "
        "has it as `before` in bench/data/known_bad.toml",
    )


# --- conditions: positions of arguments as in ExecuTorch's backends/cortex_m/ops/operators.yaml ----------------------

_INPUT, _WEIGHT, _BIAS, _STRIDE, _PADDING = 0, 1, 2, 3, 4
_KERNEL_SUM = 3
_POOL_SCRATCH = 8
_FILTER_WIDTH, _FILTER_DEPTH = 2, 3  # weights lie as output channels, height, width, input channels


def _padding_no_multiple_of_stride(arguments: list[Argument]) -> bool:
    stride, padding = arguments[_STRIDE].numbers, arguments[_PADDING].numbers
    return stride[0] > 0 and padding[0] % stride[0] != 0


def _stride_wider_than_filter(arguments: list[Argument]) -> bool:
    stride, width = arguments[_STRIDE].numbers, arguments[_WEIGHT].shape[_FILTER_WIDTH]
    return stride[1] > stride[0] and stride[1] > width


def _bias_in_kernel_sum(arguments: list[Argument]) -> bool:
    return arguments[_BIAS].is_none and not arguments[_KERNEL_SUM].is_none


def _bias_without_kernel_sum(arguments: list[Argument]) -> bool:
    return not arguments[_BIAS].is_none and arguments[_KERNEL_SUM].is_none


def _groups_without_bias(arguments: list[Argument]) -> bool:
    # the input's channels are its second size, of the explicit-layout variant its last: weights of a group have fewer
    depth = arguments[_WEIGHT].shape[_FILTER_DEPTH]
    channels = arguments[_INPUT].shape[_channel(arguments)]
    return arguments[_BIAS].is_none and channels != depth


def _channel(arguments: list[Argument]) -> int:
    return 3 if arguments[_INPUT].explicit_layout else 1


def _no_bias(arguments: list[Argument]) -> bool:
    return arguments[_BIAS].is_none


def _pool_without_scratch(arguments: list[Argument]) -> bool:
    # before 2026-05 the operator had no scratch: the tensor that it writes stands there, and once more at the end
    scratch = arguments[_POOL_SCRATCH]
    return scratch.is_none or scratch.nbytes == 0 or scratch.index == arguments[-1].index


_CONDITIONS: dict[str, Condition] = {
    "padding-no-multiple-of-stride": _padding_no_multiple_of_stride,
    "stride-wider-than-filter": _stride_wider_than_filter,
    "bias-in-kernel-sum": _bias_in_kernel_sum,
    "bias-without-kernel-sum": _bias_without_kernel_sum,
    "groups-without-bias": _groups_without_bias,
    "no-bias": _no_bias,
    "pool-without-scratch": _pool_without_scratch,
}
