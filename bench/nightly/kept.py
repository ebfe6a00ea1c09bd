"""What is kept of nights, read and written; what is removed by policy; the hook."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import datetime, timedelta
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from bench import process
from bench.cache import write_atomically
from bench.errors import LabError
from bench.nightly.told import junit, summary
from bench.nightly.values import Kind, Night

if TYPE_CHECKING:
    from bench.policy import Policy

FOLDER = ".nightly"
_HOOK_DEADLINE_S = 60.0


def past_nights(results: Path) -> list[dict[str, Any]]:
    """Return what earlier nights did, oldest first; one that cannot be read is left out."""
    found = []
    for path in sorted((results / FOLDER).glob("*/night.json")):
        try:
            found.append(json.loads(path.read_text()))
        except (OSError, ValueError):
            continue
    return found


def predictions(nights: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """Return the median time of each cell in the last nights, in seconds, without runs made again."""
    times: dict[str, list[float]] = {}
    for night in nights[-10:]:
        for cell in night["cells"]:
            if cell["kind"] == Kind.RAN:
                times.setdefault(cell["cell"], []).append(
                    cell["seconds"] / (1 + len(cell["again"]))
                )
    return {cell: median(values) for cell, values in times.items()}


def keep(night: Night, results: Path) -> Path:
    """Write night.json, summary.md and junit.xml; return their folder."""
    folder = results / FOLDER / night.started_utc.replace("-", "").replace(":", "")
    cells = [{**asdict(one), "cell": str(one.cell)} for one in night.cells]
    told = {
        "started_utc": night.started_utc,
        "verdict": night.verdict,
        "exit_code": night.exit_code,
        "cells": cells,
        "findings": [asdict(finding) for finding in night.findings],
    }
    write_atomically(folder / "summary.md", summary(night).encode())
    write_atomically(folder / "junit.xml", junit(night))
    write_atomically(folder / "night.json", json.dumps(told, indent=1).encode())
    return folder


def prune(results: Path, policy: Policy, now: datetime) -> int:
    """Remove transcripts older than the policy keeps, and what killed writers left; records are never touched."""
    limit = (now - timedelta(days=policy.keep_transcripts_nights)).strftime("%Y%m%dT%H%M%SZ")
    removed = 0
    for path in results.rglob("*.transcript.txt"):
        if not path.name.startswith(".") and path.name[:16] < limit:
            path.unlink(missing_ok=True)
            removed += 1
    day_ago = now.timestamp() - 86400
    for path in results.rglob(".*.json.*"):
        if path.is_file() and path.stat().st_mtime < day_ago:
            path.unlink(missing_ok=True)
    return removed


def call_hook(night: Night, folder: Path, command: Sequence[str]) -> str:
    """Tell a command the verdict in its environment; return what went wrong, empty if nothing did."""
    if not command:
        return ""
    environment = {
        **os.environ,
        "BENCH_VERDICT": night.verdict,
        "BENCH_EXIT": str(night.exit_code),
        "BENCH_SUMMARY": str(folder / "summary.md"),
        "BENCH_JUNIT": str(folder / "junit.xml"),
    }
    try:
        done = process.run(command, deadline_s=_HOOK_DEADLINE_S, environment=environment)
    except LabError as fault:
        return str(fault)
    return "" if done.exit_code == 0 else f"the hook ended with code {done.exit_code}"
