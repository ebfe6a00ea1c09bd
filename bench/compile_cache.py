"""Compile each file once for all boards of a core: by ccache where it is installed, with a cache in the build folder.

Boards of one core compile the same runtime with the same options. What differs is the folder that -ffile-prefix-map
takes out of the objects, so ccache may leave the folder out of its key (CCACHE_NOHASHDIR, ccache's manual).
"""

from __future__ import annotations

import os
import shutil

from bench.cache import BUILD

_MAX_SIZE = "1G"


def environment() -> dict[str, str]:
    """Return this process's environment, with what makes CMake and Ninja compile through ccache if it is there."""
    if shutil.which("ccache") is None:
        return dict(os.environ)
    folder = str(BUILD / "ccache")
    return {
        **os.environ,
        "CMAKE_CXX_COMPILER_LAUNCHER": "ccache",
        "CCACHE_DIR": folder,
        "CCACHE_NOHASHDIR": "1",
        "CCACHE_MAXSIZE": _MAX_SIZE,
    }
