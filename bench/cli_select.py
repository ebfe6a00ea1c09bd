"""Commands that choose: `bench select` ranks boards under requirements, `bench report` shows all records on one page."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from bench.catalogue import known_boards, memories_of
from bench.cli_decide import JSON, RECORDS, console, folders, load_told, of_models, plain
from bench.errors import InputError
from bench.quantity import parse_bytes, parse_seconds, show_bytes, show_seconds

if TYPE_CHECKING:
    import pandas as pd

    from bench.select import Candidate, Judged, Notch, Requirements


def register(app: typer.Typer) -> None:
    """Add this module's commands to the `bench` command."""
    app.command()(select)
    app.command()(report)


def select(
    results: Annotated[list[Path] | None, RECORDS] = None,
    model: Annotated[list[str] | None, typer.Option(help="Only these models (repeatable).")] = None,
    max_latency: Annotated[str | None, typer.Option(help="e.g. 50ms")] = None,
    max_ram: Annotated[str | None, typer.Option(help="e.g. 128KB (1 KB is 1,024 bytes)")] = None,
    max_flash: Annotated[str | None, typer.Option(help="e.g. 512KB")] = None,
    min_accuracy: Annotated[
        float | None, typer.Option(help="top-1 on the device, e.g. 0.9")
    ] = None,
    reserve_ram: Annotated[str, typer.Option(help="RAM that must stay free.")] = "0",
    reserve_flash: Annotated[str, typer.Option(help="Flash that must stay free.")] = "0",
    max_price: Annotated[float | None, typer.Option(help="Needs --prices.")] = None,
    prices: Annotated[
        Path | None, typer.Option(help="CSV of board,price that you filled in.")
    ] = None,
    plots: Annotated[
        Path | None,
        typer.Option(
            "--charts",
            metavar="FOLDER",
            help="Write Pareto charts there as SVG: latency against RAM, Flash and top-1.",
        ),
    ] = None,
    *,
    as_json: Annotated[bool, JSON] = False,
) -> None:
    """Rank boards for models under requirements, with the reason of each rejection. Exit 1 if none is left."""
    from bench import select as selecting  # noqa: PLC0415  as above

    wanted = _requirements(
        max_latency, max_ram, max_flash, min_accuracy, max_price, prices, reserve_ram, reserve_flash
    )
    judged = judged_candidates(load_told(folders(results)), wanted, prices, model or [])
    notches = selecting.sensitivity(judged, wanted)
    if as_json:
        typer.echo(
            json.dumps({"candidates": plain(judged), "sensitivity": plain(notches)}, indent=1)
        )
    else:
        _print_selection(judged, notches)
    if plots is not None:
        _write_charts(judged, plots)
    if not any(one.answer is selecting.Answer.MEETS for one in judged):
        raise typer.Exit(1)


def _write_charts(judged: Sequence[Judged], folder: Path) -> None:
    from bench.report import charts, pareto_charts  # noqa: PLC0415  matplotlib only where it is needed

    made = pareto_charts(judged)
    folder.mkdir(parents=True, exist_ok=True)
    for title, svg in made:
        name = re.sub(r"[^a-z0-9_]+", "-", title.lower()).strip("-")
        (folder / f"{name}.svg").write_text(charts.standalone(svg))
    few = "" if made else ": a chart takes two boards with a latency in seconds"
    typer.echo(f"{folder}: {len(made)} charts{few}", err=True)


def _requirements(
    max_latency: str | None,
    max_ram: str | None,
    max_flash: str | None,
    min_accuracy: float | None,
    max_price: float | None,
    prices: Path | None,
    reserve_ram: str,
    reserve_flash: str,
) -> Requirements:
    from bench.select import Requirements  # noqa: PLC0415  as above

    if min_accuracy is not None and not 0 <= min_accuracy <= 1:
        raise InputError(
            f"--min-accuracy={min_accuracy:g} is no part of the answers", hint="0.9 is 90 %"
        )
    if max_price is not None and prices is None:
        raise InputError(
            "--max-price needs prices", hint="--prices=FILE, a CSV of board,price: none is invented"
        )
    return Requirements(
        max_latency_s=parse_seconds(max_latency) if max_latency else None,
        max_ram_bytes=parse_bytes(max_ram) if max_ram else None,
        max_flash_bytes=parse_bytes(max_flash) if max_flash else None,
        min_accuracy=min_accuracy,
        max_price=max_price,
        reserve_ram_bytes=parse_bytes(reserve_ram),
        reserve_flash_bytes=parse_bytes(reserve_flash),
    )


def report(
    out: Annotated[Path, typer.Argument(help="The HTML file to write.")] = Path("report.html"),
    results: Annotated[list[Path] | None, RECORDS] = None,
    max_latency: Annotated[
        str | None, typer.Option(help="As of `bench select`, and so below.")
    ] = None,
    max_ram: Annotated[str | None, typer.Option()] = None,
    max_flash: Annotated[str | None, typer.Option()] = None,
    min_accuracy: Annotated[float | None, typer.Option()] = None,
    reserve_ram: Annotated[str, typer.Option()] = "0",
    reserve_flash: Annotated[str, typer.Option()] = "0",
    max_price: Annotated[float | None, typer.Option()] = None,
    prices: Annotated[Path | None, typer.Option()] = None,
) -> None:
    """Write all records as one self-contained HTML page: overview, selection, models, trends, provenance."""
    from bench import report as reporting  # noqa: PLC0415  matplotlib only where a page is made
    from bench import select as selecting  # noqa: PLC0415  as above

    found = load_told(folders(results))
    wanted = _requirements(
        max_latency, max_ram, max_flash, min_accuracy, max_price, prices, reserve_ram, reserve_flash
    )
    judged = judged_candidates(found, wanted, prices, [])
    made = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    text = reporting.page(found, judged, wanted, selecting.sensitivity(judged, wanted), made)
    out.write_text(text)
    typer.echo(f"{out}: {len(text) / 1e6:.1f} MB, opens from disk")


def judged_candidates(
    found: pd.DataFrame, wanted: Requirements, prices: Path | None, models: Sequence[str]
) -> list[Judged]:
    """Return the candidates among the latest records, judged, and a `not run` for each empty cell of the matrix."""
    from bench import frame  # noqa: PLC0415  as above
    from bench import select as selecting  # noqa: PLC0415  as above

    if found.empty:
        raise InputError("there are no records to choose among", hint="`make bench` makes some")
    found = of_models(found, models)
    usable = frame.latest(found[found["status"] != "invalid"])
    known = {
        name: board
        for name, board in known_boards().items()
        if board.host is None and not (board.qemu is not None and board.qemu.twins_only)
    }
    memories = {name: memories_of(board) for name, board in known.items()}
    costs = selecting.read_prices(prices) if prices is not None else {}
    if strangers := sorted(costs.keys() - known.keys()):
        typer.echo(f"{prices}: no board of the lab: {', '.join(strangers)}", err=True)
    candidates = selecting.candidates(usable, memories, costs)
    there = {(c.board, c.model) for c in candidates}
    failed = {
        (str(r["board"]), str(r["model"])): str(r["issues"])
        for r in frame.runs(found).to_dict("records")
    }
    wanted_models = models or sorted({c.model for c in candidates})
    for board in known.values():
        for name in wanted_models:
            if (board.id, name) not in there:
                candidates.append(
                    selecting.missing(board.id, board.cpu, name, failed.get((board.id, name), ""))
                )
    return selecting.judge(candidates, wanted)


def _print_selection(judged: Sequence[Judged], notches: Sequence[Notch]) -> None:
    console().print(_matrix(judged))
    priced = any(one.candidate.price is not None for one in judged)
    for model in dict.fromkeys(one.candidate.model for one in judged):
        mine = [one for one in judged if one.candidate.model == model]
        if any(one.answer.value != "not run" for one in mine):
            console().print(_ranking(model, mine, priced=priced))
    typer.echo(
        "silicon stands above and apart from estimates; overlapping bands share a rank\n"
        "* nothing of the same evidence is surely better in all of latency, RAM, Flash and accuracy"
    )
    for notch in notches:
        typer.echo(f"{notch.option}: {notch.now} → {notch.then} would admit {notch.admits}")


def _ranking(model: str, judged: Sequence[Judged], *, priced: bool) -> Table:
    table = Table(title=model, title_justify="left", header_style="bold")
    for heading in (
        *("rank", "board", "scheme", "evidence", "latency", "band", "RAM", "Flash"),
        *("RAM left", "Flash left", "top-1", *(["price"] if priced else []), "answer", "why"),
    ):
        right = heading in {"rank", "RAM", "Flash", "latency", "RAM left", "Flash left", "price"}
        table.add_column(heading, justify="right" if right else "left", no_wrap=heading != "why")
    for one in judged:
        c = one.candidate
        if one.answer.value == "not run":
            continue
        left = [
            sum(f.headroom_bytes for f in c.fits if f.kind == kind) for kind in ("RAM", "Flash")
        ]
        why = list(one.reasons)
        if c.image == "lab":
            why.append("sizes of the lab image: upper bound")
        table.add_row(
            f"{one.rank}{' *' if one.pareto else ''}" if one.rank else "-",
            c.place,
            c.scheme,
            c.evidence or "-",
            *_latency_texts(c),
            show_bytes(c.ram_bytes) if c.ram_bytes is not None else "-",
            show_bytes(c.flash_bytes) if c.flash_bytes is not None else "-",
            *(show_bytes(size) if c.fits else "-" for size in left),
            f"{c.accuracy:.1%}" if c.accuracy is not None else "-",
            *([f"{c.price:g}" if c.price is not None else "-"] if priced else []),
            one.answer.value,
            "; ".join(why),
        )
    return table


def _latency_texts(c: Candidate) -> tuple[str, str]:
    """Return the latency and its band."""
    if c.latency is None:
        return "-", ""
    if c.latency_s is None or c.band_s is None:
        return f"{c.latency:,.0f} {c.latency_unit}", "no time"
    if c.band_s[0] == c.band_s[1]:
        return show_seconds(c.latency_s), ""
    band = f"{show_seconds(c.band_s[0])} to {show_seconds(c.band_s[1])}"
    return show_seconds(c.latency_s), f"{band}{', ' if c.band_note else ''}{c.band_note}"


def _matrix(judged: Sequence[Judged]) -> Table:
    models = sorted({j.candidate.model for j in judged})
    cells: dict[tuple[str, str], str] = {}
    for one in judged:
        c = one.candidate
        short = [f for f in c.fits if f.headroom_bytes < 0]
        text = (
            "; ".join(f"{f.memory} {f.headroom_bytes:,} B" for f in short)
            or ("fits" if c.fits else "memory unknown")
            if one.answer.value != "not run"
            else "not run"
        )
        text += " (upper bound)" if short and c.image == "lab" else ""
        key = (c.board, c.model)
        cells[key] = text if cells.get(key, text) == text else f"{cells[key]} | {c.scheme}: {text}"
    table = Table(title="does it fit", title_justify="left", header_style="bold")
    for heading in ("board", *models):
        table.add_column(heading)
    for board in sorted({board for board, _ in cells}):
        table.add_row(board, *(cells.get((board, name), "not run") for name in models))
    return table
