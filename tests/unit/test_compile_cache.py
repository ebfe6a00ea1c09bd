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
    """By its path; its cache lies in the build folder: `make clean` removes it, and two clones never share one."""
    monkeypatch.setenv("PATH", _programs(tmp_path, "ccache"))

    assert f"-DCMAKE_CXX_COMPILER_LAUNCHER={tmp_path / 'ccache'}" == compile_cache.launcher()
    assert str(BUILD / "ccache") == compile_cache.environment()["CCACHE_DIR"]
    assert os.environ.items() <= compile_cache.environment().items()


def test_without_ccache_the_compiler_is_run_by_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:  # fmt: skip
    """The argument is there all the same, and another one: a folder that was configured with ccache is configured anew."""
    monkeypatch.setenv("PATH", _programs(tmp_path))

    assert "-DCMAKE_CXX_COMPILER_LAUNCHER=" == compile_cache.launcher()


def test_another_link_to_ccache_is_the_same_launcher(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:  # fmt: skip
    """A PATH that finds the same program elsewhere does not have everything built anew, under whoever reads objects."""
    (tmp_path / "there").mkdir()
    (tmp_path / "linked").mkdir()
    there = _programs(tmp_path / "there", "ccache")
    (tmp_path / "linked" / "ccache").symlink_to(tmp_path / "there" / "ccache")
    monkeypatch.setenv("PATH", there)
    before = compile_cache.launcher()

    monkeypatch.setenv("PATH", str(tmp_path / "linked"))

    assert before == compile_cache.launcher()
