"""Building the firmware: what fails is named with the compiler's own words."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench import build
from bench.board import all_boards
from bench.errors import BuildError, ToolMissingError
from bench.image import read_image


def test_a_step_that_fails_shows_the_lines_that_tell_why() -> None:
    """Errors first, not the last line of the build tool."""
    script = "echo compiling; echo 'main.cpp:3: error: no such thing'; echo ninja: stopped; exit 1"

    with pytest.raises(BuildError, match=r"main\.cpp:3: error: no such thing"):
        build._checked(["sh", "-c", script], all_boards()["host"])


def test_command_lines_are_not_shown_as_errors() -> None:
    """They have -Werror in them; what the shell says does tell why."""
    script = "echo 'g++ -Wall -Werror -c main.cpp'; echo '/bin/sh: 1: ccache: not found'; exit 1"

    with pytest.raises(BuildError) as caught:
        build._checked(["sh", "-c", script], all_boards()["host"])

    assert "ccache: not found" in str(caught.value)
    assert "-Werror" not in caught.value.what


def test_a_file_that_is_no_elf_is_named(tmp_path: Path) -> None:
    """The path is in the message."""
    (tmp_path / "lab.elf").write_bytes(b"no elf at all, but long enough to be read as a header" * 3)

    with pytest.raises(BuildError, match="not a usable ELF") as caught:
        read_image(tmp_path / "lab.elf")

    assert "lab.elf" in str(caught.value)


def test_a_missing_schema_compiler_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Flatc by absolute path, and how to get it."""
    monkeypatch.setattr(build, "FLATC", Path("/nowhere/flatc"))

    with pytest.raises(ToolMissingError) as caught:
        build.build_image(all_boards()["host"])

    assert "flatbuffers-compiler" in caught.value.hint


@pytest.mark.toolchain
def test_a_folder_that_was_moved_is_built_anew(tmp_path: Path) -> None:
    """CMake refuses to go on in a copy; here it is configured again, and a folder that stays is left alone."""
    source = tmp_path / "source"
    source.mkdir()
    (source / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.20)\nproject(p NONE)\nadd_custom_target(lab.elf)\n"
    )
    first, moved = tmp_path / "first", tmp_path / "moved"

    def configure(folder: Path) -> None:
        command = ["cmake", "-G", "Ninja", "-S", str(source), "-B", str(folder)]
        build._checked(command, all_boards()["host"])

    configure(first)
    build._forget_another_place(first)
    kept = (first / "CMakeCache.txt").exists()
    first.rename(moved)
    with pytest.raises(BuildError, match="CMakeCache"):
        configure(moved)
    build._forget_another_place(moved)
    configure(moved)

    assert kept
    assert (moved / "build.ninja").exists()
