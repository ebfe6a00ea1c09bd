"""A program, rewritten: `--pack` makes another program of it, with a name, a hash and a manifest of its own."""

from __future__ import annotations

import dataclasses
import hashlib
from enum import StrEnum
from typing import TYPE_CHECKING

from bench.cache import PROGRAMS, folder_atomically
from bench.errors import InputError, UnknownNameError
from bench.program import Finding, Manifest, Program
from bench.pte import read_pte
from bench.rewrite import dsp_weights, dsp_winograd
from bench.rewrite.flat import read_flat, write_flat
from bench.rewrite.slim import slim

if TYPE_CHECKING:
    from bench.board import Board

_VERSION = b"1"  # of what a rewritten program's folder holds


class Packing(StrEnum):
    """What `--pack` is asked for."""

    EQUAL = "equal"  # weights of the size they had
    WINOGRAD = "winograd"  # 3x3 convolutions of stride 1 faster, and larger


_NAMES = {Packing.EQUAL: dsp_weights.OVERLOAD.decode(), Packing.WINOGRAD: dsp_winograd.OVERLOAD.decode()}  # fmt: skip


def packing(name: str) -> Packing:
    """Return a packing by its name; raises UnknownNameError."""
    if name not in list(Packing):
        raise UnknownNameError(f"--pack={name}: there are {', '.join(Packing)}")
    return Packing(name)


def pack_of(board: Board, asked: Packing = Packing.EQUAL) -> str:
    """Return the name of a packing that the kernels of a board's core read; empty if they read none."""
    dsp = board.host is None and board.cpu in dsp_weights.CPUS
    return _NAMES[asked] if dsp else ""


def packed(program: Program, board: Board, asked: Packing = Packing.EQUAL) -> Program:
    """Return the program with its weights packed for a board's kernels.

    Expected outputs are the original's: packing changes no output by a bit. The program's model is called
    `<model>-<packing>`, `program.json` has the packing's name, a finding `pack-kept` for each call that keeps its
    weights, and a finding `pack-larger` for each whose weights have grown. Calls that Winograd does not suit are
    packed at equal size.

    Raises:
        InputError: the kernels of the board's core read no packed weights, or no call of the program can be packed.
        ProgramError: the .pte cannot be rewritten.
    """
    manifest, kind = program.manifest, pack_of(board, asked)
    if not kind:
        raise InputError(
            f"--pack: the kernels for {board.cpu} read no packed weights",
            where=board.id,
            hint=f"there are packings for {', '.join(dsp_weights.CPUS)}",
        )
    key = hashlib.sha256(b"\0".join((_VERSION, kind.encode(), manifest.to_json().encode())))
    final = PROGRAMS / f"{kind}-{key.hexdigest()[:24]}"
    if not final.is_dir():
        flat = read_flat(program.pte.read_bytes(), where=manifest.model)
        winograd = asked == Packing.WINOGRAD
        grown = dsp_winograd.pack(flat, manifest.method) if winograd else ()
        if winograd and not grown:
            raise InputError(
                "--pack=winograd: no convolution of 3x3 and stride 1 gains by it",
                where=manifest.model,
                hint="--pack packs weights at their size",
            )
        done = dsp_weights.pack(flat, manifest.method)
        if not done.packed and not grown:
            raise InputError(
                f"--pack: none of {done.calls} calls can be packed: {'; '.join(done.kept)}",
                where=manifest.model,
            )
        slim(flat)
        data = write_flat(flat)
        with folder_atomically(final) as folder:
            for path in program.folder.iterdir():
                (folder / path.name).write_bytes(path.read_bytes())
            (folder / "program.pte").write_bytes(data)
            (folder / "program.json").write_text(
                _manifest(manifest, kind, data, done, grown).to_json()
            )
    return Program(final, Manifest.from_json((final / "program.json").read_text()))


def _manifest(
    manifest: Manifest,
    kind: str,
    data: bytes,
    done: dsp_weights.Packed,
    grown: tuple[dsp_winograd.Transformed, ...],
) -> Manifest:
    facts = read_pte(data, method=manifest.method)
    operators = tuple(
        dataclasses.replace(old, operator=new.operator)
        for old, new in zip(manifest.operators, facts.operators, strict=True)
    )
    kept = tuple(
        Finding("pack-kept", text.split(":")[0], f"keeps its weights as exported: {text}")
        for text in done.kept
    )
    larger = tuple(
        Finding(
            "pack-larger",
            f"{one.position} {operators[one.position].operator}",
            f"transformed weights take {one.extra_bytes:,} bytes more, scratch {one.scratch_bytes:,} bytes",
        )
        for one in grown
    )
    return dataclasses.replace(
        manifest,
        model=f"{manifest.model}-{kind}",
        pack=kind,
        pte_sha256=hashlib.sha256(data).hexdigest(),
        pte_bytes=len(data),
        operators=operators,
        findings=(*manifest.findings, *kept, *larger),
    )
