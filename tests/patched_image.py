"""An image of a board with one source file changed: what the lab must notice, made for real."""

from __future__ import annotations

import json
import shlex
import subprocess
from pathlib import Path

from bench.board import Board
from bench.build import build_image
from bench.cache import BUILD, PROJECT
from bench.image import Image, read_image


def patched_image(board: Board, source: str, old: str, new: str, folder: Path) -> Image:
    """Compile `source` with `old` replaced by `new`, and link it in the place of the original.

    Args:
        source: below the project's folder.
        old: a text that is there exactly once.
        folder: where the changed file, its object and the image go.
    """
    build_image(board)
    place = BUILD / "firmware" / board.id
    text = (PROJECT / source).read_text()
    assert text.count(old) == 1, f"{source} has {text.count(old)} times {old!r}"
    changed = folder / Path(source).name
    changed.write_text(text.replace(old, new))
    entries = json.loads((place / "compile_commands.json").read_text())
    commands = [
        shlex.split(one["command"]) for one in entries if one["file"] == str(PROJECT / source)
    ]
    compiled = next(
        words for words in commands if not output_of(words).startswith("CMakeFiles/twin")
    )
    made = folder / "changed.obj"
    renamed = {str(PROJECT / source): str(changed), output_of(compiled): str(made)}
    told = subprocess.run(
        ["ninja", "-C", place, "-t", "commands", "lab.elf"],
        capture_output=True,
        text=True,
        check=True,
    )
    (link,) = [line for line in told.stdout.splitlines() if " -o lab.elf " in line]
    linked = shlex.split(link.removeprefix(": && ").removesuffix(" && :"))
    assert output_of(compiled) in linked, f"{output_of(compiled)} is not in the image by name"
    elf = folder / "lab.elf"
    for words in (compiled, linked):
        command = [(renamed | {"lab.elf": str(elf)}).get(word, word) for word in words]
        done = subprocess.run(command, cwd=place, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr[-2000:]
    return read_image(elf, embedded=board.host is None)


def output_of(command: list[str]) -> str:
    """Return what a compiler writes."""
    return command[command.index("-o") + 1]
