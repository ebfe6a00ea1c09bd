"""The command that shows which operators run."""

from __future__ import annotations

import dataclasses
import json
import sys
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from bench.ops import Coverage, coverage, others, summary

_COLUMNS_WIDTH = 200


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(ops)


def ops(
    *,
    missing: Annotated[
        bool, typer.Option("--missing", help="Only operators without a kernel.")
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print JSON for a machine instead of a table.")
    ] = False,
) -> None:
    """List ExecuTorch's operators and the kernels that the runtime has for them."""
    found = coverage()
    if as_json:
        typer.echo(json.dumps(_as_json(found), indent=1))
        return
    table = Table(header_style="bold")
    for heading in ("list", "operator", "kernel", "faster"):
        table.add_column(heading)
    for name, part in found.items():
        for operator in part.operators:
            if missing and operator.kernel:
                continue
            table.add_row(
                name, operator.name, operator.kernel or "-", ", ".join(operator.faster) or "-"
            )
    console = Console(width=None if sys.stdout.isatty() else _COLUMNS_WIDTH)
    console.print(table)
    console.print(f"{summary(found)}; beside these: {', '.join(others()) or 'none'}")


def _as_json(found: dict[str, Coverage]) -> dict[str, object]:
    lists = {
        name: {
            "source": part.source,
            "covered": part.covered,
            "total": len(part.operators),
            "operators": [dataclasses.asdict(operator) for operator in part.operators],
        }
        for name, part in found.items()
    }
    return {"lists": lists, "others": list(others())}
