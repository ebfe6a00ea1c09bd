"""The process that works with one device: it holds probe and port, and takes them with it when it is ended.

Run as `python -m bench.targets.device_job ORDER.json`; it answers with events on standard output, and with the bytes
that the device sent in files beside the order.
"""

from __future__ import annotations

import ctypes
import logging
import os
import signal
import sys
import time
from dataclasses import asdict
from pathlib import Path

from bench.board import ChipId
from bench.bundle import (
    MAILBOX_ARGUMENTS,
    MAILBOX_COMMAND,
    MAILBOX_STATE,
    Command,
    pack_mailbox,
)
from bench.errors import (
    HangError,
    LabError,
    NoBootError,
    ProbeProtocolError,
    SerialBaudError,
    SerialCorruptError,
)
from bench.image import symbolise
from bench.targets import pyocd
from bench.targets.line_store import LineStore
from bench.targets.orders import Order, tell, tell_failure
from bench.targets.serial_port import (
    FoundPort,
    SerialPort,
    find_ports,
    looks_like_another_baud_rate,
    port_of,
)
from bench.targets.simprobe.client import SimulatedDevice

_LOG = logging.getLogger(__name__)
_TAKE_S = 0.2
_QUIET_S = 1.0  # of silence after outputs began, until the device is asked whether it has ended
_REPAIR_ROUNDS = 3
_REPAIR_QUIET_S = 2.0
_RANGES_A_ROUND = 64
_LAST_LINE = 0xFFFFFFFF
_IDLE = 1
_SHOWN = 8
_PR_SET_PDEATHSIG = 1


def _chip(order: Order) -> pyocd.Chip:
    ids = tuple(ChipId(address=a, value=v, mask=m) for a, v, m in order.chip_id)
    return pyocd.Chip(order.target, order.cpu, ids, order.packs)


def _bus(order: Order) -> tuple[SimulatedDevice, ...]:
    return tuple(SimulatedDevice(kind, uid) for kind, uid in order.bus)


def _ports(order: Order) -> tuple[FoundPort, ...]:
    if not order.bus:
        return find_ports()
    return tuple(
        FoundPort(str(device.tty), device.uid, "simulated")
        for device in _bus(order)
        if device.is_plugged_in() and device.tty.exists()
    )


def _find_port(order: Order) -> str:
    return order.serial or port_of(order.uid, _ports(order), order.vcom).path


def _parts(order: Order) -> list[tuple[int, bytes]]:
    return [(address, Path(file).read_bytes()) for address, file in order.parts]


# --- what can be done ---


def _list(order: Order) -> None:
    found = pyocd.find_probes(identify=order.do == "identify")
    probes = [asdict(probe) for probe in found]
    tell("list", probes=probes, ports=[asdict(port) for port in _ports(order)])


def _look(order: Order) -> None:
    with pyocd.connect(order.uid, _chip(order), mode=order.mode):
        tell("looked")


def _recover(order: Order) -> None:
    pyocd.recover(order.uid, _chip(order))
    tell("erased")


def _flash(order: Order) -> None:
    with pyocd.connect(order.uid, _chip(order), mode=order.mode) as debugger:
        report = debugger.flash(_parts(order), everything=order.everything)
        tell("flashed", **asdict(report))
        debugger.reset_halt()


def _run(order: Order) -> None:
    """Flash, reset, write the mailbox, let go, listen; ask again for what was lost."""
    # The port first: opening one may reset a board, and what it drops before is lost.
    tell("doing", what="opening the serial port")
    with SerialPort(lambda: _find_port(order), order.baud) as port:
        tell("doing", what="flashing")
        with pyocd.connect(order.uid, _chip(order), mode=order.mode) as debugger:
            report = debugger.flash(_parts(order), everything=order.everything)
            tell("flashed", **asdict(report))
            debugger.reset_halt()
            debugger.write(order.mailbox, pack_mailbox(int(order.nonce), Command.STAY))
            port.discard()
        # Closing the session is what starts the core: nothing of the debugger is on the bus while it measures.
        tell("doing", what="running")
        started = time.monotonic()
        store = LineStore()
        try:
            _listen(order, port, store)
            lost = sum(last - first + 1 for first, last in store.missing()) or int(store.end < 0)
            if not store.complete:
                tell("doing", what="asking for lost lines")
                _repair(order, port, store)
        finally:
            _keep(order, store, port)
        tell("ran", seconds=time.monotonic() - started, repaired=lost, reopened=port.reopened)


def _keep(order: Order, store: LineStore, port: SerialPort) -> None:
    """Write what came, and the lines in order if that is something else."""
    folder = Path(order.folder)
    (folder / "received.bin").write_bytes(store.received)
    tidy = store.complete and (store.disturbed or port.reopened > 0)
    (folder / "transcript.bin").write_bytes(store.in_order() if tidy else store.received)


# --- listening ---


def _listen(order: Order, port: SerialPort, store: LineStore) -> None:
    """Take lines until the end line, or until the device says through its mailbox that it has ended."""
    started = time.monotonic()
    quiet_since, quiet_s = started, _QUIET_S
    while store.end < 0:
        data = port.take(_TAKE_S)
        store.feed(data)
        now = time.monotonic()
        quiet_since = now if data else quiet_since
        if store.restarted:
            raise NoBootError(
                "the device began anew in the middle of its run",
                where=order.uid,
                hint="a watchdog, a supply that sags, or a second debugger that resets it",
            )
        if not store.frames and now > started + min(order.boot_s, order.deadline_s):
            _explain_silence(order, store)
        if now > started + order.deadline_s:
            if _has_ended(order):
                return
            _explain_hang(order, store)
        if (store.outputs_began or port.reopened) and now > quiet_since + quiet_s:
            # Nothing is measured any more (or what was is lost): a look at the mailbox disturbs nothing.
            if _has_ended(order):
                return
            quiet_s *= 2


def _state(debugger: pyocd.Debugger, order: Order) -> int:
    return int.from_bytes(debugger.read(order.mailbox + MAILBOX_STATE, 4), "little")


def _has_ended(order: Order) -> bool:
    with pyocd.connect(order.uid, _chip(order), mode="attach") as debugger:
        return _state(debugger, order) == _IDLE


def _where(order: Order) -> str:
    """Halt the core and say where it stood; it is left halted by nobody: closing lets it go on."""
    with pyocd.connect(order.uid, _chip(order), mode="attach") as debugger:
        place = debugger.where()
        # Not lr: looking up one address in an image's line tables takes seconds.
        text = f"pc {symbolise(Path(order.elf), place.pc)}"
        return f"the core is locked up, {text}" if place.locked_up else text


def _explain_hang(order: Order, store: LineStore) -> None:
    raise HangError(
        f"the device went silent after line {store.last}; it stands at {_where(order)}",
        where=order.uid,
        hint="`bench run` repeats the program alone; a longer --deadline if it is only slow",
    )


def _explain_silence(order: Order, store: LineStore) -> None:
    """Not one line came: say why, as far as the port and the probe can tell."""
    received = bytes(store.received)
    if looks_like_another_baud_rate(received):
        raise SerialBaudError(
            f"{len(received)} bytes came that look like those of another baud rate than {order.baud}",
            where=order.uid,
            hint="board.toml's baud and the board's clock tree must agree",
        )
    ended = _has_ended(order)
    if received or ended:
        what = f"{len(received)} bytes of noise" if received else "not a byte"
        raise SerialCorruptError(
            f"{what} and not one line came through the port"
            + (", though the device ran to its end" if ended else ""),
            where=order.uid,
            hint="another program reads the port too, or it is another board's: `serial`, `vcom` in bench.toml",
        )
    raise NoBootError(
        f"the device was flashed and started, and says nothing; {_where(order)}",
        where=order.uid,
        hint="wrong clock or pins in board.cpp, or boot pins that start something else",
    )


# --- asking again ---


def _repair(order: Order, port: SerialPort, store: LineStore) -> None:
    """Ask for the missing lines through the mailbox, attached; their figures were taken before."""
    for _ in range(_REPAIR_ROUNDS):
        with pyocd.connect(order.uid, _chip(order), mode="attach") as debugger:
            ranges = store.missing()[:_RANGES_A_ROUND]
            if store.end < 0:
                ranges.append((max(store.frames, default=-1) + 1, _LAST_LINE))
            for first, last in ranges:
                _ask(order, debugger, first, last)
                _take_all(order, debugger, port, store)
        if store.complete:
            return
    told = ", ".join(f"{a}" if a == b else f"{a} to {b}" for a, b in store.missing()[:_SHOWN])
    raise SerialCorruptError(
        f"lines stay lost after {_REPAIR_ROUNDS} rounds of asking again: {told or 'the end line'}",
        where=order.uid,
        hint="a full serial buffer, a second reader of the port or a wrong baud rate loses bytes",
    )


def _ask(order: Order, debugger: pyocd.Debugger, first: int, last: int) -> None:
    debugger.write_word(order.mailbox + MAILBOX_ARGUMENTS, first)
    debugger.write_word(order.mailbox + MAILBOX_ARGUMENTS + 4, last)
    # The command last: the device looks at nothing else.
    debugger.write_word(order.mailbox + MAILBOX_COMMAND, Command.SEND_AGAIN)


def _take_all(order: Order, debugger: pyocd.Debugger, port: SerialPort, store: LineStore) -> None:
    """Take lines until the device has sent what was asked for and nothing more comes."""
    quiet_since = time.monotonic()
    until = quiet_since + order.deadline_s
    while True:
        data = port.take(_TAKE_S)
        store.feed(data)
        now = time.monotonic()
        if data:
            quiet_since = now
            continue
        command = int.from_bytes(debugger.read(order.mailbox + MAILBOX_COMMAND, 4), "little")
        if command == Command.NONE and _state(debugger, order) == _IDLE:
            store.feed(port.take(_TAKE_S))
            return
        if now > quiet_since + _REPAIR_QUIET_S and command != Command.NONE:
            raise ProbeProtocolError(
                "the device does not take orders through its mailbox", where=order.uid
            )
        if now > until:
            _explain_hang(order, store)


# --- the process ---


def _die_with_parent() -> None:
    """End when the process ends that started this one (Linux: prctl(2))."""
    parent = os.getppid()
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


_WORK = {
    "run": _run,
    "flash": _flash,
    "look": _look,
    "recover": _recover,
    "list": _list,
    "identify": _list,
}


def main() -> None:
    """Do the order; every fault is told by its code."""
    _die_with_parent()
    logging.basicConfig(level=logging.WARNING, format="%(levelname).1s %(name)s: %(message)s")
    code = 0
    try:
        order = Order.read(Path(sys.argv[1]))
        if order.bus:
            pyocd.simulate(_bus(order))
        _WORK[order.do](order)
    except LabError as fault:
        tell_failure(fault)
        code = 1
    except Exception as error:  # noqa: BLE001
        # The stack below is other people's: nothing may pass it unnamed.
        _LOG.exception("unexpected")
        tell_failure(ProbeProtocolError(f"{type(error).__name__}: {error}"))
        code = 1
    sys.stdout.flush()
    os._exit(code)  # threads of a probe that does not answer must not keep the process


if __name__ == "__main__":
    main()
