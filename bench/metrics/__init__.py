"""Metrics: each file here makes measures of a run; adding one is adding a file.

A metric is a module with `measure(run: Run) -> list[Measure]`, and `attach(run: Run) -> dict[str, bytes]` if it has
files to put beside the record. It looks only at the run: the program's facts and
references, the image's facts, the board's facts and the device's log.
"""

from __future__ import annotations

import importlib
import math
import pkgutil
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from bench.record import Evidence, Measure

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bench.board import Board
    from bench.deployment import Deployment, DeploymentRun
    from bench.image import Image
    from bench.program import Program
    from bench.wire import RunLog

DTYPES = {
    "float32": np.float32,
    "int8": np.int8,
    "uint8": np.uint8,
    "int16": np.int16,
    "int32": np.int32,
    "int64": np.int64,
    "bool": np.bool_,
}


@dataclass(frozen=True)
class Run:
    """What a metric may look at.

    Attributes:
        samples: how many of the program's samples the device ran.
        deployment: the deployment image and its run; None where there is none to ship (the host).
        without_float_ends: the deployment image without the kernels that only float inputs and outputs need.
        operator_est_cycles: estimated cycles by program instruction; empty without a timing model.
        repeats: logs of further resets with the same bundle.
        more: logs of further runs for the sake of their windows alone.
        wanted_width: of the interval of the latency's median, as a fraction of it, where samples vary; 0 if none is.
    """

    board: Board
    program: Program
    image: Image
    log: RunLog
    samples: int
    deployment: tuple[Deployment, DeploymentRun] | None = None
    without_float_ends: Deployment | None = None
    operator_est_cycles: dict[int, float] = field(default_factory=dict)
    repeats: tuple[RunLog, ...] = ()
    more: tuple[RunLog, ...] = ()
    wanted_width: float = 0.0

    def ticks(self, window: str) -> tuple[int, ...]:
        """Return every sample of a window, in order, of all runs from reset."""
        logs = (self.log, *self.repeats, *self.more)
        return tuple(ticks for log in logs for ticks in log.ticks.get(window, ()))

    @property
    def seen(self) -> Evidence:
        """Evidence of what the device sent and used: a part's, or an emulator's of its core."""
        return Evidence.SILICON if self.board.evidence == "silicon" else Evidence.EMULATED

    def device_output(self, index: int) -> NDArray[np.generic]:
        """Return output `index` of every sample as the device sent it: (samples, elements), memory order."""
        raw = b"".join(self.log.outputs[sample, index] for sample in range(self.samples))
        return self._shaped(raw, self.program.manifest.outputs[index].dtype)

    def reference(self, kind: str, index: int) -> NDArray[np.generic]:
        """Return output `index` of a host reference, `host_int8` or `float` (float32), in the device's order."""
        info = self.program.manifest.outputs[index]
        dtype = "float32" if kind == "float" else info.dtype
        raw = (self.program.folder / f"{kind}_{index}.bin").read_bytes()
        count = math.prod(info.shape) * np.dtype(DTYPES[dtype]).itemsize
        return self._shaped(raw[: self.samples * count], dtype)

    def real_output(self, index: int) -> NDArray[np.float64]:
        """Return output `index` as `device_output`, in float64, with an int8 end's scale and zero point applied."""
        info = self.program.manifest.outputs[index]
        values = self.device_output(index).astype(np.float64)
        return values if info.scale == 0.0 else (values - info.zero_point) * info.scale

    def labels(self) -> NDArray[np.int32]:
        """Return the labels of the samples that ran."""
        raw = (self.program.folder / "labels.bin").read_bytes()
        return np.frombuffer(raw, np.int32)[: self.samples]

    def _shaped(self, raw: bytes, dtype: str) -> NDArray[np.generic]:
        return np.frombuffer(raw, DTYPES[dtype]).reshape(self.samples, -1)


def measure_all(run: Run) -> tuple[Measure, ...]:
    """Return the measures of every metric, by file name."""
    found: list[Measure] = []
    for module in _modules():
        found += module.measure(run)
    return tuple(found)


def attach_all(run: Run) -> dict[str, bytes]:
    """Return the files of every metric that has an `attach(run)`: suffix -> bytes, to lie beside the record."""
    found: dict[str, bytes] = {}
    for module in _modules():
        if hasattr(module, "attach"):
            found |= module.attach(run)
    return found


def _modules() -> list[Any]:
    names = sorted(info.name for info in pkgutil.iter_modules(__path__))
    return [importlib.import_module(f"{__name__}.{name}") for name in names]
