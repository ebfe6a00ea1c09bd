"""Programs that upstream's own runtime ran on emulated devices: ours gives the same bytes."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.rewrite.dsp_weights import pack
from bench.rewrite.flat import read_flat, write_flat
from bench.rewrite.slim import slim
from tests.runtime.conftest import VECTORS, Runner

MODELS = ["linear", "ds_cnn", "resnet8", "mobilenet_v1_025", "autoencoder", "transformer_block"]
CPUS = ["cortex-m4", "cortex-m55"]


@pytest.mark.parametrize("cpu", CPUS)
@pytest.mark.parametrize("model", MODELS)
def test_outputs_equal_upstreams(runner: Runner, model: str, cpu: str) -> None:
    """Same program, same input: the output bytes of ExecuTorch's C++ runtime with CMSIS-NN."""
    expected = (VECTORS / f"{model}_{cpu}.out.bin").read_bytes()

    run = runner.run(VECTORS / f"{model}_{cpu}.pte", VECTORS / f"{model}_{cpu}.in.bin")

    assert expected == run.output


@pytest.mark.parametrize("model", MODELS)
def test_planned_memory_is_the_exporters(runner: Runner, model: str) -> None:
    """The planned part of the arena is the plan in the program, no copy and no gap."""
    planned = {"linear": 320, "ds_cnn": 16000, "resnet8": 49728, "mobilenet_v1_025": 138240}
    planned |= {"autoencoder": 3200, "transformer_block": 5120}
    program = VECTORS / f"{model}_cortex-m4"

    facts = runner.run(program.with_suffix(".pte"), program.with_suffix(".in.bin")).facts

    assert planned[model] == int(facts["planned"])
    assert int(facts["needed"]) == sum(int(facts[k]) for k in ("planned", "method", "temporary"))


@pytest.mark.parametrize("cpu", CPUS)
@pytest.mark.parametrize("model", MODELS)
def test_slim_programs_give_the_same(runner: Runner, model: str, cpu: str, tmp_path: Path) -> None:
    """Without what no instruction uses: the same output bytes, from fewer bytes of values."""
    name = f"{model}_{cpu}"
    program = read_flat((VECTORS / f"{name}.pte").read_bytes())
    slim(program)
    path = tmp_path / "slim.pte"
    path.write_bytes(write_flat(program))

    before = runner.run(VECTORS / f"{name}.pte", VECTORS / f"{name}.in.bin")
    run = runner.run(path, VECTORS / f"{name}.in.bin")

    assert (VECTORS / f"{name}.out.bin").read_bytes() == run.output
    assert int(run.facts["method"]) < int(before.facts["method"])


def test_packed_programs_are_refused_where_no_kernel_reads_them(runner: Runner) -> None:
    """The reference kernels do not read packed weights: the first packed call is named."""
    program = read_flat((VECTORS / "autoencoder_cortex-m4.pte").read_bytes())
    pack(program)

    run = runner.run_bytes(write_flat(program))

    assert "operator-missing" == run.facts["error"]
    assert "cortex_m::quantized_linear.dsp1" == run.facts["operator"]
