"""Generate the Python reader of the .pte format from the schema in the installed executorch wheel.

Run at set-up (`python -m bench.schema`): the reader goes into site-packages as `executorch_flatbuffer`, so exporter,
this reader and the C++ runtime, which is generated from the same file, cannot drift apart.
"""

from __future__ import annotations

import sys
import sysconfig
from pathlib import Path

from bench import process
from bench.build import FLATC, schema_dir
from bench.errors import BuildError, LabError


def generate(destination: Path) -> None:
    """Write the package `executorch_flatbuffer` below `destination`.

    Raises:
        ToolMissingError: flatc or executorch is not installed.
        BuildError: flatc refuses the schema.
    """
    folder = schema_dir()
    files = [str(folder / name) for name in ("program.fbs", "scalar_type.fbs")]
    command = [str(FLATC), "--python", "-I", str(folder), "-o", str(destination), *files]
    done = process.run(command, deadline_s=60.0, tool_hint="apt-get install flatbuffers-compiler")
    if done.exit_code != 0:
        raise BuildError(
            "flatc refuses ExecuTorch's schema: " + done.stderr.decode("utf-8", "replace")
        )


if __name__ == "__main__":
    try:
        generate(Path(sysconfig.get_paths()["purelib"]))
    except LabError as fault:
        sys.exit(str(fault))
