"""A night: retries apart, steps found, noise left alone, what is missing told, exit codes as documented."""

from __future__ import annotations

import json
import random
import re
import sys
import xml.etree.ElementTree as ET
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

import pytest
from typer.testing import CliRunner

import bench
from bench import baseline, frame, nightly, store
from bench.cli import app
from bench.errors import DeviceBusyError, InputError, UnknownNameError
from bench.nightly import Bench, Cell, Kind, Night, Ran, keep, run_night
from bench.policy import MeasureRule, Policy, read_policy
from bench.record import Evidence, Measure, measured
from tests.decide.history import noise, outliers, step, watch
from tests.decide.records import START, cycles, instructions, make_record, night

CELL = Cell("nrf", "ds_cnn", "int8")


@dataclass
class Lab:
    """A bench whose runs are scripted: night after night, each a record or a failure."""

    results: Path
    policy: Policy = field(default_factory=Policy)
    baselines: baseline.Baselines = field(default_factory=baseline.Baselines)
    number: int = 0
    runs: int = 0

    def night(self, run: Callable[[], Measure | str], cells: tuple[Cell, ...] = (CELL,), budget_s: float | None = None, **facts: object) -> Night:  # fmt: skip
        """Run a night; `run` gives a measure, or the message of an infrastructure failure."""
        self.number += 1
        seconds = 0

        def runner(cell: Cell, results: Path) -> Ran:
            nonlocal seconds
            seconds += 1
            self.runs += 1
            told = run()
            if isinstance(told, str):
                return Ran(Kind.INFRASTRUCTURE, 1.0, message=told)
            time = (START + timedelta(days=self.number, seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%SZ")  # fmt: skip
            made = make_record(told, board=cell.board, model=cell.model, at=time, attachment=facts.get("attachment", "probe"), **{k: v for k, v in facts.items() if k != "attachment"})  # fmt: skip
            store.save(made, {}, results)
            return Ran(Kind.RAN, 1.0, (made.run_id,))

        self.results.mkdir(exist_ok=True)
        now = START + timedelta(days=self.number, hours=1)
        done = run_night(Bench(self.policy, cells, self.results, self.baselines, runner, lambda _: None, budget_s, lambda: now))  # fmt: skip
        keep(done, self.results)
        return done


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    """An empty bench."""
    return Lab(tmp_path / "results")


def _told(done: Night) -> list[str]:
    return [f"{f.level} {f.text}" for one in done.cells for f in one.findings]


def test_s38_a_step_in_a_quiet_history_fails_the_night_and_names_what_changed(lab: Lab) -> None:
    """30 nights of 604k +-0.3 %, then 629k with another commit."""
    rng = random.Random(38)
    for _ in range(30):
        quiet = lab.night(lambda: cycles(604_000 * (1 + rng.gauss(0, 0.003))))
        assert 0 == quiet.exit_code

    loud = lab.night(lambda: cycles(629_000 * (1 + rng.gauss(0, 0.003))), commit="feedbeef")

    assert 1 == loud.exit_code
    (text,) = _told(loud)
    assert text.startswith("fail latency: 60")
    assert "commit 01234567 → feedbeef" in text


def test_s39_a_fault_of_the_bench_is_retried_and_shown_apart(lab: Lab) -> None:
    """Passed on retry is not passed."""
    script: list[Measure | str] = ["probe-missing: unplugged", cycles(1000)]

    done = lab.night(lambda: script.pop(0))

    assert 0 == done.exit_code
    assert 1 == done.cells[0].retries
    text = nightly.summary(done)
    assert "1 passed on retry" in text
    assert "probe-missing: unplugged" in text
    assert "passed on retry 1" in nightly.junit(done).decode()


def test_nothing_ran_is_exit_3_and_a_part_is_told(lab: Lab) -> None:
    """3 only if nothing ran."""
    lost = lab.night(lambda: "no probe")
    assert 3 == lost.exit_code

    other = Cell("nrf", "linear", "int8")
    script: list[Measure | str] = [cycles(1000), "no probe", "no probe"]
    part = lab.night(lambda: script.pop(0), (CELL, other))

    assert 0 == part.exit_code
    assert "could not run" in nightly.summary(part)
    lab.policy = Policy(infrastructure="fail")
    script = [cycles(1000), "no probe", "no probe"]
    assert 1 == lab.night(lambda: script.pop(0), (CELL, other)).exit_code


def test_a_suspicious_point_runs_again_and_an_outlier_is_a_note(lab: Lab) -> None:
    """Seven more runs; the first did not come again."""
    rng = random.Random(5)
    for _ in range(20):
        lab.night(lambda: cycles(1_000_000 + rng.gauss(0, 3000)))
    before = lab.runs
    script = [1_100_000.0]

    done = lab.night(lambda: cycles(script.pop() if script else 1_000_000 + rng.gauss(0, 3000)))

    assert 0 == done.exit_code
    assert 8 == lab.runs - before
    assert 7 == len(done.cells[0].again)
    assert "did not come again" in _told(done)[0]


def test_an_exact_change_fails_against_the_baseline_and_warns_without(lab: Lab) -> None:
    """A count is exact: one more is a change, and only an accept explains it."""
    lab.night(lambda: instructions(1000), attachment="emulator")
    warned = lab.night(lambda: instructions(1001), attachment="emulator")
    assert 0 == warned.exit_code
    assert ["warn latency: 1,000 instructions → 1,001 instructions since the last run (no baseline)"] == _told(warned)  # fmt: skip

    found = frame.latest(bench.load(lab.results))
    lab.baselines, _ = baseline.accept(lab.baselines, found, "first")
    failed = lab.night(lambda: instructions(1002), attachment="emulator")

    assert 1 == failed.exit_code
    assert ["fail baseline: latency [instructions]: 1,001 → 1,002 (+0.10%)"] == _told(failed)


def test_an_accepted_change_starts_the_history_anew(lab: Lab) -> None:
    """What was accepted alarms no more."""
    rng = random.Random(6)
    for _ in range(20):
        lab.night(lambda: cycles(1000_000 + rng.gauss(0, 3000)))
    assert 1 == lab.night(lambda: cycles(1_050_000 + rng.gauss(0, 3000))).exit_code

    lab.baselines, _ = baseline.accept(lab.baselines, frame.latest(bench.load(lab.results)), "yes")

    assert 0 == lab.night(lambda: cycles(1_050_000 + rng.gauss(0, 3000))).exit_code


def test_g08_accuracy_falls_with_the_library_named(lab: Lab) -> None:
    """954 of 1000, then 827, with only a tool's version changed."""

    def top1(correct: int) -> Measure:
        return measured("top1_device", "fraction", Evidence.SILICON, correct / 1000, n=1000)

    lab.night(lambda: top1(954))
    near = lab.night(lambda: top1(950))
    fell = lab.night(lambda: top1(827), tools={"target": "QEMU 7.2", "torch": "2.13.0", "cmsis-nn": "5.7"})  # fmt: skip

    assert 0 == near.exit_code
    assert 1 == fell.exit_code
    assert "cmsis-nn: none → 5.7" in _told(fell)[0]


def test_g08_answers_that_are_all_one_class_fail(tmp_path: Path) -> None:
    """Whatever the accuracy says."""
    import struct  # noqa: PLC0415  only here

    def outputs(answers: list[int]) -> bytes:
        return b"".join(struct.pack("<4f", *(1.0 if c == a else 0.0 for c in range(4))) for a in answers)  # fmt: skip

    program = json.dumps({"classes": 4, "outputs": [{"dtype": "float32"}]}).encode()

    def night_of(answers: list[int]) -> Night:
        def runner(_cell: Cell, results: Path) -> Ran:
            made = make_record(cycles(1), board="nrf", attachment="probe")
            store.save(made, {"program.json": program, "output_0.bin": outputs(answers)}, results)
            return Ran(Kind.RAN, 1.0, (made.run_id,))

        root = tmp_path / "results"
        root.mkdir(exist_ok=True)
        return run_night(Bench(Policy(stale_nights=10**6), (CELL,), root, baseline.Baselines(), runner, lambda _: None))  # fmt: skip

    assert "every one of 30 answers is class 2" in night_of([2] * 30).cells[0].findings[0].text
    assert [] == night_of([0, 1, 2] * 10).cells[0].findings


def test_a_missing_measure_follows_the_policy(lab: Lab) -> None:
    """Latency fails, the rest warns."""
    lab.night(lambda: cycles(1000))
    done = lab.night(lambda: measured("load", "cycles", Evidence.SILICON, 5))

    assert ["fail latency cycles silicon was there last time and is missing"] == _told(done)
    assert 1 == done.exit_code


def test_a_limit_of_the_policy_lets_small_changes_pass(lab: Lab) -> None:
    """Told, not failed."""
    lab.policy = Policy(measure=[MeasureRule(name="latency", relative=0.05)])
    rng = random.Random(7)
    for _ in range(20):
        lab.night(lambda: cycles(1_000_000 + rng.gauss(0, 1000)))

    done = lab.night(lambda: cycles(1_030_000 + rng.gauss(0, 1000)))

    assert 0 == done.exit_code


def test_no_record_for_too_many_nights_is_an_alarm(lab: Lab) -> None:
    """Other cells ran; this one has been silent."""
    other = Cell("nrf", "linear", "int8")
    lab.night(lambda: cycles(1), (CELL, other))
    lab.number = 9

    done = lab.night(lambda: cycles(1))
    assert 0 == done.exit_code

    lab.number = 19
    script: list[Measure | str] = [cycles(1), "no probe", "no probe"]
    done = lab.night(lambda: script.pop(0), (CELL, other))
    assert 1 == done.exit_code
    assert "no record of nrf/linear/int8 for 19 nights" in done.findings[0].text


def test_a_clock_that_jumped_back_is_told_and_nothing_is_lost(lab: Lab) -> None:
    """The newest record is from the future."""
    lab.number = 10
    lab.night(lambda: cycles(1))
    lab.number = 3

    done = lab.night(lambda: cycles(2))

    assert "the clock says" in done.findings[0].text
    assert 2 == bench.load(lab.results)["path"].nunique()


def test_the_budget_runs_the_important_first_and_says_what_was_left_out(lab: Lab) -> None:
    """By priority, then shortest first; what never ran counts a minute."""
    cells = (Cell("a", "m", "int8"), Cell("b", "m", "int8"), Cell("c", "m", "int8"))
    lab.policy = Policy(priority=["c/*"])

    done = lab.night(lambda: cycles(1), cells, budget_s=130.0)

    assert ["c/m/int8", "a/m/int8"] == [str(o.cell) for o in done.cells if o.kind is Kind.RAN]
    assert "left out, no time" in nightly.summary(done)
    assert "- b/m/int8" in nightly.summary(done)
    known = nightly.predictions(nightly.past_nights(lab.results))
    assert {"c/m/int8": 1.0, "a/m/int8": 1.0} == known
    chosen, out = nightly.order(cells, lab.policy, known, 61.5)
    assert (["c/m/int8", "a/m/int8"], ["b/m/int8"]) == ([*map(str, chosen)], [*map(str, out)])


def test_transcripts_are_pruned_and_records_never(lab: Lab) -> None:
    """Old transcripts go, what killed writers left goes, everything else stays."""
    lab.results.mkdir()
    store.save(make_record(cycles(1), at=night(0)), {"transcript.txt": b"x"}, lab.results)
    store.save(make_record(cycles(1), at=night(50)), {"transcript.txt": b"x"}, lab.results)

    removed = nightly.prune(lab.results, Policy(), START + timedelta(days=51))

    assert 1 == removed
    assert 2 == bench.load(lab.results)["path"].nunique()
    assert 1 == len(list(lab.results.rglob("*.transcript.txt")))


def test_two_nights_at_once_are_refused(tmp_path: Path) -> None:
    """The second says so and does nothing."""
    with (
        nightly.only_one(tmp_path),
        pytest.raises(DeviceBusyError, match="another night"),
        nightly.only_one(tmp_path),
    ):
        pass


def test_a_hook_is_told_the_verdict(lab: Lab, tmp_path: Path) -> None:
    """In its environment; one that fails is reported, and changes no verdict."""
    done = lab.night(lambda: cycles(1))
    out = tmp_path / "out"
    script = f"import os; open({str(out)!r}, 'w').write(os.environ['BENCH_VERDICT'] + os.environ['BENCH_EXIT'])"

    assert "" == nightly.call_hook(done, tmp_path, [sys.executable, "-c", script])
    assert "good0" == out.read_text()
    assert "code 7" in nightly.call_hook(done, tmp_path, [sys.executable, "-c", "exit(7)"])
    assert "" != nightly.call_hook(done, tmp_path, ["no-such-program-here"])


def test_pytests_xml_tells_verdicts_from_faults_of_the_bench() -> None:
    """An error is retried, a failure never."""
    xml = '<testsuites><testsuite><testcase><properties><property name="run_id" value="abc"/></properties>{}</testcase></testsuite></testsuites>'

    assert Ran(Kind.RAN, 1.0, ("abc",)) == nightly.read_junit(xml.format(""), 1.0)
    assert Kind.FAILED is nightly.read_junit(xml.format("<failure>mismatch</failure>"), 1.0).kind
    assert Kind.INFRASTRUCTURE is nightly.read_junit(xml.format("<error>no probe</error>"), 1).kind
    assert Kind.INFRASTRUCTURE is nightly.read_junit("<testsuites/>", 1.0).kind


def test_a_model_that_is_none_is_a_fault_of_the_asker_not_of_the_bench(tmp_path: Path) -> None:
    """Exit code 2 before anything runs: no retry, no alarm that it has no record."""
    done = CliRunner().invoke(app, ["nightly", "--board=mps2-an386", "--model=ds_cn", f"--results={tmp_path / 'r'}"])  # fmt: skip

    assert isinstance(done.exception, UnknownNameError)
    assert "did you mean 'ds_cnn'" in done.exception.hint
    assert not (tmp_path / "r").exists()


def test_the_summary_and_xml_hold_together(lab: Lab) -> None:
    """The XML parses, its counts are its cases', and a pipe in a message breaks no table."""
    script: list[Measure | str] = ["a | b", "a | b"]
    done = lab.night(lambda: script.pop() if script else cycles(1), (CELL, Cell("x", "m", "int8")))
    root = ET.fromstring(nightly.junit(done))

    assert ("2", "0", "1") == (root.get("tests"), root.get("failures"), root.get("errors"))
    assert "a \\| b" in nightly.summary(done)


def test_a_summary_of_a_large_change_still_fits_a_comment_and_names_the_causes() -> None:
    """72 cells of 30 lines are 230,000 characters; GitHub takes 65,536. The figure that counts and its cause stay."""
    figures = [f"baseline: measure_{n} [bytes]: 1,000 → 2,000 (+100.00%) {'x' * 60}" for n in range(20)]  # fmt: skip
    texts = [*figures, "baseline: latency [instructions]: 10 → 12 (+20.00%)"]
    texts += [f"baseline: operator #{n} conv: 1 → 2" for n in range(9)]
    findings = [nightly.Finding(nightly.Level.FAIL, text) for text in texts]
    cells = [nightly.CellNight(Cell(f"b{n}", "m", "int8"), Kind.RAN, findings=findings) for n in range(72)]  # fmt: skip

    text = nightly.summary(Night("2026-01-01T00:00:00Z", tuple(cells), ()))
    whole = nightly.junit(Night("2026-01-01T00:00:00Z", tuple(cells), ()))

    assert len(text) < 65_536
    assert 72 == text.count("latency [instructions]: 10 → 12")
    assert 72 <= text.count("operator #0 conv")
    assert re.search(r"and \d\d more: junit.xml", text)
    assert 72 * 20 <= whole.decode().count("measure_")


def test_a_summary_that_cannot_be_short_is_cut_and_says_so() -> None:
    """Nothing is dropped without a word."""
    long = [nightly.Finding(nightly.Level.WARN, f"{n} {'x' * 290}") for n in range(400)]

    text = nightly.summary(Night("2026-01-01T00:00:00Z", (), tuple(long)))

    assert len(text) < 65_536
    assert text.endswith("and more: junit.xml has all of it\n")


def test_what_a_device_said_does_not_break_the_xml(lab: Lab) -> None:
    """Control characters have no place in XML, escaped or not."""
    script: list[Measure | str] = ["\x1b[31m\x00 panic", "\x1b[31m\x00 panic"]
    done = lab.night(lambda: script.pop() if script else cycles(1))

    root = ET.fromstring(nightly.junit(done))

    assert "panic" in (root.findtext("testcase/error") or "")


def test_a_policy_is_checked_by_key(tmp_path: Path) -> None:
    """With a did-you-mean."""
    file = tmp_path / "nightly.toml"
    file.write_text('stale_nigths = 4\n[[measure]]\nname = "latency"\n')

    with pytest.raises(InputError, match="stale_nigths") as told:
        read_policy(file)
    assert "stale_nights" in told.value.hint
    file.write_text('stale_nights = 4\n[[measure]]\nname = "lat*"\nrelative = 0.01\n')
    policy = read_policy(file)
    assert (4, 0.01, "fail") == (policy.stale_nights, policy.rule("latency", "count").relative, Policy().rule("latency", "x").missing)  # fmt: skip


@pytest.mark.parametrize("seed", range(10))
def test_no_false_alarm_in_a_thousand_nights_of_noise(seed: int) -> None:
    """At the default policy; 200 seeds are `make bench-nightly`."""
    assert [] == watch(seed, noise, 1000).alarms


@pytest.mark.parametrize("seed", range(20))
def test_single_outliers_never_alarm(seed: int) -> None:
    """One run in twenty is 10 % slower."""
    assert [] == watch(seed, outliers).alarms


def test_three_percent_in_one_percent_of_noise_is_found_within_three_nights() -> None:
    """From night 30 on; of 200 seeds at least 95 %, and every one within ten nights."""
    delays = [watch(seed, step(0.03)).alarms[0] - 29 for seed in range(200)]

    assert 1 <= min(delays)
    assert sum(delay <= 3 for delay in delays) >= 190
    assert max(delays) <= 10
