"""The reader of the plugin's dump: what it reads, and what it refuses."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.estimate.dump import (
    Accesses,
    Block,
    Count,
    Dump,
    DumpError,
    Region,
    read_dump,
    write_dump,
)

_NUMBERS = st.integers(0, 2**40)


@st.composite
def _dumps(draw: st.DrawFn) -> Dump:
    blocks = tuple(
        Block(start * 2, len(code) // 2, code)
        for start, code in draw(
            st.lists(
                st.tuples(st.integers(0, 2**31), st.binary(min_size=2, max_size=8).map(_even)),
                min_size=1,
                max_size=4,
            )
        )
    )
    regions = []
    for mark in draw(st.lists(st.integers(0, 9), min_size=1, max_size=4)):
        chosen = draw(st.sets(st.integers(0, len(blocks) - 1)))
        counts = {index: Count(*draw(st.tuples(*[_NUMBERS] * 3))) for index in sorted(chosen)}
        total = sum(count.runs * blocks[index].instructions for index, count in counts.items())
        accesses = tuple(
            Accesses(*one) for one in draw(st.lists(st.tuples(*[_NUMBERS] * 3), max_size=2))
        )
        regions.append(Region(mark, total, draw(_NUMBERS), counts, accesses))
    return Dump(blocks, tuple(regions), draw(_NUMBERS))


def _even(code: bytes) -> bytes:
    return code[: len(code) // 2 * 2]


@given(_dumps())
def test_a_dump_comes_back_as_it_was_written(dump: Dump) -> None:
    """Writing and reading is the identity."""
    assert dump == read_dump(write_dump(dump))


@given(_dumps(), st.data())
def test_a_dump_that_ends_early_is_refused(dump: Dump, data: st.DataObject) -> None:
    """Wherever it is cut, the end line or its line feed is missing."""
    text = "".join(write_dump(dump))
    cut = text[: data.draw(st.integers(0, len(text) - 1))]

    with pytest.raises(DumpError):
        read_dump(cut.splitlines(keepends=True))


@pytest.mark.parametrize(
    ("old", "new", "match"),
    [
        ("dump 1", "dump 2", "not `dump 1`"),
        ("count 0 3 1 1", "count 0 4 1 1", "8 where 6 belongs"),
        ("count 0 3 1 1", "count 1 3 1 1", "unknown or counted twice"),
        ("count 0 3 1 1", "count 0 3 1 1\ncount 0 3 1 1", "unknown or counted twice"),
        ("block 0", "block 1", "1 where 0 belongs"),
        ("end 6", "end 7", "6 where 7 belongs"),
        ("region", "regoin", "no line begins"),
    ],
)  # fmt: skip
def test_a_damaged_dump_is_refused(old: str, new: str, match: str) -> None:
    """A version, an index or a sum that is wrong is named."""
    dump = Dump((Block(0x100, 2, bytes(4)),), (Region(1, 6, 0, {0: Count(3, 1, 1)}),))
    text = "".join(write_dump(dump)).replace(old, new, 1)

    with pytest.raises(DumpError, match=match):
        read_dump(text.splitlines(keepends=True))
