"""Simulated devices for tests, each on its own, and runs on them through the lab's real path."""

from __future__ import annotations

import functools
import itertools
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from bench.board import Board, find_boards
from bench.build import build_image
from bench.bundle import Bundle, Inject, Options, pack
from bench.cache import PROJECT
from bench.image import Image
from bench.site import Device
from bench.targets import Request
from bench.targets.device import DeviceTarget, Flashed
from bench.targets.simprobe.client import Bench, SimulatedDevice
from bench.wire import Expected, RunLog, Transcript, parse

UPSTREAM = PROJECT / "tests" / "data" / "upstream"
NONCE = 0x0123456789ABCDEF
DEADLINE_S = 60.0
_BOARD_OF = {"nrf52840": "nrf52840dk"}
_count = itertools.count()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Try a failed test of this folder once more, and list it as rerun.

    A simulated device is processes that talk within real deadlines, pyOCD's among them: a machine that stands still
    for ten seconds breaks them. A fault of the lab fails both times.
    """
    for item in items:
        if item.path.is_relative_to(Path(__file__).parent):
            item.add_marker(pytest.mark.flaky(reruns=1))


@functools.cache
def image_of(board_id: str) -> Image:
    """Build what changed and read the image."""
    return build_image(find_boards(board_id)[0])


@functools.cache
def bundle_of(
    model: str,
    samples: int = 1,
    *,
    iterations: int = 1,
    inject: Inject = Inject.NONE,
    cpu: str = "cortex-m4",
) -> Bundle:
    """Return a bundle of one of upstream's programs with its input, over and over."""
    pte = (UPSTREAM / f"{model}_{cpu}.pte").read_bytes()
    sample = (UPSTREAM / f"{model}_{cpu}.in.bin").read_bytes()
    return pack(pte, [[sample]] * samples, Options(warmup=0, iterations=iterations, inject=inject))


def output_of(model: str, cpu: str = "cortex-m4") -> bytes:
    """Return what upstream's runtime answered."""
    return (UPSTREAM / f"{model}_{cpu}.out.bin").read_bytes()


@dataclass
class Simulated:
    """A simulated device, a hand at its bench, and the board that the lab takes it for."""

    entry: Device
    bench: Bench
    board: Board
    targets: list[DeviceTarget] = field(default_factory=list)

    @property
    def device(self) -> SimulatedDevice:
        """The device's process."""
        return self.bench.device

    def target(self, **options: Any) -> DeviceTarget:
        """Return the lab's target; faults are not mended unless a ladder is given."""
        options = {"ladder": {}, "lock_wait_s": 5.0, **options}
        return DeviceTarget([self.entry], **options)

    def flash(self, **options: Any) -> Flashed:
        """Flash the board's image."""
        return self.target(**options).flash(self.board, image_of(self.board.id))

    def run(
        self, bundle: Bundle | None = None, *, deadline_s: float = DEADLINE_S, **options: Any
    ) -> tuple[RunLog, Transcript]:
        """Run a bundle; what comes back passed every check of the wire."""
        bundle = bundle or bundle_of("linear")
        image = options.pop("image", None) or image_of(self.board.id)
        request = Request(self.board, image, bundle, NONCE, deadline_s)
        target = options.pop("target", None) or self.target(**options)
        transcript = target.run(request)
        expected = Expected(self.board.id, image.build_id, f"{NONCE:016x}", bundle.crc32)
        return parse(transcript, expected), transcript


@pytest.fixture(autouse=True)
def own_folders(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Give each test its own devices and locks, in a folder whose name is short enough for sockets."""
    folder = Path(tempfile.mkdtemp(prefix="sim-"))
    monkeypatch.setenv("BENCH_SIMULATED_DIR", str(folder))
    monkeypatch.setenv("BENCH_LOCK_DIR", str(folder / "locks"))
    monkeypatch.delenv("BENCH_SITE", raising=False)
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def plug_in() -> Iterator[Callable[..., Simulated]]:
    """Return a function that plugs a new device in; all are ended with the test."""
    made: list[Simulated] = []

    def plug(kind: str = "mps2-an386", uid: str = "", board: str = "", **entry: Any) -> Simulated:
        name = f"dev{next(_count)}"
        known = find_boards(board or _BOARD_OF.get(kind, kind))[0]
        device = Device(name=name, board=known.id, probe_uid=uid, simulated=kind, **entry)  # type: ignore[arg-type]
        made.append(Simulated(device, Bench(SimulatedDevice(kind, device.uid)), known))
        return made[-1]

    yield plug
    for simulated in made:
        simulated.bench.do("end")
        simulated.bench.close()


@pytest.fixture
def an386(plug_in: Callable[..., Simulated]) -> Simulated:
    """A simulated MPS2 board with a Cortex-M4."""
    return plug_in()


@pytest.fixture
def nrf52(plug_in: Callable[..., Simulated]) -> Simulated:
    """A simulated nRF52840."""
    return plug_in("nrf52840")


def power_command(kind: str, uid: str) -> str:
    """Return a site file's command that switches a simulated device off and on."""
    return f"{sys.executable} -m bench.targets.simprobe.client {kind} {uid} power_cycle"
