"""What every instruction of a program should give: references beside the program, for `bench diff`.

    intermediates.json      a list of `Intermediate`, by instruction
    host_at_<i>.bin         sample_count x result of instruction i by ExecuTorch's own Python operators
    float_at_<i>.bin        sample_count x the same point of the model in float, float32

All of them lie in memory as the program's own tensor does.
"""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass
from typing import Any

INDEX = "intermediates.json"


@dataclass(frozen=True)
class Intermediate:
    """The result of one instruction, and which references there are for it.

    Attributes:
        index: of the program's instruction.
        node: of the lowered graph that it was made from.
        shape: logical sizes (NCHW for images), dim_order from outer to inner as it lies in memory.
        scale: of one quantization step; 0.0 for results that are not quantized.
        zero_point: of the quantized result.
        rails: least and largest value that a saturated element has; equal if it has none.
        float_node: node of the float graph that gives the same values, empty without a float reference.
    """

    index: int
    node: str
    shape: tuple[int, ...]
    dtype: str
    dim_order: tuple[int, ...]
    nbytes: int
    scale: float
    zero_point: int
    rails: tuple[int, int]
    has_host: bool
    float_node: str


def to_json(found: tuple[Intermediate, ...]) -> str:
    """Return the list as indented JSON."""
    return json.dumps([dataclasses.asdict(item) for item in found], indent=1)


def from_json(text: str) -> tuple[Intermediate, ...]:
    """Read the list; raises ValueError, KeyError or TypeError on a foreign one."""
    found = []
    for item in json.loads(text):
        fields: dict[str, Any] = {
            k: tuple(v) if isinstance(v, list) else v for k, v in item.items()
        }
        found.append(Intermediate(**fields))
    return tuple(found)


def host_file(index: int) -> str:
    """Return the name of the host reference of an instruction."""
    return f"host_at_{index}.bin"


def float_file(index: int) -> str:
    """Return the name of the float reference of an instruction."""
    return f"float_at_{index}.bin"
