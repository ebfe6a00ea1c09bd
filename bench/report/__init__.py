"""`bench report`: all records as one self-contained page, without network and without anything to install."""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import jinja2

from bench import compare, frame, published
from bench import select as selecting
from bench.changes import tool_changes
from bench.noise import spread
from bench.program import is_quantized
from bench.quantity import show, show_bytes, show_count, show_seconds
from bench.record import NOT_ESTABLISHED
from bench.report import charts

if TYPE_CHECKING:
    import pandas as pd

    from bench.fit import Fit
    from bench.published import Ratio
    from bench.select import Candidate, Judged, Notch, Requirements

_FLASH = (
    "flash_weights",
    "flash_program",
    "flash_tables",
    "flash_runtime",
    "flash_kernels",
    "flash_firmware",
)
_RAM = ("ram_planned", "ram_input_output", "ram_scratch", "ram_method", "ram_stack", "ram_static")
_LAB_FLASH = ("pte", "lab_flash_image")
_LAB_RAM = ("lab_ram_planned", "lab_ram_method", "lab_ram_temporary", "lab_ram_stack", "lab_ram_static")  # fmt: skip
_NONE = "\N{EN DASH}"
_BRIEF_FROM = 10_000
_TREND_RUNS = 60
_OPERATORS = 40
_TREND_LINES = 6
_COSTS: tuple[
    tuple[str, str, str | None, str | None], ...
] = (  # heading, measure, unit or evidence
    ("instructions", "latency", None, "count"),
    ("cycles", "latency", "cycles", None),
    ("est. cycles", "latency", None, "estimate"),
    ("first run", "latency_first", None, None),
    ("load", "load", None, None),
    ("load, deployment", "load_deployment", None, None),
    ("RAM", "ram_total", "bytes", None),
    ("Flash", "flash_total", "bytes", None),
)
_NOISY = ("silicon", "fvp", "wallclock")
_MEANING = {
    "silicon": "cycles of a counter on a real part",
    "fvp": "an Arm model: right in what it computes, not in time",
    "wallclock": "a clock of this machine",
    "estimate": "a timing model over exact execution counts, with its band",
    "count": "instructions on an emulator: exact, and no time",
    "emulated": "seen on an emulator",
    "static": "read from the image or the program",
}


@dataclass(frozen=True)
class Figure:
    """A number as the page shows it.

    Attributes:
        origin: where it comes from, for hovering.
        run_id: the record, for the link.
        more: what is to be read beside it: its band.
    """

    text: str
    origin: str = ""
    run_id: str = ""
    evidence: str = ""
    more: str = ""


def _note(row: Mapping[Any, Any]) -> str:
    return f", {NOT_ESTABLISHED}" if NOT_ESTABLISHED in str(row["source"]) else ""


@dataclass
class Run:
    """A record with its measures, as the page wants it."""

    facts: Mapping[Any, Any]
    measures: Sequence[Mapping[Any, Any]]
    counts: tuple[int, ...] | None = None

    @property
    def name(self) -> str:
        """How rows call it."""
        return f"{self.facts['board']}{self.twin} {self.facts['scheme']}" + (
            f" {self.facts['engine']}" if self.facts["engine"] != "lab" else ""
        )

    @property
    def twin(self) -> str:
        """What marks a board that was not there: its image's sizes, and counts of the same code elsewhere."""
        return " (twin)" if self.facts["attachment"] == "twin" else ""

    def find(self, name: str, unit: str | None = None, evidence: str | None = None) -> Mapping[Any, Any] | None:  # fmt: skip
        """Return a measure, None if the run has none of it."""
        for row in self.measures:
            if row["measure"] == name and unit in (None, row["unit"]) and evidence in (None, row["evidence"]):  # fmt: skip
                return row
        return None

    def brief(self, row: Mapping[Any, Any] | None) -> Figure:
        """Return a measure in three digits, the whole one in its origin."""
        whole = self.figure(row)
        if row is None or float(row["median"]) < _BRIEF_FROM:
            return whole
        ends = (row["band_low"], row["band_high"]) if row["band_low"] == row["band_low"] else ()
        text = show_count(float(row["median"]), *ends)
        unit = {"instructions": "instr."}.get(str(row["unit"]), str(row["unit"]))
        return Figure(
            f"{text} {unit}{_note(row)}",
            f"{whole.text}. {whole.origin}",
            whole.run_id,
            whole.evidence,
        )

    def timed(self, row: Mapping[Any, Any] | None) -> Figure:
        """Return a latency as time where it is known, with its band and count beside it; else as `brief` does."""
        brief = self.brief(row)
        if row is None or row["unit"] not in {"cycles", "est_cycles"}:
            return brief
        hz = float(self.facts["clock_hz"])
        more = f"{show_count(float(row['median']))} {str(row['unit']).replace('est_', 'est. ')}"
        if row["band_low"] == row["band_low"]:
            band = f"{show_seconds(row['band_low'] / hz)} to {show_seconds(row['band_high'] / hz)}"
            more = f"{band}, {more}{_note(row)}"
        text = show_seconds(float(row["median"]) / hz)
        return Figure(text, f"{text} at {hz / 1e6:g} MHz. {self.figure(row).text}. {brief.origin}", brief.run_id, brief.evidence, more)  # fmt: skip

    def figure(self, row: Mapping[Any, Any] | None) -> Figure:
        """Return a measure as text with its origin."""
        if row is None:
            return Figure(_NONE)
        text = show(float(row["median"]), str(row["unit"]))
        if row["unit"] == "fraction" and row["low"] == row["low"]:  # a NaN is not itself
            text += f" [{row['low']:.1%}, {row['high']:.1%}]"
        if row["band_low"] == row["band_low"]:
            text += f" ({row['band_low']:,.0f} to {row['band_high']:,.0f}){_note(row)}"
        origin = f"{row['measure']}: {row['evidence']}, {_MEANING.get(str(row['evidence']), '')}. {row['source']} Run {self.facts['run_id']}, {self.facts['time_utc']}, commit {str(self.facts['commit'])[:12]}{' dirty' if self.facts['dirty'] else ''}."
        return Figure(text, origin, str(self.facts["run_id"]), str(row["evidence"]))


@dataclass
class Model:
    """A model's page."""

    name: str
    runs: list[Run]
    operators: list[tuple[str, str, list[str]]] = field(default_factory=list)
    flash: str = ""
    ram: str = ""
    trends: list[str] = field(default_factory=list)
    versions: list[str] = field(default_factory=list)
    cost_names: list[str] = field(default_factory=list)
    costs: list[tuple[Run, list[Figure]]] = field(default_factory=list)
    correctness: list[Mapping[str, Any]] = field(default_factory=list)


def page(
    found: pd.DataFrame,
    judged: Sequence[Judged],
    wanted: Requirements,
    notches: Sequence[Notch],
    made_utc: str,
) -> str:
    """Return the whole page.

    Args:
        found: every record.
        judged: candidates of the selection.
        wanted: what was asked of them.
        notches: what the next notch would admit.
        made_utc: when the page is made.
    """
    usable = frame.latest(found[found["status"] != "invalid"])
    runs = _runs(usable)
    models = [
        _model(name, [run for run in runs if run.facts["model"] == name], found)
        for name in sorted({str(run.facts["model"]) for run in runs})
    ]
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("bench.report", "."),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters |= {"bytes": show_bytes, "count3": show_count, "json": json.loads}
    boards = sorted({str(run.facts["board"]) for run in runs})
    text: str = environment.get_template("page.html.j2").render(
        made_utc=made_utc,
        left_out=found.attrs.get("left_out", []),
        count=found["path"].nunique(),
        boards=boards,
        models=models,
        matrix=_matrix(runs, boards, models),
        judged=_by_model(judged),
        fits=_fits(judged),
        asked=_asked(wanted),
        notches=notches,
        pareto=pareto_charts(judged),
        published=_published(published.ratios([one.candidate for one in judged])),
        priced=any(one.candidate.price is not None for one in judged),
        runs=runs,
        meaning=_MEANING,
        invalid=frame.runs(found[found["status"] == "invalid"]).to_dict("records")[-20:],
    )
    return text


def _runs(usable: pd.DataFrame) -> list[Run]:
    found = []
    for _, rows in usable.groupby("path", sort=False, observed=True):
        facts = rows.iloc[0].to_dict()
        found.append(Run(facts, rows.to_dict("records"), compare.class_counts(facts)))
    order = {name: index for index, name in enumerate(_MEANING)}
    return sorted(
        found,
        key=lambda r: (str(r.facts["scheme"]) != "int8", str(r.facts["scheme"]), str(r.facts["cpu"]), order.get("", 0), str(r.facts["board"])),
    )  # fmt: skip


def _best_latency(run: Run) -> Mapping[Any, Any] | None:
    for evidence in ("silicon", "fvp", "wallclock", "estimate", "count"):
        for name in ("latency", "latency_first"):
            row = run.find(name, evidence=evidence)
            if row is not None:
                return row
    return None


def _matrix(
    runs: Sequence[Run], boards: Sequence[str], models: Sequence[Model]
) -> list[tuple[str, list[list[tuple[str, Figure, str]]]]]:
    """Return, for each board, a cell a model: (scheme, latency, status)."""
    rows = []
    for board in boards:
        cells = [
            [
                (f"{run.facts['scheme']}{run.twin}", run.timed(_best_latency(run)), _status(run))
                for run in runs
                if run.facts["board"] == board and run.facts["model"] == model.name
            ]
            for model in models
        ]
        rows.append((board, cells))
    return rows


def _status(run: Run) -> str:
    status = str(run.facts["status"])
    wrong = run.find("mismatch_host_int8", "elements")
    if wrong is not None and wrong["median"] > 0:
        return "differs from host int8"
    return "" if status == "valid" else status


def _by_model(judged: Sequence[Judged]) -> dict[str, list[Mapping[str, Any]]]:
    found: dict[str, list[Mapping[str, Any]]] = {}
    for one in judged:
        found.setdefault(one.candidate.model, []).append(_judged(one))
    return found


def _judged(one: Judged) -> Mapping[str, Any]:
    c, band = one.candidate, ""
    if c.latency_s is not None and c.band_s is not None:
        latency = show_seconds(c.latency_s)
        if c.band_s[0] != c.band_s[1]:
            band = f"{show_seconds(c.band_s[0])} to {show_seconds(c.band_s[1])}{', ' if c.band_note else ''}{c.band_note}"
    elif c.latency is not None:
        latency, band = f"{show_count(c.latency)} instr.", "no time"
    else:
        latency = _NONE
    left = {k: sum(f.headroom_bytes for f in c.fits if f.kind == k) for k in ("RAM", "Flash")}
    return {"one": one, "c": c, "latency": latency, "band": band, "left": left if c.fits else {}}


def _published(ratios: Sequence[Ratio]) -> list[Mapping[str, Any]]:
    """Return a table for each model and core: a row each published point, a column each run of ours."""
    tables: dict[tuple[str, str], list[Ratio]] = {}
    for ratio in ratios:
        tables.setdefault((ratio.model, ratio.core), []).append(ratio)
    found: list[Mapping[str, Any]] = []
    for (model, core), mine in tables.items():
        ours = {r.run_id: r for r in mine}
        points: dict[tuple[str, ...], dict[str, Ratio]] = {}
        for r in sorted(mine, key=lambda r: r.theirs_cycles):
            point = (r.their_board, r.stack, r.published_round, r.submitter, f"{r.theirs_cycles}")
            points.setdefault(point, {})[r.run_id] = r
        rows = [
            (next(iter(by_run.values())), [by_run[run] for run in ours]) for by_run in points.values()
        ]  # fmt: skip
        found.append({"model": model, "core": core, "ours": list(ours.values()), "rows": rows})
    return found


def _fits(judged: Sequence[Judged]) -> list[tuple[Candidate, list[Fit]]]:
    return [(one.candidate, list(one.candidate.fits)) for one in judged if one.candidate.fits]


def _asked(wanted: Requirements) -> list[str]:
    told = []
    if wanted.max_latency_s is not None:
        told.append(f"latency up to {show_seconds(wanted.max_latency_s)}")
    if wanted.max_ram_bytes is not None:
        told.append(f"RAM up to {show_bytes(wanted.max_ram_bytes)}")
    if wanted.max_flash_bytes is not None:
        told.append(f"Flash up to {show_bytes(wanted.max_flash_bytes)}")
    if wanted.min_accuracy is not None:
        told.append(f"top-1 from {wanted.min_accuracy:.1%}")
    if wanted.max_price is not None:
        told.append(f"price up to {wanted.max_price:g}")
    if wanted.reserve_ram_bytes:
        told.append(f"{show_bytes(wanted.reserve_ram_bytes)} of RAM left")
    if wanted.reserve_flash_bytes:
        told.append(f"{show_bytes(wanted.reserve_flash_bytes)} of Flash left")
    return told


def pareto_charts(judged: Sequence[Judged]) -> list[tuple[str, str]]:
    """Return (title, chart) for each model and kind of evidence with a time: against RAM, Flash and accuracy."""
    found = []
    timed = [one for one in judged if one.candidate.latency_s is not None and one.candidate.band_s is not None]  # fmt: skip
    for model in sorted({one.candidate.model for one in timed}):
        for evidence in selecting.RANKED:
            mine = [o for o in timed if o.candidate.model == model and o.candidate.evidence == evidence]  # fmt: skip
            for name, label, scale in (
                ("ram_bytes", "RAM, KB", 1 / 1024),
                ("flash_bytes", "Flash, KB", 1 / 1024),
                ("accuracy", "top-1, %", 100.0),
            ):
                points = [
                    charts.Point(o.candidate.board, o.candidate.latency_s * 1e3, o.candidate.band_s[0] * 1e3, o.candidate.band_s[1] * 1e3, value * scale, o.pareto, o.candidate.scheme)
                    for o in mine
                    if (value := getattr(o.candidate, name)) is not None and o.candidate.latency_s is not None and o.candidate.band_s is not None
                ]  # fmt: skip
                if len(points) >= 2:
                    title = f"{model}, {evidence}: latency against {label.split(',')[0]}"
                    found.append((title, charts.pareto(points, f"latency, ms ({evidence})", label)))
    return found


def _model(name: str, runs: Sequence[Run], found: pd.DataFrame) -> Model:
    made = Model(name, list(runs))
    made.flash = _breakdown(runs, _FLASH, _LAB_FLASH)
    made.ram = _breakdown(runs, _RAM, _LAB_RAM)
    there = [what for what in _COSTS if any(run.find(*what[1:]) is not None for run in runs)]
    made.cost_names = [heading for heading, *_ in there]
    made.costs = [(run, [_cost(run, n, u, e) for _, n, u, e in there]) for run in runs]
    for mine, chart in _operators(runs):
        names = ", ".join(run.name for run in mine)
        made.operators.append((names, chart, [str(run.facts["run_id"]) for run in mine]))
    made.correctness = [_correctness(run) for run in runs]
    made.trends, made.versions = _trends(runs, found[found["model"] == name])
    return made


def _cost(run: Run, name: str, unit: str | None, evidence: str | None) -> Figure:
    """Return a figure for a column that says its unit: a count in three digits, its band beside it."""
    row = run.find(name, unit, evidence)
    if row is None or unit == "bytes":
        return run.figure(row)
    whole = run.brief(row)
    band = ""
    if row["band_low"] == row["band_low"]:
        band = f"{show_count(row['band_low'])} to {show_count(row['band_high'])}{_note(row)}"
    short = show_count(float(row["median"])) if evidence or unit else whole.text
    return Figure(short, f"{run.figure(row).text}. {whole.origin}", whole.run_id, whole.evidence, band)  # fmt: skip


def _operators(runs: Sequence[Run]) -> list[tuple[list[Run], str]]:
    """Return a chart for each run, one for all that counted the same (boards of one core do)."""
    alike: dict[tuple[Any, ...], list[Run]] = {}
    for run in runs:
        table = frame.read_beside(run.facts, "operators.json")
        if not table or not table["rows"]:
            continue
        rows = sorted(table["rows"], key=lambda r: -r[table["unit"]])[:_OPERATORS]
        rows.sort(key=lambda r: r["index"])
        labels = [f"{r['index']} {r['operator'].split('::')[-1].removesuffix('.out')} {r['layer']}".strip() for r in rows]  # fmt: skip
        shown = (labels, [r[table["unit"]] for r in rows], [r["kind"] for r in rows])
        what = f"{table['unit']} ({table['evidence']})"
        alike.setdefault((*map(tuple, shown), what), []).append(run)
    return [
        (mine, charts.bars(labels, values, what, kinds))
        for (labels, values, kinds, what), mine in alike.items()
    ]


def _breakdown(runs: Sequence[Run], parts: Sequence[str], lab: Sequence[str]) -> str:
    shipped = [run for run in runs if run.find(parts[0]) is not None]
    chosen, names = (shipped, parts) if shipped else (list(runs), lab)
    chosen = [run for run in chosen if run.find(names[0]) is not None]
    if not chosen:
        return ""
    values = [
        [float(row["median"]) if (row := run.find(part)) is not None else 0.0 for part in names]
        for run in chosen
    ]
    unit = "bytes, deployment image" if shipped else "bytes, lab image: upper bound"
    labels = [part.removeprefix("lab_").split("_", 1)[-1].replace("_", " ") if part != "pte" else "program (.pte)" for part in names]  # fmt: skip
    return charts.stacked([run.name for run in chosen], labels, values, unit)


def _correctness(run: Run) -> Mapping[str, Any]:
    wrong = run.find("mismatch_host_int8", "elements")
    snr = run.find("error_float", "dB")
    if wrong is not None:
        state = "equal to host int8" if wrong["median"] == 0 else "differs from host int8"
    elif is_quantized(str(run.facts["scheme"])):
        state = "inconclusive: no host reference"
    else:
        state = "float: compared with torch" if snr is not None else "inconclusive: no reference"
    counts = run.counts
    # of a ready .pte, which comes without any reference, nobody knows
    untrained = not run.facts["trained"] and (wrong is not None or snr is not None)
    most = max(counts) if counts else 0
    return {
        "run": run,
        "state": state,
        "wrong": run.figure(wrong),
        "of": int(wrong["n"]) if wrong is not None and wrong["n"] == wrong["n"] else None,
        "steps": run.figure(run.find("mismatch_host_int8", "steps")),
        "snr": run.figure(snr),
        "device": Figure("untrained") if untrained else run.figure(run.find("top1_device")),
        "host": run.figure(run.find("top1_host_int8")),
        "float": run.figure(run.find("top1_float")),
        "counts": [(c, 100 * c / most if most else 0) for c in counts] if counts else [],
    }


def _trends(runs: Sequence[Run], found: pd.DataFrame) -> tuple[list[str], list[str]]:
    """Return the latency of every run over its history, a few lines a chart, and which versions changed when."""
    series = []
    changes: dict[str, list[str]] = {}
    usable = found[found["status"] != "invalid"]
    for run in runs:
        row = _best_latency(run)
        if row is None:
            continue
        if row["evidence"] == "estimate":  # the count below it is exact, and older
            row = run.find("latency", evidence="count") or row
        same = usable[usable["workload_id"] == run.facts["workload_id"]]
        for key in ("board", "device", "scheme", "engine"):
            same = same[same[key] == run.facts[key]]
        for key in ("measure", "unit", "evidence"):
            same = same[same[key] == row[key]]
        same = same.tail(_TREND_RUNS)
        values = [float(value) for value in same["median"]]
        if len(values) < 2 or not values[-1]:
            continue
        tools = [f"{t}{c}" for t, c in zip(same["tools"], same["compiler"], strict=True)]
        past = same.to_dict("records")
        for before, after in itertools.pairwise(past):
            what = tool_changes(before, after)
            if before["compiler"] != after["compiler"]:
                what.append(f"compiler: {before['compiler']} → {after['compiler']}")
            if what:
                text = f"{after['time_utc'][:10]}: {', '.join(what)}"
                changes.setdefault(text, []).append(run.name)
        noise = 2 * spread(values) / abs(values[-1]) * 100 if row["evidence"] in _NOISY else 0.0
        series.append(
            charts.Series(
                f"{run.name} ({row['evidence']})",
                [100 * (value / values[-1] - 1) for value in values],
                noise,
                [i for i in range(1, len(tools)) if tools[i] != tools[i - 1]],
                [i for i, retries in enumerate(same["retries"]) if retries],
            )
        )
    told = [f"{text} ({', '.join(names)})" for text, names in sorted(changes.items())]
    return [
        charts.trend(series[at : at + _TREND_LINES], "latency, % of the newest")
        for at in range(0, len(series), _TREND_LINES)
    ], told
