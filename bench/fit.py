"""What fits: a board's physical memories, and what a program needs of each."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bench.errors import BoardFileError

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True)
class Memory:
    """A physical memory: neighbouring regions of a kind are one, the border between them is the lab's own."""

    name: str
    kind: str
    nbytes: int
    regions: frozenset[str]


_REGION = re.compile(
    r"^\s*(\w+)\s*\((\w+)\)\s*:\s*ORIGIN\s*=\s*([^,]+),\s*LENGTH\s*=\s*(.+?)\s*$", re.MULTILINE
)


def _number(text: str, path: Path) -> int:
    total = 0
    for term in text.split("+"):
        match = re.fullmatch(r"\s*(0x[0-9A-Fa-f]+|\d+)\s*([KM]?)\s*", term)
        if match is None:
            raise BoardFileError(f"{text!r} is no number that this reader knows", where=str(path))
        total += int(match.group(1), 0) * {"": 1, "K": 1024, "M": 1024**2}[match.group(2)]
    return total


def read_memories(path: Path) -> tuple[Memory, ...]:
    """Return the memories of a memory.ld; a writable region is RAM, another one is Flash.

    Raises:
        BoardFileError: a region that cannot be read.
    """
    text = re.sub(r"/\*.*?\*/", "", path.read_text(), flags=re.DOTALL)
    found = []
    for name, flags, origin, length in _REGION.findall(text):
        if name == "STAGING":  # the lab's alone: never part of a total or a fit
            continue
        kind = "RAM" if "w" in flags else "Flash"
        found.append((_number(origin, path), _number(length, path), kind, name))
    if not found:
        raise BoardFileError("no memory regions", where=str(path))
    memories: list[Memory] = []
    end = -1
    for origin, nbytes, kind, name in sorted(found):
        last = memories[-1] if memories else None
        if last is not None and last.kind == kind and origin == end:
            memories[-1] = Memory(
                f"{last.name}+{name}", kind, last.nbytes + nbytes, last.regions | {name}
            )
        else:
            memories.append(Memory(name, kind, nbytes, frozenset({name})))
        end = origin + nbytes
    return tuple(memories)


@dataclass(frozen=True)
class Fit:
    """Whether and by how much a program fits a memory; negative headroom is what is missing."""

    memory: str
    kind: str
    have_bytes: int
    need_bytes: int

    @property
    def headroom_bytes(self) -> int:
        """Bytes left, negative if it does not fit."""
        return self.have_bytes - self.need_bytes


_PARTS = {
    # memory region -> deployment measures that lie in it
    "CODE": ("flash_runtime", "flash_kernels", "flash_firmware"),
    "MODEL": ("flash_weights", "flash_program", "flash_tables"),
    "DATA": ("ram_static", "ram_stack"),
    "ARENA": ("ram_planned", "ram_input_output", "ram_scratch", "ram_method"),
}
_LAB_PARTS = {
    "CODE": ("lab_flash_image",),
    "MODEL": ("pte",),
    "DATA": ("lab_ram_static", "lab_ram_stack"),
    "ARENA": ("lab_ram_planned", "lab_ram_method", "lab_ram_temporary"),
}


@dataclass(frozen=True)
class Needs:
    """What a program needs of each memory region.

    Attributes:
        regions: bytes by the region's name; empty where measures are missing.
        deployment: whether they are the deployment image's; the lab image's are an upper bound.
    """

    regions: Mapping[str, int]
    deployment: bool

    def of(self, *names: str) -> int | None:
        """Return the bytes of some regions together; None where they are not known."""
        return sum(self.regions[name] for name in names) if self.regions else None


def needs_of(sizes: Mapping[str, int]) -> Needs:
    """Return what a record's measures in bytes (name -> value) say that the program needs."""
    deployment = "flash_total" in sizes and "ram_total" in sizes
    parts = _PARTS if deployment else _LAB_PARTS
    if any(names[0] not in sizes for names in parts.values()):
        return Needs({}, deployment)
    return Needs(
        {region: sum(sizes.get(name, 0) for name in names) for region, names in parts.items()},
        deployment,
    )


def fits_of(needs: Needs, memories: Sequence[Memory]) -> tuple[Fit, ...]:
    """Return the fit of each memory; none where the needs are not known."""
    if not needs.regions:
        return ()
    return tuple(
        Fit(m.name, m.kind, m.nbytes, sum(needs.regions.get(region, 0) for region in m.regions))
        for m in memories
    )


def shortage(fits: Sequence[Fit]) -> str:
    """Return where and by how much a program does not fit, in words; empty if it fits."""
    return "; ".join(
        f"{fit.kind} {fit.memory}: have {fit.have_bytes:,} B, need {fit.need_bytes:,} B, "
        f"{-fit.headroom_bytes:,} B too many"
        for fit in fits
        if fit.headroom_bytes < 0
    )
