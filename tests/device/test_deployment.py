"""The deployment image: run for real, its parts add up, and its bytes are the ELF's and the file's."""

from __future__ import annotations

import csv
import functools
import re
import struct
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from bench import errors
from bench.bundle import Options, verified
from bench.cache import BUILD, sha256_file
from bench.deployment import build_deployment, parse_report
from bench.headroom import wrong_sums
from bench.image import Image, kernel_list, read_image
from bench.pipeline import make_bundle, run_case
from bench.record import Record
from bench.tables import lay_out
from bench.targets import Request
from tests.device.conftest import EMULATED, UPSTREAM, attempt_of, image_of, vector

MODELS = ("linear", "ds_cnn", "resnet8", "mobilenet_v1_025", "autoencoder")
FLASH = ("weights", "program", "tables", "runtime", "kernels", "firmware")
RAM = ("planned", "input_output", "scratch", "method", "stack", "static")


@functools.cache
def _record(board: str, model: str) -> Record:
    program, _ = vector(model, "cortex-m55" if board == "mps3-an547" else "cortex-m4")
    return run_case(attempt_of(board, program, Options(warmup=0, iterations=1))).record


def _bytes(record: Record, name: str) -> int:
    measure = record.find(name)
    assert measure is not None, name
    return int(measure.median)


@pytest.mark.qemu
@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("board", EMULATED)
def test_parts_equal_wholes(board: str, model: str) -> None:
    """Flash and RAM to the byte; the plan's three parts and the kernels' scratch are the plan's and pool's bytes."""
    record = _record(board, model)

    assert () == wrong_sums(record)
    assert _bytes(record, "flash_total") == sum(_bytes(record, f"flash_{part}") for part in FLASH)
    assert _bytes(record, "ram_total") == sum(_bytes(record, f"ram_{part}") for part in RAM)
    planned = sum(_bytes(record, f"ram_{part}") for part in ("planned", "input_output", "scratch"))
    assert planned == record.program.planned_bytes + _bytes(record, "lab_ram_temporary")
    assert (
        _bytes(record, "flash_weights") + _bytes(record, "flash_program")
        == record.program.pte_bytes
    )


@pytest.mark.qemu
@pytest.mark.parametrize("board", EMULATED)
def test_its_outputs_and_count_are_its_own(board: str) -> None:
    """Same outputs as the lab image; fewer instructions by what reading each call of the flatbuffer takes, some dozens."""
    record = _record(board, "ds_cnn")

    lab, own = record.find("latency"), record.find("latency_deployment")
    assert _bytes(record, "mismatch_deployment") == 0
    assert lab is not None
    assert own is not None
    calls = sum(record.program.operators.values())
    assert 0 < lab.median - own.median < 100 * calls


def _elf(board: str, model: str) -> Path:
    """Return the deployment image that the record names."""
    (named,) = [i.sha256 for i in _record(board, model).images if i.role == "deployment"]
    folder = BUILD / "firmware" / board / "deployments"
    (elf,) = [path for path in folder.glob("*.elf") if sha256_file(path) == named]
    return elf


@pytest.mark.qemu
@pytest.mark.toolchain
def test_flash_bytes_are_those_of_size() -> None:
    """Binutils' `size` is the other witness: text and data of the ELF are code and data of the image."""
    elf = _elf("mps2-an386", "linear")
    done = subprocess.run(
        ["arm-none-eabi-size", "-B", elf], capture_output=True, text=True, check=True
    )
    text, data = (int(word) for word in done.stdout.splitlines()[1].split()[:2])

    record = _record("mps2-an386", "linear")

    parts = sum(_bytes(record, f"flash_{part}") for part in ("runtime", "kernels", "firmware"))
    assert parts == text + data


@pytest.mark.qemu
@pytest.mark.toolchain
def test_only_the_programs_kernels_are_in_it() -> None:
    """No function of another operator, none of the lab app, no heap."""
    elf = _elf("mps2-an386", "linear")
    names = subprocess.run(
        ["arm-none-eabi-nm", "-C", elf], capture_output=True, text=True, check=True
    ).stdout

    program, _ = vector("linear", "cortex-m4")
    assert {one.operator for one in program.manifest.operators} == read_image(elf).kernels
    assert not re.search(r"depthwise|avg_pool|send_hello|base64|\bmalloc\b|_sbrk", names)


@pytest.mark.toolchain
def test_an_operator_without_kernel_is_named() -> None:
    """Before the linker is asked."""
    board = attempt_of("mps2-an386", vector("linear", "cortex-m4")[0], Options()).case.board
    image_of(board.id)

    with pytest.raises(errors.BuildError, match=r"no kernel for aten::no_such\.out"):
        build_deployment(board, frozenset({"aten::no_such.out"}))


@pytest.mark.qemu
@pytest.mark.toolchain
def test_what_only_checks_need_is_not_in_it() -> None:
    """It loads what the lab image verified and the host laid out: no reader of the format, no checks, no search for names."""
    elf = _elf("mps2-an386", "ds_cnn")
    names = subprocess.run(
        ["arm-none-eabi-nm", "-C", elf], capture_output=True, text=True, check=True
    ).stdout

    assert "rt::LaidMethod::load" in names
    unwanted = r"Verifier|\bprepare\(|rt_checks_|Args::match|rt::Method::|rt::pte::|find_kernel"
    assert not re.search(unwanted, names)


@pytest.mark.toolchain
@pytest.mark.parametrize("operator", ["add", "mean"])
def test_a_reference_kernel_beside_one_of_another_operator_is_found(operator: str) -> None:
    """Its file registers an overload that the program has not: what calls are handed on to is linked, the overload is not."""
    board = attempt_of("mps2-an386", vector("linear", "cortex-m4")[0], Options()).case.board
    image_of(board.id)

    made = build_deployment(board, frozenset({f"aten::{operator}.out"}))

    assert ({f"aten::{operator}.out"}, {operator}) == (made.image.kernels, made.fallbacks)


@pytest.mark.qemu
@pytest.mark.toolchain
def test_reference_kernels_that_calls_are_handed_on_to_are_named() -> None:
    """MobileNetV1 ends in a linear layer of two outputs, too few for the M55's kernel: that reference kernel is in it alone."""
    record = _record("mps3-an547", "mobilenet_v1_025")
    names = subprocess.run(
        ["arm-none-eabi-nm", "-C", _elf("mps3-an547", "mobilenet_v1_025")],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    kernels = record.find("flash_kernels")

    assert kernels is not None
    assert kernels.source == "with reference kernels of quantized_linear"
    # A quantization's is decided by its data, so it is always there.
    linked = set(re.findall(r"rt_fallback_(\w+)", names)) - {"none"}
    assert linked == {"quantized_linear", "quantize_per_tensor"}


@pytest.mark.qemu
@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("board", ["mps2-an386", "mps3-an547"])
def test_loading_takes_a_tenth_of_upstreams(board: str, model: str) -> None:
    """Instructions of upstream's load of the same program on the same core, where they are known; and of our own checked one."""
    record = _record(board, model)

    load, own = record.find("load"), record.find("load_deployment")
    assert load is not None
    assert own is not None
    assert 500 < own.median < load.median / 20
    with (UPSTREAM / "figures.csv").open() as file:
        theirs = {(row["model"], row["cpu"]): row["load_instructions"] for row in csv.DictReader(file)}  # fmt: skip
    known = theirs[model, record.board.cpu]
    assert not known or own.median <= 0.1 * int(known)


REFUSED = {
    "no mark": "unmarked",
    "program": "changed",
    "tables": "changed",
    "crc": "changed",
    "version": "tables-version",
    "another program's tables": "tables-program",
    "another image's tables": "tables-kernels",
}


@pytest.mark.qemu
@pytest.mark.parametrize("damage", ["nothing", "arena", *REFUSED])
def test_what_was_not_verified_as_it_is_is_an_error(damage: str) -> None:
    """One byte of program, tables or mark; no mark; tables of something else: the report says which, and it is no result."""
    program, _ = vector("linear", "cortex-m4")
    attempt = attempt_of("mps2-an386", program, Options(warmup=0, iterations=0))
    elf = _elf("mps2-an386", "linear")
    image: Image = replace(attempt.image, elf=elf)
    plain, _ = make_bundle(program, attempt.plan)
    pte, kernels = program.pte.read_bytes(), kernel_list(elf)
    scratch = 1 << 28 if damage == "arena" else 0
    tables = lay_out(pte, "forward", kernels, scratch)
    if damage == "version":
        tables = tables[:4] + struct.pack("<I", 2) + tables[8:]
    if damage == "another program's tables":
        tables = lay_out(pte + bytes(1), "forward", kernels, scratch)
    if damage == "another image's tables":
        tables = lay_out(pte, "forward", (*kernels, "aten::one_more.out"), scratch)
    bundle = verified(plain, tables)
    broken = bytearray(plain.data if damage == "no mark" else bundle.data)
    places = {"program": bundle.pte_offset + len(pte) // 2, "tables": -len(tables) // 2, "crc": 88}
    if damage in places:
        broken[places[damage]] ^= 0x01
    request = Request(attempt.case.board, image, replace(bundle, data=bytes(broken)), 1, 60.0)

    transcript = attempt.target.run(request)

    if damage == "nothing":
        assert len(parse_report(transcript, "linear").outputs) > 0
    elif damage == "arena":
        with pytest.raises(errors.DoesNotFitError, match=r"need 268\d{6} bytes"):
            parse_report(transcript, "linear")
    else:
        with pytest.raises(errors.BundleRefusedError, match=f"bundle-refused: {REFUSED[damage]}:"):
            parse_report(transcript, "linear")
