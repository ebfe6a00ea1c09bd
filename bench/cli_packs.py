"""Commands about CMSIS-Packs: which are known, which are here, and how one becomes known."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from bench import packs
from bench.doctor import pack_states

_JSON = typer.Option("--json", help="Print JSON for a machine instead of a table.")
_packs = typer.Typer(help="CMSIS-Packs that describe chips which pyOCD does not know.")


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.add_typer(_packs, name="packs")


@_packs.callback(invoke_without_command=True)
def show(
    context: typer.Context,
    *,
    pack_dir: Annotated[
        list[Path] | None, typer.Option("--pack-dir", help="Where they lie (repeatable).")
    ] = None,
    as_json: Annotated[bool, _JSON] = False,
) -> None:
    """List the packs of packs.lock, the boards that need each, and whether it is here."""
    if context.invoked_subcommand is not None:
        return
    rows = [asdict(state) for state in pack_states(tuple(pack_dir or ()))]
    if as_json:
        typer.echo(json.dumps(rows, indent=1))
        return
    table = Table(header_style="bold")
    for heading in ("pack", "version", "boards", "file"):
        table.add_column(heading)
    for row in rows:
        table.add_row(
            row["id"],
            row["version"],
            ", ".join(row["boards"]) or "-",
            row["file"] or row["problem"],
        )
    Console(width=None if sys.stdout.isatty() else 240).print(table)


@_packs.command()
def add(
    file: Annotated[Path, typer.Argument(help="A .pack file from its vendor.")],
    *,
    replace: Annotated[
        bool, typer.Option("--replace", help="In place of another version or hash of it.")
    ] = False,
) -> None:
    """Record which pack a file is, by id, version and SHA-256, in packs.lock."""
    pack = packs.identify(file)
    changed = packs.record(pack, replace=replace)
    done = "recorded in" if changed else "stood already in"
    typer.echo(f"{pack.id} {pack.version} (SHA-256 {pack.sha256}) {done} {packs.lock_path()}")
    if file.name.lower() != pack.file.lower():
        typer.echo(f"it is looked for as {pack.file}: rename {file.name}", err=True)
