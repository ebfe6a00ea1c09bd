"""The `bench` command: what is not a test. Benchmarks themselves run with `pytest --board=ID`."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer
import typer.core
from rich.console import Console
from rich.table import Table

from bench import cli_bring_up, cli_decide, cli_devices, cli_inspect, cli_ops, cli_packs, cli_select
from bench.board import all_boards
from bench.catalogue import all_entries, find_boards
from bench.engine import LAB, check_engine
from bench.errors import Blame, InputError, LabError, UnknownNameError
from bench.quantity import parse_bytes
from bench.record import Record
from bench.sampling import WIDTH, Wanted

_EXIT_CODES = {Blame.USAGE: 2, Blame.MODEL: 1, Blame.DEVICE: 1, Blame.BENCH: 3}


class View(StrEnum):
    """What `bench show` prints of records."""

    SUMMARY = "summary"
    PARTS = "parts"
    LATENCY = "latency"
    REGIONS = "regions"
    WHAT_IF = "what-if"
    CHIPS = "chips"


app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="A benchmarking lab for PyTorch models on Arm Cortex-M microcontrollers. "
    "Benchmarks run with `pytest --board=ID [--model=NAME|FILE] [--scheme=int8|int8-ends|fp32]`.",
)
cli_bring_up.register(app)
cli_decide.register(app)
cli_select.register(app)
cli_devices.register(app)
cli_packs.register(app)
cli_inspect.register(app)
cli_ops.register(app)
_JSON = typer.Option("--json", help="Print JSON for a machine instead of a table.")


def _out(width: int | None = None) -> Console:
    """Return a console that does not cut tables when its output is no terminal."""
    wide = None if sys.stdout.isatty() else 240
    return Console(width=width or wide)


@app.command()
def boards(
    *,
    attached: Annotated[
        bool, typer.Option("--attached", help="The probes on this bench instead.")
    ] = False,
    write: Annotated[
        bool, typer.Option("--write", help="With --attached: draft bench.toml from them.")
    ] = False,
    every: Annotated[
        bool,
        typer.Option(
            "--all", help="Also those of the catalogue, which have no firmware of their own."
        ),
    ] = False,
    as_json: Annotated[bool, _JSON] = False,
) -> None:
    """List the boards that the lab knows."""
    if attached:
        cli_devices.attached_boards(write=write, as_json=as_json)
        return
    known = all_boards().values()
    entries = all_entries().values() if every else ()
    if as_json:
        facts = [one.model_dump(by_alias=True) for one in (*known, *entries)]
        typer.echo(json.dumps(facts, indent=1))
        return
    table = Table(header_style="bold")
    for heading in ("board", "core", "clock", "run by", "evidence", "what it is"):
        table.add_column(heading)
    for board in known:
        way = (
            f"QEMU {board.qemu.machine}"
            if board.qemu
            else "this machine"
            if board.host
            else "probe, or its twin"
        )
        clock = f"{board.clock_hz / 1e6:g} MHz" if board.host is None else "-"
        told = _with_doubts(board.description, board.unverified)
        table.add_row(board.id, board.cpu, clock, way, board.evidence, told)
    for entry in entries:
        clock = f"{entry.clock_hz / 1e6:g} MHz"
        told = _with_doubts(entry.description, entry.unverified)
        table.add_row(entry.id, entry.cpu, clock, "its core's twin: catalogue", "-", told)
    _out().print(table)


def _with_doubts(description: str, unverified: Sequence[str]) -> str:
    return f"{description}; unverified: {', '.join(unverified)}" if unverified else description


@app.command()
def models(*, as_json: Annotated[bool, _JSON] = False) -> None:
    """List the models of the zoo; your own is `--model=path/to/file.py:build` or a ready .pte."""
    from bench.model import ZOO, list_models  # noqa: PLC0415  only this command reads the zoo

    told = {}
    for name in list_models():
        docstring = (ZOO / f"{name}.py").read_text().split('"""')[1]
        told[name] = docstring.strip().splitlines()[0]
    if as_json:
        typer.echo(json.dumps(told, indent=1))
        return
    table = Table(header_style="bold")
    table.add_column("model")
    table.add_column("what it is")
    for name, text in told.items():
        table.add_row(name, text)
    _out().print(table)


@app.command()
def show(
    folder: Annotated[
        Path | None, typer.Argument(help="Folder of records; default: results/.")
    ] = None,
    *,
    board: Annotated[list[str] | None, typer.Option(help="Only these boards (repeatable).")] = None,
    model: Annotated[list[str] | None, typer.Option(help="Only these models (repeatable).")] = None,
    every: Annotated[
        bool, typer.Option("--all", help="Every run, not the latest of each kind.")
    ] = False,
    operators: Annotated[
        bool, typer.Option("--operators", help="What each instruction of the program costs.")
    ] = False,
    view: Annotated[
        View, typer.Option(help="What of the records: see below; default: a line each.")
    ] = View.SUMMARY,
    reserve_ram: Annotated[
        str | None,
        typer.Option(
            help="With --view=regions: RAM for the application, in the place of the records' own, e.g. 32KB."
        ),
    ] = None,
    reserve_flash: Annotated[str | None, typer.Option(help="Likewise of Flash.")] = None,
    etdump: Annotated[
        Path | None, typer.Option(help="With --operators: write one run's as ExecuTorch's ETDump.")
    ] = None,
    chart: Annotated[
        Path | None, typer.Option(help="With --operators: write one run's as a bar chart, SVG.")
    ] = None,
    scheme: Annotated[
        list[str] | None, typer.Option(help="Only these schemes (repeatable).")
    ] = None,
    as_json: Annotated[bool, _JSON] = False,
    file_format: Annotated[
        str | None,
        typer.Option("--format", help="Export measures: csv, json, parquet or markdown."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="File to export to; default: standard output.")
    ] = None,
) -> None:
    """Print records as a table: the latest run of each board, model and scheme. --format exports their measures.

    --view=parts has instructions, estimated cycles with their band and every part of RAM and Flash; latency has every
    timed window with percentiles; regions has the headroom of each memory after a reserve; what-if has what
    float inputs and outputs cost an int8 program.
    """
    from bench import store  # noqa: PLC0415  pydantic takes a moment, and only this reads records

    root = folder or store.RESULTS
    if file_format is not None:
        chosen_boards = [b.id for name in board or [] for b in find_boards(name)]
        cli_decide.export(root, file_format, out, chosen_boards, model or [], every=every)
        return
    if not root.is_dir():
        raise InputError(
            "there is no such folder of records", where=str(root), hint="`make bench` makes some"
        )
    found, bad = store.load(root)
    ids = {b.id for name in board or [] for b in find_boards(name)}
    with_paths = [
        (path, record)
        for path, record in found
        if (not ids or record.board.id in ids)
        and (not model or record.model.name in model)
        and (not scheme or record.scheme in scheme)
    ]
    if not every:
        latest = {
            (r.board.id, r.model.name, r.scheme, r.engine.name): (path, r) for path, r in with_paths
        }
        with_paths = list(latest.values())
    chosen = [record for _, record in with_paths]
    for item in bad:
        typer.echo(f"left out {item.path}: {item.reason}", err=True)
    if operators:
        cli_inspect.show_operators(with_paths, etdump=etdump, chart=chart, as_json=as_json)
        return
    if as_json:
        typer.echo(
            json.dumps([json.loads(r.model_dump_json(by_alias=True)) for r in chosen], indent=1)
        )
        return
    if not chosen:
        typer.echo(
            f"no records in {root} match; `bench show --all` and `bench boards` tell what there is"
            if found
            else f"there are no records in {root}; `make bench` makes some"
        )
    for table in _view(view, chosen, reserve_ram, reserve_flash):
        _out().print(table)


def _view(
    view: View, records: list[Record], reserve_ram: str | None, reserve_flash: str | None
) -> list[Table | str]:
    """Return the tables of a view, with what has to be said below them."""
    from bench import show, show_chips, show_latency, show_memory  # noqa: PLC0415  as in show

    if view is View.LATENCY:
        return [*show_latency.latency_tables(records)]
    if view is View.PARTS:
        return show_memory.parts_tables(records)
    if view is View.CHIPS:
        table = show_chips.chips_table(records)
        return ["two boards with chips make a table; there are fewer"] if table is None else [table]
    if view is View.REGIONS:
        asked = {"RAM": reserve_ram, "Flash": reserve_flash}
        given = {kind: parse_bytes(text) for kind, text in asked.items() if text is not None}
        return [*show_memory.region_tables(records, given or None)]
    if view is View.WHAT_IF:
        return [*show_memory.what_if_tables(records)]
    return [*show.tables(records)]


class _RunCommand(typer.core.TyperCommand):
    """`--pack` alone means `--pack=equal`: no word after it is its value."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        spelled = ["--pack=equal" if word == "--pack" else word for word in args]
        return super().parse_args(ctx, spelled)


@app.command(cls=_RunCommand)
def run(
    program: Annotated[Path, typer.Argument(help="The program, a .pte file.")],
    board: Annotated[str, typer.Option(help="Board to run on.")],
    inputs: Annotated[
        list[Path] | None,
        typer.Option(
            "--input",
            help="An input, raw bytes in the program's layout or .npy (repeatable, in order).",
        ),
    ] = None,
    outputs: Annotated[
        list[Path] | None,
        typer.Option(
            "--output", help="Where an output goes, raw bytes or .npy (repeatable, in order)."
        ),
    ] = None,
    method: Annotated[str, typer.Option(help="Method that runs; default: forward.")] = "",
    arena: Annotated[
        int, typer.Option(help="Let the program have this many bytes of the arena; 0: all.")
    ] = 0,
    iterations: Annotated[int, typer.Option(help="Measured inferences after the first.")] = 0,
    latency_width: Annotated[
        float,
        typer.Option(
            min=0,
            max=1,
            help="With --iterations, where samples vary: measure on until the 95 % interval of "
            "the median is so wide, as a fraction of it; 0: no more than --iterations.",
        ),
    ] = WIDTH,
    resets: Annotated[
        int, typer.Option(min=1, help="Run so often from reset, and compare outputs and counts.")
    ] = 1,
    deadline: Annotated[
        float | None, typer.Option(help="Seconds until the run is given up.")
    ] = None,
    *,
    engine: Annotated[
        str,
        typer.Option(
            help="What runs it: lab, or executorch: an installed one, found by CMAKE_PREFIX_PATH."
        ),
    ] = LAB,
    operators: Annotated[
        bool,
        typer.Option(
            "--operators",
            help="Also what each instruction of the program costs; with --json the output is "
            '{"record": ..., "operators": ...}.',
        ),
    ] = False,
    pack: Annotated[
        str,
        typer.Option(
            "--pack",
            metavar="[=winograd]",
            help="Re-encode weights for the board's kernels first, at the same size; --pack=winograd: larger and faster.",
        ),
    ] = "",
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the run's record as JSON.")
    ] = False,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Print the device's lines.")
    ] = False,
) -> None:
    """Run one program once, for debugging and scripts. Without --input the inputs are random, of a fixed seed."""
    from bench import foreign, pipeline  # noqa: PLC0415  only this command runs anything
    from bench import operators as operator_tables  # noqa: PLC0415
    from bench import show as tables  # noqa: PLC0415
    from bench.bundle import Options  # noqa: PLC0415
    from bench.rewrite.programs import packed, packing  # noqa: PLC0415

    chosen = find_boards(board)
    if len(chosen) != 1:
        raise UnknownNameError(f"{board!r} names {len(chosen)} boards, one program runs on one")
    made = foreign.foreign_program(program, tuple(inputs or ()), method)
    if pack:
        made = packed(made, chosen[0], packing(pack))
    if outputs and len(outputs) > len(made.manifest.outputs):
        raise InputError(
            f"{len(outputs)} --output files, the program has {len(made.manifest.outputs)} outputs"
        )
    image = pipeline.ensure_images(
        chosen, lambda text: typer.echo(text, err=True), check_engine(engine)
    )[chosen[0].id]
    if isinstance(image, LabError):
        raise image
    plan = pipeline.Plan(
        Options(warmup=0, iterations=iterations, arena_limit_bytes=arena, operator_ticks=operators),
        deadline_s=deadline,
        resets=resets,
        engine=engine,
        wanted=Wanted(latency_width),
    )
    case = pipeline.Case(chosen[0], str(program), made.manifest.scheme)
    try:
        outcome = pipeline.run_case(
            pipeline.Attempt(case, made, image, pipeline.target_for(chosen[0]), plan)
        )
    except pipeline.RunFailedError as failure:
        if verbose:
            typer.echo(failure.transcript.raw.decode("utf-8", "replace"), err=True)
        raise failure.fault from failure
    if verbose:
        typer.echo(outcome.transcript.raw.decode("utf-8", "replace"), err=True)
    for index, path in enumerate(outputs or ()):
        foreign.write_output(path, outcome.log.outputs[0, index], made.manifest.outputs[index])
    rows = outcome.files[operator_tables.FILE] if operators else b""
    if as_json:
        record = outcome.record.model_dump_json(indent=1, by_alias=True)
        typer.echo(f'{{"record": {record},\n"operators": {rows.decode()}}}' if rows else record)
        return
    for table in tables.tables([outcome.record]):
        _out().print(table)
    if rows:
        _out().print(cli_inspect.operators_of(outcome.record, operator_tables.read_table(rows)))


def main() -> None:
    """Entry point: faults become one message and an exit code of the documented meaning."""
    try:
        app()
    except LabError as fault:
        typer.echo(str(fault), err=True)
        sys.exit(_EXIT_CODES[fault.blame])
    except OSError as error:
        if error.filename is None:  # not of a file that somebody named
            raise
        named = InputError(
            f"cannot be read or written: {error.strerror}",
            where=str(error.filename),
            hint="is the folder there, and may you write in it?",
        )
        typer.echo(str(named), err=True)
        sys.exit(_EXIT_CODES[named.blame])
    except KeyboardInterrupt:
        typer.echo("interrupted", err=True)
        sys.exit(130)
