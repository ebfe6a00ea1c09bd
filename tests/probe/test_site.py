"""The site file and the locks of its devices."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from bench.attach import Attach, Mode, target_for
from bench.board import find_boards
from bench.errors import DeviceBusyError, SiteFileError, UnknownNameError, error_of
from bench.locks import device_lock, is_free
from bench.site import Device, draft, read_site
from bench.targets.attached import Attached, FoundProbe

_TWO = """
[[device]]
name = "a"
board = "mps2-an386"
simulated = "mps2-an386"
tags = ["quiet"]

[[device]]
name = "b"
board = "nrf52840dk"
probe_uid = "000683012345"
vcom = 1
"""


def _site(folder: Path, text: str) -> Path:
    path = folder / "bench.toml"
    path.write_text(text)
    return path


def test_devices_are_read_in_order(tmp_path: Path) -> None:
    """A simulated device gets an id of its own, a real one keeps its probe's."""
    site = read_site(_site(tmp_path, _TWO))

    assert ["SIM-a", "000683012345"] == [device.uid for device in site.device]
    assert ("b",) == tuple(device.name for device in site.of_board("nrf52840dk"))


def test_an_unknown_device_names_the_nearest(tmp_path: Path) -> None:
    """`--device=NAME` is checked against the file."""
    with pytest.raises(UnknownNameError, match="known: a, b"):
        read_site(_site(tmp_path, _TWO)).named("c")


@pytest.mark.parametrize(
    ("text", "telling"),
    [
        ("[[device]]\nname='a'\nboard='x'\nprobe_uit='1'\n", "did you mean 'probe_uid'"),
        ("[[device]]\nname='a'\nboard='x'\n", "has no probe_uid"),
        ("[[device]]\nname=1\nboard='x'\n", "device.0.name"),
        ("[[device]\n", "at line 1"),
        (_TWO + "\n[[device]]\nname='a'\nboard='x'\nprobe_uid='2'\n", "name a stands for more"),
        (_TWO + "\n[[device]]\nname='c'\nboard='x'\nprobe_uid='SIM-a'\n", "probe_uid sim-a stands"),
        (_TWO + "\n[[device]]\nname='c'\nboard='x'\nprobe_uid='683012345'\n", "683012345 stands"),
        (
            "[[device]]\nname='a'\nboard='x'\nprobe_uid='1'\npower_command=\"uhubctl -l '1\"\n",
            r"device.0.power_command: .*not a command that a shell could read: No closing",
        ),
    ],
)
def test_a_bad_file_is_named_with_its_key(tmp_path: Path, text: str, telling: str) -> None:
    """File, key and what is wrong with it."""
    with pytest.raises(SiteFileError, match=telling) as caught:
        read_site(_site(tmp_path, text))

    assert str(tmp_path / "bench.toml") == caught.value.where


def test_no_file_is_an_empty_bench(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Unless the file was asked for by name."""
    monkeypatch.setattr("bench.site.PROJECT", tmp_path)
    monkeypatch.delenv("BENCH_SITE", raising=False)

    assert [] == read_site().device
    with pytest.raises(SiteFileError, match="no such site file"):
        read_site(tmp_path / "other.toml")


def test_a_draft_reads_back(tmp_path: Path) -> None:
    """What `bench boards --attached --write` writes is what the lab reads."""
    devices = [
        Device(name="a", board="b", probe_uid='1"2', tags=["x", "y"], vcom=2),
        Device(name="c", board="mps2-an386", simulated="mps2-an386"),
    ]

    assert devices == read_site(_site(tmp_path, draft(devices))).device


def test_a_device_has_one_user(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The second waits as long as it was told, and then hears who holds it."""
    monkeypatch.setenv("BENCH_LOCK_DIR", str(tmp_path))
    with device_lock(["one"], 0):
        with (
            pytest.raises(DeviceBusyError, match=f"one by process {os.getpid()}"),
            device_lock(["one"], 0.1),
        ):
            pass
        with device_lock(["one", "two"], 0) as (taken, _):
            assert "two" == taken

    assert is_free("one")
    with device_lock(["000683012345"], 0):  # a J-Link as USB spells it, and as pyOCD does
        assert not is_free("683012345")


def test_a_killed_holder_frees_the_device(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The kernel holds the lock, not a file's existence."""
    monkeypatch.setenv("BENCH_LOCK_DIR", str(tmp_path))
    code = (
        "from bench.locks import device_lock\n"
        "with device_lock(['one'], 0):\n    print('held', flush=True)\n    input()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == b"held\n"
        assert not is_free("one")
        child.send_signal(signal.SIGKILL)

    with device_lock(["one"], 5.0) as (taken, _):
        assert "one" == taken


def test_an_error_crosses_a_process_by_its_code() -> None:
    """A child tells code and text; the parent raises the same kind."""
    assert isinstance(error_of("device-busy", "x"), DeviceBusyError)
    assert "lab-error" == error_of("no-such-code", "x").code


# --- which of a board's devices are used ---


def _attached(*real: str) -> Callable[..., Attached]:
    """Return what is found on a bench with these real probes, and with every simulated device of a bus."""

    def find(bus: Sequence[tuple[str, str]] = (), **_options: bool) -> Attached:
        uids = [uid for _, uid in bus] if bus else real
        return Attached(tuple(FoundProbe(uid, "a probe", "") for uid in uids), ())

    return find


def test_a_real_device_and_a_simulated_one_are_never_mixed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Both stand in the file: the real one is taken if it is there; else the simulated one, which measures no part."""
    text = "[[device]]\nname='sim'\nboard='nrf52840dk'\nsimulated='nrf52840'\n"
    text += "[[device]]\nname='part'\nboard='nrf52840dk'\nprobe_uid='683012345'\n"
    monkeypatch.setenv("BENCH_SITE", str(_site(tmp_path, text)))
    board = find_boards("nrf52840dk")[0]
    said: list[str] = []

    monkeypatch.setattr("bench.attach.attached", _attached("683012345"))
    real = target_for(board, Attach(), said.append)
    monkeypatch.setattr("bench.attach.attached", _attached())
    flashed = target_for(board, Attach(Mode.HARDWARE), said.append)
    stand_in = target_for(board, Attach(), said.append)

    assert ["probe", "simulated", "twin"] == [t.attachment for t in (real, flashed, stand_in)]
    assert 1 == len(said)
    assert "NOT MEASURED ON HARDWARE: sim is simulated and measures nothing" in said[0]
