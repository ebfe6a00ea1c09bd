"""The kernels under test, built once, behind a pipe."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

# Registers torch.ops.cortex_m, the references; importing ops.operators first runs into a circle.
import executorch.backends.cortex_m.passes  # noqa: F401
import pytest
import torch

from tests.kernels.calls import CallStore
from tests.kernels.harness import Harness
from tests.runtime.building import build

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="session")
def kernel_harness() -> Iterator[Harness]:
    """Build the harness, start it, end it after the last test."""
    folder = build(Path(__file__).parent, "kernels")
    store = CallStore()
    harness = Harness(folder / "harness", store.keep)
    yield harness
    harness.close()
    store.write()


@pytest.fixture
def call(kernel_harness: Harness) -> Harness:
    """Call kernels, with torch on one thread: its results must not depend on the machine."""
    torch.set_num_threads(1)
    return kernel_harness
