"""A benchmarking lab for PyTorch models on Arm Cortex-M microcontrollers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pandas import DataFrame


def load(*folders: str | Path) -> DataFrame:
    """Load every record below these folders into one pandas frame, a row a measure: see `bench.frame.load`."""
    from bench import frame  # noqa: PLC0415  pandas costs a second that a benchmark need not pay

    return frame.load(*folders)
