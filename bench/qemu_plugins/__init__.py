"""Build QEMU's plugins with the host's C compiler; they are built again when their sources change."""

from __future__ import annotations

import hashlib
import tempfile
from functools import cache
from pathlib import Path

from bench import process
from bench.cache import BUILD, write_atomically
from bench.errors import BuildError

SOURCES = Path(__file__).parent
_API = "qemu_plugin_api.h"
_FLAGS = (
    *("-std=c11", "-O2", "-fPIC", "-shared", "-fvisibility=hidden"),
    *("-Wall", "-Wextra", "-Wconversion", "-Werror"),
)


@cache
def build_plugin(name: str) -> Path:
    """Return the shared object of the plugin `name`.c of this folder, built in build/estimate.

    Raises:
        ToolMissingError: there is no `cc`.
        BuildError: with the compiler's own words.
    """
    source = SOURCES / f"{name}.c"
    digest = hashlib.sha256(" ".join(_FLAGS).encode())
    for part in (source, SOURCES / _API):
        digest.update(part.read_bytes())
    built = BUILD / "estimate" / f"{name}-{digest.hexdigest()[:16]}.so"
    if built.exists():
        return built
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        fresh = Path(folder) / built.name
        command = ["cc", *_FLAGS, str(source), "-o", str(fresh)]
        done = process.run(command, deadline_s=120.0, tool_hint="apt-get install gcc")
        if done.exit_code != 0:
            raise BuildError(
                f"the QEMU plugin does not compile: {done.stderr.decode('utf-8', 'replace')}",
                where=str(source),
            )
        write_atomically(built, fresh.read_bytes())
    return built
