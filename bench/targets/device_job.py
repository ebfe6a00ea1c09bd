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
from typing import TYPE_CHECKING

from bench.bundle import Command, pack_mailbox
from bench.errors import LabError, ProbeProtocolError, SerialGoneError, SerialMissingError
from bench.targets import probes, pyocd
from bench.targets.line_store import LineStore
from bench.targets.listening import repair, until_ended, until_measured
from bench.targets.mailbox import beside, chip_of
from bench.targets.orders import Order, tell, tell_failure
from bench.targets.serial_port import FoundPort, SerialPort, find_ports, port_of
from bench.targets.simprobe.client import SimulatedDevice

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

_LOG = logging.getLogger(__name__)
_PR_SET_PDEATHSIG = 1


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


def _open_port(order: Order) -> SerialPort:
    """Open the probe's port; where the probe itself is not attached, that is what is said."""
    try:
        return SerialPort(lambda: _find_port(order), order.baud)
    except (SerialMissingError, SerialGoneError):
        probes.choose(order.uid)
        raise


def _parts(order: Order) -> list[tuple[int, bytes]]:
    return [(address, Path(file).read_bytes()) for address, file in order.parts]


# --- what can be done ---


def _connect(order: Order) -> AbstractContextManager[pyocd.Debugger]:
    """Open the session that an order asks for."""
    return pyocd.connect(order.uid, chip_of(order), mode=order.mode, clock_hz=order.clock_hz)


def _list(order: Order) -> None:
    found = probes.find_probes(identify=order.do == "identify")
    tell(
        "list",
        probes=[asdict(probe) for probe in found],
        ports=[asdict(port) for port in _ports(order)],
    )


def _look(order: Order) -> None:
    with _connect(order):
        tell("looked")


def _recover(order: Order) -> None:
    pyocd.recover(order.uid, chip_of(order))
    tell("erased")


def _flash(order: Order) -> None:
    with _connect(order) as debugger:
        report = debugger.flash(_parts(order), everything=order.everything)
        tell("flashed", **asdict(report))
        debugger.reset_halt()


def _run(order: Order) -> None:
    """Flash, reset, write the mailbox, let go, listen; then order what is not timed, and what was lost."""
    # The port first: opening one may reset a board, and what it drops before is lost.
    tell("doing", what="opening the serial port")
    with _open_port(order) as port:
        tell("doing", what="flashing")
        with _connect(order) as debugger:
            report = debugger.flash(_parts(order), everything=order.everything)
            tell("flashed", **asdict(report))
            debugger.reset_halt()
            debugger.write(order.mailbox, pack_mailbox(int(order.nonce), Command.STAY))
            port.discard()
        # Closing the session is what starts the core: nothing of the debugger is on the bus while it measures.
        tell("doing", what="measuring")
        started = time.monotonic()
        store = LineStore()
        try:
            lost = _converse(order, port, store)
        finally:
            _keep(order, store, port)
        tell(
            "ran",
            seconds=time.monotonic() - started,
            repaired=lost,
            reopened=port.reopened,
            arrived=store.arrived,
        )


def _converse(order: Order, port: SerialPort, store: LineStore) -> int:
    """Hear the whole run; return how many lines were lost on the way and sent again."""
    goes_on = until_measured(order, port, store)
    if not goes_on and store.complete:
        return 0  # it refused or failed, and said so whole
    tell("doing", what="sending its outputs")
    with beside(order) as mailbox:
        if goes_on:
            until_ended(order, mailbox, port, store)
        lost = sum(last - first + 1 for first, last in store.missing()) or int(store.end < 0)
        if not store.complete:
            tell("doing", what="sending lost lines again")
            repair(order, mailbox, port, store)
    return lost


def _keep(order: Order, store: LineStore, port: SerialPort) -> None:
    """Write what came, and the lines in order if that is something else."""
    folder = Path(order.folder)
    (folder / "received.bin").write_bytes(store.received)
    tidy = store.complete and (store.disturbed or port.reopened > 0)
    (folder / "transcript.bin").write_bytes(store.in_order() if tidy else store.received)


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
            probes.simulate(_bus(order))
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
