"""The plugin under QEMU: it sees the ELF's bytes, changes nothing, and counts what the ticks count."""

from __future__ import annotations

import io
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest
from elftools.elf.elffile import ELFFile

from bench import estimate, process, wire
from bench.board import Board, find_boards
from bench.build import build_image
from bench.bundle import Options, pack
from bench.estimate.dump import Dump
from bench.estimate.windows import EstimateError, find_windows
from bench.image import Image
from bench.qemu_plugins import build_plugin
from bench.targets import Request
from bench.targets.qemu import QemuTarget

UPSTREAM = Path(__file__).parents[1] / "data" / "upstream"
EMULATED = ["microbit", *(board.id for board in find_boards("emulated"))]
NONCE = 7
pytestmark = pytest.mark.qemu


@dataclass(frozen=True)
class Ran:
    """One board's run of upstream's linear model, with the plugin."""

    board: Board
    image: Image
    dump: Dump
    transcript: wire.Transcript
    plain: wire.Transcript
    log: wire.RunLog

    @property
    def icount_shift(self) -> int:
        """Of the board's QEMU machine."""
        assert self.board.qemu is not None
        return self.board.qemu.icount_shift


@cache
def _ran(board_id: str, folder: Path) -> Ran:
    board = find_boards(board_id)[0]
    image = build_image(board)
    cpu = "cortex-m55" if board.cpu == "cortex-m55" else "cortex-m4"
    stem = UPSTREAM / f"autoencoder_{cpu}"
    bundle = pack(
        Path(f"{stem}.pte").read_bytes(),
        [[Path(f"{stem}.in.bin").read_bytes()]],
        Options(warmup=1, iterations=2, operator_ticks=True),
    )
    dump = folder / f"{board_id}.dump"
    request = Request(board, image, bundle, NONCE, deadline_s=60.0)
    counted = Request(board, image, bundle, NONCE, 60.0, plugin=estimate.plugin_for(image, dump))
    transcript = QemuTarget().run(counted)
    expected = wire.Expected(board.id, image.build_id, f"{NONCE:016x}", bundle.crc32)
    return Ran(
        board,
        image,
        estimate.read_dump_file(dump),
        transcript,
        QemuTarget().run(request),
        wire.parse(transcript, expected),
    )


@pytest.fixture(params=EMULATED)
def ran(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Ran:
    """Every emulated board in turn, each run once."""
    return _ran(request.param, tmp_path_factory.getbasetemp())


def test_the_plugin_changes_no_byte_of_the_transcript(ran: Ran) -> None:
    """Ticks, outputs and order are the same with and without it."""
    assert ran.plain.raw == ran.transcript.raw


def test_the_plugin_sees_the_bytes_of_the_elf(ran: Ran) -> None:
    """Every block's bytes are those at its address, also where QEMU tells a wrong size."""
    segments = [
        (segment["p_vaddr"], segment.data())
        for segment in ELFFile(io.BytesIO(ran.image.elf.read_bytes())).iter_segments("PT_LOAD")
    ]

    def at(address: int, nbytes: int) -> bytes:
        for start, data in segments:
            if start <= address < start + len(data):
                return bytes(data[address - start : address - start + nbytes])
        return b""

    wrong = [hex(block.start) for block in ran.dump.blocks if at(block.start, len(block.code)) != block.code]  # fmt: skip

    assert wrong == []
    assert len(ran.dump.blocks) > 500


def _around(name: str) -> list[str]:
    return [f"{name}_pre", name, f"{name}_post"]


def test_blocks_and_ticks_give_the_same_number_of_instructions(ran: Ran) -> None:
    """Of every window: load, inferences and operators. `find_windows` refuses a run in which they differ."""
    windows = find_windows(ran.dump, ran.log, ran.icount_shift)
    names = [window.name for window in windows.timed]

    assert names[:13] == [
        "load",
        *_around("latency_first"),
        *_around("latency_warmup"),
        *_around("latency") * 2,
    ]
    assert windows.timed[8].instructions > 10_000
    assert len(names) == 13 + len(ran.log.operator_ticks)


def test_ticks_that_do_not_belong_to_the_dump_are_refused(ran: Ran) -> None:
    """One tick more a window is another run."""
    ticks = ran.log.ticks | {"load": (ran.log.ticks["load"][0] + 10,)}
    log = wire.RunLog(**{**vars(ran.log), "ticks": ticks})

    with pytest.raises(EstimateError, match="its ticks say"):
        find_windows(ran.dump, log, ran.icount_shift)


def test_an_inference_is_estimated_with_its_band_and_table(ran: Ran) -> None:
    """`latency` in est_cycles lies inside its band; warm inferences are alike to the cycle."""
    found = {one.name: one for one in estimate.measures(ran.board, ran.dump, ran.log)}
    latency = found["latency"]

    assert list(found) == [
        "load", *_around("latency_first"), *_around("latency_warmup"), *_around("latency")
    ]  # fmt: skip
    assert ("est_cycles", "estimate", 1) == (
        latency.unit,
        latency.evidence.value,
        len(set(latency.values)),
    )
    assert latency.band is not None
    assert latency.band[0] < latency.median < latency.band[1]
    assert latency.table.startswith(f"{ran.board.cpu} ")


def test_operators_sum_to_the_inference(ran: Ran) -> None:
    """What is left between them is dispatch: below a tenth of this small model."""
    cycles = estimate.operator_cycles(ran.board, ran.dump, ran.log)
    found = {one.name: one for one in estimate.measures(ran.board, ran.dump, ran.log)}
    latency = found["latency"].median

    assert 0.9 < sum(cycles.values()) / latency <= 1.0


@pytest.mark.parametrize("argument", ["", ",out=/dev/null,mark=zz", ",out=/dev/null,frobnicate=1"])
def test_an_argument_that_the_plugin_cannot_use_stops_qemu(argument: str) -> None:
    """No file, no address, no such thing: QEMU ends at once and says why."""
    command = ["qemu-system-arm", "-M", "mps2-an386", "-display", "none"]
    done = process.run(
        [*command, "-plugin", f"{build_plugin('block_counts')}{argument}"], deadline_s=20.0
    )

    assert done.exit_code not in (0, None)
    assert b"block_counts: " in done.stderr
