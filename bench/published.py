"""Published MLPerf Tiny points beside our figures of the same model and core, as ratios with their caveats."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from bench.select import Candidate

POINTS = Path(__file__).parent / "data" / "mlperf_tiny_published.csv"
_COLUMNS = {
    "autoencoder": "ad_ms",
    "resnet8": "ic_ms",
    "ds_cnn": "kws_ms",
    "mobilenet_v1_025": "vww_ms",
}
_STACKS = (
    ("X-CUBE-AI", "the vendor's closed library, which rewrites the graph"),
    ("Plumerai", "a closed library with its own optimizations"),
    ("HALE", "a closed library with its own optimizations"),
    ("ONNC", "a compiler of its own"),
    ("microTVM native", "another compiler, without CMSIS-NN"),
    ("microTVM", "CMSIS-NN under another compiler's schedule"),
    ("TFL", "another runtime and converter"),
)


@dataclass(frozen=True)
class Ratio:
    """Ours over theirs, in cycles on the same core: below 1 is faster here.

    Attributes:
        low, high: from our band; equal on silicon.
        caveat: what makes the two unlike.
    """

    model: str
    board: str
    core: str
    evidence: str
    ours_cycles: float
    theirs_cycles: float
    ratio: float
    low: float
    high: float
    their_board: str
    stack: str
    published_round: str
    submitter: str
    caveat: str
    run_id: str


def ratios(candidates: Iterable[Candidate], path: Path = POINTS) -> list[Ratio]:
    """Return a ratio for every candidate with a time and every point of its model and core, nearest first.

    A count of instructions has no ratio to a time, and gets none; nor does a float program beside an int8 one.
    """
    with path.open() as file:
        points = list(csv.DictReader(file))
    found = []
    for c in candidates:
        column = _COLUMNS.get(c.model)
        if column is None or c.band_s is None or c.latency_s is None or c.latency is None:
            continue
        if c.evidence not in {"silicon", "estimate"} or c.scheme != "int8":
            continue
        hz = c.latency / c.latency_s
        for point in points:
            if point["core"] != c.cpu or not point[column] or "float" in point["stack"]:
                continue
            theirs = float(point[column]) * 1e3 * float(point["clock_mhz"])
            found.append(
                Ratio(
                    c.model,
                    c.board,
                    c.cpu,
                    c.evidence,
                    c.latency,
                    theirs,
                    c.latency / theirs,
                    c.band_s[0] * hz / theirs,
                    c.band_s[1] * hz / theirs,
                    point["board"],
                    point["stack"],
                    point["round"],
                    point["submitter"],
                    _caveat(c, point["stack"]),
                    c.run_id,
                )
            )
    return sorted(found, key=lambda r: (r.model, r.board, abs(r.ratio - 1)))


def _caveat(c: Candidate, stack: str) -> str:
    parts = [next((text for name, text in _STACKS if name in stack), "another runtime")]
    parts.append("their time is a board's, with its flash wait states")
    if c.evidence == "estimate":
        parts.append("ours is an estimate, with its band")
    return "; ".join(parts)
