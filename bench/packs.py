"""CMSIS-Packs: which version of which pack describes a chip, by hash, and where it lies on this machine.

Nothing is downloaded: a bench may be offline, and a run must not change with what a server has today.
"""

from __future__ import annotations

import os
import re
import tomllib
import zipfile
import zlib
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from bench.cache import PROJECT, sha256_file, write_atomically
from bench.errors import InputError, PackMissingError, SiteFileError

if TYPE_CHECKING:
    from collections.abc import Sequence

LOCK = PROJECT / "packs.lock"
LOCK_VARIABLE = "BENCH_PACKS_LOCK"
_DESCRIPTION_BYTES = 64 << 20  # vendors' largest .pdsc has 8 MB


class Pack(BaseModel):
    """A pack.

    Attributes:
        id: as board.toml names it, `Vendor.Name`.
        sha256: of the .pack file.
    """

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")

    id: str = Field(pattern=r"^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$")
    version: str = Field(pattern=r"^[0-9][A-Za-z0-9_.+-]*$")
    sha256: str = Field(pattern="^[0-9a-f]{64}$")

    @property
    def file(self) -> str:
        """Name that vendors give the file."""
        return f"{self.id}.{self.version}.pack"

    @property
    def entry(self) -> str:
        """Its text in packs.lock."""
        return f'[[pack]]\nid = "{self.id}"\nversion = "{self.version}"\nsha256 = "{self.sha256}"\n'


def lock_path() -> Path:
    """Return the lock file: $BENCH_PACKS_LOCK, else packs.lock in the project."""
    return Path(os.environ.get(LOCK_VARIABLE) or LOCK)


def read_lock(path: Path | None = None) -> tuple[Pack, ...]:
    """Read packs.lock.

    Raises:
        SiteFileError: it is malformed.
    """
    place = path or lock_path()
    try:
        raw = tomllib.loads(place.read_text())
        return tuple(Pack.model_validate(item) for item in raw.get("pack", []))
    except (OSError, tomllib.TOMLDecodeError, ValidationError) as error:
        raise SiteFileError(str(error).replace("\n", " "), where=str(place)) from error


def pack_folders(named: Sequence[Path] = ()) -> tuple[Path, ...]:
    """Return where packs are looked for: --pack-dir, then $BENCH_PACK_DIR."""
    variable = os.environ.get("BENCH_PACK_DIR")
    return (*named, *((Path(variable),) if variable else ()))


def find_pack(pack_id: str, named: Sequence[Path] = (), lock: Path | None = None) -> Path:
    """Return the file of a pack, its hash checked.

    Raises:
        PackMissingError: names the pack, its version, and how to bring it to a machine without network.
    """
    place = lock or lock_path()
    known = {pack.id: pack for pack in read_lock(place)}
    if pack_id not in known:
        raise PackMissingError(
            f"the pack {pack_id} is not in {place.name}",
            hint=f"get {pack_id}.VERSION.pack from its vendor; `bench packs add FILE` records its version and SHA-256",
        )
    pack = known[pack_id]
    folders = pack_folders(named)
    for folder in folders:
        for path in sorted(folder.glob("*.pack")):
            if path.name.lower() == pack.file.lower():  # vendors' servers spell it in either case
                _check_hash(path, pack, place)
                return path
    looked = ", ".join(str(folder) for folder in folders) or "nowhere: no --pack-dir was given"
    raise PackMissingError(
        f"the pack {pack.id} {pack.version} is needed and not here (looked in {looked})",
        hint=f"get {pack.file} from its vendor or from another machine, put it into a folder, and name that with "
        "--pack-dir=DIR or BENCH_PACK_DIR; nothing is downloaded by itself",
    )


def _check_hash(path: Path, pack: Pack, lock: Path) -> None:
    got = sha256_file(path)
    if got != pack.sha256:
        raise PackMissingError(
            f"{path} is not the pack of {lock.name}: its SHA-256 is {got}, not {pack.sha256}",
            hint="a cut-off download or another build of it: fetch it again, or change the lock on purpose with "
            "`bench packs add --replace FILE`",
        )


def identify(path: Path) -> Pack:
    """Return which pack a file is: id and version from its own description, and its hash.

    The description is the .pdsc at the archive's top; its first release is its own (Open-CMSIS-Pack specification,
    "/package/releases").

    Raises:
        InputError: it is no CMSIS-Pack, or a damaged one.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            damaged = archive.testzip()
            tops = [i for i in archive.infolist() if re.fullmatch(r"[^/]+\.pdsc", i.filename)]
            if damaged is not None:
                raise InputError(f"{path} is damaged: {damaged} fails its CRC", where=str(path))
            if len(tops) != 1 or tops[0].file_size > _DESCRIPTION_BYTES:
                raise InputError(
                    f"{path} holds {len(tops)} descriptions (.pdsc) at its top, a CMSIS-Pack has one",
                    where=str(path),
                )
            description = archive.read(tops[0])
            if b"<!DOCTYPE" in description or b"<!ENTITY" in description:
                raise InputError(f"the description in {path} declares entities", where=str(path))
            package = ET.fromstring(description)  # noqa: S314  size and entities were checked above
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error}", where=str(path)) from error
    except (zipfile.BadZipFile, zlib.error, ET.ParseError) as error:
        raise InputError(
            f"{path} is no CMSIS-Pack: {error}",
            where=str(path),
            hint="a .pack file is a zip archive; a cut-off download or an HTML page is not",
        ) from error
    release = package.find("releases/release")
    vendor, name = package.findtext("vendor", ""), package.findtext("name", "")
    version = "" if release is None else release.get("version", "")
    try:
        return Pack(
            id=f"{vendor.strip()}.{name.strip()}", version=version, sha256=sha256_file(path)
        )
    except ValidationError as error:
        raise InputError(
            f"{path} does not say which pack it is: vendor {vendor!r}, name {name!r}, release {version!r}",
            where=str(path),
        ) from error


def record(pack: Pack, *, replace: bool = False, lock: Path | None = None) -> bool:
    """Write a pack into packs.lock; what else stands there stays.

    Args:
        pack: from `identify`.
        replace: in place of another version or hash of it.
        lock: the file; None for the one in use.

    Returns:
        Whether the file was changed.

    Raises:
        InputError: the lock has another version or hash of this pack, and `replace` is not given.
    """
    place = lock or lock_path()
    old = next((known for known in read_lock(place) if known.id == pack.id), None)
    if old == pack:
        return False
    if old is not None and not replace:
        raise InputError(
            f"{place.name} has {old.id} {old.version} with SHA-256 {old.sha256[:12]}..., this is {pack.version} with "
            f"{pack.sha256[:12]}...",
            where=str(place),
            hint="--replace if that is meant: other boards may be described otherwise then",
        )
    text = place.read_text()
    if old is not None:
        start = text.index(f'"{old.id}"')
        end = text.find("[[pack]]", start)
        end = len(text) if end < 0 else end
        block = text[start:end].replace(f'"{old.version}"', f'"{pack.version}"', 1)
        text = text[:start] + block.replace(old.sha256, pack.sha256) + text[end:]
    else:
        text = text.rstrip("\n") + "\n\n" + pack.entry
    write_atomically(place, text.encode())
    return True
