"""Commands that turn records into decisions; `bench.cli` registers them."""

from __future__ import annotations

import dataclasses
import json
import math
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from bench.catalogue import find_boards
from bench.errors import InputError, UnknownNameError, nearest
from bench.quantity import parse_seconds, show
from bench.store import RESULTS

if TYPE_CHECKING:
    import pandas as pd

    from bench.compare import Pair, Row

_SHOWN = 12
_MULTIPLE = 9.0  # a change from ten times on is said as a multiple
_baseline = typer.Typer(
    no_args_is_help=True, help="The committed figures of the emulated boards, and what changed."
)
RECORDS = typer.Option(
    "--results", help="Folder of records (repeatable); default: results/.", show_default=False
)
_FILE = typer.Option("--file", help="The baselines.", show_default=False)
JSON = typer.Option("--json", help="Print JSON for a machine instead of a table.")


def register(app: typer.Typer) -> None:
    """Add this module's commands to the `bench` command."""
    app.command()(compare)
    app.command()(nightly)
    app.add_typer(_baseline, name="baseline")


def console() -> Console:
    """Return a console as wide as the terminal, or wide enough for a file."""
    return Console(width=None if sys.stdout.isatty() else 240)


def folders(given: list[Path] | None) -> list[Path]:
    """Return the folders of records that were given, `results/` if none."""
    return given or [RESULTS]


def compare(
    a: Annotated[
        str,
        typer.Argument(
            help="A run id, a commit, a record's path, or key=value[,key=value] (board, model, scheme, engine, commit, core)."
        ),
    ],
    b: Annotated[str, typer.Argument(help="The same, for what it is compared with.")],
    results: Annotated[list[Path] | None, RECORDS] = None,
    *,
    unlike: Annotated[
        bool, typer.Option("--unlike", help="Compare unlike workloads too, labelled.")
    ] = False,
    every: Annotated[bool, typer.Option("--all", help="Also measures that are the same.")] = False,
    as_json: Annotated[bool, JSON] = False,
) -> None:
    """Say what changed from A to B: measures with their noise, operators, program and symbols. Exit 1 if any is worse."""
    from bench import compare as comparing  # noqa: PLC0415  pandas only where a command needs it

    found = load_told(folders(results))
    sides = [comparing.select_runs(found, text) for text in (a, b)]
    told = comparing.compare(sides[0], sides[1], found, unlike=unlike)
    if as_json:
        typer.echo(json.dumps(plain(told), indent=1))
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


def plain(value: Any) -> Any:
    """Return dataclasses as what JSON has; what is not a number is null."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: plain(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items() if key != "values"}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
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
        table.add_row(
            row.measure,
            row.evidence,
            show(row.before, row.unit),
            show(row.after, row.unit),
            _change(row),
            row.verdict.value,
            row.noise,
        )
    console().print(table if table.row_count else f"[bold]{table.title}[/bold]")
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


def _change(row: Row) -> str:
    """Return the change as people say it: a part, a multiple, or the difference where a part means nothing."""
    if row.relative is None or row.unit == "dB":
        return f"{row.after - row.before:+,.4g}{' dB' if row.unit == 'dB' else ''}"
    if row.relative >= _MULTIPLE:
        return f"x {row.after / row.before:,.3g}" if row.before > 0 else f"{row.relative:+.0%}"
    return f"{row.relative:+.2%}"


@_baseline.command("accept")
def baseline_accept(
    reason: Annotated[str, typer.Option(help="One sentence, kept beside the figures.")],
    results: Annotated[list[Path] | None, RECORDS] = None,
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
    results: Annotated[list[Path] | None, RECORDS] = None,
    board: Annotated[list[str] | None, typer.Option(help="Only these boards.")] = None,
    model: Annotated[list[str] | None, typer.Option(help="Only these models.")] = None,
    file: Annotated[Path, _FILE] = RESULTS / "baselines.json",
    *,
    as_json: Annotated[bool, JSON] = False,
) -> None:
    """Compare the latest records with the baseline. Exit 1 for a change that nothing explains."""
    from bench import baseline  # noqa: PLC0415  as above

    found = baseline.gate(baseline.read(file), _latest(results, board, model))
    if as_json:
        typer.echo(json.dumps(plain(found), indent=1))
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

    found = load_told(folders(results))
    ids = [b.id for name in boards or [] for b in find_boards(name)]
    if ids:
        found = found[found["board"].isin(ids)]
    found = of_models(found, models or [])
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
    for name in model or rules.models:
        if ":" not in name and not name.endswith(".pte") and name not in list_models():
            raise UnknownNameError(f"no model {name!r}", hint=nearest(name, list_models()))
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


def of_models(found: pd.DataFrame, models: Sequence[str]) -> pd.DataFrame:
    """Return the rows of these models, all if none is named.

    Raises:
        UnknownNameError: no record is of one of them.
    """
    there = sorted(found["model"].astype(str).unique())
    for name in models:
        if name not in there:
            raise UnknownNameError(f"no record of a model {name!r}", hint=nearest(name, there))
    return found[found["model"].isin(models)] if models else found


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
    found = of_models(found, models)
    if not every:
        found = frame.latest(found)
    if found.empty:
        typer.echo(f"no records in {root} match", err=True)
    data = frame.export(found, frame.Format(file_format))
    if out is None:
        sys.stdout.buffer.write(data)
    else:
        out.write_bytes(data)
