"""Export in a process of its own: `python -m bench.export_job JOB.json`.

The job is a list of `{"model": text, "scheme": "int8", "cpus": [{"cpu": "cortex-m4", "out": folder}, ...], "samples": N or
null, "intermediates": false}`. One JSON line a step goes to stdout: `{"event": "start"|"done"|"failed", "model", "scheme", "cpu", "seconds", "error"}`.
An error has a fault's code, message, where and hint. What torch and ExecuTorch print goes to a log beside the job file. One model that fails does not stop the
others; the exit code is 1 if any failed.
"""

from __future__ import annotations

import json
import logging
import os
import sys
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import IO, Any

from bench.cache import folder_atomically
from bench.errors import ExportError, InputError, LabError, ToolMissingError
from bench.model import (
    FORWARD,
    ModelDefinition,
    build_model,
    first_line,
    resolve_model,
    source_sha256,
)

THREADS = 2


@dataclass(frozen=True)
class Job:
    """One model in one scheme for some cpus.

    Attributes:
        folders: by cpu, where the program goes.
        samples: None for the model's own number.
        intermediates: whether to write what every instruction should give, too.
    """

    model: str
    scheme: str
    folders: dict[str, Path]
    samples: int | None
    intermediates: bool


def read_jobs(path: Path) -> list[Job]:
    """Read the job file; raises InputError if it is not one."""
    try:
        return [
            Job(
                item["model"],
                item["scheme"],
                {c["cpu"]: Path(c["out"]) for c in item["cpus"]},
                item.get("samples"),
                bool(item.get("intermediates")),
            )
            for item in json.loads(path.read_text())
        ]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(f"no job file: {first_line(error)}", where=str(path)) from error


class Progress:
    """Writes the lines that the parent reads."""

    def __init__(self, stream: IO[str], log: Path) -> None:
        self._stream = stream
        self._log = log
        self.failures = 0

    def say(self, event: str, job: Job, cpu: str, seconds: float, **more: Any) -> None:
        """Write one line."""
        line: dict[str, Any] = {
            "event": event,
            "model": job.model,
            "scheme": job.scheme,
            "cpu": cpu,
        }
        line |= {"seconds": round(seconds, 3), **more}
        self._stream.write(json.dumps(line) + "\n")
        self._stream.flush()

    def fail(self, job: Job, cpu: str, seconds: float, error: LabError) -> None:
        """Write one failure, its trace into the log."""
        self.failures += 1
        traceback.print_exception(error)  # stderr is the log
        hint = f"{error.hint}; " if error.hint else ""
        described = {
            "code": error.code,
            "message": error.what,
            "where": error.where,
            "hint": f"{hint}full log: {self._log}",
        }
        self.say("failed", job, cpu, seconds, error=described)


def run_jobs(jobs: list[Job], progress: Progress) -> None:
    """Export every job, each model built once."""
    built: dict[str, ModelDefinition | LabError] = {}
    for job in jobs:
        started = time.monotonic()
        progress.say("start", job, "", 0.0)
        try:
            exporter = _exporter()
            if job.model not in built:
                built[job.model] = _build(job.model)
            definition = built[job.model]
            if isinstance(definition, LabError):
                raise definition
            _run(job, definition, exporter, progress, started)
        except LabError as error:
            seconds = time.monotonic() - started
            for cpu in job.folders:
                progress.fail(job, cpu, seconds, error)


def _build(text: str) -> ModelDefinition | LabError:
    try:
        source = resolve_model(text)
        if isinstance(source, Path):
            return InputError("it is a program already", where=text, hint="run it as it is")
        return build_model(source)
    except LabError as error:
        return error


def _exporter() -> ModuleType:
    """Import torch and executorch, which takes seconds, after the output streams were redirected.

    Raises:
        ToolMissingError: one of them, or what they need, is not installed.
    """
    try:
        import torch  # noqa: PLC0415

        from bench.export import programs  # noqa: PLC0415
    except ImportError as error:
        raise ToolMissingError(
            f"the exporter cannot be imported: {first_line(error)}",
            hint="it needs torch==2.13.0 and executorch[ethos-u]==1.5.1; executorch alone lacks the Cortex-M backend's tosa_serializer",
        ) from error
    torch.set_num_threads(THREADS)
    return programs


def _run(
    job: Job,
    definition: ModelDefinition,
    exporter: ModuleType,
    progress: Progress,
    started: float,
) -> None:
    source = resolve_model(job.model)
    if isinstance(source, Path):
        raise InputError("it is a program already", where=job.model)
    programs = exporter.export_programs(
        source.name,
        definition,
        method=source.method or FORWARD,
        scheme=job.scheme,
        cpus=list(job.folders),
        samples=job.samples,
        model_sha256=source_sha256(source),
        intermediates=job.intermediates,
    )
    left = dict(job.folders)
    try:
        for result in programs:
            seconds = time.monotonic() - started
            folder = left.pop(result.cpu)
            if isinstance(result, exporter.Failed):
                progress.fail(job, result.cpu, seconds, result.error)
            else:
                with folder_atomically(folder) as temporary:
                    result.write(temporary)
                progress.say("done", job, result.cpu, seconds, out=str(folder))
            started = time.monotonic()
    except Exception as error:  # noqa: BLE001  a defect in one model must not stop the others
        if not isinstance(error, LabError):
            text = f"{type(error).__name__}: {first_line(error)}"
            wrapped: LabError = ExportError(f"the export itself failed: {text}")
            wrapped.__cause__ = error
        else:
            wrapped = error
        for cpu in left:
            progress.fail(job, cpu, time.monotonic() - started, wrapped)


@contextmanager
def _output_to(log: Path) -> Iterator[IO[str]]:
    """Send file descriptors 1 and 2 to the log, C++'s included; yield the real stdout."""
    real = os.fdopen(os.dup(1), "w", encoding="utf-8")
    with log.open("w", encoding="utf-8") as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    logging.basicConfig(level=logging.INFO, stream=sys.stderr)
    with real:
        yield real


def main(arguments: list[str]) -> int:
    """Run the job file; 0 if all programs were made, 1 if one failed, 2 for a bad job file."""
    if len(arguments) != 1:
        sys.stderr.write("usage: python -m bench.export_job JOB.json\n")
        return 2
    path = Path(arguments[0])
    try:
        jobs = read_jobs(path)
    except InputError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    log = path.with_suffix(".log")
    with _output_to(log) as stream:
        progress = Progress(stream, log)
        run_jobs(jobs, progress)
    return 1 if progress.failures else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
