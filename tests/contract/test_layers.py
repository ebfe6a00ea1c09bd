"""Who may include whom in the C++ (docs/architecture.md); import-linter reads the Python."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from bench.cache import PROJECT

# folder -> folders whose headers it may include
ALLOWED = {
    "runtime/core": {"runtime/core"},
    "runtime/pte": {"runtime/core", "runtime/pte"},
    "runtime/exec": {"runtime/core", "runtime/pte", "runtime/exec"},
    "runtime/kernels": {"runtime/core", "runtime/kernels"},
    "firmware/port": {"firmware/port"},
    "firmware/app": {"firmware/port", "firmware/app", "runtime/core", "runtime/exec"},
    "boards": {"firmware/port", "boards"},
}


def _sources() -> list[Path]:
    return sorted(
        path.relative_to(PROJECT)
        for folder in ("runtime", "firmware", "boards")
        for suffix in ("*.cpp", "*.hpp")
        for path in (PROJECT / folder).rglob(suffix)
    )


def _home(path: str) -> str:
    return next(folder for folder in ALLOWED if path.startswith(folder + "/"))


def test_there_are_sources_to_check() -> None:
    """An empty list would make the next test pass for nothing."""
    assert len(_sources()) > 30


@pytest.mark.parametrize("source", _sources(), ids=str)
def test_a_file_includes_only_what_its_layer_may_know(source: Path) -> None:
    """The runtime knows no board, boards know the port alone."""
    included = re.findall(r'#include "([a-z]+/[^"]+)"', (PROJECT / source).read_text())

    wrong = [name for name in included if _home(name) not in ALLOWED[_home(str(source))]]

    assert [] == wrong


def test_the_runtime_prints_nothing() -> None:
    """No stdio in runtime/ or boards/: the app alone speaks."""
    speaking = [
        str(source)
        for source in _sources()
        if not str(source).startswith("firmware") and "host" not in source.parts
        and re.search(r"#include <(cstdio|iostream|stdio\.h)>", (PROJECT / source).read_text())
    ]  # fmt: skip

    assert [] == speaking


@pytest.mark.parametrize(
    "module", ["bench.pytest_plugin", "bench.pipeline", "bench.cli", "bench.show"]
)
def test_a_warm_run_imports_no_torch(module: str) -> None:
    """Importing the lab brings in neither torch nor executorch: a warm run takes seconds."""
    code = f"import sys, {module}; print([m for m in ('torch', 'executorch') if m in sys.modules])"

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "[]"
