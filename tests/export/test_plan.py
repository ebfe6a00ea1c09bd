"""The memory plan that an export ends with: what looks at another tensor's bytes still lies on them."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from bench.export.programs import ProgramFiles
from bench.pte import SCRATCH_ARGUMENTS
from bench.rewrite.flat import is_tensor, read_flat


@pytest.mark.parametrize("model", ["digits_cnn", "resnet8"])
@pytest.mark.parametrize("cpu", ["cortex-m4", "cortex-m55"])
def test_a_view_stays_on_what_it_looks_at(
    model: str, cpu: str, zoo: Callable[..., dict[str, ProgramFiles]]
) -> None:
    """The flattened features behind a global pool are written by no operator: they lie where the pool's result does."""
    plan = read_flat(zoo(model)[cpu].files["program.pte"]).plan("forward")
    place = {
        index: (value.val.allocationInfo.memoryId, value.val.allocationInfo.memoryOffsetLow)
        for index, value in enumerate(plan.values)
        if is_tensor(value) and value.val.allocationInfo is not None
    }
    written = {int(index) for index in plan.inputs}
    last_there: dict[tuple[int, int], int] = {}  # place -> what was written there last
    pooled = -1
    views = []
    for instruction in plan.chains[0].instructions:
        call = instruction.instrArgs
        name = plan.operators[call.opIndex].name.decode()
        scratch = SCRATCH_ARGUMENTS.get(name, ())
        *arguments, result = (int(a) for p, a in enumerate(call.args) if p not in scratch)
        views += [
            last_there.get(place[a], -1)
            for a in arguments
            if a in place and a not in written and a != result
        ]
        written.add(result)
        last_there[place[result]] = result
        pooled = result if "avg_pool" in name else pooled

    assert views == [pooled]
