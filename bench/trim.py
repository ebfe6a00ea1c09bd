"""Kernels' objects without what one program does not need: entries of other operators, fallbacks, checks.

A deployment image loads what was verified before, so that the `prepare` of its kernels, with all that it calls, is left out.
"""

from __future__ import annotations

import hashlib
import io
import struct
from pathlib import Path

from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

from bench import process
from bench.cache import write_atomically
from bench.errors import BuildError

FOLDER = "deployments/kernels/"
_SECTION = "rt_kernels."  # runtime/core/kernel.hpp: one a registered operator
_FALLBACK, _NONE = "rt_fallback_", "rt_fallback_none"  # runtime/kernels/reference.hpp
_BY_DATA = frozenset({"rt_fallback_quantize_per_tensor"})  # a NaN decides, not the program
_RELOCATION = struct.Struct("<II")  # Elf32_Rel: r_offset, r_info
_PREPARE_AT = 8  # in a kernel's entry (runtime/core/kernel.hpp)
_DEADLINE_S = 60.0


def registered(path: Path) -> frozenset[str]:
    """Return the operators that an object registers."""
    file = ELFFile(io.BytesIO(path.read_bytes()))
    names = (section.name for section in file.iter_sections())
    return frozenset(name.removeprefix(_SECTION) for name in names if name.startswith(_SECTION))


def fallbacks_of(path: Path) -> frozenset[str]:
    """Return the reference kernels that an object's may hand calls on to, as those calls' constants decide."""
    called = _fallback_symbols(path, defined=False)
    return frozenset(name.removeprefix(_FALLBACK) for name in called - _BY_DATA)


def has_fallback(path: Path) -> bool:
    """Return whether an object has a reference kernel that a fast one may hand calls on to."""
    return bool(_fallback_symbols(path, defined=True))


def _fallback_symbols(path: Path, *, defined: bool) -> frozenset[str]:
    symbols = ELFFile(io.BytesIO(path.read_bytes())).get_section_by_name(".symtab")
    assert isinstance(symbols, SymbolTableSection)
    return frozenset(
        s.name
        for s in symbols.iter_symbols()
        if s.name.startswith(_FALLBACK) and (s["st_shndx"] != "SHN_UNDEF") == defined
    )


def without_checks(data: bytes) -> bytes:
    """Return an object whose kernels' entries refer to no `prepare`: the linker drops what only that needs.

    The relocation stays as one of type R_ARM_NONE to symbol 0, which refers to nothing; the word itself is zero.
    """
    file, changed = ELFFile(io.BytesIO(data)), bytearray(data)
    for section in file.iter_sections("SHT_REL"):
        if not file.get_section(section["sh_info"]).name.startswith(_SECTION):
            continue
        begin = section["sh_offset"]
        for at in range(begin, begin + section["sh_size"], _RELOCATION.size):
            offset, _ = _RELOCATION.unpack_from(changed, at)
            if offset == _PREPARE_AT:
                _RELOCATION.pack_into(changed, at, offset, 0)
    return bytes(changed)


def trimmed(
    folder: Path, name: str, operators: frozenset[str], *, fallbacks: frozenset[str] | None
) -> str:
    """Return an object with the entries of these operators alone, by its path from `folder`.

    Args:
        name: the object, likewise.
        fallbacks: the reference kernels that its kernels may hand calls on to, None: all; a call that is handed on to another
            one ends in `operator-missing` when it runs.

    Raises:
        BuildError: objcopy fails.
    """
    source = folder / name
    # Under another name the linker drops it, as nothing refers to it.
    options = [
        f"--rename-section={_SECTION}{op}=.dropped.{op}"
        for op in sorted(registered(source) - operators)
    ]
    if fallbacks is not None:
        missing = sorted(fallbacks_of(source) - fallbacks)
        options += [f"--redefine-sym={_FALLBACK}{called}={_NONE}" for called in missing]
    key = hashlib.sha256("\0".join(options).encode() + source.read_bytes()).hexdigest()[:16]
    made = f"{FOLDER}{key}-{Path(name).name}"
    if not (folder / made).exists():
        (folder / FOLDER).mkdir(parents=True, exist_ok=True)
        temporary = folder / f"{made}.tmp"
        done = process.run(
            ["arm-none-eabi-objcopy", *options, str(source), str(temporary)],
            deadline_s=_DEADLINE_S,
            tool_hint="apt-get install binutils-arm-none-eabi",
        )
        if done.exit_code != 0:
            raise BuildError(
                f"objcopy: {done.stderr.decode('utf-8', 'replace')[-400:]}", where=name
            )
        write_atomically(folder / made, without_checks(temporary.read_bytes()))
        temporary.unlink()
    return made
