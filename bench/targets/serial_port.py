"""Serial ports: the one that belongs to a probe, opened for this process alone, read under a deadline."""

from __future__ import annotations

import errno
import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import serial
from serial.tools import list_ports

from bench.errors import SerialGoneError, SerialMissingError, SerialTakenError
from bench.site import same_id

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_READ_S = 0.05
_RETURN_S = 3.0  # a probe that re-enumerates after a reset is back within two
_POLL_S = 0.05
_TEXT = frozenset(range(0x20, 0x7F)) | {0x09, 0x0A, 0x0D}


@dataclass(frozen=True)
class FoundPort:
    """A serial port of this machine.

    Attributes:
        serial_number: of the USB device that it belongs to, empty if none.
    """

    path: str
    serial_number: str
    description: str


def find_ports() -> tuple[FoundPort, ...]:
    """Return this machine's serial ports that belong to USB devices, in order of their names."""
    found = [
        FoundPort(port.device, port.serial_number or "", port.description or "")
        for port in list_ports.comports()
        if port.vid is not None
    ]
    return tuple(sorted(found, key=lambda port: port.path))


def port_of(uid: str, ports: Sequence[FoundPort], vcom: int = 0) -> FoundPort:
    """Return the port of the probe with this id.

    Args:
        uid: the probe's unique id.
        ports: what there is.
        vcom: which of several.

    Raises:
        SerialMissingError: there is none, or not so many.
    """
    mine = [port for port in ports if same_id(uid, port.serial_number)]
    if vcom < len(mine):
        return mine[vcom]
    others = ", ".join(f"{port.path} ({port.serial_number or 'no id'})" for port in ports) or "none"
    raise SerialMissingError(
        f"the probe {uid} has {len(mine)} serial ports, number {vcom} is wanted; ports: {others}",
        hint="plug in the board's serial cable, or name the port with `serial` in bench.toml",
    )


def looks_like_another_baud_rate(data: bytes) -> bool:
    """Whether most of a stream that holds no line is no text: framing at another rate gives that."""
    return len(data) >= 64 and sum(byte not in _TEXT for byte in data) > len(data) // 4


class SerialPort:
    """An open port; a thread takes what comes, so that nothing waits in a probe that would drop it.

    Args:
        find: returns the port's path; asked again after the port vanished.
        baud: rate.

    Raises:
        SerialTakenError: another program has it open, or this user may not.
        SerialMissingError: `find` found none.
        SerialGoneError: what it found is not there.
    """

    def __init__(self, find: Callable[[], str], baud: int) -> None:
        self._find = find
        self._baud = baud
        self._arrived = threading.Condition()
        self._pending = bytearray()
        self._lost: Exception | None = None
        self._closing = False
        self.reopened = 0
        self._serial = self._open()
        self._thread = self._start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the port."""
        self._closing = True
        self._thread.join()
        self._serial.close()

    def _open(self) -> serial.Serial:
        path = self._find()
        try:
            return serial.Serial(path, self._baud, timeout=_READ_S, exclusive=True)
        except serial.SerialException as error:
            number = error.errno or getattr(error.__context__, "errno", None)
            if number in (errno.EAGAIN, errno.EBUSY) or "lock" in str(error):
                raise SerialTakenError(
                    f"{path} is open in another program", hint="`fuser -v` names it; close it"
                ) from error
            if number in (errno.EACCES, errno.EPERM):
                raise SerialTakenError(
                    f"this user may not open {path}", hint="join the group dialout, log in again"
                ) from error
            raise SerialGoneError(f"{path} cannot be opened: {error}") from error

    def _start(self) -> threading.Thread:
        thread = threading.Thread(target=self._listen, daemon=True, name="serial port")
        thread.start()
        return thread

    def _listen(self) -> None:
        try:
            while not self._closing:
                data = self._serial.read(self._serial.in_waiting or 1)
                if data:
                    with self._arrived:
                        self._pending += data
                        self._arrived.notify()
        except (serial.SerialException, OSError, TypeError) as error:  # TypeError: closed meanwhile
            with self._arrived:
                self._lost = error
                self._arrived.notify()

    def discard(self) -> None:
        """Forget what came until now: it is not of the run that begins."""
        self._serial.reset_input_buffer()
        with self._arrived:
            self._pending.clear()

    def take(self, wait_s: float) -> bytes:
        """Return what has come since the last time, or the first that comes within `wait_s`.

        Raises:
            SerialGoneError: the port vanished and did not come back.
        """
        with self._arrived:
            if not self._pending and self._lost is None:
                self._arrived.wait(wait_s)
            data = bytes(self._pending)
            self._pending.clear()
            lost = self._lost
        if lost is not None and not data:
            self._come_back(lost)
        return data

    def _come_back(self, lost: Exception) -> None:
        """Open the port again when it is back, under whatever name."""
        self._thread.join()
        self._serial.close()
        until = time.monotonic() + _RETURN_S
        while True:
            try:
                self._serial = self._open()
                break
            except (SerialGoneError, SerialMissingError) as error:
                if time.monotonic() >= until:
                    raise SerialGoneError(
                        f"the serial port vanished ({lost}) and was not back after {_RETURN_S:g} s",
                        hint="a loose cable or a probe that crashed: unplug it and plug it in again",
                    ) from error
                time.sleep(_POLL_S)
        self._lost = None
        self.reopened += 1
        self._thread = self._start()
