"""Compile each file once for all boards of a core: by ccache where it is installed, with a cache in the build folder.

Boards of one core compile the same runtime with the same options. What differs is the folder that -ffile-prefix-map
takes out of the objects, so ccache may leave the folder out of its key (CCACHE_NOHASHDIR, ccache's manual).
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from bench.cache import BUILD

_MAX_SIZE = "1G"


def launcher() -> str:
    """Return the argument that has CMake compile through ccache, or without it where it is not installed.

    It is always given, so that a build folder is configured anew when ccache comes or goes.
    """
    found = shutil.which("ccache")
    # by its one true path: another link to it is no other compiler, and nothing has to be built anew
    return f"-DCMAKE_CXX_COMPILER_LAUNCHER={Path(found).resolve() if found else ''}"


def environment() -> dict[str, str]:
    """Return this process's environment, with where ccache keeps what it compiled."""
    return {
        **os.environ,
        "CCACHE_DIR": str(BUILD / "ccache"),
        "CCACHE_NOHASHDIR": "1",
        "CCACHE_MAXSIZE": _MAX_SIZE,
    }
