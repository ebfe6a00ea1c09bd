"""Models that people bring, run through the front door on an M55 and an M4, in int8 and in float."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from bench.cache import PROJECT

pytestmark = pytest.mark.qemu

HERE = Path(__file__).parent
BOARDS = ("mps3-an547", "mps2-an386")
# The share of MACs that the quantizer brings to int8: it has no pattern for recurrent cells.
MODELS = {
    "encoder_block:build": 1.0,
    "encoder_block:build_sdpa": 0.8,
    "lstm:build": 0.0,
    "sensor_cnn:build": 1.0,
    "unet:build": 1.0,
    "mobilenet_v3_small:build": 0.95,
    "mobilenet_v2:build": 1.0,
}
# What float programs keep of the original's signal: they differ in the order of sums alone.
FLOAT_SNR_DB = 90.0
# Float islands of int8 programs round as their library does: an output may fall on the next step.
ISLANDS = ("lstm:build", "encoder_block:build_sdpa")

Record = dict[str, Any]


def run(models: tuple[str, ...], schemes: tuple[str, ...], folder: Path) -> list[Record]:
    """Run models on both boards; return the records, each board's of each scheme."""
    command = [sys.executable, "-m", "pytest", f"--record={folder}"]
    command += [f"--scheme={scheme}" for scheme in schemes]
    command += [f"--board={board}" for board in BOARDS]
    command += [
        f"--model={HERE / model.replace(':', '.py:')}" if ":" in model else f"--model={model}"
        for model in models
    ]
    done = subprocess.run(
        command,
        cwd=PROJECT,
        env={**os.environ, "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        timeout=1800,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    paths = [p for p in folder.rglob("*.json") if p.name.count(".") == 1 and p.name != "board.json"]
    records = [json.loads(path.read_text()) for path in paths]
    assert len(records) == len(models) * len(schemes) * len(BOARDS)
    for record in records:
        assert 1 == len(counts(record)), (record["board"]["id"], record["model"]["name"])
    return records


def counts(record: Record) -> set[float]:
    """Return how many instructions the inferences took, the first included: the same input each time."""
    names = ("latency_first", "latency")
    found = [m for m in record["measures"] if m["name"] in names and m["unit"] == "instructions"]
    assert sum(len(m["values"]) for m in found) > 1, record["measures"]
    return {value for m in found for value in m["values"]}


def value(record: Record, name: str, unit: str) -> float:
    """Return the median of a measure."""
    found = [m["median"] for m in record["measures"] if (m["name"], m["unit"]) == (name, unit)]
    assert len(found) == 1, (name, unit)
    return float(found[0])


@pytest.fixture(scope="module", params=MODELS)
def model_runs(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[str, list[Record]]:
    """Run a model in both schemes on both boards."""
    model = str(request.param)
    return model, run((model,), ("int8", "fp32"), tmp_path_factory.mktemp("records"))


def test_int8_is_host_int8(model_runs: tuple[str, list[Record]]) -> None:
    """Each board gives what ExecuTorch's own operators give, float islands included, and the record is valid."""
    model, records = model_runs
    for record in (r for r in records if r["scheme"] == "int8"):
        assert "valid" == record["status"], record["issues"]
        assert record["program"]["int8_mac_fraction"] >= MODELS[model]
        steps = value(record, "mismatch_host_int8", "steps")
        assert steps <= (1.0 if model in ISLANDS else 0.0)


def test_float_is_the_original(model_runs: tuple[str, list[Record]]) -> None:
    """In float each board gives the original model's outputs but for the order of sums."""
    _, records = model_runs
    for record in (r for r in records if r["scheme"] == "fp32"):
        assert "valid" == record["status"], record["issues"]
        assert value(record, "error_float", "dB") >= FLOAT_SNR_DB


def test_field_cases(tmp_path: Path) -> None:
    """Field cases G06, S08 and S11 in int8: no element differs from host int8 on either core."""
    cases = ("field_cases:g06", "field_cases:s08", "field_cases:s11")

    for record in run(cases, ("int8",), tmp_path):
        assert "valid" == record["status"], record["issues"]
        assert 1.0 == record["program"]["int8_mac_fraction"]
        assert 0.0 == value(record, "mismatch_host_int8", "elements")


def test_mixed_types(tmp_path: Path) -> None:
    """Field case S04: an int32 input beside a float one; the deployment image has what the conversion needs."""
    for record in run(("field_cases:s04",), ("fp32",), tmp_path):
        assert "valid" == record["status"], record["issues"]
        assert 0.0 == value(record, "error_float", "max_abs")
        assert {"lab", "deployment"} == {image["role"] for image in record["images"]}


def test_int8_ends_of_a_method(tmp_path: Path) -> None:
    """A method of its own name, two inputs and two outputs, all int8: no element differs, floats are recovered."""
    for record in run(("two_methods:build#encode",), ("int8-ends",), tmp_path):
        assert "valid" == record["status"], record["issues"]
        assert "two_methods-encode" == record["model"]["name"]
        assert not any("quantize_per" in name for name in record["program"]["operators"])
        assert 0.0 == value(record, "mismatch_host_int8", "elements")
        assert value(record, "error_float", "dB") > 20.0


def test_int8_ends_cost_no_accuracy(tmp_path: Path) -> None:
    """digits_cnn is right as often with int8 ends as with float ends, on the device and on the host."""
    records = run(("digits_cnn",), ("int8", "int8-ends"), tmp_path)

    for name in ("top1_device", "top1_host_int8", "top1_float"):
        assert 1 == len({value(record, name, "fraction") for record in records}), name
    assert all(value(record, "mismatch_host_int8", "elements") == 0.0 for record in records)
