"""What pyOCD, pyusb or Python raised while a probe was used, as the lab's own error of the kind that it was."""

from __future__ import annotations

import errno
import re
from typing import TYPE_CHECKING

import usb.core
from pyocd.core import exceptions
from pyocd.probe.pydapaccess.dap_access_api import DAPAccessIntf

from bench.errors import (
    FlashProtocolError,
    LabError,
    NoPowerError,
    PackMissingError,
    ProbeMissingError,
    ProbeProtocolError,
    ProbeTakenError,
)
from bench.targets.probes import is_attached

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


def _chain(error: BaseException) -> Iterator[BaseException]:
    """Yield an exception and what it came from."""
    seen: BaseException | None = error
    while seen is not None:
        yield seen
        seen = seen.__cause__ or seen.__context__


def explain(error: BaseException, doing: str, uid: str) -> LabError:
    """Make the lab's error of whatever pyOCD, pyusb or Python raised while it was `doing` something."""
    chain = list(_chain(error))
    for link in chain:
        if isinstance(link, LabError):
            return link
    told = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    return _fault_of_cable(error, chain, doing, uid, told) or _fault_of_chip(
        error, chain, doing, uid, told
    )


def _fault_of_cable(
    error: BaseException, chain: Sequence[BaseException], doing: str, uid: str, told: str
) -> LabError | None:
    """Return what is wrong between this machine and the probe, None if it is behind the probe."""
    numbers = {link.errno for link in chain if isinstance(link, usb.core.USBError)}
    if numbers & {errno.EBUSY, errno.EACCES, errno.EPERM} or "claim interface" in str(error):
        return ProbeTakenError(
            f"the probe {uid} cannot be opened: another program has it, or this user may not ({told})",
            where=uid,
            hint="end other debuggers; for permissions install udev rules (docs/boards_on_a_bench.md)",
        )
    trouble = (usb.core.USBError, exceptions.ProbeError, DAPAccessIntf.DeviceError)
    if any(isinstance(link, trouble) for link in chain) and not is_attached(uid):
        return ProbeMissingError(
            f"the probe {uid} vanished while {doing} ({told})",
            where=uid,
            hint="cable or power of the hub; what was being written is incomplete until the next run",
        )
    return None


_WAIT = (exceptions.TransferTimeoutError, DAPAccessIntf.TransferTimeoutError)
# Of pyOCD's exceptions only their texts tell a chip that is silent from a probe that answers nonsense.
_SILENCE = ("No ACK", "Target not detected")


def _fault_of_chip(
    error: BaseException, chain: Sequence[BaseException], doing: str, uid: str, told: str
) -> LabError:
    """Return what is wrong behind the probe, by the kind of pyOCD's exception."""
    if isinstance(error, exceptions.FlashFailure):
        return FlashProtocolError(
            f"the flash controller failed while {doing}: {error}",
            where=uid,
            hint="a write-protected or worn sector, or a clock the algorithm does not expect",
        )
    if isinstance(error, exceptions.TargetSupportError):
        return _unknown_chip(error, uid)
    if any(silence in str(link) for link in chain for silence in _SILENCE):
        return NoPowerError(
            f"the probe answers, the chip does not, while {doing} ({told})",
            where=uid,
            hint="is the board powered, is the debug cable in, is the chip held in reset?",
        )
    return ProbeProtocolError(
        f"the debug connection is not sound: {_kind_of_trouble(error, chain)} while {doing} ({told})",
        where=uid,
        hint="a long or loose debug cable, a slow hub; the probe's firmware may want an update",
    )


def _kind_of_trouble(error: BaseException, chain: Sequence[BaseException]) -> str:
    """Return in the lab's words what a transfer came to."""
    texts = " ".join(str(link) for link in chain)
    if isinstance(error, _WAIT):
        return "the debug port answers WAIT for ever"
    if isinstance(error, exceptions.TransferFaultError):
        return "the chip's bus refused an access"
    if "Timeout reading" in texts:
        return "the probe did not answer a command in time"
    if "response is for command" in texts:
        return "the probe answered with the reply to another command"
    return "a transfer failed"


def _unknown_chip(error: exceptions.TargetSupportError, uid: str) -> LabError:
    """Return what is wrong with the description of the chip: it is missing, or its pack cannot be used."""
    match = re.search(r"Target type (\S+) not recognized", str(error))
    if match is None:
        return PackMissingError(
            f"the CMSIS-Pack that describes the chip cannot be used: {error}",
            where=uid,
            hint="fetch it again; `bench packs add FILE` looks into it",
        )
    return PackMissingError(
        f"pyOCD does not know the chip {match.group(1)}",
        where=uid,
        hint="a CMSIS-Pack describes it: its id belongs into board.toml ([pyocd] pack), `bench packs` lists those that "
        "are known; if one is named already, it describes other chips",
    )
