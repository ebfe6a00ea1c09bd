"""Latency first, with no debugger on the bus; outputs and dumps after it, attached and untimed (DESIGN)."""

from __future__ import annotations

import re

import pytest

from bench.bundle import Options, pack
from tests.probe.conftest import UPSTREAM, Simulated, bundle_of, output_of

pytestmark = pytest.mark.qemu

_KIND = re.compile(rb"^@\d+ ([a-z_]+)", re.MULTILINE)
_TIMED = {b"load", b"measure", b"op"}


def test_a_debugger_comes_only_when_everything_is_measured(an386: Simulated) -> None:
    """It is first seen at the byte after the `measured` line; no timed line comes after it, no output before."""
    pte = (UPSTREAM / "linear_cortex-m4.pte").read_bytes()
    sample = (UPSTREAM / "linear_cortex-m4.in.bin").read_bytes()
    everything = Options(warmup=1, iterations=2, operator_ticks=True, intermediates=True)
    bundle = pack(pte, [[sample]] * 3, everything)

    log, transcript = an386.run(bundle)

    came_at = an386.bench.status()["watched_from"]
    before, after = transcript.raw[:came_at], transcript.raw[came_at:]
    assert re.search(rb"^@\d+ measured \*[0-9a-f]{8}\n\Z", before, re.MULTILINE)
    kinds_before, kinds_after = _KIND.findall(before), _KIND.findall(after)
    assert {b"load", b"measure", b"op"} <= set(kinds_before)
    assert not _TIMED & set(kinds_after)
    assert b"measured" not in set(kinds_before[: kinds_before.index(b"op")])
    assert {b"output", b"intermediate"} <= set(kinds_after)
    assert not {b"output", b"intermediate"} & set(kinds_before)
    assert {output_of("linear")} == set(log.outputs.values())


def test_a_lost_measured_line_comes_again(an386: Simulated) -> None:
    """The device repeats it until the host has come: nobody has to look while it might still measure."""
    _, whole = an386.run()
    line = re.search(rb"@\d+ measured", whole.raw)
    assert line is not None
    an386.bench.arm(serial_lose={line.start(): 10})

    log, transcript = an386.run(deadline_s=120.0)

    assert 0 == transcript.repaired_lines
    assert transcript.seconds < 60.0
    assert output_of("linear") == log.outputs[0, 0]


def test_lost_lines_of_a_dump_are_made_anew(an386: Simulated) -> None:
    """What every instruction wrote is asked for again like outputs, and the dump is the undisturbed one's."""
    pte = (UPSTREAM / "ds_cnn_cortex-m4.pte").read_bytes()
    sample = (UPSTREAM / "ds_cnn_cortex-m4.in.bin").read_bytes()
    bundle = pack(pte, [[sample]], Options(warmup=0, iterations=1, intermediates=True))
    whole, transcript = an386.run(bundle)
    dump = transcript.raw.index(b" intermediate ")
    an386.bench.arm(serial_lose={dump + 2_000: 3, dump + 20_000: 900})

    log, repaired = an386.run(bundle)

    assert repaired.repaired_lines >= 3
    assert whole.intermediates == log.intermediates
    assert len(log.intermediates) > 10


def test_the_measured_figures_are_those_of_the_journal(an386: Simulated) -> None:
    """A lost line with a figure comes byte for byte as it was first sent; nothing is measured twice."""
    log, whole = an386.run(bundle_of("linear", iterations=3))
    line = re.search(rb"@\d+ measure name=latency i=1", whole.raw)
    assert line is not None
    an386.bench.arm(serial_lose={line.start(): 5})

    again, transcript = an386.run(bundle_of("linear", iterations=3))

    assert 1 == transcript.repaired_lines
    assert log.ticks == again.ticks
