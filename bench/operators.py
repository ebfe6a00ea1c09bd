"""What each instruction of a program costs: rows that sum, with a named remainder, to the whole inference.

    operators.json    {"schema": 1, "unit", "evidence", "source", "latency", "remainder": {"name", "what", <unit>},
                       "rows": [{"index", "operator", "layer", "kind", "inputs", "output", "macs", <unit>, "share",
                       "macs_per_<one>", "est_cycles"?}]}

`<unit>` is the table's unit, so that a figure never stands without it: `instructions`, `cycles` or `ms`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from bench.program import OperatorInfo

FILE = "operators.json"
SCHEMA = 1
REMAINDER = "between-operators"
REMAINDER_IS = (
    "latency less the sum of the rows: the runtime's loop from one instruction to the next, less what the hook that "
    "times them adds to each window"
)
_ONE = {"instructions": "instruction", "cycles": "cycle"}


@dataclass(frozen=True)
class Row:
    """One instruction of the program.

    Attributes:
        value: what it took, in the table's unit, without what an empty window takes.
        share: of the sum of all rows and the remainder.
        est_cycles: estimated cycles where a timing model gave them.
    """

    info: OperatorInfo
    value: float
    share: float
    est_cycles: float | None = None

    @property
    def macs_per_unit(self) -> float:
        """Multiply-accumulates for each instruction, cycle or millisecond."""
        return self.info.macs / self.value if self.value else 0.0


@dataclass(frozen=True)
class OperatorTable:
    """All instructions of a program in one timed inference.

    Attributes:
        latency: the whole inference, timed in one window without hooks: rows and remainder sum to it.
        source: how it was counted.
    """

    unit: str
    evidence: str
    source: str
    latency: float
    rows: tuple[Row, ...]

    @property
    def remainder(self) -> float:
        """What belongs to no instruction; see `REMAINDER_IS`."""
        return self.latency - sum(row.value for row in self.rows)

    def with_estimate(self, est_cycles: Mapping[int, float]) -> OperatorTable:
        """Return the table with estimated cycles by instruction beside what was counted."""
        rows = tuple(replace(row, est_cycles=est_cycles.get(row.info.index)) for row in self.rows)
        return replace(self, rows=rows)

    def to_json(self) -> str:
        """Return the table as indented JSON."""
        return json.dumps(
            {
                "schema": SCHEMA,
                "unit": self.unit,
                "evidence": self.evidence,
                "source": self.source,
                "latency": self.latency,
                "remainder": {
                    "name": REMAINDER,
                    "what": REMAINDER_IS,
                    self.unit: self.remainder,
                },
                "rows": [self._row(row) for row in self.rows],
            },
            indent=1,
        )

    def _row(self, row: Row) -> dict[str, Any]:
        info = row.info
        estimate = {} if row.est_cycles is None else {"est_cycles": row.est_cycles}
        return {
            "index": info.index,
            "operator": info.operator,
            "layer": info.layer,
            "kind": info.kind,
            "inputs": info.inputs,
            "output": info.output,
            "macs": info.macs,
            self.unit: row.value,
            "share": row.share,
            f"macs_per_{_ONE.get(self.unit, self.unit)}": row.macs_per_unit,
            **estimate,
        }


def join(
    operators: Sequence[OperatorInfo],
    values: Mapping[int, float],
    latency: float,
    *,
    unit: str,
    evidence: str,
    source: str,
) -> OperatorTable:
    """Join a program's instructions with what each took.

    Args:
        values: by instruction; one that did not run is left out of the table.
        latency: of the whole inference, in the same unit.
    """
    rows = tuple(
        Row(info, values[info.index], values[info.index] / latency if latency else 0.0)
        for info in operators
        if info.index in values
    )
    return OperatorTable(unit, evidence, source, latency, rows)


def read_table(text: str | bytes) -> OperatorTable:
    """Read `to_json`'s text; raises ValueError, KeyError or TypeError on a foreign one."""
    raw = json.loads(text)
    if raw.get("schema") != SCHEMA:
        raise ValueError(f"operators schema {raw.get('schema')!r}, want {SCHEMA}")
    unit = raw["unit"]
    rows = tuple(
        Row(
            OperatorInfo(
                item["index"],
                item["operator"],
                item["layer"],
                item["kind"],
                item["macs"],
                tuple(tuple(shape) for shape in item["inputs"]),
                tuple(item["output"]),
            ),
            item[unit],
            item["share"],
            item.get("est_cycles"),
        )
        for item in raw["rows"]
    )
    return OperatorTable(unit, raw["evidence"], raw["source"], raw["latency"], rows)


def shape_text(info: OperatorInfo) -> str:
    """Return `1x3x32x32 -> 1x16x32x32`, empty if unknown."""
    if not info.output:
        return ""
    inputs = ", ".join("x".join(str(size) for size in shape) for shape in info.inputs)
    return f"{inputs} -> {'x'.join(str(size) for size in info.output)}"
