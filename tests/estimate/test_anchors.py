"""Anchors: what is fitted to what, what sets a band, and that the committed tables are the fit."""

from __future__ import annotations

import itertools
from dataclasses import replace
from pathlib import Path

import pytest

from bench.estimate.anchors import (
    FOLDER,
    LEAST,
    WIDE,
    WIDENING,
    Anchor,
    CodeClass,
    all_anchors,
    band_of,
    code_class,
)
from bench.estimate.fit import (
    FITTED,
    Counted,
    StaleCountsError,
    count,
    fit,
    read_counts,
    values_of,
    walk_sha256,
    without_linear,
    write_counts,
)
from bench.estimate.price import Price
from bench.estimate.table import table_of


def _anchor(measured: float, *, held: bool = True, core: str = "cortex-m4") -> Anchor:
    counts = Counted(core, "a", 100, 100.0, {}, {}, walk_sha256(table_of(core)))
    return Anchor(counts, CodeClass.SCALAR, measured, held, "a part")


@pytest.mark.parametrize("core", FITTED)
def test_the_table_holds_what_the_fit_gives(core: str) -> None:
    """Nobody can move a fitted number by hand."""
    table = table_of(core)
    rows = [
        (one.counts, one.measured_cycles)
        for one in all_anchors()
        if one.counts.core == core and not one.held
    ]
    wanted = values_of(core, fit(table, rows))

    assert wanted == {path: table.numbers()[path].value for path in wanted}
    assert len(rows) == 3


def test_rows_marked_fit_want_no_delay_behind_a_store_on_the_m7() -> None:
    """The -O0 row, which is held, would: but what may choose chooses the table that stands."""
    table = table_of("cortex-m7")
    rows = [one for one in all_anchors() if one.counts.core == "cortex-m7" and not one.held]

    def error(delay: float, branch: float, share: float) -> float:
        tried = table.with_values(
            {
                "store_then_memory": delay,
                "taken.direct": branch,
                "taken.call": branch,
                "taken.indirect": branch + 1,
                "taken.mispredicted_share": share,
            }
        )
        return sum((one.counts.cycles(tried) / one.measured_cycles - 1) ** 2 for one in rows)

    grid = itertools.product((0, 0.5, 1, 2, 3), (0, 0.5, 1), [step / 20 for step in range(21)])

    assert (0, 0, table.numbers()["taken.mispredicted_share"].value) == min(
        grid, key=lambda point: error(*point)
    )


def test_rows_marked_held_are_not_fitted_to() -> None:
    """Each fitted core has three held rows, and no Alif row is a fit row."""
    held = [one for one in all_anchors() if one.held]

    assert dict.fromkeys(FITTED, 3) | {"cortex-m55": 8} == {
        core: sum(one.counts.core == core for one in held) for core in (*FITTED, "cortex-m55")
    }


def test_three_held_anchors_establish_a_band() -> None:
    """It is the worst of each side, widened, and never less than the least."""
    anchors = [_anchor(100.0), _anchor(104.0), _anchor(120.0)]
    band = band_of(table_of("cortex-m4"), CodeClass.SCALAR, anchors)

    assert (True, -LEAST, pytest.approx(WIDENING * 0.2)) == (band.established, band.low, band.high)


def test_fewer_anchors_leave_the_band_open_and_wide() -> None:
    """Fitted rows, rows of other cores and of other code do not count."""
    anchors = [
        _anchor(100.0),
        _anchor(100.0),
        _anchor(100.0, held=False),
        _anchor(100.0, core="cortex-m7"),
        replace(_anchor(100.0), code=CodeClass.VECTOR),
    ]
    band = band_of(table_of("cortex-m4"), CodeClass.SCALAR, anchors)

    assert (False, WIDE) == (band.established, (band.low, band.high))
    assert "band not established" in str(band)


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*_counts.json")), ids=lambda path: path.name)
def test_committed_counts_belong_to_the_tables(path: Path) -> None:
    """Nobody can change how a table walks and leave the counts of another walk behind."""
    for one in read_counts(path):
        assert one.cycles(table_of(one.core)) > one.instructions / 2


def test_a_walk_that_changed_makes_counts_stale() -> None:
    """Old counts are refused, not priced with new numbers."""
    table = table_of("cortex-m4")
    counts = _anchor(1.0).counts

    with pytest.raises(StaleCountsError):
        counts.cycles(table.with_values({"issue.load": 3.0}))


def test_a_number_that_is_only_added_leaves_counts_fresh() -> None:
    """A fit can change it."""
    table = table_of("cortex-m4")
    counts = replace(_anchor(1.0).counts, events={"taken.direct": 10.0})

    assert 100 + 10 * 2.5 == counts.cycles(table.with_values({"taken.direct": 2.5}))


def test_counts_come_back_as_they_were_written(tmp_path: Path) -> None:
    """One anchor a line, and the same price as the blocks themselves."""
    table = table_of("cortex-m4")
    price = Price(50.0, 40)
    price.events.update({"taken.direct": 4, "paired": 3})
    counts = count(without_linear(table), "x", price, iterations=2)

    (tmp_path / "counts.json").write_text(write_counts([counts]))

    assert (counts,) == read_counts(tmp_path / "counts.json")
    assert {"taken.direct": 2.0} == counts.events
    assert 25 + 2 * table.taken.direct.value == counts.cycles(table)


@pytest.mark.parametrize(
    ("kinds", "wanted"),
    [
        ({"alu": 99, "mve_load": 1}, CodeClass.SCALAR),
        ({"alu": 90, "mve_load": 10}, CodeClass.VECTOR),
        ({"alu": 90, "vmul_double": 10}, CodeClass.FLOAT),
        ({"alu": 80, "mve_mul": 10, "vadd": 10}, CodeClass.VECTOR),
        ({"alu": 80, "mla_dsp": 10, "simd": 10}, CodeClass.DSP),
    ],
)
def test_code_is_classed_by_its_instructions(kinds: dict[str, int], wanted: CodeClass) -> None:
    """More than a twentieth of vector, float or DSP instructions decides."""
    price = Price()
    price.kinds.update(kinds)

    assert wanted == code_class(price)
