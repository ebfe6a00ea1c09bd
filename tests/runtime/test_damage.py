"""Programs that are damaged or no programs: a named error or a run, never a fault.

The runner holds program and arena in blocks of their exact size under AddressSanitizer and UBSan, so every read or
write outside of them fails these tests.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.runtime.conftest import VECTORS, Runner, flatbuffer_bytes

LFS_POINTER = (
    b"version https://git-lfs.github.com/spec/v1\n"
    b"oid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\nsize 12345\n"
)
# `make test-flips` takes all programs: two minutes of a quiet machine.
PROGRAMS = sorted(VECTORS.glob("*.pte"))
SMALL_BYTES = 24 * 1024
FLIPPED = [p for p in PROGRAMS if os.environ.get("BENCH_FLIPS") or p.stat().st_size < SMALL_BYTES]
# What may come of one changed byte; `ok`: it changed a weight, a parameter, or nothing that is read.
NAMED = {
    "ok",
    "argument-count",
    "argument-kind",
    "argument-layout",
    "argument-scalar-type",
    "argument-shape",
    "argument-value",
    "arena-too-small",
    "control-flow-unsupported",
    "delegate-unsupported",
    "device-unsupported",
    "dynamic-shape-unsupported",
    "external-data-unsupported",
    "index-out-of-range",
    "input-unsupported",
    "instruction-unsupported",
    "layout-unsupported",
    "method-missing",
    "mutable-state-unsupported",
    "operator-missing",
    "output-unsupported",
    "program-corrupt",
    "program-foreign",
    "program-truncated",
    "scalar-type-unsupported",
    "tensor-misaligned",
    "tensor-out-of-bounds",
    "tensor-shape-invalid",
    "tensor-unplanned",
}


@pytest.mark.parametrize("model", ["linear", "ds_cnn", "mobilenet_v1_025"])
def test_truncated(runner: Runner, model: str) -> None:
    """A prefix of a program is refused: the extended header says how long it should be."""
    counts = runner.truncate(VECTORS / f"{model}_cortex-m4.pte", 300)

    assert sum(counts.values()) == 300
    assert set(counts) <= {"program-foreign", "program-truncated"}


@pytest.mark.parametrize("cpu", ["cortex-m4", "cortex-m55"])
def test_any_byte_of_a_small_program_changed(runner: Runner, cpu: str) -> None:
    """Each byte in turn is changed; what still loads is run."""
    program = VECTORS / f"linear_{cpu}.pte"

    counts = runner.flip(program, 0, 1, 1)

    assert sum(counts.values()) >= program.stat().st_size - 1
    assert set(counts) <= NAMED
    assert counts["ok"] < sum(counts.values())


@pytest.mark.parametrize(("model", "step"), [("autoencoder", 5), ("ds_cnn", 31), ("resnet8", 67)])
def test_bytes_of_a_large_program_changed(runner: Runner, model: str, step: int) -> None:
    """Every few bytes of the flatbuffer are changed: tables, shapes, plans, arguments."""
    program = VECTORS / f"{model}_cortex-m55.pte"

    counts = runner.flip(program, flatbuffer_bytes(program), step, 1)

    assert set(counts) <= NAMED


@pytest.mark.parametrize("program", FLIPPED, ids=lambda program: str(program.stem))
def test_109_inverted_bytes(runner: Runner, program: Path) -> None:
    """The experiment that crashed ExecuTorch's host runtime 22 times (field case S17): here nothing crashes.

    A run with another output is a changed weight or parameter: no runtime can see it, the bundle's CRC does.
    """
    counts = runner.invert(program, 109, program.with_suffix(".in.bin"))

    print(program.stem, counts)  # noqa: T201  the figures of docs/robustness.md: pytest -rP
    assert sum(counts.values()) == 109
    assert set(counts) <= {"refused", "failed", "same", "other"}
    assert counts["refused"] > 0


@pytest.mark.parametrize(
    ("content", "error"),
    [
        (b"", "program-foreign"),
        (b"<!DOCTYPE html><html><head><title>404</title></head></html>", "program-foreign"),
        (LFS_POINTER, "program-foreign"),
        (b"\x1c\x00\x00\x00TFL3" + bytes(100), "program-foreign"),
        (b"\x3c\x00\x00\x00ET11eh00" + bytes(100), "program-foreign"),
        (b"\x3c\x00\x00\x00ET12", "program-truncated"),
        (b"\x3c\x00\x00\x00ET12" + bytes(100), "program-corrupt"),
    ],
    ids=["empty", "html", "lfs-pointer", "tflite", "older", "only-magic", "zeros"],
)
def test_foreign(runner: Runner, content: bytes, error: str) -> None:
    """What is no program of this format is called foreign, by its identifier."""
    assert error == runner.run_bytes(content).facts["error"]


@pytest.mark.parametrize("skew", [1, 4, 8])
def test_misaligned(runner: Runner, skew: int) -> None:
    """A program that does not start at a multiple of 16 is refused before it is read."""
    program, given = VECTORS / "linear_cortex-m4.pte", VECTORS / "linear_cortex-m4.in.bin"

    run = runner.run(program, given, program_skew=skew)

    assert run.facts["error"] == "program-misaligned"


def test_method_missing(runner: Runner) -> None:
    """A name that is no plan of the program is an error of its own."""
    program = VECTORS / "linear_cortex-m4.pte"

    assert runner.run(program, method="forwards").facts["error"] == "method-missing"


def test_operator_missing(runner: Runner) -> None:
    """An operator without a kernel is reported with its full name and the first instruction that needs it."""
    damaged = (VECTORS / "linear_cortex-m4.pte").read_bytes()
    damaged = damaged.replace(b"cortex_m::quantized_linear", b"cortex_m::quantized_linea_")

    facts = runner.run_bytes(damaged).facts

    assert facts["error"] == "operator-missing"
    assert facts["operator"] == "cortex_m::quantized_linea_.out"
    assert facts["instruction"] == "1"
