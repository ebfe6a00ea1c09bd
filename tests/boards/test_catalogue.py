"""The catalogue: boards without support, each with its facts, their source, and what nobody checked."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from bench.board import all_boards
from bench.catalogue import CATALOGUE, all_entries, read_entry
from bench.cli import app
from bench.errors import BoardFileError
from bench.estimate import all_tables


def test_eight_boards_are_listed_beside_those_with_support() -> None:
    """No name is used twice."""
    names = [name for e in all_entries().values() for name in (e.id, *e.aliases)]
    boards = [name for b in all_boards().values() for name in (b.id, *b.aliases)]

    assert 8 == len(all_entries())
    assert len(names) == len(set(names) - set(boards))


@pytest.mark.parametrize("entry_id", all_entries())
def test_an_entry_can_be_judged(entry_id: str) -> None:
    """It has Flash and RAM, a core that a timing table knows, and a source."""
    entry = all_entries()[entry_id]

    assert entry.cpu in all_tables()
    assert entry.nbytes("Flash") > entry.nbytes("RAM") > 64 * 1024 or entry_id == "alif-e8"
    assert "price" not in (CATALOGUE / entry_id / "entry.toml").read_text()


def test_a_bad_entry_is_named(tmp_path: Path) -> None:
    """File and key."""
    text = (CATALOGUE / "nrf54l15dk" / "entry.toml").read_text().replace("clock_hz", "clock_mhz")
    path = tmp_path / "nrf54l15dk" / "entry.toml"
    path.parent.mkdir()
    path.write_text(text)

    with pytest.raises(BoardFileError, match="clock_") as caught:
        read_entry(path)

    assert str(tmp_path) in str(caught.value)


def test_bench_boards_all_lists_both_kinds() -> None:
    """`--all` adds the catalogue, marked as without support; without it nothing changes."""
    plain = json.loads(CliRunner().invoke(app, ["boards", "--json"]).output)
    every = json.loads(CliRunner().invoke(app, ["boards", "--all", "--json"]).output)
    shown = CliRunner().invoke(app, ["boards", "--all"]).output

    assert list(all_boards()) == [board["id"] for board in plain]
    assert [*all_boards(), *all_entries()] == [board["id"] for board in every]
    assert "its core's twin: catalogue" in shown
