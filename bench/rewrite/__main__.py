"""Show what rewriting saves: `python -m bench.rewrite FILE.pte ...`; with `--write FOLDER`, keep the results.

`--in-place` lets results of additions take the place of an operand, for the runtime here.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from rich.console import Console
from rich.table import Table

from bench.rewrite.flat import read_flat, write_flat
from bench.rewrite.plan import plan_memory
from bench.rewrite.slim import slim


def main() -> None:
    """Rewrite each file and print a line for it."""
    parser = argparse.ArgumentParser(description="what rewriting a .pte saves")
    parser.add_argument("programs", nargs="+", type=Path)
    parser.add_argument("--write", type=Path, metavar="FOLDER")
    parser.add_argument("--in-place", action="store_true", help="results of additions may take an operand's place: for the runtime here")  # fmt: skip
    asked = parser.parse_args()
    table = Table(title="bytes of programs and of their memory plans, as exported and rewritten")
    for heading in ("program", "bytes", "rewritten", "saved", "values", "plan", "planned anew", "bound"):  # fmt: skip
        table.add_column(heading, justify="left" if heading == "program" else "right")
    for path in asked.programs:
        data = path.read_bytes()
        program = read_flat(data, where=str(path))
        removed = slim(program)
        planned = plan_memory(program, in_place=asked.in_place)
        made = write_flat(program)
        if asked.write:
            asked.write.mkdir(parents=True, exist_ok=True)
            (asked.write / path.name).write_bytes(made)
        table.add_row(
            path.stem,
            f"{len(data):,}",
            f"{len(made):,}",
            f"{1 - len(made) / len(data):.1%}",
            f"-{removed.values:,}",
            f"{planned.before:,}",
            f"{planned.after:,}",
            f"{planned.bound:,}",
        )
    Console(width=120).print(table)


if __name__ == "__main__":
    main()
