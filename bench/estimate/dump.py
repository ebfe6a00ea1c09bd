"""The plugin's dump: which blocks of code ran how often in which region (grammar in docs/estimate.md)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from bench.errors import Blame, LabError

VERSION = 1


class DumpError(LabError):
    """A dump that is truncated, damaged or of another version."""

    code = "dump-invalid"
    blame = Blame.BENCH


@dataclass(frozen=True)
class Block:
    """A translation block: straight-line code that QEMU translated at once.

    Attributes:
        start: address of its first instruction.
        instructions: how many, as QEMU says.
        code: their bytes.
    """

    start: int
    instructions: int
    code: bytes


@dataclass(frozen=True)
class Count:
    """How often a block ran in a region.

    Attributes:
        runs: executions.
        taken: executions after which something else ran than the code that follows it.
        entered: executions that came from elsewhere than the code before it.
    """

    runs: int
    taken: int
    entered: int


@dataclass(frozen=True)
class Accesses:
    """Reads and writes of an address range; `lines` are reads outside the 32-byte line of the read before."""

    reads: int
    writes: int
    lines: int


@dataclass(frozen=True)
class Region:
    """What ran between two marks.

    Attributes:
        mark: code of the mark that began it, 0 from boot.
        instructions: executed, without ignored ones.
        ignored: instructions of the ignored address range.
        counts: by index of the block.
        accesses: by address range, as asked for.
    """

    mark: int
    instructions: int
    ignored: int
    counts: dict[int, Count]
    accesses: tuple[Accesses, ...] = ()


@dataclass(frozen=True)
class Dump:
    """A whole dump.

    Attributes:
        mended: instructions whose size QEMU told wrongly and the plugin took from the encoding.
    """

    blocks: tuple[Block, ...]
    regions: tuple[Region, ...]
    mended: int = 0


@dataclass
class _Reader:
    """Blocks and regions being put together."""

    blocks: list[Block] = field(default_factory=list)
    regions: list[Region] = field(default_factory=list)

    def take(self, kind: str, words: list[str]) -> None:
        """Take one line in; raises ValueError if it breaks the grammar."""
        match kind:
            case "first":
                if words != ["dump", str(VERSION)]:
                    raise ValueError(f"it begins with {' '.join(words)!r}, not `dump {VERSION}`")
            case "block":
                number, start, told, code = words
                _expect(int(number), len(self.blocks))
                self.blocks.append(Block(int(start, 16), int(told), bytes.fromhex(code)))
            case "region":
                seq, mark, instructions, ignored = map(int, words)
                _expect(seq, len(self.regions))
                self._close()
                self.regions.append(Region(mark, instructions, ignored, {}))
            case "count":
                block, runs, taken, entered = map(int, words)
                if not 0 <= block < len(self.blocks) or block in self.regions[-1].counts:
                    raise ValueError(f"block {block} is unknown or counted twice")
                self.regions[-1].counts[block] = Count(runs, taken, entered)
            case "memory":
                index, reads, writes, lines = map(int, words)
                last = self.regions[-1]
                _expect(index, len(last.accesses))
                accesses = (*last.accesses, Accesses(reads, writes, lines))
                self.regions[-1] = Region(
                    last.mark, last.instructions, last.ignored, last.counts, accesses
                )
            case _:
                raise ValueError(f"no line begins with {kind!r}")

    def end(self, words: list[str]) -> Dump:
        """Check the totals and return the dump."""
        instructions, ignored, blocks, regions, mended = map(int, words)
        self._close()
        _expect(sum(region.instructions for region in self.regions), instructions)
        _expect(sum(region.ignored for region in self.regions), ignored)
        _expect(len(self.blocks), blocks)
        _expect(len(self.regions), regions)
        return Dump(tuple(self.blocks), tuple(self.regions), mended)

    def _close(self) -> None:
        """Check the last region: its instructions are those of its blocks."""
        if self.regions:
            counts = self.regions[-1].counts
            total = sum(
                count.runs * self.blocks[block].instructions for block, count in counts.items()
            )
            _expect(total, self.regions[-1].instructions)


def _expect(got: int, wanted: int) -> None:
    if got != wanted:
        raise ValueError(f"{got} where {wanted} belongs")


def read_dump(lines: Iterable[str]) -> Dump:
    """Read a dump.

    Raises:
        DumpError: it is no dump of this version, breaks the grammar, does not add up, or ends early.
    """
    reader, where = _Reader(), 0
    try:
        for where, line in enumerate(lines, 1):
            kind, *words = line.split()
            if kind == "end" and line.endswith("\n"):
                return reader.end(words)
            if where == 1:
                kind, words = "first", line.split()
            reader.take(kind, words)
    except (ValueError, IndexError) as error:
        raise DumpError(f"the dump cannot be read: {error}", where=f"line {where}") from error
    raise DumpError(
        "the dump has no end line",
        where=f"line {where}",
        hint="the emulator was killed, or the disk is full",
    )


def write_dump(dump: Dump) -> Iterator[str]:
    """Yield the lines of a dump, as the plugin writes them."""
    yield f"dump {VERSION}\n"
    for number, block in enumerate(dump.blocks):
        yield f"block {number} {block.start:x} {block.instructions} {block.code.hex()}\n"
    for seq, region in enumerate(dump.regions):
        yield f"region {seq} {region.mark} {region.instructions} {region.ignored}\n"
        for block_number, count in region.counts.items():
            yield f"count {block_number} {count.runs} {count.taken} {count.entered}\n"
        for index, used in enumerate(region.accesses):
            yield f"memory {index} {used.reads} {used.writes} {used.lines}\n"
    instructions = sum(region.instructions for region in dump.regions)
    ignored = sum(region.ignored for region in dump.regions)
    yield f"end {instructions} {ignored} {len(dump.blocks)} {len(dump.regions)} {dump.mended}\n"
