"""Run a board's image under QEMU: the bundle goes in through the loader, lines come out of the UART."""

from __future__ import annotations

import tempfile
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from bench import process
from bench.bundle import pack_mailbox
from bench.errors import TargetError
from bench.wire import Transcript

if TYPE_CHECKING:
    from bench.targets import Request

PROGRAM = "qemu-system-arm"
_HINT = "apt-get install qemu-system-arm"


class QemuTarget:
    """QEMU's system emulator for Arm."""

    attachment = "emulator"

    def run(self, request: Request) -> Transcript:
        """Boot the image once; deterministic through -icount."""
        board, image = request.board, request.image
        if board.qemu is None:
            raise TargetError(f"{board.id} has no [qemu] section", where=board.id)
        with tempfile.TemporaryDirectory(prefix="bench-") as folder:
            bundle, mailbox = Path(folder) / "bundle.bin", Path(folder) / "mailbox.bin"
            bundle.write_bytes(request.bundle.data)
            mailbox.write_bytes(pack_mailbox(request.nonce))
            command = [
                PROGRAM,
                *("-M", board.qemu.machine, "-display", "none", "-monitor", "none"),
                *("-chardev", "stdio,id=uart0,signal=off", "-serial", "chardev:uart0"),
                *("-icount", f"shift={board.qemu.icount_shift},sleep=off"),
                *("-semihosting-config", "enable=on,target=native"),
                *("-kernel", str(image.elf)),
                *("-device", f"loader,file={bundle},addr={image.model.start:#x},force-raw=on"),
                *("-device", f"loader,file={mailbox},addr={image.mailbox:#x},force-raw=on"),
                *board.qemu.extra,
                *(("-plugin", request.plugin) if request.plugin else ()),
            ]
            done = process.run(command, deadline_s=request.deadline_s, tool_hint=_HINT)
        return Transcript(
            raw=done.stdout,
            exit_code=None if done.timed_out else done.exit_code,
            timed_out=done.timed_out,
            overflowed=done.overflowed,
            seconds=done.seconds,
            diagnostics=done.stderr.decode("utf-8", "replace"),
        )

    def version(self) -> str:
        """First line of QEMU's --version."""
        return _version()


@cache
def _version() -> str:
    done = process.run([PROGRAM, "--version"], deadline_s=20.0, tool_hint=_HINT)
    return done.stdout.decode("utf-8", "replace").splitlines()[0]
