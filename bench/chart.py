"""A picture of what each instruction of a program costs: horizontal bars by share, as SVG."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

import matplotlib as mpl
from matplotlib.figure import Figure

from bench.operators import REMAINDER, OperatorTable, Row

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Okabe and Ito's palette (Color Universal Design, 2008): told apart by every kind of colour vision.
COLOURS = {
    "int8": "#0072B2",
    "float": "#D55E00",
    "layout": "#E69F00",
    "boundary": "#999999",
    "": "#0072B2",
    REMAINDER: "#CCCCCC",
}
_INCHES_A_ROW = 0.27
_LABEL_ROOM = 1.55  # of the longest bar, for the figures beside it


def operators_svg(table: OperatorTable, title: str) -> bytes:
    """Return the chart: one bar an instruction in order of execution, the remainder last; the same bytes each time."""
    with mpl.rc_context({"svg.hashsalt": "bench", "svg.fonttype": "path", "font.size": 9}):
        height = 1.3 + _INCHES_A_ROW * (len(table.rows) + 1)
        figure = Figure(figsize=(11, height), layout="constrained")
        axes = figure.add_subplot()
        _draw(axes, table)
        axes.set_title(title, loc="left", fontsize=11)
        buffer = io.BytesIO()
        figure.savefig(buffer, format="svg", metadata={"Date": None})
    return buffer.getvalue()


def _draw(axes: Axes, table: OperatorTable) -> None:
    whole = table.latency or 1.0
    names = [*(_name(row) for row in table.rows), REMAINDER]
    kinds = [*(row.info.kind for row in table.rows), REMAINDER]
    shares = [100 * row.share for row in table.rows] + [100 * table.remainder / whole]
    places = list(range(len(names)))
    bars = axes.barh(places, shares, color=[COLOURS[kind] for kind in kinds], height=0.72)
    axes.bar_label(bars, [*(_figures(row) for row in table.rows),
                          _text(shares[-1] / 100, table.remainder)], padding=4)  # fmt: skip
    axes.set_yticks(places, names)
    axes.invert_yaxis()
    axes.set_xlim(0, _LABEL_ROOM * max(shares))
    axes.set_xlabel(f"share of {whole:,.0f} {table.unit} ({table.evidence}), %")
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(axis="y", length=0)
    seen = [kind for kind in dict.fromkeys(kinds) if kind not in {"", REMAINDER}]
    if seen:
        first = {kind: bars[kinds.index(kind)] for kind in seen}
        axes.legend(list(first.values()), seen, loc="lower right", frameon=False)


def _name(row: Row) -> str:
    operator = row.info.operator.rpartition("::")[2].partition(".")[0]
    return f"{row.info.layer}  {operator}" if row.info.layer else operator


def _figures(row: Row) -> str:
    text = _text(row.share, row.value)
    return f"{text}, {row.macs_per_unit:.2f} MACs each" if row.info.macs else text


def _text(share: float, value: float) -> str:
    return f"{share:.1%}: {value:,.0f}"
