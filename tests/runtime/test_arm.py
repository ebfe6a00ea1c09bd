"""What the runtime is for Cortex-M: small, without heap and without code before main."""

from __future__ import annotations

import functools
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from bench.board import all_boards, find_boards
from bench.build import build_image
from bench.cache import BUILD

pytestmark = [
    pytest.mark.toolchain,
    pytest.mark.skipif(shutil.which("arm-none-eabi-g++") is None, reason="no arm-none-eabi-g++"),
]
BOARDS = [board.id for board in find_boards("emulated")]
# Heap, exceptions, locked statics, destructors at exit, recursion's and printf's usual helpers.
FORBIDDEN = re.compile(
    r"\b(malloc|calloc|realloc|free|_Zn[wa]\w+|_Zd[la]\w+|__cxa_\w+|__throw\w*|_ZSt\w*throw\w*|_GLOBAL__sub_I\w*|"
    r"abort|printf|__aeabi_atexit|_sbrk|__gxx_personality_v0)\b"
)


@functools.cache
def objects(board_id: str) -> list[Path]:
    """Build the lab image of a board; return the runtime's archive and the kernels' objects that it links."""
    build_image(all_boards()[board_id])
    folder = BUILD / "firmware" / board_id / "runtime"
    kernels = sorted((folder / "CMakeFiles" / "rt_kernels.dir").rglob("*.obj"))
    return [folder / "librt_runtime.a", *kernels]


def tool(name: str, *arguments: str | Path) -> str:
    """Run a tool of the toolchain."""
    command = [f"arm-none-eabi-{name}", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout


@pytest.mark.parametrize("board_id", BOARDS)
def test_no_heap_and_no_static_constructors(board_id: str) -> None:
    """Nothing refers to heap, exceptions or exit handlers, and nothing runs before main."""
    files = objects(board_id)

    symbols = tool("nm", *files)
    sections = tool("objdump", "-h", *files)

    assert [] == [line for line in symbols.splitlines() if FORBIDDEN.search(line)]
    assert ".init_array" not in sections
    assert ".ctors" not in sections


def test_no_writable_statics() -> None:
    """All state lies in the arena and in the Method: there is no .data and no .bss."""
    totals = tool("size", "-t", *objects("mps2-an386")).splitlines()[-1].split()

    assert ["0", "0"] == totals[1:3]


def test_registry_entries() -> None:
    """Each kernel is one entry of four words in a section of its own, which the linker script keeps."""
    _, *objects_of_kernels = objects("mps2-an386")
    kernels = [path for path in objects_of_kernels if path.parent.name == "ref"]

    sizes = [
        int(line.split()[2], 16)
        for line in tool("objdump", "-h", *kernels).splitlines()
        if re.match(r"\s+\d+ rt_kernels\.", line)
    ]

    assert len(kernels) <= len(sizes)
    assert {16} == set(sizes)


def test_runtime_size() -> None:
    """On an M4 reader, verifier and loader together stay below 14 KB of Flash, loading and running from tables below 0.5 KB."""
    archive, *_ = objects("mps2-an386")

    members = [line.split() for line in tool("size", archive).splitlines()[1:]]
    text = {words[5].removesuffix(".cpp.obj"): int(words[0]) for words in members}

    assert text.pop("laid") < 512
    assert sum(text.values()) < 14 * 1024
