"""Does every reset give the same? Outputs that differ between runs of one bundle, and counts that do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bench.determinism import compare_runs
from bench.record import Evidence, Measure, measured

if TYPE_CHECKING:
    from bench.metrics import Run


def measure(run: Run) -> list[Measure]:
    """Return `determinism` in outputs, and where time is a count in windows; nothing without further resets.

    Clocks and caches of real parts are never equal to the tick, so their windows are not compared.
    """
    if not run.repeats:
        return []
    found = compare_runs(run.log, run.repeats)
    seen = Evidence.SILICON if run.board.evidence == "silicon" else Evidence.EMULATED
    source = f"{found.resets} resets, each with the same bundle"
    measures = [
        measured("determinism", "outputs", seen, len(found.outputs), n=found.resets, source=source)
    ]
    if run.board.evidence == "count":
        windows = len(found.windows)
        measures.append(
            measured(
                "determinism", "windows", Evidence.COUNT, windows, n=found.resets, source=source
            )
        )
    return measures
