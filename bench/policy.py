"""The policy file of a nightly: what is run, what counts as worse, what is kept. Every key has a default."""

from __future__ import annotations

import fnmatch
import tomllib
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from bench.errors import InputError, nearest
from bench.noise import Sensitivity


class _Strict(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class MeasureRule(_Strict):
    """What a measure may do.

    Attributes:
        name: of the measure; `*` and `?` stand for others.
        evidence: of the measure; empty for any.
        direction: what is better; `auto` knows the lab's own measures.
        absolute, relative: a change up to the larger of both is told, and fails nothing.
        missing: what to do when a measure that was there last time is not.
    """

    name: str
    evidence: str = ""
    direction: Literal["auto", "lower", "higher", "none"] = "auto"
    absolute: float = Field(default=0.0, ge=0)
    relative: float = Field(default=0.0, ge=0)
    missing: Literal["fail", "warn", "ignore"] = "warn"


class Thresholds(_Strict):
    """See `bench.noise.Sensitivity`."""

    history: int = Field(default=Sensitivity.history, ge=4)
    suspect: float = Sensitivity.suspect
    watch: float = Sensitivity.watch
    confirm: float = Sensitivity.confirm
    alarm: float = Sensitivity.alarm
    reruns: int = Field(default=Sensitivity.reruns, ge=1)


_DEFAULT_RULES = (
    MeasureRule(name="latency", missing="fail"),
    MeasureRule(name="latency_first"),
    MeasureRule(name="load"),
    MeasureRule(name="top1_device", missing="fail"),
    MeasureRule(name="*", missing="warn"),
)


class Policy(_Strict):
    """A policy file.

    Attributes:
        boards, models, schemes: the matrix; no models means the whole zoo.
        pytest_args: what is passed on to each run, e.g. `--attach=hardware`.
        priority: patterns of `board/model/scheme`, most important first.
        retries: of a run that the bench, not the model, made fail.
        infrastructure: whether a cell that could not run in spite of retries fails the night.
        stale_nights: no record of a cell for longer is an alarm.
        keep_transcripts_nights: older transcripts are removed; records never are.
        hook: a command that is told the verdict, in its environment.
        measure: the first rule that matches a measure counts.
    """

    boards: list[str] = ["emulated"]
    models: list[str] = []
    schemes: list[str] = ["int8"]
    pytest_args: list[str] = []
    priority: list[str] = []
    retries: int = Field(default=1, ge=0, le=5)
    infrastructure: Literal["fail", "warn"] = "warn"
    stale_nights: int = Field(default=3, ge=1)
    keep_transcripts_nights: int = Field(default=30, ge=1)
    hook: list[str] = []
    thresholds: Thresholds = Thresholds()
    measure: list[MeasureRule] = []

    @property
    def sensitivity(self) -> Sensitivity:
        """The thresholds of the change-point test."""
        return Sensitivity(**self.thresholds.model_dump())

    def rule(self, measure: str, evidence: str) -> MeasureRule:
        """Return the first rule that matches."""
        for rule in (*self.measure, *_DEFAULT_RULES):
            if fnmatch.fnmatchcase(measure, rule.name) and rule.evidence in {"", evidence}:
                return rule
        raise AssertionError("the last default rule matches everything")

    def place(self, cell: str) -> int:
        """Return where a cell (`board/model/scheme`) stands by priority, 0 first."""
        for index, pattern in enumerate(self.priority):
            if fnmatch.fnmatchcase(cell, pattern):
                return index
        return len(self.priority)


def read_policy(path: Path | None) -> Policy:
    """Read a policy file; None is the default policy.

    Raises:
        InputError: no such file, or a key that is wrong, with its name.
    """
    if path is None:
        return Policy()
    try:
        return Policy.model_validate(tomllib.loads(path.read_text()))
    except OSError as error:
        raise InputError(f"no policy: {error.strerror}", where=str(path)) from error
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InputError(str(error), where=str(path)) from error
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"])
        known = [*Policy.model_fields, *MeasureRule.model_fields, *Thresholds.model_fields]
        hint = nearest(str(first["loc"][-1]), known) if first["type"] == "extra_forbidden" else ""
        raise InputError(f"{key}: {first['msg']}", where=str(path), hint=hint) from error
