"""Estimated cycles: exact execution counts from QEMU, priced with a timing table a core, with a stated band.

`python -m bench.estimate` shows how far off the tables are (docs/estimate.md).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from bench.board import Board
from bench.estimate.anchors import Band, band_of, code_class
from bench.estimate.dump import Dump, read_dump
from bench.estimate.memory import Memory, memory_of
from bench.estimate.price import Price, Pricer
from bench.estimate.table import Table, all_tables, table_of
from bench.estimate.windows import TIMED, Window, Windows, find_windows, plugin_argument
from bench.image import Image
from bench.qemu_plugins import build_plugin
from bench.record import Evidence, Measure, measured
from bench.wire import RunLog

UNIT = "est_cycles"


@dataclass(frozen=True)
class Estimate:
    """The estimate of a window.

    Attributes:
        price: estimated cycles by cause.
        low, high: the band, in cycles: the core's, and the memory table's of what memory adds.
        band: the core's.
        memory: how far off the memory table may be, in words; empty if memory adds nothing.
    """

    price: Price
    low: float
    high: float
    band: Band
    memory: str = ""

    @property
    def source(self) -> str:
        """What the band is made of."""
        return f"{self.band}; {self.memory}" if self.memory else str(self.band)


@dataclass(frozen=True)
class Estimator:
    """Prices windows of one board's core."""

    table: Table
    memory: Memory

    @property
    def tables(self) -> str:
        """Names and hashes of the tables, as records have them."""
        core = f"{self.table.core} {self.table.sha256[:12]}"
        if not self.memory.sha256:
            return f"{core}, memory: {self.memory.title}"
        return (
            f"{core}, memory: {self.memory.title} {self.memory.sha256[:12]} ({self.memory.status})"
        )

    def estimates(self, windows: Windows, wanted: Iterable[Window]) -> list[Estimate]:
        """Return the estimate of each wanted window, without an empty window's cycles."""
        pricer = Pricer(self.table)
        empty = pricer.price(windows.empty.counts)
        found = []
        for window in wanted:
            price = pricer.price(window.counts).plus(empty, -1)
            band = band_of(self.table, code_class(price))
            low, high = band.around(price.cycles)
            lower, higher = self.memory.apply(price, window)
            added = price.causes["memory_code"] + price.causes["memory_weights"]
            told = (
                f"{self.memory.low:+.0%} to {self.memory.high:+.0%} of the {added:,.0f} that memory adds"
                if added
                else ""
            )
            found.append(Estimate(price, low + added + lower, high + added + higher, band, told))
        return found


def supports(board: Board) -> bool:
    """Whether runs of a board can be estimated: QEMU emulates it, and there is a table for its core."""
    return board.qemu is not None and board.cpu in all_tables()


def plugin_for(image: Image, dump: Path) -> str:
    """Return what QEMU's -plugin wants for a run of an image whose dump goes to a file; builds the plugin.

    Raises:
        BuildError, ToolMissingError: the plugin cannot be built.
        EstimateError: the image has no marks.
    """
    return plugin_argument(build_plugin("block_counts"), image, dump)


def estimator_of(board: Board) -> Estimator:
    """Return the estimator of a board, emulated or not; raises TableError if its core has no table."""
    return Estimator(table_of(board.cpu), memory_of(board))


def read_dump_file(path: Path) -> Dump:
    """Read the dump that the plugin left; raises DumpError if it is not whole."""
    with path.open() as lines:
        return read_dump(lines)


def measures(
    board: Board, dump: Dump, log: RunLog, *, stands_for: Board | None = None
) -> tuple[Measure, ...]:
    """Return load, the inferences and what lies around them in estimated cycles, each with its band.

    Args:
        board: whose machine ran.
        dump: what the plugin left.
        log: what the run said.
        stands_for: the board whose memory is priced, if the one that ran is its twin.

    Raises:
        EstimateError: the dump is not this run's, or the board is not emulated.
        TableError: there is no table for its core.
    """
    if board.qemu is None:
        return ()
    windows = find_windows(dump, log, board.qemu.icount_shift)
    estimator = estimator_of(stands_for or board)
    found = []
    for name in ("load", *TIMED):
        estimates = estimator.estimates(windows, windows.named(name))
        if not estimates:
            continue
        cycles = [round(one.price.cycles) for one in estimates]
        first = estimates[0]
        found.append(
            measured(
                name, UNIT, Evidence.ESTIMATE, *cycles, source=first.source, window=True
            ).model_copy(
                update={
                    "band": (float(round(first.low)), float(round(first.high))),
                    "table": estimator.tables,
                }
            )
        )
    return tuple(found)


def operator_cycles(
    board: Board, dump: Dump, log: RunLog, *, stands_for: Board | None = None
) -> dict[int, float]:
    """Return estimated cycles by program instruction, of a run with `operator_ticks`.

    Raises:
        EstimateError, TableError: as `measures`.
    """
    if board.qemu is None:
        return {}
    windows = find_windows(dump, log, board.qemu.icount_shift)
    wanted = [window for window in windows.timed if window.name.startswith("op ")]
    estimates = estimator_of(stands_for or board).estimates(windows, wanted)
    return {
        int(window.name.removeprefix("op ")): one.price.cycles
        for window, one in zip(wanted, estimates, strict=True)
    }
