"""Times of a run by what has changed since the last: nothing, the model, a word of the firmware, everything.

    python -m benchmarks.flash [--device=NAME] [--json]

Without --device on a simulated MPS2 board with a Cortex-M4: real pyOCD and pyserial, but no SWD and no erase times of a
part, so the figures say what the lab's own path costs and how little of the image goes through it. With a device of
bench.toml they are that device's; its Flash is written.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import tempfile
import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from rich.console import Console
from rich.table import Table

from bench.attach import Attach, Mode, target_for
from bench.board import Board, find_boards
from bench.build import build_image
from bench.bundle import Bundle, Options, pack
from bench.image import Image
from bench.site import Device, read_site
from bench.targets import Request
from bench.targets.device import DeviceTarget
from bench.targets.simprobe.client import Bench, SimulatedDevice
from bench.wire import Expected, parse

_DATA = Path(__file__).parents[1] / "tests" / "data" / "upstream"
_BOARD = "mps2-an386"
_DEADLINE_S = 120.0
_WORD = b"unexpected_exception\0"


@dataclass(frozen=True)
class Timed:
    """One run.

    Attributes:
        flash_seconds: of comparing, erasing and programming.
        whole_seconds: from the order to the last line: process, connection, flash, run.
    """

    changed: str
    programmed_bytes: int
    identical_bytes: int
    erased_bytes: int
    flash_seconds: float
    verify_seconds: float
    whole_seconds: float


def _bundle(model: str) -> Bundle:
    pte, sample = (_DATA / f"{model}_cortex-m4.{end}" for end in ("pte", "in.bin"))
    options = Options(warmup=0, iterations=1)
    return pack(pte.read_bytes(), [[sample.read_bytes()]], options)


def _with_another_word(image: Image, folder: Path) -> Image:
    """Return an image with one byte changed: in a word that only a fault would send."""
    raw = image.elf.read_bytes()
    assert raw.count(_WORD) == 1
    elf = folder / "changed.elf"
    elf.write_bytes(raw.replace(_WORD, b"U" + _WORD[1:]))
    return replace(image, elf=elf)


def _time(target: DeviceTarget, board: Board, image: Image, bundle: Bundle, changed: str) -> Timed:
    """Run once; return what it took."""
    started = time.monotonic()
    transcript = target.run(Request(board, image, bundle, 1, _DEADLINE_S))
    whole = time.monotonic() - started
    parse(transcript, Expected(board.id, image.build_id, f"{1:016x}", bundle.crc32))
    told = json.loads(transcript.diagnostics.splitlines()[0].removeprefix("flash: "))
    return Timed(
        changed,
        told["programmed_bytes"],
        told["identical_bytes"],
        told["erased_bytes"],
        told["seconds"],
        told["verify_seconds"],
        whole,
    )


def measure(target: DeviceTarget, board: Board) -> list[Timed]:
    """Flash once, and run four times, each with something else changed since the last."""
    image, linear, ds_cnn = build_image(board), _bundle("linear"), _bundle("ds_cnn")
    everything = target.flash(board, image, everything=True)
    rows = [
        Timed(
            "the firmware alone, everything programmed",
            everything.programmed_bytes,
            everything.identical_bytes,
            everything.erased_bytes,
            everything.seconds,
            everything.verify_seconds,
            everything.whole_seconds,
        )
    ]
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        _time(target, board, image, linear, "")
        same = _time(target, board, image, linear, "nothing")
        model = _time(target, board, image, ds_cnn, f"the model ({len(ds_cnn.data)} bytes)")
        changed = _with_another_word(image, Path(folder))
        firmware = _time(target, board, changed, ds_cnn, "one byte of the firmware")
    return [*rows, same, model, firmware]


def _print(rows: list[Timed], where: str) -> None:
    table = Table(title=where, title_justify="left", header_style="bold")
    for heading in (
        "changed",
        "programmed B",
        "identical B",
        "erased B",
        "flash s",
        "read back s",
        "whole s",
    ):
        table.add_column(heading, justify="left" if heading == "changed" else "right")
    for row in rows:
        counts = (row.programmed_bytes, row.identical_bytes, row.erased_bytes)
        seconds = (row.flash_seconds, row.verify_seconds, row.whole_seconds)
        table.add_row(row.changed, *(f"{n:,}" for n in counts), *(f"{s:.2f}" for s in seconds))
    Console(width=None if sys.stdout.isatty() else 200).print(table)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="", help="of bench.toml; default: a simulated one")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    if options.device:
        entry = read_site().named(options.device)
        (board,) = find_boards(entry.board)
        target = target_for(board, Attach(Mode.HARDWARE, options.device), print)
        assert isinstance(target, DeviceTarget)  # --attach=hardware gives nothing else
        rows = measure(target, board)
    else:
        entry = Device(name="bench-flash", board=_BOARD, simulated="mps2-an386")
        (board,) = find_boards(_BOARD)
        folder = tempfile.mkdtemp(prefix="sim-")
        os.environ["BENCH_SIMULATED_DIR"] = folder
        try:
            with Bench(SimulatedDevice(_BOARD, entry.uid)) as bench:
                rows = measure(DeviceTarget([entry]), board)
                bench.do("end")
        finally:
            shutil.rmtree(folder, ignore_errors=True)
    if options.json:
        sys.stdout.write(json.dumps([asdict(row) for row in rows], indent=1) + "\n")
    else:
        _print(rows, f"{entry.name}: {board.name}{' (simulated)' if entry.simulated else ''}")


if __name__ == "__main__":
    main()
