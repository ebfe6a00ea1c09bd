"""board.toml: a bad file is named by file and key, a good one is what it says."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.board import all_boards, find_boards, read_board
from bench.errors import BoardFileError, UnknownNameError

GOOD = """
id = "b"
name = "B"
description = "a board"
cpu = "cortex-m4"
clock_hz = 25_000_000
counter = "systick"
evidence = "count"
[qemu]
machine = "mps2-an386"
icount_shift = 6
"""


def _write(folder: Path, text: str) -> Path:
    (folder / "b").mkdir()
    path = folder / "b" / "board.toml"
    path.write_text(text)
    return path


def test_a_good_file_is_read(tmp_path: Path) -> None:
    """Values arrive with their types."""
    board = read_board(_write(tmp_path, GOOD))

    assert (board.cpu, board.clock_hz) == ("cortex-m4", 25_000_000)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("clock_hz", "clock_mhz", "clock_mhz"),
        ("25_000_000", '"fast"', "clock_hz"),
        ("25_000_000", "0", "clock_hz"),
        ('"systick"', '"sundial"', "counter"),
        ("icount_shift = 6", "icount_shift = 60", "qemu.icount_shift"),
        ('id = "b"', 'id = "c"', "not the folder's name"),
        ('name = "B"', 'name = "B', "b/board.toml"),
    ],
)
def test_a_bad_key_or_value_is_named(old: str, new: str, message: str, tmp_path: Path) -> None:
    """File and key are in the message."""
    path = _write(tmp_path, GOOD.replace(old, new, 1))

    with pytest.raises(BoardFileError, match=message) as caught:
        read_board(path)

    assert str(path) in str(caught.value)


def test_a_misspelt_key_gets_the_nearest(tmp_path: Path) -> None:
    """Did you mean."""
    text = GOOD.replace("[qemu]", 'descripton = "x"\n[qemu]')

    with pytest.raises(BoardFileError) as caught:
        read_board(_write(tmp_path, text))

    assert "did you mean 'description'?" in caught.value.hint


def test_the_group_of_emulated_boards_is_five_cores() -> None:
    """M3, M4, M7, M33 and M55."""
    cores = {board.cpu for board in find_boards("emulated")}

    assert {f"cortex-m{n}" for n in (3, 4, 7, 33, 55)} == cores


def test_every_alias_names_one_board() -> None:
    """No alias is another board's id or alias."""
    names = [name for board in all_boards().values() for name in (board.id, *board.aliases)]

    assert len(set(names)) == len(names)


def test_an_unknown_board_gets_the_nearest_and_the_list() -> None:
    """The hint has both."""
    with pytest.raises(UnknownNameError) as caught:
        find_boards("mps3-an548")

    assert caught.value.hint.startswith("did you mean 'mps3-an547'? known: ")


@pytest.mark.parametrize("board", all_boards().values(), ids=lambda b: b.id)
def test_an_instruction_is_more_than_a_tick(board: object) -> None:
    """Then ticks give back instructions exactly (docs/measures.md)."""
    if board.qemu is None:  # type: ignore[attr-defined]
        return

    assert (1 << board.qemu.icount_shift) * board.clock_hz > 1_000_000_000  # type: ignore[attr-defined]
