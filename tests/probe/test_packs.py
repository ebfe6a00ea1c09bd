"""CMSIS-Packs: found by hash where the user says, never downloaded (G15)."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from bench.attach import Attach, Mode, target_for
from bench.board import Board, ChipId, Pyocd, find_boards
from bench.cache import PROJECT
from bench.errors import LabError, PackMissingError, ProbeMissingError, SiteFileError
from bench.packs import LOCK, Pack, find_pack, identify, lock_path, read_lock, record
from bench.targets.device import DeviceTarget
from tests.probe import made_pack
from tests.probe.conftest import Simulated, image_of, output_of
from tests.probe.made_pack import make_pack

qemu = pytest.mark.qemu


def _lock(folder: Path, content: bytes) -> Path:
    digest = hashlib.sha256(content).hexdigest()
    path = folder / "packs.lock"
    path.write_text(f'[[pack]]\nid = "V.F_DFP"\nversion = "1.2.3"\nsha256 = "{digest}"\n')
    return path


def test_a_pack_is_found_by_its_hash(tmp_path: Path) -> None:
    """In the folder that was named, under the vendor's file name."""
    (tmp_path / "V.F_DFP.1.2.3.pack").write_bytes(b"pack")

    found = find_pack("V.F_DFP", [tmp_path / "none", tmp_path], _lock(tmp_path, b"pack"))

    assert tmp_path / "V.F_DFP.1.2.3.pack" == found


def test_a_missing_pack_is_named_with_the_way_to_bring_it(tmp_path: Path) -> None:
    """Version, file name, where it was looked for, and that nothing is downloaded."""
    with pytest.raises(PackMissingError, match=r"V\.F_DFP 1\.2\.3 is needed") as caught:
        find_pack("V.F_DFP", [tmp_path], _lock(tmp_path, b"pack"))

    assert str(tmp_path) in caught.value.what
    assert "V.F_DFP.1.2.3.pack" in caught.value.hint
    assert "--pack-dir" in caught.value.hint


def test_a_pack_of_another_content_is_refused(tmp_path: Path) -> None:
    """A cut-off download is not used."""
    (tmp_path / "V.F_DFP.1.2.3.pack").write_bytes(b"pac")

    with pytest.raises(PackMissingError, match=r"is not the pack of packs\.lock"):
        find_pack("V.F_DFP", [tmp_path], _lock(tmp_path, b"pack"))


def test_a_pack_that_is_not_locked_is_named(tmp_path: Path) -> None:
    """A board file may name no pack that nobody has a hash of."""
    with pytest.raises(PackMissingError, match=r"W\.G_DFP is not in packs\.lock"):
        find_pack("W.G_DFP", [tmp_path], _lock(tmp_path, b"pack"))


def test_the_projects_lock_is_well_formed(tmp_path: Path) -> None:
    """And a malformed one is named."""
    assert isinstance(read_lock(LOCK), tuple)
    bad = tmp_path / "packs.lock"
    bad.write_text('[[pack]]\nid = "x"\nversion = "1"\nsha256 = "short"\n')
    with pytest.raises(SiteFileError, match="sha256"):
        read_lock(bad)


def test_the_pack_is_looked_for_before_the_probe_is_opened(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A board whose pack is missing is refused by name."""
    site = tmp_path / "bench.toml"
    site.write_text('[[device]]\nname = "a"\nboard = "nrf52840dk"\nsimulated = "nrf52840"\n')
    monkeypatch.setenv("BENCH_SITE", str(site))
    board: Board = find_boards("nrf52840dk")[0]
    packed = board.model_copy(update={"pyocd": Pyocd(target="nrf52840", pack="V.F_DFP")})

    with pytest.raises(PackMissingError, match=r"V\.F_DFP"):
        target_for(packed, Attach(Mode.HARDWARE), print)


# --- which way a board is reached ---


def test_a_board_without_a_device_is_emulated_or_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """`auto` takes QEMU where there is one; `hardware` is an error at once, with the way to attach a device."""
    monkeypatch.setattr("bench.site.PROJECT", Path("/nonexistent"))
    emulated = find_boards("mps2-an386")[0]

    assert "emulator" == target_for(emulated, Attach(), print).attachment
    assert "emulator" == target_for(emulated, Attach(Mode.TWIN), print).attachment
    with pytest.raises(ProbeMissingError, match="names no device of the board mps2-an386"):
        target_for(emulated, Attach(Mode.HARDWARE), print)


# --- a pack of our own, made here: from its file to a run ---


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A pack file in a folder of its own, and an empty lock in use."""
    lock = tmp_path / "packs.lock"
    lock.write_text("# nothing yet\n")
    monkeypatch.setenv("BENCH_PACKS_LOCK", str(lock))
    folder = tmp_path / "packs"
    folder.mkdir()
    return make_pack(folder)


def test_a_pack_is_recorded_by_what_it_says_of_itself(made: Path) -> None:
    """Id and the newest release come from its description, the hash is sha256sum's; the second time is no change."""
    done = _bench("packs", "add", str(made))
    again = _bench("packs", "add", str(made))

    told = subprocess.run(["sha256sum", str(made)], capture_output=True, text=True, check=True)
    (pack,) = read_lock()
    assert (made_pack.ID, "1.2.3", told.stdout.split()[0]) == (pack.id, pack.version, pack.sha256)
    assert (0, 0) == (done.returncode, again.returncode)
    assert "recorded in" in done.stdout
    assert "stood already in" in again.stdout
    assert made == find_pack(made_pack.ID, [made.parent])


def test_another_version_is_recorded_only_on_purpose(made: Path) -> None:
    """The lock is not changed by the way; comments and other entries stay."""
    lock = lock_path()
    record(Pack(id="V.Before", version="1.0", sha256="1" * 64))
    record(Pack(id=made_pack.ID, version="1.1.0", sha256="0" * 64))
    record(Pack(id="V.After", version="1.1.0", sha256="2" * 64))

    refused = _bench("packs", "add", str(made))
    before = lock.read_text()
    replaced = _bench("packs", "add", "--replace", str(made))

    assert refused.returncode == 2
    assert "packs.lock has CortexMBench.Simulated_DFP 1.1.0" in refused.stderr
    assert replaced.returncode == 0, replaced.stderr
    assert before.replace('DFP"\nversion = "1.1.0"', 'DFP"\nversion = "1.2.3"').replace(
        "0" * 64, hashlib.sha256(made.read_bytes()).hexdigest()
    ) == (lock.read_text())


@pytest.mark.parametrize(
    ("content", "telling"),
    [
        (b"<html>404</html>", "is no CMSIS-Pack: File is not a zip file"),
        (b"", "is no CMSIS-Pack"),
        (None, "cannot be read"),
    ],
)
def test_what_is_no_pack_is_refused(
    content: bytes | None, telling: str, made: Path, tmp_path: Path
) -> None:
    """A page that says 404, an empty file, no file."""
    path = tmp_path / "x.pack"
    if content is not None:
        path.write_bytes(content)

    done = _bench("packs", "add", str(path))

    assert done.returncode == 2
    assert telling in done.stderr
    assert "# nothing yet\n" == lock_path().read_text()


def test_a_damaged_pack_is_refused(made: Path) -> None:
    """One byte of one of its files is another: the archive's own checksum says so."""
    raw = bytearray(made.read_bytes())
    raw[raw.index(b"Flash/0.FLM") + 40] ^= 0xFF
    made.write_bytes(raw)

    done = _bench("packs", "add", str(made))

    assert done.returncode == 2
    assert "is damaged: Flash/0.FLM fails" in done.stderr or "is no CMSIS-Pack" in done.stderr


@qemu
def test_a_device_runs_through_a_pack(made: Path, an386: Simulated) -> None:
    """The chip is known from the pack alone: pyOCD gets map and flash algorithms from it, the run's outputs are right."""
    board = _described_by_a_pack(an386.board)
    record(identify(made))
    target = DeviceTarget([an386.entry], packs=[find_pack(made_pack.ID, [made.parent])], ladder={})
    simulated = dataclasses.replace(an386, board=board)

    log, transcript = simulated.run(target=target)
    _, again = simulated.run(target=target)

    assert output_of("linear") == log.outputs[0, 0]
    first, same = (json.loads(t.diagnostics.splitlines()[0][7:]) for t in (transcript, again))
    assert first["programmed_bytes"] > 200_000
    assert (0, first["programmed_bytes"]) == (same["programmed_bytes"], same["identical_bytes"])


@qemu
@pytest.mark.parametrize(
    ("spoil", "code", "telling"),
    [
        ("other target", "pack-missing", "pyOCD does not know the chip labm9"),
        ("not a zip", "pack-missing", "cannot be used: .*not a zip file"),
        ("no algorithms", "flash-target", "is not Flash of labm4f"),
    ],
)
def test_a_pack_that_does_not_do_is_named(
    spoil: str, code: str, telling: str, made: Path, an386: Simulated
) -> None:
    """Its hash is the lock's, and yet: it describes another chip, it is no archive, it has no flash algorithm."""
    board = _described_by_a_pack(an386.board, "labm9" if spoil == "other target" else "")
    if spoil == "not a zip":
        made.write_bytes(b"<html>404</html>")
    elif spoil == "no algorithms":
        make_pack(made.parent, algorithms=False)
    digest = hashlib.sha256(made.read_bytes()).hexdigest()
    record(Pack(id=made_pack.ID, version=made_pack.VERSION, sha256=digest))
    packs = [find_pack(made_pack.ID, [made.parent])]

    with pytest.raises(LabError, match=telling) as caught:
        DeviceTarget([an386.entry], packs=packs, ladder={}).flash(board, image_of("mps2-an386"))

    assert code == caught.value.code
    assert caught.value.hint
    an386.flash()


def _described_by_a_pack(board: Board, target: str = "") -> Board:
    known = ChipId(address=0x4002FFFC, value=0x41043860)
    described = Pyocd(target=target or made_pack.TARGET, pack=made_pack.ID, chip_id=[known])
    return board.model_copy(update={"pyocd": described})


def _bench(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "bench", *arguments]
    return subprocess.run(
        command, capture_output=True, text=True, timeout=60, check=False, cwd=PROJECT,
        env={**os.environ, "NO_COLOR": "1", "COLUMNS": "200"},
    )  # fmt: skip
