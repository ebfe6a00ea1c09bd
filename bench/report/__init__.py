"""`bench report`: all records as one self-contained page, without network and without anything to install."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import jinja2

from bench import compare, frame, published
from bench import select as selecting
from bench.quantity import show_bytes, show_count, show_seconds
from bench.report import charts
from bench.report.model import Model, model_page
from bench.report.run import MEANING, NONE, Figure, Run, best_latency

if TYPE_CHECKING:
    import pandas as pd

    from bench.fit import Fit
    from bench.published import Ratio
    from bench.select import Candidate, Judged, Notch, Requirements


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
        model_page(name, [run for run in runs if run.facts["model"] == name], found)
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
        meaning=MEANING,
        invalid=frame.runs(found[found["status"] == "invalid"]).to_dict("records")[-20:],
    )
    return text


def _runs(usable: pd.DataFrame) -> list[Run]:
    found = []
    for _, rows in usable.groupby("path", sort=False, observed=True):
        facts = rows.iloc[0].to_dict()
        found.append(Run(facts, rows.to_dict("records"), compare.class_counts(facts)))
    order = {name: index for index, name in enumerate(MEANING)}
    return sorted(
        found,
        key=lambda r: (str(r.facts["scheme"]) != "int8", str(r.facts["scheme"]), str(r.facts["cpu"]), order.get("", 0), str(r.facts["board"])),
    )  # fmt: skip


def _matrix(
    runs: Sequence[Run], boards: Sequence[str], models: Sequence[Model]
) -> list[tuple[str, list[list[tuple[str, Figure, str]]]]]:
    """Return, for each board, a cell a model: (scheme, latency, status)."""
    rows = []
    for board in boards:
        cells = [
            [
                (f"{run.facts['scheme']}{run.twin}", run.timed(best_latency(run)), _status(run))
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
        latency = NONE
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
