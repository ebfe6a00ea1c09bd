"""The bundle's layout is docs/bundle.md's, read here by offsets written down from that page."""

from __future__ import annotations

import struct
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.bundle import Inject, Options, pack, pack_mailbox, verified, with_one_sample
from bench.errors import InputError


def _u32(data: bytes, offset: int) -> int:
    return int(struct.unpack_from("<I", data, offset)[0])


def test_every_field_is_at_its_offset() -> None:
    """Offsets, flags and counts are where the page says."""
    options = Options(2, 5, True, True, 4096, Inject.UNDEFINED_INSTRUCTION, "forward")

    data = pack(b"P" * 100, [[b"a" * 20], [b"b" * 20]], options).data

    assert data[:4] == b"LABB"
    assert [_u32(data, o) for o in (4, 8, 12)] == [1, 128, len(data)]
    assert (_u32(data, 16), _u32(data, 20)) == (128 + 64, 100)
    assert [_u32(data, o) for o in (24, 28, 32)] == [128, 2, 32]
    assert [_u32(data, o) for o in (36, 40, 44, 48, 52)] == [2, 5, 3, 4096, 2]
    assert data[56:88] == b"forward".ljust(32, b"\0")
    assert data[128:148] == b"a" * 20
    assert data[160:180] == b"b" * 20
    assert data[192:292] == b"P" * 100


@given(
    st.binary(min_size=1, max_size=70),
    st.lists(st.integers(1, 40), min_size=1, max_size=3),
    st.integers(1, 3),
)
def test_everything_is_aligned_and_round_trips(pte: bytes, sizes: list[int], count: int) -> None:
    """Program and samples begin at multiples of 16 and come back byte for byte."""
    samples = [[bytes([s + i]) * n for i, n in enumerate(sizes)] for s in range(count)]

    bundle = pack(pte, samples, Options())

    offset, stride = _u32(bundle.data, 16), _u32(bundle.data, 32)
    assert (offset % 16, stride % 16, len(bundle.data) % 16) == (0, 0, 0)
    assert bundle.data[offset : offset + len(pte)] == pte
    position = _u32(bundle.data, 24) + (count - 1) * stride
    for item in samples[-1]:
        assert bundle.data[position : position + len(item)] == item
        position += -(-len(item) // 16) * 16
    assert f"{zlib.crc32(bundle.data):08x}" == bundle.crc32


def test_the_mark_of_a_verified_program_is_about_its_bytes() -> None:
    """Flag, CRC of program and tables, the tables behind the program; the bundle's own CRC and size follow."""
    bundle = pack(b"P" * 100, [[b"a" * 20]], Options())

    marked = verified(bundle, b"T" * 36)

    assert _u32(marked.data, 44) == _u32(bundle.data, 44) | 16
    assert [_u32(marked.data, o) for o in (88, 92)] == [zlib.crc32(b"P" * 100 + b"T" * 36), 36]
    assert marked.data[96:128] == bytes(32)
    assert _u32(marked.data, 12) == len(marked.data) == len(bundle.data) + 48
    assert marked.data[:12] + marked.data[16:44] == bundle.data[:12] + bundle.data[16:44]
    assert marked.data[48:88] == bundle.data[48:88]
    assert marked.data[128:].startswith(bundle.data[128:] + b"T" * 36)
    assert _u32(marked.data, 16) + 112 == marked.data.index(b"T")
    assert f"{zlib.crc32(marked.data):08x}" == marked.crc32 != bundle.crc32


def test_one_sample_is_what_packing_it_alone_gives() -> None:
    """The first of three: the same bytes as a bundle that never had the others."""
    samples = [[b"a" * 20, b"b"], [b"c" * 20, b"d"], [b"e" * 20, b"f"]]
    options = Options(2, 5, True, True, 4096)

    assert pack(b"P" * 100, samples[:1], options) == with_one_sample(
        pack(b"P" * 100, samples, options)
    )


def test_samples_of_unlike_sizes_are_refused() -> None:
    """A stride cannot describe them."""
    with pytest.raises(InputError, match="one size"):
        pack(b"P", [[b"a"], [b"b" * 17]], Options())


def test_a_long_method_name_is_refused() -> None:
    """It would be cut and then not found."""
    with pytest.raises(InputError, match="longer than 31"):
        pack(b"P", [[b"a"]], Options(method="m" * 32))


def test_the_mailbox_is_as_the_page_says() -> None:
    """Magic, version, nonce, and nothing else."""
    data = pack_mailbox(0x0123456789ABCDEF)

    assert data == b"LMBX" + b"\1\0\0\0" + bytes.fromhex("efcdab8967452301") + bytes(16)
