"""Weights transformed for Winograd's convolution: what they stand for, and what they cost."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from bench.board import find_boards
from bench.cli import app
from bench.errors import InputError
from bench.foreign import foreign_program
from bench.pte import read_pte
from bench.rewrite import dsp_winograd
from bench.rewrite.dsp_weights import KeepError
from bench.rewrite.programs import Packing, packed

UPSTREAM = Path(__file__).parents[1] / "data" / "upstream"
BT = np.array([[1, 0, -1, 0], [0, 1, 1, 0], [0, -1, 1, 0], [0, 1, 0, -1]])
AT = np.array([[1, 1, 1, 0], [0, 1, -1, -1]])


@pytest.mark.parametrize("seed", range(10))
def test_a_tile_is_four_times_the_convolution(seed: int) -> None:
    """The layout of winograd.hpp, multiplied and transformed back, is 4 * (bias + sum of weight * (input + offset))."""
    random = np.random.default_rng(seed)
    outputs, channels = 2 * int(random.integers(1, 5)), 4 * int(random.integers(1, 5))
    offset = int(random.integers(-127, 129))
    weights = random.choice([-128, 127, 3, -50], (outputs, 3, 3, channels)).astype(np.int8)
    bias = random.integers(-(1 << 20), 1 << 20, outputs).astype(np.int32)
    inputs = random.choice([-128, 127, 0, 31], (4, 4, channels))
    expected = np.array(
        [
            [
                int(bias[o]) + int((weights[o].astype(int) * (inputs[y : y + 3, x : x + 3] + offset)).sum())
                for o in range(outputs)
            ]
            for y in range(2)
            for x in range(2)
        ]
    )  # fmt: skip

    laid, start = dsp_winograd.encode(weights, bias, offset)

    words = np.frombuffer(laid, "<i2").reshape(16, outputs // 2, channels // 2, 2, 2)
    transformed = np.einsum("ia,abc,jb->ijc", BT, inputs, BT).reshape(16, channels)
    assert abs(transformed).max() < 1 << 15
    products = np.zeros((16, outputs), np.int64)
    for word in range(channels // 2):
        for half in range(2):
            channel = word // 2 * 4 + word % 2 + 2 * half
            at = words[:, :, word, :, half].reshape(16, outputs).astype(np.int64)
            products += at * transformed[:, channel : channel + 1]
    tiles = np.einsum("ia,abo,jb->ijo", AT, products.reshape(4, 4, outputs), AT).reshape(4, outputs)
    assert (tiles + np.frombuffer(start, "<i4") == 4 * expected).all()


def test_sums_that_do_not_fit_keep_their_weights() -> None:
    """2^29 times four would leave 32 bits."""
    weights = np.zeros((2, 3, 3, 4), np.int8)

    with pytest.raises(KeepError, match="2\\^29"):
        dsp_winograd.encode(weights, np.array([0, 1 << 29], np.int32), 0)


def test_a_transformed_program_says_what_it_costs() -> None:
    """resnet8's four layers of 3x3 and stride 1 grow by 23 bytes a channel of a filter; the others are packed or kept."""
    board = find_boards("mps2-an386")[0]
    program = foreign_program(UPSTREAM / "resnet8_cortex-m4.pte")
    equal = packed(program, board).manifest

    made = packed(program, board, Packing.WINOGRAD)

    manifest = made.manifest
    names = [one.operator for one in read_pte(made.pte.read_bytes()).operators]
    extra = 23 * (16 * 16 * 2 + 32 * 32 + 64 * 64)
    assert ("resnet8_cortex-m4-winograd1", "winograd1") == (manifest.model, manifest.pack)
    assert 4 == names.count("cortex_m::quantized_conv2d.winograd1")
    assert 2 == names.count("cortex_m::quantized_conv2d.dsp1")
    # and the name of one more operator
    assert extra <= manifest.pte_bytes - equal.pte_bytes <= extra + 128
    larger = [one for one in manifest.findings if one.code == "pack-larger"]
    assert 4 == len(larger)
    assert "94,208 bytes more, scratch 13,248 bytes" in larger[-1].message


def test_programs_without_such_convolutions_are_refused() -> None:
    """The autoencoder is linear layers alone."""
    program = foreign_program(UPSTREAM / "autoencoder_cortex-m4.pte")

    with pytest.raises(InputError, match="no convolution"):
        packed(program, find_boards("mps2-an386")[0], Packing.WINOGRAD)


@pytest.mark.parametrize("words", [["--pack", "autoencoder"], ["--pack=equal", "autoencoder"], ["autoencoder", "--pack"]])  # fmt: skip
def test_pack_alone_takes_no_word_after_it(words: list[str]) -> None:
    """The program is the program: it does not exist, and nothing is said of a packing."""
    made = CliRunner().invoke(app, ["run", *words, "--board=mps2-an386"])

    assert "autoencoder" in str(made.exception)
    assert "--pack" not in str(made.exception)


def test_an_unknown_packing_is_refused() -> None:
    """With the names that there are."""
    path = str(UPSTREAM / "linear_cortex-m4.pte")

    made = CliRunner().invoke(app, ["run", path, "--board=mps2-an386", "--pack=smaller"])

    assert "there are equal, winograd" in str(made.exception)
