"""What this machine has for the lab, and what each missing thing would enable. Nothing is changed, no probe is opened."""

from __future__ import annotations

import re
import shutil
import sys
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

from bench import process
from bench.board import all_boards
from bench.build import FLATC
from bench.errors import LabError, PackMissingError
from bench.locks import holder, is_free
from bench.packs import find_pack, read_lock
from bench.site import read_site, same_id, site_path
from bench.targets.attached import Attached, attached_both

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bench.site import Device

_DEADLINE_S = 20.0
_SEGGER = Path("/opt/SEGGER")


@dataclass(frozen=True)
class Tool:
    """A program or package.

    Attributes:
        version: that is here, empty if it is not.
        known: versions that the lab was tested with, as a regular expression.
        enables: what it is for.
    """

    name: str
    version: str
    known: str
    enables: str

    @property
    def state(self) -> str:
        """`missing`, `untested` or `ok`."""
        if not self.version:
            return "missing"
        return "ok" if re.match(self.known, self.version) else "untested"


@dataclass(frozen=True)
class DeviceState:
    """A device of the site file as it is now; `problem` is empty if it can be used."""

    name: str
    board: str
    probe_uid: str
    attached: bool
    port: str
    free: bool
    problem: str


@dataclass(frozen=True)
class PackState:
    """A pack of packs.lock, and the boards that cannot be flashed without it; `file` is empty if it is not here."""

    id: str
    version: str
    boards: tuple[str, ...]
    file: str
    problem: str


@dataclass(frozen=True)
class Report:
    """Everything that `bench doctor` says."""

    tools: tuple[Tool, ...]
    attached: Attached
    packs: tuple[PackState, ...]
    site: str
    devices: tuple[DeviceState, ...]
    problems: tuple[str, ...]


_PROGRAMS = (
    ("arm-none-eabi-g++", r"12\.2", "firmware for every board"),
    ("qemu-system-arm", r"7\.2", "emulated boards, simulated devices"),
    ("cmake", r"3\.", "firmware"),
    ("ninja", r"1\.", "firmware"),
    ("cc", r".", "estimated cycles and paced simulated devices: QEMU's plugins, of API version 1"),
    ("g++", r".", "the board `host`"),
    ("ccache", r"4\.", "compiling once for all boards of a core"),
    (str(FLATC), r"(2\.|23\.|24\.|25\.)", "the reader of ExecuTorch's format"),
)
_PACKAGES = (
    ("executorch", r"1\.5\.1$", "exporting models"),
    ("torch", r"2\.13\.0", "exporting models"),
    ("tosa-tools", r".", "exporting models: executorch's Cortex-M part does not import without it"),
    ("pyocd", r"0\.46\.", "real boards and simulated devices"),
    ("pyserial", r"3\.5", "serial ports"),
    ("unicorn", r"2\.1", "the simulated nRF52840"),
    ("pytest-xdist", r"3\.", "several devices at a time: pytest -n 2"),
)


def _program(name: str, known: str, enables: str) -> Tool:
    if shutil.which(name) is None:
        return Tool(name, "", known, enables)
    done = process.run([name, "--version"], deadline_s=_DEADLINE_S)
    found = re.search(r"(\d+\.\d[\w.]*)", done.stdout.decode("utf-8", "replace"))
    return Tool(name, found.group(1) if found else "unknown", known, enables)


def _jlink_library() -> Tool:
    """Return SEGGER's library, without which pyOCD lists no J-Link: it looks below /opt/SEGGER and says nothing."""
    found = sorted(_SEGGER.glob("JLink*/libjlinkarm.so*")) if _SEGGER.is_dir() else []
    versions = [re.sub(r"^JLink_?(Linux_)?V?", "", path.parent.name) for path in found]
    version = max(versions, default="") or ("unknown" if found else "")
    return Tool(
        "J-Link library", version, r".", "probes that are J-Links, those on Nordic kits too"
    )


def _package(name: str, known: str, enables: str) -> Tool:
    try:
        return Tool(name, metadata.version(name), known, enables)
    except metadata.PackageNotFoundError:
        return Tool(name, "", known, enables)


def _state(device: Device, seen: Attached) -> DeviceState:
    here = any(same_id(device.uid, probe.uid) for probe in seen.probes)
    ports = [port.path for port in seen.ports if same_id(device.uid, port.serial_number)]
    port = device.serial or (ports[device.vcom] if device.vcom < len(ports) else "")
    free = is_free(device.uid)
    problems = [] if here else ["its probe is not attached"]
    problems += [] if port or not here else ["no serial port belongs to its probe"]
    problems += [] if free else [f"in use by process {holder(device.uid)}"]
    return DeviceState(device.name, device.board, device.uid, here, port, free, "; ".join(problems))


def pack_states(folders: Sequence[Path]) -> tuple[PackState, ...]:
    """Return the packs of packs.lock, and which of them are in these folders."""
    states = []
    named = {board.id: board.pyocd.pack for board in all_boards().values() if board.pyocd}
    for pack in read_lock():
        boards = tuple(board for board, needed in named.items() if needed == pack.id)
        try:
            file, problem = str(find_pack(pack.id, folders)), ""
        except PackMissingError as missing:
            file, problem = "", missing.what
        states.append(PackState(pack.id, pack.version, boards, file, problem))
    return tuple(states)


def examine(pack_folders: Sequence[Path] = (), bus: Sequence[tuple[str, str]] = ()) -> Report:
    """Look at everything.

    Args:
        pack_folders: where packs may lie.
        bus: (kind, id) of simulated devices that are not in the site file.

    Raises:
        SiteFileError: bench.toml or packs.lock is malformed.
    """
    site = read_site()
    problems: list[str] = []
    seen = Attached((), ())
    try:
        seen = attached_both((*site.bus, *bus))
    except LabError as fault:
        problems.append(str(fault))
    python = Tool("python", sys.version.split()[0], r"3\.1[12]", "everything")
    return Report(
        tools=(
            python,
            *(_program(*program) for program in _PROGRAMS),
            *(_package(*package) for package in _PACKAGES),
            _jlink_library(),
        ),
        attached=seen,
        packs=pack_states(pack_folders),
        site=str(site_path()) if site_path().exists() else "",
        devices=tuple(_state(device, seen) for device in site.device),
        problems=tuple(problems),
    )
