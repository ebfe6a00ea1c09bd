"""The FVP's command line, what it gives, and how it fails: against a stand-in, for no FVP can be had here."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from bench.attach import Attach, Mode, target_for
from bench.board import find_boards
from bench.build import build_image
from bench.bundle import Options
from bench.errors import InputError, LabError, NoAnswerError, TargetError, ToolMissingError
from bench.foreign import foreign_program
from bench.pipeline import Attempt, Case, Outcome, Plan, RunFailedError, run_case
from bench.record import Evidence

pytestmark = pytest.mark.qemu

BOARD = find_boards("mps3-an547")[0]
UPSTREAM = Path(__file__).parents[1] / "data" / "upstream"
STAND_IN = Path(__file__).parent / "stand_in_fvp.py"


@pytest.fixture
def program(tmp_path: Path) -> str:
    """Return the stand-in as an executable."""
    path = tmp_path / "FVP_Corstone_SSE-300_Ethos-U55"
    path.write_text(f'#!/bin/sh\nexec {sys.executable} {STAND_IN} "$@"\n')
    path.chmod(0o755)
    return str(path)


def _run(program: str, deadline_s: float = 60.0) -> Outcome:
    made = foreign_program(
        UPSTREAM / "linear_cortex-m55.pte", (UPSTREAM / "linear_cortex-m55.in.bin",)
    )
    target = target_for(BOARD, Attach(Mode.FVP, fvp=program), lambda _: None)
    plan = Plan(Options(warmup=0, iterations=1), deadline_s=deadline_s)
    case = Case(BOARD, "linear", made.manifest.scheme)
    return run_case(Attempt(case, made, build_image(BOARD), target, plan))


def _fault(program: str, deadline_s: float = 60.0) -> LabError:
    with pytest.raises(RunFailedError) as caught:
        _run(program, deadline_s)
    assert () == caught.value.record.measures
    return caught.value.fault


def test_a_run_gives_outputs_and_ticks_that_are_no_cycles(program: str) -> None:
    """The bundle goes in, lines come out; latency is labelled `fvp`, nothing is silicon's or counted."""
    record = _run(program).record

    latency = record.find("latency")
    assert latency is not None
    assert ("fvp_ticks", Evidence.FVP, "fvp") == (
        latency.unit,
        latency.evidence,
        record.attachment,
    )
    assert "Fast Models [stand-in]" == record.tools["target"]
    kinds = {measure.evidence for measure in record.measures}
    assert set() == kinds & {Evidence.SILICON, Evidence.COUNT, Evidence.ESTIMATE}


@pytest.mark.parametrize(
    ("failure", "message"),
    [
        ("license", "code 1: Error: License check failed"),
        ("parameter", "parameter 'cpu0.semihosting-enable' not found"),
        ("silent", "code 0: the UART is silent"),
        ("library", "code 127: FVP: error while loading shared libraries: libatomic.so.1"),
        ("code", "code 7: the device ended well"),
    ],
)
def test_what_the_fvp_says_is_the_fault(
    failure: str, message: str, program: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An error line, a parameter that it does not know, silence: each is named, none is a record."""
    monkeypatch.setenv("FVP_FAILS", failure)

    fault = _fault(program)

    assert isinstance(fault, TargetError)
    assert message in str(fault)


def test_the_command_line_is_the_fvps(
    program: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Image by -a; bundle and mailbox by --data, at the addresses that the image has for them; UART0 into a file."""
    monkeypatch.setenv("FVP_ARGUMENTS", str(tmp_path / "arguments"))
    image = build_image(BOARD)

    _run(program)

    words = (tmp_path / "arguments").read_text().splitlines()
    after = [(words[i], words[i + 1]) for i in range(len(words) - 1)]
    data = [value.rsplit("@", 1)[1] for option, value in after if option == "--data"]
    assert [hex(image.model.start), hex(image.mailbox)] == data
    assert ("-a", str(image.elf)) in after
    parameters = dict(value.split("=", 1) for option, value in after if option == "-C")
    assert parameters["mps3_board.uart0.out_file"].endswith("/uart0")
    assert "1" == parameters["cpu0.semihosting-enable"]
    assert ("--timelimit", "60") in after


def test_it_is_found_on_path(program: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without --fvp the name of Arm's Corstone-300 FVP is looked up on PATH."""
    monkeypatch.setenv("PATH", f"{Path(program).parent}{os.pathsep}{os.environ['PATH']}")

    assert "fvp" == _run("").record.attachment


def test_a_deadline_ends_it(program: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A model that hangs is killed."""
    monkeypatch.setenv("FVP_FAILS", "hang")

    fault = _fault(program, 2.0)

    assert isinstance(fault, NoAnswerError)
    assert "no line within 2.0 s" in fault.what


def test_without_an_fvp_it_is_said(tmp_path: Path) -> None:
    """A missing program is a missing tool, another board than it models a usage error: both before anything is built."""
    with pytest.raises(InputError):
        target_for(find_boards("nrf5340")[0], Attach(Mode.FVP), lambda _: None)

    missing = Attach(Mode.FVP, fvp=str(tmp_path / "no_fvp"))
    with pytest.raises(ToolMissingError, match="no_fvp is not installed"):
        target_for(find_boards("mps3-an547")[0], missing, lambda _: None)
