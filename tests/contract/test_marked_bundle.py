"""The bundle of a deployment image, where its tables leave little room in the model slot."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bench.bundle import Options, pack, verified, with_one_sample
from bench.deployment import marked
from bench.errors import DoesNotFitError
from bench.image import Image, Region

SAMPLES = [[bytes([i]) * 32] for i in range(4)]
PTE, TABLES = b"P" * 100, b"T" * 36
# header, four samples, program and tables, the last two padded to multiples of 16
WHOLE_BYTES = 128 + 4 * 32 + 112 + 48
ONE_SAMPLE_BYTES = 128 + 32 + 112 + 48


def _marked(image: Image, slot_bytes: int) -> bytes:
    slot = Region(image.model.start, image.model.start + slot_bytes)
    bundle = pack(PTE, SAMPLES, Options())
    return marked(bundle, TABLES, replace(image, model=slot), "toy").data


def test_all_samples_stay_where_there_is_room(image: Image) -> None:
    """To the byte: the program lies where it lay for the lab image."""
    assert verified(pack(PTE, SAMPLES, Options()), TABLES).data == _marked(image, WHOLE_BYTES)


def test_with_less_room_one_sample_is_left(image: Image) -> None:
    """A byte less, and down to what one sample takes: the image runs sample 0 alone."""
    alone = verified(with_one_sample(pack(PTE, SAMPLES, Options())), TABLES).data

    assert ONE_SAMPLE_BYTES == len(alone)
    assert alone == _marked(image, WHOLE_BYTES - 1) == _marked(image, ONE_SAMPLE_BYTES)


def test_without_room_for_one_sample_it_does_not_fit(image: Image) -> None:
    """Have and need are told."""
    with pytest.raises(DoesNotFitError, match=f"have {ONE_SAMPLE_BYTES - 1} bytes, need {ONE_SAMPLE_BYTES}"):  # fmt: skip
        _marked(image, ONE_SAMPLE_BYTES - 1)
