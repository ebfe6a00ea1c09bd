"""The clock check: at what rate a device's counter runs by this machine's clock (docs/wire.md)."""

from __future__ import annotations

from collections.abc import Mapping

TOLERANCE = 0.02  # of the board file's rate
LEAST_S = 2.0  # between the two lines that are compared
_LINES = 6


def counted_hz(
    ticks: Mapping[int, int], arrived: Mapping[int, float], nominal_hz: int
) -> float | None:
    """Return the counter's rate, or None where lines did not come in their turn.

    Args:
        ticks: line's number -> the counter when it was sent.
        arrived: line's number -> when it arrived, in seconds.
        nominal_hz: rate by which a line's delay is told; another than the true one makes the choice of lines
            worse, not the rate.
    """
    came = sorted(number for number in ticks if number in arrived)
    if len(came) < _LINES or len(ticks) != _LINES:
        return None

    def delay_s(number: int) -> float:
        return arrived[number] - ticks[number] / nominal_hz

    first = min(came[: _LINES // 2], key=delay_s)
    last = min(came[_LINES // 2 :], key=delay_s)
    seconds = arrived[last] - arrived[first]
    return (ticks[last] - ticks[first]) / seconds if seconds > 0 else float("inf")
