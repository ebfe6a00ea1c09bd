"""What `bench show --view=...` prints of records: parts, windows, memory regions."""

from __future__ import annotations

from pathlib import Path

import pytest
from rich.console import Console
from typer.testing import CliRunner

from bench.cli import app
from bench.record import Evidence, Measure, RegionFacts, measured
from bench.show_chips import chips_table
from bench.store import save
from tests.decide.records import make_record

RUN = CliRunner()
REGION = RegionFacts(
    name="DATA+ARENA", kind="RAM", image="deployment", have_bytes=65_536, need_bytes=5_536,
    reserve_bytes=0, headroom_bytes=60_000, headroom_percent=100 * 60_000 / 65_536,
)  # fmt: skip


def _estimate(source: str) -> Measure:
    plain = measured("latency", "est_cycles", Evidence.ESTIMATE, 1_000_000, source=source)
    return plain.model_copy(update={"band": (750_000.0, 1_500_000.0)})


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """Two boards' records, one estimated with an established band and one without."""
    instructions = [
        measured(name, "instructions", Evidence.COUNT, 800_000, window=True)
        for name in ("latency_first", "latency")
    ]
    cycles = [
        measured("latency_first", "cycles", Evidence.SILICON, 4_000, window=True),
        measured(
            "latency", "cycles", Evidence.SILICON, *range(1_000, 1_101), interval=(1_040, 1_060), window=True
        ),
    ]  # fmt: skip
    wide = _estimate("-25 % to +50 %, band not established")
    narrow = _estimate("-25 % to +50 %, from 4 held anchors")
    sizes = [measured("ram_static", "bytes", Evidence.STATIC, 164)]
    for record in (
        make_record(*instructions, wide, *sizes),
        make_record(*instructions, narrow, board="mps3-an547"),
        make_record(*cycles, model="silicon"),
    ):
        save(record.model_copy(update={"regions": (REGION,)}), {}, tmp_path)
    return tmp_path


def _lines(results: Path, *options: str) -> list[str]:
    shown = RUN.invoke(app, ["show", str(results), *options], catch_exceptions=False)
    assert 0 == shown.exit_code
    return shown.stdout.splitlines()


def test_parts_mark_the_band_that_no_anchor_set(results: Path) -> None:
    """A star and its meaning where it is the default; none where anchors set it; bytes where they are known."""
    lines = _lines(results, "--view=parts")
    rows = {name: next(line for line in lines if name in line) for name in ("an386", "an547")}

    assert "-25 to +50 % *" in rows["an386"]
    assert "164" in rows["an386"]
    assert "-25 to +50 %" in rows["an547"]
    assert "*" not in rows["an547"]
    assert "band not established" in lines[-1]
    assert 2 == sum("planned" in line for line in lines)  # silicon has a table of its own


def test_a_star_is_explained_where_there_is_one(results: Path) -> None:
    """Not below boards whose band real parts set."""
    starred = _lines(results, "--view=parts")
    plain = _lines(results, "--view=parts", "--board=mps3-an547")

    assert any(line.startswith("* band not established") for line in starred)
    assert not any(line.startswith("*") for line in plain)


def test_latency_has_every_window_with_its_percentiles(results: Path) -> None:
    """Of 1,000 to 1,100: median 1,050, p95 1,095, p99 1,099, spread sqrt(101 * 102 / 12) = 29.3."""
    lines = _lines(results, "--view=latency", "--model=silicon")
    (warm,) = [line for line in lines if "warm: inference" in line]
    (cold,) = [line for line in lines if "cold: inference" in line]

    figures = [part.strip() for part in warm.replace("│", "|").split("|")[2:-1]]
    assert figures == [
        *("cycles", "101", "1,000", "1,050", "1,095", "1,099", "1,100", "29", "1.90% wide")
    ]
    assert "too few" in cold


def test_regions_take_another_reserve(results: Path) -> None:
    """65,536 - 5,536 - 32,768 = 27,232 B, 41.6 %; without one, what the record has."""
    own = _lines(results, "--view=regions", "--board=mps2-an386")
    other = _lines(results, "--view=regions", "--board=mps2-an386", "--reserve-ram=32KB")

    assert any("60,000" in line and "91.6 %" in line for line in own)
    assert any("27,232" in line and "41.6 %" in line for line in other)


def test_boards_with_chips_stand_against_models() -> None:
    """Time at the board's clock with the estimate's band, what is missing of which memory; emulators have no time."""
    lacking = REGION.model_copy(update={"need_bytes": 70_000, "headroom_bytes": -4_464})
    twin = {"attachment": "twin", "regions": (REGION,)}
    records = [
        make_record(_estimate("x"), board="a", **twin),
        make_record(_estimate("x"), board="a", model="large", **{**twin, "regions": (lacking,)}),
        make_record(
            measured("latency", "cycles", Evidence.SILICON, 640_000), board="b", attachment="probe"
        ),
        make_record(_estimate("x"), board="mps2-an386"),
    ]

    table = chips_table(records)

    assert table is not None
    console = Console(width=200)
    with console.capture() as captured:
        console.print(table)
    shown = {
        line.split("│")[1].strip(): [cell.strip() for cell in line.split("│")[2:-1]]
        for line in captured.get().splitlines()
        if "│" in line
    }
    # 1,000,000 cycles at 64 MHz, band 750,000 to 1,500,000
    time = "15.6 ms (11.7 ms - 23.4 ms)"
    assert {
        "a (twin)": ["M33", "64", time, f"too large: 4,464 B of RAM; {time}"],
        "b": ["M33", "64", "10 ms measured", "-"],
    } == shown
    assert chips_table(records[:2]) is None
