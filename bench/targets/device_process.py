"""Start the process that works with a device (bench.targets.device_job), hear it out, end it at its deadline."""

from __future__ import annotations

import json
import logging
import os
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bench import process
from bench.cache import PROJECT
from bench.errors import ProbeProtocolError
from bench.targets.orders import failure_of

if TYPE_CHECKING:
    from pathlib import Path

    from bench.errors import LabError
    from bench.targets.orders import Order

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True)
class Done:
    """What a device's process told and left.

    Attributes:
        events: by name, the last of each.
        transcript: lines of the run, bytes in order.
        received: bytes as they came.
        log: what it wrote to standard error.
    """

    events: dict[str, dict[str, Any]]
    transcript: bytes
    received: bytes
    log: str


def work(order: Order, folder: Path, deadline_s: float, *inherit: int) -> Done:
    """Let a process do an order.

    Args:
        order: what.
        folder: of this order alone; files are left in it.
        deadline_s: until it is ended.
        inherit: descriptors that it holds too, the device's lock.

    Raises:
        LabError: what the process told, or that it did not end or ended without a word.
    """
    path = folder / "order.json"
    order.write(path)
    events: dict[str, dict[str, Any]] = {}

    def on_line(line: str) -> None:
        try:
            event = json.loads(line)
            events[event["event"]] = event
        except (ValueError, TypeError, KeyError):
            _LOG.info("not an event: %s", line)

    done = process.run(
        [sys.executable, "-P", "-m", "bench.targets.device_job", str(path)],
        deadline_s=deadline_s,
        cwd=folder,  # pyOCD reads scripts and settings of the folder that it finds itself in
        environment={**os.environ, "PYTHONPATH": str(PROJECT)},
        on_line=on_line,
        inherit=inherit,
    )
    log = done.stderr.decode("utf-8", "replace")
    files = [folder / "transcript.bin", folder / "received.bin"]
    transcript, received = (file.read_bytes() if file.exists() else b"" for file in files)
    if done.timed_out or done.exit_code != 0:
        fault = _failure(events, done, log)
        fault.received = received
        raise fault
    return Done(events, transcript, received, log)


def _failure(events: dict[str, dict[str, Any]], done: process.Finished, log: str) -> LabError:
    if "failed" in events:
        return failure_of(events["failed"])
    doing = events.get("doing", {}).get("what", "connecting")
    if done.timed_out:
        return ProbeProtocolError(
            f"the device's process was still {doing} after {done.seconds:.0f} s and was ended",
            hint="the probe or its driver hangs: unplug it and plug it in again",
        )
    return ProbeProtocolError(
        f"the device's process ended with {done.exit_code} while {doing}: {log.strip()[-300:]}"
    )
