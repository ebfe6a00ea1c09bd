"""The site file `bench.toml`: which devices hang on this bench, by which probe and port. Never committed."""

from __future__ import annotations

import os
import shlex
import tomllib
from collections import Counter
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from bench.cache import PROJECT
from bench.errors import SiteFileError, UnknownNameError, nearest
from bench.locks import canonical_id

SITE_VARIABLE = "BENCH_SITE"
_HEADER = "# Devices on this bench; docs/boards_on_a_bench.md says what each key means.\n"


class _Strict(BaseModel):
    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")


class Device(_Strict):
    """A board on this bench.

    Attributes:
        name: what `--device` takes and records carry.
        board: id of the board type.
        probe_uid: the probe's whole unique id, as `bench doctor` lists it; a simulated device's may be left out.
        serial: path of the serial port; left out, the port with the probe's serial number is looked up.
        vcom: which of the probe's ports, if it has several (in order of their names).
        power_command: a command that switches the device off and on again; tried last when it does not answer.
        simulated: kind of the simulated device behind a simulated probe; left out for real ones.
    """

    name: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]*$")
    board: str
    probe_uid: str = ""
    serial: str = ""
    vcom: int = Field(default=0, ge=0)
    power_command: str = ""
    tags: list[str] = []
    simulated: Literal["", "mps2-an385", "mps2-an386", "mps2-an505", "mps3-an547", "nrf52840"] = ""

    @field_validator("power_command")
    @classmethod
    def _is_a_command(cls, text: str) -> str:
        try:
            words = shlex.split(text)
        except ValueError as error:
            raise ValueError(f"not a command that a shell could read: {error}") from error
        if text and not words:
            raise ValueError("a command of blanks; leave the key out")
        return text

    @property
    def uid(self) -> str:
        """The probe's id; a simulated device's own unless one is given."""
        return self.probe_uid or (f"SIM-{self.name}" if self.simulated else "")


class Site(_Strict):
    """A site file; without one, a bench without devices."""

    device: list[Device] = []

    @property
    def bus(self) -> tuple[tuple[str, str], ...]:
        """(kind, probe's id) of its simulated devices: they share a bus."""
        return tuple((device.simulated, device.uid) for device in self.device if device.simulated)

    def of_board(self, board_id: str) -> tuple[Device, ...]:
        """Return the devices of a board type, in the file's order."""
        return tuple(device for device in self.device if device.board == board_id)

    def named(self, name: str) -> Device:
        """Return the device of this name.

        Raises:
            UnknownNameError: with the list and the nearest name.
        """
        for device in self.device:
            if device.name == name:
                return device
        known = [device.name for device in self.device]
        hint = nearest(name, known) if known else f"{site_path()} names no device"
        raise UnknownNameError(f"no device {name!r} on this bench", hint=hint)


def site_path() -> Path:
    """Return where the site file is looked for: $BENCH_SITE, else bench.toml in the project."""
    return Path(os.environ.get(SITE_VARIABLE) or PROJECT / "bench.toml")


def read_site(path: Path | None = None) -> Site:
    """Read the site file; no file is an empty bench, unless it was asked for by name.

    Raises:
        SiteFileError: names the file, the key and what is wrong with it.
    """
    place = path or site_path()
    try:
        raw = tomllib.loads(place.read_text())
    except FileNotFoundError as error:
        if path is None and not os.environ.get(SITE_VARIABLE):
            return Site()
        raise SiteFileError("there is no such site file", where=str(place)) from error
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise SiteFileError(str(error), where=str(place)) from error
    try:
        site = Site.model_validate(raw)
    except ValidationError as error:
        found = error.errors()
        first = next((e for e in found if e["type"] == "extra_forbidden"), found[0])
        key = ".".join(str(part) for part in first["loc"])
        unknown = first["type"] == "extra_forbidden"
        hint = nearest(str(first["loc"][-1]), list(Device.model_fields)) if unknown else ""
        raise SiteFileError(f"{key}: {first['msg']}", where=str(place), hint=hint) from error
    _check(site, place)
    return site


def _check(site: Site, place: Path) -> None:
    """Raise SiteFileError for what no single key shows: a probe that is missing or claimed twice."""
    for what in ("name", "uid"):
        counted = Counter(
            device.name if what == "name" else canonical_id(device.uid) for device in site.device
        )
        twice = sorted(value for value, count in counted.items() if count > 1 and value)
        if twice:
            raise SiteFileError(
                f"{what.replace('uid', 'probe_uid')} {', '.join(twice)} stands for more than one device",
                where=str(place),
            )
    for device in site.device:
        if not device.uid:
            raise SiteFileError(
                f"device {device.name!r} has no probe_uid",
                where=str(place),
                hint="`bench doctor` lists the probes with their unique ids",
            )


def same_id(one: str, other: str) -> bool:
    """Whether two unique ids are one, however they are spelt."""
    return bool(one) and canonical_id(one) == canonical_id(other)


def draft(devices: list[Device], *, header: bool = True) -> str:
    """Return the text of a site file that names these devices."""
    blocks = []
    for device in devices:
        lines = ["[[device]]"]
        for key, value in device.model_dump(exclude_defaults=True).items():
            text = (
                "[" + ", ".join(f'"{item}"' for item in value) + "]"
                if isinstance(value, list)
                else str(value)
                if isinstance(value, int)
                else '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
            )
            lines.append(f"{key} = {text}")
        blocks.append("\n".join(lines) + "\n")
    return (_HEADER + "\n" if header else "") + "\n".join(blocks)
