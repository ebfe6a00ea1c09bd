"""`bench bring-up` on simulated devices, and what its report does to records."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from bench.board import find_boards
from bench.cli import app
from bench.errors import SiteFileError
from bench.pipeline import run_case
from bench.proof import Report, Step, is_proven, report_path, write_report
from bench.record import Status
from bench.targets.fake import FakeTarget
from bench.targets.simprobe.gdb_link import HOST_CLOCK, PACED
from tests.contract.conftest import attempt, board, image, program, target  # noqa: F401  fixtures
from tests.probe.conftest import Simulated

PASSED = Report(
    board="fake-m4", device="left", probe_uid="1", attachment="probe", time_utc="2026-01-01T00:00:00Z",
    commit="c", dirty=False, build_id="b", steps=[Step(name="link", passed=True, told="", seconds=0.1)],
)  # fmt: skip


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[Simulated], Path]:
    """Return a function that writes a site file of one device; without a call, the site has no device."""
    path = tmp_path / "bench.toml"
    path.write_text("")
    monkeypatch.setenv("BENCH_SITE", str(path))

    def write(device: Simulated) -> Path:
        path.write_text(
            f'[[device]]\nname = "{device.entry.name}"\nboard = "{device.entry.board}"\n'
            f'probe_uid = "{device.entry.uid}"\nsimulated = "{device.entry.simulated}"\n'
        )
        return path

    return write


def _bring_up(board_id: str) -> tuple[int, dict[str, Step]]:
    done = CliRunner().invoke(app, ["bring-up", f"--board={board_id}"])
    assert report_path(board_id).exists(), done.output
    report = Report.model_validate_json(report_path(board_id).read_text())
    return done.exit_code, {step.name: step for step in report.steps}


@pytest.mark.qemu
def test_a_device_that_counts_and_keeps_time_passes_every_step(
    plug_in: Callable[..., Simulated],
    site: Callable[[Simulated], Path],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """25 MHz are 25 MHz by this machine's clock and equal work takes equal ticks; but it is no proof of a real board."""
    monkeypatch.setenv(PACED, "1")
    site(plug_in())

    for _ in range(3):  # a busy machine may hear a group's lines all late
        code, steps = _bring_up("mps2-an386")
        if steps["clock"].passed:
            break

    assert [] == [(name, step.told) for name, step in steps.items() if not step.passed]
    assert (0, 5) == (code, len(steps))
    assert "a second time all" in steps["flash"].told
    # 64 ns an instruction at 25 MHz, and five instructions a wrap of the counter's 2^24 ticks
    assert steps["counter"].told.startswith("1.6000 ticks an instruction of a loop, 1.6000 over")
    assert "25.000 MHz by the board's file" in steps["clock"].told
    assert "outputs are the host's" in steps["model"].told
    assert not is_proven("mps2-an386")


@pytest.mark.qemu
def test_a_counter_that_takes_unequal_ticks_for_equal_work_is_found(
    plug_in: Callable[..., Simulated],
    site: Callable[[Simulated], Path],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """So does QEMU's by this machine's clock; the other steps are still taken."""
    monkeypatch.setenv(HOST_CLOCK, "1")
    for place in (
        "bench.bring_up",
        "bench.validity",
    ):  # lines heard late are not what this is about
        monkeypatch.setattr(f"{place}.TOLERANCE", 0.5)
    site(plug_in())

    for _ in range(4):  # of a machine that happens to keep an even pace for once
        code, steps = _bring_up("mps2-an386")
        if not steps["counter"].passed and steps["model"].passed:
            break

    assert (1, False) == (code, steps["counter"].passed), steps
    assert "counter-invalid" in steps["counter"].told
    assert "outputs are the host's" in steps["model"].told


@pytest.mark.qemu
def test_a_clock_that_is_wrong_fails_and_the_rest_is_still_seen(
    an386: Simulated, site: Callable[[Simulated], Path]
) -> None:
    """Under -icount the counter runs at another rate than 25 MHz; counting itself is right, and exact."""
    site(an386)

    code, steps = _bring_up("mps2-an386")

    assert 1 == code
    assert {"clock": False} == {n: s.passed for n, s in steps.items() if not s.passed}
    assert "25.000 MHz by the board's file" in steps["clock"].told
    # 64 ns an instruction at 25 MHz, and five instructions a wrap of the counter's 2^24 ticks
    assert steps["counter"].told.startswith("1.6000 ticks an instruction of a loop, 1.6000 over")


@pytest.mark.qemu
def test_flash_that_does_not_hold_ends_it(
    an386: Simulated, site: Callable[[Simulated], Path]
) -> None:
    """A bit that stays 0: nothing that runs from there is worth trying."""
    site(an386)
    an386.bench.arm(stuck_bits={0x400: 0xFF})

    code, steps = _bring_up("mps2-an386")

    assert 1 == code
    assert steps["link"].passed
    assert not steps["flash"].passed
    assert ["not tried: flash failed"] * 3 == [steps[n].told for n in ("counter", "clock", "model")]


def test_without_the_board_nothing_is_written(site: Callable[[Simulated], Path]) -> None:
    """No device of the site file is an nRF5340-DK: an error, and no report."""
    done = CliRunner().invoke(app, ["bring-up", "--board=nrf5340"])

    assert 0 != done.exit_code
    assert not report_path("nrf5340dk").exists()


@pytest.mark.parametrize(
    ("report", "issues"),
    [
        (None, ["board-unproven"]),
        (PASSED, []),
        (PASSED.model_copy(update={"attachment": "simulated"}), ["board-unproven"]),
        (
            PASSED.model_copy(
                update={"steps": [PASSED.steps[0].model_copy(update={"passed": False})]}
            ),
            ["board-unproven"],
        ),
        (PASSED.model_copy(update={"steps": []}), ["board-unproven"]),
    ],
)
def test_records_are_degraded_until_a_report_exists(
    report: Report | None,
    issues: list[str],
    attempt: object,  # noqa: F811
    target: FakeTarget,  # noqa: F811
    site: Callable[[Simulated], Path],
) -> None:
    """A board without one that passed on real hardware is unproven on this site."""
    case = attempt.case  # type: ignore[attr-defined]
    unproven = case.board.model_copy(
        update={"evidence": "silicon", "qemu": None, "unverified": ["hardware"]}
    )
    target.attachment = "probe"
    if report is not None:
        write_report(report)

    record = run_case(replace(attempt, case=replace(case, board=unproven))).record  # type: ignore[type-var]

    assert issues == [i.code for i in record.issues if i.code == "board-unproven"]
    assert (Status.DEGRADED if issues else Status.VALID) == record.status


def test_a_report_that_cannot_be_read_is_named(site: Callable[[Simulated], Path]) -> None:
    """It is neither taken for a proof nor passed over."""
    write_report(PASSED).write_text(json.dumps({"board": "fake-m4"}))

    with pytest.raises(SiteFileError, match="bring-up"):
        is_proven("fake-m4")


def test_every_board_with_a_chip_still_has_to_be_proven() -> None:
    """None was seen on real hardware yet."""
    assert [] == [one.id for one in find_boards("chips") if "hardware" not in one.unverified]
