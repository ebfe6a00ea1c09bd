"""Say what a processor fault was: decode the fault status registers and name the addresses.

Bits: Armv7-M Architecture Reference Manual (DDI 0403), B3.2.15 CFSR and B3.2.16 HFSR; STKOF and the SFSR's neighbours
from the Armv8-M manual (DDI 0553), D1.2.
"""

from __future__ import annotations

from pathlib import Path

from bench.errors import DeviceFaultError
from bench.image import symbolise

_CFSR = {
    0: "instruction access violation (MPU)",
    1: "data access violation (MPU)",
    3: "memory fault on exception return",
    4: "memory fault on exception entry (stack)",
    5: "memory fault while saving FPU state",
    8: "instruction bus error",
    9: "precise data bus error",
    10: "imprecise data bus error",
    11: "bus error on exception return",
    12: "bus error on exception entry (stack)",
    13: "bus error while saving FPU state",
    16: "undefined instruction",
    17: "invalid state (Thumb bit or IT state)",
    18: "invalid return address",
    19: "no coprocessor (FPU off or absent)",
    20: "stack overflow (stack limit)",
    24: "unaligned access",
    25: "division by zero",
}
_HFSR = {1: "vector table read error", 30: "escalated from a lower fault", 31: "debug event"}
_MMARVALID, _BFARVALID = 7, 15


def _hex(fields: dict[str, str], key: str) -> int:
    try:
        return int(fields.get(key, "0"), 16)
    except ValueError:
        return 0


def explain(fields: dict[str, str], elf: Path) -> DeviceFaultError:
    """Make the error of a fault line.

    Args:
        fields: of the wire's `fault` line, addresses in hex.
        elf: the image that ran, for function names and source lines.
    """
    cfsr, hfsr = _hex(fields, "cfsr"), _hex(fields, "hfsr")
    causes = [text for bit, text in _CFSR.items() if cfsr >> bit & 1]
    causes += [text for bit, text in _HFSR.items() if hfsr >> bit & 1 and not causes]
    places = [
        f"{register} {symbolise(elf, _hex(fields, register))}"
        for register in ("pc", "lr")
        if register in fields
    ]
    if cfsr >> _MMARVALID & 1:
        places.append(f"address 0x{_hex(fields, 'mmfar'):08x}")
    if cfsr >> _BFARVALID & 1:
        places.append(f"address 0x{_hex(fields, 'bfar'):08x}")
    raw = " ".join(f"{key}={value}" for key, value in fields.items() if key != "type")
    return DeviceFaultError(
        f"{fields.get('type', 'fault')}: {', '.join(causes) or 'no status bit set'}; {'; '.join(places)} ({raw})",
        hint="an undersized stack, a corrupt program or a kernel's fault; `bench run` repeats it alone",
    )
