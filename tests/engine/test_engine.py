"""The other engine: an installed ExecuTorch, a stand-in for one, and none.

The wheel that the exporter comes from has ExecuTorch's runtime for the host: the adapter runs over the real one there.
For Cortex-M there is no package to install, so a stand-in with the same package, targets and API takes its place.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from bench.cache import PROJECT
from bench.cli import app
from bench.engine import PREFIXES, arguments, check_engine, package_of
from bench.errors import EngineMissingError, UnknownNameError
from tests.runtime.building import schema_folder

STAND_IN = Path(__file__).parent / "stand_in"
VECTORS = PROJECT / "tests" / "data" / "upstream"
RUN_TIMEOUT_S = 600


def test_the_labs_own_engine_needs_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without --engine no package is looked for."""
    monkeypatch.delenv(PREFIXES, raising=False)

    assert [] == arguments("lab")


def test_absent_engine_says_what_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is missing, how it is made, where that is documented, and which variable names it."""
    monkeypatch.delenv(PREFIXES, raising=False)

    with pytest.raises(
        EngineMissingError, match="built and installed for the board's cpu"
    ) as error:
        package_of("executorch")

    assert error.value.code == "engine-missing"
    for word in ("cmake --install", "docs.pytorch.org/executorch", PREFIXES, "docs/engines.md"):
        assert word in error.value.hint


def test_folder_without_the_package(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The message lists where it was looked for."""
    monkeypatch.setenv(PREFIXES, f"{tmp_path}{os.pathsep}{tmp_path / 'other'}")

    with pytest.raises(
        EngineMissingError, match=r"executorch-config\.cmake in lib/cmake/ExecuTorch"
    ):
        package_of("executorch")


def test_absent_engine_ends_a_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """`bench run --engine=executorch` without a package ends before anything is built."""
    monkeypatch.delenv(PREFIXES, raising=False)
    program = str(VECTORS / "linear_cortex-m4.pte")

    done = CliRunner().invoke(app, ["run", program, "--board=host", "--engine=executorch"])

    assert isinstance(done.exception, EngineMissingError)


def test_unknown_engine() -> None:
    """A name that is no engine is refused with the list."""
    with pytest.raises(UnknownNameError, match="no engine 'tflm'"):
        check_engine("tflm")


@pytest.mark.qemu
@pytest.mark.toolchain
@pytest.mark.skipif(shutil.which("qemu-system-arm") is None, reason="no QEMU")
@pytest.mark.parametrize(
    ("board", "cpu"), [("mps2-an386", "cortex-m4"), ("mps3-an547", "cortex-m55")]
)
def test_stand_in_on_an_emulated_board(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, board: str, cpu: str
) -> None:
    """Same firmware, same lines, same record: its kernels' static constructors ran, and the outputs are right.

    The package is as upstream's: a library of kernels outside EXECUTORCH_LIBRARIES, and -fPIC from the interface.
    """
    monkeypatch.setenv(PREFIXES, str(STAND_IN))
    out = tmp_path / "out.bin"
    program, given = VECTORS / f"linear_{cpu}.pte", VECTORS / f"linear_{cpu}.in.bin"
    command = ["run", str(program), f"--board={board}", "--engine=executorch", "--json", "-v",
               f"--input={given}", f"--output={out}", "--operators"]  # fmt: skip

    done = CliRunner().invoke(app, command, catch_exceptions=False)

    both = json.loads(done.stdout)
    record = both["record"]
    assert {"name": "executorch", "version": "0.0.1"} == record["engine"]
    assert record["status"] in {"valid", "degraded"}
    assert (VECTORS / f"linear_{cpu}.out.bin").read_bytes() == out.read_bytes()
    assert ["lab"] == [image["role"] for image in record["images"]]
    assert [0, 1, 2, 3] == [row["index"] for row in both["operators"]["rows"]]


def test_the_real_runtime_on_the_host(tmp_path: Path) -> None:
    """ExecuTorch's own runtime, from the exporter's wheel, runs a float program in this firmware."""
    environment = os.environ | {PREFIXES: str(schema_folder().parent)}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--board=host", "--model=linear",
               "--scheme=fp32", "--engine=executorch", "--samples=2", f"--record={tmp_path}"]  # fmt: skip

    done = subprocess.run(
        command, cwd=PROJECT, env=environment, capture_output=True, text=True, timeout=RUN_TIMEOUT_S, check=False
    )  # fmt: skip

    assert done.returncode == 0, done.stdout[-3000:]
    (file,) = [
        path for path in tmp_path.glob("host/linear/*-fp32-*.json") if path.name.count(".") == 1
    ]
    record = json.loads(file.read_text())
    assert record["engine"]["name"] == "executorch"
    assert record["engine"]["version"].startswith("1.")
    errors = {m["unit"]: m["median"] for m in record["measures"] if m["name"] == "error_float"}
    assert errors["dB"] > 100.0
