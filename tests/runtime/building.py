"""Build the C++ side of a test folder with CMake, incrementally."""

from __future__ import annotations

import contextlib
import fcntl
import importlib.util
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

from bench import compile_cache

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build" / "host-tests"
TIMEOUT_S = 600


def schema_folder() -> Path:
    """Return executorch/schema of the installed wheel, without importing it."""
    spec = importlib.util.find_spec("executorch")
    assert spec is not None
    assert spec.submodule_search_locations is not None
    return Path(next(iter(spec.submodule_search_locations))) / "schema"


def build(source: Path, name: str, *options: str) -> Path:
    """Configure and build a CMake project.

    Args:
        source: folder with its CMakeLists.txt.
        name: folder below build/host-tests.
        options: further arguments of cmake.

    Returns:
        the build folder.

    Raises:
        AssertionError: it does not build, with the compiler's words.
    """
    folder = BUILD / name
    configure = ["cmake", "-G", "Ninja", "-S", source, "-B", folder]
    with _alone(folder):
        _run(
            [
                *configure,
                f"-DEXECUTORCH_SCHEMA_DIR={schema_folder()}",
                compile_cache.launcher(),
                *options,
            ]
        )
        _run(["ninja", "-C", folder, "-j", "2"])
    return folder


@contextlib.contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Hold a lock on the build folder: pytest may run in several processes."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "building.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _run(command: list[str | Path]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_S, check=False, env=compile_cache.environment())  # fmt: skip
    assert done.returncode == 0, f"{command}\n{done.stdout[-4000:]}\n{done.stderr[-4000:]}"
