"""Layer by layer: what every instruction wrote on the device, against host int8 and against float.

*Host int8* are the results of the lowered graph's nodes, run by ExecuTorch's Python operators with the oracle's
corrections; *float* is the model as it was before quantization, batch norms folded, at the point that was quantized
into the result (`bench/export/intermediates.py`). The device works on its own intermediates, so the first layer that
differs is at fault, and those after it may only hand its fault on.
"""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from shutil import copytree
from typing import TYPE_CHECKING

import numpy as np

from bench import intermediate, pipeline, programs
from bench.bundle import Options
from bench.errors import ExportError, InputError, LabError, WireValueError
from bench.intermediate import Intermediate
from bench.metrics import DTYPES
from bench.metrics.error_float import snr_db
from bench.program import OperatorInfo, Program
from bench.pte import read_pte
from bench.verdict import FP32_RELATIVE_TOLERANCE

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bench.pipeline import Attempt, Case
    from bench.programs import Say

_BYTES_PER_S = 8_000  # of the slowest port that a dump may have to go through
Results = Mapping[tuple[int, int], bytes]


@dataclass(frozen=True)
class ChannelDiff:
    """A channel (dimension 1) in which elements differ from host int8.

    Attributes:
        largest: difference in quantization steps; in the result's own unit where it is not quantized.
    """

    channel: int
    differing: int
    largest: float


@dataclass(frozen=True)
class Stuck:
    """A channel whose every element is at a rail of int8.

    Attributes:
        dead_in_float: the float model's channel does not move either, so quantization is not to blame.
    """

    channel: int
    rail: int
    dead_in_float: bool


@dataclass(frozen=True)
class LayerDiff:
    """One instruction's result on the device and what it should be.

    Attributes:
        compared: whether host int8 has this result; without, nothing is said of differences.
        differing: elements that differ from host int8; for results that are not quantized, by more than 1e-4 of the
            largest.
        largest: difference in quantization steps; in the result's own unit where it is not quantized.
        channels: those with differences, worst first.
        snr_db: against float; None without a float reference.
    """

    info: OperatorInfo
    dtype: str
    elements: int
    compared: bool
    differing: int
    largest: float
    in_steps: bool
    channels: tuple[ChannelDiff, ...]
    snr_db: float | None
    stuck: tuple[Stuck, ...]


@dataclass(frozen=True)
class Difference:
    """All layers of one run, in order of execution."""

    model: str
    scheme: str
    board: str
    samples: int
    oracle: str
    layers: tuple[LayerDiff, ...]

    @property
    def first(self) -> LayerDiff | None:
        """The first layer that differs from host int8; None if none does."""
        return next((layer for layer in self.layers if layer.differing), None)


def diff_model(case: Case, samples: int, say: Say, *, pte: Path | None = None) -> Difference:
    """Export with intermediates, run with every intermediate sent, and compare.

    Args:
        pte: run this program in the place of the one that is exported; its operators must be the same.

    Raises:
        LabError: no program, no image, a model without intermediates, or the run failed.
    """
    found = programs.ensure_programs([case], samples, say, intermediates=True)
    (program,) = found.values()
    if isinstance(program, LabError):
        raise program
    image = pipeline.ensure_images([case.board], say)[case.board.id]
    if isinstance(image, LabError):
        raise image
    with _with_pte(program, pte) as chosen:
        target = pipeline.target_for(case.board)
        return diff_program(chosen, pipeline.Attempt(case, chosen, image, target, pipeline.Plan()))


def diff_program(program: Program, attempt: Attempt) -> Difference:
    """Run a program that has its intermediates beside it, and compare.

    Raises:
        LabError: the program has no intermediates, or the run failed.
    """
    try:
        expected = intermediate.from_json((program.folder / intermediate.INDEX).read_text())
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ExportError(
            f"the program has no intermediates: {error}",
            where=str(program.folder),
            hint="bench diff needs the model, not a ready .pte",
        ) from error
    samples = program.manifest.sample_count
    sent = 1.4 * samples * sum(item.nbytes for item in expected)  # base64 and the lines' frames
    plan = replace(
        attempt.plan,
        options=Options(warmup=0, iterations=0, intermediates=True),
        samples=samples,
        deadline_s=60.0 + sent / _BYTES_PER_S + 1e-5 * program.manifest.macs * (2 + samples),
        deployment=False,
        estimate=False,
    )
    try:
        outcome = pipeline.run_case(replace(attempt, plan=plan))
    except pipeline.RunFailedError as failure:
        raise failure.fault from failure
    return Difference(
        model=program.manifest.model,
        scheme=program.manifest.scheme,
        board=attempt.case.board.id,
        samples=samples,
        oracle=program.manifest.oracle.name,
        layers=compare(program, expected, outcome.log.intermediates, samples),
    )


def compare(
    program: Program, expected: tuple[Intermediate, ...], device: Results, samples: int
) -> tuple[LayerDiff, ...]:
    """Compare what a device sent with the references beside the program, instruction by instruction."""
    by_index = {info.index: info for info in program.manifest.operators}
    return tuple(
        _layer(program.folder, by_index[item.index], item, device, samples) for item in expected
    )


def _layer(
    folder: Path, info: OperatorInfo, item: Intermediate, device: Results, samples: int
) -> LayerDiff:
    parts = [device.get((sample, item.index), b"") for sample in range(samples)]
    if any(len(part) != item.nbytes for part in parts):
        raise WireValueError(
            f"instruction {item.index} ({info.operator}) sent {[len(part) for part in parts]} bytes, its result has "
            f"{item.nbytes}"
        )
    got = _logical(b"".join(parts), item, item.dtype, samples)
    quantized = item.dtype == "int8" and item.scale > 0
    floats = None
    if item.float_node:
        raw = (folder / intermediate.float_file(item.index)).read_bytes()
        floats = _logical(raw, item, "float32", samples)
    real = (got - item.zero_point) * item.scale if quantized else got
    differing, largest = 0, 0.0
    channels: tuple[ChannelDiff, ...] = ()
    if item.has_host:
        host = _logical(
            (folder / intermediate.host_file(item.index)).read_bytes(), item, item.dtype, samples
        )
        differing, largest, channels = _differences(got, host, item)
    return LayerDiff(
        info=info,
        dtype=item.dtype,
        elements=got.size,
        compared=item.has_host,
        differing=differing,
        largest=largest,
        in_steps=item.dtype != "float32" or item.scale > 0,
        channels=channels,
        snr_db=None if floats is None else snr_db(floats, real),
        stuck=_stuck(got, floats, item),
    )


def _logical(raw: bytes, item: Intermediate, dtype: str, samples: int) -> NDArray[np.float64]:
    """Return (samples, channels, rest) of bytes that lie in memory as the program's tensor does.

    Channels are dimension 1; a batch larger than one counts as more samples.
    """
    stored = np.frombuffer(raw, DTYPES[dtype]).reshape(
        samples, *(item.shape[axis] for axis in item.dim_order)
    )
    order = [0, *(1 + axis for axis in np.argsort(item.dim_order))]
    values = stored.transpose(order).astype(np.float64)
    if len(item.shape) < 2:
        return values.reshape(samples, -1)
    return values.reshape(-1, item.shape[1], *values.shape[3:])


def _differences(
    got: NDArray[np.float64], host: NDArray[np.float64], item: Intermediate
) -> tuple[int, float, tuple[ChannelDiff, ...]]:
    distance = np.abs(got - host)
    distance[(got == host) | (np.isnan(got) & np.isnan(host))] = 0.0
    distance[np.isnan(distance)] = np.inf
    if item.dtype == "float32":
        if item.scale > 0:
            distance = distance / item.scale
        else:
            scale = float(np.abs(host[np.isfinite(host)]).max(initial=0.0)) or 1.0
            distance[distance <= FP32_RELATIVE_TOLERANCE * scale] = 0.0
    differs = distance > 0
    if not differs.any():
        return 0, 0.0, ()
    others = tuple(axis for axis in range(distance.ndim) if axis != 1)
    counts, worst = differs.sum(axis=others), distance.max(axis=others)
    channels = [
        ChannelDiff(int(c), int(counts[c]), float(worst[c])) for c in np.flatnonzero(counts)
    ]
    channels.sort(key=lambda one: (-one.largest, -one.differing, one.channel))
    return int(differs.sum()), float(distance.max()), tuple(channels)


def _stuck(
    got: NDArray[np.float64], floats: NDArray[np.float64] | None, item: Intermediate
) -> tuple[Stuck, ...]:
    if item.rails[0] == item.rails[1]:
        return ()
    others = tuple(axis for axis in range(got.ndim) if axis != 1)
    low, high = got.min(axis=others), got.max(axis=others)
    found = []
    for rail in item.rails:
        for channel in np.flatnonzero((low == rail) & (high == rail)):
            dead = floats is not None and float(np.ptp(floats[:, channel])) < item.scale
            found.append(Stuck(int(channel), int(rail), dead))
    return tuple(sorted(found, key=lambda one: one.channel))


@contextmanager
def _with_pte(program: Program, pte: Path | None) -> Iterator[Program]:
    """Give the program, or a copy of it with another .pte in its place."""
    if pte is None:
        yield program
        return
    try:
        data = pte.read_bytes()
    except OSError as error:
        raise InputError(f"cannot be read: {error}", where=str(pte)) from error
    given = [
        operator.operator
        for operator in read_pte(data, method=program.manifest.method, where=str(pte)).operators
    ]
    wanted = [operator.operator for operator in program.manifest.operators]
    if given != wanted:
        raise InputError(
            f"it has {len(given)} instructions, other ones than the {len(wanted)} that the model is exported to",
            where=str(pte),
            hint="compare a program with its own model",
        )
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        copy = Path(folder) / "program"
        copytree(program.folder, copy)
        (copy / "program.pte").write_bytes(data)
        manifest = replace(
            program.manifest, pte_bytes=len(data), pte_sha256=hashlib.sha256(data).hexdigest()
        )
        yield Program(copy, manifest)
