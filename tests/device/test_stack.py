"""The stack is bounded: what every model uses on the emulator stays below what its image's code can use at most."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from bench.bundle import Options
from bench.deployment import build_deployment
from bench.pipeline import run_case
from bench.stack import EXCEPTION_BYTES, UnboundedStackError, stack_bound
from tests.device.conftest import attempt_of, image_of, trained, vector

pytestmark = pytest.mark.toolchain
MODELS = (
    "linear",
    "digits_cnn",
    "ds_cnn",
    "resnet8",
    "mobilenet_v1_025",
    "autoencoder",
    "transformer_block",
)
CPUS = {"mps2-an386": "cortex-m4", "mps3-an547": "cortex-m55"}
STACK_BYTES = 8 * 1024 - 256  # firmware/port/sections.ld: lab_stack_bytes less the guard

RECURSION = """
extern "C" int deeper(int n) { volatile int here[8]; here[n & 7] = n; return n == 0 ? here[0] : deeper(n - 1) + here[n & 7]; }
extern "C" void start() { volatile int keep = deeper(5); (void)keep; }
"""
VARIABLE = """
extern "C" void use(char*);
extern "C" void start(int n) { char room[n]; use(room); }
extern "C" __attribute__((noinline)) void use(char* room) { asm volatile("" ::"r"(room)); }
"""
KNOWN = """
extern "C" __attribute__((noinline)) void use(char* room) { asm volatile("" ::"r"(room)); }
extern "C" __attribute__((noinline)) void middle() { char room[64]; use(room); asm volatile(""); }
extern "C" void start() { char room[512]; use(room); middle(); asm volatile(""); }
"""
POINTER = """
extern "C" __attribute__((noinline)) void use(char* room) { asm volatile("" ::"r"(room)); }
extern "C" void large() { char room[1024]; use(room); asm volatile(""); }
extern "C" void small() { char room[16]; use(room); asm volatile(""); }
void (*volatile chosen)() = small;
void (*const other)() = large;
extern "C" void start() { chosen(); if (chosen != other) asm volatile(""); }
"""


def link(folder: Path, source: str) -> Path:
    """Compile and link a file for an M4, with `start` as its entry."""
    text, elf = folder / "x.cpp", folder / "x.elf"
    text.write_text(source)
    flags = ["-mcpu=cortex-m4", "-mthumb", "-O1", "-fno-exceptions", "-fno-inline", "-fno-optimize-sibling-calls", "-nostdlib",
             "-Wl,-e,start", "-Wl,--no-warn-rwx-segments"]  # fmt: skip
    subprocess.run(
        ["arm-none-eabi-g++", *flags, text, "-o", elf], check=True, timeout=60, capture_output=True
    )
    return elf


@pytest.mark.qemu
@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("board", CPUS)
def test_what_is_measured_is_below_the_bound(board: str, model: str) -> None:
    """The deployment image of every model: painted stack <= static bound <= the stack that the image has; the lab's: 1.5 KB.

    What lies between the two is an exception's frame, ways that this model does not take, and frames of functions that
    are added up where they are used one after another.
    """
    program = trained(board) if model == "digits_cnn" else vector(model, CPUS[board])[0]
    attempt = attempt_of(board, program, Options(warmup=0, iterations=0))
    record = run_case(attempt).record
    measured, lab = record.find("ram_stack"), record.find("lab_ram_stack")
    operators = frozenset(operator.operator for operator in program.manifest.operators)
    bound = stack_bound(build_deployment(attempt.case.board, operators).image.elf)

    print(f"{board} {model}: measured {measured and measured.median:.0f}, bound {bound.nbytes}")  # noqa: T201  docs/robustness.md: pytest -rP
    assert measured is not None
    assert lab is not None
    assert lab.median <= 1536
    assert measured.median <= bound.nbytes <= STACK_BYTES
    assert bound.nbytes < 3 * measured.median


def test_frames_along_the_deepest_way_add_up(tmp_path: Path) -> None:
    """512 and 64 bytes of arrays and what the calls save; a leaf without frame adds nothing."""
    bound = stack_bound(link(tmp_path, KNOWN), "start")

    assert ["start", "middle", "use"] == [name for name, _ in bound.path]
    saved = bound.nbytes - EXCEPTION_BYTES - 512 - 64
    assert 8 <= saved <= 32


def test_a_pointer_may_lead_to_whatever_has_its_address_taken(tmp_path: Path) -> None:
    """The deeper of two functions counts, whichever is called."""
    bound = stack_bound(link(tmp_path, POINTER), "start")

    assert "large" in [name for name, _ in bound.path]
    assert bound.nbytes > EXCEPTION_BYTES + 1024


@pytest.mark.parametrize(
    ("source", "why"), [(RECURSION, "recursion: deeper -> deeper"), (VARIABLE, "by a register")]
)
def test_what_has_no_bound_is_an_error(tmp_path: Path, source: str, why: str) -> None:
    """Recursion and arrays of variable length."""
    with pytest.raises(UnboundedStackError, match=why):
        stack_bound(link(tmp_path, source), "start")


def test_the_images_are_known(tmp_path: Path) -> None:
    """The entry that is looked for by default is that of the images."""
    image_of("mps2-an386")
    program, _ = vector("linear", "cortex-m4")
    operators = frozenset(operator.operator for operator in program.manifest.operators)
    board = attempt_of("mps2-an386", program, Options()).case.board

    path = [name for name, _ in stack_bound(build_deployment(board, operators).image.elf).path]

    assert path[0] == "reset_handler"
    assert "fw::app_main" in path
