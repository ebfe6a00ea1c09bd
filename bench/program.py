"""A program: what export makes of a model for a cpu, as files in one folder.

    program.pte          the ExecuTorch program
    program.json         the `Manifest` below
    input_<i>.bin        sample_count x the input's bytes, as the program wants them
    host_int8_<i>.bin    sample_count x output i of the lowered graph, run by ExecuTorch's own Python operators
                         with the corrections that the manifest names (absent if there is no host reference)
    float_<i>.bin        sample_count x output i of the original model in torch, float32 in the program's layout
    labels.bin           sample_count x int32, absent without a labelled data set

Needs no torch: a warm run reads programs with this module alone.
"""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

MANIFEST_SCHEMA = 1


def is_quantized(scheme: str) -> bool:
    """Whether a scheme is one of int8."""
    return scheme.startswith("int8")


@dataclass(frozen=True)
class TensorInfo:
    """An input or output of the program.

    Attributes:
        shape: logical sizes (NCHW for images).
        dtype: torch's name without the prefix, `float32`, `int8`, ...
        dim_order: dimensions from outer to inner as they lie in memory.
        nbytes: size in bytes.
        scale: of an int8 end that stands for floats, (q - zero_point) * scale; 0.0 if it does not.
        zero_point: see scale.
    """

    shape: tuple[int, ...]
    dtype: str
    dim_order: tuple[int, ...]
    nbytes: int
    scale: float = 0.0
    zero_point: int = 0


@dataclass(frozen=True)
class OperatorInfo:
    """One instruction of the program.

    Attributes:
        index: position in the program's (first) chain.
        operator: full name with overload, `cortex_m::quantized_conv2d.out`.
        layer: path of the module it came from (`stack.0.conv`), empty if unknown.
        kind: `int8` or `float` for arithmetic, `layout` for copies, `boundary` for quantize and dequantize.
        macs: multiply-accumulates per inference, 0 for operators without any.
        inputs: shapes of the activations that go in, without weights and scratch; empty if unknown.
        output: shape of its (first) result.
    """

    index: int
    operator: str
    layer: str
    kind: str
    macs: int
    inputs: tuple[tuple[int, ...], ...] = ()
    output: tuple[int, ...] = ()


@dataclass(frozen=True)
class Finding:
    """Something the export wants the user to know.

    Attributes:
        code: `float-node`, `layout-copy`, `degenerate-range`, `input-relayout`, `no-host-reference`, `cpu-unknown`,
            `untrained`, `pack-kept`, `pack-larger`.
        node: node, layer or tensor it concerns.
        message: the reason and what to do, one sentence each.
    """

    code: str
    node: str
    message: str


NO_ORACLE = "none"  # a ready .pte, of which nothing but its bytes is known


@dataclass(frozen=True)
class Oracle:
    """Which host reference the expected outputs come from.

    Attributes:
        name: e.g. `executorch-1.5.1-python-operators`.
        corrections: names of operators whose Python reference was corrected, each with the reason.
    """

    name: str
    corrections: tuple[str, ...]


@dataclass(frozen=True)
class Manifest:
    """Facts of a program, written by the export beside the `.pte`.

    Attributes:
        cpu: GCC's -mcpu string it was lowered for; empty if unknown (a foreign .pte).
        scheme: `int8`, `int8-ends` (int8 inputs and outputs too) or `fp32`.
        trained: whether the weights were learned; accuracy is only claimed if so.
        int8_mac_fraction: share of MACs that runs in int8, 0..1.
        output_step: for a quantized program, scale of each output's last quantization (size of one step in the
            float output); 0.0 where the output is not quantized.
        pack: name of the packing of its weights (bench/rewrite), empty if they are as exported.
        expect_host_int8: whether host_int8_<i>.bin exist (for fp32 programs too: then the lowered float graph).
    """

    model: str
    cpu: str
    scheme: str
    trained: bool
    source_sha256: str
    weights_sha256: str
    calibration_sha256: str
    dataset_sha256: str
    pte_sha256: str
    pte_bytes: int
    method: str
    inputs: tuple[TensorInfo, ...]
    outputs: tuple[TensorInfo, ...]
    output_step: tuple[float, ...]
    planned_bytes: int
    macs: int
    int8_mac_fraction: float
    operators: tuple[OperatorInfo, ...]
    findings: tuple[Finding, ...]
    oracle: Oracle
    expect_host_int8: bool
    expect_float: bool
    sample_count: int
    labelled: bool
    classes: int
    versions: dict[str, str]
    schema: int = MANIFEST_SCHEMA
    pack: str = ""

    @property
    def quantized(self) -> bool:
        """Whether the scheme is one of int8."""
        return is_quantized(self.scheme)

    def to_json(self) -> str:
        """Return the manifest as indented JSON with sorted keys."""
        return json.dumps(dataclasses.asdict(self), indent=1, sort_keys=True)

    @staticmethod
    def from_json(text: str) -> Manifest:
        """Read a manifest; raises ValueError, KeyError or TypeError on a foreign one."""
        raw: dict[str, Any] = json.loads(text)
        if raw.get("schema") != MANIFEST_SCHEMA:
            raise ValueError(f"manifest schema {raw.get('schema')!r}, want {MANIFEST_SCHEMA}")

        def tensors(key: str) -> tuple[TensorInfo, ...]:
            return tuple(
                TensorInfo(**t | {"shape": tuple(t["shape"]), "dim_order": tuple(t["dim_order"])})
                for t in raw[key]
            )

        raw["inputs"] = tensors("inputs")
        raw["outputs"] = tensors("outputs")
        raw["operators"] = tuple(
            OperatorInfo(
                **o
                | {
                    "inputs": tuple(tuple(shape) for shape in o.get("inputs", ())),
                    "output": tuple(o.get("output", ())),
                }
            )
            for o in raw["operators"]
        )
        raw["findings"] = tuple(Finding(**f) for f in raw["findings"])
        raw["oracle"] = Oracle(raw["oracle"]["name"], tuple(raw["oracle"]["corrections"]))
        raw["output_step"] = tuple(raw["output_step"])
        return Manifest(**raw)


@dataclass(frozen=True)
class Program:
    """A program on disk: its folder and its manifest."""

    folder: Path
    manifest: Manifest

    @property
    def pte(self) -> Path:
        """Path of the .pte file."""
        return self.folder / "program.pte"
