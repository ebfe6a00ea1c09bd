"""Find or start the process of a simulated device, and work its switches."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Self

from bench.errors import TargetError

if TYPE_CHECKING:
    from types import TracebackType

_START_DEADLINE_S = 20.0
_POLL_S = 0.01
_IDLE_S = 60.0
_SOCKET = "device"


def runtime_folder() -> Path:
    """Return where the sockets of simulated devices lie: short, because socket paths must be."""
    named = os.environ.get("BENCH_SIMULATED_DIR")
    return Path(named) if named else Path(tempfile.gettempdir()) / f"cortex-m-bench-{os.getuid()}"


@dataclass(frozen=True)
class SimulatedDevice:
    """A simulated device by its kind and its probe's id.

    Attributes:
        folder: where its socket and its port lie; the same for everybody on this machine.
    """

    kind: str
    uid: str

    @property
    def folder(self) -> Path:
        """Its runtime folder."""
        return runtime_folder() / re.sub(r"[^A-Za-z0-9_.-]", "_", f"{self.uid}.{self.kind}")

    @property
    def tty(self) -> Path:
        """Path of its serial port."""
        return self.folder / "tty"

    def connect(self, purpose: str) -> socket.socket:
        """Connect to its process, starting it if there is none.

        Raises:
            TargetError: it does not come up.
        """
        until = time.monotonic() + _START_DEADLINE_S
        started: subprocess.Popen[bytes] | None = None
        while True:
            connection = socket.socket(socket.AF_UNIX)
            try:
                connection.connect(str(self.folder / _SOCKET))
                connection.sendall(purpose.encode() + b"\n")
                return connection
            except OSError:
                connection.close()
            if started is None:
                started = self._start()
            if started.poll() not in (None, 0) or time.monotonic() > until:
                log = (self.folder / "server.log").read_text(errors="replace")
                raise TargetError(
                    f"the simulated device {self.uid} does not come up: {log.strip()[-400:]}"
                )
            time.sleep(_POLL_S)

    def _start(self) -> subprocess.Popen[bytes]:
        self.folder.mkdir(parents=True, exist_ok=True)
        command = [
            *(sys.executable, "-m", "bench.targets.simprobe.server"),
            *(self.kind, self.uid, str(self.folder), str(_IDLE_S)),
        ]
        with (self.folder / "server.log").open("wb") as log:
            return subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                cwd=Path(__file__).resolve().parents[3],
            )

    def is_plugged_in(self) -> bool:
        """Whether it is on the bus."""
        with self.connect("look") as connection:
            return connection.makefile("rb").readline() == b"here\n"


class Bench:
    """A hand at the bench of a simulated device: its cable, its power switch, its faults."""

    def __init__(self, device: SimulatedDevice) -> None:
        self.device = device
        self._connection = device.connect("control")
        self._stream = self._connection.makefile("rwb")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Leave."""
        self._stream.close()
        self._connection.close()

    def _order(self, **order: object) -> object:
        self._stream.write(json.dumps(order).encode() + b"\n")
        self._stream.flush()
        return json.loads(self._stream.readline())

    def do(self, what: str) -> object:
        """Plug, unplug, power_off, power_on, power_cycle, lock, mend, end, or ask for the status."""
        return self._order(do=what)

    def status(self) -> dict[str, int]:
        """Return what can be seen from outside."""
        told = self.do("status")
        assert isinstance(told, dict)
        return told

    def arm(self, **faults: object) -> None:
        """Arm faults, by the names of `Faults`."""
        self._order(
            set={k: v.decode("latin-1") if isinstance(v, bytes) else v for k, v in faults.items()}
        )

    def read(self, address: int, nbytes: int) -> bytes:
        """Read memory past everything."""
        return bytes.fromhex(str(self._order(read=[address, nbytes])))

    def write(self, address: int, data: bytes) -> None:
        """Write memory past everything, Flash included."""
        self._order(write=[address, data.hex()])


def main() -> None:
    """Run as `python -m bench.targets.simprobe.client KIND UID ORDER`: a power command for a site file, for one."""
    kind, uid, order = sys.argv[1:]
    with Bench(SimulatedDevice(kind, uid)) as bench:
        print(bench.do(order))  # noqa: T201  the command's answer


if __name__ == "__main__":
    main()
