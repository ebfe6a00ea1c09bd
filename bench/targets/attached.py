"""What is attached to this machine: probes and serial ports, found by a process of its own under a deadline."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from bench.targets.device_process import work
from bench.targets.orders import Order

if TYPE_CHECKING:
    from collections.abc import Sequence

_LIST_S = 30.0


@dataclass(frozen=True)
class FoundProbe:
    """A probe that is attached; its chip only if it was asked and knows."""

    uid: str
    description: str
    target: str


@dataclass(frozen=True)
class FoundPort:
    """A serial port of a USB device."""

    path: str
    serial_number: str
    description: str


@dataclass(frozen=True)
class Attached:
    """What is attached to this machine."""

    probes: tuple[FoundProbe, ...]
    ports: tuple[FoundPort, ...]


def attached_both(bus: Sequence[tuple[str, str]], *, identify: bool = False) -> Attached:
    """Return what is attached for real, and the simulated devices of a bus beside it; raises LabError as `attached`."""
    real = attached(identify=identify)
    if not bus:
        return real
    more = attached(bus, identify=identify)
    return Attached((*real.probes, *more.probes), (*real.ports, *more.ports))


def attached(bus: Sequence[tuple[str, str]] = (), *, identify: bool = False) -> Attached:
    """Return what is attached.

    Args:
        bus: (kind, id) of simulated devices; with any, they are seen and real ones are not.
        identify: ask each probe what it sits beside, which opens it.

    Raises:
        LabError: the buses cannot be looked at.
    """
    order = Order("identify" if identify else "list", bus=tuple(bus))
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        told = work(replace(order, folder=folder), Path(folder), _LIST_S).events["list"]
    return Attached(
        tuple(FoundProbe(**probe) for probe in told["probes"]),
        tuple(FoundPort(**port) for port in told["ports"]),
    )
