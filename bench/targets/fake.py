"""A device that says what it is told to: for tests of everything that comes after the wire."""

from __future__ import annotations

import base64
import zlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from bench.bundle import FLAG_CLOCK_CHECK, flags_of, iterations_of
from bench.wire import Transcript, frame, read_lines

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.targets import Request

_CHUNK_BYTES = 288
CLOCK_TENTHS = (0, 1, 2, 24, 25, 26)  # docs/wire.md: when the clock lines are due


def _undamaged(raw: bytes, _run: int) -> bytes:
    return raw


@dataclass
class FakeTarget:
    """Answers a request with a well-formed transcript, then lets `damage` change its bytes.

    Attributes:
        outputs: (sample, index) -> bytes that the device is to send.
        ticks: ticks of every window.
        latency_ticks: of measured inference i of run n, called with (n, i); None for `ticks`.
        damage: what happens to the bytes on their way; called with the run's number from 0.
        changes: replaces fields of the hello, by key.
        clock_rate: of the counter by this machine's clock, as a fraction of what the board's file says.
    """

    outputs: dict[tuple[int, int], bytes]
    ticks: int = 1600
    damage: Callable[[bytes, int], bytes] = _undamaged
    changes: dict[str, str] = field(default_factory=dict)
    latency_ticks: Callable[[int, int], int] | None = None
    timed_out: bool = False
    runs: int = 0
    attachment: str = "emulator"
    clock_rate: float = 1.0

    def run(self, request: Request) -> Transcript:
        """Return the transcript of one run."""
        raw = self.damage(self.speak(request), self.runs)
        self.runs += 1
        return Transcript(
            raw,
            0,
            timed_out=self.timed_out,
            overflowed=False,
            seconds=0.1,
            arrived={
                line.seq: line.number("ticks") / request.board.clock_hz / self.clock_rate
                for line in read_lines(raw)[0]
                if line.kind == "clock"
            },
        )

    def version(self) -> str:
        """The fake has one version."""
        return "fake 1"

    def _latency(self, i: int) -> int:
        return self.ticks if self.latency_ticks is None else self.latency_ticks(self.runs, i)

    def speak(self, request: Request) -> bytes:
        """Return the bytes of a healthy run."""
        hello = {
            "board": request.board.id,
            "build": request.image.build_id,
            "nonce": f"{request.nonce:016x}",
            "bundle": request.bundle.crc32,
            "bundle_bytes": str(len(request.bundle.data)),
            "engine": "lab",
            "engine_version": "0.1",
            "counter": "systick",
            "counter_hz": str(request.board.clock_hz),
            "wire": "1",
        } | self.changes
        bodies = ["hello " + " ".join(f"{key}={value}" for key, value in hello.items())]
        bodies += [
            "counter moved=1 overhead=0 wrap_bits=24 wrap_instructions=5 wraps_seen=1",
            f"load ticks={self.ticks} instructions=3",
        ]
        bodies += [
            f"pool name={name} have=65536 used=1024"
            for name in ("arena", "planned", "method", "temporary")
        ]
        bodies += [f"measure name=latency_first i=0 ticks={self.ticks} pre=160 post=80"]
        bodies += [
            f"measure name=latency i={i} ticks={self._latency(i)} pre=160 post=80"
            for i in range(iterations_of(request.bundle.data))
        ]
        if flags_of(request.bundle.data) & FLAG_CLOCK_CHECK:
            hz = request.board.clock_hz
            bodies += [
                f"clock i={i} ticks={hz * tenths // 10}" for i, tenths in enumerate(CLOCK_TENTHS)
            ]
        for (sample, index), data in self.outputs.items():
            for offset in range(0, len(data), _CHUNK_BYTES):
                text = base64.b64encode(data[offset : offset + _CHUNK_BYTES]).decode()
                bodies.append(f"output sample={sample} index={index} offset={offset} data={text}")
            bodies.append(
                f"output_end sample={sample} index={index} bytes={len(data)} crc={zlib.crc32(data):08x}"
            )
        bodies.append("pool name=stack have=8192 used=900")
        bodies.append(f"end status=ok lines={len(bodies) + 1}")
        return b"".join(frame(seq, body) for seq, body in enumerate(bodies))
