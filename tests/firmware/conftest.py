"""Boards that the firmware tests run on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from bench.board import all_boards
from tests.firmware.support import EMULATED

if TYPE_CHECKING:
    from bench.board import Board


@pytest.fixture(params=EMULATED)
def board(request: pytest.FixtureRequest) -> Board:
    """Every emulated board in turn."""
    return all_boards()[request.param]


@pytest.fixture
def host() -> Board:
    """The board that is a process of this machine."""
    return all_boards()["host"]
