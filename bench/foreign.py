"""A ready .pte of the user's becomes a `Program`: its facts are read from it, its inputs are made or given."""

from __future__ import annotations

import hashlib
import io
from pathlib import Path

import numpy as np

from bench.cache import PROGRAMS, folder_atomically, write_atomically
from bench.errors import InputError
from bench.model import FORWARD
from bench.program import NO_ORACLE, Finding, Manifest, Oracle, Program, TensorInfo
from bench.pte import read_pte

_SEED = 20240917  # any fixed number: the same file always gets the same inputs


def _doubts(path: Path, cpu: str) -> tuple[Finding, ...]:
    """Return what cannot be known of a ready .pte."""
    missing = "a ready .pte comes without expected outputs: nothing says whether these are right"
    found = (Finding("no-host-reference", path.name, missing),)
    if cpu:
        return found
    unknown = "cpu unknown: the program does not say for which it was lowered, so its scratch may be another cpu's"
    return (*found, Finding("cpu-unknown", path.name, unknown))


def _made_input(info: TensorInfo, generator: np.random.Generator) -> bytes:
    """Return random bytes of the input's type: normal for floats, uniform for integers."""
    count = info.nbytes // np.dtype(info.dtype).itemsize
    if info.dtype.startswith("float"):
        return generator.standard_normal(count).astype(info.dtype).tobytes()
    limits = (
        (0, 2) if info.dtype == "bool" else (np.iinfo(info.dtype).min, np.iinfo(info.dtype).max)
    )
    return (
        generator.integers(limits[0], limits[1], count, dtype=np.int64).astype(info.dtype).tobytes()
    )


def read_input(path: Path, info: TensorInfo) -> bytes:
    """Read one input from raw bytes in the program's layout, or from a .npy of the logical shape.

    Raises:
        InputError: unreadable, or of another size, type or shape than the program's input.
    """
    wanted = (
        f"{info.dtype} {list(info.shape)}, dim order {list(info.dim_order)}, {info.nbytes} bytes"
    )
    try:
        if path.suffix != ".npy":
            data = path.read_bytes()
            if len(data) != info.nbytes:
                raise InputError(f"{len(data)} bytes, the program wants {wanted}", where=str(path))
            return data
        array = np.load(path, allow_pickle=False)
    except (OSError, ValueError) as error:
        raise InputError(f"cannot be read: {error}", where=str(path)) from error
    if array.shape != info.shape or array.dtype.name != info.dtype:
        raise InputError(
            f"{array.dtype.name} {list(array.shape)}, the program wants {wanted}", where=str(path)
        )
    return np.ascontiguousarray(array.transpose(info.dim_order)).tobytes()


def foreign_program(path: Path, inputs: tuple[Path, ...] = (), method: str = "") -> Program:
    """Make a `Program` of a .pte that this lab did not export (or of one that it did, without its references).

    Args:
        path: the .pte.
        inputs: one file an input of the program; none at all makes seeded random inputs.
        method: the one that runs; empty for `forward`.

    Raises:
        InputError: the file or an input cannot be read, or the number of inputs is wrong.
        ProgramError: it is no usable .pte.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", where=str(path)) from error
    facts = read_pte(data, method=method or FORWARD, where=str(path))
    if inputs and len(inputs) != len(facts.inputs):
        raise InputError(
            f"{len(inputs)} inputs given, the program has {len(facts.inputs)}", where=str(path)
        )
    generator = np.random.default_rng(_SEED)
    if inputs:
        blobs = [read_input(file, info) for file, info in zip(inputs, facts.inputs, strict=True)]
    else:
        blobs = [_made_input(info, generator) for info in facts.inputs]
    sha256 = hashlib.sha256(data).hexdigest()
    dataset = hashlib.sha256(b"".join(blobs)).hexdigest()
    quantized = any(
        operator.operator.startswith("cortex_m::quantized") for operator in facts.operators
    )
    manifest = Manifest(
        model=f"{path.stem}-{method}" if method else path.stem,
        cpu=facts.cpu,
        scheme="int8" if quantized else "fp32",
        trained=False,
        source_sha256=sha256,
        weights_sha256=sha256,
        calibration_sha256="",
        dataset_sha256=dataset,
        pte_sha256=sha256,
        pte_bytes=len(data),
        method=method or FORWARD,
        inputs=facts.inputs,
        outputs=facts.outputs,
        output_step=tuple(0.0 for _ in facts.outputs),
        planned_bytes=facts.planned_bytes,
        macs=0,
        int8_mac_fraction=0.0,
        operators=facts.operators,
        findings=_doubts(path, facts.cpu),
        oracle=Oracle(NO_ORACLE, ()),
        expect_host_int8=False,
        expect_float=False,
        sample_count=1,
        labelled=False,
        classes=0,
        versions={},
    )
    which = f"-{method}" if method else ""
    final = PROGRAMS / f"pte-{sha256[:16]}-{dataset[:16]}{which}"
    if not final.is_dir():
        with folder_atomically(final) as folder:
            (folder / "program.pte").write_bytes(data)
            for index, blob in enumerate(blobs):
                (folder / f"input_{index}.bin").write_bytes(blob)
            (folder / "program.json").write_text(manifest.to_json())
    return Program(final, manifest)


def write_output(path: Path, data: bytes, info: TensorInfo) -> None:
    """Write one output as raw bytes in the program's layout, or as .npy of the logical shape.

    Raises:
        InputError: the file cannot be written.
    """
    try:
        if path.suffix != ".npy":
            write_atomically(path, data)
            return
        stored = np.frombuffer(data, info.dtype).reshape(
            [info.shape[axis] for axis in info.dim_order]
        )
        buffer = io.BytesIO()
        np.save(buffer, stored.transpose(np.argsort(info.dim_order)))
        write_atomically(path, buffer.getvalue())
    except OSError as error:
        raise InputError(f"cannot be written: {error}", where=str(path)) from error
