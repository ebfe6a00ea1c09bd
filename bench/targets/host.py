"""Run the host board's image: the same app and runtime as a process of this machine."""

from __future__ import annotations

import platform
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from bench import process
from bench.bundle import pack_mailbox
from bench.wire import Transcript

if TYPE_CHECKING:
    from bench.targets import Request


class HostTarget:
    """A process of this machine; its times are wall-clock times."""

    attachment = "host"

    def run(self, request: Request) -> Transcript:
        """Start the process once."""
        with tempfile.TemporaryDirectory(prefix="bench-") as folder:
            bundle, mailbox = Path(folder) / "bundle.bin", Path(folder) / "mailbox.bin"
            bundle.write_bytes(request.bundle.data)
            mailbox.write_bytes(pack_mailbox(request.nonce))
            done = process.run(
                [str(request.image.elf), "--bundle", str(bundle), "--mailbox", str(mailbox)],
                deadline_s=request.deadline_s,
            )
        return Transcript(
            raw=done.stdout,
            exit_code=None if done.timed_out else done.exit_code,
            timed_out=done.timed_out,
            overflowed=done.overflowed,
            seconds=done.seconds,
            diagnostics=done.stderr.decode("utf-8", "replace"),
        )

    def version(self) -> str:
        """Kernel and machine."""
        return f"{platform.system()} {platform.release()} {platform.machine()}"
