"""Programs that say what this runtime does not do, made from a good one with ExecuTorch's own serializer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from executorch.exir._serialize._program import deserialize_pte_binary, serialize_pte_binary
from executorch.exir.schema import (
    BackendDelegate,
    BackendDelegateDataReference,
    DataLocation,
    DelegateCall,
    DeviceType,
    EValue,
    ExtraTensorInfo,
    FreeCall,
    Instruction,
    JumpFalseCall,
    MoveCall,
    String,
    TensorDataLocation,
    TensorShapeDynamism,
)

from tests.runtime.conftest import VECTORS, Runner

Edit = Callable[[Any], object]


def edited(edit: Edit) -> bytes:
    """Return the linear program after `edit` changed its plan."""
    file = deserialize_pte_binary((VECTORS / "linear_cortex-m4.pte").read_bytes())
    edit(file.program.execution_plan[0])
    return bytes(serialize_pte_binary(file))


def tensors(plan: Any) -> list[Any]:
    """Return the tensors that the first instruction uses: input and output."""
    arguments = plan.chains[0].instructions[0].instr_args.args
    return [plan.values[i].val for i in (arguments[0], arguments[-1])]


def set_tensor(**fields: Any) -> Edit:
    """Return an edit of the first instruction's output tensor."""

    def edit(plan: Any) -> None:
        for key, value in fields.items():
            setattr(tensors(plan)[1], key, value)

    return edit


def set_plan(where: str, **fields: Any) -> Edit:
    """Return an edit of that tensor's place in the memory plan."""

    def edit(plan: Any) -> None:
        for key, value in fields.items():
            setattr(getattr(tensors(plan)[1], where), key, value)

    return edit


def set_weight(**fields: Any) -> Edit:
    """Return an edit of the first layer's weights, which are a constant."""

    def edit(plan: Any) -> None:
        weight = plan.values[plan.chains[0].instructions[1].instr_args.args[1]].val
        for key, value in fields.items():
            setattr(weight, key, value)

    return edit


def insert(call: Any) -> Edit:
    """Return an edit that puts an instruction before all others."""
    return lambda plan: plan.chains[0].instructions.insert(0, Instruction(call))


def delegate(plan: Any) -> None:
    """Add a delegate."""
    reference = BackendDelegateDataReference(DataLocation.INLINE, 0)
    plan.delegates.append(BackendDelegate("EthosUBackend", reference, []))


def second_chain(plan: Any) -> None:
    """Run the chain twice."""
    plan.chains.append(plan.chains[0])


def set_index(index: int) -> Edit:
    """Return an edit of the first instruction's first argument."""

    def edit(plan: Any) -> None:
        plan.chains[0].instructions[0].instr_args.args[0] = index

    return edit


def text_output(plan: Any) -> None:
    """Return a text, as the exporter's constant methods do."""
    plan.values.append(EValue(String("cortex-m4")))
    plan.outputs[0] = len(plan.values) - 1


def constant_input(plan: Any) -> None:
    """Take a weight as input."""
    plan.inputs[0] = plan.chains[0].instructions[1].instr_args.args[1]


def external(location: Any) -> Edit:
    """Return an edit that puts a tensor's data into another file."""
    info = ExtraTensorInfo(fully_qualified_name="x", location=location)
    return set_tensor(extra_tensor_info=info)


CASES: dict[str, tuple[Edit, str]] = {
    "delegate": (delegate, "delegate-unsupported"),
    "delegate-call": (insert(DelegateCall(0, [])), "delegate-unsupported"),
    "jump": (insert(JumpFalseCall(0, 0)), "control-flow-unsupported"),
    "move": (insert(MoveCall(0, 1)), "control-flow-unsupported"),
    "two-chains": (second_chain, "control-flow-unsupported"),
    "free": (insert(FreeCall(0)), "instruction-unsupported"),
    "dynamic-shape": (
        set_tensor(shape_dynamism=TensorShapeDynamism.DYNAMIC_BOUND),
        "dynamic-shape-unsupported",
    ),
    "external-data": (external(TensorDataLocation.EXTERNAL), "external-data-unsupported"),
    "storage-offset": (set_tensor(storage_offset=1), "layout-unsupported"),
    "initial-state": (set_tensor(data_buffer_idx=1), "mutable-state-unsupported"),
    "unplanned": (set_tensor(allocation_info=None), "tensor-unplanned"),
    "other-device": (
        set_tensor(extra_tensor_info=ExtraTensorInfo(device_type=DeviceType.CUDA)),
        "device-unsupported",
    ),
    "negative-size": (set_tensor(sizes=[1, -64]), "tensor-shape-invalid"),
    "huge-shape": (set_tensor(sizes=[2**16, 2**16]), "tensor-shape-invalid"),
    "empty-and-huge": (
        set_tensor(sizes=[0, 2**31 - 1, 2], dim_order=[0, 1, 2]),
        "tensor-shape-invalid",
    ),
    "too-many-dims": (set_tensor(sizes=[1] * 9, dim_order=list(range(9))), "tensor-shape-invalid"),
    "dim-order-twice": (set_tensor(dim_order=[0, 0]), "tensor-shape-invalid"),
    "dim-order-short": (set_tensor(dim_order=[0]), "tensor-shape-invalid"),
    "larger-than-plan": (set_tensor(sizes=[1, 65]), "tensor-out-of-bounds"),
    "offset-outside": (
        set_plan("allocation_info", memory_offset_low=2**32 - 1),
        "tensor-out-of-bounds",
    ),
    "offset-64-bit": (set_plan("allocation_info", memory_offset_high=1), "tensor-out-of-bounds"),
    "buffer-unknown": (set_plan("allocation_info", memory_id=2), "index-out-of-range"),
    "buffer-zero": (set_plan("allocation_info", memory_id=0), "index-out-of-range"),
    "constant-too-large": (set_weight(sizes=[64, 64]), "tensor-out-of-bounds"),
    "constant-unknown": (set_weight(data_buffer_idx=1000), "index-out-of-range"),
    "value-unknown": (set_index(1000), "index-out-of-range"),
    "value-negative": (set_index(-1), "index-out-of-range"),
    "text-output": (text_output, "output-unsupported"),
    "constant-input": (constant_input, "input-unsupported"),
}


def test_unedited_program_runs(runner: Runner) -> None:
    """The serializer's round trip alone changes nothing."""
    assert "error" not in runner.run_bytes(edited(lambda plan: plan)).facts


@pytest.mark.parametrize("flaw", CASES)
def test_refused(runner: Runner, flaw: str) -> None:
    """Each thing that is not supported, or does not add up, has its own error."""
    edit, error = CASES[flaw]

    assert error == runner.run_bytes(edited(edit)).facts["error"]


def test_misaligned_float(runner: Runner) -> None:
    """A float tensor at an odd offset of the plan is refused: some cores fault on it."""

    def edit(plan: Any) -> None:
        plan.non_const_buffer_sizes[1] += 16
        tensors(plan)[0].allocation_info.memory_offset_low = 2

    assert runner.run_bytes(edited(edit)).facts["error"] == "tensor-misaligned"


def test_several_planned_buffers(runner: Runner) -> None:
    """Each planned buffer is a part of the arena of its own, 16-byte aligned."""

    def edit(plan: Any) -> None:
        plan.non_const_buffer_sizes += [65, 64]
        for i, buffer in zip((1, 2), (2, 3), strict=True):
            output = plan.values[plan.chains[0].instructions[i - 1].instr_args.args[-1]].val
            output.allocation_info.memory_id = buffer
            output.allocation_info.memory_offset_low = 0

    program = runner_path(runner, edited(edit))
    expected = (VECTORS / "linear_cortex-m4.out.bin").read_bytes()

    run = runner.run(program, VECTORS / "linear_cortex-m4.in.bin")

    assert expected == run.output
    assert int(run.facts["planned"]) == 320 + 80 + 64


def test_dead_values_take_no_memory(runner: Runner) -> None:
    """Tensors that no instruction uses cost one slot, not a tensor, and are not looked at."""

    def edit(plan: Any) -> None:
        dead = EValue(tensors(plan)[1].__class__(**{**vars(tensors(plan)[1]), "sizes": [-1, 64]}))
        plan.values += [dead] * 8

    before = runner.run_bytes(edited(lambda plan: plan)).facts
    after = runner.run_bytes(edited(edit)).facts

    assert "error" not in after
    # A slot of 8 bytes on the host and a kind of 1; eight of them, as what follows is aligned to 8.
    assert int(after["method"]) - int(before["method"]) == 8 * 9


def rename_last_operator(name: str) -> Edit:
    """Return an edit that calls another operator in place of the last one."""

    def edit(plan: Any) -> None:
        plan.operators[plan.chains[0].instructions[-1].instr_args.op_index].name = name

    return edit


@pytest.mark.parametrize("skew", [0, 1])
def test_kernels_scratch_is_part_of_the_need(runner: Runner, skew: int) -> None:
    """A kernel's scratch follows the method pool, 16-byte aligned; the reported need counts it exactly."""
    program = runner_path(runner, edited(rename_last_operator("test::scratch")))
    run = runner.run(program, arena_skew=skew)
    need = int(run.facts["needed"])

    short = runner.run(program, arena_skew=skew, arena_bytes=need - 8).facts
    # An arena without room for the plan: the kernels are asked all the same.
    smaller = runner.run(program, arena_skew=skew, arena_bytes=need - 1000 - 16).facts

    assert int(run.facts["temporary"]) == 1000
    assert run.output == bytes(40)
    assert ("arena-too-small", need) == (short["error"], int(short["need"]))
    assert ("arena-too-small", need) == (smaller["error"], int(smaller["need"]))


def test_failure_of_a_kernel_names_its_instruction(runner: Runner) -> None:
    """What a kernel reports when it runs comes out with instruction and operator; later ones do not run."""
    run = runner.run_bytes(edited(rename_last_operator("test::failing")))

    facts = run.facts
    assert ("argument-value", "3", "test::failing.out") == (
        facts["error"],
        facts["instruction"],
        facts["operator"],
    )
    assert run.hook[-2:] == ["before 3", "after 3"]


def test_refused_argument_names_instruction_operator_and_value(runner: Runner) -> None:
    """What `prepare` refuses comes out with instruction, operator and the value's index in the plan."""
    position = 4  # kernel, then its input offset

    def edit(plan: Any) -> None:
        offset = plan.chains[0].instructions[1].instr_args.args[position]
        plan.values[offset].val.int_val = 1000

    facts = runner.run_bytes(edited(edit)).facts

    plan = deserialize_pte_binary(
        (VECTORS / "linear_cortex-m4.pte").read_bytes()
    ).program.execution_plan[0]
    value = plan.chains[0].instructions[1].instr_args.args[position]
    expected = ("argument-value", "1", "cortex_m::quantized_linear.out", str(value))
    assert expected == tuple(facts[k] for k in ("error", "instruction", "operator", "value"))


def runner_path(runner: Runner, program: bytes) -> Any:
    """Write a program into the runner's scratch folder."""
    path = runner._scratch / "edited.pte"
    path.write_bytes(program)
    return path
