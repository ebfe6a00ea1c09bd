"""The files of a program: complete, consistent, and the same each time."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import torch
from torch import nn

from bench.errors import InputError, UnknownNameError
from bench.export.lowering import CPU_METHOD, capture, lower, target_config, to_edge_dialect
from bench.export.oracle import graph_identity
from bench.export.prepare import prepare
from bench.export.programs import ProgramFiles, export_programs
from bench.export.report import find_plan, read_program
from bench.model import ModelDefinition
from bench.program import Manifest

Zoo = Callable[..., dict[str, ProgramFiles]]
ExportOne = Callable[..., ProgramFiles]


@pytest.mark.parametrize("scheme", ["int8", "fp32"])
@pytest.mark.parametrize("model", ["linear", "digits_cnn"])
def test_files_match_the_manifest(zoo: Zoo, model: str, scheme: str) -> None:
    """Every file that the manifest promises exists with the promised size, and the manifest survives JSON."""
    for made in zoo(model, scheme).values():
        manifest = Manifest.from_json(made.files["program.json"].decode())

        assert made.manifest == manifest
        count = manifest.sample_count
        assert len(made.files["input_0.bin"]) == count * manifest.inputs[0].nbytes
        assert len(made.files["host_int8_0.bin"]) == count * manifest.outputs[0].nbytes
        assert len(made.files["float_0.bin"]) == count * manifest.outputs[0].nbytes
        assert ("labels.bin" in made.files) == manifest.labelled
        assert len(made.files["program.pte"]) == manifest.pte_bytes
        assert (manifest.scheme == "int8") == bool(manifest.calibration_sha256)


@pytest.mark.parametrize("cpu", ["cortex-m4", "cortex-m55"])
def test_program_carries_its_cpu(zoo: Zoo, cpu: str) -> None:
    """A constant method says which cpu the program was lowered for; `forward` stays first."""
    program = read_program(zoo("linear")[cpu].files["program.pte"])
    plan = find_plan(program, CPU_METHOD)

    assert [p.name for p in program.execution_plan] == ["forward", CPU_METHOD]
    assert cpu == plan.values[plan.outputs[0]].val.string_val
    assert (len(plan.chains[0].instructions), plan.inputs) == (0, [])


def test_same_model_gives_same_bytes(zoo: Zoo, export_one: ExportOne) -> None:
    """Exporting twice gives the same program, so caches and baselines can be keyed by it."""
    torch.manual_seed(0)
    module = nn.Sequential(nn.Conv2d(2, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(144, 2))
    one, two = (export_one(module, torch.zeros(1, 2, 8, 8)) for _ in range(2))

    assert one.files == two.files


@pytest.mark.parametrize("model", ["ds_cnn", "resnet8"])
def test_layers_and_kinds(zoo: Zoo, model: str) -> None:
    """Each instruction names its module and kind, in the program's order."""
    made = zoo(model)["cortex-m4"]
    operators = made.manifest.operators
    plan = find_plan(read_program(made.files["program.pte"]), "forward")

    assert len(plan.chains[0].instructions) == len(operators)
    assert list(range(len(operators))) == [o.index for o in operators]
    assert (operators[0].kind, operators[-1].kind) == ("boundary", "boundary")
    convolutions = [o for o in operators if "conv2d" in o.operator]
    assert all(o.kind == "int8" and o.macs and o.layer.count(".") >= 1 for o in convolutions)
    assert operators[-2].layer == "classifier"


def test_output_step_is_one_step(zoo: Zoo) -> None:
    """Outputs are whole multiples of the output step."""
    made = zoo("digits_cnn")["cortex-m4"]
    step = made.manifest.output_step[0]
    steps = np.frombuffer(made.files["host_int8_0.bin"], "<f4") / step

    assert step > 0
    np.testing.assert_allclose(steps, np.round(steps), atol=1e-3)


@pytest.mark.parametrize("model", ["digits_cnn", "ds_cnn", "resnet8", "autoencoder", "linear"])
def test_fp32_program_is_the_model(zoo: Zoo, model: str) -> None:
    """The lowered float graph agrees with the original model; nothing is int8, nothing is quantized."""
    made = zoo(model, "fp32")["cortex-m4"]
    lowered, original = (
        np.frombuffer(made.files[name], "<f4") for name in ("host_int8_0.bin", "float_0.bin")
    )

    np.testing.assert_allclose(lowered, original, rtol=1e-4, atol=1e-5)
    assert (made.manifest.int8_mac_fraction, made.manifest.output_step) == (0.0, (0.0,))
    assert made.manifest.macs == zoo(model)["cortex-m4"].manifest.macs
    assert "aten::permute_copy.out" not in [o.operator for o in made.manifest.operators]


def test_scalar_and_dsp_graphs_compute_the_same() -> None:
    """M3 and M4 differ in scratch sizes alone, so that they may share expected outputs; an M55 does not."""
    torch.manual_seed(0)
    module = nn.Sequential(nn.Conv2d(4, 8, 3), nn.ReLU(), nn.Flatten(), nn.Linear(288, 4)).eval()
    definition = ModelDefinition(module, (torch.randn(1, 4, 8, 8),))
    captured = capture(prepare(definition, None), "int8")
    edge = to_edge_dialect(captured)
    m3, m4, m55 = (
        graph_identity(lower(edge, "int8", target_config(f"cortex-m{n}"))) for n in (3, 4, 55)
    )

    assert m3 == m4
    assert m4 != m55


def test_sample_count_is_the_users(zoo: Zoo) -> None:
    """--samples gives that many, drawn at random beyond the model's own; a labelled set ends where it ends."""
    torch.manual_seed(0)
    definition = ModelDefinition(
        nn.Linear(4, 2).eval(), (torch.randn(1, 4),), test_inputs=[(torch.randn(1, 4),)] * 2
    )
    labelled = ModelDefinition(
        definition.module, definition.example_inputs, (), definition.test_inputs, labels=(0, 1)
    )

    assert [len(prepare(definition, n).samples) for n in (None, 5)] == [1, 5]
    assert [len(prepare(labelled, n).samples) for n in (None, 1, 5)] == [2, 1, 2]


def test_unknown_cpu_spares_the_others() -> None:
    """A cpu that ExecuTorch does not know is one failure; the other programs are made."""
    torch.manual_seed(0)
    definition = ModelDefinition(nn.Linear(4, 2).eval(), (torch.randn(1, 4),))
    results = list(
        export_programs(
            "case",
            definition,
            scheme="int8",
            cpus=("cortex-m99", "cortex-m33+nodsp"),
            samples=None,
            model_sha256="",
        )
    )

    assert isinstance(results[0].error, UnknownNameError)  # type: ignore[union-attr]
    assert results[1].manifest.cpu == "cortex-m33+nodsp"  # type: ignore[union-attr]
    with pytest.raises(InputError, match="no scheme 'int4'"):
        list(
            export_programs(
                "case", definition, scheme="int4", cpus=(), samples=None, model_sha256=""
            )
        )
