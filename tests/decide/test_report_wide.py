"""The report of a whole matrix: as many boards and models as the lab has, on a desk, on a phone and on paper."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from bench.cli import app
from tests.decide.browser import Browser, open_browser
from tests.decide.records import estimate, instructions, make_record, nbytes, saver

CHROMIUM = shutil.which("chromium")
BOARDS = ("mps2-an386", "nrf52840dk", "nucleo-l4r5zi", "frdm-k64f", "mps3-an547", "mps2-an505", "nrf5340dk")  # fmt: skip
MODELS = ("autoencoder", "ds_cnn", "mobilenet_v1_025", "resnet8")
CORTEX_M4 = BOARDS[:4]


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of seven boards by four models, two nights each; the four M4 count the same."""
    folder = tmp_path_factory.mktemp("matrix")
    save = saver(folder / "results")
    for model in MODELS:
        for at, board in enumerate(BOARDS):
            same = board in CORTEX_M4
            rows = [{"index": 0, "operator": "cortex_m::pad.out", "layer": "", "kind": "layout", "instructions": 10 if same else 20 + at, "est_cycles": at}]  # fmt: skip
            table = {"schema": 1, "unit": "instructions", "evidence": "count", "rows": rows}
            for night in (0, 1):
                made = make_record(
                    estimate(3_200_000, 2_400_000, 4_800_000, "band not established"), instructions(900_000),
                    nbytes("flash_total", 61_460), nbytes("ram_total", 20_724), board=board, model=model, at=night,
                )  # fmt: skip
                if board == "nrf5340dk" and night:
                    made = made.model_copy(update={"tools": made.tools | {"torch": "2.14.0"}})
                if board.startswith("nrf"):
                    made = made.model_copy(update={"attachment": "twin"})
                if same:
                    made = made.model_copy(update={"board": made.board.model_copy(update={"cpu": "cortex-m4"})})  # fmt: skip
                save(made, attachments={"operators.json": json.dumps(table).encode()})
    done = CliRunner().invoke(app, ["report", str(folder / "r.html"), f"--results={folder / 'results'}"])  # fmt: skip
    assert 0 == done.exit_code, done.output
    return folder / "r.html"


def test_boards_that_count_the_same_share_a_chart_of_operators(page: Path) -> None:
    """With a link to the record of each."""
    text = page.read_text()

    found = re.findall(r"<summary>Operators: ([^<]*)</summary>", text)

    assert 4 == found.count(
        "frdm-k64f int8, mps2-an386 int8, nrf52840dk (twin) int8, nucleo-l4r5zi int8"
    )
    assert 4 * 4 == len(found)
    assert 4 == text.count("The same in each of the records")


def test_every_board_has_its_trend(page: Path) -> None:
    """However many there are: more lines than a chart holds make another chart."""
    charts = re.findall(r"<figure><figcaption>Trend\..*?</figure>", page.read_text(), re.DOTALL)

    assert 2 * len(MODELS) == len(charts)
    for board in BOARDS:
        assert len(MODELS) == sum(board in chart for chart in charts), board


def test_a_board_that_was_not_there_is_called_a_twin(page: Path) -> None:
    """In the overview too, beside its scheme."""
    rows = re.findall(r'<tr><th scope="row">([a-z0-9-]+)</th><td>(.*?)</tr>', page.read_text(), re.DOTALL)  # fmt: skip

    assert {"nrf52840dk", "nrf5340dk"} == {board for board, cells in rows if "int8 (twin)" in cells}


def test_a_version_that_changed_is_named_with_its_night(page: Path) -> None:
    """The mark on the line says that one did; the list below it, which."""
    text = page.read_text()

    assert len(MODELS) == text.count("2026-01-02: torch: 2.13.0 → 2.14.0 (nrf5340dk (twin) int8)")


def test_a_published_point_is_one_row_beside_all_our_boards(page: Path) -> None:
    """15 points of an M4 for each model (bench/data), not 15 for each board, each with its caveat and our record."""
    (table,) = re.findall(r"<summary>ds_cnn on cortex-m4: (\d+) points</summary>(.*?)</details>", page.read_text(), re.DOTALL)  # fmt: skip

    assert "15" == table[0]
    assert 15 == table[1].count("their time is a board&#39;s")
    assert 4 * 15 == len(re.findall(r'<td class="r">\d+\.\d\d<br><small>', table[1]))
    assert 4 == len(re.findall(r'href="#run-[0-9a-f]{8}" title="ours', table[1]))


@pytest.fixture(scope="module")
def browser(page: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """Chromium with the page."""
    if CHROMIUM is None:
        pytest.skip("no chromium here; make test installs it on Debian")
    with open_browser(CHROMIUM, tmp_path_factory.mktemp("wide")) as found:
        found.go(page.as_uri())
        yield found


def _size(browser: Browser, width: int, media: str) -> tuple[int, int]:
    """Return how wide and high the document is in a window of this width."""
    browser.call("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=width < 500)  # fmt: skip
    browser.call("Emulation.setEmulatedMedia", media=media)
    root = "document.documentElement"
    return (int(browser.evaluate(f"{root}.scrollWidth")), int(browser.evaluate(f"{root}.scrollHeight")))  # fmt: skip


@pytest.mark.browser
@pytest.mark.parametrize(
    ("width", "media"), [(1280, "screen"), (390, "screen"), (1046, "print")], ids=str
)
def test_nothing_is_wider_than_the_window_or_the_paper(
    browser: Browser, width: int, media: str
) -> None:
    """A table scrolls on a screen; on paper (A4 across, 277 mm at 96 dots an inch) it has to fit. No page is endless."""
    wide, high = _size(browser, width, media)

    assert wide <= width
    assert high < 40_000
    assert browser.console == []


@pytest.mark.browser
def test_the_columns_of_the_overview_are_alike(browser: Browser) -> None:
    """No model takes the room of the others."""
    _size(browser, 1280, "screen")

    widths = browser.evaluate(
        "[...document.querySelectorAll('#overview thead th')].slice(1).map(th=>th.offsetWidth)"
    )

    assert max(widths) < 1.5 * min(widths)
