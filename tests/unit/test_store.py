"""Records are written whole or not at all."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench import cache, store
from bench.cache import folder_atomically, write_atomically


def test_a_write_that_fails_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A full disk (fsync fails) keeps what was there and leaves nothing half-written."""
    path = tmp_path / "record.json"
    write_atomically(path, b"old")

    def full(_handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(cache.os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        write_atomically(path, b"new")

    assert path.read_bytes() == b"old"
    assert [p.name for p in tmp_path.iterdir()] == ["record.json"]


def test_a_folder_that_fails_is_not_there(tmp_path: Path) -> None:
    """An export that dies half-way leaves no folder that looks like a program."""
    with pytest.raises(RuntimeError), folder_atomically(tmp_path / "program") as folder:
        (folder / "half").write_text("x")
        raise RuntimeError

    assert list(tmp_path.iterdir()) == []


def test_a_folder_made_twice_at_once_is_one(tmp_path: Path) -> None:
    """Two processes that export the same program: the first stays, the second is no error."""
    with folder_atomically(tmp_path / "program") as first:
        (first / "whose").write_text("first")
        with folder_atomically(tmp_path / "program") as second:
            (second / "whose").write_text("second")

    assert (tmp_path / "program" / "whose").read_text() == "second"
    assert [p.name for p in tmp_path.iterdir()] == ["program"]


def test_a_file_beside_a_record_is_not_taken_for_one(tmp_path: Path) -> None:
    """`program.json` belongs to its record: it is neither a record nor damaged."""
    folder = tmp_path / "b" / "m"
    folder.mkdir(parents=True)
    (folder / "20260101T000000Z-int8-0123abcd.program.json").write_text("{}")
    (folder / "notes.json").write_text("{}")

    _, bad = store.load(tmp_path)

    assert ["notes.json"] == [item.path.name for item in bad]
