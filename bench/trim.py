"""Kernels' objects without what one program does not need: entries of other operators, and fallbacks that no call takes."""

from __future__ import annotations

import hashlib
import io
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
_DEADLINE_S = 60.0


def registered(path: Path) -> frozenset[str]:
    """Return the operators that an object registers."""
    file = ELFFile(io.BytesIO(path.read_bytes()))
    names = (section.name for section in file.iter_sections())
    return frozenset(name.removeprefix(_SECTION) for name in names if name.startswith(_SECTION))


def _fallbacks(path: Path) -> list[str]:
    """Return the fallbacks that an object calls and that its calls' constants decide."""
    symbols = ELFFile(io.BytesIO(path.read_bytes())).get_section_by_name(".symtab")
    assert isinstance(symbols, SymbolTableSection)
    called = {s.name for s in symbols.iter_symbols() if s["st_shndx"] == "SHN_UNDEF"}
    return sorted(n for n in called if n.startswith(_FALLBACK) and n not in _BY_DATA)


def trimmed(folder: Path, name: str, operators: frozenset[str], *, fallbacks: bool) -> str:
    """Return an object with the entries of these operators alone, by its path from `folder`.

    Args:
        name: the object, likewise.
        fallbacks: whether its kernels may hand on calls to the reference kernels; else such a call ends in
            `operator-missing` when it runs.

    Raises:
        BuildError: objcopy fails.
    """
    source = folder / name
    # Under another name the linker drops it, as nothing refers to it.
    options = [
        f"--rename-section={_SECTION}{op}=.dropped.{op}"
        for op in sorted(registered(source) - operators)
    ]
    if not fallbacks:
        options += [f"--redefine-sym={called}={_NONE}" for called in _fallbacks(source)]
    if not options:
        return name
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
        write_atomically(folder / made, temporary.read_bytes())
        temporary.unlink()
    return made
