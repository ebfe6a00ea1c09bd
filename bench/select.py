"""Which microcontroller for this model: candidates under requirements, each rejection with its reason.

A candidate is one (board, model, scheme, engine) with its latest usable record. Fit and headroom are the deployment
image's where the record has it; else the lab image's, which is an upper bound, and labelled.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench.errors import BoardFileError
from bench.fit import Fit, Memory, fits_of, needs_of
from bench.quantity import show_bytes, show_seconds
from bench.record import NOT_ESTABLISHED

if TYPE_CHECKING:
    import pandas as pd


# --- what is asked and what there is --------------------------------------------------------------------------------


@dataclass(frozen=True)
class Requirements:
    """What a chip must do; None asks nothing."""

    max_latency_s: float | None = None
    max_ram_bytes: int | None = None
    max_flash_bytes: int | None = None
    min_accuracy: float | None = None
    max_price: float | None = None
    reserve_ram_bytes: int = 0
    reserve_flash_bytes: int = 0


class Answer(StrEnum):
    """Whether a candidate meets the requirements."""

    MEETS = "meets"
    UNDECIDED = "undecided"  # the band or interval reaches over the limit
    FAILS = "fails"
    NOT_RUN = "not run"


@dataclass(frozen=True)
class Candidate:
    """A place where the model could run.

    Attributes:
        latency_s: None where nothing says what time it takes (a count of instructions is no time).
        band_s: what the latency is between: an estimate's band, the samples' range on silicon.
        band_note: what is to be said of the band: that no independent anchors set it; empty otherwise.
        image: `deployment`, or `lab` for an upper bound.
        issues: why there is no usable record, or what its reader should know.
        attachment: how the board was attached; `twin` if it was not there.
    """

    board: str
    cpu: str
    model: str
    scheme: str
    engine: str
    evidence: str
    latency: float | None
    latency_unit: str
    latency_s: float | None
    band_s: tuple[float, float] | None
    ram_bytes: int | None
    flash_bytes: int | None
    image: str
    fits: tuple[Fit, ...]
    accuracy: float | None
    accuracy_interval: tuple[float, float] | None
    price: float | None
    run_id: str
    issues: str = ""
    band_note: str = ""
    attachment: str = ""

    @property
    def place(self) -> str:
        """The board, marked if it was not there and its image ran elsewhere."""
        return f"{self.board} (twin)" if self.attachment == "twin" else self.board


@dataclass(frozen=True)
class Judged:
    """A candidate with its answer.

    Attributes:
        reasons: for what is not met or not known, each with figures.
        failed: names of the requirements that are not met.
        rank: 1 is best among its kind of evidence; equal ranks are not apart; None is not ranked.
    """

    candidate: Candidate
    answer: Answer
    reasons: tuple[str, ...]
    failed: tuple[str, ...]
    rank: int | None = None
    pareto: bool = False


@dataclass(frozen=True)
class Notch:
    """The next looser value of a requirement that would admit a candidate."""

    option: str
    now: str
    then: str
    admits: str


_TIMED = (
    ("silicon", "cycles"),
    ("fvp", "cycles"),
    ("wallclock", "ms"),
    ("estimate", "est_cycles"),
    ("count", "instructions"),
)
RANKED = ("silicon", "fvp", "wallclock", "estimate")


def candidates(
    latest: pd.DataFrame, memories: Mapping[str, Sequence[Memory]], prices: Mapping[str, float]
) -> list[Candidate]:
    """Return a candidate for each latest record.

    Args:
        latest: rows of the latest record of each cell.
        memories: of each board by id; a board without is not judged for fit.
        prices: by board id, what the user filled in.
    """
    return [
        _candidate(rows, memories, prices)
        for _, rows in latest.groupby("path", sort=False, observed=True)
    ]


def _candidate(
    rows: pd.DataFrame, memories: Mapping[str, Sequence[Memory]], prices: Mapping[str, float]
) -> Candidate:
    run = rows.iloc[0]
    found = {
        (str(r["measure"]), str(r["unit"]), str(r["evidence"])): r for r in rows.to_dict("records")
    }
    sizes = {name: int(r["median"]) for (name, unit, _), r in found.items() if unit == "bytes"}
    needs = needs_of(sizes)
    ram = sizes.get("ram_total") if needs.deployment else needs.of("DATA", "ARENA")
    flash = sizes.get("flash_total") if needs.deployment else needs.of("CODE", "MODEL")
    fits = fits_of(needs, memories.get(str(run["board"]), ()))
    evidence, unit, value, seconds, band = _latency(found, int(run["clock_hz"]))
    top1 = next((r for (name, _, _), r in found.items() if name == "top1_device"), None)
    return Candidate(
        board=str(run["board"]),
        cpu=str(run["cpu"]),
        model=str(run["model"]),
        scheme=str(run["scheme"]),
        engine=str(run["engine"]),
        evidence=evidence,
        latency=value,
        latency_unit=unit,
        latency_s=seconds,
        band_s=band,
        ram_bytes=ram,
        flash_bytes=flash,
        image="deployment" if needs.deployment else "lab",
        fits=fits,
        accuracy=float(top1["median"]) if top1 is not None else None,
        accuracy_interval=(float(top1["low"]), float(top1["high"])) if top1 is not None else None,
        price=prices.get(str(run["board"])),
        run_id=str(run["run_id"]),
        issues=str(run["issues"]) if str(run["status"]) == "invalid" else "",
        attachment=str(run["attachment"]),
        band_note=_band_note(found) if evidence == "estimate" else "",
    )


def _band_note(found: Mapping[tuple[str, str, str], Mapping[Any, Any]]) -> str:
    """Return that the estimate's band is the wide default, if it is."""
    for name in ("latency", "latency_first"):
        row = found.get((name, "est_cycles", "estimate"))
        if row is not None:
            return NOT_ESTABLISHED if NOT_ESTABLISHED in str(row["source"]) else ""
    return ""


def _latency(
    found: Mapping[tuple[str, str, str], Mapping[Any, Any]], clock_hz: int
) -> tuple[str, str, float | None, float | None, tuple[float, float] | None]:
    for evidence, unit in _TIMED:
        for name in ("latency", "latency_first"):
            row = found.get((name, unit, evidence))
            if row is None:
                continue
            value = float(row["median"])
            values = [float(v) for v in row["values"]]
            low, high = min(values), max(values)
            if evidence == "estimate":
                low, high = float(row["band_low"]), float(row["band_high"])
            if unit == "instructions":
                return evidence, unit, value, None, None
            scale = 1e-3 if unit == "ms" else 1 / clock_hz
            return evidence, unit, value, value * scale, (low * scale, high * scale)
    return "", "", None, None, None


def missing(board: str, cpu: str, model: str, why: str) -> Candidate:
    """Return the candidate of a cell without a usable record."""
    return Candidate(
        board=board,
        cpu=cpu,
        model=model,
        scheme="",
        engine="",
        evidence="",
        latency=None,
        latency_unit="",
        latency_s=None,
        band_s=None,
        ram_bytes=None,
        flash_bytes=None,
        image="",
        fits=(),
        accuracy=None,
        accuracy_interval=None,
        price=None,
        run_id="",
        issues=why,
    )


# --- the answer -----------------------------------------------------------------------------------------------------


def judge(found: Sequence[Candidate], wanted: Requirements) -> list[Judged]:
    """Return every candidate with answer and reasons, by model, the ranked ones first, silicon before estimates.

    A rank counts the candidates for the same model that are surely faster (whose band ends before this one's begins)
    among those that meet the requirements with the same kind of evidence: overlapping bands share a rank.
    """
    judged = [_judge(candidate, wanted) for candidate in found]
    ranked = []
    for one in judged:
        rivals = [
            other.candidate
            for other in judged
            if other.answer is Answer.MEETS
            and other.candidate.evidence == one.candidate.evidence
            and other.candidate.model == one.candidate.model
        ]
        ranked.append(
            Judged(
                one.candidate,
                one.answer,
                one.reasons,
                one.failed,
                _rank(one, rivals),
                one.answer is Answer.MEETS and not any(dominates(r, one.candidate) for r in rivals),
            )
        )
    order = {evidence: index for index, (evidence, _) in enumerate(_TIMED)}
    answers = list(Answer)
    return sorted(
        ranked,
        key=lambda j: (
            j.candidate.model,
            answers.index(j.answer),
            order.get(j.candidate.evidence, len(order)),
            j.rank if j.rank is not None else math.inf,
            j.candidate.latency_s if j.candidate.latency_s is not None else math.inf,
            j.candidate.board,
        ),
    )


def _rank(one: Judged, rivals: Sequence[Candidate]) -> int | None:
    band = one.candidate.band_s
    if one.answer is not Answer.MEETS or band is None or one.candidate.evidence not in RANKED:
        return None
    return 1 + sum(rival.band_s is not None and rival.band_s[1] < band[0] for rival in rivals)


def dominates(a: Candidate, b: Candidate) -> bool:
    """Whether `a` is at least as good in latency, RAM, Flash and accuracy, and surely better in one.

    Latencies count as different only if their bands do not overlap.
    """
    if a.evidence != b.evidence or a.band_s is None or b.band_s is None:
        return False
    better = a.band_s[1] < b.band_s[0]
    if not better and b.band_s[1] < a.band_s[0]:
        return False
    pairs: list[tuple[float | None, float | None]] = [
        (a.ram_bytes, b.ram_bytes),
        (a.flash_bytes, b.flash_bytes),
    ]
    pairs += (
        [(-a.accuracy, -b.accuracy)] if a.accuracy is not None and b.accuracy is not None else []
    )
    for mine, theirs in pairs:
        if mine is None or theirs is None or mine > theirs:
            return False
        better = better or mine < theirs
    return better


def _judge(c: Candidate, wanted: Requirements) -> Judged:
    if c.latency is None and not c.fits:
        return Judged(c, Answer.NOT_RUN, (c.issues or "no valid record",), ())
    said = _fitting(c, wanted)  # requirement, answer, reason
    said += _sized("max-ram", "RAM", c.ram_bytes, wanted.max_ram_bytes)
    said += _sized("max-flash", "Flash", c.flash_bytes, wanted.max_flash_bytes)
    said += _timed(c, wanted.max_latency_s) + _accurate(c, wanted.min_accuracy)
    if wanted.max_price is not None:
        if c.price is None:
            said.append(("max-price", Answer.UNDECIDED, "no price was filled in"))
        elif c.price > wanted.max_price:
            said.append(
                ("max-price", Answer.FAILS, f"price {c.price:g} above {wanted.max_price:g}")
            )
    if c.image == "lab":  # an upper bound that is too large says nothing of what a product needs
        said = [
            (name, Answer.UNDECIDED, f"{reason} (lab image: upper bound)")
            if name in _OF_IMAGE and answer is Answer.FAILS
            else (name, answer, reason)
            for name, answer, reason in said
        ]
    failed = tuple(name for name, answer, _ in said if answer is Answer.FAILS)
    answer = Answer.FAILS if failed else Answer.UNDECIDED if said else Answer.MEETS
    return Judged(c, answer, tuple(reason for _, _, reason in said), failed)


_OF_IMAGE = frozenset({"fit", "max-ram", "max-flash", "reserve-ram", "reserve-flash"})


def _fitting(c: Candidate, wanted: Requirements) -> list[tuple[str, Answer, str]]:
    said = [
        (
            "fit",
            Answer.FAILS,
            f"does not fit {fit.memory} ({fit.kind}): have {show_bytes(fit.have_bytes)}, need {show_bytes(fit.need_bytes)}, {show_bytes(-fit.headroom_bytes)} too many",
        )
        for fit in c.fits
        if fit.headroom_bytes < 0
    ]
    for kind, reserve in (("RAM", wanted.reserve_ram_bytes), ("Flash", wanted.reserve_flash_bytes)):
        left = sum(fit.headroom_bytes for fit in c.fits if fit.kind == kind)
        if c.fits and 0 <= left < reserve:
            text = f"leaves {show_bytes(left)} of {kind}, {show_bytes(reserve - left)} less than the reserve"
            said.append((f"reserve-{kind.lower()}", Answer.FAILS, text))
    return said


def _sized(
    name: str, what: str, have: int | None, limit: int | None
) -> list[tuple[str, Answer, str]]:
    if limit is None:
        return []
    if have is None:
        return [(name, Answer.UNDECIDED, f"{what} is not known")]
    if have > limit:
        return [
            (
                name,
                Answer.FAILS,
                f"needs {show_bytes(have)} of {what}, {show_bytes(have - limit)} above {show_bytes(limit)}",
            )
        ]
    return []


def _timed(c: Candidate, limit: float | None) -> list[tuple[str, Answer, str]]:
    if limit is None:
        return []
    if c.latency_s is None or c.band_s is None:
        return [
            ("max-latency", Answer.UNDECIDED, "no time is known: a count of instructions is none")
        ]
    low, high = c.band_s
    kind = f"{c.evidence}, {c.band_note}" if c.band_note else c.evidence
    best = "" if low == high else " at best"
    if low > limit:
        text = f"too slow: {show_seconds(low)}{best} ({kind}) against {show_seconds(limit)}"
        return [("max-latency", Answer.FAILS, text)]
    text = f"may be too slow: the band ends at {show_seconds(high)} ({kind}), asked {show_seconds(limit)}"
    return [("max-latency", Answer.UNDECIDED, text)] if high > limit else []


def _accurate(c: Candidate, limit: float | None) -> list[tuple[str, Answer, str]]:
    if limit is None:
        return []
    if c.accuracy is None or c.accuracy_interval is None:
        return [("min-accuracy", Answer.UNDECIDED, "accuracy is not known")]
    low, high = c.accuracy_interval
    text = f"top-1 {c.accuracy:.1%} [{low:.1%}, {high:.1%}] against {limit:.1%}"
    if high < limit:
        return [("min-accuracy", Answer.FAILS, f"not accurate enough: {text}")]
    return (
        [("min-accuracy", Answer.UNDECIDED, f"the interval reaches below the limit: {text}")]
        if low < limit
        else []
    )


def sensitivity(judged: Sequence[Judged], wanted: Requirements) -> list[Notch]:
    """Return, for each model and requirement, the nearest looser value at which a candidate meets all that is asked.

    Every other requirement stays as it is: what would stay undecided or fail for another reason is not admitted.
    """
    found = []
    for model in dict.fromkeys(one.candidate.model for one in judged):
        near: dict[str, tuple[float, Notch]] = {}
        for one in judged:
            c = one.candidate
            if c.model != model or one.answer not in {Answer.FAILS, Answer.UNDECIDED}:
                continue
            for loosened, distance, notch in _loosened(c, wanted):
                if _judge(c, loosened).answer is not Answer.MEETS:
                    continue
                if notch.option not in near or distance < near[notch.option][0]:
                    near[notch.option] = (distance, notch)
        found += [notch for _, notch in near.values()]
    return found


def _loosened(c: Candidate, wanted: Requirements) -> list[tuple[Requirements, float, Notch]]:
    """Return what is asked with one requirement at the value that this candidate keeps, and how far off that is."""
    left = {k: sum(f.headroom_bytes for f in c.fits if f.kind == k) for k in ("RAM", "Flash")}
    accuracy = c.accuracy_interval[0] if c.accuracy_interval else None
    seconds: float | None = c.band_s[1] if c.band_s else None
    kept: list[tuple[str, float | None, Callable[[float], str]]] = [
        ("max_latency_s", _up(seconds) if seconds else None, show_seconds),
        ("max_ram_bytes", c.ram_bytes, show_bytes),
        ("max_flash_bytes", c.flash_bytes, show_bytes),
        ("max_price", c.price, lambda value: f"{value:g}"),
        ("min_accuracy", math.floor(accuracy * 1000) / 1000 if accuracy else None, lambda v: f"{v:.1%}"),
        ("reserve_ram_bytes", left["RAM"] if c.fits else None, show_bytes),
        ("reserve_flash_bytes", left["Flash"] if c.fits else None, show_bytes),
    ]  # fmt: skip
    found = []
    for name, value, show in kept:
        now = getattr(wanted, name)
        if value is None or now is None or value < 0:
            continue
        distance = value - now if name.startswith("max") else now - value
        if distance > 0:
            option = "--" + name.removesuffix("_s").removesuffix("_bytes").replace("_", "-")
            notch = Notch(option, show(now), show(value), f"{c.board} {c.model} {c.scheme}")
            asked: dict[str, Any] = {name: value}
            found.append((replace(wanted, **asked), distance, notch))
    return found


def _up(value: float) -> float:
    """Return the value rounded up to three significant digits, as `show_seconds` shows them."""
    step = 10.0 ** (math.floor(math.log10(value)) - 2)
    return math.ceil(value / step - 1e-9) * step


def read_prices(path: Path) -> dict[str, float]:
    """Return prices by board id from a CSV of `board,price[,anything]`; an empty price is not filled in.

    Raises:
        BoardFileError: a line that is no price.
    """
    prices: dict[str, float] = {}
    for number, line in enumerate(path.read_text().splitlines(), 1):
        cells = [cell.strip() for cell in line.split(",")]
        if not line.strip() or line.startswith("#") or cells[0] == "board":
            continue
        if len(cells) < 2 or not cells[1]:
            continue
        try:
            prices[cells[0]] = float(cells[1])
        except ValueError as error:
            raise BoardFileError(f"{cells[1]!r} is no price", where=f"{path}:{number}") from error
        if not 0 <= prices[cells[0]] < math.inf:
            raise BoardFileError(f"{cells[1]!r} is no price", where=f"{path}:{number}")
    return prices
