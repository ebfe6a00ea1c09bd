"""The bundle: header, options, sample inputs and a .pte in one blob, and the mailbox (docs/bundle.md)."""

from __future__ import annotations

import struct
import zlib
from dataclasses import dataclass, field, replace
from enum import IntEnum

from bench.errors import InputError

ALIGNMENT = 16
HEADER_BYTES = 128
METHOD_BYTES = 32
_MAGIC = b"LABB"
_VERSION = 1
_HEADER = struct.Struct("<4s13I32s2I32x")
_TOTAL_AT = 12
_FLAGS_AT = 44
_VERIFIED = struct.Struct("<2I")
_VERIFIED_AT = 88
_MAILBOX = struct.Struct("<4sIQ4I")
MAILBOX_BYTES = _MAILBOX.size
FLAG_ALL_OUTPUTS = 1
FLAG_OPERATOR_TICKS = 2
FLAG_INTERMEDIATES = 4
FLAG_CLOCK_CHECK = 8
FLAG_VERIFIED = 16


class Inject(IntEnum):
    """What the lab image does on purpose, for tests: faults, and a loop of known length."""

    NONE = 0
    HANG = 1
    UNDEFINED_INSTRUCTION = 2
    STOP_WITHOUT_END = 3
    STACK_OVERFLOW = 4
    COUNT = 5
    WRITE_IN_FRONT = 6
    WRITE_BEHIND = 7
    WRITE_FIXED = 8
    WRITE_IN_FRONT_OF_OUTPUT = 9
    WRITE_BEHIND_OUTPUT = 10


@dataclass(frozen=True)
class Options:
    """What a run is asked to do.

    Attributes:
        warmup: inferences after the first that are not reported as `latency`.
        iterations: measured inferences.
        all_outputs: run every sample and send its outputs, not sample 0 alone.
        operator_ticks: report ticks per program instruction.
        arena_limit_bytes: cut the arena to this size; 0 leaves it whole.
        intermediates: send what each instruction wrote, of every sample that runs.
        clock_check: send lines two seconds apart by the device's counter, whose arrival the host times.
    """

    warmup: int = 1
    iterations: int = 3
    all_outputs: bool = True
    operator_ticks: bool = False
    arena_limit_bytes: int = 0
    inject: Inject = Inject.NONE
    method: str = "forward"
    intermediates: bool = False
    clock_check: bool = field(
        default=False, repr=False
    )  # of the bench, not of the workload, which is hashed as text

    @property
    def flags(self) -> int:
        """The header's flags."""
        return (
            FLAG_ALL_OUTPUTS * self.all_outputs
            + FLAG_OPERATOR_TICKS * self.operator_ticks
            + FLAG_INTERMEDIATES * self.intermediates
            + FLAG_CLOCK_CHECK * self.clock_check
        )


@dataclass(frozen=True)
class Bundle:
    """A finished bundle.

    Attributes:
        data: what goes into the model slot.
        crc32: what the device must echo, 8 hex digits.
        pte_offset: from the bundle's start, bytes.
    """

    data: bytes
    crc32: str
    pte_offset: int


def _pad(data: bytes) -> bytes:
    """Return data padded with zeros to a multiple of the alignment."""
    return data + bytes(-len(data) % ALIGNMENT)


def pack(pte: bytes, samples: list[list[bytes]], options: Options) -> Bundle:
    """Pack a bundle.

    Args:
        pte: the program.
        samples: a list of inputs (bytes in the program's layout) for each sample; all samples alike in sizes.
        options: what to do.

    Raises:
        InputError: no sample, samples of unlike sizes, or a method name that is too long.
    """
    blobs = [b"".join(_pad(item) for item in sample) for sample in samples]
    if not blobs or len({len(blob) for blob in blobs}) != 1:
        raise InputError("a bundle needs at least one sample, and all samples must have one size")
    method = options.method.encode("ascii", "replace")
    if len(method) >= METHOD_BYTES:
        raise InputError(
            f"the method name {options.method!r} is longer than {METHOD_BYTES - 1} bytes"
        )
    sample_bytes = b"".join(blobs)
    pte_offset = HEADER_BYTES + len(sample_bytes)
    total_bytes = pte_offset + len(_pad(pte))
    header = _HEADER.pack(
        _MAGIC,
        _VERSION,
        HEADER_BYTES,
        total_bytes,
        pte_offset,
        len(pte),
        HEADER_BYTES,
        len(blobs),
        len(blobs[0]),
        options.warmup,
        options.iterations,
        options.flags,
        options.arena_limit_bytes,
        int(options.inject),
        method,
        0,
        0,
    )
    data = header + sample_bytes + _pad(pte)
    return Bundle(data=data, crc32=f"{zlib.crc32(data):08x}", pte_offset=pte_offset)


def verified(bundle: Bundle, tables: bytes) -> Bundle:
    """Return the bundle with the mark that its program was loaded with every check, as these very bytes, and its tables.

    Args:
        bundle: as it was run.
        tables: of the program (bench/tables.py), for the image that is to load it.
    """
    pte_bytes = int(_HEADER.unpack_from(bundle.data)[5])
    pte = bundle.data[bundle.pte_offset : bundle.pte_offset + pte_bytes]
    data = bytearray(bundle.data + _pad(tables))
    struct.pack_into("<I", data, _TOTAL_AT, len(data))
    struct.pack_into("<I", data, _FLAGS_AT, flags_of(bundle.data) | FLAG_VERIFIED)
    _VERIFIED.pack_into(data, _VERIFIED_AT, zlib.crc32(tables, zlib.crc32(pte)), len(tables))
    return replace(bundle, data=bytes(data), crc32=f"{zlib.crc32(data):08x}")


def with_one_sample(bundle: Bundle) -> Bundle:
    """Return the bundle, not verified yet, with sample 0 alone: it takes the least room."""
    fields = list(_HEADER.unpack_from(bundle.data))
    samples_at, count, stride = fields[6:9]
    fields[3] -= (count - 1) * stride
    fields[4] = samples_at + stride
    fields[7] = 1
    data = _HEADER.pack(*fields) + bundle.data[samples_at : samples_at + stride]
    data += bundle.data[bundle.pte_offset :]
    return Bundle(data, f"{zlib.crc32(data):08x}", fields[4])


def iterations_of(bundle: bytes) -> int:
    """Return how many measured inferences a bundle asks for."""
    return int(_HEADER.unpack_from(bundle)[10])


def flags_of(bundle: bytes) -> int:
    """Return the flags of a bundle's header."""
    return int(_HEADER.unpack_from(bundle)[11])


def samples_that_fit(slot_bytes: int, sample: list[bytes], pte: bytes) -> int:
    """Return how many samples like this one fit a slot beside a program; below 1 if none does."""
    stride = sum(len(_pad(item)) for item in sample)
    return (slot_bytes - HEADER_BYTES - len(_pad(pte))) // max(stride, 1)


class Command(IntEnum):
    """What the mailbox asks of the device (docs/bundle.md)."""

    NONE = 0
    SEND_AGAIN = 1
    STAY = 2
    GO_ON = 3


class State(IntEnum):
    """What the device says in the mailbox."""

    BUSY = 0
    IDLE = 1
    MEASURED = 2


# Offsets in the mailbox of what is written or read while the device runs.
MAILBOX_COMMAND, MAILBOX_ARGUMENTS, MAILBOX_STATE = 16, 20, 28


def pack_mailbox(nonce: int, command: Command = Command.NONE) -> bytes:
    """Return the mailbox's bytes for a run with this nonce (below 2**64)."""
    return _MAILBOX.pack(b"LMBX", 1, nonce, int(command), 0, 0, 0)
