"""Files that can be made again, kept by the hash of what they are made from."""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

PROJECT = Path(__file__).resolve().parents[1]
BUILD = Path(os.environ.get("BENCH_BUILD_DIR", PROJECT / "build"))
PROGRAMS = BUILD / "cache" / "programs"


def sha256_file(path: Path) -> str:
    """Return the SHA-256 of a file's bytes as hex."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def write_atomically(path: Path, data: bytes) -> None:
    """Write a file so that a reader or a crash sees the old file or the new one, never a part."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        Path(name).chmod(0o644)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


@contextmanager
def folder_atomically(final: Path) -> Iterator[Path]:
    """Yield a fresh folder that becomes `final` when the block ends well; a folder already there wins."""
    final.parent.mkdir(parents=True, exist_ok=True)
    temporary = Path(tempfile.mkdtemp(dir=final.parent, prefix=f".{final.name}."))
    try:
        yield temporary
        temporary.chmod(0o755)
        try:
            temporary.rename(final)
        except OSError:
            if not final.is_dir():
                raise
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


@contextmanager
def folder_lock(folder: Path) -> Iterator[None]:
    """Keep two processes from building in one folder at once, or from reading what the other builds.

    The lock goes with the process, and is not for who holds it already.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lab-lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
