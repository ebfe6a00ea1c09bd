"""Baselines: exact, explained by operator and symbol, silent about what they do not know."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

import bench
from bench import baseline, frame
from bench.baseline import Baselines, State, accept, gate
from bench.cli import app
from bench.errors import InputError, RecordError
from bench.record import Evidence, Record, measured
from tests.decide.records import Save, cycles, instructions, make_record, nbytes


def _beside(conv: int, symbol: int) -> dict[str, bytes]:
    rows = [{"index": 0, "operator": "conv", "layer": "stem", "instructions": conv}]
    table = {"schema": 1, "unit": "instructions", "rows": rows}
    return {
        "operators.json": json.dumps(table).encode(),
        "symbols.json": json.dumps({"run_conv": symbol}).encode(),
        "output_0.bin": b"same",
    }


def _gated(save: Save, old: Record, new: Record, beside: dict[str, bytes] | None = None) -> baseline.Finding:  # fmt: skip
    save(old, attachments=_beside(100, 400))
    before, _ = accept(Baselines(), frame.latest(bench.load(save())), "first")
    root = save(new, attachments=beside or _beside(100, 400))
    return gate(before, frame.latest(bench.load(root)))[0]


def test_the_same_figures_are_the_same(save: Save) -> None:
    """Another run of the same sources."""
    told = _gated(save, make_record(instructions(107), at=1), make_record(instructions(107), at=2))

    assert State.SAME is told.state


def test_a_slower_kernel_is_named_with_its_symbol(save: Save) -> None:
    """S23: which operator, which symbol grew."""
    new = make_record(instructions(207), at=2, build_id="x")

    told = _gated(save, make_record(instructions(107), at=1), new, _beside(200, 500))

    assert State.CHANGED is told.state
    assert "latency [instructions]: 107 → 207 (+93.46%)" in told.lines
    assert "operator #0 conv (stem): 100 → 200" in told.lines
    assert "symbol run_conv: 400 → 500" in told.lines


def test_s23_eight_bytes_are_a_change(save: Save) -> None:
    """S23: 135,768, then 135,776."""
    old = make_record(nbytes("flash_total", 135_768), at=1)

    told = _gated(save, old, make_record(nbytes("flash_total", 135_776), at=2))

    assert ("flash_total [bytes]: 135,768 → 135,776 (+0.01%)",) == told.lines


def test_what_got_faster_has_to_be_accepted_too(save: Save) -> None:
    """Else the next one to make it slower again would not be seen."""
    told = _gated(save, make_record(instructions(107), at=1), make_record(instructions(99), at=2))

    assert State.CHANGED is told.state


def test_other_outputs_are_a_change(save: Save) -> None:
    """Byte for byte."""
    other = _beside(100, 400) | {"output_0.bin": b"else"}

    told = _gated(
        save, make_record(instructions(1), at=1), make_record(instructions(1), at=2), other
    )

    assert "outputs differ, byte for byte" in told.lines


@pytest.mark.parametrize(
    ("facts", "state"),
    [
        ({"compiler": "gcc 13"}, State.UNKNOWN_TOOLCHAIN),
        ({"qemu": "QEMU 8"}, State.UNKNOWN_TOOLCHAIN),
        ({"weights": "other"}, State.UNLIKE),
        ({"model": "other"}, State.NO_BASELINE),
    ],
)
def test_what_the_file_does_not_know_is_reported_not_failed(
    save: Save, facts: dict[str, str], state: State
) -> None:
    """A new compiler is no regression."""
    old = make_record(instructions(107), at=1)
    new = make_record(instructions(999), at=2, **facts)
    before, _ = accept(Baselines(), frame.latest(bench.load(save(old))), "first")

    found = gate(before, bench.load(save(new)))

    assert state is found[-1].state


def test_the_last_digits_of_a_float_reference_are_no_change(save: Save) -> None:
    """Torch's sums differ from one machine to another."""

    def snr(value: float) -> Record:
        return make_record(measured("error_float", "dB", Evidence.EMULATED, value))

    assert State.SAME is _gated(save, snr(34.0), snr(34.0 + 1e-9)).state
    assert State.CHANGED is _gated(save, snr(34.0), snr(33.9)).state


def test_an_absent_or_empty_file_is_no_baseline_and_a_damaged_one_is_named(tmp_path: Path) -> None:
    """Absent: nothing to gate. Damaged: an error, not a silent pass."""
    path = tmp_path / "baselines.json"

    assert Baselines() == baseline.read(path)
    path.write_text("")
    assert Baselines() == baseline.read(path)
    path.write_text('{"entries": [1]}')
    with pytest.raises(RecordError, match=r"entries\.0"):
        baseline.read(path)


def test_a_written_file_reads_back(save: Save, tmp_path: Path) -> None:
    """Sorted, so that diffs are small."""
    root = save(make_record(instructions(1), board="mps3-an547"), make_record(instructions(2)))
    made, count = accept(Baselines(), frame.latest(bench.load(root)), "why")

    baseline.write(tmp_path / "b.json", made)
    again = baseline.read(tmp_path / "b.json")

    assert 2 == count
    assert ["mps2-an386", "mps3-an547"] == [entry.board for entry in again.entries]
    assert {"why"} == {entry.reason for entry in again.entries}


def test_a_real_boards_change_starts_its_history_anew(save: Save) -> None:
    """Noisy figures have no exact baseline."""
    root = save(make_record(cycles(5), attachment="probe"))

    made, _ = accept(Baselines(), bench.load(root), "new crystal")

    assert [] == made.entries
    assert "new crystal" == made.changes[0].reason


def test_a_reason_is_asked_for(save: Save) -> None:
    """A blank one is none."""
    with pytest.raises(InputError, match="reason"):
        accept(Baselines(), bench.load(save(make_record(instructions(1)))), " ")


def test_the_commands_gate_and_accept(save: Save, tmp_path: Path) -> None:
    """No file: exit 0. Accepted: 0. Changed: 1, with the command that explains it. Accepted again: 0."""
    root = save(make_record(instructions(100), at=1))
    options = [f"--results={root}", f"--file={tmp_path / 'b.json'}"]

    def run(*words: str) -> tuple[int, str]:
        done = CliRunner().invoke(app, ["baseline", *words, *options])
        return done.exit_code, done.output

    assert (0, "mps2-an386 ds_cnn int8 lab: no baseline\n") == run("check")
    assert 0 == run("accept", "--reason=first")[0]
    assert 0 == run("check")[0]
    save(make_record(instructions(101), at=2))
    code, text = run("check")
    assert 1 == code
    assert "100 → 101" in text
    assert "bench baseline accept --reason" in text
    assert 0 == run("accept", "--reason=meant")[0]
    assert 0 == run("check")[0]


def test_another_machines_program_may_round_otherwise(save: Save) -> None:
    """Scales come from float activations: outputs differ, a count by a branch or two, sizes not at all."""
    old = make_record(instructions(100_000), nbytes("pte", 900), at=1, program_sha256="p1")
    new = make_record(instructions(100_050), nbytes("pte", 900), at=2, program_sha256="p2")

    told = _gated(save, old, new, _beside(100, 400) | {"output_0.bin": b"else"})

    assert State.SAME is told.state


def test_another_program_that_is_slower_or_larger_still_fails(save: Save) -> None:
    """The tolerance is a thousandth of the instructions, and none of the bytes."""
    old = make_record(instructions(100_000), nbytes("pte", 900), at=1, program_sha256="p1")
    new = make_record(instructions(100_150), nbytes("pte", 908), at=2, program_sha256="p2")

    told = _gated(save, old, new)

    assert "latency [instructions]: 100,000 → 100,150 (+0.15%)" in told.lines
    assert "pte [bytes]: 900 → 908 (+0.89%)" in told.lines
    assert "program p1 → p2" in told.lines


def test_a_twin_is_as_exact_as_an_emulated_board(save: Save) -> None:
    """Its figures are gated, not kept as a history."""
    twin = {"board": "nrf52840dk", "attachment": "twin"}

    told = _gated(
        save,
        make_record(instructions(100), at=1, **twin),
        make_record(instructions(101), at=2, **twin),
    )

    assert "latency [instructions]: 100 → 101 (+1.00%)" in told.lines
