"""The arena: the need that is reported is exact, and enough."""

from __future__ import annotations

import pytest

from tests.runtime.conftest import VECTORS, Runner
from tests.runtime.test_upstream import MODELS


@pytest.mark.parametrize("skew", [0, 1, 8])
@pytest.mark.parametrize("model", MODELS)
def test_need_is_exact(runner: Runner, model: str, skew: int) -> None:
    """What is asked for suffices, 8 bytes less do not; the error says have and need, at any alignment."""
    program, given = VECTORS / f"{model}_cortex-m4.pte", VECTORS / f"{model}_cortex-m4.in.bin"
    expected = (VECTORS / f"{model}_cortex-m4.out.bin").read_bytes()
    nothing = runner.run(program, given, arena_bytes=0, arena_skew=skew).facts
    need = int(nothing["need"])

    enough = runner.run(program, given, arena_bytes=need, arena_skew=skew)
    short = runner.run(program, given, arena_bytes=need - 8, arena_skew=skew).facts

    assert nothing["error"] == "arena-too-small"
    assert expected == enough.output
    assert need == int(enough.facts["needed"])
    assert short["error"] == "arena-too-small"
    assert (need - 8, need) == (int(short["have"]), int(short["need"]))


def test_a_misaligned_arena_costs_its_padding(runner: Runner) -> None:
    """An arena that starts 1 byte after a multiple of 16 needs 15 bytes more."""
    program, given = VECTORS / "linear_cortex-m4.pte", VECTORS / "linear_cortex-m4.in.bin"

    aligned, skewed = (
        int(runner.run(program, given, arena_skew=skew).facts["needed"]) for skew in (0, 1)
    )

    assert aligned + 15 == skewed
