"""Build the QEMU plugin with the host's C compiler; it is built again when its sources change."""

from __future__ import annotations

import hashlib
import tempfile
from functools import cache
from pathlib import Path

from bench import process
from bench.cache import BUILD, write_atomically
from bench.errors import BuildError

SOURCES = Path(__file__).parent / "plugin"
FLAGS = (
    *("-std=c11", "-O2", "-fPIC", "-shared", "-fvisibility=hidden"),
    *("-Wall", "-Wextra", "-Wconversion", "-Werror"),
)


@cache
def build_plugin() -> Path:
    """Return the plugin's shared object, built in build/estimate.

    Raises:
        ToolMissingError: there is no `cc`.
        BuildError: with the compiler's own words.
    """
    digest = hashlib.sha256(" ".join(FLAGS).encode())
    for source in sorted(SOURCES.iterdir()):
        digest.update(source.read_bytes())
    built = BUILD / "estimate" / f"block_counts-{digest.hexdigest()[:16]}.so"
    if built.exists():
        return built
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        fresh = Path(folder) / built.name
        command = ["cc", *FLAGS, str(SOURCES / "block_counts.c"), "-o", str(fresh)]
        done = process.run(command, deadline_s=120.0, tool_hint="apt-get install gcc")
        if done.exit_code != 0:
            raise BuildError(
                f"the QEMU plugin does not compile: {done.stderr.decode('utf-8', 'replace')}",
                where=str(SOURCES),
            )
        write_atomically(built, fresh.read_bytes())
    return built
