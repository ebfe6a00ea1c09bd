"""Build a board's firmware with CMake and hand back its `Image`."""

from __future__ import annotations

import importlib.util
import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from bench import compile_cache, process
from bench.cache import BUILD, PROJECT, folder_lock, sha256_file, write_atomically
from bench.catalogue import source_of
from bench.engine import LAB
from bench.engine import arguments as engine_arguments
from bench.errors import BuildError, ToolMissingError
from bench.image import Image, read_image
from bench.twin import machine_of, twin_memory

if TYPE_CHECKING:
    from bench.board import Board

FLATC = Path("/usr/bin/flatc")  # by absolute path: wheels put other flatc of other versions on PATH
_DEADLINE_S = 900.0
_ERROR_LINES = 12
_KEPT_IMAGES = 8
# what compilers, linkers, shells and CMake say went wrong; not the command lines, which have -Werror in them
_TELLING = re.compile(
    r"\berror:|undefined reference|will not fit|overflowed|not found|No such file|CMake Error",
    re.IGNORECASE,
)


def schema_dir() -> Path:
    """Return the folder of ExecuTorch's schema in the installed wheel, without importing it.

    Raises:
        ToolMissingError: executorch is not installed.
    """
    found = importlib.util.find_spec("executorch")
    for place in (found.submodule_search_locations or []) if found else []:
        folder = Path(place) / "schema"
        if (folder / "program.fbs").is_file():
            return folder
    raise ToolMissingError("executorch is not installed", hint="run `make setup`")


def build_image(board: Board, engine: str = LAB) -> Image:
    """Configure (once) and build (what changed) the board's lab image; of the catalogue, that of its core's machine.

    Raises:
        EngineMissingError: another engine than the lab's own is not installed.
        BuildError: with the compiler's own first errors.
        ToolMissingError: cmake, ninja, flatc or the cross compiler is missing.
    """
    return _build_target(source_of(board), "lab", engine)


def build_twin(board: Board, *, roomy: bool = False, engine: str = LAB) -> Image:
    """Build the board's twin: the lab image linked for the emulated machine of its core.

    Args:
        roomy: with all of the machine's memory, for what the board has no room for.

    Raises:
        BuildError, ToolMissingError: as `build_image`.
    """
    if source_of(board) is not board:
        return build_image(board, engine)
    return _build_target(board, "roomy" if roomy else "twin", engine)


def _build_target(board: Board, target: str, engine: str) -> Image:
    folder = BUILD / "firmware" / (board.id if engine == LAB else f"{board.id}-{engine}")
    if not FLATC.exists():
        raise ToolMissingError(
            "flatc is not installed", hint="apt-get install flatbuffers-compiler"
        )
    arguments = [
        "cmake",
        "-G",
        "Ninja",
        "-S",
        str(PROJECT / "firmware"),
        "-B",
        str(folder),
        f"-DBOARD={board.id}",
        f"-DCPU={board.cpu}",
        f"-DFPU_FLAGS={';'.join(board.fpu_flags)}",
        f"-DEXECUTORCH_SCHEMA_DIR={schema_dir()}",
        f"-DFLATC={FLATC}",
        compile_cache.launcher(),
        *engine_arguments(engine),
    ]
    if board.host is None:
        arguments.append(f"-DCOUNTER={board.counter}")
        arguments.append(f"-DCMAKE_TOOLCHAIN_FILE={PROJECT / 'firmware/cmake/arm-none-eabi.cmake'}")
    with folder_lock(folder):
        machine = machine_of(board)
        if machine is not None:
            memory = folder / "twin.ld"
            text = twin_memory(board, machine)
            if not memory.exists() or memory.read_text() != text:
                write_atomically(memory, text.encode())
            arguments += [f"-DTWIN={machine.id}", f"-DTWIN_MEMORY={memory}"]
        return _build(board, folder, arguments, target)


def _build(board: Board, folder: Path, arguments: list[str], target: str) -> Image:
    """Configure if the arguments are other ones, build what changed, and keep the image under its own hash."""
    # configuring takes a second: do it when the arguments are other ones, ninja sees changed CMake files itself
    stamp = folder / "lab-arguments.txt"
    wanted = "\n".join(arguments)
    _forget_another_place(folder)
    if not (folder / "build.ninja").exists() or not stamp.exists() or stamp.read_text() != wanted:
        _checked(arguments, board)
        stamp.write_text(wanted)
    _checked(["ninja", "-C", str(folder), f"{target}.elf"], board)
    return read_image(_kept(folder / f"{target}.elf"), embedded=board.host is None)


def _forget_another_place(folder: Path) -> None:
    """Remove what CMake wrote in a folder that was moved or copied since: it refuses to go on there."""
    settings = folder / "CMakeCache.txt"
    if not settings.exists():
        return
    place = re.search(r"^CMAKE_CACHEFILE_DIR:INTERNAL=(.*)$", settings.read_text(), re.MULTILINE)
    if place is not None and Path(place.group(1)).resolve() == folder.resolve():
        return
    for name in ("CMakeCache.txt", "build.ninja", ".ninja_deps", ".ninja_log"):
        (folder / name).unlink(missing_ok=True)
    shutil.rmtree(folder / "CMakeFiles", ignore_errors=True)


def _kept(elf: Path) -> Path:
    """Return a copy of the image that a later build does not change under a run that uses it."""
    folder = elf.parent / "images"
    kept = folder / f"{sha256_file(elf)[:16]}.elf"
    if not kept.exists():
        for old in sorted(folder.glob("*.elf"), key=lambda path: path.stat().st_mtime)[
            :-_KEPT_IMAGES
        ]:
            old.unlink()
        write_atomically(kept, elf.read_bytes())
        kept.chmod(0o755)  # the host's image is a program
    return kept


def _checked(command: list[str], board: Board) -> None:
    """Run a build step; raise BuildError with the lines that tell why it failed."""
    done = process.run(command, deadline_s=_DEADLINE_S, environment=compile_cache.environment())
    if done.exit_code == 0 and not done.timed_out:
        return
    text = (done.stdout + done.stderr).decode("utf-8", "replace").splitlines()
    telling = [line for line in text if _TELLING.search(line)]
    shown = "\n    ".join((telling or text[-_ERROR_LINES:])[:_ERROR_LINES])
    raise BuildError(
        f"building the firmware of {board.id} failed:\n    {shown}",
        where=board.id,
        hint=f"run `{' '.join(command[:4])} ...` by hand for the whole output",
    )
