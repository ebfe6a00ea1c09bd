"""The lines of a run as they come, by number, so that a host knows which it lacks and asks for those alone."""

from __future__ import annotations

import re
import time
import zlib

_FRAME = re.compile(rb"@(\d{1,9}) ([a-z0-9_]+)[^*@\n\r]{0,480} \*([0-9a-f]{8})\r?\n")
_LINE_BYTES = 512


class LineStore:
    """Whole lines by number; bytes are fed as they come."""

    def __init__(self) -> None:
        self.frames: dict[int, bytes] = {}
        self.received = bytearray()
        self.last = -1  # the latest line that came
        self.end = -1  # number of the end line, once it came
        self.restarted = False
        self.measured = False  # everything that is timed is over
        self.disturbed = False  # something came twice or out of order
        self.arrived: dict[int, float] = {}  # clock lines that came in their turn: when, in seconds
        self._looked = 0

    def feed(self, data: bytes, at_s: float | None = None) -> None:
        """Take bytes that came at `at_s` by the monotonic clock; now, if it is left out."""
        now_s = time.monotonic() if at_s is None else at_s
        self.received += data
        while match := _FRAME.search(self.received, self._looked):
            number, kind = int(match.group(1)), match.group(2)
            frame = match.group(0)
            if zlib.crc32(frame[: frame.rindex(b" *")]) != int(match.group(3), 16):
                self._looked = match.start() + 1
                continue
            self._looked = match.end()
            if kind == b"clock" and number > self.last:
                self.arrived[number] = now_s
            self._keep(number, kind, frame)
        # a line that has begun and not ended is no longer than a line
        self._looked = max(self._looked, len(self.received) - _LINE_BYTES)

    def _keep(self, number: int, kind: bytes, frame: bytes) -> None:
        if kind == b"hello" and self.frames and self.end < 0:
            self.restarted = True
        self.measured |= kind == b"measured"
        reminder = kind == b"measured" and number == self.last
        self.disturbed |= number < self.last or (number in self.frames and not reminder)
        self.frames[number] = frame
        self.last = number
        if kind == b"end":
            self.end = number

    @property
    def complete(self) -> bool:
        """Whether the end line and every line before it came."""
        return self.end >= 0 and len(self.frames) == self.end + 1

    def missing(self) -> list[tuple[int, int]]:
        """Return the ranges of numbers that lack, both ends included; of a run without end, up to the latest line."""
        top = self.end if self.end >= 0 else max(self.frames, default=-1)
        ranges: list[tuple[int, int]] = []
        for number in range(top + 1):
            if number in self.frames:
                continue
            if ranges and ranges[-1][1] == number - 1:
                ranges[-1] = (ranges[-1][0], number)
            else:
                ranges.append((number, number))
        return ranges

    def in_order(self) -> bytes:
        """Return the lines by number, nothing else."""
        return b"".join(frame for _, frame in sorted(self.frames.items()))
