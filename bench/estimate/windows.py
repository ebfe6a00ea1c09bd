"""The windows of a run in its dump: which blocks ran in which timed window.

The marks are the functions that restart and read the counter, so that a window is the same code on a board. What an
empty window executes is taken out, as a board takes out its counter's overhead.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

from bench.errors import Blame, LabError
from bench.estimate.dump import Accesses, Block, Count, Dump, Region
from bench.image import Image
from bench.wire import INFERENCES, RunLog

BEGIN, END = 1, 2
_BEGIN, _END, _WRAP = "_ZN2fw15counter_restartEv", "_ZN2fw12counter_readEv", "systick_handler"
TIMED = tuple(f"{name}{side}" for name in INFERENCES for side in ("_pre", "", "_post"))


class EstimateError(LabError):
    """A run whose dump and lines do not belong together, or an image without marks."""

    code = "estimate-failed"
    blame = Blame.BENCH


@dataclass(frozen=True)
class Window:
    """A timed window.

    Attributes:
        counts: blocks and how often they ran.
        instructions: executed in it, without an empty window's.
        model_accesses: reads of the region that program and weights lie in.
    """

    name: str
    counts: tuple[tuple[Block, Count], ...]
    instructions: int
    model_accesses: Accesses


@dataclass(frozen=True)
class Windows:
    """All windows of a run, and the empty one that belongs to each."""

    empty: Window
    timed: tuple[Window, ...]

    def named(self, name: str) -> tuple[Window, ...]:
        """Return the windows of a name, in order."""
        return tuple(window for window in self.timed if window.name == name)


def plugin_argument(plugin: Path, image: Image, dump: Path) -> str:
    """Return what QEMU's -plugin wants: marks and ranges come from the ELF.

    Raises:
        EstimateError: the image has no counter functions to mark windows with.
    """
    symbols = _functions(image.elf)
    missing = [name for name in (_BEGIN, _END) if name not in symbols]
    if missing:
        raise EstimateError(
            f"the image lacks {', '.join(missing)}",
            where=str(image.elf),
            hint="counter_restart and counter_read must stay functions (gnu::noinline)",
        )
    if "," in f"{plugin}{dump}":
        raise EstimateError("QEMU cannot take a plugin path with a comma", where=str(dump))
    arguments = [
        str(plugin),
        f"out={dump}",
        f"mark={symbols[_BEGIN][0]:x}:{BEGIN}",
        f"mark={symbols[_END][0]:x}:{END}",
        f"range={image.model.start:x}-{image.model.end:x}",
    ]
    if _WRAP in symbols:
        start, nbytes = symbols[_WRAP]
        arguments.append(f"ignore={start:x}-{start + nbytes:x}")
    return ",".join(arguments)


def _functions(elf: Path) -> dict[str, tuple[int, int]]:
    """Return name -> (address, bytes) of the ELF's functions."""
    table = ELFFile(io.BytesIO(elf.read_bytes())).get_section_by_name(".symtab")
    if not isinstance(table, SymbolTableSection):
        return {}
    return {
        symbol.name: (symbol["st_value"] & ~1, symbol["st_size"])
        for symbol in table.iter_symbols()
        if symbol["st_info"]["type"] == "STT_FUNC"
    }


def find_windows(dump: Dump, log: RunLog, icount_shift: int) -> Windows:
    """Name the windows of a dump by the lines of its run.

    The last windows are those that the lines tell of; before them are the empty ones of the counter's self-test.
    Each window's instructions are checked against its ticks (docs/wire.md): they are equal, or this is no estimate.

    Raises:
        EstimateError: fewer windows than lines, or a window whose ticks say another number of instructions.
    """
    names = list(_names(log))
    regions = [region for region in dump.regions if region.mark == BEGIN]
    if len(regions) <= len(names):
        raise EstimateError(f"{len(names)} windows were reported, the dump has {len(regions)}")
    empty = _window("empty", dump, regions[0], 0)
    timed = []
    for (name, ticks), region in zip(names, regions[-len(names) :], strict=True):
        window = _window(name, dump, region, empty.instructions)
        told = (
            instructions(ticks, log.hello.counter_hz, icount_shift)
            - instructions(log.counter.overhead_ticks, log.hello.counter_hz, icount_shift)
            - region.ignored
        )
        if told != window.instructions:
            raise EstimateError(
                f"{name}: its ticks say {told} instructions, its blocks {window.instructions}",
                hint="the marks are not where the counter is read, or the plugin miscounts",
            )
        timed.append(window)
    return Windows(empty, tuple(timed))


def instructions(ticks: int, hz: int, icount_shift: int) -> int:
    """Return the instructions that a tick count stands for under -icount (docs/wire.md, n(t))."""
    scaled = hz << icount_shift
    return ((2 * ticks + 1) * 1_000_000_000 + scaled) // (2 * scaled)


def _names(log: RunLog) -> Iterator[tuple[str, int]]:
    """Yield the windows in order of time: load, inferences with what lies around each, operators."""
    for ticks in log.ticks.get("load", ()):
        yield "load", ticks
    for name in INFERENCES:
        windows = [(w, log.ticks.get(w, ())) for w in (f"{name}_pre", name, f"{name}_post")]
        for i in range(len(log.ticks.get(name, ()))):
            yield from ((window, ticks[i]) for window, ticks in windows if i < len(ticks))
    for operator, _, ticks in log.operator_ticks:
        yield f"op {operator}", ticks


def _window(name: str, dump: Dump, region: Region, empty_instructions: int) -> Window:
    counts = tuple((dump.blocks[index], count) for index, count in region.counts.items())
    accesses = region.accesses[0] if region.accesses else Accesses(0, 0, 0)
    return Window(name, counts, region.instructions - empty_instructions, accesses)
