"""What measuring costs: instructions that a window adds to an inference, and wall time with and without the plugin.

    python -m benchmarks.measuring_cost [--runs=N] [--json]

The four MLPerf Tiny models of tests/data/upstream on every emulated board. Exit code 1 if the marks add 0.1 % or more
to an inference of over a million instructions, or if the plugin changes a byte of what the device says.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

from bench import estimate, wire
from bench.board import Board, find_boards
from bench.build import build_image
from bench.bundle import Options, pack
from bench.estimate.windows import find_windows
from bench.targets import Request
from bench.targets.qemu import QemuTarget

DATA = Path(__file__).parents[1] / "tests" / "data" / "upstream"
MODELS = ("autoencoder", "ds_cnn", "resnet8", "mobilenet_v1_025")
LIMIT = 0.001
LARGE = 1_000_000
DEADLINE_S = 120.0


@dataclass(frozen=True)
class Cost:
    """Of one model on one board.

    Attributes:
        instructions: of a warm inference, without what its window adds.
        mark_instructions: that the window adds.
        plain_s, counted_s: wall time of a whole run, median, without and with the plugin.
        pricing_s: of decoding and pricing what the plugin counted.
    """

    board: str
    model: str
    instructions: int
    mark_instructions: int
    plain_s: float
    counted_s: float
    pricing_s: float

    @property
    def share(self) -> float:
        """Of the inference, what the window adds."""
        return self.mark_instructions / self.instructions

    @property
    def too_much(self) -> bool:
        """Whether it is more than a large model may be disturbed by."""
        return self.instructions > LARGE and self.share >= LIMIT


def measure(board: Board, model: str, runs: int) -> Cost:
    """Run a model without and with the plugin, in turn.

    Raises:
        SystemExit: the plugin changed what the device says.
    """
    image = build_image(board)
    stem = DATA / f"{model}_{'cortex-m55' if board.cpu == 'cortex-m55' else 'cortex-m4'}"
    sample = Path(f"{stem}.in.bin").read_bytes()
    options = Options(warmup=0, iterations=1, all_outputs=False)
    bundle = pack(Path(f"{stem}.pte").read_bytes(), [[sample]], options)
    plain, counted = [], []
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        dump = Path(folder) / "blocks.dump"
        plugin = estimate.plugin_for(image, dump)
        for _ in range(runs):
            without = QemuTarget().run(Request(board, image, bundle, 1, DEADLINE_S))
            with_it = QemuTarget().run(Request(board, image, bundle, 1, DEADLINE_S, plugin=plugin))
            if without.raw != with_it.raw:
                raise SystemExit(f"{model} on {board.id}: the plugin changed the transcript")
            plain.append(without.seconds)
            counted.append(with_it.seconds)
        expected = wire.Expected(board.id, image.build_id, f"{1:016x}", bundle.crc32)
        log = wire.parse(with_it, expected)
        pricing_s = _priced_s(board, dump, log)
        windows = find_windows(
            estimate.read_dump_file(dump), log, board.qemu.icount_shift if board.qemu else 0
        )
    return Cost(
        board.id,
        model,
        windows.named("latency")[0].instructions,
        windows.empty.instructions,
        statistics.median(plain),
        statistics.median(counted),
        pricing_s,
    )


def _priced_s(board: Board, dump: Path, log: wire.RunLog) -> float:
    begin = time.perf_counter()
    estimate.measures(board, estimate.read_dump_file(dump), log)
    return time.perf_counter() - begin


def table_of(costs: list[Cost]) -> Table:
    """Return the costs as a table."""
    grid = Table(title="What measuring costs", title_justify="left", header_style="bold")
    for name in ("board", "model"):
        grid.add_column(name)
    for name in ("instructions", "marks add", "share", "a run", "with the plugin", "pricing"):
        grid.add_column(name, justify="right")
    for one in costs:
        grid.add_row(
            one.board,
            one.model,
            f"{one.instructions:,}",
            str(one.mark_instructions),
            f"{one.share:.4%}" + (" TOO MUCH" if one.too_much else ""),
            f"{one.plain_s:.2f} s",
            f"{one.counted_s:.2f} s ({one.counted_s / one.plain_s:.2f} x)",
            f"{one.pricing_s:.2f} s",
        )
    return grid


def main() -> None:
    """Print the table, or the figures as JSON."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    parser.add_argument("--runs", type=int, default=3, help="of each, whose median is shown")
    asked = parser.parse_args()
    boards = find_boards("emulated")
    costs = [measure(board, model, asked.runs) for board in boards for model in MODELS]
    if asked.json:
        json.dump([asdict(one) | {"share": one.share} for one in costs], sys.stdout, indent=1)
    else:
        console = Console()
        console.width = max(console.width, 130)
        console.print(table_of(costs))
    if any(one.too_much for one in costs):
        sys.exit(
            f"a window adds {LIMIT:.1%} or more to an inference of over {LARGE:,} instructions"
        )


if __name__ == "__main__":
    main()
