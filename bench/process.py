"""Child processes under a deadline, their output kept whatever happens."""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import subprocess
import time
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, cast

from bench.errors import ToolMissingError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

OUTPUT_LIMIT_BYTES = 64 << 20


@dataclass(frozen=True)
class Finished:
    """What a child process left behind.

    Attributes:
        exit_code: its status, negative for a signal.
        timed_out: killed at the deadline.
        overflowed: killed because it wrote more than the limit.
        seconds: wall time.
    """

    command: tuple[str, ...]
    stdout: bytes
    stderr: bytes
    exit_code: int
    timed_out: bool
    overflowed: bool
    seconds: float


def run(
    command: Sequence[str],
    *,
    deadline_s: float,
    cwd: Path | None = None,
    environment: Mapping[str, str] | None = None,
    tool_hint: str = "",
    output_limit_bytes: int = OUTPUT_LIMIT_BYTES,
    on_line: Callable[[str], None] | None = None,
    inherit: Sequence[int] = (),
) -> Finished:
    """Run a command to its end, its deadline or its output limit, in a process group of its own.

    Args:
        command: program and arguments.
        deadline_s: for the whole of it; then its process group is killed.
        cwd: working directory.
        environment: instead of this process's.
        tool_hint: how to get the program if it is not installed.
        output_limit_bytes: of either stream; more, and it is killed.
        on_line: called with each whole line of standard output as it comes.
        inherit: descriptors that the child gets, too: a lock that it is to hold as long as it lives.

    Raises:
        ToolMissingError: the program is not installed.
    """
    started = time.monotonic()
    try:
        child = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=cwd,
            env=dict(environment) if environment is not None else None,
            start_new_session=True,
            pass_fds=tuple(inherit),
        )
    except FileNotFoundError as error:
        hint = tool_hint or "run `make setup`, which installs the tools on Debian and Ubuntu"
        raise ToolMissingError(f"{command[0]} is not installed", hint=hint) from error
    pipes = [cast("IO[bytes]", stream) for stream in (child.stdout, child.stderr)]
    streams = _Streams(pipes, on_line)
    try:
        timed_out, overflowed = streams.drain(started + deadline_s, output_limit_bytes)
        if not timed_out and not overflowed:
            try:
                child.wait(max(0.0, started + deadline_s - time.monotonic()))
            except subprocess.TimeoutExpired:
                timed_out = True
    finally:
        if child.poll() is None:
            _kill_group(child)
        for pipe in pipes:
            pipe.close()
    return Finished(
        command=tuple(command),
        stdout=bytes(streams.kept[0]),
        stderr=bytes(streams.kept[1]),
        exit_code=child.returncode,
        timed_out=timed_out,
        overflowed=overflowed,
        seconds=time.monotonic() - started,
    )


class _Streams:
    """The pipes of a child and what came through each so far."""

    def __init__(self, pipes: list[IO[bytes]], on_line: Callable[[str], None] | None) -> None:
        self.kept = [bytearray() for _ in pipes]
        self._pipes = pipes
        self._on_line = on_line
        self._told = 0

    def drain(self, until: float, limit_bytes: int) -> tuple[bool, bool]:
        """Read to the end of all pipes; return whether the deadline passed, and whether too much came."""
        with selectors.DefaultSelector() as selector:
            for index, pipe in enumerate(self._pipes):
                selector.register(pipe, selectors.EVENT_READ, index)
            while selector.get_map():
                remaining_s = until - time.monotonic()
                if remaining_s <= 0:
                    return True, False
                for key, _ in selector.select(remaining_s):
                    data = os.read(key.fd, 1 << 16)
                    if not data:
                        selector.unregister(key.fileobj)
                    self.kept[key.data] += data
                self._tell()
                if max(map(len, self.kept)) > limit_bytes:
                    return False, True
        return False, False

    def _tell(self) -> None:
        """Call `on_line` for each new whole line of the first pipe."""
        out = self.kept[0]
        while self._on_line is not None and (end := out.find(b"\n", self._told)) >= 0:
            self._on_line(out[self._told : end].decode("utf-8", "replace"))
            self._told = end + 1


def _kill_group(child: subprocess.Popen[bytes]) -> None:
    """Kill the child and what it started, and reap it."""
    with contextlib.suppress(ProcessLookupError):  # it ended between the poll and the kill
        os.killpg(child.pid, signal.SIGKILL)
    child.wait()
