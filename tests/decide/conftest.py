"""Fixtures of the tests of decisions; the makers of records are in records.py."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench import store
from bench.record import Record
from tests.decide.records import Save


@pytest.fixture
def save(tmp_path: Path) -> Save:
    """Write records into `tmp_path/results`; return that folder."""

    def write(*records: Record, attachments: dict[str, bytes] | None = None) -> Path:
        for record in records:
            store.save(record, attachments or {}, tmp_path / "results")
        return tmp_path / "results"

    return write
