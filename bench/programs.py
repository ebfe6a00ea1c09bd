"""Programs of a matrix: read from the cache, or exported by one process of its own."""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from bench import foreign, process
from bench.cache import BUILD, PROGRAMS
from bench.errors import ExportError, LabError, fault_of
from bench.model import program_key, resolve_model, split_method
from bench.program import Manifest, Program

if TYPE_CHECKING:
    from bench.pipeline import Case

_EXPORT_DEADLINE_S = 3600.0
_JOBS = BUILD / "exports"
_KEPT_JOBS = 8

Say = Callable[[str], None]


def ensure_programs(
    cases: Iterable[Case], samples: int | None, say: Say, *, intermediates: bool = False
) -> dict[tuple[str, str, str], Program | LabError]:
    """Return the program, or why there is none, of every (model, scheme, cpu) of the cases.

    What the cache has is read; the rest is exported in one process of its own, so that this one imports no torch.
    With `intermediates`, what every instruction should give lies beside each program (bench/intermediate.py).
    """
    found: dict[tuple[str, str, str], Program | LabError] = {}
    wanted: dict[tuple[str, str], dict[str, Path]] = {}
    for case in cases:
        key = (case.model, case.scheme, case.board.cpu)
        if key in found or case.board.cpu in wanted.get(key[:2], {}):
            continue
        try:
            source = resolve_model(case.model)
            if isinstance(source, Path):
                found[key] = foreign.foreign_program(source, method=split_method(case.model)[1])
                continue
            name = program_key(source, case.scheme, case.board.cpu, samples)
            folder = PROGRAMS / (f"{name}-intermediates" if intermediates else name)
            if (folder / "program.json").exists():
                found[key] = read_program(folder)
            else:
                wanted.setdefault(key[:2], {})[case.board.cpu] = folder
        except LabError as fault:
            found[key] = fault
    if wanted:
        failed = _export(wanted, samples, say, intermediates=intermediates)
        for (model, scheme), folders in wanted.items():
            for cpu, folder in folders.items():
                why = failed.get((model, scheme, cpu))
                found[model, scheme, cpu] = why if why is not None else read_program(folder)
    return found


def read_program(folder: Path) -> Program:
    """Read a program's folder; raises ExportError if it is not whole."""
    try:
        return Program(folder, Manifest.from_json((folder / "program.json").read_text()))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ExportError(
            f"the cached program is not whole: {error}",
            where=str(folder),
            hint="remove the folder and run again",
        ) from error


def _export(
    wanted: dict[tuple[str, str], dict[str, Path]],
    samples: int | None,
    say: Say,
    *,
    intermediates: bool,
) -> dict[tuple[str, str, str], LabError]:
    """Export in a child process; return the faults by (model, scheme, cpu)."""
    failed: dict[tuple[str, str, str], LabError] = {}
    finished: set[tuple[str, str, str]] = set()
    job = [
        {
            "model": model,
            "scheme": scheme,
            "samples": samples,
            "intermediates": intermediates,
            "cpus": [{"cpu": cpu, "out": str(out)} for cpu, out in folders.items()],
        }
        for (model, scheme), folders in wanted.items()
    ]
    total = sum(len(folders) for folders in wanted.values())

    def on_line(line: str) -> None:
        try:
            event = json.loads(line)
        except ValueError:
            return
        key = (event.get("model", ""), event.get("scheme", ""), event.get("cpu", ""))
        if event.get("event") == "done":
            finished.add(key)
            say(
                f"exported {key[0]} {key[1]} {key[2]} ({len(finished)} of {total}, {event['seconds']:.1f} s)"
            )
        elif event.get("event") == "failed":
            told = event["error"]
            fault = fault_of(
                told["code"],
                told["message"],
                where=told["where"] or key[0],
                hint=told.get("hint", ""),
            )
            for cpu in [key[2]] if key[2] else wanted.get(key[:2], {}):
                failed[key[0], key[1], cpu] = fault
            say(f"cannot export {key[0]} {key[1]} {key[2]}: {told['message']}")

    say(
        f"exporting {total} program{'' if total == 1 else 's'} with ExecuTorch (importing torch takes some seconds) ..."
    )
    folder = _job_folder()
    path = folder / "job.json"
    path.write_text(json.dumps(job))
    done = process.run(
        [sys.executable, "-m", "bench.export_job", str(path)],
        deadline_s=_EXPORT_DEADLINE_S,
        on_line=on_line,
    )
    for (model, scheme), folders in wanted.items():
        for cpu, out in folders.items():
            if (model, scheme, cpu) not in failed and not (out / "program.json").exists():
                tail = done.stderr.decode("utf-8", "replace").strip()[-600:]
                failed[model, scheme, cpu] = ExportError(
                    f"the export process ended with code {done.exit_code} before it was done: {tail}",
                    where=model,
                    hint=f"full log: {path.with_suffix('.log')}",
                )
    if not failed:
        shutil.rmtree(folder, ignore_errors=True)
    return failed


def _job_folder() -> Path:
    """Return a new folder for a job and its log, which a fault names: the last few are kept."""
    _JOBS.mkdir(parents=True, exist_ok=True)
    kept = sorted(_JOBS.iterdir(), key=lambda path: path.stat().st_mtime)
    for old in kept[: -(_KEPT_JOBS - 1)]:
        shutil.rmtree(old, ignore_errors=True)
    return Path(tempfile.mkdtemp(dir=_JOBS))
