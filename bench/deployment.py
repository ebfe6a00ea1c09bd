"""The deployment image: what a product would ship for one program, linked, measured to the byte and run.

Its objects are those of the lab image: the runtime, start-up, the board, and of the kernels only those that register
an operator of the program (with whatever these call), without reference kernels that none of its calls falls back to. `firmware/app/deployment.cpp` takes the app's place.
"""

from __future__ import annotations

import hashlib
import re
import shlex
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from bench import process, trim
from bench.board import Board
from bench.bundle import Bundle, verified, with_one_sample
from bench.cache import BUILD, folder_lock, write_atomically
from bench.catalogue import source_of
from bench.errors import (
    BuildError,
    BundleRefusedError,
    DeviceRefusedError,
    DoesNotFitError,
    LabError,
    NoAnswerError,
)
from bench.image import Image, read_image
from bench.wire import Transcript

_REPORT = struct.Struct("<4s5I3Q6I")
# why a bundle is not taken, by the report's number (firmware/app/deployment.cpp, Refusal)
_REFUSALS = (
    ("", ""),
    ("unmarked", "the bundle has no tables, and no mark that its program was verified"),
    ("changed", "program or tables are not the bytes that were verified"),
    ("tables-version", "the tables are of another version of their format"),
    ("tables-program", "the tables are another program's"),
    ("tables-kernels", "the tables are for an image with other kernels"),
)
_DEADLINE_S = 120.0
_OBJECT = "CMakeFiles/deployment.dir/app/deployment.cpp.obj"
_KERNELS = "runtime/CMakeFiles/rt_kernels.dir/"
_RUNTIME = "librt_runtime.a("
_ON_DEMAND = "kernels.a("

# a section of the map: name, address, size, the object (or archive(member)) that it came from; long names wrap
_MAP_LINE = re.compile(r"^ (\S+)\s+0x([0-9a-f]+)\s+0x([0-9a-f]+)\s+(\S.*)$")


@dataclass(frozen=True)
class FlashParts:
    """Bytes of the image in Flash by origin; they add up to what the image occupies.

    Attributes:
        kernels: objects of runtime/kernels.
        runtime: objects of runtime/core and exec.
        firmware: everything else: start-up, port, board, main, C library, initial data, alignment.
    """

    kernels: int
    runtime: int
    firmware: int

    @property
    def total(self) -> int:
        """Sum of the parts."""
        return self.kernels + self.runtime + self.firmware


@dataclass(frozen=True)
class Deployment:
    """A linked deployment image.

    Attributes:
        static_bytes: of RAM, initialised and zeroed.
        fallbacks: the reference kernels that fast ones hand calls on to and that are in it.
        tables_bytes: of the tables that lie beside the program for it; 0 until they are made.
    """

    image: Image
    flash: FlashParts
    static_bytes: int
    fallbacks: frozenset[str] = frozenset()
    tables_bytes: int = 0


@dataclass(frozen=True)
class DeploymentRun:
    """What a run of the deployment image gave.

    Attributes:
        ticks: of load, first and second execute, by the name of the window.
        overhead_ticks: of an empty window.
        method_bytes: of the arena, with its alignment gaps.
        outputs: bytes of all outputs, in order.
    """

    ticks: dict[str, int]
    overhead_ticks: int
    planned_bytes: int
    method_bytes: int
    temporary_bytes: int
    stack_bytes: int
    outputs: bytes


def build_deployment(
    board: Board,
    operators: frozenset[str],
    target: Literal["lab", "twin", "roomy"] = "lab",
    *,
    fallbacks: frozenset[str] | None = None,
) -> Deployment:
    """Link the image for a program's operators; the board's lab image, or its twin, must have been built.

    A board of the catalogue has the image of its core's machine, whatever the target. Of the reference kernels that
    fast ones may hand calls on to it has `fallbacks`, by default all; a call that is handed on to another one fails.

    Raises:
        BuildError: an operator without a kernel, or the link fails.
    """
    source = source_of(board)
    if source is not board:
        board, target = source, "lab"
    folder = BUILD / "firmware" / board.id
    with folder_lock(folder):  # another run may be about to build anew what is read here
        elf, possible = _linked(board, folder, operators, target, fallbacks)
    image = read_image(elf)
    return Deployment(
        image,
        _attribute(elf.with_suffix(".map"), image),
        image.data_bytes + image.bss_bytes,
        possible if fallbacks is None else possible & fallbacks,
    )


def _linked(
    board: Board,
    folder: Path,
    operators: frozenset[str],
    target: str,
    fallbacks: frozenset[str] | None,
) -> tuple[Path, frozenset[str]]:
    """Return the image's ELF, and the reference kernels that its kernels could hand calls on to."""
    _ninja(folder, "deployment")
    flags, objects = _link_of(folder, target)
    app = f"CMakeFiles/{target}.dir/app/"
    kernels = [o for o in objects if o.startswith(_KERNELS)]
    registered = {o: trim.registered(folder / o) for o in kernels}
    missing = operators - frozenset().union(*registered.values())
    if missing:
        raise BuildError(f"no kernel for {', '.join(sorted(missing))}", where=board.id)
    wanted = [
        trim.trimmed(folder, o, operators, fallbacks=fallbacks)
        for o in kernels
        if registered[o] & operators
    ]
    # called by kernels: what registers nothing, and reference kernels beside an operator that the program has not
    rest = [o for o in kernels if not registered[o]]
    rest += [
        trim.trimmed(folder, o, operators, fallbacks=fallbacks)
        for o in kernels
        if registered[o] and not registered[o] & operators and trim.has_fallback(folder / o)
    ]
    port = [o for o in objects if not o.startswith((_KERNELS, app))]
    possible = frozenset[str]().union(
        *(trim.fallbacks_of(folder / o) for o in kernels if registered[o] & operators)
    )
    return _link(folder, flags, [*wanted, _OBJECT, *port], rest), possible


def marked(bundle: Bundle, tables: bytes, image: Image, where: str) -> Bundle:
    """Return the bundle as the image takes it: with tables and mark, and with one sample if more have no room beside them.

    Raises:
        DoesNotFitError: not even one has.
    """
    whole = verified(bundle, tables)
    if len(whole.data) > image.model.nbytes:
        whole = verified(with_one_sample(bundle), tables)
    if len(whole.data) > image.model.nbytes:
        raise DoesNotFitError(
            f"the program, its tables and one sample do not fit the model slot: have {image.model.nbytes} bytes, "
            f"need {len(whole.data)}",
            where=where,
        )
    return whole


def _ninja(folder: Path, target: str) -> None:
    done = process.run(["ninja", "-C", str(folder), target], deadline_s=_DEADLINE_S)
    if done.exit_code != 0:
        text = (done.stdout + done.stderr).decode("utf-8", "replace")
        raise BuildError(f"building {target} failed: {text[-800:]}", where=str(folder))


def _link_of(folder: Path, target: str) -> tuple[list[str], list[str]]:
    """Return the link command of an image: compiler and flags, and its objects."""
    done = process.run(
        ["ninja", "-C", str(folder), "-t", "commands", f"{target}.elf"], deadline_s=_DEADLINE_S
    )
    lines = [line for line in done.stdout.decode().splitlines() if f" -o {target}.elf " in line]
    if not lines:
        raise BuildError(f"ninja does not tell how {target}.elf is linked", where=str(folder))
    words = shlex.split(lines[-1].removeprefix(": && ").removesuffix(" && :"))
    cut = words.index("-o")
    objects = [word for word in words[:cut] if word.endswith(".obj")]
    flags = [word for word in words[:cut] if not word.endswith(".obj")]
    return flags, objects


def _link(folder: Path, flags: list[str], objects: list[str], on_demand: list[str]) -> Path:
    """Link, unless this very set of objects was linked before; return the ELF, its map beside it."""
    digest = hashlib.sha256("\0".join([*flags, *objects]).encode())
    for name in [*objects, *on_demand, "runtime/librt_runtime.a"]:
        digest.update((folder / name).read_bytes())
    elf = folder / "deployments" / f"{digest.hexdigest()[:16]}.elf"
    if elf.exists():
        return elf
    elf.parent.mkdir(exist_ok=True)
    archive = elf.with_suffix(".kernels.a")
    made = elf.with_suffix(".tmp")
    compiler = flags[0]
    steps = [[compiler.replace("g++", "ar"), "crsD", str(archive), *on_demand]] if on_demand else []
    libraries = [str(archive)] if on_demand else []
    group = ["-Wl,--start-group", *libraries, "runtime/librt_runtime.a", "-Wl,--end-group"]
    map_file = f"-Wl,-Map={elf.with_suffix('.map')}"
    steps.append([*flags, *objects, *group, map_file, "-o", str(made)])
    archive.unlink(missing_ok=True)
    for step in steps:
        done = process.run(step, deadline_s=_DEADLINE_S, cwd=folder)
        if done.exit_code != 0:
            text = done.stderr.decode("utf-8", "replace").splitlines()
            telling = [line for line in text if "undefined" in line or "error" in line] or text[-5:]
            raise BuildError(
                "linking the deployment image failed:\n    " + "\n    ".join(telling[:8]),
                where=folder.name,
            )
    write_atomically(elf, made.read_bytes())
    made.unlink()
    archive.unlink(missing_ok=True)
    return elf


def _attribute(map_file: Path, image: Image) -> FlashParts:
    """Sum the map's sections in Flash by the object they came from; what belongs to none is firmware's."""
    text = re.sub(r"\n (\.?\S+)\n\s+(0x)", r"\n \1 \2", map_file.read_text())
    text = text[text.index("Linker script and memory map") :]
    kernels = runtime = 0
    for line in text.splitlines():
        match = _MAP_LINE.match(line)
        if match is None or not match.group(1).startswith((".text", ".rodata", "rt_kernels")):
            continue
        size, origin = int(match.group(3), 16), match.group(4)
        if origin.startswith((_KERNELS, trim.FOLDER)) or _ON_DEMAND in origin:
            kernels += size
        elif _RUNTIME in origin:
            runtime += size
    total = image.code_bytes + image.data_bytes
    return FlashParts(kernels, runtime, total - kernels - runtime)


def parse_report(transcript: Transcript, where: str) -> DeploymentRun:
    """Read the binary report of a deployment image's run (docs/deployment.md).

    Raises:
        NoAnswerError: it is not there or not whole.
        DoesNotFitError, DeviceRefusedError: the runtime refused the program.
    """
    start = transcript.raw.find(b"SHIP")
    raw = transcript.raw[start:] if start >= 0 else b""
    if len(raw) < _REPORT.size:
        raise NoAnswerError(
            f"the deployment image gave no report ({len(transcript.raw)} bytes, exit code {transcript.exit_code}): "
            f"{transcript.diagnostics.strip()[-200:]}",
            where=where,
        )
    (_, refusal, loaded, executed, have, needed, load, first, second, overhead, planned, method, temporary,
     stack, output_bytes) = _REPORT.unpack_from(raw)  # fmt: skip
    if refusal or not loaded or executed != 2:
        raise _refusal(refusal, have, needed, where)
    outputs = raw[_REPORT.size :]
    if len(outputs) != output_bytes:
        raise NoAnswerError(
            f"{len(outputs)} bytes of outputs came, {output_bytes} were announced", where=where
        )
    ticks = {"load": load, "latency_first": first, "latency": second}
    # the arena's alignment gaps belong to nobody else: count them to the method
    method += needed - planned - method - temporary
    return DeploymentRun(ticks, overhead, planned, method, temporary, stack, outputs)


def _refusal(refusal: int, have: int, needed: int, where: str) -> LabError:
    if refusal:
        known = refusal < len(_REFUSALS)
        code, words = _REFUSALS[refusal] if known else (str(refusal), "a reason of a newer image")
        return BundleRefusedError(f"{code}: {words}", where=where)
    if needed > have:
        return DoesNotFitError(
            f"deployment image: have {have} bytes, need {needed} bytes", where=where
        )
    return DeviceRefusedError(
        "the deployment image refuses the program that the lab image ran", where=where
    )
