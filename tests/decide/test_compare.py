"""What changed, with its noise, and why; unlike things are refused or labelled."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from typer.testing import CliRunner

import bench
from bench import cli_decide
from bench.cli import app
from bench.compare import Comparison, Row, Verdict, compare, select_runs
from bench.errors import InputError, UnknownNameError
from bench.record import Evidence, Record, measured
from tests.decide.records import Save, cycles, estimate, instructions, make_record, nbytes

if TYPE_CHECKING:
    import pandas as pd


def _compared(frame: pd.DataFrame, a: str, b: str, *, unlike: bool = False) -> Comparison:
    return compare(select_runs(frame, a), select_runs(frame, b), frame, unlike=unlike)


def _verdicts(told: Comparison) -> dict[str, Verdict]:
    return {row.measure: row.verdict for row in told.pairs[0].rows}


def test_counts_and_bytes_are_compared_exactly(save: Save) -> None:
    """One instruction more is worse; accuracy more is better."""
    old = make_record(instructions(1000), nbytes("pte", 50), commit="aaaa111", at=1)
    new = make_record(instructions(1001), nbytes("pte", 49), commit="bbbb222", at=2)

    told = _compared(bench.load(save(old, new)), "commit=aaaa111", "commit=bbbb222")

    assert {"latency": Verdict.WORSE, "pte": Verdict.BETTER} == _verdicts(told)


def test_silicon_is_compared_with_its_run_to_run_spread(save: Save) -> None:
    """0.1 % in a spread of 0.3 % is noise, 5 % is not."""
    wobble = [0, 300, -200, 400, -350, 100, -100, 250]
    past = [make_record(cycles(100_000 + d), at=n) for n, d in enumerate(wobble)]
    near = make_record(cycles(100_100), at=20, build_id="c")
    far = make_record(cycles(105_000), at=21, build_id="d")
    frame = bench.load(save(*past, near, far))

    assert Verdict.NOISE is _verdicts(_compared(frame, past[0].run_id, near.run_id))["latency"]
    assert Verdict.WORSE is _verdicts(_compared(frame, past[0].run_id, far.run_id))["latency"]


def test_without_history_the_samples_speak_and_few_say_nothing(save: Save) -> None:
    """Order statistics of six samples; of one, the noise is unknown."""
    low = make_record(cycles(100, 101, 102, 101, 100, 102), at=1)
    high = make_record(cycles(110, 111, 112, 111, 110, 112), at=2)
    one = make_record(cycles(120), at=3)
    frame = bench.load(save(low, high, one))

    assert Verdict.WORSE is _verdicts(_compared(frame, low.run_id, high.run_id))["latency"]
    assert Verdict.UNKNOWN is _verdicts(_compared(frame, low.run_id, one.run_id))["latency"]


def test_unlike_workloads_are_refused_with_what_differs_or_labelled(save: Save) -> None:
    """Other weights are another workload."""
    old = make_record(instructions(1000), at=1)
    new = make_record(instructions(900), at=2, weights="other")
    frame = bench.load(save(old, new))

    refused = _compared(frame, old.run_id, new.run_id).pairs[0]
    labelled = _compared(frame, old.run_id, new.run_id, unlike=True).pairs[0]

    assert "weights" in refused.refused
    assert () == refused.rows
    assert any("UNLIKE" in text for text in labelled.labels)
    assert Verdict.LABELLED is labelled.rows[0].verdict


def test_two_cores_counts_are_not_ranked_and_units_never_mixed(save: Save) -> None:
    """Instructions of an M4 and an M55 are no race; cycles and instructions are no pair at all."""
    m4 = make_record(instructions(1000), estimate(2000, 1800, 2400), board="mps2-an386")
    m55 = make_record(instructions(500), estimate(1900, 1700, 2500), board="mps3-an547")
    real = make_record(cycles(1500), board="mps3-an547", device="bench-7", at=4)
    frame = bench.load(save(m4, m55, real))

    pair = _compared(frame, "board=mps2-an386", f"run={m55.run_id}").pairs[0]

    assert {"count": Verdict.LABELLED, "estimate": Verdict.NOISE} == {
        row.evidence: row.verdict for row in pair.rows
    }
    other = _compared(frame, "board=mps2-an386", f"run={real.run_id}").pairs[0]
    assert () == other.rows
    assert 3 == len(other.only)


def test_two_boards_of_a_core_differ_by_bands_and_at_two_clocks_by_time(save: Save) -> None:
    """The memory of a board is an estimate too: an overlap is no win. More cycles at a faster clock can be less time."""
    slow = make_record(estimate(10_000, 7_000, 16_000), board="nrf52840dk")  # 64 MHz: 109 to 250 us
    near = make_record(estimate(12_000, 7_500, 21_000), board="other")  # 64 MHz too
    fast = make_record(estimate(12_000, 7_500, 13_000), board="fast")  # 128 MHz: 58.6 to 102 us
    fast = fast.model_copy(
        update={"board": fast.board.model_copy(update={"clock_hz": 128_000_000})}
    )
    few = make_record(cycles(9_000), board="few")
    many = make_record(cycles(10_000), board="many")
    many = many.model_copy(
        update={"board": many.board.model_copy(update={"clock_hz": 128_000_000})}
    )
    frame = bench.load(save(slow, near, fast, few, many))

    overlap = _compared(frame, "board=nrf52840dk", "board=other").pairs[0].rows[0]
    (timed,) = _compared(frame, "board=nrf52840dk", "board=fast").pairs[0].rows
    (unknown,) = _compared(frame, "board=few", "board=many").pairs[0].rows

    assert Verdict.NOISE is overlap.verdict
    assert Verdict.BETTER is timed.verdict
    assert "as time: 156 µs (109 µs to 250 µs) and 93.8 µs (58.6 µs to 102 µs)" == timed.noise
    assert Verdict.UNKNOWN is unknown.verdict


def test_two_models_are_shown_and_not_judged(save: Save) -> None:
    """Nothing is worse for being of another model."""
    a = make_record(instructions(10), model="linear")
    b = make_record(instructions(3000), model="ds_cnn")

    pair = _compared(bench.load(save(a, b)), "model=linear", "model=ds_cnn").pairs[0]

    assert {Verdict.LABELLED} == {row.verdict for row in pair.rows}
    assert any("two models" in text for text in pair.labels)
    assert not pair.worse


@pytest.mark.parametrize(
    ("unit", "before", "after", "told"),
    [
        ("instructions", 1000, 1001, "+0.10%"),
        ("bytes", 100, 9_000, "x 90"),
        ("bytes", 0, 256, "+256"),
        ("dB", 42.18, 34.12, "-8.06 dB"),
    ],
)
def test_a_change_is_said_as_people_say_it(
    unit: str, before: float, after: float, told: str
) -> None:
    """A part, a multiple, a difference; a part of decibels means nothing."""
    row = Row("m", unit, "count", before, after, Verdict.WORSE, "")

    assert told == cli_decide._change(row)


def test_a_core_may_be_called_by_its_short_name(save: Save) -> None:
    """`core=m4` is the cortex-m4; a name that is none tells which there are."""
    frame = bench.load(save(make_record(instructions(1))))

    assert 1 == len(select_runs(frame, "core=m4"))
    with pytest.raises(UnknownNameError, match="no record matches") as told:
        select_runs(frame, "core=m9")
    assert "cpu: cortex-m4" in told.value.hint


def test_schemes_and_engines_are_compared_labelled(save: Save) -> None:
    """What was asked to differ is named."""
    a = make_record(instructions(10), scheme="int8")
    b = make_record(instructions(30), scheme="fp32")

    pair = _compared(bench.load(save(a, b)), "scheme=int8", "scheme=fp32").pairs[0]

    assert "scheme: int8 → fp32" in pair.labels
    assert "" == pair.refused


def test_accuracy_is_compared_with_its_interval(save: Save) -> None:
    """G08: 954 of 1000, then 827: worse; 950: noise. The library that changed is named."""

    def top1(correct: int) -> object:
        return measured("top1_device", "fraction", Evidence.EMULATED, correct / 1000, n=1000)

    old = make_record(top1(954), at=1)
    tools = {"target": "QEMU 7.2", "torch": "2.14.0"}
    near = make_record(top1(950), at=2)
    bad = make_record(top1(827), at=3, tools=tools)
    frame = bench.load(save(old, near, bad))

    assert Verdict.NOISE is _verdicts(_compared(frame, old.run_id, near.run_id))["top1_device"]
    pair = _compared(frame, old.run_id, bad.run_id).pairs[0]
    assert Verdict.WORSE is pair.rows[0].verdict
    assert "torch: 2.13.0 → 2.14.0" in pair.labels


def test_a_change_is_explained_by_operator_program_and_symbol(save: Save) -> None:
    """Which operator took the time, which symbol the bytes, what became of the program."""

    def beside(conv: int, symbol: int) -> dict[str, bytes]:
        rows = [
            {"index": 0, "operator": "conv", "layer": "stem", "instructions": conv},
            {"index": 1, "operator": "pad", "layer": "", "instructions": 7},
        ]
        table = {"schema": 1, "unit": "instructions", "rows": rows}
        symbols = {"run_conv": symbol, "main": 10}
        return {"operators.json": json.dumps(table).encode(), "symbols.json": json.dumps(symbols).encode()}  # fmt: skip

    old = make_record(instructions(107), at=1)
    new = make_record(instructions(307), at=2, program_sha256="q", build_id="x", operators={"cortex_m::quantized_conv2d.out": 2})  # fmt: skip
    save(old, attachments=beside(100, 400))
    root = save(new, attachments=beside(300, 500))

    pair = _compared(bench.load(root), old.run_id, new.run_id).pairs[0]

    assert [("#0 conv (stem)", 100, 300)] == [(d.name, d.before, d.after) for d in pair.operators]
    assert [("run_conv", 400, 500)] == [(d.name, d.before, d.after) for d in pair.symbols]
    assert "operator cortex_m::quantized_conv2d.out: 1 → 2 times" in pair.program
    assert pair.image[0].startswith("image: b → x")


def test_a_twins_image_is_explained_though_it_did_not_run(save: Save) -> None:
    """Its own image is what its sizes are of."""

    def twin(build_id: str, at: int) -> Record:
        made = make_record(nbytes("pte", 5), at=at, build_id=build_id, attachment="twin")
        return made.model_copy(
            update={"images": (made.images[0].model_copy(update={"ran": False}),)}
        )

    old, new = twin("b", 1), twin("x", 2)

    pair = _compared(bench.load(save(old, new)), old.run_id, new.run_id).pairs[0]

    assert ("image: b → x",) == pair.image


def test_a_table_that_is_not_the_one_that_was_hashed_is_not_used(save: Save) -> None:
    """A changed attachment explains nothing."""
    old = make_record(instructions(107), at=1)
    root = save(old, attachments={"symbols.json": b'{"a": 1}'})
    path = next(root.rglob("*.symbols.json"))
    new = make_record(instructions(107), at=2, build_id="x")
    save(new, attachments={"symbols.json": b'{"a": 2}'})
    path.write_text('{"a": 100}')

    assert () == _compared(bench.load(root), old.run_id, new.run_id).pairs[0].symbols


def test_a_selector_that_matches_nothing_says_what_there_is(save: Save) -> None:
    """With the boards, models and engines that are there, and the keys."""
    frame = bench.load(save(make_record(instructions(1))))

    with pytest.raises(UnknownNameError, match="no record matches") as told:
        select_runs(frame, "board=nowhere")
    assert "mps2-an386" in told.value.hint
    with pytest.raises(UnknownNameError, match="no key"):
        select_runs(frame, "bord=x")
    with pytest.raises(InputError, match="selects nothing"):
        select_runs(frame, "what?")


def test_the_command_prints_and_exits_with_one_if_anything_is_worse(save: Save) -> None:
    """The documented exit codes; JSON for machines."""
    old = make_record(instructions(1000), at=1)
    new = make_record(instructions(1100), at=2)
    root: Path = save(old, new)
    run = CliRunner().invoke

    worse = run(app, ["compare", old.run_id, new.run_id, f"--results={root}"])
    better = run(app, ["compare", new.run_id, old.run_id, f"--results={root}", "--json"])

    assert 1 == worse.exit_code
    assert "+10.00%" in worse.output
    assert 0 == better.exit_code
    assert "better" == json.loads(better.stdout)["pairs"][0]["rows"][0]["verdict"]
