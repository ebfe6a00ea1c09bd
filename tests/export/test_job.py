"""The export as a process: progress lines, logs, failures that stay where they belong."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from bench import export_job, programs
from bench.board import all_boards
from bench.cache import PROJECT
from bench.errors import ExportError, ModelSourceError, ToolMissingError
from bench.pipeline import Case
from bench.program import Manifest

GOOD = """
from torch import nn, randn
print("noise on stdout")
def build():
    return nn.Sequential(nn.Linear(8, 4), nn.ReLU()), (randn(1, 8),)
"""
BAD = """
from torch import nn, randn
class Branch(nn.Module):
    def forward(self, x):
        return x + 1 if x.sum() > 0 else x
def build():
    return Branch(), (randn(1, 8),)
"""


def run_job(folder: Path, job: object) -> tuple[int, list[dict[str, object]], str]:
    """Run a job file; return exit code, progress lines and the log."""
    path = folder / "job.json"
    path.write_text(json.dumps(job))
    finished = subprocess.run(
        [sys.executable, "-m", "bench.export_job", str(path)],
        cwd=PROJECT,
        env={**os.environ, "PYTHONPATH": str(PROJECT)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    log = path.with_suffix(".log")
    lines = [json.loads(line) for line in finished.stdout.splitlines()]
    return finished.returncode, lines, log.read_text() if log.exists() else finished.stderr


def test_job_exports_and_reports(tmp_path: Path) -> None:
    """A user's file is exported for two cpus beside one that fails, an unknown model and an unknown cpu."""
    (tmp_path / "good.py").write_text(GOOD)
    (tmp_path / "bad.py").write_text(BAD)

    def item(model: str, *cpus: str) -> dict[str, object]:
        outs = [{"cpu": cpu, "out": str(tmp_path / Path(model).stem / cpu)} for cpu in cpus]
        return {"model": model, "scheme": "int8", "cpus": outs, "samples": 2}

    good = f"{tmp_path}/good.py:build"
    code, lines, log = run_job(
        tmp_path,
        [
            item(f"{tmp_path}/bad.py:build", "cortex-m4"),
            item("liner", "cortex-m4"),
            item(good, "cortex-m4", "cortex-m55", "cortex-m99"),
        ],
    )

    assert code == 1
    events = [(e["event"], Path(str(e["model"])).stem, e["cpu"]) for e in lines]
    assert events == [
        ("start", "bad", ""),
        ("failed", "bad", "cortex-m4"),
        ("start", "liner", ""),
        ("failed", "liner", "cortex-m4"),
        ("start", "good", ""),
        ("done", "good", "cortex-m4"),
        ("done", "good", "cortex-m55"),
        ("failed", "good", "cortex-m99"),
    ]
    errors = {e["cpu"] or e["model"]: e["error"] for e in lines if e["event"] == "failed"}
    assert all({"code", "message", "hint"} <= set(error) for error in errors.values())  # type: ignore[call-overload]
    assert "did you mean 'linear'" in json.dumps(lines[3])
    assert "GuardOnDataDependentSymNode" in log
    assert "noise on stdout" in log
    folder = tmp_path / "good" / "cortex-m55"
    manifest = Manifest.from_json((folder / "program.json").read_text())
    assert (manifest.model, manifest.cpu, manifest.sample_count) == ("good", "cortex-m55", 2)
    assert sorted(p.name for p in folder.parent.iterdir()) == ["cortex-m4", "cortex-m55"]


def test_faults_of_the_process_are_told_as_they_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """S05, S06: each with its own code, one place, and a log that is there to be read."""
    source = tmp_path / "bad.py"
    source.write_text(BAD)
    monkeypatch.setattr(programs, "_JOBS", tmp_path / "jobs")
    board = all_boards()["mps2-an386"]
    cases = [Case(board, f"{source}:{name}", "int8") for name in ("build", "nosuch")]

    export, name = programs.ensure_programs(cases, 1, lambda _text: None).values()

    assert isinstance(export, ExportError)
    assert isinstance(name, ModelSourceError)
    assert 1 == str(name).count(f"[{source}:nosuch]")
    for fault in (export, name):
        log = Path(fault.hint.rpartition("full log: ")[2])
        assert log.parent.parent == tmp_path / "jobs"
        assert "GuardOnDataDependentSymNode" in log.read_text()


def test_s03_missing_backend_names_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    """S03: an executorch without its extra is one error that names what to install."""
    monkeypatch.delitem(sys.modules, "bench.export.programs", raising=False)
    monkeypatch.delattr("bench.export.programs", raising=False)
    monkeypatch.setitem(sys.modules, "executorch.exir", None)
    monkeypatch.delitem(sys.modules, "bench.export.lowering", raising=False)

    with pytest.raises(ToolMissingError, match="executorch") as caught:
        export_job._exporter()

    assert "executorch[ethos-u]==1.5.1" in caught.value.hint


def test_bad_job_file_is_usage(tmp_path: Path) -> None:
    """A job file that is none exits with 2 and says which file."""
    code, lines, error = run_job(tmp_path, {"model": "linear"})

    assert (code, lines) == (2, [])
    assert "job.json" in error
