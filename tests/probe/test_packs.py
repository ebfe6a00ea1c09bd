"""CMSIS-Packs: found by hash where the user says, never downloaded (G15)."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from bench.attach import Attach, Mode, target_for
from bench.board import Board, Pyocd, find_boards
from bench.errors import PackMissingError, ProbeMissingError, SiteFileError
from bench.packs import LOCK, find_pack, read_lock


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
    with pytest.raises(ProbeMissingError, match="names no device that is a mps2-an386"):
        target_for(emulated, Attach(Mode.HARDWARE), print)
