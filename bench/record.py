"""Records: one JSON file a run, with what was measured and everything that the figures depend on."""

from __future__ import annotations

import json
import re
import statistics
from collections.abc import Sequence
from enum import StrEnum
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

SCHEMA = 1

# `<UTC>-<scheme>-<run id>.json`; what has a further suffix after the run id lies beside a record
RECORD_NAME = re.compile(r"\d{8}T\d{6}Z-[^.]+-[0-9a-f]{8}\.json")
BESIDE_NAME = re.compile(r"\d{8}T\d{6}Z-[^.]+-[0-9a-f]{8}\.[^.]+\..+")

NO_RECORDS = frozenset({"board.json", "baselines.json"})  # what else may lie among records


# in the source of an estimate whose band no independent anchors set
NOT_ESTABLISHED = "band not established"


class Evidence(StrEnum):
    """What a figure is. Unlike kinds are never ranked together."""

    SILICON = "silicon"  # a counter on a real part
    WALLCLOCK = "wallclock"  # the clock of a host or Linux board
    FVP = "fvp"
    COUNT = "count"  # instructions executed on an emulator
    EMULATED = "emulated"  # outputs, accuracy, memory use seen on an emulator
    ESTIMATE = "estimate"  # a timing model over exact execution counts
    STATIC = "static"  # read from the ELF, the program or the host reference that belongs to it


class Status(StrEnum):
    """How far a record can be trusted."""

    VALID = "valid"
    DEGRADED = "degraded"  # usable, with the issues that it names
    INVALID = "invalid"  # carries no measures


class _Frozen(BaseModel):
    # JSON has no infinity: it is written as the string "Infinity", which pydantic reads back
    model_config = ConfigDict(frozen=True, extra="forbid", ser_json_inf_nan="strings")


class Summary(_Frozen):
    """What a measure's samples are like.

    Attributes:
        n: how many there are.
        p95, p99: 95th and 99th percentile, linear between the two nearest samples (R. J. Hyndman and Y. Fan 1996,
            Am. Stat. 50:361, definition 7: numpy's and pandas's default); of few samples close to the largest.
        spread: standard deviation of the samples (n - 1), None of a single one.
    """

    n: int
    minimum: float
    median: float
    p95: float
    p99: float
    maximum: float
    spread: float | None


def summarise(values: Sequence[float]) -> Summary:
    """Return the summary of one sample or more, in their unit."""
    ordered = sorted(values)

    def percentile(fraction: float) -> float:
        place = fraction * (len(ordered) - 1)
        low = int(place)
        high = min(low + 1, len(ordered) - 1)
        return ordered[low] + (place - low) * (ordered[high] - ordered[low])

    return Summary(
        n=len(ordered),
        minimum=ordered[0],
        median=statistics.median(ordered),
        p95=percentile(0.95),
        p99=percentile(0.99),
        maximum=ordered[-1],
        spread=statistics.stdev(ordered) if len(ordered) > 1 else None,
    )


class Measure(_Frozen):
    """One measure: its key is (name, unit, evidence).

    Attributes:
        values: raw samples in order.
        interval: 95 % interval of the median or proportion, where one is known.
        n: number of items that a proportion is over.
        source: what it was measured or compared with, in words.
        band: of an estimate: where the true value is said to lie.
        table: of an estimate: the tables that priced it, with their hashes.
        summary: of a timed window: smallest and largest sample, percentiles and spread.
    """

    name: str
    unit: str
    evidence: Evidence
    values: tuple[float, ...]
    median: float
    interval: tuple[float, float] | None = None
    n: int | None = None
    source: str = ""
    band: tuple[float, float] | None = None
    table: str = ""
    summary: Summary | None = None


def measured(
    name: str,
    unit: str,
    evidence: Evidence,
    *values: float,
    interval: tuple[float, float] | None = None,
    n: int | None = None,
    source: str = "",
    window: bool = False,
) -> Measure:
    """Make a measure of raw samples; its median is statistics.median's. A timed window has a summary, too."""
    return Measure(
        name=name,
        unit=unit,
        evidence=evidence,
        values=values,
        median=statistics.median(values),
        interval=interval,
        n=n,
        source=source,
        summary=summarise(values) if window else None,
    )


class Issue(_Frozen):
    """Why a record is not simply valid, or what its reader should know."""

    code: str
    message: str


class BoardFacts(_Frozen):
    """The board as the run had it."""

    id: str
    cpu: str
    clock_hz: int


class ModelFacts(_Frozen):
    """The model's identity."""

    name: str
    source_sha256: str
    weights_sha256: str
    trained: bool


class EngineFacts(_Frozen):
    """Which runtime executed the program."""

    name: str
    version: str


class ProgramFacts(_Frozen):
    """The program's identity and make-up."""

    sha256: str
    pte_bytes: int
    planned_bytes: int
    operators: dict[str, int]
    int8_mac_fraction: float
    macs: int


class ImageFacts(_Frozen):
    """An image and whether it is the one that ran."""

    role: Literal["lab", "deployment"]
    build_id: str
    sha256: str
    sizes: dict[str, int]
    ran: bool


class RegionFacts(_Frozen):
    """A physical memory of the board and what the program needs of it.

    Attributes:
        name: regions of memory.ld that it holds, `CODE+MODEL` for example.
        kind: `RAM` or `Flash`.
        image: whose need it is; the lab image's is an upper bound of what a product needs.
        reserve_bytes: kept free for an application.
        headroom_bytes, headroom_percent: what is left after need and reserve, and that of the memory; negative is
            what is missing.
    """

    name: str
    kind: str
    image: Literal["lab", "deployment"]
    have_bytes: int
    need_bytes: int
    reserve_bytes: int
    headroom_bytes: int
    headroom_percent: float


class Attachment(_Frozen):
    """A file beside the record."""

    file: str
    sha256: str


class Record(_Frozen):
    """One run of one program on one board."""

    schema_version: int = Field(default=SCHEMA, alias="schema")
    run_id: str
    time_utc: str
    board: BoardFacts
    device: str
    attachment: str
    model: ModelFacts
    scheme: str
    calibration_sha256: str
    dataset_sha256: str
    engine: EngineFacts
    program: ProgramFacts
    images: tuple[ImageFacts, ...]
    compiler: str
    workload_id: str
    oracle: str
    corrections: tuple[str, ...]
    tools: dict[str, str]
    commit: str
    dirty: bool
    status: Status
    issues: tuple[Issue, ...]
    retries: int
    measures: tuple[Measure, ...]
    regions: tuple[RegionFacts, ...] = ()
    files: dict[str, Attachment] = {}

    model_config = ConfigDict(
        populate_by_name=True
    )  # `schema` is a method of pydantic's own models

    def find(self, name: str, unit: str | None = None) -> Measure | None:
        """Return the first measure of this name (and unit), or None if the run has none."""
        for measure in self.measures:
            if measure.name == name and unit in (None, measure.unit):
                return measure
        return None


def read_record(data: bytes) -> Record:
    """Read a record of this schema or an older one.

    Raises:
        ValueError: it is damaged, foreign or of a newer lab, with the reason.
    """
    raw = json.loads(data)
    if not isinstance(raw, dict) or "run_id" not in raw or "measures" not in raw:
        raise ValueError("JSON, but no record of this lab")
    schema = raw.get("schema")
    if isinstance(schema, int) and schema > SCHEMA:
        raise ValueError(f"schema {schema} is of a newer lab; this one reads up to {SCHEMA}")
    return Record.model_validate_json(data)


def why_unreadable(error: Exception) -> str:
    """Return in a line why a file is no record."""
    if isinstance(error, ValidationError):
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"])
        return f"{error.error_count()} keys are wrong, the first: {key}: {first['msg']}"
    if isinstance(error, json.JSONDecodeError):
        return f"not whole JSON: {error}"
    return str(error).splitlines()[0]
