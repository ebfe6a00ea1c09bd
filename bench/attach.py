"""Which way a board is reached: a device on this bench, or what stands in for it."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from bench.catalogue import source_of
from bench.errors import InputError, ProbeMissingError, absent_hint
from bench.packs import find_pack
from bench.site import read_site, same_id, site_path
from bench.targets import fvp
from bench.targets.attached import attached
from bench.targets.device import DeviceTarget
from bench.targets.host import HostTarget
from bench.targets.qemu import PROGRAM, QemuTarget
from bench.targets.twin import TwinTarget
from bench.twin import machine_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from bench.board import Board
    from bench.site import Device
    from bench.targets import Target


class Mode(StrEnum):
    """What `--attach` says."""

    AUTO = "auto"  # a device if one is attached, else what stands in for it, and it is said
    HARDWARE = "hardware"  # a device, or an error within seconds
    TWIN = "twin"  # never look for a device
    FVP = "fvp"  # Arm's FVP of the board, or an error


@dataclass(frozen=True)
class Attach:
    """What the user wants to be used.

    Attributes:
        device: one device by name; empty for any of the board's.
        pack_dirs: where CMSIS-Packs may lie.
        fvp: program of the FVP; empty for the one on PATH.
    """

    mode: Mode = Mode.AUTO
    device: str = ""
    pack_dirs: tuple[Path, ...] = ()
    fvp: str = ""


def target_for(board: Board, attach: Attach, say: Callable[[str], None]) -> Target:
    """Return the way to reach a board.

    Raises:
        InputError: the named device is another board, or no FVP models the board.
        ProbeMissingError: a device is wanted and none is attached, or there is nothing to stand in for it.
        PackMissingError: the chip needs a CMSIS-Pack that is not here.
        ToolMissingError: the FVP is not installed.
    """
    if attach.mode is Mode.FVP:
        if board.id != fvp.BOARD:
            raise InputError(
                f"no FVP models a {board.id}", where=board.id, hint=f"--board={fvp.BOARD}"
            )
        target = fvp.FvpTarget(attach.fvp or fvp.PROGRAM)
        target.find()  # before anything is exported or built for it
        return target
    if attach.mode is Mode.TWIN:
        return _stand_in(board, f"--attach={Mode.TWIN.value}", say)
    devices = _devices(board, attach)
    if not devices:
        missing = f"{site_path().name} names no device of the board {board.id}"
        if attach.mode is Mode.HARDWARE:
            raise ProbeMissingError(
                missing,
                where=board.id,
                hint="`bench boards --attached --write` drafts the file from what is attached",
            )
        return _stand_in(board, missing, say)
    usable, present = devices_present(devices)
    simulated = [device.name for device in usable if device.simulated]
    if simulated and board.evidence == "silicon" and attach.mode is Mode.AUTO and not attach.device:
        return _stand_in(board, f"{', '.join(simulated)} is simulated and measures nothing", say)
    if usable:
        pack = board.pyocd.pack if board.pyocd is not None else ""
        packs = (find_pack(pack, attach.pack_dirs),) if pack else ()
        return DeviceTarget(usable, read_site().bus if simulated else (), packs=packs)
    names = ", ".join(f"{device.name} ({device.uid})" for device in devices)
    if attach.mode is Mode.HARDWARE or attach.device:
        raise ProbeMissingError(
            f"no probe of {board.id} is attached; looked for {names}; attached: "
            f"{', '.join(sorted(present)) or 'none'}",
            where=board.id,
            hint=f"{absent_hint(devices[0].uid)}; --attach=auto lets an emulator stand in",
        )
    if board.qemu is not None:
        say(
            f"NOT MEASURED ON HARDWARE: none of {names} is attached; {board.id} is emulated instead"
        )
    return _stand_in(board, f"none of {names} is attached", say)


def devices_present(devices: Sequence[Device]) -> tuple[list[Device], set[str]]:
    """Return which of these devices are attached, and the ids of all probes that were seen.

    Real ones alone, if there is one: what a part and what a simulated device gives must never be mixed.
    """
    present: set[str] = set()
    usable: list[Device] = []
    for kind in (False, True):
        some = [device for device in devices if bool(device.simulated) is kind]
        if some and not usable:
            seen = {probe.uid for probe in attached(read_site().bus if kind else ()).probes}
            usable = [one for one in some if any(same_id(one.uid, uid) for uid in seen)]
            present |= seen
    return usable, present


def _devices(board: Board, attach: Attach) -> Sequence[Device]:
    if not attach.device:
        return read_site().of_board(board.id)
    device = read_site().named(attach.device)
    if device.board != board.id:
        raise InputError(
            f"the device {device.name} is a {device.board}, not a {board.id}",
            hint=f"--board={device.board}",
        )
    return (device,)


def stand_in(board: Board) -> QemuTarget | None:
    """Return what can run a board's code on this machine; None if nothing can, or QEMU is not installed."""
    if shutil.which(PROGRAM) is None:
        return None
    if board.qemu is not None:
        return QemuTarget()
    machine = machine_of(board)
    return TwinTarget(machine) if machine is not None else None


def _stand_in(board: Board, why: str, say: Callable[[str], None]) -> Target:
    if board.host is not None:
        return HostTarget()
    if board.qemu is not None:
        return QemuTarget()
    machine = machine_of(board)
    if machine is not None:
        image = "the board's own image"
        if source_of(board) is not board:
            image = f"the image of {machine.id}, for {board.id} has no firmware"
        say(
            f"NOT MEASURED ON HARDWARE: {why}. The twin of {board.id} runs instead: sizes and fit are of {image}, "
            f"instructions and outputs of the same code on QEMU's {machine.id}, cycles are an estimate"
        )
        return TwinTarget(machine)
    raise ProbeMissingError(
        f"{board.id} runs on a device alone, and there is none: {why}",
        where=board.id,
        hint="attach one (docs/boards_on_a_bench.md), or take a board of `bench boards` that QEMU runs",
    )
