"""The hook around instructions, for figures by operator."""

from __future__ import annotations

from tests.runtime.conftest import VECTORS, Runner


def test_around_each_instruction_in_order(runner: Runner) -> None:
    """It is called before and after each instruction, in the program's order, each once."""
    program, given = VECTORS / "ds_cnn_cortex-m4.pte", VECTORS / "ds_cnn_cortex-m4.in.bin"

    run = runner.run(program, given)

    count = int(run.facts["instructions"])
    assert count == 16
    assert [f"{when} {i}" for i in range(count) for when in ("before", "after")] == run.hook
