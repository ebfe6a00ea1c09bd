"""The project's own gate: the emulated boards give the committed figures, or a reason is committed with the change."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import bench
from bench import baseline, frame
from bench.store import RESULTS

MODELS = os.environ.get("BENCH_GATE_MODELS", "ds_cnn").split()
ENTRIES = [e for e in baseline.read(RESULTS / baseline.FILE_NAME).entries if e.model in MODELS and e.scheme == "int8"]  # fmt: skip


@pytest.mark.qemu
@pytest.mark.toolchain
@pytest.mark.skipif(not ENTRIES, reason="no baseline: `bench baseline accept` makes one")
def test_no_figure_of_the_emulated_boards_changed_without_a_reason(tmp_path: Path) -> None:
    """Instructions, bytes and outputs, exactly; an unknown toolchain is reported by a skip, not failed."""
    boards = sorted({f"--board={entry.board}" for entry in ENTRIES})
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *boards,
               *(f"--model={model}" for model in MODELS), f"--record={tmp_path}"]  # fmt: skip
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, cwd=Path(__file__).parents[2]
    )
    assert 0 == done.returncode, done.stdout[-2000:]

    found = baseline.gate(
        baseline.read(RESULTS / baseline.FILE_NAME), frame.latest(bench.load(tmp_path))
    )
    changed = [one for one in found if one.state is baseline.State.CHANGED]
    assert [] == [f"{one.cell}: {line}" for one in changed for line in one.lines]
    if not any(one.state is baseline.State.SAME for one in found):
        pytest.skip("; ".join(sorted({f"{one.state}: {' '.join(one.lines)}" for one in found})))
