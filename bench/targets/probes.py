"""Debug probes as pyOCD sees them: which are attached, and the one with exactly the id that was asked for."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import usb.core
from pyocd.core import exceptions
from pyocd.core.helpers import ConnectHelper
from pyocd.probe.pydapaccess.dap_access_api import DAPAccessIntf
from pyocd.probe.pydapaccess.interface.interface import Interface

from bench.errors import ProbeMissingError, ProbeProtocolError, WrongProbeError, absent_hint
from bench.site import same_id

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bench.targets.simprobe.client import SimulatedDevice

_USB_TIMEOUT_S = 3  # of one packet; pyOCD waits 10 s, twice

Interface.DEFAULT_USB_TIMEOUT_S = _USB_TIMEOUT_S
Interface.DEFAULT_USB_TIMEOUT_MS = _USB_TIMEOUT_S * 1000


@dataclass(frozen=True)
class FoundProbe:
    """A debug probe on this machine's buses.

    Attributes:
        target: pyOCD's name of the chip that it sits beside, if it was asked and knows.
    """

    uid: str
    description: str
    target: str = ""


def simulate(devices: Sequence[SimulatedDevice]) -> None:
    """From now on this process sees these simulated devices on its bus, and no real ones."""
    from bench.targets.simprobe import pyocd_targets, usb_backend  # noqa: PLC0415  only where asked for

    usb_backend.install(devices)
    pyocd_targets.install()


def find_probes(*, identify: bool = False) -> tuple[FoundProbe, ...]:
    """Return the probes that are attached; none is no error.

    Args:
        identify: ask each what it sits beside, which opens it: not while another program may use it.
    """
    try:
        probes = ConnectHelper.get_all_connected_probes(blocking=False)
    except (exceptions.Error, DAPAccessIntf.Error, usb.core.USBError) as error:
        raise ProbeProtocolError(f"the probes cannot be listed: {error}") from error
    return tuple(
        FoundProbe(
            str(probe.unique_id),
            str(probe.description).replace("\n", " "),
            _beside(probe) if identify else "",
        )
        for probe in probes
    )


def _beside(probe: Any) -> str:
    with suppress(Exception):  # a probe in use, or one that does not know: both are no news
        info = probe.associated_board_info
        return str(info.target or "").lower() if info is not None else ""
    return ""


def choose(uid: str) -> Any:
    """Return the one probe with exactly this id; pyOCD itself takes any whose id contains it."""
    probes = ConnectHelper.get_all_connected_probes(blocking=False)
    exact = [probe for probe in probes if same_id(uid, str(probe.unique_id))]
    if len(exact) == 1:
        return exact[0]
    if exact:
        raise WrongProbeError(
            f"{len(exact)} probes say that their id is {uid}",
            where=uid,
            hint="clones of a probe may share one serial number: attach one of them at a time",
        )
    present = ", ".join(str(probe.unique_id) for probe in probes) or "none"
    near = [probe for probe in probes if uid.lower() in str(probe.unique_id).lower()]
    if near:
        raise WrongProbeError(
            f"no probe has the id {uid}, {len(near)} have ids that contain it; attached: {present}",
            where=uid,
            hint="give probe_uid in bench.toml in full",
        )
    raise ProbeMissingError(
        f"the probe {uid} is not attached; attached: {present}",
        where=uid,
        hint=absent_hint(uid),
    )


def is_attached(uid: str) -> bool:
    """Whether a probe with exactly this id is on a bus now."""
    with suppress(Exception):  # the answer matters, not how the bus failed
        return any(same_id(uid, probe.uid) for probe in find_probes())
    return False
