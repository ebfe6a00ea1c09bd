"""Child processes end at their deadline, and what they said is kept."""

from __future__ import annotations

import sys

import pytest

from bench.errors import ToolMissingError
from bench.process import run


def test_output_and_status_are_kept() -> None:
    """Both streams and the exit code come back."""
    code = "import sys; print('out'); print('err', file=sys.stderr); sys.exit(7)"

    done = run([sys.executable, "-c", code], deadline_s=30)

    assert (done.stdout, done.stderr, done.exit_code) == (b"out\n", b"err\n", 7)


def test_an_endless_trickle_ends_at_the_overall_deadline() -> None:
    """G17: a byte every 50 ms for ever does not restart the clock."""
    code = (
        "import sys,time\nwhile True: sys.stdout.write('x'); sys.stdout.flush(); time.sleep(0.05)"
    )

    done = run([sys.executable, "-c", code], deadline_s=1.0)

    assert done.timed_out
    assert done.seconds < 10.0
    assert set(done.stdout) == {ord("x")}


def test_a_grandchild_does_not_survive_the_deadline() -> None:
    """The whole process group is killed: the pipe that the grandchild holds does not keep us."""
    code = (
        "import subprocess,sys; subprocess.run([sys.executable,'-c','import time; time.sleep(60)'])"
    )

    done = run([sys.executable, "-c", code], deadline_s=1.0)

    assert done.timed_out
    assert done.seconds < 20.0


def test_endless_output_is_cut() -> None:
    """A device that floods the port is stopped at the limit."""
    code = "import sys\nwhile True: sys.stdout.write('x' * 65536)"

    done = run([sys.executable, "-c", code], deadline_s=60, output_limit_bytes=1 << 20)

    assert done.overflowed


def test_a_missing_tool_is_named_with_what_to_do() -> None:
    """The message says how to get it."""
    with pytest.raises(ToolMissingError, match="no-such-tool is not installed") as caught:
        run(["no-such-tool"], deadline_s=1, tool_hint="apt-get install it")

    assert caught.value.hint == "apt-get install it"


def test_lines_are_told_as_they_come() -> None:
    """Progress is told per whole line."""
    told: list[str] = []

    run([sys.executable, "-c", "print('a'); print('b')"], deadline_s=30, on_line=told.append)

    assert told == ["a", "b"]
