"""The seeds of the fuzz target: one small program for each kernel, and the project's own programs.

A seed is a call that a test of `tests/kernels/` made, kept by its harness as it went over the pipe (`CallStore`) and
written here as a program with that one instruction. So a new kernel brings its seeds with its test.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from executorch.exir._serialize._program import PTEFile, serialize_pte_binary
from executorch.exir.scalar_type import ScalarType
from executorch.exir.schema import (
    AllocationDetails,
    Bool,
    Buffer,
    Chain,
    ContainerMetadata,
    Double,
    DoubleList,
    EValue,
    ExecutionPlan,
    Instruction,
    Int,
    IntList,
    KernelCall,
    Null,
    Operator,
    OptionalTensorList,
    Program,
    String,
    SubsegmentOffsets,
    Tensor,
    TensorList,
    TensorShapeDynamism,
)

from tests.kernels.calls import NONE, CallStore, Reader, Value
from tests.runtime.building import ROOT

if TYPE_CHECKING:
    from pathlib import Path

ALIGNMENT = 16
MAX_UPSTREAM_BYTES = 24 * 1024  # the larger ones are run by `tests/runtime`


class _Plan:
    """A plan under construction, for one call."""

    def __init__(self) -> None:
        self.values: list[EValue] = []
        self.constants = [Buffer(storage=b"")]
        self.inputs: list[int] = []
        self.outputs: list[int] = []
        self.planned_bytes = 0

    def add(self, value: Value) -> int:
        """Add a value and what it consists of; return its index."""
        match value.kind:
            case "none":
                made: Any = Null()
            case "int":
                made = Int(value.data)
            case "bool":
                made = Bool(value.data)
            case "double":
                made = Double(value.data)
            case "text":
                made = String(value.data)
            case "doubles":
                made = DoubleList(list(value.data))
            case "list":
                made = IntList([self.add(Value("int", item)) for item in value.data])
            case "tensors":
                items = [-1 if item.kind == NONE else self.add(item) for item in value.data]
                made = OptionalTensorList(items) if -1 in items else TensorList(items)
            case "tensor" | "out":
                made = self._tensor(value)
            case _:
                raise ValueError(value.kind)
        self.values.append(EValue(made))
        index = len(self.values) - 1
        if value.kind == "out":
            self.outputs.append(index)
        elif value.kind == "tensor" and made.allocation_info is not None:
            self.inputs.append(index)
        return index

    def _tensor(self, value: Value) -> Tensor:
        place, buffer = None, 0
        if value.constant:
            self.constants.append(Buffer(storage=value.data))
            buffer = len(self.constants) - 1
        else:
            place = AllocationDetails(1, self.planned_bytes, 0)
            padded = (value.nbytes + ALIGNMENT - 1) // ALIGNMENT * ALIGNMENT
            self.planned_bytes += padded
        return Tensor(
            scalar_type=ScalarType(value.scalar_type),
            storage_offset=0,
            sizes=list(value.sizes),
            dim_order=list(value.dim_order),
            requires_grad=False,
            data_buffer_idx=buffer,
            allocation_info=place,
            layout=0,
            shape_dynamism=TensorShapeDynamism.STATIC,
        )


def program_of(call: bytes) -> bytes:
    """Return a program whose one instruction is that request of `tests/kernels/harness.py`."""
    name, arguments = Reader(call).call()
    plan = _Plan()
    indices: list[int] = []
    for argument in arguments:
        indices.append(indices[-1] if argument.kind == "same" else plan.add(argument))
    operator, _, overload = name.partition(".")
    program = Program(
        version=0,
        execution_plan=[
            ExecutionPlan(
                name="forward",
                container_meta_type=ContainerMetadata("", ""),
                values=plan.values,
                inputs=plan.inputs,
                outputs=plan.outputs,
                chains=[Chain([], [], [Instruction(KernelCall(0, indices))], None)],
                operators=[Operator(operator, overload)],
                delegates=[],
                non_const_buffer_sizes=[0, plan.planned_bytes],
            )
        ],
        constant_buffer=plan.constants,
        backend_delegate_data=[],
        segments=[],
        constant_segment=SubsegmentOffsets(segment_index=0, offsets=[]),
    )
    return bytes(serialize_pte_binary(PTEFile(program=program), segment_alignment=ALIGNMENT))


def write(folder: Path) -> list[str]:
    """Write the seeds; return the kernels that have one."""
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.pte"):
        old.unlink()
    store = CallStore()
    for path in store.files():
        (folder / f"{path.stem}.pte").write_bytes(program_of(path.read_bytes()))
    for path in sorted((ROOT / "tests" / "data" / "upstream").glob("*.pte")):
        if path.stat().st_size <= MAX_UPSTREAM_BYTES:
            (folder / path.name).write_bytes(path.read_bytes())
    return store.kernels()
