"""What the documents point at is there: tests by name, files by path, and every field case with its test."""

from __future__ import annotations

import ast
import fnmatch
import functools
import re
from pathlib import Path

import pytest
import typer.main

from bench.cache import PROJECT
from bench.cli import app

DOCUMENTS = [
    *sorted((PROJECT / "docs").glob("*.md")),
    *(PROJECT / name for name in ("README.md", "CONTRIBUTING.md", "results/README.md")),
]
CASES = (  # of the collection that docs/field_cases.md answers
    *(f"G{number:02}" for number in range(1, 21)),
    *(f"S{number:02}" for number in (*range(1, 13), 14, 16, 17, *range(23, 32), 33, 34, 35, 38, 39, 40)),
)  # fmt: skip
_COMMAND = re.compile(r"(?:`|^ {4}(?:\$ )?)((?:bench|pytest|make) [^`\n#]+)", re.MULTILINE)
_OPTION = re.compile(r"(?<![\w-])--[a-z][\w-]*")
_OF_PYTEST = {"--dist", "--junitxml"}  # its own, and its plugins'
_MADE_BY_RUNS = ("results/.index.parquet", "results/baselines.json")
_QUOTED = re.compile(r"`([^`\n]+)`")
_PLACE = re.compile(
    r"(?:bench|docs|boards|runtime|firmware|benchmarks|tools|examples|results)/[\w./-]*"
)


@functools.cache
def _names_by_file() -> dict[str, list[str]]:
    found = {}
    for path in sorted((PROJECT / "tests").rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        names = [node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
        found[path.relative_to(PROJECT).as_posix()] = names
    return found


def _is_there(reference: str, names: dict[str, list[str]]) -> bool:
    """Whether `tests/a/test_b.py::test_c_*`, a part of that, or a folder of tests exists."""
    file, _, name = reference.partition("::")
    if name:
        files = [
            known for known in names if not file or known == file or known.endswith(f"/{file}")
        ]
        return any(fnmatch.fnmatch(one, name) for known in files for one in names[known])
    return (PROJECT / file).exists() or any(known.endswith(f"/{file}") for known in names)


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_what_a_document_names_exists(document: Path) -> None:
    """Tests, with or without their file's folder, and paths of the project."""
    names = _names_by_file()
    quoted = _QUOTED.findall(document.read_text(encoding="utf-8"))
    tests = [one for one in quoted if re.match(r"tests/|(?:[\w/]*\.py)?::test_|test_\w+\.py$", one)]
    paths = [one for one in quoted if _PLACE.fullmatch(one) and one not in _MADE_BY_RUNS]

    assert [] == [one for one in tests if not _is_there(one, names)]
    assert [] == [one for one in paths if not (PROJECT / one).exists()]


def test_a_name_that_is_not_there_would_be_found() -> None:
    """A file, a function or a folder that no longer exists."""
    names = _names_by_file()
    here = "tests/unit/test_documents.py"

    assert _is_there(f"{here}::test_a_name_*", names)
    assert not _is_there(f"{here}::test_no_such_*", names)
    assert not _is_there("tests/unit/test_no_such_file.py", names)
    assert not _is_there("tests/no_such_folder", names)


def test_every_field_case_has_its_line() -> None:
    """Each case of the collection, with a test or the reason why there is none."""
    lines = (PROJECT / "docs" / "field_cases.md").read_text(encoding="utf-8").splitlines()
    rows = [line.split("|")[1:-1] for line in lines if line.startswith(("| G", "| S"))]
    told = {case for cells in rows for case in re.findall(r"[GS]\d\d", cells[0])}
    bare = [cells[0] for cells in rows if "test" not in cells[2] and "open" not in cells[2]]

    assert set(CASES) == told
    assert [] == bare


def _options() -> dict[str, set[str]]:
    """Return the options of every command, `bench show` say, of pytest, and of make's targets, which have none."""
    found: dict[str, set[str]] = {}

    def walk(command: object, path: str) -> None:
        parameters = command.params  # type: ignore[attr-defined]
        found[path] = {"--help"}.union(*(one.opts + one.secondary_opts for one in parameters))
        for name, below in getattr(command, "commands", {}).items():
            walk(below, f"{path} {name}")

    walk(typer.main.get_command(app), "bench")
    plugin = (PROJECT / "bench" / "pytest_plugin.py").read_text(encoding="utf-8")
    found["pytest"] = _OF_PYTEST.union(re.findall(r'"(--[\w-]+)"', plugin))
    makefile = (PROJECT / "Makefile").read_text(encoding="utf-8")
    targets = re.findall(r"^([a-z-]+):", makefile, re.MULTILINE)
    return found | {f"make {target}": set() for target in targets}


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_commands_that_a_document_shows_exist(document: Path) -> None:
    """With each of their options."""
    known = _options()
    wrong = []
    for shown in _COMMAND.findall(document.read_text(encoding="utf-8")):
        command = max(
            (one for one in known if f"{shown} ".startswith(f"{one} ")), key=len, default=""
        )
        if command in {"", "bench"}:
            wrong.append(shown)
            continue
        wrong += [f"{shown}: {one}" for one in _OPTION.findall(shown) if one not in known[command]]

    assert [] == wrong
