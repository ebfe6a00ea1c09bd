"""What the lab tells the process that works with a device, and what that process tells back, as JSON."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from bench.errors import LabError, error_of

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True)
class Order:
    """One piece of work with one device.

    Attributes:
        do: `run`, `flash`, `look` (connect and identify), `recover`, `list` (probes and ports, no device) or `identify`
            (the same, and each probe is asked what it sits beside).
        kind: of a simulated device, empty for a real one.
        bus: (kind, id) of every simulated device that is to be seen; if there are any, no real one is.
        target, cpu, chip_id, packs: of the chip; an id is (address, value, mask).
        serial: path of the port, empty to look for the probe's.
        folder: where files are left for the lab.
        parts: (address, file) of what goes into Flash.
        elf: the image, for names of addresses.
        mailbox: its address.
        nonce: of the run, as text: JSON numbers are not 64 bits wide everywhere.
        boot_s: until the first line must have come.
        deadline_s: of the run, from the moment the core starts.
        mode: how to connect: `halt` or `under-reset`.
        everything: program what is there already, too.
        clock_hz: of the debug clock; 0 for pyOCD's own.
    """

    do: str
    uid: str = ""
    kind: str = ""
    bus: tuple[tuple[str, str], ...] = ()
    target: str = ""
    cpu: str = ""
    chip_id: tuple[tuple[int, int, int], ...] = ()
    packs: tuple[str, ...] = ()
    serial: str = ""
    vcom: int = 0
    baud: int = 115_200
    folder: str = ""
    parts: tuple[tuple[int, str], ...] = ()
    elf: str = ""
    mailbox: int = 0
    nonce: str = "0"
    boot_s: float = 10.0
    deadline_s: float = 60.0
    mode: str = "halt"
    everything: bool = False
    clock_hz: int = 0

    def write(self, path: Path) -> None:
        """Write it to a file."""
        path.write_text(json.dumps(asdict(self)))

    @classmethod
    def read(cls, path: Path) -> Order:
        """Read what `write` wrote."""
        raw: dict[str, Any] = json.loads(path.read_text())
        for name in ("bus", "chip_id", "parts"):
            raw[name] = tuple(tuple(item) for item in raw[name])
        return cls(**{**raw, "packs": tuple(raw["packs"])})


def tell(event: str, **more: object) -> None:
    """Say something to the lab: one line of JSON on standard output."""
    print(json.dumps({"event": event, **more}), flush=True)  # noqa: T201  this is the process' tongue


def tell_failure(fault: LabError) -> None:
    """Say what failed."""
    tell("failed", code=fault.code, what=fault.what, where=fault.where, hint=fault.hint)


def failure_of(event: dict[str, Any]) -> LabError:
    """Make the error that `tell_failure` told."""
    return error_of(event["code"], event["what"], where=event["where"], hint=event["hint"])
