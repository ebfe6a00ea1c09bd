"""Price executed blocks with a core's timing table: estimated cycles, by cause.

The model is one of an in-order pipeline. A block is walked once: each instruction issues when the one before it lets
it and its operands can be read. What depends on where a branch went is added by how often it was taken.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from bench.estimate.decode import decode
from bench.estimate.dump import Block, Count
from bench.estimate.kinds import BRANCHES, FLAGS, MVE, Instruction, Kind
from bench.estimate.table import Table

_LOADS = frozenset({Kind.LOAD, Kind.LOAD_PART, Kind.VLOAD})
_STORES = frozenset({Kind.STORE, Kind.VSTORE})
_ACCUMULATING = frozenset({Kind.MLA, Kind.MLA_DSP, Kind.MLAL, Kind.VMLA, Kind.VFMA})
_SHIFTED = frozenset({Kind.ALU_SHIFTED, Kind.BITFIELD, Kind.EXTEND_ADD})
_PIPES = {
    Kind.MVE_LOAD: "memory",
    Kind.MVE_STORE: "memory",
    Kind.MVE_GATHER: "memory",
    Kind.MVE_SCATTER: "memory",
    Kind.MVE_INT: "integer",
    Kind.MVE_INT_SLOW: "integer",
    Kind.MVE_NARROW: "integer",
    Kind.MVE_INT_REDUCE: "integer",
    Kind.MVE_PREDICATE: "control",
}  # the rest: "multiply"
_INDIRECT = frozenset({Kind.BRANCH_INDIRECT, Kind.CALL_INDIRECT})


@dataclass
class Price:
    """Estimated cycles and what they are made of.

    Attributes:
        causes: cause -> cycles; they sum to `cycles`.
        kinds: kind -> executed instructions.
        events: what numbers of the table were applied how often, by their dotted path.
    """

    cycles: float = 0.0
    instructions: int = 0
    causes: Counter[str] = field(default_factory=Counter)
    kinds: Counter[str] = field(default_factory=Counter)
    events: Counter[str] = field(default_factory=Counter)

    def add(self, cause: str, cycles: float) -> None:
        """Add cycles of a cause."""
        self.cycles += cycles
        self.causes[cause] += cycles  # type: ignore[assignment]  # a Counter counts fractions as well

    def plus(self, other: Price, factor: int = 1) -> Price:
        """Return the sum with `factor` times another price."""
        total = Price(self.cycles, self.instructions)
        for name in ("causes", "kinds", "events"):
            mine: Counter[str] = Counter(getattr(self, name))
            for key, value in getattr(other, name).items():
                mine[key] += factor * value
            setattr(total, name, mine)
        total.cycles += factor * other.cycles
        total.instructions += factor * other.instructions
        return total


class Pipeline:
    """The walk through one block."""

    def __init__(self, table: Table) -> None:
        self._table = table
        self._free = 0.0  # the first cycle in which the next instruction can issue alone
        self._started = 0.0  # when the last one issued
        self._paired = False
        self._last: Instruction | None = None
        self._ready: dict[int, tuple[float, Instruction]] = {}  # register -> when, by whom
        self._pipes: Counter[str] = Counter()  # vector pipe -> free from
        self._units = {kind: unit for unit, kinds in table.pairing.units.items() for kind in kinds}
        self.causes: Counter[str] = Counter()
        self.events: Counter[str] = Counter()

    @property
    def cycles(self) -> float:
        """Cycles so far."""
        return self._free

    def issue(self, instruction: Instruction) -> None:
        """Let one instruction pass."""
        before, ready = self._free, self._operands(instruction)
        if instruction.kind in MVE:
            self._issue_vector(instruction, ready)
        else:
            self._issue_scalar(instruction, ready)
        self._last = instruction
        stalled = max(0.0, self._started - before) if not self._paired else 0.0
        self.causes["stall"] += stalled  # type: ignore[assignment]
        self.causes["issue"] += self._free - before - stalled  # type: ignore[assignment]

    def _issue_scalar(self, instruction: Instruction, ready: float) -> None:
        cost = self._cost(instruction)
        if self._pairs(instruction, cost, ready):
            self._paired = True
            start = self._started
        else:
            self._paired = False
            start = max(self._free, ready)
            self._free = start + cost
        self._started = start
        self._write(instruction, start + max(cost, self._result(instruction, cost)))

    def _issue_vector(self, instruction: Instruction, ready: float) -> None:
        """Two beats in one of four pipes; a neighbour in another pipe starts a beat later."""
        pipe = _PIPES.get(instruction.kind, "multiply")
        cost = self._cost(instruction)
        earliest = self._free
        if self._last is not None and self._last.kind in MVE:
            earliest = max(
                self._started + 1, self._free - self._table.vector_overlap.value, self._pipes[pipe]
            )
        start = max(earliest, ready)
        self._paired = False
        self._started = start
        self._free = start + cost
        self._pipes[pipe] = start + cost  # type: ignore[assignment]
        self._write(instruction, start + self._result(instruction, cost))

    def _cost(self, instruction: Instruction) -> float:
        """Return the cycles until the next instruction can issue."""
        issue = self._table.issue
        number = issue.get(instruction.key) or issue.get(instruction.kind) or issue["default"]
        cost = number.value + number.each * instruction.registers
        if instruction.kind is Kind.STORE and instruction.indexed:
            cost = self._table.issue_indexed.value
        last = self._last
        if last is None:
            return cost
        memory = instruction.kind in _LOADS | _STORES
        if memory and last.kind in _LOADS and not last.written & instruction.address:
            saved = min(self._table.load_pipelined.value, cost - 1)
            if saved > 0:
                self.events["load_pipelined"] += 1
                cost -= saved
        if last.kind in _STORES and memory:
            self.events["store_then_memory"] += (
                1  # priced outside the walk, so that it can be fitted
            )
        return cost

    def _result(self, instruction: Instruction, cost: float) -> float:
        result = self._table.result
        number = result.get(instruction.key) or result.get(instruction.kind)
        return number.value if number is not None else cost

    def _write(self, instruction: Instruction, when: float) -> None:
        """Note when the result can be read; a base register that is only moved on is there at once."""
        moved = instruction.written & instruction.address
        for register in _bits(instruction.written):
            at_once = moved >> register & 1 and instruction.kind not in (Kind.LOAD, Kind.LOAD_PART)
            self._ready[register] = (
                self._started + 1 if at_once else when,
                instruction,
            )

    def _operands(self, instruction: Instruction) -> float:
        """Return the cycle in which all operands can be read."""
        read, table = instruction.read, self._table.read
        if instruction.kind is Kind.BRANCH_IF:
            read &= ~FLAGS  # the branch resolves behind the instruction that sets them
        latest = 0.0
        for register in _bits(read):
            if register not in self._ready:
                continue
            when, writer = self._ready[register]
            if instruction.address >> register & 1:
                when += table.address.value
                if writer.kind not in _LOADS:
                    when += table.address_of_alu.value
            elif instruction.kind in _SHIFTED:
                when += table.shifted.value
            elif instruction.kind in (Kind.STORE, Kind.VSTORE, Kind.STORE_DUAL) or (
                instruction.kind is Kind.MVE_STORE and writer.kind is Kind.MVE_MUL
            ):
                when += table.store_data.value
            elif instruction.kind in _ACCUMULATING and instruction.written >> register & 1:
                when += table.accumulator.value
            latest = max(latest, when)
        return latest

    def _pairs(self, instruction: Instruction, cost: float, ready: float) -> bool:
        """Whether it issues in the cycle of the instruction before it."""
        last = self._last
        if last is None or self._paired or last.kind in MVE or last.kind in BRANCHES:
            return False
        if cost > 1 or self._free - self._started > 1 or ready > self._started:
            return False
        if last.written & instruction.written & ~FLAGS:
            return False
        match self._table.pairing.rule:
            case "slim":
                narrow = instruction.size == last.size == 2
                memory = _LOADS | _STORES
                both = instruction.kind in memory and last.kind in memory
                paired = narrow and (instruction.slim or last.slim) and not both
            case "units":
                mine, other = self._units.get(instruction.kind), self._units.get(last.kind)
                known = mine is not None and other is not None
                free = mine != other or instruction.kind in self._table.pairing.doubled
                paired = known and free
            case _:
                paired = False
        if paired:
            self.events["paired"] += 1
        return paired


def _bits(mask: int) -> Iterable[int]:
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


@dataclass(frozen=True)
class _Static:
    """What one execution of a block costs, wherever it goes afterwards."""

    instructions: tuple[Instruction, ...]
    cycles: float
    causes: Counter[str]
    events: Counter[str]


class Pricer:
    """Prices blocks with one table; remembers each block."""

    def __init__(self, table: Table) -> None:
        self._table = table
        self._known: dict[Block, _Static] = {}

    def price(self, counts: Iterable[tuple[Block, Count]]) -> Price:
        """Return the price of all executions of the blocks."""
        total = Price()
        for block, count in counts:
            static = self._static(block)
            total.instructions += count.runs * len(static.instructions)
            for cause, cycles in static.causes.items():
                total.add(cause, count.runs * cycles)
            for event, times in static.events.items():
                total.events[event] += count.runs * times
            stores = count.runs * static.events["store_then_memory"]
            total.add("store_then_memory", self._table.store_then_memory.value * stores)
            for instruction in static.instructions:
                total.kinds[instruction.key] += count.runs
            self._branch(total, block, static.instructions, count)
        return total

    def _static(self, block: Block) -> _Static:
        if block not in self._known:
            pipeline = Pipeline(self._table)
            instructions = decode(block.code)
            for instruction in instructions:
                pipeline.issue(instruction)
            self._known[block] = _Static(
                instructions, pipeline.cycles, pipeline.causes, pipeline.events
            )
        return self._known[block]

    def _branch(
        self, total: Price, block: Block, code: tuple[Instruction, ...], count: Count
    ) -> None:
        """Add what depends on how often the block was left and entered by a jump."""
        taken, first, last = self._table.taken, code[0], code[-1]
        name = _way_out(last)
        self._event(total, "branch", f"taken.{name}", getattr(taken, name).value, count.taken)
        if last.kind is Kind.LOOP_END and _overlap_at_loop_end(code):
            self._event(
                total, "loop_overlap", "vector_overlap", -self._table.vector_overlap.value,
                count.taken,
            )  # fmt: skip
        if last.kind in (Kind.BRANCH_IF, Kind.COMPARE_BRANCH):
            rarer = min(count.taken, count.runs - count.taken)
            cycles = taken.mispredicted.value * taken.mispredicted_share.value
            self._event(total, "mispredicted", "taken.mispredicted", cycles, max(0, rarer))
        if first.size == 4 and block.start & 2:
            cycles = taken.wide_unaligned.value
            self._event(total, "wide_unaligned", "taken.wide_unaligned", cycles, count.entered)

    @staticmethod
    def _event(total: Price, cause: str, path: str, cycles: float, times: int) -> None:
        total.add(cause, cycles * times)
        total.events[path] += times


def _way_out(last: Instruction) -> str:
    """Return which refill a taken exit after this instruction costs."""
    if last.kind is Kind.LOOP_END:
        return "loop"
    if last.kind is Kind.TABLE_BRANCH:
        return "table"
    if last.to_pc:
        return "load"
    if last.kind in _INDIRECT:
        return "indirect"
    return "call" if last.kind is Kind.CALL else "direct"


def _overlap_at_loop_end(code: tuple[Instruction, ...]) -> bool:
    """Whether the loop's last vector instruction overlaps with its first: beats go on across LE."""
    if len(code) < 3:
        return False
    first, last = code[0].kind, code[-2].kind
    return (
        first in MVE
        and last in MVE
        and _PIPES.get(first, "multiply") != _PIPES.get(last, "multiply")
    )
