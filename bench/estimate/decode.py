"""Classify Thumb instructions from their bytes: Thumb-2, DSP, floating point, MVE and low-overhead loops.

The encodings are those of the Armv7-M ARM (DDI 0403, A5 to A7) and the Armv8-M ARM (DDI 0553, C2). A row of a table
is a bit pattern (`.` is any bit), a kind, and the operands: `written < read [address]`. Rows are tried in order.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from bench.errors import Blame, LabError
from bench.estimate import encodings
from bench.estimate.kinds import FLAGS, S0, Instruction, Kind

_SP, _LR = 1 << 13, 1 << 14


class UnknownInstructionError(LabError):
    """Bytes that are no instruction that the decoder knows."""

    code = "instruction-unknown"
    blame = Blame.BENCH


def _core(number: int) -> int:
    """Return the mask of a core register; the program counter is no operand here."""
    return 1 << number if number != 15 else 0


def _vector(number: int) -> int:
    return 15 << (S0 + 4 * (number & 7))


def _float(word: int, base: int, extra: int) -> int:
    """Return the mask of a floating-point register: Vx at bit `base`, its fifth bit at bit `extra`."""
    number, bit = word >> base & 15, word >> extra & 1
    if word >> 8 & 1:  # coprocessor 11: a double register is two single ones
        return 3 << (S0 + ((bit << 4 | number) << 1) % 32)
    return 1 << (S0 + (number << 1 | bit))


def _float_list(word: int) -> int:
    """Return the mask of VLDM's and VSTM's registers."""
    double = word >> 8 & 1
    number, bit = word >> 12 & 15, word >> 22 & 1
    first = (bit << 4 | number) << 1 if double else number << 1 | bit
    return sum(1 << (S0 + (first + i) % 32) for i in range(min(word & 0xFF, 32)))


_FIELDS: dict[str, Callable[[int], int]] = {
    # 16-bit encodings
    "d3": lambda w: _core(w & 7),
    "n3": lambda w: _core(w >> 3 & 7),
    "m3": lambda w: _core(w >> 6 & 7),
    "d8": lambda w: _core(w >> 8 & 7),
    "hd": lambda w: _core(w & 7 | w >> 4 & 8),
    "hm": lambda w: _core(w >> 3 & 15),
    "list8": lambda w: w & 0xFF,
    "push": lambda w: w & 0xFF | (_LR if w & 0x100 else 0),
    "pop": lambda w: w & 0xFF,
    # 32-bit encodings
    "Rn": lambda w: _core(w >> 16 & 15),
    "Rt": lambda w: _core(w >> 12 & 15),
    "Rd": lambda w: _core(w >> 8 & 15),
    "Rm": lambda w: _core(w & 15),
    "list": lambda w: w & 0x7FFF,
    "W": lambda w: _core(w >> 16 & 15) if w >> 21 & 1 else 0,
    "S": lambda w: FLAGS if w >> 20 & 1 else 0,
    "Fd": lambda w: _float(w, 12, 22),
    "Fn": lambda w: _float(w, 16, 7),
    "Fm": lambda w: _float(w, 0, 5),
    "Flist": _float_list,
    "Qd": lambda w: _vector(w >> 13),
    "Qn": lambda w: _vector(w >> 17),
    "Qm": lambda w: _vector(w >> 1),
    "Rlo": lambda w: _core(w >> 12 & 14),
    "Rhi": lambda w: _core(w >> 19 & 14 | 1),
    "Ra": lambda w: _core(w >> 12 & 14) if w >> 5 & 1 else 0,  # only if it accumulates
    "Slo": lambda w: _core(w >> 16 & 14),
    "Shi": lambda w: _core(w >> 8 & 14 | 1),
    # both
    "SP": lambda _: _SP,
    "LR": lambda _: _LR,
    "F": lambda _: FLAGS,
}

# how many registers a row of this kind moves
_COUNTS: dict[str, Callable[[int], int]] = {
    "list8": lambda w: (w & 0xFF).bit_count(),
    "push": lambda w: (w & 0x1FF).bit_count(),
    "pop": lambda w: (w & 0x1FF).bit_count(),
    "list": lambda w: (w & 0xFFFF).bit_count(),
    "Flist": lambda w: max(1, w & 0xFF),
}


@dataclass(frozen=True)
class _Row:
    """A parsed row of an encoding table."""

    mask: int
    value: int
    kind: Kind
    written: tuple[str, ...]
    read: tuple[str, ...]
    address: tuple[str, ...]
    flags: frozenset[str]

    def decode(self, word: int, size: int) -> Instruction:
        """Return the instruction that the word is."""
        address = _masks(self.address, word)
        counted = [name for name in (*self.written, *self.read) if name in _COUNTS]
        floating = "fp" in self.flags
        registers = _COUNTS[counted[0]](word) if counted else 1
        if "two" in self.flags or (floating and self.kind in (Kind.VLOAD, Kind.VSTORE)):
            registers = 2 if "two" in self.flags or word >> 8 & 1 else 1
        return Instruction(
            kind=self.kind,
            size=size,
            written=_masks(self.written, word),
            read=_masks(self.read, word) | address,
            address=address,
            registers=registers,
            double=floating and bool(word >> 8 & 1) and self.kind not in encodings.MOVES,
            indexed="indexed" in self.flags,
            to_pc=self._to_pc(word),
            slim="slim" in self.flags,
        )

    def _to_pc(self, word: int) -> bool:
        """Whether a load puts something into the program counter."""
        if "pop" in self.written:
            return bool(word & 0x100)
        if "list" in self.written:
            return bool(word & 0x8000)
        return self.kind is Kind.LOAD and "Rt" in self.written and word >> 12 & 15 == 15


def _masks(names: tuple[str, ...], word: int) -> int:
    mask = 0
    for name in names:
        mask |= _FIELDS[name](word)
    return mask


def _parse(row: encodings.Row) -> _Row:
    """Turn a written row into a matched one."""
    pattern, kind, operands, *flags = row
    bits = pattern.replace(" ", "")
    mask = int("".join("0" if bit == "." else "1" for bit in bits), 2)
    value = int(bits.replace(".", "0"), 2)
    left, _, right = operands.partition("<")
    read, _, address = right.partition("[")
    return _Row(
        mask,
        value,
        kind,
        tuple(left.split()),
        tuple(read.split()),
        tuple(address.rstrip("] ").split()),
        frozenset(flags),
    )


_NARROW = tuple(_parse(row) for row in encodings.NARROW)
_WIDE = tuple(_parse(row) for row in encodings.WIDE)


@cache
def decode_word(word: int, size: int) -> Instruction:
    """Classify one instruction.

    Args:
        word: its 16 bits, or its two halfwords, the first in the upper half.
        size: 2 or 4 bytes.

    Raises:
        UnknownInstructionError: no row matches.
    """
    for row in _NARROW if size == 2 else _WIDE:
        if word & row.mask == row.value:
            return row.decode(word, size)
    raise UnknownInstructionError(
        f"no row of the encoding tables matches {word:0{2 * size}x}",
        hint="add the encoding to bench/estimate/encodings.py, with a test",
    )


def words(code: bytes) -> list[tuple[int, int]]:
    """Split code into (word, size), by the rule of the Armv7-M ARM, A5.1.

    Raises:
        UnknownInstructionError: the code ends inside an instruction.
    """
    found, at = [], 0
    while at < len(code):
        first = int.from_bytes(code[at : at + 2], "little")
        size = 4 if first >> 11 >= 0b11101 else 2
        if at + size > len(code):
            raise UnknownInstructionError(f"the code ends inside {code[at:].hex()}")
        if size == 4:
            first = first << 16 | int.from_bytes(code[at + 2 : at + 4], "little")
        found.append((first, size))
        at += size
    return found


def decode(code: bytes) -> tuple[Instruction, ...]:
    """Classify straight-line code.

    Raises:
        UnknownInstructionError: as `words` and `decode_word`.
    """
    return tuple(decode_word(word, size) for word, size in words(code))
