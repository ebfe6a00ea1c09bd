"""SVD files of pyOCD's wheel, and the register facts of boards/<id>/registers.hpp."""

from __future__ import annotations

import re
import zipfile
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

_REGISTER = re.compile(
    r"Register<uint(\d+)_t> (\w+)\{0x([0-9A-F]{8})\};\s*// (\w+)\.(\w+(?:\.\w+)?)$", re.MULTILINE
)
_FIELD = re.compile(
    r"Field (\w+)\{(\d+), (\d+)\};\s*// (\w+)\.(\w+(?:\.\w+)?)\.(\w+)$", re.MULTILINE
)
_FILE = re.compile(r"^// SVD: (\S+)$", re.MULTILINE)


@dataclass(frozen=True)
class Register:
    """A register: bits, address, and (low, width) of its fields by name."""

    bits: int
    address: int
    fields: dict[str, tuple[int, int]] = field(default_factory=dict)


@dataclass(frozen=True)
class Facts:
    """What a registers.hpp says.

    Attributes:
        file: of the SVD archive; empty where there is none for the chip.
        registers: manual's name -> register.
        fields: (register's name, field's name) -> (low, width).
        lines: how many facts the file declares, by its own words.
    """

    file: str
    registers: dict[str, Register]
    fields: dict[tuple[str, str], tuple[int, int]]
    lines: int


def read_facts(path: Path) -> Facts:
    """Parse a registers.hpp."""
    text = path.read_text()
    file = _FILE.search(text)
    registers = {
        f"{peripheral}.{name}": Register(int(bits), int(address, 16))
        for bits, _, address, peripheral, name in _REGISTER.findall(text)
    }
    fields = {
        (f"{peripheral}.{name}", bit): (int(low), int(width))
        for _, low, width, peripheral, name, bit in _FIELD.findall(text)
    }
    return Facts(file.group(1) if file else "", registers, fields, text.count("inline constexpr "))


@cache
def read_svd(file: str) -> dict[str, Register]:
    """Return every register of an SVD file by `PERIPHERAL.REGISTER` or `PERIPHERAL.CLUSTER.REGISTER`."""
    packed = resources.files("pyocd") / "debug" / "svd" / "svd_data.zip"
    with packed.open("rb") as raw, zipfile.ZipFile(raw) as archive:
        root = ET.fromstring(archive.read(file))
    peripherals = {_text(node, "name"): node for node in root.iter("peripheral")}
    found: dict[str, Register] = {}
    for name, node in peripherals.items():
        source = peripherals.get(node.get("derivedFrom", ""), node)
        registers = source.find("registers")
        base = int(_text(node, "baseAddress"), 0)
        if registers is not None:
            _collect(registers, base, f"{name}.", found)
    return found


def _collect(node: Any, base: int, prefix: str, found: dict[str, Register]) -> None:
    for child in node:
        if child.tag not in {"register", "cluster"}:
            continue
        address = base + int(_text(child, "addressOffset"), 0)
        name = prefix + _text(child, "name")
        if child.tag == "cluster":
            _collect(child, address, f"{name}.", found)
        else:
            bits = int(child.findtext("size") or "32", 0)
            fields = {_text(one, "name"): _place(one) for one in child.iter("field")}
            found[name] = Register(bits, address, fields)


def _place(node: Any) -> tuple[int, int]:
    """Return (low, width) of a field in any of the three ways that SVD has."""
    if node.findtext("bitOffset"):
        return int(_text(node, "bitOffset"), 0), int(_text(node, "bitWidth"), 0)
    if node.findtext("bitRange"):
        high, low = map(int, _text(node, "bitRange").strip("[]").split(":"))
    else:
        low, high = int(_text(node, "lsb"), 0), int(_text(node, "msb"), 0)
    return low, high - low + 1


def _text(node: Any, name: str) -> str:
    found = node.findtext(name)
    assert found is not None, (node.tag, name)
    return str(found)
