"""Mend a device step by step: what is tried after which fault, what is left alone for the rest of the run."""

from __future__ import annotations

import logging
import shlex
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from bench import process
from bench.errors import LabError, PowerCommandError, QuarantinedError, ToolMissingError
from bench.locks import device_lock
from bench.site import site_path

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from bench.site import Device

_LOG = logging.getLogger(__name__)
_Result = TypeVar("_Result")
_POWER_S = 60.0
_QUARANTINE_AFTER = 2
RETRY, RESET, REFLASH, POWER_CYCLE = "retry", "reset", "reflash", "power-cycle"
SLOWER = "slower-clock"
# What is tried, in order, when a device fails so. What needs a hand, or would erase, is not tried.
LADDER = {
    "probe-missing": (POWER_CYCLE,),
    "probe-protocol": (RETRY, RESET, SLOWER, POWER_CYCLE),
    "no-power": (RETRY, RESET, SLOWER, POWER_CYCLE),
    "flash-protocol": (RETRY, RESET, POWER_CYCLE),
    "flash-verify": (REFLASH, POWER_CYCLE),
    "no-boot": (RESET, REFLASH, POWER_CYCLE),
    "hang": (POWER_CYCLE,),
    "serial-missing": (POWER_CYCLE,),
    "serial-gone": (RETRY, POWER_CYCLE),
    "serial-corrupt": (RETRY,),
}


class Recovery:
    """The devices that a run may use, and how often each of them has failed.

    Args:
        devices: in the order in which they are taken.
        lock_wait_s: how long to wait for a device that another run holds.
        ladder: code of a fault -> what is tried, in order.
    """

    def __init__(
        self, devices: Sequence[Device], lock_wait_s: float, ladder: Mapping[str, tuple[str, ...]]
    ) -> None:
        self._devices = {device.uid: device for device in devices}
        self._lock_wait_s = lock_wait_s
        self._ladder = ladder
        self._failed: dict[str, int] = {}

    def run(
        self, once: Callable[[Device, int, str, Path], _Result]
    ) -> tuple[_Result, tuple[str, ...]]:
        """Do it; when it fails, try the steps that may mend this kind of fault, each once."""
        with device_lock(self._usable(), self._lock_wait_s) as (uid, lock):
            device = self._devices[uid]
            tried: list[str] = []
            step = before = ""
            while True:
                try:
                    if step == POWER_CYCLE:
                        cycle_power(device, before)
                    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
                        result = once(device, lock, step, Path(folder))
                    self._failed[uid] = 0
                    return result, tuple(tried)
                except LabError as fault:
                    step = self._next_step(fault, tried, device)
                    if not step:
                        self._failed[uid] = self._failed.get(uid, 0) + 1
                        fault.where = device.name
                        fault.hint = fault.hint.replace("--device=NAME", f"--device={device.name}")
                        fault.what += f" (tried: {', '.join(tried)})" if tried else ""
                        raise
                    _LOG.warning("%s: %s; next: %s", device.name, fault.what, step)
                    tried.append(step)
                    before = fault.what

    def _next_step(self, fault: LabError, tried: list[str], device: Device) -> str:
        """Return what to try next for this fault, or nothing."""
        for step in self._ladder.get(fault.code, ()):
            if step not in tried and (step != POWER_CYCLE or device.power_command):
                return step
        return ""

    def _usable(self) -> list[str]:
        """Return the devices that have not failed again and again."""
        usable = [u for u in self._devices if self._failed.get(u, 0) < _QUARANTINE_AFTER]
        if not usable:
            names = ", ".join(device.name for device in self._devices.values())
            raise QuarantinedError(
                f"{names} failed {_QUARANTINE_AFTER} times in a row and is left alone for the rest of this run",
                where=names,
                hint="the first of its errors says why; `bench doctor` looks at it again",
            )
        return usable


def cycle_power(device: Device, before: str = "") -> None:
    """Switch a device off and on by its site file's command.

    Args:
        device: which.
        before: the fault that this is to mend, for the message.

    Raises:
        PowerCommandError: the command is not there, failed, or took longer than a minute.
    """
    command = shlex.split(device.power_command)
    because = f"; it was to mend this: {before}" if before else ""
    hint = f"power_command of {device.name} in {site_path().name}; try it by hand"
    try:
        done = process.run(command, deadline_s=_POWER_S)
    except ToolMissingError as missing:
        raise PowerCommandError(
            f"power_command cannot be run: {missing.what}{because}", where=device.name, hint=hint
        ) from missing
    told = (done.stderr or done.stdout).decode("utf-8", "replace").strip()[-200:]
    if done.timed_out:
        raise PowerCommandError(
            f"power_command was not done after {_POWER_S:g} s and was ended{because}",
            where=device.name,
            hint=hint,
        )
    if done.exit_code != 0:
        raise PowerCommandError(
            f"power_command ended with {done.exit_code}: {told or 'not a word'}{because}",
            where=device.name,
            hint=hint,
        )
