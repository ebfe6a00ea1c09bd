"""Boards of one core compile the runtime once, if ccache is there; without it, everything is as it was."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from bench import compile_cache
from bench.cache import BUILD

if TYPE_CHECKING:
    import pytest


def _programs(folder: Path, *names: str) -> str:
    for name in names:
        (folder / name).write_text("#!/bin/sh\n")
        (folder / name).chmod(0o755)
    return str(folder)


def test_with_ccache_the_launcher_is_told_to_cmake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:  # fmt: skip
    """Its cache lies in the build folder: `make clean` removes it, and two clones never share one."""
    monkeypatch.setenv("PATH", _programs(tmp_path, "ccache"))

    told = compile_cache.environment()

    assert "ccache" == told["CMAKE_CXX_COMPILER_LAUNCHER"]
    assert str(BUILD / "ccache") == told["CCACHE_DIR"]
    assert told["PATH"] == str(tmp_path)


def test_without_ccache_nothing_is_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The compiler is run by itself."""
    monkeypatch.setenv("PATH", _programs(tmp_path))

    assert dict(os.environ) == compile_cache.environment()
