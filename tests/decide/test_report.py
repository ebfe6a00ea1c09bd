"""One page: whole without network, every link lands, evidence apart, no text of a record is markup."""

from __future__ import annotations

import json
import re
import shutil
import struct
import subprocess
import time
from html.parser import HTMLParser
from pathlib import Path

import pytest
from typer.testing import CliRunner

from bench.cli import app
from bench.published import ratios
from bench.record import NOT_ESTABLISHED, Evidence, Issue, Status, measured
from bench.select import Requirements, judge
from tests.decide.records import Save, cycles, estimate, instructions, make_record, nbytes, saver
from tests.decide.test_select import PLAIN

CHROMIUM = shutil.which("chromium")


def _history(save: Save) -> Path:
    """Save a small history of everything that the page shows."""
    sizes = [("flash_total", 60_000), ("flash_weights", 30_000), ("flash_program", 5_000), ("flash_runtime", 10_000),
             ("flash_kernels", 10_000), ("flash_firmware", 5_000), ("ram_total", 20_000), ("ram_planned", 15_000),
             ("ram_input_output", 1_000), ("ram_scratch", 1_000), ("ram_method", 1_000), ("ram_stack", 1_000),
             ("ram_static", 1_000)]  # fmt: skip
    shipped = [nbytes(name, value) for name, value in sizes]
    top1 = measured("top1_device", "fraction", Evidence.EMULATED, 0.98, interval=(0.96, 0.99), n=360)  # fmt: skip
    equal = measured("mismatch_host_int8", "elements", Evidence.EMULATED, 0, n=120)
    table = {
        "schema": 1, "unit": "instructions", "evidence": "count", "rows": [
            {"index": 0, "operator": "cortex_m::quantized_conv2d.out", "layer": "<stem>", "kind": "int8", "instructions": 90},
            {"index": 1, "operator": "cortex_m::pad.out", "layer": "", "kind": "layout", "instructions": 10}],
    }  # fmt: skip
    program = {"classes": 4, "outputs": [{"dtype": "int8"}]}
    outputs = b"".join(struct.pack("4b", *(1 if c == a else 0 for c in range(4))) for a in (0, 1, 2, 2))  # fmt: skip
    beside = {"operators.json": json.dumps(table).encode(), "program.json": json.dumps(program).encode(), "output_0.bin": outputs}  # fmt: skip
    for at, value in enumerate((250_000, 251_000, 252_000)):
        real = make_record(cycles(value, value + 9), *shipped, top1, equal, at=at, retries=at % 2)
        save(real, attachments=beside)
    guess = make_record(estimate(320_000, 300_000, 400_000), *shipped, board="mps3-an547")
    save(guess, attachments=beside)
    save(make_record(instructions(99), board="mps2-an505", model="linear"))
    issue = (Issue(code="deadline", message="<script>alert(1)</script>"),)
    return save(make_record(status=Status.INVALID, issues=issue, model="linear"))


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The page of that history."""
    folder = tmp_path_factory.mktemp("report")
    out = folder / "report.html"
    root = _history(saver(folder / "results"))
    done = CliRunner().invoke(app, ["report", str(out), f"--results={root}", "--max-latency=50ms"])
    assert 0 == done.exit_code, done.output
    return out.read_text()


class _Links(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.targets: set[str] = set()
        self.loads: list[str] = []
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name == "id" and value:
                self.ids.add(value)
            if name == "href" and value and tag == "a":
                self.targets.add(value)
            if name in {"src", "href"} and tag != "a" and value and not value.startswith(("data:", "#")):  # fmt: skip
                self.loads.append(value)


def test_every_link_lands_on_the_page_and_nothing_is_loaded(page: str) -> None:
    """Self-contained: no address, no file."""
    links = _Links()
    links.feed(page)

    assert {target.removeprefix("#") for target in links.targets} <= links.ids
    assert [] == [load for load in links.loads if not load.startswith("#")]
    assert not re.search(r"(?:src|href)=\"(?:https?:)?//", page)
    assert "@import" not in page


def test_text_of_a_record_is_never_markup(page: str) -> None:
    """A message of a device is shown, not run."""
    assert "<script>alert(1)" not in page
    assert "&lt;script&gt;alert(1)" in page
    assert "&lt;stem&gt;" in page


def test_the_page_shows_what_was_asked_for(page: str) -> None:
    """Selection, breakdowns, operators, correctness with its histogram, trend, provenance."""
    for text in (
        "latency up to 50 ms", "upper bound", "equal to host int8", "answers by class: 1 1 2 0", "Trend.",
        "quantized_conv2d", "deployment image", "Not run:", "Provenance", "98.0% [96.0%, 99.0%]",
    ):  # fmt: skip
        assert text in page, text


class _Text(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.text = ""

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.mark.parametrize("told", [NOT_ESTABLISHED, "from 4 held anchors"])
def test_a_band_that_no_anchors_set_is_told(told: str, tmp_path: Path) -> None:
    """In the text of the overview and of the selection, not only where the mouse must find it."""
    save = saver(tmp_path / "results")
    band = estimate(320_000, 240_000, 480_000, f"-25 % to +50 %, {told}")
    save(make_record(band, nbytes("flash_total", 9), nbytes("ram_total", 9)))
    out = tmp_path / "report.html"
    CliRunner().invoke(app, ["report", str(out), f"--results={tmp_path / 'results'}"])
    shown = _Text()
    shown.feed(out.read_text())

    wanted = 2 if told == NOT_ESTABLISHED else 0
    assert wanted <= shown.text.count(NOT_ESTABLISHED)
    assert bool(wanted) == (NOT_ESTABLISHED in shown.text)


def test_charts_take_the_pages_colours(page: str) -> None:
    """No ink of their own: dark and light both read; the placeholder colours are all replaced."""
    assert "var(--ink)" in page
    for colour in ("#010203", "#040506", "#070809"):
        assert colour not in page


def test_the_same_records_make_the_same_page(save: Save) -> None:
    """Bytes can be compared; only the time differs."""
    import bench  # noqa: PLC0415  pandas only here
    from bench import frame, report, select  # noqa: PLC0415  as above

    found = bench.load(_history(save))
    usable = frame.latest(found[found["status"] != "invalid"])
    judged = judge(select.candidates(usable, {}, {}), Requirements())
    pages = [report.page(found, judged, Requirements(), [], "now") for _ in range(2)]

    assert pages[0] == pages[1]


def test_no_records_are_an_error_not_an_empty_page(tmp_path: Path) -> None:
    """With the command that makes some."""
    (tmp_path / "r").mkdir()
    done = CliRunner().invoke(app, ["report", str(tmp_path / "x.html"), f"--results={tmp_path / 'r'}"])  # fmt: skip

    assert 0 != done.exit_code
    assert not (tmp_path / "x.html").exists()


def test_published_points_are_ratios_in_cycles_on_the_same_core() -> None:
    """By hand: 0.1 s at 64 MHz are 6.4 M cycles; nRF5340 needs 76.086 ms at 128 MHz: 9.739 M. 0.657."""
    from dataclasses import replace  # noqa: PLC0415  only here

    ours = replace(PLAIN, model="ds_cnn", cpu="cortex-m33", latency=6.4e6, latency_s=0.1, band_s=(0.09, 0.12))  # fmt: skip
    count = replace(ours, evidence="count", latency_s=None, band_s=None)

    found = ratios([ours, count])

    nordic = next(r for r in found if r.their_board == "nRF5340-DK" and r.submitter == "OctoML")
    assert 0.657 == pytest.approx(nordic.ratio, abs=5e-4)
    assert (0.591, 0.789) == pytest.approx((nordic.low, nordic.high), abs=5e-4)
    assert {"cortex-m33"} == {r.core for r in found}
    assert "CMSIS-NN" in nordic.caveat


def test_a_long_history_makes_no_large_page(tmp_path: Path, save: Save) -> None:
    """Size and time depend on the matrix, not on how long the history is."""
    root = _history(save)
    source = next(root.glob("mps2-an386/ds_cnn/*-int8-????????.json"))
    for number in range(2_000):
        raw = json.loads(source.read_text()) | {"run_id": f"{number:08x}", "files": {}, "time_utc": "2025-01-01T00:00:00Z"}  # fmt: skip
        (source.parent / f"20250101T000000Z-int8-{number:08x}.json").write_text(json.dumps(raw))
    CliRunner().invoke(app, ["show", str(root), "--format=csv", f"--out={tmp_path / 'x.csv'}"])
    start = time.perf_counter()
    done = CliRunner().invoke(app, ["report", str(tmp_path / "r.html"), f"--results={root}"])

    assert 0 == done.exit_code
    assert (tmp_path / "r.html").stat().st_size < 3_000_000
    assert time.perf_counter() - start < 30


@pytest.mark.browser
@pytest.mark.skipif(CHROMIUM is None, reason="no chromium here; make test installs it on Debian")
@pytest.mark.parametrize(("scheme", "size", "paper"), [("1", "1280,900", (255, 255, 255)), ("0", "390,844", (20, 23, 26))])  # fmt: skip
def test_chromium_shows_it_without_a_word_in_the_console(
    page: str, tmp_path: Path, scheme: str, size: str, paper: tuple[int, int, int]
) -> None:
    """Light on a desk and dark on a phone: the script ran, nothing complained, the paper has its colour."""
    file = tmp_path / "page.html"
    probe = "<script>document.title='wide '+(document.documentElement.scrollWidth>innerWidth)+' sorts '+document.querySelectorAll('th button').length+' paper '+getComputedStyle(document.body).backgroundColor</script></body>"
    file.write_text(page.replace("</body>", probe))
    assert CHROMIUM is not None

    done = subprocess.run(
        [CHROMIUM, "--headless=new", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", f"--user-data-dir={tmp_path / 'profile'}",
         f"--blink-settings=preferredColorScheme={scheme}", f"--window-size={size}", "--dump-dom", file.as_uri()],
        capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip

    title = re.search(r"<title>(.*?)</title>", done.stdout)
    assert title is not None
    assert title.group(1).startswith("wide false sorts ")
    assert "sorts 0" not in title.group(1)
    assert f"rgb{paper}" in title.group(1)
    assert "CONSOLE" not in done.stderr
