"""The front door as a user sees it: pytest and the bench command run in processes of their own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest

from bench.cache import PROJECT

UPSTREAM = PROJECT / "tests" / "data" / "upstream"


def _run(
    *arguments: str, cwd: Path = PROJECT, **environment: str
) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "NO_COLOR": "1", "COLUMNS": "200", **environment}
    return subprocess.run(
        arguments, capture_output=True, text=True, timeout=600, cwd=cwd, env=env, check=False
    )


def _pytest(*arguments: str) -> subprocess.CompletedProcess[str]:
    return _run(sys.executable, "-m", "pytest", *arguments)


def _bench(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return _run(sys.executable, "-m", "bench", *arguments, **environment)


def test_an_unknown_board_ends_with_the_list_and_the_nearest() -> None:
    """Exit 4 of pytest, before anything is collected."""
    done = _pytest("--board=mps3-an574")

    assert done.returncode == 4
    assert "no board 'mps3-an574'" in done.stderr
    assert "did you mean 'mps3-an547'? known: alif-e8, all, " in done.stderr
    assert "catalogue, chips, emulated, " in done.stderr
    assert "host, lpc55s69-evk, microbit, mps2-an385, " in done.stderr


def test_an_unknown_model_ends_with_the_list_and_the_nearest() -> None:
    """The same for models."""
    done = _pytest("--board=host", "--model=resnet9")

    assert done.returncode == 4
    assert "did you mean 'resnet8'?" in done.stderr


def test_an_unknown_board_of_the_command_is_usage() -> None:
    """Exit 2 of bench."""
    done = _bench("run", str(UPSTREAM / "linear_cortex-m4.pte"), "--board=nrf9999")

    assert done.returncode == 2
    assert "unknown-name: no board 'nrf9999'" in done.stderr


@pytest.mark.qemu
def test_one_program_once_with_raw_inputs_and_outputs(tmp_path: Path) -> None:
    """`bench run` gives upstream's bytes, and its record as JSON."""
    stem = UPSTREAM / "ds_cnn_cortex-m55"
    out = tmp_path / "y.bin"

    done = _bench(
        "run",
        f"{stem}.pte",
        "--board=mps3-an547",
        f"--input={stem}.in.bin",
        f"--output={out}",
        "--json",
    )

    assert done.returncode == 0, done.stderr
    assert out.read_bytes() == Path(f"{stem}.out.bin").read_bytes()
    record = json.loads(done.stdout)
    assert (record["board"]["cpu"], record["attachment"]) == ("cortex-m55", "emulator")
    assert {m["unit"] for m in record["measures"] if m["name"] == "latency_first"} == {
        "instructions",
        "est_cycles",
    }


@pytest.mark.qemu
def test_one_program_tells_what_each_instruction_costs() -> None:
    """`bench run --operators`: rows and remainder are the inference of the record, in instructions and est_cycles."""
    arguments = ("run", str(UPSTREAM / "linear_cortex-m4.pte"), "--board=mps2-an386", "--operators")
    done = _bench(*arguments, "--json")
    told = json.loads(done.stdout)
    found = {(m["name"], m["unit"]): m["median"] for m in told["record"]["measures"]}
    table = told["operators"]

    assert [0, 1, 2, 3] == [row["index"] for row in table["rows"]]
    whole = sum(row["instructions"] for row in table["rows"]) + table["remainder"]["instructions"]
    assert found["latency_first", "instructions"] == whole == table["latency"]
    cycles = sum(row["est_cycles"] for row in table["rows"])
    assert 0.8 < cycles / found["latency_first", "est_cycles"] <= 1.0
    assert "between-operators" in _bench(*arguments).stdout


@pytest.mark.qemu
def test_npy_files_go_in_and_out_in_logical_shape(tmp_path: Path) -> None:
    """A .npy has the model's own NCHW shape; the program's layout is the lab's business."""
    stem = UPSTREAM / "resnet8_cortex-m4"
    nhwc = np.fromfile(f"{stem}.in.bin", np.float32).reshape(1, 32, 32, 3)
    np.save(tmp_path / "x.npy", nhwc.transpose(0, 3, 1, 2))

    done = _bench("run", f"{stem}.pte", "--board=mps2-an386", f"--input={tmp_path / 'x.npy'}", f"--output={tmp_path / 'y.npy'}")  # fmt: skip

    assert done.returncode == 0, done.stderr
    expected = np.fromfile(f"{stem}.out.bin", np.float32).reshape(1, 10)
    assert np.array_equal(np.load(tmp_path / "y.npy"), expected)


def test_an_input_of_the_wrong_size_says_what_is_wanted(tmp_path: Path) -> None:
    """Bytes that came, and shape, type, order and bytes that the program wants."""
    (tmp_path / "x.bin").write_bytes(bytes(10))

    done = _bench(
        "run",
        str(UPSTREAM / "linear_cortex-m4.pte"),
        "--board=host",
        f"--input={tmp_path / 'x.bin'}",
    )

    assert done.returncode == 2
    assert "10 bytes, the program wants float32 [1, 64], dim order [0, 1], 256 bytes" in done.stderr


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "the file is empty"),
        (b"<!DOCTYPE html><html>", "HTML or XML page"),
        (b"version https://git-lfs.github.com/spec/v1\n", "Git LFS pointer"),
        ((UPSTREAM / "linear_cortex-m4.pte").read_bytes()[:3000], "truncated: 3000 bytes, its header promises 5224"),
        (b"\0" + (UPSTREAM / "linear_cortex-m4.pte").read_bytes(), "does not begin at the file's first byte"),
    ],
    ids=["empty", "html", "lfs", "truncated", "shifted"],
)  # fmt: skip
def test_a_file_that_is_no_program_is_named(content: bytes, message: str, tmp_path: Path) -> None:
    """S17, G12: what the file looks like, exit 2, nothing booted."""
    path = tmp_path / "model.pte"
    path.write_bytes(content)

    done = _bench("run", str(path), "--board=host")

    assert done.returncode == 2
    assert message in done.stderr


@pytest.mark.qemu
def test_a_fault_in_one_cell_does_not_stop_the_matrix(tmp_path: Path) -> None:
    """A model that cannot be built fails alone; the other runs, is recorded, and JUnit XML has both."""
    (tmp_path / "broken.py").write_text(
        "def build():\n    raise RuntimeError('no such data set')\n"
    )
    junit = tmp_path / "junit.xml"

    done = _pytest("--board=mps2-an386", f"--model={tmp_path / 'broken.py'}:build", "--model=linear",
                   f"--record={tmp_path / 'records'}", f"--junitxml={junit}")  # fmt: skip

    assert done.returncode == 1
    assert "no such data set" in done.stdout
    suite = next(iter(ET.parse(junit).getroot()))
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) in {
        ("2", "1", "0"),
        ("2", "0", "1"),
    }
    (record,) = (tmp_path / "records").rglob("*-int8-*[0-9a-f].json")
    assert json.loads(record.read_text())["status"] == "valid"
    names = {p.get("name") for p in suite.iter("property")}
    assert "latency [instructions, count]" in names


@pytest.mark.qemu
def test_a_ready_program_runs_without_accuracy(tmp_path: Path) -> None:
    """`--model=file.pte`: degraded, because nothing says whether its outputs are right."""
    done = _pytest(
        "--board=mps3-an547",
        f"--model={UPSTREAM / 'linear_cortex-m55.pte'}",
        f"--record={tmp_path}",
    )

    assert done.returncode == 0, done.stdout
    assert f"`bench show {tmp_path}` prints them" in done.stdout
    (record,) = tmp_path.rglob("*-int8-????????.json")
    told = json.loads(record.read_text())
    assert told["status"] == "degraded"
    codes = [issue["code"] for issue in told["issues"]]
    assert [code for code in codes if code != "dirty-tree"] == ["no-host-reference", "cpu-unknown"]
    assert "untrained" not in done.stdout  # nobody knows
    assert not [m for m in told["measures"] if m["name"].startswith("top1")]


def test_records_are_shown_as_a_table_and_as_json(tmp_path: Path) -> None:
    """`bench show` of a folder with one good record and one damaged file: one row, one named file."""
    done = _pytest("--board=host", "--model=linear", f"--record={tmp_path}")
    assert done.returncode == 0, done.stdout
    (tmp_path / "host" / "linear" / "broken.json").write_text("{")

    table = _bench("show", str(tmp_path))
    data = _bench("show", str(tmp_path), "--json")

    assert "linear" in table.stdout
    assert "broken.json" in table.stderr
    assert [record["board"]["id"] for record in json.loads(data.stdout)] == ["host"]


def test_a_missing_emulator_is_named(tmp_path: Path) -> None:
    """No QEMU on PATH: exit 3, what is missing and how to get it (compilers are not needed for a built image)."""
    _bench("run", str(UPSTREAM / "linear_cortex-m4.pte"), "--board=mps2-an386")  # builds the image
    for tool in ("ninja", "cmake", "git", "arm-none-eabi-g++", "ccache"):
        (tmp_path / tool).symlink_to(f"/usr/bin/{tool}")

    done = _bench(
        "run", str(UPSTREAM / "linear_cortex-m4.pte"), "--board=mps2-an386", PATH=str(tmp_path)
    )

    assert done.returncode == 3
    assert "tool-missing: qemu-system-arm is not installed" in done.stderr


def test_help_names_the_front_door() -> None:
    """Who types `bench` alone learns where benchmarks are."""
    done = _bench("--help")

    assert "pytest --board=ID" in done.stdout


def test_a_board_that_is_not_there_is_an_error_before_anything_is_made(tmp_path: Path) -> None:
    """`--attach=hardware` without a device: a model that would take long to export is not even imported."""
    slow = tmp_path / "slow.py"
    slow.write_text("import time\n\n\ndef build():\n    time.sleep(600)\n")

    started = time.monotonic()
    done = _pytest("--board=nrf5340", f"--model={slow}:build", "--attach=hardware")

    assert 1 == done.returncode
    assert "bench.toml names no device of the board nrf5340dk" in done.stdout
    assert "1 error" in done.stdout
    assert time.monotonic() - started < 60


@pytest.mark.qemu
def test_a_record_has_the_headroom_after_the_reserve(tmp_path: Path) -> None:
    """`--reserve-ram` is in the record, taken off where most room is; `bench show` takes another."""
    board = ("--board=mps3-an547", "--model=linear", "--samples=1", f"--record={tmp_path}")
    done = _pytest(*board, "--reserve-ram=1MB")
    (path,) = tmp_path.glob("mps3-an547/linear/*Z-int8-????????.json")
    regions = {one["name"]: one for one in json.loads(path.read_text())["regions"]}
    shown = _bench("show", str(tmp_path), "--view=regions", "--reserve-ram=2MB")

    assert done.returncode == 0, done.stdout
    assert "bytes of the deployment image, parts add up to the totals" in done.stdout
    assert {"CODE", "DATA", "ARENA", "MODEL"} == set(regions)
    assert (0, 1 << 20) == (regions["DATA"]["reserve_bytes"], regions["ARENA"]["reserve_bytes"])
    left = (4 << 20) - (1 << 20) - regions["ARENA"]["need_bytes"]  # memory.ld: ARENA has 4 MB
    assert left == regions["ARENA"]["headroom_bytes"]
    assert f"{left - (1 << 20):,}" in shown.stdout


def test_a_latency_width_is_a_fraction() -> None:
    """1 is 100 %: refused before anything is collected."""
    done = _pytest("--board=host", "--latency-width=1")

    assert done.returncode == 4
    assert "--latency-width is a fraction" in done.stderr
