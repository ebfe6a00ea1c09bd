"""A program, rewritten: `--pack` makes another program of it, with a name, a hash and a manifest of its own."""

from __future__ import annotations

import dataclasses
import hashlib
from typing import TYPE_CHECKING

from bench.cache import PROGRAMS, folder_atomically
from bench.errors import InputError
from bench.program import Finding, Manifest, Program
from bench.pte import read_pte
from bench.rewrite import dsp_weights
from bench.rewrite.flat import read_flat, write_flat
from bench.rewrite.slim import slim

if TYPE_CHECKING:
    from bench.board import Board

_VERSION = b"1"  # of what a rewritten program's folder holds


def pack_of(board: Board) -> str:
    """Return the name of the packing that the kernels of a board's core read; empty if they read none."""
    dsp = board.host is None and board.cpu in dsp_weights.CPUS
    return dsp_weights.OVERLOAD.decode() if dsp else ""


def packed(program: Program, board: Board) -> Program:
    """Return the program with its weights packed for a board's kernels.

    Expected outputs are the original's: packing changes no output by a bit. The program's model is called
    `<model>-<packing>`, `program.json` has the packing's name and a finding for each call that keeps its weights.

    Raises:
        InputError: the kernels of the board's core read no packed weights, or no call of the program can be packed.
        ProgramError: the .pte cannot be rewritten.
    """
    manifest, kind = program.manifest, pack_of(board)
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
        done = dsp_weights.pack(flat, manifest.method)
        if not done.packed:
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
            (folder / "program.json").write_text(_manifest(manifest, kind, data, done).to_json())
    return Program(final, Manifest.from_json((final / "program.json").read_text()))


def _manifest(manifest: Manifest, kind: str, data: bytes, done: dsp_weights.Packed) -> Manifest:
    facts = read_pte(data, method=manifest.method)
    operators = tuple(
        dataclasses.replace(old, operator=new.operator)
        for old, new in zip(manifest.operators, facts.operators, strict=True)
    )
    kept = tuple(
        Finding("pack-kept", text.split(":")[0], f"keeps its weights as exported: {text}")
        for text in done.kept
    )
    return dataclasses.replace(
        manifest,
        model=f"{manifest.model}-{kind}",
        pack=kind,
        pte_sha256=hashlib.sha256(data).hexdigest(),
        pte_bytes=len(data),
        operators=operators,
        findings=(*manifest.findings, *kept),
    )
