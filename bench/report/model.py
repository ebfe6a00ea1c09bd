"""A model's part of the page: what it costs, whether it is right, parts of memory, operators, trends."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from bench import frame
from bench.changes import tool_changes
from bench.noise import spread
from bench.program import is_quantized
from bench.quantity import show_count
from bench.report import charts
from bench.report.run import Figure, Run, best_latency, note

if TYPE_CHECKING:
    import pandas as pd

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
_TREND_RUNS = 60
_TREND_LINES = 6
_OPERATORS = 40
_Cost = tuple[str, str, str | None, str | None]  # heading, measure, unit, evidence
_COSTS: tuple[_Cost, ...] = (
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


def model_page(name: str, runs: Sequence[Run], found: pd.DataFrame) -> Model:
    """Return all that a model's part of the page shows.

    Args:
        name: of the model.
        runs: its latest usable ones.
        found: every record of every night, for the trends.
    """
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
        band = f"{show_count(row['band_low'])} to {show_count(row['band_high'])}{note(row)}"
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
        row = best_latency(run)
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
