"""Which chip: fit to the byte, evidence apart, bands respected, every rejection with its reason."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from typer.testing import CliRunner

from bench.board import all_boards
from bench.cli import app, main
from bench.errors import BoardFileError, InputError
from bench.fit import Fit, read_memories
from bench.quantity import parse_bytes, parse_seconds, show_seconds
from bench.record import NOT_ESTABLISHED, Evidence, measured
from bench.select import (
    Answer,
    Candidate,
    Requirements,
    judge,
    read_prices,
    sensitivity,
)
from tests.decide.records import Save, cycles, estimate, instructions, make_record, nbytes

PLAIN = Candidate(
    board="b", cpu="cortex-m4", model="m", scheme="int8", engine="lab", evidence="silicon",
    latency=1.0, latency_unit="cycles", latency_s=0.010, band_s=(0.010, 0.010), ram_bytes=10_000,
    flash_bytes=50_000, image="deployment", fits=(Fit("DATA", "RAM", 16_384, 10_000), Fit("CODE", "Flash", 65_536, 50_000)),
    accuracy=0.95, accuracy_interval=(0.93, 0.97), price=None, run_id="1",
)  # fmt: skip


def test_every_board_that_has_memory_can_be_read() -> None:
    """A new board's memory.ld is understood, or this fails."""
    files = [b.folder / "memory.ld" for b in all_boards().values() if b.host is None]

    for path in files:
        kinds = {memory.kind for memory in read_memories(path)}
        assert {"Flash", "RAM"} == kinds, path


def test_neighbouring_regions_of_a_kind_are_one_memory(tmp_path: Path) -> None:
    """The border between CODE and MODEL in one Flash is the lab's, not the product's; STAGING is nobody's."""
    (tmp_path / "memory.ld").write_text(
        "/* x */ MEMORY {\n CODE (rx) : ORIGIN = 0x0, LENGTH = 256K\n MODEL (r) : ORIGIN = 0x40000, LENGTH = 768K\n"
        " DATA (rwx) : ORIGIN = 0x20000000, LENGTH = 64K\n ARENA (rw) : ORIGIN = 0x20000000 + 64K, LENGTH = 192K\n"
        " STAGING (rw) : ORIGIN = 0x30000000, LENGTH = 1M\n}\n"
    )

    found = read_memories(tmp_path / "memory.ld")

    assert [("CODE+MODEL", 1024 * 1024), ("DATA+ARENA", 256 * 1024)] == [
        (memory.name, memory.nbytes) for memory in found
    ]


def test_what_does_not_fit_says_where_and_by_how_many_bytes() -> None:
    """The reason is a number, not a word."""
    tight = replace(PLAIN, fits=(Fit("DATA", "RAM", 9_000, 10_000),))

    (one,) = judge([tight], Requirements())

    assert Answer.FAILS is one.answer
    assert (
        "does not fit DATA (RAM): have 9,000 B, need 10,000 B, 1,000 B too many" == one.reasons[0]
    )


def test_a_lab_image_that_is_too_large_rejects_nothing() -> None:
    """It is an upper bound: the answer is not known."""
    upper = replace(PLAIN, image="lab", fits=(Fit("DATA", "RAM", 9_000, 10_000),))

    (one,) = judge([upper], Requirements(max_ram_bytes=5_000))

    assert Answer.UNDECIDED is one.answer
    assert all("lab image: upper bound" in reason for reason in one.reasons)


@pytest.mark.parametrize(
    ("wanted", "failed"),
    [
        (Requirements(max_latency_s=0.009), "max-latency"),
        (Requirements(max_ram_bytes=9_999), "max-ram"),
        (Requirements(max_flash_bytes=49_999), "max-flash"),
        (Requirements(min_accuracy=0.98), "min-accuracy"),
        (Requirements(reserve_ram_bytes=6_385), "reserve-ram"),
        (Requirements(reserve_flash_bytes=15_537), "reserve-flash"),
    ],
)
def test_each_requirement_rejects_by_one(wanted: Requirements, failed: str) -> None:
    """And is named."""
    (one,) = judge([PLAIN], wanted)

    assert (failed,) == one.failed


def test_exactly_what_is_asked_is_enough() -> None:
    """Limits include themselves."""
    wanted = Requirements(0.010, 10_000, 50_000, 0.93, None, 6_384, 15_536)

    assert Answer.MEETS is judge([PLAIN], wanted)[0].answer


def test_a_band_over_the_limit_is_undecided() -> None:
    """So is an accuracy whose interval reaches below it."""
    wide = replace(PLAIN, evidence="estimate", band_s=(0.008, 0.013))

    assert Answer.UNDECIDED is judge([wide], Requirements(max_latency_s=0.011))[0].answer
    assert Answer.UNDECIDED is judge([PLAIN], Requirements(min_accuracy=0.95))[0].answer


def test_an_instruction_count_is_no_time() -> None:
    """It neither meets nor fails a latency in ms, and is not ranked."""
    count = replace(PLAIN, evidence="count", latency_s=None, band_s=None)

    (asked,) = judge([count], Requirements(max_latency_s=1.0))
    (free,) = judge([count], Requirements())

    assert Answer.UNDECIDED is asked.answer
    assert (Answer.MEETS, None) == (free.answer, free.rank)


def test_a_band_that_no_anchors_set_is_told(save: Save, tmp_path: Path) -> None:
    """In the table, in the reason and in JSON; not where anchors set it."""
    for board, told in (("mps2-an386", NOT_ESTABLISHED), ("mps3-an547", "from 8 held anchors")):
        band = estimate(320_000, 240_000, 480_000, f"-25 % to +50 %, {told}")
        save(make_record(band, nbytes("flash_total", 9), nbytes("ram_total", 9), board=board))

    options = ["select", f"--results={tmp_path / 'results'}", "--max-latency=11ms"]
    text = CliRunner().invoke(app, options).stdout
    found = json.loads(CliRunner().invoke(app, [*options, "--json"]).stdout)["candidates"]

    notes = {one["candidate"]["board"]: one["candidate"]["band_note"] for one in found}
    assert (NOT_ESTABLISHED, "") == (notes["mps2-an386"], notes["mps3-an547"])
    assert NOT_ESTABLISHED in " ".join(text.split())
    reasons = {one["candidate"]["board"]: " ".join(one["reasons"]) for one in found}
    assert NOT_ESTABLISHED in reasons["mps2-an386"]
    assert NOT_ESTABLISHED not in reasons["mps3-an547"]


def test_silicon_stands_above_and_apart_and_overlapping_bands_share_a_rank() -> None:
    """G20: never one ranking across evidence; an overlap is no win."""
    slow_silicon = replace(PLAIN, board="s", latency_s=0.5, band_s=(0.5, 0.5))
    a = replace(PLAIN, board="a", evidence="estimate", latency_s=0.010, band_s=(0.008, 0.012))
    b = replace(PLAIN, board="b", evidence="estimate", latency_s=0.011, band_s=(0.009, 0.014))
    c = replace(PLAIN, board="c", evidence="estimate", latency_s=0.020, band_s=(0.018, 0.022))

    told = judge([c, b, a, slow_silicon], Requirements())

    assert [("s", 1), ("a", 1), ("b", 1), ("c", 3)] == [(j.candidate.board, j.rank) for j in told]


def test_what_is_worse_in_everything_is_not_on_the_pareto_front() -> None:
    """What is better in one thing is."""
    worse = replace(PLAIN, board="w", latency_s=0.02, band_s=(0.02, 0.02), ram_bytes=11_000)
    small = replace(PLAIN, board="v", latency_s=0.02, band_s=(0.02, 0.02), ram_bytes=9_000)

    front = {j.candidate.board: j.pareto for j in judge([PLAIN, worse, small], Requirements())}

    assert {"b": True, "w": False, "v": True} == front


def test_sensitivity_is_the_next_notch_that_admits_someone() -> None:
    """Only of candidates that fail one requirement alone."""
    near = replace(PLAIN, board="near", ram_bytes=140_000)
    far = replace(PLAIN, board="far", ram_bytes=200_000)
    twice = replace(PLAIN, board="twice", ram_bytes=131_073, flash_bytes=10**6)
    wanted = Requirements(max_ram_bytes=131_072, max_flash_bytes=524_288)

    (notch,) = sensitivity(judge([near, far, twice], wanted), wanted)

    assert ("--max-ram", "131,072 B", "140,000 B") == (notch.option, notch.now, notch.then)
    assert notch.admits.startswith("near")


def test_a_notch_admits_what_it_says_it_admits() -> None:
    """A band over the limit is admitted by its end, rounded up; who is undecided for another reason, by nothing."""
    band = replace(
        PLAIN, board="band", evidence="estimate", latency_s=0.045, band_s=(0.03, 0.062543)
    )
    blind = replace(
        band,
        board="blind",
        latency_s=0.04,
        band_s=(0.02, 0.051),
        accuracy=None,
        accuracy_interval=None,
    )
    other = replace(PLAIN, board="other", model="n", latency_s=0.07, band_s=(0.07, 0.07))
    wanted = Requirements(max_latency_s=0.05, min_accuracy=0.9)

    told = sensitivity(judge([band, blind, other], wanted), wanted)

    assert [
        ("--max-latency", "62.6 ms", "band m int8"),
        ("--max-latency", "70 ms", "other n int8"),
    ] == [(notch.option, notch.then, notch.admits) for notch in told]
    at_notch = Requirements(
        max_latency_s=parse_seconds(told[0].then.replace(" ", "")), min_accuracy=0.9
    )
    assert Answer.MEETS is judge([band], at_notch)[0].answer


def test_a_reserve_and_a_price_have_notches_too() -> None:
    """By how much less must stay free, or more be paid."""
    dear = replace(PLAIN, price=4.5)

    reserve = Requirements(reserve_ram_bytes=8_192)
    (ram,) = sensitivity(judge([PLAIN], reserve), reserve)
    (price,) = sensitivity(judge([dear], Requirements(max_price=4)), Requirements(max_price=4))

    assert ("--reserve-ram", "8,192 B", "6,384 B") == (ram.option, ram.now, ram.then)
    assert ("--max-price", "4", "4.5") == (price.option, price.now, price.then)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--model=ds_cn"], "did you mean 'ds_cnn'"),
        (["--min-accuracy=90"], "no part of the answers"),
        (["--max-price=3"], "--prices=FILE"),
        (["--max-latency=50parsec"], "unit of time"),
        (["--max-ram=12zz"], "unit of size"),
        (["--prices={tmp}/none.csv"], "cannot be read or written"),
        (["--charts={tmp}/file/x"], "cannot be read or written"),
    ],
)
def test_what_cannot_be_asked_is_said_in_a_line(
    options: list[str],
    told: str,
    save: Save,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """With what to do, exit code 2, and no traceback."""
    root = save(make_record(instructions(99)))
    (tmp_path / "file").write_text("")
    whole = [option.format(tmp=tmp_path) for option in options]
    monkeypatch.setattr(sys, "argv", ["bench", "select", f"--results={root}", *whole])

    with pytest.raises(SystemExit) as left:
        main()

    assert 2 == left.value.code
    assert told in capsys.readouterr().err


def test_a_board_that_was_not_there_is_called_a_twin(save: Save) -> None:
    """Its figures are of its image, its counts of the same code elsewhere."""
    root = save(
        make_record(
            instructions(9),
            nbytes("flash_total", 9),
            nbytes("ram_total", 9),
            board="nrf52840dk",
            attachment="twin",
        )
    )

    done = CliRunner().invoke(app, ["select", f"--results={root}"])

    assert "nrf52840dk (twin)" in done.stdout


def test_no_records_are_an_error_not_an_empty_table(tmp_path: Path) -> None:
    """As of `bench report`."""
    done = CliRunner().invoke(app, ["select", f"--results={tmp_path}"])

    assert isinstance(done.exception, InputError)


def test_a_price_that_was_filled_in_is_shown(save: Save, tmp_path: Path) -> None:
    """In a column of its own; a board of the file that the lab does not know is told."""
    root = save(make_record(cycles(250_000), nbytes("flash_total", 9), nbytes("ram_total", 9)))
    (tmp_path / "prices.csv").write_text("board,price\nmps2-an386,4.25\nnrf99,3\n")

    done = CliRunner().invoke(app, ["select", f"--results={root}", f"--prices={tmp_path / 'prices.csv'}"])  # fmt: skip

    assert "4.25" in done.stdout
    assert "no board of the lab: nrf99" in done.stderr


def test_a_price_is_never_invented(tmp_path: Path) -> None:
    """One that is not filled in leaves the answer open."""
    file = tmp_path / "prices.csv"
    file.write_text("board,price\nb,4.5\nc,\n")
    prices = read_prices(file)

    assert {"b": 4.5} == prices
    assert Answer.FAILS is judge([replace(PLAIN, price=4.5)], Requirements(max_price=4))[0].answer
    assert Answer.UNDECIDED is judge([PLAIN], Requirements(max_price=4))[0].answer
    file.write_text("b,cheap\n")
    with pytest.raises(BoardFileError, match="no price"):
        read_prices(file)


def test_the_deployment_image_decides_where_it_is_known(save: Save) -> None:
    """Silicon, estimate and count of three boards through the command, with JSON and the exit code."""
    shipped = [nbytes("flash_total", 60_000), nbytes("ram_total", 20_000)]
    parts = [("flash_runtime", 10_000), ("flash_kernels", 0), ("flash_firmware", 0), ("flash_weights", 50_000),
             ("flash_program", 0), ("ram_static", 1_000), ("ram_stack", 1_000), ("ram_planned", 18_000),
             ("ram_input_output", 0), ("ram_scratch", 0), ("ram_method", 0)]  # fmt: skip
    shipped += [nbytes(name, value) for name, value in parts]
    lab = [nbytes("lab_flash_image", 65_000), nbytes("pte", 50_000), nbytes("lab_ram_static", 800),
           nbytes("lab_ram_planned", 20_000), nbytes("lab_ram_method", 2_000), nbytes("lab_ram_temporary", 0),
           nbytes("lab_ram_stack", 1_000)]  # fmt: skip
    top1 = measured(
        "top1_device", "fraction", Evidence.EMULATED, 0.98, interval=(0.96, 0.99), n=360
    )
    root = save(
        make_record(cycles(250_000), *shipped, top1, board="mps2-an386"),
        make_record(estimate(320_000, 300_000, 400_000), *shipped, top1, board="mps3-an547"),
        make_record(instructions(99), *lab, board="mps2-an505"),
    )
    options = [
        "select",
        f"--results={root}",
        "--max-latency=50ms",
        "--min-accuracy=0.9",
        "--max-ram=128KB",
    ]

    told = CliRunner().invoke(app, [*options, "--json"])
    table = CliRunner().invoke(app, options)
    none = CliRunner().invoke(app, [*options, "--max-flash=1KB"])

    found = json.loads(told.stdout)["candidates"]
    assert [("mps2-an386", "meets"), ("mps3-an547", "meets"), ("mps2-an505", "undecided")] == [
        (c["candidate"]["board"], c["answer"]) for c in found if c["answer"] != "not run"
    ]
    assert ["deployment", "deployment", "lab"] == [c["candidate"]["image"] for c in found[:3]]
    assert 0 == told.exit_code == table.exit_code
    assert "lab image: upper bound" in table.output
    assert "not run" in table.output
    assert 1 == none.exit_code


@pytest.mark.parametrize(
    ("text", "value"), [("128KB", 131_072), ("4096", 4096), ("1.5 MB", 1_572_864), ("32k", 32_768)]
)
def test_sizes_are_read_as_memory_maps_write_them(text: str, value: int) -> None:
    """K is 1,024."""
    assert value == parse_bytes(text)


def test_a_time_needs_its_unit() -> None:
    """50 of what?"""
    assert 0.05 == parse_seconds("50ms")
    with pytest.raises(InputError, match="unit of time"):
        parse_seconds("50")
    assert "41.8 ms" == show_seconds(0.0418)


def test_pareto_charts_are_files_that_name_every_board(tmp_path: Path, save: Save) -> None:
    """One a model, evidence and axis, readable outside the report: no variable of a page is left."""
    for board, value in (("mps2-an386", 250_000), ("mps2-an500", 180_000)):
        save(make_record(estimate(value, value - 9, value + 9), nbytes("flash_total", 9), nbytes("ram_total", 9), board=board))  # fmt: skip
    folder = tmp_path / "charts"

    CliRunner().invoke(app, ["select", f"--results={save()}", f"--charts={folder}"])

    files = {path.name: ET.parse(path).getroot() for path in folder.iterdir()}
    assert {"ds_cnn-estimate-latency-against-ram.svg", "ds_cnn-estimate-latency-against-flash.svg"} == set(files)  # fmt: skip
    for name, root in files.items():
        text = "".join(root.itertext())
        assert "mps2-an386" in text
        assert "mps2-an500" in text
        assert "var(" not in (folder / name).read_text()
