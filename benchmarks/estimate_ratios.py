#!/usr/bin/env python3
"""Ratios of estimated cycles between cores beside those of MLPerf Tiny results.

    python benchmarks/estimate_ratios.py [--json]

The four MLPerf Tiny models of tests/data/upstream run on the boards of the M4, M33, M7 and M55 under QEMU with this
project's kernels; the convolutions of three of them with CMSIS-NN's are priced from committed counts. Published are whole benchmarks of other software on boards with other memory: so only the ratio
between two cores under one stack is compared, and it is a plausibility check, not an anchor that sets a band.

Against upstream, whole inferences of ours stand beside its CMSIS-NN operators alone: by this project's tables its convolutions, by the prototype's tables all of them (`tests/data/upstream/estimated_cycles.csv`).
"""

from __future__ import annotations

import argparse
import csv
import json
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

from bench import estimate, wire
from bench.board import find_boards
from bench.build import build_image
from bench.bundle import Options, pack
from bench.estimate.anchors import FOLDER
from bench.estimate.fit import read_counts
from bench.estimate.table import table_of
from bench.estimate.windows import find_windows
from bench.record import NOT_ESTABLISHED
from bench.targets import Request
from bench.targets.qemu import QemuTarget

DATA = Path(__file__).parents[1] / "tests" / "data"
PUBLISHED = Path(__file__).parents[1] / "bench" / "data"
BOARDS = {
    "cortex-m4": "mps2-an386",
    "cortex-m33": "mps2-an505",
    "cortex-m7": "mps2-an500",
    "cortex-m55": "mps3-an547",
}
MODELS = {"autoencoder": "ad", "resnet8": "ic", "ds_cnn": "kws", "mobilenet_v1_025": "vww"}
# stack -> (row of the M4, rows of other cores): the same software, by round, stack and submitter
PAIRS = {
    "microTVM CMSIS-NN v1.0": ("NUCLEO-L4R5ZI", "microTVM CMSIS-NN", "v1.0", [("nRF5340-DK", "microTVM+CMSIS-NN on Zephyr", "v1.0")]),
    "X-CUBE-AI 7.1": ("NUCLEO-L4R5ZI", "X-CUBE-AI 7.1", "v0.7", [("NUCLEO-U575ZI-Q", "X-CUBE-AI 7.1", "v0.7"), ("NUCLEO-H7A3ZI-Q", "X-CUBE-AI 7.1", "v0.7")]),
    "X-CUBE-AI 9.0": ("NUCLEO-L4R5ZI", "X-CUBE-AI 9.0", "v1.2", [("NUCLEO-U575ZI-Q", "X-CUBE-AI 9.0", "v1.2"), ("NUCLEO-H7A3ZI-Q", "X-CUBE-AI 9.0", "v1.2")]),
    "X-CUBE-AI 10.2": ("NUCLEO-L4R5ZI-P", "X-CUBE-AI 10.2", "v1.3", [("NUCLEO-U575ZI-Q", "X-CUBE-AI 10.2", "v1.3")]),
    "Plumerai": ("NUCLEO-L4R5ZI", "Plumerai 2023.05", "v1.1", [("NUCLEO-U575ZI-Q", "Plumerai", "v1.1"), ("STM32F746G-DISCO", "Plumerai", "v1.1"), ("NUCLEO-H7A3ZI-Q", "Plumerai", "v1.1")]),
    "HALE int8": ("NUCLEO-L4R5ZI", "HALE int8", "v1.2", [("NUCLEO-U575ZI-Q", "HALE int8", "v1.2"), ("STM32F746G-DISCO", "HALE int8", "v1.2"), ("NUCLEO-H7A3ZI-Q", "HALE int8", "v1.2")]),
}  # fmt: skip


@dataclass(frozen=True)
class Priced:
    """One model on one core."""

    model: str
    cpu: str
    instructions: int
    est_cycles: float
    low: float
    high: float
    note: str  # that no anchors set the band


def price(model: str, cpu: str) -> Priced:
    """Run a model once without and once with the plugin."""
    board = find_boards(BOARDS[cpu])[0]
    image = build_image(board)
    stem = DATA / "upstream" / f"{model}_{'cortex-m55' if cpu == 'cortex-m55' else 'cortex-m4'}"
    sample = Path(f"{stem}.in.bin").read_bytes()
    options = Options(warmup=0, iterations=1, all_outputs=False)
    bundle = pack(Path(f"{stem}.pte").read_bytes(), [[sample]], options)
    expected = wire.Expected(board.id, image.build_id, f"{1:016x}", bundle.crc32)
    plain = QemuTarget().run(Request(board, image, bundle, 1, 120.0))
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        dump = Path(folder) / "blocks.dump"
        plugin = estimate.plugin_for(image, dump)
        counted = QemuTarget().run(Request(board, image, bundle, 1, 120.0, plugin=plugin))
        if plain.raw != counted.raw:
            raise SystemExit(f"{model} on {board.id}: the plugin changed the transcript")
        log, read = wire.parse(counted, expected), estimate.read_dump_file(dump)
    windows = find_windows(read, log, board.qemu.icount_shift if board.qemu else 0)
    latency = windows.named("latency")[0]
    found = next(one for one in estimate.measures(board, read, log) if one.name == "latency")
    low, high = found.band or (found.median, found.median)
    return Priced(
        model, cpu, latency.instructions, found.median, low, high,
        ", band not established" if NOT_ESTABLISHED in found.source else "",
    )  # fmt: skip


def cmsis_nn() -> dict[tuple[str, str], float]:
    """Return estimated cycles of all convolutions of a model with CMSIS-NN, by model and core."""
    counts = read_counts(FOLDER / "cmsis_nn_counts.json")
    return {(one.label, one.core): one.cycles(table_of(one.core)) for one in counts}


def upstream() -> dict[tuple[str, str], float]:
    """Return estimated cycles of upstream's CMSIS-NN operators by the prototype's tables, by model and core."""
    with (DATA / "upstream" / "estimated_cycles.csv").open() as file:
        return {
            (row["model"], row["cpu"]): 1e6 * float(row["million_est_cycles"])
            for row in csv.DictReader(file)
        }


def published() -> Iterator[tuple[str, str, str, float]]:
    """Yield stack and boards, core, model and the ratio of cycles to the M4's, of each published pair."""
    with (PUBLISHED / "mlperf_tiny_published.csv").open() as file:
        rows = {(row["board"], row["stack"], row["round"]): row for row in csv.DictReader(file)}
    for stack, (board, name, edition, others) in PAIRS.items():
        base = rows[board, name, edition]
        for key in others:
            row = rows[key]
            clock = float(row["clock_mhz"]) / float(base["clock_mhz"])
            for model, column in MODELS.items():
                ratio = float(row[f"{column}_ms"]) / float(base[f"{column}_ms"]) * clock
                yield f"{stack}, {key[0]}", row["core"], model, ratio


def main() -> None:
    """Print the tables, or all of it as JSON."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    wants_json = parser.parse_args().json
    priced = {(model, cpu): price(model, cpu) for cpu in BOARDS for model in MODELS}
    if wants_json:
        json.dump([asdict(one) for one in priced.values()], sys.stdout, indent=1)
        return
    console = Console()
    console.width = max(console.width, 130)
    console.print(_ratios(priced))
    console.print(_estimates(priced))


def _ratios(priced: dict[tuple[str, str], Priced]) -> Table:
    grid = Table(title="Cycles against the Cortex-M4's: estimated, and published (not an anchor)")
    for name in ("core", "of", *MODELS):
        grid.add_column(name, justify="left" if name in ("core", "of") else "right")
    pairs, library = list(published()), cmsis_nn()
    for cpu in list(BOARDS)[1:]:
        mine = [
            priced[model, cpu].est_cycles / priced[model, "cortex-m4"].est_cycles
            for model in MODELS
        ]
        grid.add_row(cpu, "estimated, this project", *(f"{ratio:.2f}" for ratio in mine))
        theirs = [
            f"{library[model, cpu] / library[model, 'cortex-m4']:.2f}"
            if (model, cpu) in library
            else ""
            for model in MODELS
        ]
        grid.add_row("", "estimated, CMSIS-NN's convolutions", *theirs)
        for label in dict.fromkeys(label for label, core, _, _ in pairs if core == cpu):
            ratios = {
                model: ratio for name, core, model, ratio in pairs if (name, core) == (label, cpu)
            }
            grid.add_row("", label, *(f"{ratios[model]:.2f}" for model in MODELS))
        if not any(core == cpu for _, core, _, _ in pairs):
            grid.add_row("", "nothing is published", *("" for _ in MODELS))
        grid.add_section()
    return grid


def _estimates(priced: dict[tuple[str, str], Priced]) -> Table:
    grid = Table(title="What the ratios are of")
    for name in ("core", "model", "instructions", "est_cycles", "band", "upstream's operators", "CMSIS-NN's convolutions"):  # fmt: skip
        grid.add_column(name, justify="left" if name in ("core", "model") else "right")
    operators, convolutions = upstream(), cmsis_nn()
    for one in priced.values():
        key = (one.model, one.cpu)
        grid.add_row(
            one.cpu,
            one.model,
            f"{one.instructions:,}",
            f"{one.est_cycles:,.0f}",
            f"{one.low / one.est_cycles - 1:+.0%} to {one.high / one.est_cycles - 1:+.0%}{one.note}",
            f"{one.est_cycles / operators[key]:.2f}x" if key in operators else "",
            f"{one.est_cycles / convolutions[key]:.2f}x" if key in convolutions else "",
        )
    return grid


if __name__ == "__main__":
    main()
