"""A board's memory on top of a core's timing."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.board import Board, find_boards
from bench.catalogue import known_boards
from bench.estimate import Estimator
from bench.estimate.dump import Accesses, Block, Count
from bench.estimate.memory import NO_WAIT_STATES, memory_of, read_memory
from bench.estimate.price import Price
from bench.estimate.table import Status, TableError, table_of
from bench.estimate.windows import Window, Windows

FLASH = """
title = "Flash of 4 wait states behind a line buffer"
line_bytes = 16
low = -0.8
high = 2.0
code_jump = { value = 4, source = "manual", status = "documented" }
code_next = { value = 2, source = "manual", status = "documented" }
code_missed = { value = 0.25, source = "guess", status = "guessed" }
weights_line = { value = 4, source = "manual", status = "documented" }
weights_missed = { value = 1, source = "manual", status = "documented" }

[sources]
manual = "a part's manual"
guess = "nothing"
"""


def _window(lines: int = 0) -> Window:
    """Ten runs of a block that begins 4 bytes before a line's end, entered by a jump three times."""
    block = Block(0x10C, 4, bytes.fromhex("0844" * 4))
    return Window("latency", ((block, Count(10, 3, 3)),), 40, Accesses(lines, 0, lines))


def _memory(tmp_path: Path, text: str = FLASH) -> Path:
    path = tmp_path / "memory_timing.toml"
    path.write_text(text)
    return path


def test_a_board_without_a_table_has_no_wait_states() -> None:
    """Nothing is added, and the record says that it is an assumption."""
    price = Price()

    NO_WAIT_STATES.apply(price, _window(lines=100))

    assert (0.0, Status.GUESSED) == (price.cycles, NO_WAIT_STATES.status)
    assert memory_of(find_boards("mps2-an386")[0]) is NO_WAIT_STATES


def test_jumps_lines_and_weights_are_charged(tmp_path: Path) -> None:
    """3 jumps of 4 and 10 line crossings of 2 cycles, a quarter missed; 5 lines of weights of 4 cycles."""
    price = Price()

    read_memory(_memory(tmp_path)).apply(price, _window(lines=5))

    assert {"memory_code": 8.0, "memory_weights": 20.0} == dict(price.causes)


def test_the_least_sure_number_gives_the_status(tmp_path: Path) -> None:
    """One guess among documented numbers is a guess."""
    assert Status.GUESSED == read_memory(_memory(tmp_path)).status


def test_the_memory_widens_the_band(tmp_path: Path) -> None:
    """What it adds has its own uncertainty, on top of the core's."""
    table, memory = table_of("cortex-m4"), read_memory(_memory(tmp_path))
    empty = Window("empty", (), 0, Accesses(0, 0, 0))
    windows = Windows(empty, (_window(lines=5),))
    (plain,) = Estimator(table, NO_WAIT_STATES).estimates(windows, windows.timed)
    (slow,) = Estimator(table, memory).estimates(windows, windows.timed)

    assert 28.0 == pytest.approx(slow.price.cycles - plain.price.cycles)
    assert (5.6, 84.0) == (
        pytest.approx(slow.low - plain.low),
        pytest.approx(slow.high - plain.high),
    )
    assert "(guessed)" in Estimator(table, memory).tables
    assert plain.source == str(plain.band)
    assert slow.source == f"{plain.band}; -80% to +200% of the 28 that memory adds"


def test_a_narrow_band_around_a_guess_is_refused(tmp_path: Path) -> None:
    """What nobody measured is not known to a tenth; with documented numbers alone it may be."""
    narrow = FLASH.replace("low = -0.8\nhigh = 2.0", "low = -0.1\nhigh = 0.1")

    with pytest.raises(TableError, match="a guessed number needs"):
        read_memory(_memory(tmp_path, narrow))

    sure = narrow.replace('status = "guessed"', 'status = "documented"')
    assert Status.DOCUMENTED == read_memory(_memory(tmp_path, sure)).status


@pytest.mark.parametrize(
    "board", [b for b in known_boards().values() if b.evidence == "silicon"], ids=lambda b: b.id
)
def test_every_board_with_a_chip_has_a_table_that_says_it_is_guessed(board: Board) -> None:
    """Hit rates of caches are nobody's measurement yet: the status says so, the band is at least -70 % to +150 %."""
    memory = memory_of(board)

    assert Status.GUESSED == memory.code_missed.status == memory.weights_missed.status
    assert Status.GUESSED == memory.status
    assert (memory.low <= -0.7, memory.high >= 1.5) == (True, True)


@pytest.mark.parametrize(
    ("old", "new"), [("line_bytes = 16", "line_bytes = 0"), ("title", "titel"), ("[sources", "[")]
)
def test_a_malformed_memory_table_is_named(old: str, new: str, tmp_path: Path) -> None:
    """The file and the key."""
    path = _memory(tmp_path, FLASH.replace(old, new, 1))

    with pytest.raises(TableError) as caught:
        read_memory(path)

    assert str(path) == caught.value.where
