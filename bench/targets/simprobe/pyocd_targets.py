"""What pyOCD is told of the emulated boards: memory maps and the flash algorithm."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyocd.core.memory_map import FlashRegion, MemoryMap, RamRegion
from pyocd.coresight.coresight_target import CoreSightTarget
from pyocd.target import TARGET

from bench.targets.simprobe.machines import (
    ALGORITHM_ENTRIES,
    ALGORITHM_WORDS,
    MACHINES,
    SECTOR_BYTES,
    pyocd_target_name,
)

if TYPE_CHECKING:
    from bench.targets.simprobe.machines import Machine


def _algorithm(machine: Machine) -> dict[str, Any]:
    """Return the algorithm loaded at the machine's work area, with two page buffers."""
    base = machine.work
    entry = {name: base + offset + 1 for name, offset in ALGORITHM_ENTRIES.items()}
    return {
        "load_address": base,
        "instructions": list(ALGORITHM_WORDS),
        "pc_init": entry["init"],
        "pc_unInit": entry["uninit"],
        "pc_erase_sector": entry["erase_sector"],
        "pc_program_page": entry["program_page"],
        "page_buffers": [base + 0x2000, base + 0x3000],
        "begin_stack": base + 0x1000,
        "static_base": base + 0x1000,
        "min_program_length": 4,
        # its pages are numbered in 16 bits, which an external Flash at a high address exceeds
        "analyzer_supported": False,
    }


def _target(machine: Machine) -> type[CoreSightTarget]:
    flash = [
        FlashRegion(
            name=f"flash{i}",
            start=start,
            length=nbytes,
            blocksize=SECTOR_BYTES,
            page_size=SECTOR_BYTES,
            is_boot_memory=i == 0,
            algo=_algorithm(machine),
        )
        for i, (start, nbytes) in enumerate(machine.flash)
    ]
    ram = [
        RamRegion(name=f"ram{i}", start=start, length=nbytes)
        for i, (start, nbytes) in enumerate(machine.ram)
    ]

    class SimulatedBoard(CoreSightTarget):  # type: ignore[misc]
        VENDOR = "cortex-m-bench"

        def __init__(self, session: Any) -> None:
            super().__init__(session, MemoryMap(*flash, *ram))

    return SimulatedBoard


def install() -> None:
    """Make every emulated board a target of this process's pyOCD."""
    for machine in MACHINES.values():
        TARGET[pyocd_target_name(machine.name)] = _target(machine)
