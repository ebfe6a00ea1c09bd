"""Run an image on Arm's Corstone-300 FVP: the bundle goes in through `--data`, lines come out of UART0.

Arm's "Fast Models Fixed Virtual Platforms Reference Guide" (100966) has the options; the parameters are those of
ExecuTorch's `run_fvp.sh`. No FVP can be had where this was written: what is tested is against a stand-in executable
(docs/boards.md).
"""

from __future__ import annotations

import re
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from bench import process
from bench.bundle import pack_mailbox
from bench.errors import TargetError, ToolMissingError
from bench.wire import Transcript

if TYPE_CHECKING:
    from bench.targets import Request

BOARD = "mps3-an547"  # whose firmware it runs
PROGRAM = "FVP_Corstone_SSE-300_Ethos-U55"
_PARAMETERS = (
    "mps3_board.visualisation.disable-visualisation=1",
    "mps3_board.telnetterminal0.start_telnet=0",
    "mps3_board.telnetterminal1.start_telnet=0",
    "mps3_board.telnetterminal2.start_telnet=0",
    "mps3_board.telnetterminal5.start_telnet=0",
    "mps3_board.uart0.unbuffered_output=1",
    "cpu0.semihosting-enable=1",
)
# what a model says when it cannot start, or runs something else than it was asked to
_TELLING = re.compile(
    r"^(?:\s*(?:fatal )?error\b|warning: .*(?:parameter|not found)|.*licen[cs]e.*(?:fail|not|expired)"
    r"|.*cannot open shared object)",
    re.IGNORECASE,
)


class FvpTarget:
    """The Corstone-300 FVP, for the firmware of mps3-an547.

    Attributes:
        program: path or name on PATH.
    """

    attachment = "fvp"

    def __init__(self, program: str = PROGRAM) -> None:
        self.program = program

    def find(self) -> str:
        """Return the FVP's path; raises ToolMissingError if it is not installed."""
        found = shutil.which(self.program)
        if found is None:
            raise ToolMissingError(
                f"{self.program} is not installed",
                where=BOARD,
                hint="Arm's Ecosystem FVPs are free to download; put it on PATH or name it with --fvp=FILE",
            )
        return found

    def run(self, request: Request) -> Transcript:
        """Boot the image once.

        Raises:
            ToolMissingError: the FVP is not installed.
            TargetError: it says that it could not start or load, ended without a byte from the UART, or with another
                exit code than the device.
        """
        where = request.board.id
        found = self.find()
        with tempfile.TemporaryDirectory(prefix="bench-") as folder:
            bundle, mailbox, uart = (Path(folder) / name for name in ("bundle", "mailbox", "uart0"))
            bundle.write_bytes(request.bundle.data)
            mailbox.write_bytes(pack_mailbox(request.nonce))
            done = process.run(self._command(found, request, folder), deadline_s=request.deadline_s)
            raw = uart.read_bytes() if uart.exists() else b""
        ended_well = not done.timed_out and b" end status=ok " in raw
        said = (done.stdout + done.stderr).decode("utf-8", "replace")
        told = [line.strip() for line in said.splitlines() if _TELLING.match(line)]
        if told or (not raw and not done.timed_out) or (ended_well and done.exit_code != 0):
            reason = "; ".join(told[:3]) or (
                "the device ended well" if raw else "the UART is silent"
            )
            raise TargetError(
                f"the FVP ended with code {done.exit_code}: {reason}",
                where=where,
                hint="" if told else said.strip()[-200:],
            )
        return Transcript(
            raw=raw,
            exit_code=None if done.timed_out else done.exit_code,
            timed_out=done.timed_out,
            overflowed=done.overflowed,
            seconds=done.seconds,
            diagnostics=said,
        )

    def _command(self, program: str, request: Request, folder: str) -> list[str]:
        image = request.image
        parameters = (*_PARAMETERS, f"mps3_board.uart0.out_file={folder}/uart0")
        return [
            program,
            *(word for parameter in parameters for word in ("-C", parameter)),
            *("-a", str(image.elf)),
            *("--data", f"{folder}/bundle@{image.model.start:#x}"),
            *("--data", f"{folder}/mailbox@{image.mailbox:#x}"),
            *("--timelimit", str(max(1, round(request.deadline_s)))),
        ]

    def version(self) -> str:
        """First line of the FVP's --version; its name alone if it is not there."""
        if shutil.which(self.program) is None:
            return self.program
        done = process.run([self.program, "--version"], deadline_s=20.0)
        lines = (done.stdout + done.stderr).decode("utf-8", "replace").strip().splitlines()
        return lines[0] if lines else self.program
