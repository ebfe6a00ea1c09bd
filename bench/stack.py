"""The deepest stack that an image can use, from its machine code: a bound, to be held against what is measured.

Every function's frame is what its own instructions take off SP, added up (never less than what it uses at once); calls
are followed in the disassembly of `objdump`. A call through a pointer can lead to what the image has the address of:
the kernels' `run` from the loop that executes, their `prepare` from the loader, any other such function from elsewhere.
What cannot be bounded is an error: recursion, and an SP that moves by a register (`alloca`, arrays of variable length).

`python -m bench.stack ELF...` prints bound and path.
"""

from __future__ import annotations

import bisect
import re
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from elftools.elf.elffile import ELFFile

from bench import process
from bench.errors import BuildError

# Armv7-M B1.5.7, Armv8-M B3.19: 8 words, 18 for the FPU, one to align; the handler's own frames come on top
EXCEPTION_BYTES = 4 * (8 + 18 + 1)
_DEADLINE_S = 120.0
_HEADER = re.compile(r"^([0-9a-f]+) <(.+)>:$")
_INSTRUCTION = re.compile(r"^ *([0-9a-f]+):\t[0-9a-f ]+\t(\S+)(?:\t(.*))?$")
_TARGET = re.compile(r"\b([0-9a-f]+) <([^>+]+)(\+0x[0-9a-f]+)?>")
_JUMP = re.compile(r"^b(?:l|eq|ne|cs|cc|mi|pl|vs|vc|hi|ls|ge|lt|gt|le)?(?:\.[nw])?$")
_DOUBLE_BYTES, _WORD_BYTES = 8, 4


class UnboundedStackError(BuildError):
    """An image whose stack has no bound."""

    code = "stack-unbounded"


@dataclass
class _Function:
    name: str
    start: int
    frame: int = 0
    targets: set[int] = field(default_factory=set)  # of branches and calls
    indirect: bool = False
    calls_itself: bool = False  # a branch back to the start is a loop
    addresses: set[int] = field(default_factory=set)
    falls_through: bool = True


@dataclass(frozen=True)
class StackBound:
    """The deepest way through an image.

    Attributes:
        nbytes: frames along the path, and one exception with its handler on top.
        path: function and frame, from the entry on.
    """

    nbytes: int
    path: tuple[tuple[str, int], ...]


def stack_bound(elf: Path, entry: str = "reset_handler") -> StackBound:
    """Bound the stack of an image.

    Raises:
        UnboundedStackError: recursion, or an SP that moves by a register.
    """
    functions = _disassemble(elf)
    runs, prepares, taken = _pointers(elf, functions)
    starts = sorted(functions)
    graph: dict[int, set[int]] = {}
    for place, function in functions.items():
        targets = {starts[bisect.bisect_right(starts, target) - 1] for target in function.targets}
        if function.indirect:
            if function.name.startswith(_EXECUTES):
                targets |= runs
            elif function.name.startswith("rt::Method::"):
                targets |= prepares
            else:
                targets |= taken
        graph[place] = targets if function.calls_itself else targets - {place}
    named = {function.name: place for place, function in functions.items()}
    depth, path = _deepest(named[entry], functions, graph)
    handlers = [_deepest(named[name], functions, graph)[0] for name in _HANDLERS if name in named]
    steps = tuple((_plain(functions[place].name), functions[place].frame) for place in path)
    return StackBound(depth + EXCEPTION_BYTES + max(handlers, default=0), steps)


_HANDLERS = ("systick_handler",)
_EXECUTES = ("rt::Method::execute", "rt::LaidMethod::execute")


def _plain(name: str) -> str:
    return name.replace("(anonymous namespace)::", "").split("(", maxsplit=1)[0]


def _disassemble(elf: Path) -> dict[int, _Function]:
    """Return the functions by address."""
    command = ["arm-none-eabi-objdump", "-d", "-C", str(elf)]
    done = process.run(command, deadline_s=_DEADLINE_S)
    functions: dict[int, _Function] = {}
    current = _Function("", 0, falls_through=False)
    low: dict[str, int] = {}  # of movw/movt pairs
    for line in done.stdout.decode("utf-8", "replace").splitlines():
        header = _HEADER.match(line)
        if header:
            start = int(header[1], 16)
            if current.falls_through:
                current.targets.add(start)
            current = functions[start] = _Function(header[2], start)
            low = {}
        elif match := _INSTRUCTION.match(line):
            _look(current, match[2], match[3] or "", low, elf)
    return functions


def _look(function: _Function, opcode: str, operands: str, low: dict[str, int], elf: Path) -> None:
    text = operands.split("@", maxsplit=1)[0].split(";", maxsplit=1)[0].strip()
    if opcode.startswith("nop") or (opcode, text) == ("movs", "r0, r0"):
        return  # between functions, too: the second is two bytes of zero
    function.frame += _taken_off(function, opcode, text, elf)
    target = _TARGET.search(operands)
    if opcode in {".word", "movw", "movt"}:
        _remember(function, opcode, text, low)
    elif _JUMP.match(opcode) and target:
        function.targets.add(int(target[1], 16))
        function.calls_itself |= opcode == "bl" and int(target[1], 16) == function.start
    elif opcode in {"bx", "blx"} and text != "lr":
        function.indirect = True
    elif opcode.startswith("ldr") and text.startswith("pc, [r") and "lsl" not in text:
        function.indirect = True  # with a shifted index it is the table of a switch
    function.falls_through = not (
        opcode in {".word", "b", "b.n", "b.w", "bx"}
        or opcode.startswith(("udf", "tbb", "tbh"))
        or ("pc" in text and opcode.startswith(("pop", "ldm", "ldr")) and "[pc" not in text)
    )


def _remember(function: _Function, opcode: str, text: str, low: dict[str, int]) -> None:
    """Keep what may be the address of a function."""
    if opcode == ".word":
        function.addresses.add(int(text, 16))
        return
    register, _, number = text.partition(", #")
    if opcode == "movw":
        low[register] = int(number)
    elif number:
        function.addresses.add(low.get(register, 0) | int(number) << 16)


def _taken_off(function: _Function, opcode: str, text: str, elf: Path) -> int:
    """Return by how many bytes an instruction lowers SP."""
    if opcode.startswith(("push", "vpush")) or text.startswith("sp!,"):
        if opcode.startswith(("ldm", "vldm", "pop", "vpop")):
            return 0
        return _registers(text)
    immediate = re.match(r"sp, (?:sp, )?#(\d+)", text)
    if opcode.startswith("sub") and immediate:
        return int(immediate[1])
    before = re.search(r"\[sp, #-(\d+)\]!", text)
    if before:
        return int(before[1])
    if opcode.startswith("sub") and re.match(r"sp, (?:sp, )?r\d", text):
        raise UnboundedStackError(
            f"{_plain(function.name)} moves the stack pointer by a register: an array of variable length, or alloca",
            where=str(elf),
        )  # fmt: skip
    return 0


def _registers(text: str) -> int:
    """Return the bytes of a register list, `{r4, r5, lr}` or `{d8-d15}`."""
    total = 0
    for item in text[text.index("{") + 1 : text.index("}")].split(", "):
        size = _DOUBLE_BYTES if item.startswith("d") else _WORD_BYTES
        ends = re.findall(r"\d+", item)
        total += size * (int(ends[1]) - int(ends[0]) + 1 if "-" in item else 1)
    return total


def _pointers(elf: Path, functions: dict[int, _Function]) -> tuple[set[int], set[int], set[int]]:
    """Return the kernels' `run`, their `prepare`, and other functions of which the image has the address."""
    with elf.open("rb") as file:
        parsed = ELFFile(file)
        table = _words(parsed, "rt_kernels")
        stored = {word for name in (".rodata", ".data") for word in _words(parsed, name)}
    for function in functions.values():
        stored |= function.addresses

    def of(words: Iterable[int]) -> set[int]:
        return {word & ~1 for word in words if word & 1 and word & ~1 in functions}

    runs, prepares = of(table[3::4]), of(table[2::4])  # rt::Kernel: name, key, prepare, run
    return runs, prepares, of(stored) - runs - prepares


def _words(elf: ELFFile, name: str) -> tuple[int, ...]:
    section = elf.get_section_by_name(name)
    if section is None or section["sh_type"] == "SHT_NOBITS":
        return ()
    data = section.data()
    return tuple(
        int.from_bytes(data[i : i + _WORD_BYTES], "little") for i in range(0, len(data) - 3, 4)
    )


def _deepest(
    entry: int, functions: dict[int, _Function], graph: dict[int, set[int]]
) -> tuple[int, tuple[int, ...]]:
    """Return bytes and functions of the deepest way from an entry on."""
    found: dict[int, tuple[int, tuple[int, ...]]] = {}
    open_: list[int] = []

    def visit(place: int) -> tuple[int, tuple[int, ...]]:
        if place in found:
            return found[place]
        if place in open_:
            circle = [*open_[open_.index(place) :], place]
            names = " -> ".join(_plain(functions[one].name) for one in circle)
            raise UnboundedStackError(f"recursion: {names}")
        open_.append(place)
        deepest, path = max((visit(callee) for callee in sorted(graph[place])), default=(0, ()))
        open_.pop()
        found[place] = (functions[place].frame + deepest, (place, *path))
        return found[place]

    return visit(entry)


def main() -> None:
    """Print the bound of each image that is named."""
    for name in sys.argv[1:]:
        bound = stack_bound(Path(name))
        sys.stdout.write(f"{bound.nbytes} bytes at most: {name}\n")
        for function, frame in bound.path:
            sys.stdout.write(f"  {frame:6} {function}\n")


if __name__ == "__main__":
    main()
