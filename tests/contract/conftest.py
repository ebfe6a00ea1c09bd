"""A board, an image and a program made of nothing, for tests of what lies between the wire and the record."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
import pytest

from bench.board import Board, Qemu
from bench.image import Image, Region
from bench.pipeline import Attempt, Case, Plan
from bench.program import Manifest, OperatorInfo, Oracle, Program, TensorInfo
from bench.targets.fake import FakeTarget

OUTPUTS = np.array([[0.1, 0.9, 0.0], [0.8, 0.1, 0.1], [0.2, 0.3, 0.5]], np.float32)


@pytest.fixture
def board() -> Board:
    """An emulated board that nobody runs."""
    return Board(
        id="fake-m4",
        name="Fake",
        description="a board of the tests",
        cpu="cortex-m4",
        clock_hz=25_000_000,
        counter="systick",
        evidence="count",
        qemu=Qemu(machine="none", icount_shift=6),
    )


@pytest.fixture
def image(tmp_path: Path) -> Image:
    """An image with three kernels, a 1 MiB slot and a 64 KiB arena."""
    elf = tmp_path / "lab.elf"
    elf.write_bytes(b"not really an ELF")
    return Image(
        elf=elf,
        sha256="e" * 64,
        build_id="b" * 40,
        model=Region(0x100000, 0x200000),
        arena=Region(0x20000000, 0x20010000),
        stack=Region(0x20010000, 0x20012000),
        mailbox=0x20012000,
        code_bytes=20000,
        data_bytes=16,
        bss_bytes=400,
        kernels=frozenset({"a::one.out", "a::two.out", "cortex_m::quantized_linear.out"}),
    )


@pytest.fixture
def program(tmp_path: Path) -> Program:
    """A trained three-class int8 program with three labelled samples, all classified right."""
    folder = tmp_path / "program"
    folder.mkdir()
    (folder / "program.pte").write_bytes(b"PTE" * 10)
    (folder / "input_0.bin").write_bytes(bytes(3 * 16))
    (folder / "host_int8_0.bin").write_bytes(OUTPUTS.tobytes())
    (folder / "float_0.bin").write_bytes((OUTPUTS + np.float32(0.01)).tobytes())
    (folder / "labels.bin").write_bytes(np.array([1, 0, 2], np.int32).tobytes())
    sha = hashlib.sha256(b"x").hexdigest()
    manifest = Manifest(
        model="toy",
        cpu="cortex-m4",
        scheme="int8",
        trained=True,
        source_sha256=sha,
        weights_sha256=sha,
        calibration_sha256=sha,
        dataset_sha256=sha,
        pte_sha256=sha,
        pte_bytes=30,
        method="forward",
        inputs=(TensorInfo((1, 4), "float32", (0, 1), 16),),
        outputs=(TensorInfo((1, 3), "float32", (0, 1), 12),),
        output_step=(0.1,),
        planned_bytes=1024,
        macs=1000,
        int8_mac_fraction=1.0,
        operators=(
            OperatorInfo(0, "a::one.out", "net.first", "int8", 600),
            OperatorInfo(1, "a::two.out", "net.second", "int8", 400),
        ),
        findings=(),
        oracle=Oracle("python-operators", ("pool: integers",)),
        expect_host_int8=True,
        expect_float=True,
        sample_count=3,
        labelled=True,
        classes=3,
        versions={"torch": "2"},
    )
    return Program(folder, manifest)


@pytest.fixture
def target() -> FakeTarget:
    """A device that answers with exactly the host's outputs."""
    return FakeTarget({(sample, 0): OUTPUTS[sample].tobytes() for sample in range(3)})


@pytest.fixture
def attempt(board: Board, image: Image, program: Program, target: FakeTarget) -> Attempt:
    """A run that works."""
    return Attempt(Case(board, "toy", "int8"), program, image, target, Plan(deployment=False))
