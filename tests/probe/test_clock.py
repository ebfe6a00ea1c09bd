"""The clock check with a device's own firmware: one whose counter runs by this machine's clock, one whose does not."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from bench.bundle import Options, pack
from bench.clock import counted_hz
from bench.targets.simprobe.gdb_link import HOST_CLOCK
from tests.probe.conftest import UPSTREAM, Simulated

pytestmark = pytest.mark.qemu


def _rate(device: Simulated) -> tuple[float, float]:
    """Return the rate of a run with the check, and the seconds between its first and last clock line."""
    pte = (UPSTREAM / "linear_cortex-m4.pte").read_bytes()
    sample = (UPSTREAM / "linear_cortex-m4.in.bin").read_bytes()
    bundle = pack(pte, [[sample]], Options(warmup=0, iterations=1, clock_check=True))
    log, transcript = device.run(bundle)
    hz = counted_hz(log.clock, transcript.arrived, device.board.clock_hz)
    assert hz is not None
    return hz, max(transcript.arrived.values()) - min(transcript.arrived.values())


def test_a_counter_that_keeps_time_is_found_to(
    plug_in: Callable[..., Simulated], monkeypatch: pytest.MonkeyPatch
) -> None:
    """QEMU without -icount counts 25 MHz by this machine's clock: within 2 %, over more than two seconds.

    Up to three runs: a busy machine may hear all lines of a group late.
    """
    monkeypatch.setenv(HOST_CLOCK, "1")
    device = plug_in()

    rates = []
    while len(rates) < 3 and not any(abs(hz / 25e6 - 1) <= 0.02 for hz, _ in rates):
        rates.append(_rate(device))

    assert 25e6 == pytest.approx(rates[-1][0], rel=0.02)
    assert rates[-1][1] > 2.0


def test_a_counter_at_another_rate_is_found_out(an386: Simulated) -> None:
    """QEMU as fast as it can: the firmware says 25 MHz, this machine's clock says otherwise."""
    hz, _ = _rate(an386)

    assert abs(hz / 25e6 - 1) > 0.02
