"""CMSIS-Packs: which version of which pack describes a chip, by hash, and where it lies on this machine.

Nothing is downloaded: a bench may be offline, and a run must not change with what a server has today.
"""

from __future__ import annotations

import os
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from bench.cache import PROJECT, sha256_file
from bench.errors import PackMissingError, SiteFileError

if TYPE_CHECKING:
    from collections.abc import Sequence

LOCK = PROJECT / "packs.lock"


class Pack(BaseModel):
    """A pack.

    Attributes:
        id: as board.toml names it, `Vendor.Name`.
        sha256: of the .pack file.
    """

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")

    id: str
    version: str
    sha256: str = Field(pattern="^[0-9a-f]{64}$")

    @property
    def file(self) -> str:
        """Name that vendors give the file."""
        return f"{self.id}.{self.version}.pack"


def read_lock(path: Path = LOCK) -> tuple[Pack, ...]:
    """Read packs.lock.

    Raises:
        SiteFileError: it is malformed.
    """
    try:
        raw = tomllib.loads(path.read_text())
        return tuple(Pack.model_validate(item) for item in raw.get("pack", []))
    except (OSError, tomllib.TOMLDecodeError, ValidationError) as error:
        raise SiteFileError(str(error).replace("\n", " "), where=str(path)) from error


def pack_folders(named: Sequence[Path] = ()) -> tuple[Path, ...]:
    """Return where packs are looked for: --pack-dir, then $BENCH_PACK_DIR."""
    variable = os.environ.get("BENCH_PACK_DIR")
    return (*named, *((Path(variable),) if variable else ()))


def find_pack(pack_id: str, named: Sequence[Path] = (), lock: Path = LOCK) -> Path:
    """Return the file of a pack, its hash checked.

    Raises:
        PackMissingError: names the pack, its version, and how to bring it to a machine without network.
    """
    known = {pack.id: pack for pack in read_lock(lock)}
    if pack_id not in known:
        raise PackMissingError(
            f"the pack {pack_id} is not in {lock.name}",
            hint="add id, version and sha256 of its .pack file there: sha256sum FILE",
        )
    pack = known[pack_id]
    folders = pack_folders(named)
    for folder in folders:
        path = folder / pack.file
        if not path.is_file():
            continue
        got = sha256_file(path)
        if got != pack.sha256:
            raise PackMissingError(
                f"{path} is not the pack of {lock.name}: its SHA-256 is {got}",
                hint="a cut-off download or another version: fetch it again, or change the lock on purpose",
            )
        return path
    looked = ", ".join(str(folder) for folder in folders) or "nowhere: no --pack-dir was given"
    raise PackMissingError(
        f"the pack {pack.id} {pack.version} is needed and not here (looked in {looked})",
        hint=f"get {pack.file} from its vendor or from another machine, put it into a folder, and name that with "
        "--pack-dir=DIR or BENCH_PACK_DIR; nothing is downloaded by itself",
    )
