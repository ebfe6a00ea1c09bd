"""Timing tables: every number has a source and a status, and a bad file is named."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.estimate.table import TABLES, TableError, all_tables, read_table, table_of

CORES = ["cortex-m0plus", "cortex-m3", "cortex-m33", "cortex-m4", "cortex-m55", "cortex-m7"]


def test_there_is_a_table_for_every_core() -> None:
    """M0+, M3, M4, M7, M33 and M55."""
    assert sorted(all_tables()) == CORES


@pytest.mark.parametrize("core", CORES)
def test_every_number_has_a_status_and_a_listed_source(core: str) -> None:
    """No number is bare."""
    table = table_of(core)

    assert {number.source for number in table.numbers().values()} <= set(table.sources)
    assert len(table.sha256) == 64


def test_a_core_without_a_table_is_named() -> None:
    """The hint lists the tables."""
    with pytest.raises(TableError, match=r"cortex-m85.*\n.*cortex-m55"):
        table_of("cortex-m85")


@pytest.mark.parametrize(
    ("old", "new", "match"),
    [
        ('source = "trm"', 'source = "hearsay"', "hearsay"),
        ("load_dual =", "load_duel =", "load_duel"),
        ('status = "documented"', 'status = "certain"', "status"),
        ("default =", "mla =", "issue.default is missing"),
        ("[pairing]", "[pairing", "pairing|Expected"),
    ],
)
def test_a_malformed_table_is_named(old: str, new: str, match: str, tmp_path: Path) -> None:
    """File and key, whatever is wrong."""
    path = tmp_path / "m4.toml"
    path.write_text((TABLES / "m4.toml").read_text().replace(old, new, 1))

    with pytest.raises(TableError, match=match) as caught:
        read_table(path)

    assert str(path) == caught.value.where


def test_a_number_can_be_tried_without_changing_the_table() -> None:
    """`with_values` replaces by dotted path."""
    table = table_of("cortex-m4")
    tried = table.with_values({"taken.direct": 9.0, "issue.load": 7.0, "load_pipelined": 0.0})

    assert (9.0, 7.0, 0.0) == (
        tried.taken.direct.value,
        tried.issue["load"].value,
        tried.load_pipelined.value,
    )
    assert table.taken.direct.value != 9.0
