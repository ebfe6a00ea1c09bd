"""The twin of a board: the same code at other addresses, sizes of the board's own image, and the label."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from bench import pipeline
from bench.attach import Attach, Mode, target_for
from bench.board import all_boards
from bench.build import build_image, build_twin
from bench.bundle import Options
from bench.catalogue import all_entries, find_boards, memories_of
from bench.deployment import build_deployment
from bench.errors import DoesNotFitError, ProbeMissingError
from bench.fit import Memory
from bench.foreign import foreign_program
from bench.image import symbol_sizes
from bench.pipeline import Attempt, Case, Plan, RunFailedError, run_case
from bench.record import Evidence, Status
from bench.targets.twin import TwinTarget
from bench.twin import REGIONS, machine_of, read_regions, twin_memory
from tests.boards.test_registers import CHIPS

UPSTREAM = Path(__file__).parents[1] / "data" / "upstream"
# one of each core: what is shared is decided by core and flags
TWINS = ["nrf52840dk", "nrf5340dk", "nucleo-h743zi2", "rpi-pico"]


@pytest.mark.parametrize("board_id", CHIPS)
def test_a_twin_has_the_boards_lengths_at_the_machines_addresses(
    board_id: str, tmp_path: Path
) -> None:
    """The slots that decide whether a program fits are as long as the board's."""
    board = find_boards(board_id)[0]
    machine = machine_of(board)
    assert machine is not None
    (tmp_path / "memory.ld").write_text(twin_memory(board, machine))

    twin = read_regions(tmp_path / "memory.ld")
    own, there = (read_regions(b.folder / "memory.ld") for b in (board, machine))

    assert board.cpu == machine.cpu
    assert [own[name].nbytes for name in REGIONS] == [twin[name].nbytes for name in REGIONS]
    assert [there[name].origin for name in REGIONS] == [twin[name].origin for name in REGIONS]


def test_emulated_boards_and_the_host_have_no_twin() -> None:
    """They stand for themselves."""
    others = [board for board in all_boards().values() if board.id not in CHIPS]

    assert {None} == {machine_of(board) for board in others}


@pytest.mark.toolchain
@pytest.mark.parametrize("board_id", TWINS)
def test_runtime_and_kernels_are_as_large_in_both_links(board_id: str) -> None:
    """Function by function in the lab image, and in total in a deployment image."""
    board = find_boards(board_id)[0]
    own, twin = build_image(board), build_twin(board)
    sizes = [
        {name: n for name, n in symbol_sizes(image.elf).items() if "rt::" in name}
        for image in (own, twin)
    ]
    operators = frozenset({"cortex_m::quantized_linear.out", "cortex_m::quantized_conv2d.out"})
    flash = [build_deployment(board, operators, target).flash for target in ("lab", "twin")]

    assert len(sizes[0]) > 200
    assert sizes[0] == sizes[1]
    assert own.kernels == twin.kernels
    assert (flash[0].runtime, flash[0].kernels) == (flash[1].runtime, flash[1].kernels)


@pytest.mark.qemu
def test_a_record_of_a_twin_says_what_each_figure_is() -> None:
    """Counts and estimates, sizes of the board's own image, the board's clock, no cycles; and it was announced."""
    board = find_boards("nrf52840")[0]
    program = foreign_program(
        UPSTREAM / "ds_cnn_cortex-m4.pte", (UPSTREAM / "ds_cnn_cortex-m4.in.bin",)
    )
    said: list[str] = []
    target = target_for(board, Attach(Mode.TWIN), said.append)
    image = build_image(board)

    case = Case(board, "ds_cnn", program.manifest.scheme)
    record = run_case(Attempt(case, program, image, target, Plan())).record

    kinds = {measure.evidence for measure in record.measures}
    assert {Evidence.COUNT, Evidence.ESTIMATE, Evidence.EMULATED, Evidence.STATIC} == kinds
    assert ("twin", "nrf52840dk", 64_000_000) == (
        record.attachment,
        record.board.id,
        record.board.clock_hz,
    )
    assert Status.INVALID != record.status
    assert "twin" in [issue.code for issue in record.issues]
    lab = record.find("lab_flash_image")
    assert lab is not None
    assert image.code_bytes + image.data_bytes == lab.median
    assert {False} == {facts.ran for facts in record.images}
    assert 1 == len(said)
    assert said[0].startswith("NOT MEASURED ON HARDWARE: ")


def test_a_twin_is_never_taken_for_a_missing_probe() -> None:
    """`--attach=hardware` without one is an error, `--attach=auto` takes the twin."""
    board = find_boards("nrf5340")[0]

    with pytest.raises(ProbeMissingError):
        target_for(board, Attach(Mode.HARDWARE), lambda _: None)

    assert isinstance(target_for(board, Attach(Mode.AUTO), lambda _: None), TwinTarget)


def _attempt(name: str) -> Attempt:
    board = find_boards(name)[0]
    program = foreign_program(
        UPSTREAM / "ds_cnn_cortex-m4.pte", (UPSTREAM / "ds_cnn_cortex-m4.in.bin",)
    )
    target = target_for(board, Attach(Mode.TWIN), lambda _: None)
    case = Case(board, "ds_cnn", program.manifest.scheme)
    plan = Plan(Options(warmup=0, iterations=1))
    return Attempt(case, program, build_image(board), target, plan)


def _without_room(attempt: Attempt) -> Attempt:
    """Return the attempt with an image whose arena is too small for the plan of 16,000 bytes."""
    arena = replace(attempt.image.arena, end=attempt.image.arena.start + 8192)
    return replace(attempt, image=replace(attempt.image, arena=arena))


@pytest.mark.qemu
def test_the_labs_own_needs_do_not_make_a_chip_too_small() -> None:
    """Where the lab's image leaves no room and the deployment image does, it runs with more memory and says so."""
    record = run_case(_without_room(_attempt("nrf52840"))).record

    assert ["lab-does-not-fit"] == [i.code for i in record.issues if i.code.endswith("fit")]
    assert record.find("latency", "est_cycles") is not None
    assert Status.INVALID is not record.status


@pytest.mark.qemu
def test_a_program_that_is_too_large_says_by_how_much(monkeypatch: pytest.MonkeyPatch) -> None:
    """A chip with 16 KiB of RAM: the fault has the sum of the record's RAM measures against it, figures are kept."""
    small = (
        Memory("Flash", "Flash", 1 << 20, frozenset({"CODE", "MODEL"})),
        Memory("SRAM", "RAM", 16384, frozenset({"DATA", "ARENA"})),
    )
    monkeypatch.setattr(pipeline, "memories_of", lambda _: small)

    with pytest.raises(RunFailedError) as caught:
        run_case(_without_room(_attempt("nrf52840")))

    record = caught.value.record
    total = record.find("ram_total")
    assert total is not None
    need = round(total.median)
    assert isinstance(caught.value.fault, DoesNotFitError)
    assert (
        f"RAM SRAM: have 16,384 B, need {need:,} B, {need - 16384:,} B too many"
        == caught.value.fault.what
    )
    assert Status.DEGRADED is record.status
    assert record.find("latency", "est_cycles") is not None


@pytest.mark.qemu
def test_an_entry_of_the_catalogue_has_a_twin() -> None:
    """The image of its core's machine runs; clock and memories are the entry's own, and it says which image it was."""
    attempt = _attempt("nucleo-f446re")
    record = run_case(attempt).record

    assert ("twin", "nucleo-f446re", 180_000_000) == (
        record.attachment,
        record.board.id,
        record.board.clock_hz,
    )
    assert build_image(find_boards("mps2-an386")[0]).sha256 == attempt.image.sha256
    (told,) = [issue.message for issue in record.issues if issue.code == "twin"]
    assert "sizes and fit are of the image of mps2-an386, for it has no firmware" in told
    latency = record.find("latency", "est_cycles")
    assert latency is not None
    assert "STM32F446 Flash at 180 MHz" in latency.table
    assert [("Flash", 512 * 1024), ("RAM", 128 * 1024)] == [
        (memory.kind, memory.nbytes) for memory in memories_of(attempt.case.board)
    ]


def test_the_groups_hold_every_board_that_one_can_buy() -> None:
    """`catalogue` the entries, `all` these and the boards with firmware."""
    entries, every = ([b.id for b in find_boards(name)] for name in ("catalogue", "all"))

    assert [*all_entries()] == entries
    assert [*CHIPS, *entries] == every


# A load from an odd address; ends by semihosting (SYS_EXIT_EXTENDED) with 3 if it faults, else with 0.
_UNALIGNED = """
.syntax unified
.cpu cortex-m0
.thumb
.word 0x20001000, reset + 1, 0, fault + 1
.thumb_func
reset: ldr r0, =0x20000001
ldr r1, [r0]
movs r4, #0
b end
.thumb_func
fault: movs r4, #3
end: ldr r5, =0x20000100
ldr r1, =0x20026
str r1, [r5]
str r4, [r5, #4]
movs r0, #0x20
mov r1, r5
bkpt 0xab
.ltorg
"""


@pytest.mark.qemu
@pytest.mark.parametrize(("machine", "code"), [("microbit", 3), ("mps2-an385", 0)])
def test_the_twin_of_an_m0plus_traps_unaligned_accesses(
    machine: str, code: int, tmp_path: Path
) -> None:
    """As Armv6-M must; an M3 would hide a kernel that a Pico stops at (QEMU 7.2 ignores CCR.UNALIGN_TRP)."""
    source, made, elf = (tmp_path / name for name in ("a.s", "a.o", "a.elf"))
    source.write_text(_UNALIGNED)
    subprocess.run(["arm-none-eabi-as", str(source), "-o", str(made)], check=True)
    link = ["arm-none-eabi-ld", "-Ttext=0", "-e", "reset", str(made), "-o", str(elf)]
    subprocess.run(link, check=True)
    done = subprocess.run(
        ["qemu-system-arm", "-M", machine, "-display", "none", "-monitor", "none", "-kernel", str(elf),
         "-semihosting-config", "enable=on,target=native"],
        check=False, timeout=60,
    )  # fmt: skip

    assert code == done.returncode
