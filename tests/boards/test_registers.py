"""Register facts of boards with real chips, against the vendors' SVD files that pyOCD's wheel carries."""

from __future__ import annotations

import re

import pytest

from bench.board import all_boards
from tests.boards.svd import Facts, read_facts, read_svd

CHIPS = [board.id for board in all_boards().values() if board.evidence == "silicon"]
TIER_A = {"nrf52840dk", "frdm-k64f", "lpc55s69-evk"}


def _facts(board_id: str) -> Facts:
    return read_facts(all_boards()[board_id].folder / "registers.hpp")


@pytest.mark.parametrize("board_id", CHIPS)
def test_every_fact_has_a_name_of_the_manual(board_id: str) -> None:
    """A line that the reader of this test does not understand would not be checked."""
    facts = _facts(board_id)

    assert facts.lines == len(facts.registers) + len(facts.fields)
    assert facts.lines > 10


@pytest.mark.parametrize("board_id", CHIPS)
def test_the_code_touches_no_other_register(board_id: str) -> None:
    """No address in a board's code: what it reads and writes stands in registers.hpp."""
    code = (all_boards()[board_id].folder / "board.cpp").read_text()

    assert [] == re.findall(r"0x[45E][0-9A-Fa-f]{7}\b", code)
    assert "reinterpret_cast<volatile" not in code


@pytest.mark.parametrize("board_id", CHIPS)
def test_fields_lie_in_registers_that_are_listed(board_id: str) -> None:
    """A field belongs to a listed register and ends inside it."""
    facts = _facts(board_id)

    outside = [
        (register, name)
        for (register, name), (low, width) in facts.fields.items()
        if register not in facts.registers or low + width > facts.registers[register].bits
    ]

    assert [] == outside


def test_three_boards_have_an_svd_file() -> None:
    """Tier A is checked against machine-readable registers, the rest says that it is not."""
    checked = {
        board_id for board_id in CHIPS if "registers" not in all_boards()[board_id].unverified
    }

    assert {board_id for board_id in CHIPS if _facts(board_id).file} == TIER_A == checked


@pytest.mark.parametrize("board_id", sorted(TIER_A))
def test_addresses_and_fields_are_the_svd_files(board_id: str, record_property: object) -> None:
    """Every register has the vendor's address and size, every field its place and width."""
    facts = _facts(board_id)
    svd = read_svd(facts.file)
    record_property("assertions", facts.lines)  # type: ignore[operator]

    ours = {name: (r.address, r.bits) for name, r in facts.registers.items()}
    theirs = {name: (svd[name].address, svd[name].bits) for name in facts.registers if name in svd}
    places = {key: svd[key[0]].fields.get(key[1]) for key in facts.fields if key[0] in svd}

    assert ours == theirs
    assert facts.fields == places
