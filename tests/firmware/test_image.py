"""What must be true of a linked image before it runs."""

from __future__ import annotations

import hashlib
import io
import shutil
import time
from typing import TYPE_CHECKING

import pytest
from elftools.elf.elffile import ELFFile

from bench import process
from bench.build import FLATC, schema_dir
from bench.cache import PROJECT
from bench.image import symbolise
from tests.firmware.support import image_of

if TYPE_CHECKING:
    from pathlib import Path

    from bench.board import Board

pytestmark = pytest.mark.toolchain

SOURCES = ("boards", "firmware", "runtime")
HEAP = ("malloc", "_malloc_r", "_sbrk", "_sbrk_r", "free", "_free_r", "_Znwj", "_Znaj", "_ZdlPv")
STDIO = ("printf", "_printf_r", "_vfprintf_r", "snprintf", "__assert_func", "abort")


def elf_of(board: Board) -> ELFFile:
    """Return the board's ELF, in memory."""
    return ELFFile(io.BytesIO(image_of(board).elf.read_bytes()))


def symbols_of(elf: ELFFile) -> dict[str, int]:
    """Return the values of an ELF's symbols by name."""
    return {
        symbol.name: symbol["st_value"]
        for symbol in elf.get_section_by_name(".symtab").iter_symbols()
    }


def test_vectors_start_the_processor(board: Board) -> None:
    """The first words are the top of the stack and the reset handler's Thumb address, in code."""
    elf = elf_of(board)
    vectors = elf.get_section_by_name(".vectors").data()
    text = elf.get_section_by_name(".text")
    symbols = symbols_of(elf)

    stack_pointer, reset = (int.from_bytes(vectors[i : i + 4], "little") for i in (0, 4))

    assert stack_pointer == symbols["lab_stack_top"]
    assert stack_pointer % 8 == 0
    assert reset == symbols["reset_handler"] | 1
    assert text["sh_addr"] <= reset < text["sh_addr"] + text["sh_size"]


def test_every_exception_has_a_handler_of_ours(board: Board) -> None:
    """No vector is empty: an exception that nobody expects is reported, not a lockup."""
    elf = elf_of(board)
    vectors = elf.get_section_by_name(".vectors").data()
    handlers = {int.from_bytes(vectors[i : i + 4], "little") for i in range(4, len(vectors), 4)}
    symbols = symbols_of(elf)

    known = {symbols[name] | 1 for name in ("reset_handler", "fault_entry", "systick_handler")}

    assert len(vectors) == 16 * 4
    assert handlers == known


def test_nothing_runs_before_the_app_and_there_is_no_heap(board: Board) -> None:
    """No static constructor, no allocator, no stdio in the image."""
    elf = elf_of(board)
    init = elf.get_section_by_name(".init_array")

    assert init is None or init["sh_size"] == 0
    assert sorted(symbols_of(elf).keys() & {*HEAP, *STDIO}) == []


def test_slots_are_aligned_apart_and_in_no_segment(board: Board) -> None:
    """A loader that writes the ELF touches neither slot, arena, stack nor mailbox."""
    elf = elf_of(board)
    image = image_of(board)
    loaded = [
        (start, start + segment["p_memsz"])
        for segment in elf.iter_segments("PT_LOAD")
        for start in (segment["p_paddr"], segment["p_vaddr"])
    ]
    kept = {
        "model": (image.model.start, image.model.end),
        "arena": (image.arena.start, image.arena.end),
        "stack": (image.stack.start, image.stack.end),
        "mailbox": (image.mailbox, image.mailbox + 32),
    }

    touching = [
        (name, start)
        for name, (start, end) in kept.items()
        for low, high in [*loaded, *(other for key, other in kept.items() if key != name)]
        if start < high and low < end
    ]

    assert touching == []
    assert [name for name, (start, _) in kept.items() if start % 16] == []


def test_the_kernel_list_can_be_read(board: Board) -> None:
    """The image tells which operators it can run."""
    assert "cortex_m::quantized_linear.out" in image_of(board).kernels


def test_no_path_of_this_machine_is_in_the_image(board: Board) -> None:
    """Neither debug information nor strings name a folder of the machine that built it."""
    assert str(PROJECT).encode() not in image_of(board).elf.read_bytes()


def _build_copy(sources: Path, build: Path) -> str:
    """Copy the sources, build mps3-an547's image of them, return its hash."""
    for name in SOURCES:
        shutil.copytree(PROJECT / name, sources / name)
    for command in (
        [
            *("cmake", "-G", "Ninja", "-S", str(sources / "firmware"), "-B", str(build)),
            *("-DBOARD=mps3-an547", "-DCPU=cortex-m55", "-DFPU_FLAGS=-mfloat-abi=hard"),
            *(f"-DEXECUTORCH_SCHEMA_DIR={schema_dir()}", f"-DFLATC={FLATC}"),
            "-DCMAKE_TOOLCHAIN_FILE=cmake/arm-none-eabi.cmake",
        ],
        ["ninja", "-C", str(build), "-j2", "lab.elf"],
    ):
        done = process.run(command, deadline_s=300.0)
        assert done.exit_code == 0, done.stdout.decode()[-2000:]
    return hashlib.sha256((build / "lab.elf").read_bytes()).hexdigest()


def test_two_clones_give_the_same_bytes(tmp_path: Path) -> None:
    """Sources and build folders elsewhere do not change a bit of the ELF."""
    first = _build_copy(tmp_path / "a", tmp_path / "a" / "build" / "firmware" / "x")
    second = _build_copy(tmp_path / "longer" / "b", tmp_path / "elsewhere")

    assert first == second


def test_a_static_constructor_fails_the_link(tmp_path: Path) -> None:
    """The linker script refuses an image whose start-up would have to call constructors."""
    source = tmp_path / "object.cpp"
    source.write_text("int f(); int value = f();")

    done = _link(tmp_path, source)

    assert done.exit_code != 0
    assert b"a static constructor: make the object constinit" in done.stderr


def test_use_of_the_heap_fails_the_link(tmp_path: Path) -> None:
    """There is no _sbrk, so an image that allocates does not link."""
    source = tmp_path / "object.cpp"
    source.write_text("int f(); int* value; void g() { value = new int(f()); }")

    done = _link(tmp_path, source)

    assert done.exit_code != 0
    assert b"undefined reference to `_sbrk'" in done.stderr


def _link(folder: Path, source: Path) -> process.Finished:
    """Link one source file as an image is linked."""
    (folder / "f.cpp").write_text(
        'int f() { return 1; } void g(); extern "C" void reset_handler() { g(); }'
    )
    if "void g()" not in source.read_text():
        source.write_text(source.read_text() + " void g() { ++value; }")
    return process.run(
        [
            *("arm-none-eabi-g++", "-mthumb", "-mcpu=cortex-m3", "-nostartfiles"),
            *("--specs=nano.specs", f"-L{PROJECT / 'firmware' / 'port'}"),
            *(f"-T{PROJECT / 'boards' / 'mps2-an385' / 'memory.ld'}", "-Wl,--build-id=sha1"),
            *(str(source), str(folder / "f.cpp"), "-o", str(folder / "a.elf")),
        ],
        deadline_s=60.0,
    )


def test_addresses_have_the_names_that_binutils_give_them(board: Board) -> None:
    """File and line of functions all over the image are addr2line's, and each is found in a moment."""
    elf = image_of(board).elf
    functions = sorted(
        symbol["st_value"] & ~1
        for symbol in elf_of(board).get_section_by_name(".symtab").iter_symbols()
        if symbol["st_info"]["type"] == "STT_FUNC" and symbol["st_size"] > 4
    )
    addresses = [address + 2 for address in functions[:: len(functions) // 8]]
    told = process.run(
        ["arm-none-eabi-addr2line", "-s", "-e", str(elf), *map(hex, addresses)], deadline_s=20.0
    )

    started = time.process_time()
    found = [symbolise(elf, address) for address in addresses]
    seconds = time.process_time() - started

    lines = [line.split(" ")[0] for line in told.stdout.decode().splitlines()]  # no discriminators
    assert [f"({line})" for line in lines] == [text.rpartition(" ")[2] for text in found]
    assert seconds < 2.0 * len(addresses)
