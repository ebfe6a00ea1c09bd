"""Why figures changed: tools, operators by their instructions, programs, images by symbol and part."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

Run = Mapping[Any, Any]  # a record's columns, or a row's, of the frame


@dataclass(frozen=True)
class Delta:
    """Something counted by name on both sides: an operator's instructions, a symbol's bytes."""

    name: str
    before: float
    after: float


def tool_changes(a: Run, b: Run) -> list[str]:
    """Return which versions changed between two runs: `torch: 2.12 → 2.13`."""
    old, new = json.loads(a["tools"]), json.loads(b["tools"])
    return [
        f"{name}: {old.get(name, 'none')} → {new.get(name, 'none')}"
        for name in sorted(old.keys() | new.keys())
        if old.get(name) != new.get(name)
    ]


def operator_changes(before: Any, after: Any) -> tuple[Delta, ...]:
    """Return operators whose instructions changed, largest change first; what has no partner counts from 0."""
    if not before or not after:
        return ()
    sides: list[dict[str, float]] = []
    for table in (before, after):
        side: dict[str, float] = {}
        for row in table["rows"]:
            layer = f" ({row['layer']})" if row.get("layer") else ""
            name = f"#{row['index']} {row['operator']}{layer}"
            side[name] = side.get(name, 0) + row[table["unit"]]
        sides.append(side)
    return _deltas(*sides)


def symbol_changes(before: Any, after: Any) -> tuple[Delta, ...]:
    """Return symbols whose size changed, largest change first."""
    return _deltas(before, after) if before and after else ()


def _deltas(before: Mapping[str, float], after: Mapping[str, float]) -> tuple[Delta, ...]:
    names: Iterable[str] = dict.fromkeys([*before, *after])
    found = [Delta(name, before.get(name, 0), after.get(name, 0)) for name in names]
    changed = [delta for delta in found if delta.before != delta.after]
    return tuple(sorted(changed, key=lambda d: (-abs(d.after - d.before), d.name)))


def program_changes(a: Run, b: Run) -> list[str]:
    """Return how two programs differ: operators, bytes, plan, share in int8."""
    if a["program_sha256"] == b["program_sha256"]:
        return []
    lines = [f"program: {str(a['program_sha256'])[:12]} → {str(b['program_sha256'])[:12]}"]
    old, new = json.loads(a["operators"]), json.loads(b["operators"])
    lines += [f"operator {d.name}: {d.before:g} → {d.after:g} times" for d in _deltas(old, new)]
    for key, what in (
        ("pte_bytes", ".pte"),
        ("planned_bytes", "memory plan"),
        ("macs", "MACs"),
        ("int8_mac_fraction", "part of the MACs in int8"),
    ):
        if a[key] != b[key]:
            lines.append(f"{what}: {a[key]:,} → {b[key]:,}")
    if len(lines) == 1:
        lines.append("same operators, sizes and plan: constants or their order changed")
    return lines


def image_changes(a: Run, b: Run) -> list[str]:
    """Return how the images of two runs differ, part by part."""
    # by role, not by what ran: of a twin, no image of its own did
    old, new = (
        {i["role"]: i["build_id"][:12] for i in json.loads(run["images"])} for run in (a, b)
    )
    lines = [
        f"{'image' if role == 'lab' else f'{role} image'}: {old.get(role, 'none')} → {new.get(role, 'none')}"
        for role in dict.fromkeys([*old, *new])
        if old.get(role) != new.get(role)
    ]
    if not lines:
        return []
    sides = [
        {
            f"{image['role']} {part}": size
            for image in json.loads(run["images"])
            for part, size in image["sizes"].items()
        }
        for run in (a, b)
    ]
    return lines + [f"{d.name}: {d.before:,} → {d.after:,} B" for d in _deltas(*sides)]
