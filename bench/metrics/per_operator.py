"""What each instruction of the program takes, from one more inference whose time is never used as latency."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING

from bench import operators
from bench.metrics import latency
from bench.record import Measure, measured

if TYPE_CHECKING:
    from bench.metrics import Run


def table(run: Run) -> operators.OperatorTable:
    """Return the operators' table; it has no rows if the device sent no `op` lines."""
    scale = latency.scale_of(run)
    whole = run.ticks("latency") or run.ticks("latency_first")
    found = operators.join(
        run.program.manifest.operators,
        {index: scale.convert(ticks) for index, _, ticks in run.log.operator_ticks},
        statistics.median(scale.convert(ticks) for ticks in whole),
        unit=scale.unit,
        evidence=scale.evidence.value,
        source=scale.source,
    )
    return found.with_estimate(run.operator_est_cycles)


def measure(run: Run) -> list[Measure]:
    """Return `per_operator`: the sum of the rows, beside which `latency` has the remainder too."""
    found = table(run)
    if not found.rows:
        return []
    return [
        measured(
            "per_operator",
            found.unit,
            latency.scale_of(run).evidence,
            sum(row.value for row in found.rows),
            n=len(found.rows),
            source=f"{operators.FILE}; {operators.REMAINDER} {found.remainder:g}",
        )
    ]


def attach(run: Run) -> dict[str, bytes]:
    """Return the table as a file beside the record."""
    found = table(run)
    return {operators.FILE: found.to_json().encode()} if found.rows else {}
