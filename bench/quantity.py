"""Quantities as people write and read them: `50ms`, `128KB`, `12,345 B`. 1 KB is 1,024 bytes, as in memory maps."""

from __future__ import annotations

import re

from bench.errors import InputError

_BYTES = {
    "": 1,
    "b": 1,
    "k": 1024,
    "kb": 1024,
    "kib": 1024,
    "m": 1024**2,
    "mb": 1024**2,
    "mib": 1024**2,
}
_SECONDS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "min": 60.0, "h": 3600.0}


def _split(text: str) -> tuple[float, str]:
    match = re.fullmatch(r"\s*([0-9][0-9_,]*\.?[0-9]*)\s*([A-Za-zµ]*)\s*", text)
    if match is None:
        raise InputError(f"{text!r} is no quantity", hint="e.g. 50ms, 128KB")
    return float(match.group(1).replace(",", "").replace("_", "")), match.group(2).lower()


def parse_bytes(text: str) -> int:
    """Return bytes of `4096`, `128KB`, `2MB`; K is 1,024."""
    value, unit = _split(text)
    if unit not in _BYTES:
        raise InputError(f"{text!r}: {unit!r} is no unit of size", hint="B, KB (1,024 B) or MB")
    return round(value * _BYTES[unit])


def parse_seconds(text: str) -> float:
    """Return seconds of `50ms`, `1.5s`, `2h`; the unit must be there."""
    value, unit = _split(text)
    if unit not in _SECONDS:
        raise InputError(f"{text!r} needs a unit of time", hint="us, ms, s, min or h")
    return value * _SECONDS[unit]


def show_bytes(value: float) -> str:
    """Return `12,345 B`."""
    return f"{value:,.0f} B"


def show_seconds(value: float) -> str:
    """Return a duration with three significant digits, in us, ms or s."""
    for limit, factor, unit in ((1e-3, 1e6, "µs"), (1.0, 1e3, "ms")):
        if abs(value) < limit:
            return f"{value * factor:.3g} {unit}"
    return f"{value:.3g} s" if abs(value) < 1000 else f"{value:,.0f} s"


def show_count(value: float, *ends: float) -> str:
    """Return a count in three digits, its band's ends in the same multiple: `498 k (373 to 747)`; whole below 10,000."""
    if abs(value) < 10_000:
        shown = [f"{number:,.0f}" for number in (value, *ends)]
        multiple = ""
    else:
        factor, multiple = next((f, m) for f, m in ((1e9, " G"), (1e6, " M"), (1e3, " k")) if abs(value) >= 0.9995 * f)  # fmt: skip
        shown = [_three_digits(number / factor) for number in (value, *ends)]
    return f"{shown[0]}{multiple}" + (f" ({' to '.join(shown[1:])})" if ends else "")


def _three_digits(value: float) -> str:
    """Return a number with three significant digits, zeros at the end kept: `16.0`; never fewer before the point."""
    digits = len(f"{abs(value):.0f}") if abs(value) >= 0.9995 else 0
    return f"{value:,.{max(0, 3 - digits)}f}" if abs(value) >= 0.0995 else f"{value:.3g}"


def show(value: float, unit: str) -> str:
    """Return a figure with its unit and sensible digits: whole counts whole, the rest to four significant ones."""
    if unit == "fraction":
        return f"{value:.1%}"
    if unit in {"bytes", "B"}:
        return show_bytes(value)
    if value == int(value) and abs(value) < 1e15:
        return f"{value:,.0f} {unit}"
    return f"{value:,.4g} {unit}" if abs(value) < 10_000 else f"{value:,.0f} {unit}"
