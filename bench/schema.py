"""Generate the Python reader of .pte files and the writer of ETDumps from the schemas in the installed executorch wheel.

Run at set-up (`python -m bench.schema`): they go into site-packages as `executorch_flatbuffer` and `etdump`, so
exporter, this reader and the C++ runtime, which is generated from the same file, cannot drift apart.
"""

from __future__ import annotations

import sys
import sysconfig
from pathlib import Path

from bench import process
from bench.build import FLATC, schema_dir
from bench.errors import BuildError, LabError


def generate(destination: Path) -> None:
    """Write the packages `executorch_flatbuffer` and `etdump` below `destination`.

    Raises:
        ToolMissingError: flatc or executorch is not installed.
        BuildError: flatc refuses the schema.
    """
    folder = schema_dir()
    _generate(folder, ("program.fbs", "scalar_type.fbs"), destination)
    _generate(folder.parent / "devtools" / "etdump", ("etdump_schema_flatcc.fbs",), destination)


def _generate(folder: Path, names: tuple[str, ...], destination: Path) -> None:
    files = [str(folder / name) for name in names]
    command = [
        str(FLATC),
        "--python",
        "--gen-object-api",
        "-I",
        str(folder),
        "-o",
        str(destination),
        *files,
    ]
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
