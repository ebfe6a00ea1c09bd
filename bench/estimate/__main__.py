"""`python -m bench.estimate`: how far off the estimates are, and how the tables came to be."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table as Grid

from bench.errors import LabError
from bench.estimate import read_dump_file
from bench.estimate.anchors import WIDE, Anchor, CodeClass, all_anchors, band_of
from bench.estimate.fit import FITTED, Counted, count, fit, values_of, without_linear, write_counts
from bench.estimate.price import Pricer
from bench.estimate.table import Table, all_tables, table_of
from bench.estimate.transcription import examples, statuses

_WIDTH = 130

app = typer.Typer(add_completion=False, no_args_is_help=False)


@app.callback(invoke_without_command=True)
def validate(context: typer.Context) -> None:
    """Show both validation tables; fail if a table departs from its manual or from its fit."""
    if context.invoked_subcommand is not None:
        return
    console = Console()
    console.width = max(console.width, _WIDTH)  # of a log as well: the tables are read side by side
    wrong = [*_transcription(console), *_anchors(console), *_fits(console)]
    for told in wrong:
        console.print(told, style="red", markup=False, soft_wrap=True)
    if wrong:
        raise typer.Exit(1)


@app.command()
def summarise(
    dump: Path,
    core: Annotated[str, typer.Option(help="GCC's -mcpu string")],
    label: Annotated[str, typer.Option(help="row of the anchor's file, one for each region")],
    iterations: Annotated[int, typer.Option(min=1, help="of the program in a region")] = 1,
    mark: Annotated[int, typer.Option(help="regions that began with this mark")] = 1,
) -> None:
    """Print the counts of an anchor's program from a plugin's dump."""
    table, read = table_of(core), read_dump_file(dump)
    regions = [region for region in read.regions if region.mark == mark]
    pricer = Pricer(without_linear(table))
    counts = [
        count(
            table,
            name,
            pricer.price((read.blocks[index], runs) for index, runs in region.counts.items()),
            iterations,
        )
        for name, region in zip(label.split(","), regions, strict=True)
    ]
    typer.echo(write_counts(counts), nl=False)


@app.command()
def price(dump: Path, core: str, mark: int = 1) -> None:
    """Print what each region of a dump that began with a mark is estimated to cost, by cause."""
    read, pricer = read_dump_file(dump), Pricer(table_of(core))
    for region in read.regions:
        if region.mark != mark:
            continue
        found = pricer.price((read.blocks[index], runs) for index, runs in region.counts.items())
        causes = ", ".join(f"{cause} {cycles:.0f}" for cause, cycles in found.causes.items())
        typer.echo(f"{found.instructions} instructions, {found.cycles:.0f} est_cycles: {causes}")


def _transcription(console: Console) -> list[str]:
    """Print the transcription check; return what is wrong."""
    grid = Grid(title="Transcription check: programs of the very manuals (sets no band)")
    for name in ("core", "manual", "program", "manual's cycles", "table's"):
        grid.add_column(name, justify="right" if "cycles" in name or "'s" in name else "left")
    wrong = []
    for example in examples():
        told = f"{example.low:g}"
        if example.high != example.low:
            told += f" to {example.high:g}"
        branch = " (taken)" if example.taken else ""
        grid.add_row(
            example.core,
            example.source,
            escape(example.assembly) + branch,
            told,
            f"{example.cycles():g}",
        )
        if not example.agrees():
            wrong.append(f"{example.core}: {example.assembly}: {example.cycles():g}, not {told}")
    console.print(grid)
    numbers = Grid(title="Numbers of each table by status")
    for name in ("core", "table", "documented", "fitted", "borrowed", "guessed"):
        numbers.add_column(name)
    for core, table in all_tables().items():
        found = statuses(core)
        row = [str(found[name]) for name in ("documented", "fitted", "borrowed", "guessed")]
        numbers.add_row(core, table.sha256[:12], *row)
    console.print(numbers)
    return wrong


def _anchors(console: Console) -> list[str]:
    """Print the independent anchors and the bands that they set; return what is wrong."""
    grid = Grid(title="Independent anchors: real parts (held and unfitted rows alone set a band)")
    for name in ("core", "part", "program", "measured cycles", "estimated", "error", "use"):
        grid.add_column(name, justify="right" if name[0] in "me" else "left")
    for anchor in all_anchors():
        cycles = anchor.counts.cycles(table_of(anchor.counts.core))
        grid.add_row(
            anchor.counts.core,
            anchor.part,
            f"{anchor.code} {anchor.counts.label}",
            f"{anchor.measured_cycles:,.0f}",
            f"{cycles:,.0f}",
            f"{100 * (cycles / anchor.measured_cycles - 1):+.1f} %",
            _use(anchor),
        )
    console.print(grid)
    bands = Grid(title="Bands: where the truth may lie, against the estimate")
    for name in ("core", *CodeClass):
        bands.add_column(name)
    for core, table in all_tables().items():
        found = (band_of(table, code) for code in CodeClass)
        bands.add_row(core, *(str(one) if one.established else "not established" for one in found))
    console.print(bands)
    console.print(f"Where no band is established: {WIDE[0]:+.0%} to {WIDE[1]:+.0%}.")
    return []


def _use(anchor: Anchor) -> str:
    if anchor.held:
        return "held"
    fitted = anchor.counts.core in FITTED
    return "fit" if fitted else "shown (runs from cached Flash)"


def _fits(console: Console) -> list[str]:
    """Fit again; return where a table's fitted numbers are others."""
    wrong = []
    for core in FITTED:
        table = table_of(core)
        found = fit(table, _fit_rows(table))
        console.print(f"{core} fitted: " + ", ".join(f"{k} {v:g}" for k, v in found.items()))
        for path, value in values_of(core, found).items():
            have = table.numbers()[path].value
            if abs(have - value) > 1e-9:
                wrong.append(f"{core}: {path} is {have:g}, the fit gives {value:g}")
    return wrong


def _fit_rows(table: Table) -> list[tuple[Counted, float]]:
    return [
        (anchor.counts, anchor.measured_cycles)
        for anchor in all_anchors()
        if anchor.counts.core == table.core and not anchor.held
    ]


def main() -> None:
    """Run the command; a fault of the lab is a message and exit code 2."""
    try:
        app()
    except LabError as fault:
        typer.echo(str(fault), err=True)
        sys.exit(2)


if __name__ == "__main__":
    main()
