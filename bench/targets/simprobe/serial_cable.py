"""The device's serial port: what its UART sends goes into a pseudo-terminal, with the faults of real cables.

A virtual COM port drops what comes while nobody has it open, and so does this one.
"""

from __future__ import annotations

import os
import select
import threading
import time
import tty
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from bench.targets.simprobe.faults import Faults

_POLL_S = 0.02
_GATHER_S = 0.002
_TRICKLE_BYTE = b"."


class SerialCable:
    """One port; `link` is a symbolic link to the terminal of the moment.

    Args:
        uart: returns the descriptors to read from and to write to; others after a dead chip got power again.
        link: stable path of the port.
        faults: what is to go wrong.
        on_open: called when a host opens the port of a device whose DTR is wired to its reset.
    """

    def __init__(
        self,
        uart: Callable[[], tuple[int, int]],
        link: Path,
        faults: Faults,
        on_open: Callable[[], None],
    ) -> None:
        self._uart = uart
        self._on_open = on_open
        self._link = link
        self._faults = faults
        self._since_reset = 0
        self.watched_from = -1
        self._master = -1
        self.read_by_host = False
        self._plug()
        threading.Thread(target=self._pump, daemon=True, name="serial cable").start()

    def _plug(self) -> None:
        """Make a terminal; until a host opens it, it is hung up."""
        self._master, slave = os.openpty()
        tty.setraw(slave)
        os.set_blocking(self._master, False)
        path = os.ttyname(slave)
        os.close(slave)
        temporary = self._link.with_suffix(".new")
        temporary.unlink(missing_ok=True)
        temporary.symlink_to(path)
        temporary.replace(self._link)

    def unplug(self) -> None:
        """Take the port away, as when the cable is pulled."""
        if self._master >= 0:
            self._link.unlink(missing_ok=True)
            master, self._master = self._master, -1
            os.close(master)

    def plug(self) -> None:
        """Bring the port back; it may have another name."""
        if self._master < 0:
            self._plug()

    def note_reset(self) -> None:
        """The device was reset: count its bytes from here, noise first."""
        self._since_reset = 0
        self.watched_from = -1
        if self._faults.serial_noise:
            self._deliver(self._faults.serial_noise)

    def note_debugger(self) -> None:
        """A debugger came: remember how many bytes the device had sent since its reset, if it is the first."""
        if self.watched_from < 0:
            self.watched_from = self._since_reset

    def _pump(self) -> None:
        while True:
            self._look_for_host()
            data = b""
            with suppress(OSError, ValueError):  # closed: the chip died
                source, _ = self._uart()
                if not select.select([source], [], [], _POLL_S)[0]:
                    if self._faults.serial_trickle:
                        self._deliver(_TRICKLE_BYTE)
                    continue
                time.sleep(_GATHER_S)  # bytes come one by one: take many at a time
                data = os.read(source, 1 << 16)
            if data:
                self._deliver(self._damaged(data))
            else:
                time.sleep(_POLL_S)

    def _look_for_host(self) -> None:
        if self._master < 0:
            self.read_by_host = False
            return
        watch = select.poll()
        watch.register(self._master, select.POLLIN)
        events = watch.poll(0)
        was_read, self.read_by_host = self.read_by_host, _is_open(events)
        if self.read_by_host and not was_read and self._faults.reset_on_open:
            self._on_open()
        if self.read_by_host and events:
            with suppress(OSError):
                self._send_to_chip(os.read(self._master, 4096))

    def _send_to_chip(self, data: bytes) -> None:
        with suppress(OSError):
            os.write(self._uart()[1], data)

    def _damaged(self, data: bytes) -> bytes:
        """Return what arrives of what the chip sent."""
        faults, start = self._faults, self._since_reset
        self._since_reset += len(data)
        end = self._since_reset
        if faults.serial_mute or faults.serial_trickle:
            return b""
        if not _damages(faults):
            return data
        out = bytearray()
        for offset, byte in enumerate(data, start):
            if any(at <= offset < at + count for at, count in faults.serial_lose.items()):
                continue
            if faults.serial_lose_each and offset % faults.serial_lose_each == 0:
                continue
            out.append(byte)
            if offset in faults.serial_double:
                out.append(byte)
        for at in [at for at, count in faults.serial_lose.items() if at + count <= end]:
            del faults.serial_lose[at]  # lost once, not again when it is sent again
        gone = faults.serial_gone_after_bytes
        if gone is not None and end > gone:
            faults.serial_gone_after_bytes = None
            self._deliver(bytes(out[: max(0, gone - start)]))
            self.unplug()
            if faults.serial_back:
                self.plug()
            return b""
        return _at_half_the_rate(bytes(out)) if faults.serial_mangle else bytes(out)

    def _deliver(self, data: bytes) -> None:
        """Hand bytes to the host; it takes them at its own speed, or loses them if it has not opened the port."""
        while data and self._master >= 0:
            self._look_for_host()
            if not self.read_by_host:
                return
            try:
                data = data[os.write(self._master, data) :]
            except BlockingIOError:
                select.select([], [self._master], [], 0.05)
            except OSError:
                return


def _damages(faults: Faults) -> bool:
    """Whether some byte may arrive otherwise than it was sent."""
    lost = faults.serial_lose or faults.serial_lose_each
    changed = faults.serial_double or faults.serial_mangle
    return bool(lost or changed or faults.serial_gone_after_bytes is not None)


def _is_open(events: list[tuple[int, int]]) -> bool:
    """Whether some program has the other end of a pseudo-terminal open."""
    return not any(event & select.POLLHUP for _, event in events)


def _at_half_the_rate(data: bytes) -> bytes:
    """Return what a receiver sees that listens at twice the sender's rate: every bit twice, in two frames a byte."""
    out = bytearray()
    for byte in data:
        bits = [0] + [byte >> i & 1 for i in range(8)] + [1]
        doubled = [bit for bit in bits for _ in (0, 1)]
        for start in (0, 10):
            out.append(sum(bit << i for i, bit in enumerate(doubled[start + 1 : start + 9])))
    return bytes(out)
