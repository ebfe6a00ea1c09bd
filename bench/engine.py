"""Engines: what runs a program on the device. `lab` is `runtime/`; `executorch` is upstream's own, which the user brings.

ExecuTorch's C++ runtime is in no package registry for microcontrollers: it is built from its sources for the board's
cpu and found as a CMake package (docs/engines.md).
"""

from __future__ import annotations

import os
import re
from pathlib import Path

from bench.errors import EngineMissingError, UnknownNameError

LAB = "lab"
EXECUTORCH = "executorch"
ENGINES = (LAB, EXECUTORCH)
PREFIXES = "CMAKE_PREFIX_PATH"
# where `cmake --install` of ExecuTorch, and its wheel, put their package
_PLACES = ("lib/cmake/ExecuTorch", "lib/cmake/executorch", "share/cmake")
_CONFIG = "executorch-config.cmake"


def check_engine(name: str) -> str:
    """Return the name; raises UnknownNameError if there is no such engine."""
    if name not in ENGINES:
        raise UnknownNameError(f"no engine {name!r}", hint=f"there are: {', '.join(ENGINES)}")
    return name


def package_of(engine: str) -> Path | None:
    """Return the folder of the engine's CMake package, None for the engine that needs none.

    Raises:
        EngineMissingError: no such package below CMAKE_PREFIX_PATH.
    """
    if engine == LAB:
        return None
    prefixes = [p for p in re.split(f"[;{os.pathsep}]", os.environ.get(PREFIXES, "")) if p]
    for prefix in prefixes:
        for place in _PLACES:
            folder = Path(prefix).expanduser().resolve() / place
            if (folder / _CONFIG).is_file():
                return folder
    looked = f"no {_CONFIG} in {', '.join(_PLACES)} of {', '.join(prefixes)}" if prefixes else (
        f"{PREFIXES} is not set"
    )  # fmt: skip
    raise EngineMissingError(
        f"--engine={engine} needs an ExecuTorch that was built and installed for the board's cpu: {looked}",
        hint=(
            "build it from its sources with the bare-metal preset and `cmake --install` (docs.pytorch.org/executorch: "
            '"Building from Source" and "Arm Cortex-M Backend"), then '
            f"{PREFIXES}=<install folder>; docs/engines.md"
        ),
    )


def arguments(engine: str) -> list[str]:
    """Return CMake's arguments for the engine; raises EngineMissingError."""
    folder = package_of(engine)
    return [] if folder is None else [f"-DENGINE={engine}", f"-Dexecutorch_DIR={folder}"]


def version_of(engine: str) -> str:
    """Return the version that the engine's package says it has, empty if it says none; raises EngineMissingError."""
    folder = package_of(engine)
    if folder is None:
        return ""
    for name in ("executorch-config-version.cmake", "executorchConfigVersion.cmake", _CONFIG):
        file = folder / name
        text = file.read_text() if file.is_file() else ""
        found = re.search(r"(?:PACKAGE_VERSION|executorch_VERSION)\s+\"?(\d[^\s\")]*)", text)
        if found:
            return found[1]
    return ""
