"""Commands that turn records into decisions; `bench.cli` registers them."""

from __future__ import annotations

import dataclasses
import json
import math
import re
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from bench.catalogue import find_boards, known_boards, memories_of
from bench.errors import InputError, UnknownNameError, nearest
from bench.quantity import parse_bytes, parse_seconds, show, show_bytes, show_seconds
from bench.store import RESULTS

if TYPE_CHECKING:
    import pandas as pd

    from bench.compare import Pair
    from bench.select import Candidate, Judged, Notch, Requirements

_SHOWN = 12
_baseline = typer.Typer(
    no_args_is_help=True, help="The committed figures of the emulated boards, and what changed."
)
_RECORDS = typer.Option(
    "--results", help="Folder of records (repeatable); default: results/.", show_default=False
)
_FILE = typer.Option("--file", help="The baselines.", show_default=False)
_JSON = typer.Option("--json", help="Print JSON for a machine instead of a table.")


def register(app: typer.Typer) -> None:
    """Add this module's commands to the `bench` command."""
    app.command()(compare)
    app.command()(select)
    app.command()(nightly)
    app.command()(report)
    app.add_typer(_baseline, name="baseline")


def _console() -> Console:
    return Console(width=None if sys.stdout.isatty() else 240)


def _folders(given: list[Path] | None) -> list[Path]:
    return given or [RESULTS]


def compare(
    a: Annotated[
        str,
        typer.Argument(
            help="A run id, a commit, a record's path, or key=value[,key=value] (board, model, scheme, engine, commit, core)."
        ),
    ],
    b: Annotated[str, typer.Argument(help="The same, for what it is compared with.")],
    results: Annotated[list[Path] | None, _RECORDS] = None,
    *,
    unlike: Annotated[
        bool, typer.Option("--unlike", help="Compare unlike workloads too, labelled.")
    ] = False,
    every: Annotated[bool, typer.Option("--all", help="Also measures that are the same.")] = False,
    as_json: Annotated[bool, _JSON] = False,
) -> None:
    """Say what changed from A to B: measures with their noise, operators, program and symbols. Exit 1 if any is worse."""
    from bench import compare as comparing  # noqa: PLC0415  pandas only where a command needs it

    found = load_told(_folders(results))
    sides = [comparing.select_runs(found, text) for text in (a, b)]
    told = comparing.compare(sides[0], sides[1], found, unlike=unlike)
    if as_json:
        typer.echo(json.dumps(_plain(told), indent=1))
    else:
        for pair in told.pairs:
            _print_pair(pair, every=every)
        for text in told.alone:
            typer.echo(text)
    if all(pair.refused for pair in told.pairs):
        raise InputError(
            "no pair of runs is of like workloads", hint="--unlike compares them, labelled"
        )
    if any(pair.worse for pair in told.pairs):
        raise typer.Exit(1)


def _plain(value: Any) -> Any:
    """Return dataclasses as what JSON has; what is not a number is null."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: _plain(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items() if key != "values"}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if isinstance(value, str | int | float | bool) or value is None else str(value)


def _print_pair(pair: Pair, *, every: bool) -> None:
    from bench.compare import Verdict  # noqa: PLC0415  as above

    names = [
        f"{r['board']} {r['model']} {r['scheme']} {r['engine']} {r['run_id']} ({str(r['commit'])[:8]})"
        for r in (pair.before, pair.after)
    ]
    table = Table(title=f"{names[0]}  →  {names[1]}", title_justify="left", header_style="bold")
    for heading in ("measure", "evidence", "A", "B", "change", "verdict", "by what"):
        table.add_column(heading, justify="right" if heading in {"A", "B", "change"} else "left")
    same = 0
    for row in pair.rows:
        if row.verdict is Verdict.SAME and not every:
            same += 1
            continue
        change = (
            f"{row.relative:+.2%}" if row.relative is not None else f"{row.after - row.before:+,g}"
        )
        table.add_row(
            row.measure,
            row.evidence,
            show(row.before, row.unit),
            show(row.after, row.unit),
            change,
            row.verdict.value,
            row.noise,
        )
    _console().print(table)
    for text in (*([pair.refused] if pair.refused else []), *pair.labels):
        typer.echo(f"  {text}")
    if same:
        typer.echo(f"  {same} measures are the same (--all shows them)")
    for text in (*pair.only, *pair.program, *pair.image):
        typer.echo(f"  {text}")
    for title, unit, deltas in (
        ("operators", "instructions", pair.operators),
        ("symbols", "B", pair.symbols),
    ):
        for delta in deltas[:_SHOWN]:
            typer.echo(
                f"  {title}: {delta.name}: {delta.before:,.0f} → {delta.after:,.0f} {unit} ({delta.after - delta.before:+,.0f})"
            )
        if len(deltas) > _SHOWN:
            typer.echo(f"  {title}: and {len(deltas) - _SHOWN} more (--json has all)")


def select(
    results: Annotated[list[Path] | None, _RECORDS] = None,
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
    as_json: Annotated[bool, _JSON] = False,
) -> None:
    """Rank boards for models under requirements, with the reason of each rejection. Exit 1 if none is left."""
    from bench import select as selecting  # noqa: PLC0415  as above

    if max_price is not None and prices is None:
        raise InputError(
            "--max-price needs prices", hint="--prices=FILE, a CSV of board,price: none is invented"
        )
    wanted = _requirements(
        max_latency, max_ram, max_flash, min_accuracy, max_price, reserve_ram, reserve_flash
    )
    judged = judged_candidates(load_told(_folders(results)), wanted, prices, model or [])
    notches = selecting.sensitivity(judged, wanted)
    if as_json:
        typer.echo(
            json.dumps({"candidates": _plain(judged), "sensitivity": _plain(notches)}, indent=1)
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
    reserve_ram: str,
    reserve_flash: str,
) -> Requirements:
    from bench.select import Requirements  # noqa: PLC0415  as above

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
    results: Annotated[list[Path] | None, _RECORDS] = None,
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

    found = load_told(_folders(results))
    if found.empty:
        raise InputError("there are no records to report", hint="`make bench` makes some")
    wanted = _requirements(
        max_latency, max_ram, max_flash, min_accuracy, max_price, reserve_ram, reserve_flash
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

    if models:
        found = found[found["model"].isin(models)]
    usable = frame.latest(found[found["status"] != "invalid"])
    known = {
        name: board
        for name, board in known_boards().items()
        if board.host is None and not (board.qemu is not None and board.qemu.twins_only)
    }
    memories = {name: memories_of(board) for name, board in known.items()}
    costs = selecting.read_prices(prices) if prices is not None else {}
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
    _console().print(_matrix(judged))
    table = Table(
        title="candidates: silicon above and apart from estimates; overlapping bands share a rank",
        title_justify="left",
        header_style="bold",
    )
    for heading in (
        "rank",
        "board",
        "model",
        "scheme",
        "evidence",
        "latency",
        "RAM",
        "Flash",
        "image",
        "headroom RAM / Flash",
        "top-1",
        "answer",
        "why",
    ):
        table.add_column(
            heading, justify="right" if heading in {"rank", "RAM", "Flash", "latency"} else "left"
        )
    for one in judged:
        c = one.candidate
        if one.answer.value == "not run":
            continue
        left = [
            sum(f.headroom_bytes for f in c.fits if f.kind == kind) for kind in ("RAM", "Flash")
        ]
        table.add_row(
            f"{one.rank}{' *' if one.pareto else ''}" if one.rank else "-",
            c.board,
            c.model,
            c.scheme,
            c.evidence or "-",
            _latency_text(c),
            show_bytes(c.ram_bytes) if c.ram_bytes is not None else "-",
            show_bytes(c.flash_bytes) if c.flash_bytes is not None else "-",
            "deployment" if c.image == "deployment" else "lab image: upper bound",
            f"{show_bytes(left[0])} / {show_bytes(left[1])}" if c.fits else "-",
            f"{c.accuracy:.1%}" if c.accuracy is not None else "-",
            one.answer.value,
            "; ".join(one.reasons),
        )
    _console().print(table)
    typer.echo(
        "* nothing of the same evidence is surely better in all of latency, RAM, Flash and accuracy"
    )
    for notch in notches:
        typer.echo(f"{notch.option}: {notch.now} → {notch.then} would admit {notch.admits}")


def _latency_text(c: Candidate) -> str:
    if c.latency is None:
        return "-"
    if c.latency_s is None or c.band_s is None:
        return f"{c.latency:,.0f} {c.latency_unit}, no time"
    text = f"{show_seconds(c.latency_s)}"
    return (
        text
        if c.band_s[0] == c.band_s[1]
        else f"{text} ({show_seconds(c.band_s[0])} to {show_seconds(c.band_s[1])})"
    )


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


@_baseline.command("accept")
def baseline_accept(
    reason: Annotated[str, typer.Option(help="One sentence, kept beside the figures.")],
    results: Annotated[list[Path] | None, _RECORDS] = None,
    board: Annotated[list[str] | None, typer.Option(help="Only these boards.")] = None,
    model: Annotated[list[str] | None, typer.Option(help="Only these models.")] = None,
    file: Annotated[Path, _FILE] = RESULTS / "baselines.json",
) -> None:
    """Make the latest records the baseline, with the reason; for real boards, start their history anew."""
    from bench import baseline  # noqa: PLC0415  pandas only where a command needs it

    latest = _latest(results, board, model)
    newest = latest[latest["commit"] == latest["commit"].iloc[-1]] if len(latest) else latest
    made, count = baseline.accept(baseline.read(file), newest, reason)
    baseline.write(file, made)
    if older := latest["path"].nunique() - newest["path"].nunique():
        typer.echo(f"{older} records of other commits than the newest left out", err=True)
    typer.echo(f"{count} cells accepted in {file}: {reason}")


@_baseline.command("check")
def baseline_check(
    results: Annotated[list[Path] | None, _RECORDS] = None,
    board: Annotated[list[str] | None, typer.Option(help="Only these boards.")] = None,
    model: Annotated[list[str] | None, typer.Option(help="Only these models.")] = None,
    file: Annotated[Path, _FILE] = RESULTS / "baselines.json",
    *,
    as_json: Annotated[bool, _JSON] = False,
) -> None:
    """Compare the latest records with the baseline. Exit 1 for a change that nothing explains."""
    from bench import baseline  # noqa: PLC0415  as above

    found = baseline.gate(baseline.read(file), _latest(results, board, model))
    if as_json:
        typer.echo(json.dumps(_plain(found), indent=1))
    else:
        for one in found:
            typer.echo(f"{one.cell}: {one.state.value}")
            for line in one.lines:
                typer.echo(f"    {line}")
    if any(one.state is baseline.State.CHANGED for one in found):
        if not as_json:
            typer.echo("if that is meant: bench baseline accept --reason='why'")
        raise typer.Exit(1)


def _latest(
    results: list[Path] | None, boards: list[str] | None, models: list[str] | None
) -> pd.DataFrame:
    from bench import frame  # noqa: PLC0415  as above

    found = load_told(_folders(results))
    ids = [b.id for name in boards or [] for b in find_boards(name)]
    if ids:
        found = found[found["board"].isin(ids)]
    if models:
        found = found[found["model"].isin(models)]
    # what an emulator ran with another toolchain is another cell
    return frame.latest(found, (*frame.CELL, "toolchain"))


def nightly(
    policy: Annotated[
        Path | None, typer.Option(help="Policy file (docs/decide.md); default: the defaults.")
    ] = None,
    results: Annotated[Path, typer.Option(help="Folder of records.")] = RESULTS,
    budget: Annotated[
        str | None, typer.Option(help="e.g. 2h: what does not fit is left out.")
    ] = None,
    board: Annotated[list[str] | None, typer.Option(help="Instead of the policy's boards.")] = None,
    model: Annotated[list[str] | None, typer.Option(help="Instead of the policy's models.")] = None,
    file: Annotated[Path, _FILE] = RESULTS / "baselines.json",
    summary: Annotated[Path | None, typer.Option(help="Also write the Markdown here.")] = None,
    junit: Annotated[Path | None, typer.Option(help="Also write the JUnit XML here.")] = None,
) -> None:
    """Run the matrix, keep records, and say what got worse. Exit 0 good, 1 worse, 3 nothing ran."""
    from bench import baseline  # noqa: PLC0415  as above
    from bench import nightly as night_of  # noqa: PLC0415  as above
    from bench.model import list_models  # noqa: PLC0415  only here
    from bench.policy import read_policy  # noqa: PLC0415  as above

    rules = read_policy(policy)
    ids = dict.fromkeys(b.id for name in board or rules.boards for b in find_boards(name))
    cells = tuple(
        night_of.Cell(one, name, scheme)
        for one in ids
        for name in model or rules.models or list_models()
        for scheme in rules.schemes
    )
    folder = results.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    with night_of.only_one(folder):
        bench = night_of.Bench(
            rules,
            cells,
            folder,
            baseline.read(file),
            lambda cell, into: night_of.run_cell(cell, into, rules.pytest_args),
            lambda text: typer.echo(text, err=True),
            parse_seconds(budget) if budget else None,
        )
        night = night_of.run_night(bench)
        kept = night_of.keep(night, folder)
        removed = night_of.prune(folder, rules, bench.now())
    for path, name in ((summary, "summary.md"), (junit, "junit.xml")):
        if path is not None:
            path.write_bytes((kept / name).read_bytes())
    typer.echo(night_of.summary(night))
    if removed:
        typer.echo(
            f"{removed} old transcripts removed (policy: {rules.keep_transcripts_nights} nights)",
            err=True,
        )
    if trouble := night_of.call_hook(night, kept, rules.hook):
        typer.echo(f"hook: {trouble}", err=True)
    raise typer.Exit(night.exit_code)


def load_told(folders: Sequence[Path]) -> pd.DataFrame:
    """Load records, and tell on standard error what was left out."""
    from bench import frame  # noqa: PLC0415  pandas only where a command needs it

    found = frame.load(*folders)
    for item in found.attrs["left_out"]:
        typer.echo(f"left out {item.path}: {item.reason}", err=True)
    return found


def export(
    root: Path,
    file_format: str,
    out: Path | None,
    boards: Sequence[str],
    models: Sequence[str],
    *,
    every: bool,
) -> None:
    """Write the measures of records as a file; `bench show --format`."""
    from bench import frame  # noqa: PLC0415  as above

    kinds = [kind.value for kind in frame.Format]
    if file_format not in kinds:
        raise UnknownNameError(f"no format {file_format!r}", hint=nearest(file_format, kinds))
    found = load_told([root])
    if boards:
        found = found[found["board"].isin(boards)]
    if models:
        found = found[found["model"].isin(models)]
    if not every:
        found = frame.latest(found)
    data = frame.export(found, frame.Format(file_format))
    if out is None:
        sys.stdout.buffer.write(data)
    else:
        out.write_bytes(data)
