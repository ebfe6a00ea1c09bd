"""What a user with devices sees: pytest and the bench command run in processes of their own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path

import pytest

from bench import store
from bench.cache import PROJECT
from bench.locks import holder, is_free
from bench.record import Record
from tests.probe.conftest import UPSTREAM, Simulated

pytestmark = pytest.mark.qemu

_DEADLINE_S = 600.0  # the firmware may have to be built first
_MODELS = [f"--model={UPSTREAM / name}_cortex-m4.pte" for name in ("linear", "ds_cnn")]


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Path]:
    """Return a function that writes a site file of devices, which every process below uses."""

    def write(*devices: Simulated) -> Path:
        path = tmp_path / "bench.toml"
        path.write_text(
            "".join(
                f'[[device]]\nname = "{d.entry.name}"\nboard = "{d.entry.board}"\n'
                f'probe_uid = "{d.entry.uid}"\nsimulated = "{d.entry.simulated}"\n\n'
                for d in devices
            )
        )
        monkeypatch.setenv("BENCH_SITE", str(path))
        return path

    return write


def _run(*arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "NO_COLOR": "1", "COLUMNS": "200"}
    command = [sys.executable, "-m", *arguments]
    return subprocess.run(
        command, capture_output=True, text=True, timeout=_DEADLINE_S, cwd=PROJECT,
        env=environment, check=False,
    )  # fmt: skip


def _records(folder: Path) -> list[Record]:
    return [record for _, record in store.load(folder)[0]]


def test_two_models_on_a_device(
    an386: Simulated, site: Callable[..., Path], tmp_path: Path
) -> None:
    """`pytest --board` takes the device of the site file; its records say which, and `simulated`."""
    site(an386)

    done = _run(
        "pytest", "-q", "--board=mps2-an386", *_MODELS, "--attach=hardware",
        f"--device={an386.entry.name}", f"--record={tmp_path / 'results'}",
    )  # fmt: skip

    assert done.returncode == 0, done.stdout
    records = _records(tmp_path / "results")
    assert 2 == len(records)
    assert {(an386.entry.name, "simulated")} == {(r.device, r.attachment) for r in records}


def test_a_missing_probe_is_an_error_or_said_loudly(
    an386: Simulated, site: Callable[..., Path], tmp_path: Path
) -> None:
    """`hardware`: an error of pytest's within seconds. `auto`: the emulator stands in, and it is said (G13)."""
    site(an386)
    an386.bench.do("unplug")
    common = ("pytest", "-q", "--board=mps2-an386", _MODELS[0], f"--record={tmp_path / 'results'}")

    hardware = _run(*common, "--attach=hardware")
    auto = _run(*common)

    assert hardware.returncode == 1
    assert "probe-missing: no probe of mps2-an386 is attached" in hardware.stdout
    assert "1 error" in hardware.stdout
    assert auto.returncode == 0, auto.stdout
    assert "NOT MEASURED ON HARDWARE" in auto.stdout
    assert ["emulator"] == [record.attachment for record in _records(tmp_path / "results")]


def test_a_fault_leaves_an_invalid_record_and_the_matrix_goes_on(
    plug_in: Callable[..., Simulated], site: Callable[..., Path], tmp_path: Path
) -> None:
    """A stuck bit: errors, records without measures, then the device is left alone; another board's case passes."""
    broken, healthy = plug_in(), plug_in("mps2-an385")
    site(broken, healthy)
    broken.bench.arm(stuck_bits={0x40: 0xFF})
    report = tmp_path / "report.xml"
    linear, ds_cnn = _MODELS
    third = f"--model={UPSTREAM / 'autoencoder'}_cortex-m4.pte"

    done = _run(
        "pytest", "-q", "--board=mps2-an386", "--board=mps2-an385", linear, ds_cnn, third,
        "-k", "an386 or linear", f"--record={tmp_path / 'results'}", f"--junitxml={report}",
    )  # fmt: skip

    assert done.returncode == 1
    suite = ET.parse(report).getroot().find("testsuite")
    assert suite is not None
    assert ("4", "3", "0") == (suite.get("tests"), suite.get("errors"), suite.get("failures"))
    records = _records(tmp_path / "results")
    of_broken = [record for record in records if record.board.id == "mps2-an386"]
    assert ["invalid"] * 3 == [record.status for record in of_broken]
    assert [()] * 3 == [record.measures for record in of_broken]
    codes = sorted(issue.code for record in of_broken for issue in record.issues)
    assert ["flash-verify", "flash-verify", "quarantined"] == codes
    assert [healthy.entry.name] == [r.device for r in records if r.status != "invalid"]
    assert "tried: reflash" in done.stdout


def _kill_one_worker(devices: list[Simulated], run: subprocess.Popen[str]) -> int:
    """Kill the worker that holds a device while it works with it; return its process id."""
    until = time.monotonic() + _DEADLINE_S
    while time.monotonic() < until and run.poll() is None:
        for device in devices:
            if device.bench.status()["claimed"] and not is_free(device.entry.uid):
                worker = int(holder(device.entry.uid).split()[0])
                os.kill(worker, signal.SIGKILL)
                return worker
        time.sleep(0.01)
    pytest.fail("no worker took a device")


def test_a_killed_worker_frees_its_device_and_the_rest_goes_on(
    plug_in: Callable[..., Simulated], site: Callable[..., Path], tmp_path: Path
) -> None:
    """Two devices under `pytest -n 2`: a worker is killed at work, the others' results stand, both devices are free."""
    devices = [plug_in(), plug_in()]
    site(*devices)
    models = [
        f"--model={UPSTREAM / name}_cortex-m4.pte"
        for name in ("linear", "ds_cnn", "autoencoder", "resnet8")
    ]
    command = [
        *(sys.executable, "-m", "pytest", "-q", "-n", "2", "--board=mps2-an386", *models),
        *(f"--record={tmp_path / 'results'}", "--attach=hardware"),
    ]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=PROJECT
    ) as child:
        _kill_one_worker(devices, child)
        output, _ = child.communicate(timeout=_DEADLINE_S)

    assert child.returncode == 1
    assert "1 failed, 3 passed" in output, output
    assert "crashed while running" in output
    assert "benchmark records" in output
    assert "(3 written)" in output
    assert "│ mps2-an386 (simulated) │" in output
    assert 1 == output.count("building the firmware of mps2-an386")
    assert 3 == len([r for r in _records(tmp_path / "results") if r.status != "invalid"])
    for device in devices:
        assert is_free(device.entry.uid)
        device.flash()


def test_doctor_tells_what_is_there(an386: Simulated, site: Callable[..., Path]) -> None:
    """Tools with their versions, probes, ports, devices; a device that cannot be used makes it end with 3."""
    site(an386)

    fine = _run("bench", "doctor", "--json")
    an386.bench.do("unplug")
    missing = _run("bench", "doctor", "--json")

    told = json.loads(fine.stdout)
    assert fine.returncode == 0, fine.stderr
    assert an386.entry.uid in {probe["uid"] for probe in told["attached"]["probes"]}
    assert {"pyocd", "qemu-system-arm", "cc", "tosa-tools"} <= {
        tool["name"] for tool in told["tools"]
    }
    assert [(an386.entry.name, "")] == [(d["name"], d["problem"]) for d in told["devices"]]
    assert missing.returncode == 3
    assert "not attached" in json.loads(missing.stdout)["devices"][0]["problem"]


def test_flash_and_recover(nrf52: Simulated, site: Callable[..., Path]) -> None:
    """Flash tells its figures; recover says what it would erase, and erases only with --yes."""
    site(nrf52)
    device = f"--device={nrf52.entry.name}"
    first = json.loads(_run("bench", "flash", device, "--json").stdout)
    nrf52.bench.do("lock")

    locked = _run("bench", "flash", device)
    asked = _run("bench", "recover", device)
    before = nrf52.bench.status()["erased_all"]
    done = _run("bench", "recover", device, "--yes", "--json")

    assert first["programmed_bytes"] > 0
    assert (3, True) == (locked.returncode, "locked: the part is locked" in locked.stderr)
    assert (2, 0) == (asked.returncode, before)
    assert "this would erase all of" in asked.stdout
    assert (0, True) == (done.returncode, json.loads(done.stdout)["erased"])
    assert 1 == nrf52.bench.status()["erased_all"]


def test_a_site_file_is_drafted_from_what_is_attached(
    an386: Simulated, nrf52: Simulated, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """`bench boards --attached --write` names each probe's board; devices that are there already stay."""
    path = tmp_path / "drafted.toml"
    path.write_text("")
    monkeypatch.setenv("BENCH_SITE", str(path))
    monkeypatch.setenv(
        "BENCH_SIMULATED_BUS", f"mps2-an386:{an386.entry.uid},nrf52840:{nrf52.entry.uid}"
    )

    first = _run("bench", "boards", "--attached", "--write", "--json")
    drafted = path.read_text()
    again = _run("bench", "boards", "--attached", "--write")

    assert ["mps2-an386", "nrf52840dk"] == [row["board"] for row in json.loads(first.stdout)]
    assert f'probe_uid = "{nrf52.entry.uid}"' in drafted
    assert again.returncode == 0, again.stderr
    assert drafted == path.read_text()
