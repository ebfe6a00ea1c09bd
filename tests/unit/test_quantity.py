"""Quantities as people read them."""

from __future__ import annotations

import pytest

from bench.quantity import show_count


@pytest.mark.parametrize(
    ("values", "text"),
    [
        ((0,), "0"),
        ((9_999,), "9,999"),
        ((9_223, 6_917, 13_834), "9,223 (6,917 to 13,834)"),
        ((42_719, 32_039, 64_078), "42.7 k (32.0 to 64.1)"),
        ((497_677, 373_258, 746_516), "498 k (373 to 747)"),
        ((999_600,), "1.00 M"),
        ((1_333_385, 1_165_403, 1_868_645), "1.33 M (1.17 to 1.87)"),
        ((110_000_000, 82_200_000, 164_000_000), "110 M (82.2 to 164)"),
        ((2_693_663, 900_000, 4_040_494), "2.69 M (0.900 to 4.04)"),
        ((7_250_000_000,), "7.25 G"),
    ],
)
def test_a_count_is_read_in_three_digits(values: tuple[float, ...], text: str) -> None:
    """The ends of a band have the multiple of the value; below 10,000 every digit is there."""
    assert show_count(*values) == text
