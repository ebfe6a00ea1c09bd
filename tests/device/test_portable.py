"""A sample of every family of portable kernels on the device: lowered modules give torch's numbers there too.

The families are those of tests/runtime/test_modules.py, which runs them on the host.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from bench.bundle import Options
from bench.foreign import foreign_program
from bench.pipeline import Plan, run_case
from tests.device.conftest import attempt_of
from tests.runtime.conftest import Run
from tests.runtime.test_modules import CASES, compare, lowered

pytestmark = pytest.mark.qemu
BOARDS = ("mps3-an547", "mps2-an386")


@pytest.mark.parametrize("name", CASES)
def test_families(name: str, tmp_path: Path) -> None:
    """Every output of the family's module, on a core with Helium and on one without."""
    module, inputs = CASES[name]
    path = tmp_path / "program.pte"
    path.write_bytes(lowered(module, inputs))
    files = []
    for index, values in enumerate(inputs):
        files.append(tmp_path / f"in{index}.npy")
        np.save(files[-1], values.numpy())
    program = foreign_program(path, tuple(files))
    with torch.no_grad():
        expected = torch.utils._pytree.tree_leaves(module.eval()(*inputs))

    for board in BOARDS:
        attempt = attempt_of(board, program, Options(warmup=0, iterations=0))
        plain = Plan(attempt.plan.options, deadline_s=60.0, deployment=False, estimate=False)
        outputs = run_case(replace(attempt, plan=plain)).log.outputs
        data = b"".join(outputs[0, index] for index in range(len(program.manifest.outputs)))
        compare(Run({}, [], data), expected)
