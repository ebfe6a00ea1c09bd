"""The twin of a board: the same code at other addresses, sizes of the board's own image, and the label."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.attach import Attach, Mode, target_for
from bench.board import all_boards, find_boards
from bench.build import build_image, build_twin
from bench.deployment import build_deployment
from bench.errors import ProbeMissingError
from bench.foreign import foreign_program
from bench.image import symbol_sizes
from bench.pipeline import Attempt, Case, Plan, run_case
from bench.record import Evidence, Status
from bench.targets.twin import TwinTarget
from bench.twin import REGIONS, machine_of, read_regions, twin_memory
from tests.boards.test_registers import CHIPS

UPSTREAM = Path(__file__).parents[1] / "data" / "upstream"
# one of each core: what is shared is decided by core and flags
TWINS = ["nrf52840dk", "nrf5340dk", "nucleo-h743zi2"]


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
