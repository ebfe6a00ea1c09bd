"""A firmware image: what an ELF says about slots, kernels, sizes and identity, and what an address is called."""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

from bench.cache import sha256_file
from bench.errors import BuildError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_WANTED = (
    "lab_model_start",
    "lab_model_end",
    "lab_arena_start",
    "lab_arena_end",
    "lab_stack_bottom",
    "lab_stack_top",
    "lab_mailbox",
)
_KERNELS = ("__start_rt_kernels", "__stop_rt_kernels")
_FRONT_GUARD_BYTES = 16
_ALLOCATED, _WRITABLE = 0x2, 0x1  # ELF section flags SHF_ALLOC, SHF_WRITE


@dataclass(frozen=True)
class Region:
    """Addresses from start up to, not including, end."""

    start: int
    end: int

    @property
    def nbytes(self) -> int:
        """Length in bytes."""
        return self.end - self.start


@dataclass(frozen=True)
class Image:
    """Facts of a linked image.

    Attributes:
        model: the slot that the bundle goes into; empty (0, 0) on the host, which reads a file.
        code_bytes: sections that lie in Flash and are not writable.
        data_bytes: initialised data, which lies in Flash and in RAM.
        bss_bytes: zeroed data, without the arena, the stack and the mailbox.
        kernels: names of the operators that the image can run.
    """

    elf: Path
    sha256: str
    build_id: str
    model: Region
    arena: Region
    stack: Region
    mailbox: int
    code_bytes: int
    data_bytes: int
    bss_bytes: int
    kernels: frozenset[str]

    @property
    def program_arena_bytes(self) -> int:
        """Bytes of the arena that the lab image gives a program: it keeps a guard in front (firmware/app/guards.cpp)."""
        return max(0, self.arena.nbytes - _FRONT_GUARD_BYTES)


def read_image(elf: Path, *, embedded: bool = True) -> Image:
    """Read an ELF.

    Args:
        elf: the linked image.
        embedded: whether the slot and stack symbols must be there (a host image has none).

    Raises:
        BuildError: it is no ELF, or a symbol that the lab needs is missing.
    """
    try:
        file = ELFFile(io.BytesIO(elf.read_bytes()))
        symbols = _symbols(file)
        missing = [name for name in _WANTED if name not in symbols] if embedded else []
        if missing:
            raise BuildError(f"the image lacks the symbols {', '.join(missing)}", where=str(elf))
        region = {name: symbols.get(name, 0) for name in _WANTED}
        sizes = _sizes(file)
        return Image(
            elf=elf,
            sha256=sha256_file(elf),
            build_id=_build_id(file),
            model=Region(region["lab_model_start"], region["lab_model_end"]),
            arena=Region(region["lab_arena_start"], region["lab_arena_end"]),
            stack=Region(region["lab_stack_bottom"], region["lab_stack_top"]),
            mailbox=region["lab_mailbox"],
            code_bytes=sizes["code"],
            data_bytes=sizes["data"],
            bss_bytes=sizes["bss"],
            kernels=frozenset(_kernels(file, symbols)),
        )
    except (ELFError, OSError) as error:
        raise BuildError(f"not a usable ELF: {error}", where=str(elf)) from error


def _symbols(file: ELFFile) -> dict[str, int]:
    table = file.get_section_by_name(".symtab")
    if not isinstance(table, SymbolTableSection):
        return {}
    return {symbol.name: symbol["st_value"] for symbol in table.iter_symbols() if symbol.name}


def _build_id(file: ELFFile) -> str:
    for segment in file.iter_segments("PT_NOTE"):
        for note in segment.iter_notes():
            if note["n_type"] == "NT_GNU_BUILD_ID":
                return str(note["n_desc"])
    for name in (".note.gnu.build-id", ".build_id"):
        section = file.get_section_by_name(name)
        if section is not None:
            return bytes(section.data()[-20:]).hex()
    return ""


def _sizes(file: ELFFile) -> dict[str, int]:
    """Sum allocated sections; what is only a reserved region (arena, stack, mailbox, slots) is not counted."""
    sizes = {"code": 0, "data": 0, "bss": 0}
    for section in file.iter_sections():
        if not section["sh_flags"] & _ALLOCATED:
            continue
        reserved = section.name.lstrip(".").split(".")[0] in {"arena", "stack", "mailbox", "model"}
        if section["sh_type"] == "SHT_NOBITS":
            sizes["bss"] += 0 if reserved else section["sh_size"]
        elif section["sh_flags"] & _WRITABLE:
            sizes["data"] += section["sh_size"]
        else:
            sizes["code"] += section["sh_size"]
    return sizes


def _at(file: ELFFile, address: int, nbytes: int) -> bytes:
    """Return initialised bytes at a virtual address, fewer where the segment ends."""
    for segment in file.iter_segments("PT_LOAD"):
        offset = address - segment["p_vaddr"]
        if 0 <= offset < segment["p_filesz"]:
            return bytes(segment.data()[offset : offset + nbytes])
    return b""


def kernel_list(elf: Path) -> tuple[str, ...]:
    """Return the names of an image's kernels in their order: what `rt::all_kernels` gives."""
    file = ELFFile(io.BytesIO(elf.read_bytes()))
    return _kernels(file, _symbols(file))


def _kernels(file: ELFFile, symbols: dict[str, int]) -> tuple[str, ...]:
    """Read the kernel registry: entries of four words, the first of them a pointer to the operator's name."""
    pointer_bytes = file.elfclass // 8
    entry_bytes = 4 * pointer_bytes
    start, stop = (symbols.get(name, 0) for name in _KERNELS)
    relocations = _relative_relocations(file)
    names = []
    for address in range(start, stop, entry_bytes):
        raw = int.from_bytes(_at(file, address, pointer_bytes), "little")
        text = _at(file, relocations.get(address, raw), 128)
        names.append(text.split(b"\0")[0].decode("ascii", "replace"))
    return tuple(name for name in names if name)


def _relative_relocations(file: ELFFile) -> dict[int, int]:
    """Return address -> addend of a position-independent host executable's relative relocations."""
    section: Any = file.get_section_by_name(".rela.dyn")
    if section is None:
        return {}
    return {entry["r_offset"]: entry["r_addend"] for entry in section.iter_relocations()}


def symbol_sizes(elf: Path) -> dict[str, int]:
    """Return the bytes of every function and object of an ELF; local names carry their source file's."""
    table = ELFFile(io.BytesIO(elf.read_bytes())).get_section_by_name(".symtab")
    found: dict[str, int] = {}
    source = ""
    for symbol in table.iter_symbols() if isinstance(table, SymbolTableSection) else ():
        if symbol["st_info"]["type"] == "STT_FILE":
            source = symbol.name
        elif symbol["st_size"] and symbol["st_info"]["type"] in {"STT_FUNC", "STT_OBJECT"}:
            local = symbol["st_info"]["bind"] == "STB_LOCAL"
            name = f"{source}:{_demangled(symbol.name)}" if local else _demangled(symbol.name)
            found[name] = found.get(name, 0) + symbol["st_size"]
    return dict(sorted(found.items()))


def symbolise(elf: Path, address: int) -> str:
    """Return `function+0xoffset (file:line)` for a code address, or the address in hex."""
    file = ELFFile(io.BytesIO(elf.read_bytes()))
    address &= ~1
    table = file.get_section_by_name(".symtab")
    best = ""
    if isinstance(table, SymbolTableSection):
        for symbol in table.iter_symbols():
            start = symbol["st_value"] & ~1
            if symbol["st_info"]["type"] == "STT_FUNC" and start <= address < start + max(
                symbol["st_size"], 1
            ):
                best = f"{_demangled(symbol.name)}+0x{address - start:x}"
    line = _source_line(file, address)
    return f"{best or f'0x{address:08x}'}{f' ({line})' if line else ''}"


def _demangled(name: str) -> str:
    """Return the readable parts of an Itanium-mangled name, or the name itself."""
    if not name.startswith("_ZN"):
        return name
    parts, rest = [], name[3:].lstrip("KLO")
    while rest and rest[0].isdigit():
        digits = len(rest) - len(rest.lstrip("0123456789"))
        length = int(rest[:digits])
        part = rest[digits : digits + length]
        parts.append("(anonymous)" if part.startswith("_GLOBAL__N_") else part)
        rest = rest[digits + length :]
    return "::".join(parts) or name


def _source_line(file: ELFFile, address: int) -> str:
    """Return file:line of an address from the DWARF line program of the unit that it belongs to."""
    if not file.has_dwarf_info():
        return ""
    info = file.get_dwarf_info()
    for unit in _units_of(info, address):
        program = info.line_program_for_CU(unit)
        if program is not None and (line := _line_in(program, address)):
            return line
    return ""


def _units_of(info: Any, address: int) -> Iterator[Any]:
    """Yield the compilation units that may hold an address: one, where the compiler wrote .debug_aranges.

    Reading every unit's line program in Python takes a minute for an image of this project.
    """
    ranges = info.get_aranges()
    known = {entry.info_offset for entry in ranges.entries} if ranges is not None else set()
    if ranges is not None and (offset := ranges.cu_offset_at_addr(address)) is not None:
        yield info.get_CU_at(offset)
        return
    yield from (unit for unit in info.iter_CUs() if unit.cu_offset not in known)


def _line_in(program: Any, address: int) -> str:
    """Return file:line of an address by one line program, nothing if it does not cover it (DWARF 4, 6.2)."""
    previous: Any = None
    for entry in program.get_entries():
        state = entry.state
        if state is None:
            continue
        if previous is not None and previous.address <= address < state.address:
            files = program["file_entry"]
            index = previous.file if program["version"] >= 5 else previous.file - 1
            return f"{files[index].name.decode('utf-8', 'replace')}:{previous.line}"
        previous = None if state.end_sequence else state
    return ""
