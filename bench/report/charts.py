"""Charts as SVG that takes the page's colours: text and lines by CSS variables, series by the Okabe-Ito palette."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import matplotlib as mpl

mpl.use("svg")

from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, MaxNLocator, NullFormatter

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# M. Okabe and K. Ito, Color Universal Design, 2008: distinguishable with every common colour vision
PALETTE = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#999999", "#F0E442")
HATCHES = ("", "//", "..", "xx", "\\\\", "oo", "--", "++")
MARKERS = "osD^vP*X"
_INK, _FAINT, _PAPER = "#010203", "#040506", "#070809"  # stand for CSS variables
_VARIABLES = {_INK: "var(--ink)", _FAINT: "var(--faint)", _PAPER: "var(--paper)"}
_LABEL = 7.5  # points, of a board's name beside its dot
_LETTER = 0.56 * _LABEL  # mean width of a letter
_STYLE: Any = {  # matplotlib types its keys one by one
    "svg.fonttype": "none",
    "svg.hashsalt": "bench",
    "font.family": "sans-serif",
    "font.size": 9,
    "text.color": _INK,
    "axes.labelcolor": _INK,
    "axes.edgecolor": _FAINT,
    "axes.facecolor": "none",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "figure.facecolor": "none",
    "xtick.color": _INK,
    "ytick.color": _INK,
    "grid.color": _FAINT,
    "grid.linewidth": 0.4,
    "legend.frameon": False,
    "hatch.color": _PAPER,
    "hatch.linewidth": 0.6,
}


def _figure(height: float, width: float = 6.4) -> Figure:
    return Figure(figsize=(width, height), layout="constrained")


def _svg(figure: Figure, label: str) -> str:
    """Return the figure as an SVG element with a name for screen readers, in the page's colours."""
    buffer = io.StringIO()
    figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    text = buffer.getvalue()
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    text = re.sub(r'(<svg[^>]*?) width="[^"]*"', r"\1", text, count=1)
    text = re.sub(r'(<svg[^>]*?) height="[^"]*"', r"\1", text, count=1)
    text = text.replace("<svg ", f'<svg role="img" aria-label="{label}" ', 1)
    text = re.sub(r"font: ([0-9.]+px) [^;\"]*", r"font: \1 system-ui, sans-serif", text)
    for colour, variable in _VARIABLES.items():
        text = text.replace(colour, variable)
    text = re.sub(r'<g id="[^"]*"', "<g", text)  # the same in every chart; a page has an id once
    text = re.sub(r"\s*<!--.*?-->\s*|\s*\n\s*", "\n", text, flags=re.DOTALL)
    return re.sub(r"(?<=\d\.\d{2})\d+", "", text)  # hundredths of a point are enough


def standalone(svg: str) -> str:
    """Return a chart of this module as a file of its own: dark on white, whatever shows it."""
    for variable, colour in (("--ink", "#1b1f23"), ("--faint", "#b8bec4"), ("--paper", "#ffffff")):
        svg = svg.replace(f"var({variable})", colour)
    view = re.search(r'viewBox="[0-9.]+ [0-9.]+ ([0-9.]+) ([0-9.]+)"', svg)
    assert view is not None  # matplotlib writes one
    size = f'width="{view.group(1)}pt" height="{view.group(2)}pt" style="background:#fff" '
    return '<?xml version="1.0" encoding="utf-8"?>\n' + svg.replace("<svg ", f"<svg {size}", 1)


@dataclass(frozen=True)
class Point:
    """A dot with its band."""

    label: str
    x: float
    low: float
    high: float
    y: float
    front: bool
    group: str


def pareto(points: Sequence[Point], x_label: str, y_label: str) -> str:
    """Return a scatter with horizontal bands; what is on the front is filled and named."""
    with mpl.rc_context(_STYLE):
        figure = _figure(2.9)
        axes = figure.add_subplot()
        groups = list(dict.fromkeys(point.group for point in points))
        for index, group in enumerate(groups):
            mine = [point for point in points if point.group == group]
            colour = PALETTE[index % len(PALETTE)]
            for point in mine:
                axes.plot([point.low, point.high], [point.y, point.y], color=colour, linewidth=1.5)
            axes.scatter(
                [p.x for p in mine], [p.y for p in mine], s=40, marker=MARKERS[index % len(MARKERS)],
                facecolors=[colour if p.front else "none" for p in mine], edgecolors=colour, label=group,
            )  # fmt: skip
        if points and max(p.high for p in points) > 20 * min(p.low for p in points):
            axes.set_xscale("log")
            axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
            axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.6g}")
            axes.xaxis.set_minor_formatter(NullFormatter())
        axes.margins(0.12, 0.2)
        axes.set_xlabel(x_label)
        axes.set_ylabel(y_label)
        if y_label.endswith("%"):
            axes.set_ylim(top=min(100.5, axes.get_ylim()[1]))  # nobody is right more often
        axes.grid(visible=True)
        figure.legend(loc="outside upper right", ncols=len(groups), fontsize=8)
        _name_points(figure, axes, points)
        return _svg(figure, f"{y_label} against {x_label}")


def _name_points(figure: Figure, axes: Axes, points: Sequence[Point]) -> None:
    """Write each point's label where no other label or point is: beside it, else higher or lower with a line to it."""
    figure.draw_without_rendering()  # the layout decides where data lie, in pixels
    to_points = 72.0 / figure.dpi
    at = [axes.transData.transform((p.x, p.y)) * to_points for p in points]
    boxes = [(x - 4, y - 4, x + 4, y + 4) for x, y in at]
    for point, (x, y) in sorted(zip(points, at, strict=True), key=lambda pair: tuple(pair[1])):
        width, height = _LETTER * len(point.label), _LABEL * 1.1
        steps = [(side, lift) for lift in (4, -12, 14, -22, 24, -32, 34, -42, 44) for side in (5, -5 - width)]  # fmt: skip
        free = [
            (dx, dy)
            for dx, dy in steps
            if not any(
                x + dx < b[2] and b[0] < x + dx + width and y + dy < b[3] and b[1] < y + dy + height
                for b in boxes
            )
        ]
        dx, dy = free[0] if free else steps[0]
        boxes.append((x + dx, y + dy, x + dx + width, y + dy + height))
        line = {"arrowstyle": "-", "color": _FAINT, "linewidth": 0.6} if abs(dy) > 12 else None
        axes.annotate(point.label, (point.x, point.y), xytext=(dx, dy), textcoords="offset points", fontsize=_LABEL, arrowprops=line)  # fmt: skip


def stacked(
    rows: Sequence[str], parts: Sequence[str], values: Sequence[Sequence[float]], unit: str
) -> str:
    """Return horizontal bars, one a row, stacked of the parts, with colour and hatch."""
    with mpl.rc_context(_STYLE):
        figure = _figure(0.9 + 0.32 * len(rows))
        axes = figure.add_subplot()
        left = [0.0] * len(rows)
        for index, part in enumerate(parts):
            widths = [row[index] for row in values]
            axes.barh(
                rows, widths, left=left, label=part, height=0.62, color=PALETTE[index % len(PALETTE)],
                hatch=HATCHES[index % len(HATCHES)], linewidth=0,
            )  # fmt: skip
            left = [a + b for a, b in zip(left, widths, strict=True)]
        for row, total in zip(rows, left, strict=True):
            axes.annotate(f" {total:,.0f}", (total, row), va="center", fontsize=8)
        axes.invert_yaxis()
        axes.set_xlabel(unit)
        axes.margins(x=0.14)
        axes.xaxis.set_major_locator(MaxNLocator(6))
        axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
        figure.legend(loc="outside upper left", ncols=3, fontsize=8)
        return _svg(figure, f"{', '.join(parts)} in {unit}")


def bars(rows: Sequence[str], values: Sequence[float], unit: str, kinds: Sequence[str]) -> str:
    """Return horizontal bars coloured by kind, each with its part of the whole."""
    with mpl.rc_context(_STYLE):
        figure = _figure(0.8 + 0.21 * len(rows))
        axes = figure.add_subplot()
        known = list(dict.fromkeys(kinds))
        total = sum(values) or 1.0
        for index, kind in enumerate(known):
            mine = [i for i, k in enumerate(kinds) if k == kind]
            axes.barh(
                mine, [values[i] for i in mine], color=PALETTE[index % len(PALETTE)], label=kind,
                hatch=HATCHES[index % len(HATCHES)], linewidth=0, height=0.7,
            )  # fmt: skip
        for index, value in enumerate(values):
            axes.annotate(f" {value / total:.1%}", (value, index), va="center", fontsize=7.5)
        axes.set_yticks(range(len(rows)), rows, fontsize=7.5)
        axes.invert_yaxis()
        axes.set_xlabel(unit)
        axes.margins(x=0.12, y=0.02)
        axes.xaxis.set_major_locator(MaxNLocator(6))
        axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
        figure.legend(loc="outside upper right", ncols=len(known), fontsize=8)
        return _svg(figure, f"operators in {unit}")


@dataclass(frozen=True)
class Series:
    """Values of a cell over its runs.

    Attributes:
        values: relative to the newest, in per cent.
        band: half the noise band in per cent, 0 for exact figures.
        marks: indices at which a version changed.
        retried: indices of runs that needed a retry.
    """

    label: str
    values: Sequence[float]
    band: float
    marks: Sequence[int]
    retried: Sequence[int]


def trend(series: Sequence[Series], y_label: str) -> str:
    """Return lines over runs; versions that changed are ticks, retries hollow rings, noise a band."""
    with mpl.rc_context(_STYLE):
        figure = _figure(2.6)
        axes = figure.add_subplot()
        for index, one in enumerate(series):
            colour = PALETTE[index % len(PALETTE)]
            x = [i - len(one.values) + 1 for i in range(len(one.values))]
            axes.plot(x, one.values, color=colour, linewidth=1.3, marker=MARKERS[index % len(MARKERS)], markersize=3, label=one.label)  # fmt: skip
            if one.band:
                axes.fill_between(x, -one.band, one.band, color=colour, alpha=0.15, linewidth=0)
            for mark in one.marks:
                axes.plot(x[mark], one.values[mark], marker="|", color=_INK, markersize=11)
            for mark in one.retried:
                axes.plot(x[mark], one.values[mark], marker="o", color=_INK, markersize=8, fillstyle="none", linestyle="")  # fmt: skip
        axes.set_xlabel("runs, newest at 0")
        axes.set_ylabel(y_label)
        axes.grid(visible=True)
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        figure.legend(loc="outside upper right", ncols=3, fontsize=8)
        return _svg(figure, f"{y_label} over runs")
