"""Set-up names what is missing on a system that it cannot set up itself."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from bench.cache import PROJECT

SHELL_TOOLS = ("bash", "id", "cat", "env", "printf")


def _system(folder: Path, **programs: str) -> Path:
    """Make a PATH of a few tools, python3, and the given scripts."""
    for tool in SHELL_TOOLS:
        if tool not in programs:
            (folder / tool).symlink_to(f"/usr/bin/{tool}")
    for name, script in {"python3": f'exec {sys.executable} "$@"', **programs}.items():
        (folder / name).write_text(f"#!/bin/bash\n{script}\n")
        (folder / name).chmod(0o755)
    return folder


def _run(path: Path) -> subprocess.CompletedProcess[str]:
    script = PROJECT / "tools" / "system_packages.sh"
    return subprocess.run(["/bin/bash", script], env={"PATH": str(path)}, capture_output=True, text=True, check=False)  # fmt: skip


def test_a_system_without_apt_gets_the_list(tmp_path: Path) -> None:
    """Exit 3 and every missing package by its Debian name."""
    done = _run(_system(tmp_path))

    assert done.returncode == 3
    assert "no apt" in done.stderr
    assert {"gcc-arm-none-eabi", "qemu-system-arm", "cmake", "ninja-build"} <= set(
        done.stderr.split()
    )


def test_a_user_without_sudo_gets_the_command(tmp_path: Path) -> None:
    """What an administrator has to run, in one line."""
    done = _run(_system(tmp_path, **{"id": "echo 1000", "apt-get": "exit 0"}))

    assert done.returncode == 3
    assert "apt-get install gcc-arm-none-eabi qemu-system-arm" in done.stderr


@pytest.mark.parametrize(("uid", "expected"), [("0", "apt-get"), ("1000", "sudo apt-get")])
def test_missing_packages_are_installed_with_apt(uid: str, expected: str, tmp_path: Path) -> None:
    """As root directly, else through sudo; what is there is not asked for."""
    log = tmp_path / "log"
    record = f'echo "$(basename $0) $@" >> {log}'
    programs = {
        "id": f"echo {uid}",
        "apt-get": record,
        "sudo": f'{record}; "$@"',
        "basename": 'echo "${1##*/}"',
        "arm-none-eabi-g++": "exit 0",
    }  # fmt: skip

    done = _run(_system(tmp_path, **programs))

    assert done.returncode == 0, done.stderr
    calls = log.read_text()
    assert f"{expected} install" in calls or f"{expected} update" in calls
    assert "qemu-system-arm" in calls
    assert "gcc-arm-none-eabi" not in calls


def test_an_old_python_is_named(tmp_path: Path) -> None:
    """The version that was found and those that will do."""
    script = 'if [ "$1" = --version ]; then echo Python 3.9.2; else exit 1; fi'

    done = _run(_system(tmp_path, python3=script))

    assert done.returncode == 3
    assert "Python 3.9.2; the lab needs 3.11 or 3.12" in done.stderr
