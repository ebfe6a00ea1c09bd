"""What the firmware says, on every emulated board."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING

import pytest

from bench.board import all_boards
from bench.bundle import Inject
from tests.firmware.support import (
    NONCE,
    edited,
    image_of,
    instructions,
    raw_bundle,
    run_on,
    upstream_bundle,
    upstream_output,
)

if TYPE_CHECKING:
    from bench.board import Board

pytestmark = pytest.mark.qemu

COUNT_INSTRUCTIONS = 5


def test_hello_says_who_answers(board: Board) -> None:
    """Board, build id, nonce and the bundle's hash are those of this run."""
    bundle = upstream_bundle(board, "linear")

    hello = run_on(board, bundle).one("hello")

    assert hello["board"] == board.id
    assert hello["build"] == image_of(board).build_id
    assert hello["nonce"] == f"{NONCE:016x}"
    assert hello["bundle"] == bundle.crc32
    assert hello["bundle_bytes"] == str(len(bundle.data))
    assert (hello["counter"], hello["counter_hz"]) == (board.counter, str(board.clock_hz))


def test_a_run_gives_upstreams_output(board: Board) -> None:
    """The lines of a healthy run, in order, with the bytes that upstream's runtime gives."""
    bundle = upstream_bundle(board, "linear", warmup=1, iterations=2, all_outputs=False)

    ran = run_on(board, bundle)

    assert ran.kinds == [
        *("hello", "counter", "load", "pool", "pool", "pool", "pool"),
        *("measure", "measure", "measure", "measure", "output", "output_end"),
        *("guard", "pool", "end"),
    ]
    assert [line.fields["name"] for line in ran.of("measure")] == [
        *("latency_first", "latency_warmup", "latency", "latency")
    ]
    assert all(int(line.fields[key]) > 0 for line in ran.of("measure") for key in ("pre", "post"))
    guard = ran.one("guard")
    beside = int(guard.pop("beside"))
    fixed = int(guard.pop("fixed"))
    assert guard == {
        "bytes": "64",
        "damaged": "0",
        "front": "16",
        "front_damaged": "0",
        "fixed_damaged": "0",
        "beside_damaged": "0",
    }
    method = next(
        int(line.fields["used"]) for line in ran.of("pool") if line.fields["name"] == "method"
    )
    assert method <= fixed < method + 16
    assert beside >= 4 * 16  # four instructions, an end of each output at least
    output = b"".join(base64.b64decode(line.fields["data"]) for line in ran.of("output"))
    assert output == upstream_output(board, "linear")
    assert ran.one("end") == {"status": "ok", "lines": str(len(ran.lines))}
    assert ran.transcript.exit_code == 0


def test_every_sample_is_run_when_asked(board: Board) -> None:
    """With all outputs asked for, each sample gives its own, though execution overwrites inputs."""
    bundle = upstream_bundle(board, "linear", samples=3, warmup=0, iterations=0)

    ran = run_on(board, bundle)

    assert [line.fields["sample"] for line in ran.of("output_end")] == ["0", "1", "2"]
    data = {base64.b64decode(line.fields["data"]) for line in ran.of("output")}
    assert data == {upstream_output(board, "linear")}


def test_two_runs_are_the_same_byte_for_byte(board: Board) -> None:
    """Time is counted instructions: nothing of the machine below shows."""
    bundle = upstream_bundle(board, "linear", operator_ticks=True)

    assert run_on(board, bundle).transcript.raw == run_on(board, bundle).transcript.raw


def test_operators_take_as_long_as_the_whole(board: Board) -> None:
    """The windows around the instructions of a program add up to its latency, within the dispatch."""
    ran = run_on(board, upstream_bundle(board, "linear", operator_ticks=True, all_outputs=False))
    whole = instructions(ran, board, int(ran.of("measure")[-1].fields["ticks"]))
    parts = [instructions(ran, board, int(line.fields["ticks"])) for line in ran.of("op")]

    assert [line.fields["i"] for line in ran.of("op")] == [str(i) for i in range(len(parts))]
    assert len(parts) == int(ran.one("load")["instructions"])
    assert 0 <= whole - sum(parts) <= 200 * len(parts)


def test_every_instruction_sends_what_it_wrote(board: Board) -> None:
    """Intermediates come whole, one an instruction and sample; the last is the output."""
    ran = run_on(board, upstream_bundle(board, "linear", samples=2, intermediates=True))
    ends = [(int(e.fields["sample"]), int(e.fields["i"])) for e in ran.of("intermediate_end")]
    count = int(ran.one("load")["instructions"])

    assert [(sample, i) for sample in (0, 1) for i in range(count)] == ends
    assert ran.of("output_end")[0].fields["crc"] == ran.of("intermediate_end")[-1].fields["crc"]


def test_instruction_counts_are_exact(board: Board) -> None:
    """Windows around a known number of instructions come back exactly, wraps of the counter included."""
    bundle = edited(upstream_bundle(board, "linear"), inject=COUNT_INSTRUCTIONS)

    ran = run_on(board, bundle)
    counted = {
        int(line.fields["instructions"]): instructions(ran, board, int(line.fields["ticks"]))
        for line in ran.of("count")
    }

    assert counted == {n: n for n in (10, 1_000, 1_000_000, 50_000_000)}


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b"\0" * 4096, "bundle-absent"),
        (b"\xff" * 4096, "bundle-absent"),
        (bytes(range(256)) * 16, "bundle-magic"),
    ],
    ids=["zeros", "erased", "garbage"],
)
def test_a_slot_without_a_bundle_is_an_error(board: Board, content: bytes, code: str) -> None:
    """An empty or foreign slot is named; the run ends by itself."""
    ran = run_on(board, raw_bundle(content))

    assert ran.one("error") == {"code": code}
    assert ran.one("hello")["bundle_bytes"] == "0"
    assert ran.one("end")["status"] == "error"
    assert ran.transcript.exit_code == 1


def test_an_arena_one_step_too_small_is_refused(board: Board) -> None:
    """The arena that the pools name suffices; 8 bytes less, and the error says how much is missing."""
    whole = run_on(board, upstream_bundle(board, "linear"))
    (arena,) = (line for line in whole.of("pool") if line.fields["name"] == "arena")
    need = int(arena.fields["used"])

    fits = run_on(board, upstream_bundle(board, "linear", arena_limit_bytes=need))
    short = run_on(board, upstream_bundle(board, "linear", arena_limit_bytes=need - 8))

    assert fits.one("end")["status"] == "ok"
    assert short.one("error")["code"] == "arena-too-small"
    assert (short.one("error")["have"], short.one("error")["need"]) == (str(need - 8), str(need))


def test_a_truncated_program_is_refused(board: Board) -> None:
    """A program that was cut short is an error of the engine, not a fault of the processor."""
    bundle = upstream_bundle(board, "linear")

    ran = run_on(board, edited(bundle, pte_bytes=1000))

    assert ran.one("error")["code"].startswith("program-")
    assert ran.transcript.exit_code == 1


def test_an_undefined_instruction_is_reported(board: Board) -> None:
    """The fault line has the place and the cause (CFSR.UNDEFINSTR); Armv6-M knows HardFault alone, without a cause."""
    ran = run_on(board, upstream_bundle(board, "linear", inject=Inject.UNDEFINED_INSTRUCTION))

    fault = ran.one("fault")
    known = ("hardfault", 0) if board.cpu == "cortex-m0plus" else ("usagefault", 1 << 16)
    assert known == (fault["type"], int(fault["cfsr"], 16))
    assert int(fault["pc"], 16) % 2 == 0
    assert int(fault["pc"], 16) != 0
    assert ran.one("end")["status"] == "fault"
    assert ran.transcript.exit_code == 2


def test_a_stack_overflow_is_reported(board: Board) -> None:
    """Running over the stack's end is told apart from other faults, and stays within the stack.

    Without an MPU, as on QEMU's M0, it ends where the RAM ends: right below the stack, which is the lowest thing in it.
    """
    stack = image_of(board).stack
    frame = 256 if board.cpu == "cortex-m0plus" else 0

    ran = run_on(board, upstream_bundle(board, "linear", inject=Inject.STACK_OVERFLOW))

    fault = ran.one("fault")
    assert fault["type"] == "stack_overflow"
    assert stack.start - frame <= int(fault["sp"], 16) < stack.start + 1024
    assert ran.one("end")["status"] == "fault"
    assert ran.transcript.exit_code == 2


def test_a_hang_ends_at_the_deadline(board: Board) -> None:
    """What came before the hang is kept; there is no end."""
    bundle = upstream_bundle(board, "linear", inject=Inject.HANG)

    ran = run_on(board, bundle, deadline_s=1.0)

    assert ran.transcript.timed_out
    assert ran.kinds[:3] == ["hello", "counter", "load"]
    assert "end" not in ran.kinds


def test_a_run_may_stop_without_its_end(board: Board) -> None:
    """The injected stop leaves measures that look good and no end line."""
    ran = run_on(board, upstream_bundle(board, "linear", inject=Inject.STOP_WITHOUT_END))

    assert ran.kinds[-1] == "measure"
    assert ran.transcript.exit_code == 0


def test_the_stack_is_measured(board: Board) -> None:
    """Painted stack: some of it was used, not all."""
    ran = run_on(board, upstream_bundle(board, "linear"))

    (stack,) = (line.fields for line in ran.of("pool") if line.fields["name"] == "stack")
    assert 256 < int(stack["used"]) < int(stack["have"])


def test_much_output_arrives_whole() -> None:
    """Half a megabyte of lines at the emulator's full speed: none is lost."""
    board = all_boards()["mps3-an547"]
    bundle = upstream_bundle(board, "linear", samples=2_000, warmup=0, iterations=0)

    ran = run_on(board, bundle)

    assert len(ran.of("output_end")) == 2_000
    assert ran.one("end")["status"] == "ok"


def test_clock_lines_are_due_by_the_devices_own_counter(board: Board) -> None:
    """Six, the last three two seconds after the first (docs/wire.md), each sent within a millisecond of its time."""
    hz = board.clock_hz

    ran = run_on(board, upstream_bundle(board, "linear", clock_check=True))

    late = [
        int(line.fields["ticks"]) / hz - due
        for line, due in zip(ran.of("clock"), (0.0, 0.1, 0.2, 2.4, 2.5, 2.6), strict=True)
    ]
    assert [True] * 6 == [0.0 <= one < 1e-3 for one in late]
    assert [] == run_on(board, upstream_bundle(board, "linear")).of("clock")
