"""Fixtures of the tests of decisions; the makers of records are in records.py."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.decide.records import Save, saver


@pytest.fixture
def save(tmp_path: Path) -> Save:
    """Write records into `tmp_path/results`; return that folder."""
    return saver(tmp_path / "results")
