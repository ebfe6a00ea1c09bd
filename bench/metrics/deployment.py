"""Bytes that a product would need: Flash and RAM of the deployment image, by part; the parts add up to the totals."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bench.metrics import DTYPES
from bench.metrics.latency import instructions
from bench.pte import read_pte
from bench.record import Evidence, Measure, measured

if TYPE_CHECKING:
    from bench.metrics import Run


def measure(run: Run) -> list[Measure]:
    """Return `flash_*`, `ram_*`, and what the deployment image's own run gave.

    Overlapping bytes of the memory plan are attributed by the rule of `bench.pte.PlanParts`; a kernel's scratch is what
    the exporter planned for it and what it takes from the temporary pool.
    """
    if run.deployment is None:
        return []
    image, seen = run.deployment
    facts = read_pte(run.program.pte.read_bytes(), method=run.program.manifest.method)
    pte_bytes = run.program.manifest.pte_bytes
    flash = {
        "flash_weights": facts.constant_bytes,
        "flash_program": pte_bytes - facts.constant_bytes,
        "flash_tables": image.tables_bytes,
        "flash_runtime": image.flash.runtime,
        "flash_kernels": image.flash.kernels,
        "flash_firmware": image.flash.firmware,
    }
    ram = {
        "ram_planned": facts.plan.activations,
        "ram_input_output": facts.plan.input_output,
        "ram_scratch": facts.plan.scratch + seen.temporary_bytes,
        "ram_method": seen.method_bytes,
        "ram_stack": seen.stack_bytes,
        "ram_static": image.static_bytes,
    }
    flash["flash_total"] = sum(flash.values())
    ram["ram_total"] = sum(ram.values())
    handed_on = ", ".join(sorted(image.fallbacks))
    source = {"flash_kernels": f"with reference kernels of {handed_on}"} if handed_on else {}
    found = [
        measured(name, "bytes", Evidence.STATIC, value, source=source.get(name, ""))
        for name, value in flash.items()
    ]
    found += [measured(name, "bytes", Evidence.EMULATED, value) for name, value in ram.items()]
    return [*found, *_own_run(run)]


def _own_run(run: Run) -> list[Measure]:
    """Return the deployment image's instruction count, and how many outputs differ from the lab image's."""
    if run.deployment is None or run.board.qemu is None:
        return []
    _, seen = run.deployment
    counter = run.log.counter.__class__(
        seen.overhead_ticks, run.log.counter.wrap_bits, run.log.counter.wrap_instructions
    )
    hz, shift = run.log.hello.counter_hz, run.board.qemu.icount_shift
    count = instructions(seen.ticks["latency"], hz, shift, counter)
    lab, position = 0, 0
    for index, info in enumerate(run.program.manifest.outputs):
        dtype = DTYPES[info.dtype]
        own = np.frombuffer(seen.outputs[position : position + info.nbytes], dtype)
        lab += int((own.view(np.uint8) != run.device_output(index)[0].view(np.uint8)).sum())
        position += info.nbytes
    return [
        measured("latency_deployment", "instructions", Evidence.COUNT, count),
        measured(
            "load_deployment",
            "instructions",
            Evidence.COUNT,
            instructions(seen.ticks["load"], hz, shift, counter),
        ),
        measured(
            "mismatch_deployment",
            "bytes",
            Evidence.EMULATED,
            lab,
            source="the lab image's outputs of sample 0",
        ),
    ]
