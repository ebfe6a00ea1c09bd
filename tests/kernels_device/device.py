"""Build the images of this folder for an emulated board and run them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from bench import compile_cache, process
from bench.board import find_boards
from bench.build import FLATC, schema_dir
from bench.cache import BUILD, PROJECT

if TYPE_CHECKING:
    from bench.board import Board

_BUILD_DEADLINE_S = 600.0


def isa_of(board: Board) -> list[str]:
    """Return the folders of runtime/kernels/ that the board's cores are given, the first first."""
    extension = next((isa for isa in ("mve", "dsp") if isa in board.isa), "scalar")
    return [extension] + ["fpu"] * ("fpu" in board.isa)


def fast_boards() -> list[Board]:
    """Return the emulated boards and the one that stands in for an M0+: each has kernels of its own."""
    return [*find_boards("emulated"), *find_boards("microbit")]


def build(board: Board, image: str) -> Path:
    """Return the ELF of `compare` or `bench`.

    Raises:
        AssertionError: it does not build, with the compiler's words.
    """
    folder = BUILD / "kernels_device" / board.id
    _checked(
        "cmake",
        *("-G", "Ninja", "-S", str(Path(__file__).parent), "-B", str(folder)),
        f"-DBOARD={board.id}",
        f"-DCPU={board.cpu}",
        f"-DISA={';'.join(isa_of(board))}",
        f"-DFPU_FLAGS={';'.join(board.fpu_flags)}",
        f"-DEXECUTORCH_SCHEMA_DIR={schema_dir()}",
        f"-DFLATC={FLATC}",
        compile_cache.launcher(),
        f"-DCMAKE_TOOLCHAIN_FILE={PROJECT / 'firmware/cmake/arm-none-eabi.cmake'}",
    )
    _checked("ninja", "-C", str(folder), image)
    return folder / image


def run(
    board: Board, elf: Path, deadline_s: float, *, counted: bool = False
) -> tuple[int, list[str]]:
    """Return the exit code and the lines that the image printed.

    Args:
        board: an emulated one.
        elf: what `build` returned.
        deadline_s: for the whole run.
        counted: whether ticks stand for instructions, which makes the emulator ten times slower.
    """
    assert board.qemu is not None
    icount = ("-icount", f"shift={board.qemu.icount_shift},sleep=off") if counted else ()
    done = process.run(
        [
            "qemu-system-arm",
            *("-M", board.qemu.machine, "-display", "none", "-monitor", "none", *board.qemu.extra),
            *("-chardev", "stdio,id=uart0,signal=off", "-serial", "chardev:uart0"),
            *icount,
            *("-semihosting-config", "enable=on,target=native"),
            *("-kernel", str(elf)),
        ],
        deadline_s=deadline_s,
    )
    return done.exit_code, done.stdout.decode("ascii", "replace").splitlines()


def _checked(*command: str) -> None:
    done = process.run(
        command, deadline_s=_BUILD_DEADLINE_S, environment=compile_cache.environment()
    )
    said = (done.stdout + done.stderr).decode("utf-8", "replace")
    assert done.exit_code == 0, f"{' '.join(command[:3])}:\n{said[-4000:]}"
