"""Watch what calibration feeds to the quantizer, and find ranges that cannot serve.

A range serves if a typical calibration input uses a fair part of int8's 256 levels. It does not if it is a
point (constant or all-zero inputs), or if an outlier stretches it so far that everything else shares a few levels.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from torchao.quantization.pt2e.observer import FixedQParamsObserver, ObserverBase

from bench.program import Finding

if TYPE_CHECKING:
    from torch.utils.hooks import RemovableHandle

MIN_LEVELS = 4.0  # of 256: fewer than two bits for a typical input


@dataclass(frozen=True)
class Ranges:
    """What one activation was in calibration.

    Attributes:
        node: its name in the annotated graph.
        layer: path of the module it comes from.
        low: smallest value of all inputs.
        high: largest value of all inputs.
        spreads: by input, the width that holds 90 % of its non-zero values.
    """

    node: str
    layer: str
    low: float
    high: float
    spreads: tuple[float, ...]


class _Watch:
    """Collects ranges while the module runs; `close` ends it."""

    def __init__(self) -> None:
        self._seen: dict[tuple[str, str], list[tuple[float, float, float]]] = {}
        self._hooks: list[RemovableHandle] = []

    def attach(self, observer: torch.nn.Module, node: str, layer: str) -> None:
        seen = self._seen.setdefault((node, layer), [])

        def hook(_: torch.nn.Module, args: tuple[Any, ...]) -> None:
            values = args[0].detach().flatten()
            nonzero = values[values != 0]
            if nonzero.numel() == 0:
                nonzero = values[:1]
            ends = torch.quantile(nonzero[:100_000], torch.tensor([0.05, 0.95]))
            seen.append((float(values.min()), float(values.max()), float(ends[1] - ends[0])))

        self._hooks.append(observer.register_forward_pre_hook(hook))

    def close(self) -> tuple[Ranges, ...]:
        for hook in self._hooks:
            hook.remove()
        return tuple(
            Ranges(
                node,
                layer,
                min(low for low, _, _ in seen),
                max(high for _, high, _ in seen),
                tuple(spread for _, _, spread in seen),
            )
            for (node, layer), seen in self._seen.items()
            if seen
        )


def watch_ranges(module: torch.fx.GraphModule) -> _Watch:
    """Attach to the activation observers of a graph from prepare_pt2e."""
    watch = _Watch()
    watched: set[int] = set()
    for node in module.graph.nodes:
        if node.op != "call_module":
            continue
        observer = module.get_submodule(str(node.target))
        if not isinstance(observer, ObserverBase) or id(observer) in watched:
            continue
        source = node.args[0]
        if source.op == "get_attr" or isinstance(observer, FixedQParamsObserver):
            continue  # weights are what they are; a fixed range was not calibrated
        watched.add(id(observer))
        watch.attach(observer, source.name, layer_of(source))
    return watch


def layer_of(node: torch.fx.Node) -> str:
    """Return the path of the module that a node comes from, empty if unknown."""
    stack = node.meta.get("nn_module_stack") or {}
    paths = [path for path, _ in stack.values() if path]
    return str(paths[-1]) if paths else ""


def degenerate_findings(ranges: tuple[Ranges, ...]) -> list[Finding]:
    """Return a finding for each activation whose calibration cannot serve."""
    findings = []
    for seen in ranges:
        width = seen.high - seen.low
        place = seen.layer or seen.node
        if width == 0:
            value = "zero" if seen.low == 0 else f"{seen.low:g}"
            what = f"was {value} everywhere in calibration"
        else:
            # The quantizer's range always holds zero.
            full = max(seen.high, 0.0) - min(seen.low, 0.0)
            spread = sorted(seen.spreads)[(len(seen.spreads) - 1) // 2]
            levels = 256 * spread / full
            if spread == 0 or levels >= MIN_LEVELS:
                continue
            what = (
                f"has a range of [{seen.low:.4g}, {seen.high:.4g}] in calibration, in which a typical input "
                f"uses {levels:.2g} of 256 levels"
            )
        findings.append(
            Finding(
                "degenerate-range",
                f"{place} ({seen.node})" if place != seen.node else place,
                f"It {what}. Calibrate with inputs like those in use, without outliers.",
            )
        )
    return findings
