"""The main job, whole: six models on five emulated cores, three times over, and against the committed baseline."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import bench
from bench import baseline, frame
from bench.board import find_boards
from bench.cache import PROJECT
from bench.estimate.anchors import WIDE
from bench.headroom import wrong_sums
from bench.model import list_models
from bench.record import NOT_ESTABLISHED, Record
from bench.store import RESULTS

BOARDS = [board.id for board in find_boards("emulated")]
RUNS = 3

Records = dict[tuple[str, str], dict[str, Any]]


def _run(folder: Path, *arguments: str) -> Records:
    """Run pytest's front door; return its records by (board, model)."""
    command = [sys.executable, "-m", "pytest", f"--record={folder}", *arguments]
    done = subprocess.run(command, cwd=PROJECT, env={**os.environ, "NO_COLOR": "1"}, capture_output=True, text=True, timeout=1800, check=False)  # fmt: skip
    assert done.returncode == 0, done.stdout
    found: Records = {}
    for path in folder.rglob("*.json"):
        if path.name.count(".") == 1:  # others are files beside a record
            record = json.loads(path.read_text())
            found[record["board"]["id"], record["model"]["name"]] = record
    return found


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Where the three runs keep their records."""
    return [tmp_path_factory.mktemp(f"run{i}") for i in range(RUNS)]


@pytest.fixture(scope="module")
def runs(folders: list[Path]) -> list[Records]:
    """`pytest --board=emulated`, three times."""
    return [_run(folder, "--board=emulated") for folder in folders]


def _values(record: dict[str, Any], name: str, unit: str) -> list[float]:
    return next(m["values"] for m in record["measures"] if (m["name"], m["unit"]) == (name, unit))


@pytest.mark.qemu
def test_every_cell_is_valid(runs: list[Records]) -> None:
    """Five boards by six models, none missing, none degraded."""
    expected = {(board, model) for board in BOARDS for model in list_models()}

    assert expected == set(runs[0])
    assert {record["status"] for record in runs[0].values()} == {"valid"}


@pytest.mark.qemu
def test_no_element_differs_from_host_int8(runs: list[Records]) -> None:
    """On every core, over all samples; oracle and corrections are named."""
    wrong = {
        key: _values(record, "mismatch_host_int8", "elements")
        for key, record in runs[0].items()
        if _values(record, "mismatch_host_int8", "elements") != [0]
    }

    assert wrong == {}
    assert {r["oracle"] for r in runs[0].values()} == {"executorch-1.5.1-python-operators"}
    assert any("quantized_avg_pool2d" in c for c in runs[0]["mps2-an386", "resnet8"]["corrections"])


@pytest.mark.qemu
def test_instruction_counts_are_identical_over_three_runs(runs: list[Records]) -> None:
    """Every sample of every window of every cell; the latency of a run equals itself too."""
    windows = ("load", "latency_first", "latency_warmup", "latency")
    counts = [
        {
            key: [_values(record, window, "instructions") for window in windows]
            for key, record in run.items()
        }
        for run in runs
    ]

    assert counts[0] == counts[1] == counts[2]
    assert all(len(set(cell[3])) == 1 for cell in counts[0].values())


@pytest.mark.qemu
def test_parts_equal_wholes_in_every_record(runs: list[Records], folders: list[Path]) -> None:
    """RAM and Flash by part, by region and by the program's own numbers; instructions by operator, remainder named."""
    for path in folders[0].rglob("*.json"):
        if path.name.count(".") != 1:
            continue
        record = Record.model_validate_json(path.read_bytes())
        sizes = {m.name: m.median for m in record.measures if m.unit == "bytes"}
        need = {
            kind: sum(r.need_bytes for r in record.regions if r.kind == kind)
            for kind in ("RAM", "Flash")
        }
        table = json.loads((path.parent / record.files["operators.json"].file).read_text())
        rows = sum(row["instructions"] for row in table["rows"])
        latency = record.find("latency", "instructions")

        assert () == wrong_sums(record)
        assert {"RAM": sizes["ram_total"], "Flash": sizes["flash_total"]} == need
        assert all(
            r.headroom_bytes == r.have_bytes - r.need_bytes - r.reserve_bytes
            for r in record.regions
        )
        assert latency is not None
        assert latency.median == table["latency"] == rows + table["remainder"]["instructions"]
    assert len(BOARDS) * len(list_models()) == len(runs[0])


@pytest.mark.qemu
def test_every_record_has_an_estimate_with_its_band(runs: list[Records]) -> None:
    """In every cell; a band of the default's width says that it is not established, and only such a one."""
    for record in runs[0].values():
        found = [
            m for m in record["measures"] if m["unit"] == "est_cycles" and m["name"] == "latency"
        ]
        (estimate,) = found
        low, high = estimate["band"]
        wide = (
            round(low / estimate["median"] - 1, 3),
            round(high / estimate["median"] - 1, 3),
        ) == WIDE

        assert estimate["table"].startswith(record["board"]["cpu"])
        assert wide == (NOT_ESTABLISHED in estimate["source"])
        assert wide or "from 8 held anchors" in estimate["source"]


@pytest.mark.qemu
@pytest.mark.usefixtures("runs")
def test_no_figure_changed_without_a_reason(folders: list[Path]) -> None:
    """The gate of this project: instructions, bytes and outputs are those of results/baselines.json.

    A change fails until `bench baseline accept --reason=...` (docs/decide.md) is committed with it; another compiler
    or QEMU is no change, but at least one must be known.
    """
    accepted = baseline.read(RESULTS / baseline.FILE_NAME)
    found = baseline.gate(accepted, frame.latest(bench.load(folders[0])))

    changed = [one for one in found if one.state is baseline.State.CHANGED]
    assert [] == [f"{one.cell}: {line}" for one in changed for line in one.lines]
    assert {entry.board for entry in accepted.entries} >= set(BOARDS)
    if {one.state for one in found} == {baseline.State.UNKNOWN_TOOLCHAIN}:
        pytest.skip(f"no baseline of this toolchain: {found[0].lines[0]}")
    unlike = [one.cell for one in found if one.state is not baseline.State.SAME]
    assert all(
        "digits_cnn" in cell for cell in unlike
    )  # trained here: another processor, other weights


@pytest.mark.qemu
@pytest.mark.parametrize("board", BOARDS)
def test_accuracy_of_digits_on_the_device(runs: list[Records], board: str) -> None:
    """At least 96 % on the test split, equal to host int8 sample for sample, float beside it, with the interval."""
    record = runs[0][board, "digits_cnn"]
    top1 = next(m for m in record["measures"] if m["name"] == "top1_device")

    assert top1["median"] >= 0.96
    assert top1["n"] >= 360
    assert top1["interval"][0] < top1["median"] < top1["interval"][1]
    assert _values(record, "top1_agreement", "fraction") == [1.0]
    assert _values(record, "top1_host_int8", "fraction") == top1["values"]
    assert _values(record, "top1_float", "fraction")[0] > 0.96


@pytest.mark.qemu
def test_no_accuracy_is_claimed_for_untrained_models(runs: list[Records]) -> None:
    """Random weights have no top-1."""
    claimed = {
        model
        for (_, model), record in runs[0].items()
        for m in record["measures"]
        if m["name"].startswith("top1")
    }

    assert claimed == {"digits_cnn"}


@pytest.mark.qemu
def test_fp32_agrees_with_torch(tmp_path: Path) -> None:
    """All six models in float on M4, M55 and (soft float) the small ones on M3: within 1e-4 of the largest output."""
    records = _run(tmp_path / "a", "--board=mps2-an386", "--board=mps3-an547", "--scheme=fp32", "--iterations=1", "--samples=40")  # fmt: skip
    soft = _run(tmp_path / "b", "--board=mps2-an385", "--scheme=fp32", "--iterations=1", "--samples=4", "--model=linear", "--model=digits_cnn", "--model=autoencoder")  # fmt: skip

    assert len(records) == 2 * len(list_models())
    worst = max(
        _values(record, "error_float", "max_relative")[0]
        for record in [*records.values(), *soft.values()]
    )
    assert worst < 1e-4
