"""`bench bring-up`: see a board work before its figures are believed."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from bench.attach import Attach, Mode, devices_present, target_for
from bench.catalogue import find_boards
from bench.errors import InputError, LabError
from bench.site import read_site
from bench.targets.device import DeviceTarget

_FAILED = 1
_MODEL = "linear"  # small enough for every board, and all of it integers


def register(app: typer.Typer) -> None:
    """Add this module's command to the `bench` command."""
    app.command("bring-up")(bring_up)


def bring_up(
    *,
    board: Annotated[str, typer.Option(help="Board to bring up.")],
    device: Annotated[str, typer.Option(help="Device of bench.toml; default: its first.")] = "",
    pack_dir: Annotated[
        list[Path] | None, typer.Option("--pack-dir", help="Where CMSIS-Packs lie (repeatable).")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
) -> None:
    """Check link, Flash, counter, clock and one model on a device; write the report that this site keeps.

    Until one passed on a real board of a type, records of the type are degraded: board-unproven.
    """
    from bench import bring_up as work  # noqa: PLC0415  only this command runs anything
    from bench import pipeline, programs, proof  # noqa: PLC0415  as above

    def say(text: str) -> None:
        typer.echo(text, err=True)

    chosen = find_boards(board)
    if len(chosen) != 1:
        raise InputError(f"{board!r} names {len(chosen)} boards, one is brought up")
    (wanted,) = chosen
    name = device or _first_attached(wanted.id)
    target = target_for(wanted, Attach(Mode.HARDWARE, name, tuple(pack_dir or ())), say)
    assert isinstance(target, DeviceTarget)  # --attach=hardware gives nothing else
    image = pipeline.ensure_images([wanted], say)[wanted.id]
    case = pipeline.Case(wanted, _MODEL, "int8")
    program = programs.ensure_programs([case], None, say)[case.model, case.scheme, wanted.cpu]
    for made in (image, program):
        if isinstance(made, LabError):
            raise made
    assert not isinstance(image, LabError)
    assert not isinstance(program, LabError)
    entry = read_site().named(name)
    report = work.bring_up(work.Bench(wanted, entry, target, image, program), say)
    path = proof.write_report(report)
    if as_json:
        typer.echo(report.model_dump_json(indent=1))
    else:
        table = Table(title=f"{wanted.name}, {name} ({report.attachment})", title_justify="left")
        for heading in ("step", "", "s", "what was seen"):
            table.add_column(heading)
        for step in report.steps:
            table.add_row(
                step.name, "ok" if step.passed else "FAILED", f"{step.seconds:g}", step.told
            )
        Console(width=200).print(table)
        typer.echo(f"report: {path}")
    if not report.passed:
        raise typer.Exit(_FAILED)


def _first_attached(board_id: str) -> str:
    """Return the name of the board's first device whose probe is attached; empty if there is none."""
    site = read_site()
    devices = site.of_board(board_id)
    if not devices:
        return ""
    there, _ = devices_present(devices)
    return (there or list(devices))[0].name
