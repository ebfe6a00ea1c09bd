"""Stands in for Arm's FVP: understands the command line that the lab gives it, and runs the image under QEMU.

`FVP_FAILS` picks a failure: license, parameter, library, silent, hang, code. `FVP_ARGUMENTS` names a file that gets the
command line.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from pathlib import Path

KNOWN = {
    "mps3_board.visualisation.disable-visualisation",
    *(f"mps3_board.telnetterminal{n}.start_telnet" for n in (0, 1, 2, 5)),
    "mps3_board.uart0.unbuffered_output",
    "mps3_board.uart0.out_file",
    "cpu0.semihosting-enable",
}


def main() -> int:
    """Parse as the FVP does, fail as asked, else run."""
    if sys.argv[1:] == ["--version"]:
        sys.stdout.write("Fast Models [stand-in]\n")
        return 0
    if named := os.environ.get("FVP_ARGUMENTS"):
        Path(named).write_text("\n".join(sys.argv[1:]))
    parser = argparse.ArgumentParser(allow_abbrev=False)
    parser.add_argument("-C", dest="parameters", action="append", required=True)
    parser.add_argument("-a", dest="image", required=True)
    parser.add_argument("--data", action="append", required=True)
    parser.add_argument("--timelimit", type=int, required=True)
    options = parser.parse_args()
    parameters = dict(one.split("=", 1) for one in options.parameters)
    assert parameters.keys() <= KNOWN, parameters.keys() - KNOWN
    fails = os.environ.get("FVP_FAILS", "")
    if fails == "license":
        sys.stderr.write("Error: License check failed: no such feature exists.\n")
        return 1
    if fails == "library":
        sys.stderr.write(
            "FVP: error while loading shared libraries: libatomic.so.1: cannot open shared object file\n"
        )
        return 127
    if fails == "parameter":
        sys.stdout.write("Warning: parameter 'cpu0.semihosting-enable' not found\n")
    if fails in {"silent", "parameter"}:
        return 0
    if fails == "hang":
        time.sleep(60)
    loaders = []
    for data in options.data:
        file, address = data.rsplit("@", 1)
        loaders += ["-device", f"loader,file={file},addr={address},force-raw=on"]
    done = subprocess.run(
        ["qemu-system-arm", "-M", "mps3-an547", "-display", "none", "-monitor", "none",
         "-serial", f"file:{parameters['mps3_board.uart0.out_file']}", "-icount", "shift=6,sleep=off",
         "-semihosting-config", "enable=on,target=native", "-kernel", options.image, *loaders],
        check=False, timeout=options.timelimit,
    )  # fmt: skip
    sys.stdout.write(f"Info: {Path(options.image).name}: simulation is over\n")
    return 7 if fails == "code" else done.returncode


if __name__ == "__main__":
    sys.exit(main())
