"""The benchmarks themselves: one case a board, model and scheme; run with `pytest --board=ID`."""

from __future__ import annotations

import pytest

from bench.errors import LabError
from bench.record import Record
from bench.verdict import faults_of


def test_benchmark(record: Record | LabError, request: pytest.FixtureRequest) -> None:
    """The model runs on the board, and its outputs are the host reference's."""
    if isinstance(record, LabError):
        pytest.fail(str(record), pytrace=False)
    wrong = faults_of(record, tolerance_steps=request.config.getoption("tolerance_steps"))

    if wrong:
        pytest.fail("; ".join(wrong), pytrace=False)
