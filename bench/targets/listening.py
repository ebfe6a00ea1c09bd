"""Listening to a device: while it measures, with no debugger on the bus; then, with one, to everything else.

The order is DESIGN's: latency first, detached; outputs and dumps after it through the mailbox, attached, untimed.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from bench.bundle import Command, State
from bench.errors import (
    HangError,
    NoBootError,
    ProbeProtocolError,
    SerialBaudError,
    SerialCorruptError,
)
from bench.targets.mailbox import beside
from bench.targets.serial_port import looks_like_another_baud_rate

if TYPE_CHECKING:
    from bench.targets.line_store import LineStore
    from bench.targets.mailbox import Mailbox
    from bench.targets.orders import Order
    from bench.targets.serial_port import SerialPort

_TAKE_S = 0.2
_QUIET_S = 2.0
_LAST_LINE = 0xFFFFFFFF
_REPAIR_ROUNDS = 3
_RANGES_A_ROUND = 64
_SHOWN = 8


# --- while it measures ---


def until_measured(order: Order, port: SerialPort, store: LineStore) -> bool:
    """Take lines until everything that is timed is over; whether outputs and dumps are still to be ordered.

    The mailbox is not looked at, which might disturb what is measured, unless not one line came in a boot's time, or
    at the deadline. A device whose `measured` was lost says it again.
    """
    started = time.monotonic()
    while not store.measured and store.end < 0:
        store.feed(port.take(_TAKE_S))
        now = time.monotonic()
        _check_restart(order, store)
        silent = not store.frames and now > started + min(order.boot_s, order.deadline_s)
        if silent or now > started + order.deadline_s:
            return _state_after_silence(order, port, store)
    return store.measured and store.end < 0


def _check_restart(order: Order, store: LineStore) -> None:
    if store.restarted:
        raise NoBootError(
            "the device began anew in the middle of its run",
            where=order.uid,
            hint="a watchdog, a supply that sags, or a second debugger or program that resets it",
        )


def _state_after_silence(order: Order, port: SerialPort, store: LineStore) -> bool:
    """Say why nothing comes any more, unless it is only that lines were lost; else as `until_measured`."""
    received = bytes(store.received)
    if not store.frames and looks_like_another_baud_rate(received):
        raise SerialBaudError(
            f"{len(received)} bytes came that look like those of another baud rate than {order.baud}",
            where=order.uid,
            hint="board.toml's baud and the board's clock tree must agree",
        )
    with beside(order) as mailbox:
        state = mailbox.state
        if state == State.BUSY and (store.frames or not received):
            _explain(order, mailbox, store)
    if state != State.BUSY and (store.frames or port.reopened):
        return state == State.MEASURED
    what = f"{len(received)} bytes of noise" if received else "not a byte"
    ran = ", though the device ran and has measured" if state != State.BUSY else ""
    raise SerialCorruptError(
        f"{what} and not one line came through the port{ran}",
        where=order.uid,
        hint="another program reads the port too, or it is another board's: `serial`, `vcom` in bench.toml",
    )


def _explain(order: Order, mailbox: Mailbox, store: LineStore) -> None:
    """Raise for a device that is busy and silent."""
    if store.frames:
        raise HangError(
            f"the device went silent after line {store.last}; it stands at {mailbox.where()}",
            where=order.uid,
            hint="`bench run` repeats the program alone; a longer --deadline if it is only slow",
        )
    raise NoBootError(
        f"the device was flashed and started, and says nothing; it stands at {mailbox.where()}",
        where=order.uid,
        hint="wrong clock or pins in board.cpp, or boot pins that start something else",
    )


# --- what is not timed ---


def until_ended(order: Order, mailbox: Mailbox, port: SerialPort, store: LineStore) -> None:
    """Order outputs and dumps, and take lines until the end line, or until the device says that it has ended."""
    mailbox.tell(Command.GO_ON)
    _take_all(order, mailbox, port, store, to_the_end_line=True)


def repair(order: Order, mailbox: Mailbox, port: SerialPort, store: LineStore) -> None:
    """Ask for the missing lines through the mailbox; what was timed comes from the device's journal.

    Raises:
        SerialCorruptError: lines stay lost after several rounds.
    """
    for _ in range(_REPAIR_ROUNDS):
        ranges = store.missing()[:_RANGES_A_ROUND]
        if store.end < 0:
            ranges.append((max(store.frames, default=-1) + 1, _LAST_LINE))
        for first, last in ranges:
            mailbox.tell(Command.SEND_AGAIN, first, last)
            _take_all(order, mailbox, port, store)
        if store.complete:
            return
    told = ", ".join(f"{a}" if a == b else f"{a} to {b}" for a, b in store.missing()[:_SHOWN])
    raise SerialCorruptError(
        f"lines stay lost after {_REPAIR_ROUNDS} rounds of asking again: {told or 'the end line'}",
        where=order.uid,
        hint="a full serial buffer, a second reader of the port or a wrong baud rate loses bytes",
    )


def _take_all(
    order: Order,
    mailbox: Mailbox,
    port: SerialPort,
    store: LineStore,
    *,
    to_the_end_line: bool = False,
) -> None:
    """Take lines until the device has sent what was ordered and nothing more comes."""
    last_heard = time.monotonic()
    until = last_heard + order.deadline_s
    while not (to_the_end_line and store.end >= 0):
        data = port.take(_TAKE_S)
        store.feed(data)
        if to_the_end_line:  # a hello that is sent again is no restart
            _check_restart(order, store)
        now = time.monotonic()
        if data:
            last_heard = now
            continue
        if mailbox.waits_for_orders:
            store.feed(port.take(_TAKE_S))
            return
        if now > last_heard + _QUIET_S and not mailbox.took_the_order:
            raise ProbeProtocolError(
                "the device does not take orders through its mailbox",
                where=order.uid,
                hint="RAM that the debug port does not see as the core does (a data cache), or firmware of another lab",
            )
        if now > until:
            _explain(order, mailbox, store)
