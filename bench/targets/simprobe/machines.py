"""The emulated boards that a simulated probe can sit on: memory, identity, and a flash algorithm for pyOCD.

Memory maps: QEMU's documentation of "Arm MPS2 and MPS3 boards" and Arm's application notes of the same numbers.
"""

from __future__ import annotations

from dataclasses import dataclass

SECTOR_BYTES = 0x1000
# flash_algorithm.S, assembled; position-independent, pyOCD's header of 32 bytes first.
ALGORITHM_WORDS = (
    0xE7FEBE00, 0, 0, 0, 0, 0, 0, 0, 0x47702000, 0x5280F500, 0x31FFF04F, 0x1B04F840, 0xD1FB4290,
    0x47702000, 0x4401B510, 0xD2064288, 0xF8526803, 0x40234B04, 0x3B04F840, 0x2000E7F6, 0xBD10,
)  # fmt: skip
ALGORITHM_ENTRIES = {"init": 0x20, "uninit": 0x20, "erase_sector": 0x24, "program_page": 0x38}


@dataclass(frozen=True)
class Machine:
    """One of QEMU's machines, part of whose RAM stands for Flash.

    Attributes:
        flash: (start, bytes) of what a debugger must program through an algorithm.
        ram: (start, bytes) of what it may write.
        work: where the algorithm is loaded; 24 KB from there on are overwritten by flashing.
        chip_id_address: of the register that tells the boards apart (SCC's ID); 0 if only CPUID does.
        chip_id: what it reads.
    """

    name: str
    cpuid: int
    flash: tuple[tuple[int, int], ...]
    ram: tuple[tuple[int, int], ...]
    work: int
    icount_shift: int = 6
    chip_id_address: int = 0
    chip_id: int = 0
    has_fpu: bool = True

    @property
    def is_v8m(self) -> bool:
        """Whether the core is Armv8-M."""
        return self.cpuid >> 4 & 0xFFF in (0xD21, 0xD22)


_MPS2_RAM = ((0x20000000, 0x400000), (0x21C00000, 0x400000))
MACHINES = {
    machine.name: machine
    for machine in (
        Machine(
            "mps2-an385",
            0x412FC231,
            ((0, 0x100000), (0x21000000, 0xC00000)),
            _MPS2_RAM,
            0x20000000,
            chip_id_address=0x4002FFFC,
            chip_id=0x41043850,
            has_fpu=False,
        ),
        Machine(
            "mps2-an386",
            0x410FC241,
            ((0, 0x100000), (0x21000000, 0xC00000)),
            _MPS2_RAM,
            0x20000000,
            chip_id_address=0x4002FFFC,
            chip_id=0x41043860,
        ),
        Machine(
            "mps2-an505",
            0x410FD213,
            ((0x10000000, 0x100000), (0x80000000, 0xC00000)),
            ((0x38000000, 0x400000), (0x80C00000, 0x400000)),
            0x38000000,
        ),
        Machine(
            "mps3-an547",
            0x411FD221,
            ((0, 0x80000), (0x60000000, 0x2000000)),
            ((0x20000000, 0x80000), (0x21000000, 0x400000)),
            0x20000000,
        ),
    )
}


def pyocd_target_name(machine: str) -> str:
    """Return the name of the pyOCD target that describes a machine."""
    return f"simulated_{machine.replace('-', '_')}"


KINDS = (*MACHINES, "nrf52840")
