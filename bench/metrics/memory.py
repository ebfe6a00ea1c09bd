"""Bytes: what the lab image takes by its ELF, and what each pool used at its peak on the device."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bench.record import Evidence, Measure, measured

if TYPE_CHECKING:
    from bench.metrics import Run

_POOLS = ("planned", "method", "temporary", "stack")


def measure(run: Run) -> list[Measure]:
    """Return the `lab_*` sizes: of the image that has every kernel, not of what a product would ship."""
    image = run.image
    static = Evidence.STATIC
    found = [
        measured("lab_flash_image", "bytes", static, image.code_bytes + image.data_bytes),
        measured("lab_ram_static", "bytes", static, image.data_bytes + image.bss_bytes),
        measured("pte", "bytes", static, run.program.manifest.pte_bytes),
    ]
    found += [
        measured(f"lab_ram_{name}", "bytes", Evidence.EMULATED, run.log.pools[name].used)
        for name in _POOLS
        if name in run.log.pools
    ]
    return found
