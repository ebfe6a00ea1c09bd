"""One device, one user: a lock file a device, held by the kernel, so that it is free again when its holder dies."""

from __future__ import annotations

import fcntl
import os
import re
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from bench.errors import DeviceBusyError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_POLL_S = 0.05


def lock_folder() -> Path:
    """Return where lock files lie: one place a machine, because two clones may share a device."""
    named = os.environ.get("BENCH_LOCK_DIR")
    return Path(named) if named else Path(tempfile.gettempdir()) / "cortex-m-bench-locks"


def canonical_id(uid: str) -> str:
    """Return the one spelling of a unique id: letters in lower case, decimal numbers without leading zeros.

    J-Link ids are decimal; USB has them with leading zeros, pyOCD without.
    """
    return str(int(uid)) if uid.isdecimal() else uid.lower()


def _path(uid: str) -> Path:
    return lock_folder() / (re.sub(r"[^A-Za-z0-9_.-]", "_", canonical_id(uid)) + ".lock")


@contextmanager
def device_lock(uids: Sequence[str], wait_s: float) -> Iterator[tuple[str, int]]:
    """Hold the first of these devices that is or becomes free; yield its id and the lock's descriptor.

    A child that inherits the descriptor holds the lock too, until both have ended.

    Raises:
        DeviceBusyError: none became free in time; it says who holds them.
    """
    lock_folder().mkdir(mode=0o777, parents=True, exist_ok=True)
    until = time.monotonic() + wait_s
    while True:
        for uid in uids:
            handle = os.open(_path(uid), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                os.close(handle)
                continue
            try:
                os.ftruncate(handle, 0)
                os.pwrite(handle, f"{os.getpid()} {Path(sys.argv[0]).name}".encode(), 0)
                yield uid, handle
            finally:
                os.close(handle)
            return
        if time.monotonic() >= until:
            holders = "; ".join(f"{uid} by process {holder(uid)}" for uid in uids)
            raise DeviceBusyError(
                f"in use for more than {wait_s:g} s: {holders}",
                hint="wait for the other run, or name another device with --device=NAME",
            )
        time.sleep(_POLL_S)


def holder(uid: str) -> str:
    """Return who took the device's lock last: its process id and program."""
    try:
        return _path(uid).read_text(errors="replace").strip() or "unknown"
    except OSError:
        return "unknown"


def is_free(uid: str) -> bool:
    """Whether nobody holds the device now."""
    try:
        handle = os.open(_path(uid), os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError:
        return True
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
    except BlockingIOError:
        return False
    finally:
        os.close(handle)
