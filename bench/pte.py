"""Read what a .pte says of itself, without torch: methods, inputs, outputs, operators, planned memory, cpu.

The format is ExecuTorch's `schema/program.fbs` with the extended header of `schema/extended_header.cpp`; the reader
classes are generated from that schema at set-up. A file is untrusted: whatever is wrong with it is a `ProgramError`.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from bench.errors import ProgramError, ToolMissingError
from bench.program import OperatorInfo, TensorInfo

try:
    from executorch_flatbuffer import Int, IntList, KernelCall, KernelTypes, String, Tensor
    from executorch_flatbuffer.InstructionArguments import InstructionArguments
    from executorch_flatbuffer.Program import Program as FlatProgram
except ImportError as missing:
    raise ToolMissingError(
        "the reader of .pte files has not been generated", hint="run `make setup`"
    ) from missing

IDENTIFIER = b"ET12"
CPU_METHOD = "lab_cpu"
_HEADER = struct.Struct("<4sI3Q")
_HEADER_AT = 8
_SIZES = {
    "float32": 4,
    "int8": 1,
    "uint8": 1,
    "int16": 2,
    "int32": 4,
    "int64": 8,
    "bool": 1,
    "float64": 8,
}
_SCALAR_TYPES = {
    0: "uint8",
    1: "int8",
    2: "int16",
    3: "int32",
    4: "int64",
    6: "float32",
    7: "float64",
    11: "bool",
}
_PLAN_LIMIT_BYTES = 1 << 30  # no microcontroller comes near
_LIMIT = 1 << 20  # of anything that is counted in a program: no real one comes near


@dataclass(frozen=True)
class PlanParts:
    """Bytes of the memory plan by what they are for; they add up to the plan.

    Tensors whose lives do not overlap share bytes. A byte that an input or output of the program ever uses counts as
    `input_output`; of the rest, one that a kernel's scratch tensor ever uses counts as `scratch`; what is left is
    `activations`, alignment gaps included.
    """

    activations: int
    input_output: int
    scratch: int


@dataclass(frozen=True)
class PteFacts:
    """What a .pte says.

    Attributes:
        methods: names of its execution plans.
        cpu: GCC's -mcpu string that our exporter wrote in, empty if unknown.
        inputs: those that are to be given, without numbers that are fixed.
        planned_bytes: sum of the method's planned buffers.
    """

    methods: tuple[str, ...]
    cpu: str
    inputs: tuple[TensorInfo, ...]
    outputs: tuple[TensorInfo, ...]
    operators: tuple[OperatorInfo, ...]
    planned_bytes: int
    plan: PlanParts
    constant_bytes: int


def _foreign(data: bytes) -> str:  # noqa: PLR0911  a list of guesses, one line each
    """Say what a file that is no .pte looks like."""
    start = data[:64].lstrip()
    if not data:
        return "the file is empty"
    if start.startswith(b"version https://git-lfs"):
        return "this is a Git LFS pointer, not the file: run `git lfs pull`"
    if start[:1] == b"<":
        return "this looks like an HTML or XML page, not a program: the download failed"
    if data[:4] == b"PK\x03\x04":
        return "this is a zip archive (a torch .pt or .pt2 file?), not a .pte"
    if data[4:8] == b"TFL3":
        return "this is a TFLite model, not a .pte"
    if data[5:9] == IDENTIFIER or data[3:7] == IDENTIFIER:
        return "the program does not begin at the file's first byte: a byte was added or lost"
    return f"the program identifier is {data[4:8]!r}, expected {IDENTIFIER!r}"


def check_container(data: bytes, where: str) -> None:
    """Check identifier, extended header and length of a .pte.

    Raises:
        ProgramError: foreign or truncated.
    """
    if len(data) < _HEADER_AT + _HEADER.size or data[4:8] != IDENTIFIER:
        raise ProgramError(_foreign(data), where=where)
    magic, _, program_bytes, segment_base, segment_bytes = _HEADER.unpack_from(data, _HEADER_AT)
    if magic != b"eh00":
        return  # written without segments: the flatbuffer is all
    need = max(program_bytes, segment_base + segment_bytes if segment_base else 0)
    if need > len(data):
        raise ProgramError(
            f"the file is truncated: {len(data)} bytes, its header promises {need}",
            where=where,
            hint="copy or export it again",
        )


def read_pte(data: bytes, *, method: str = "forward", where: str = ".pte") -> PteFacts:
    """Read the facts of a program.

    Raises:
        ProgramError: foreign, truncated, corrupt, or without the method.
    """
    check_container(data, where)
    try:
        return _read(data, method, where)
    except (struct.error, IndexError, TypeError, ValueError, UnicodeDecodeError, AttributeError, OverflowError,
            MemoryError, AssertionError) as error:  # fmt: skip
        # the generated reader follows offsets blindly: any of these means that one leads nowhere
        raise ProgramError(
            f"the program is corrupt: {type(error).__name__}: {error}",
            where=where,
            hint="export it again",
        ) from error


def _items(count: int, get: Callable[[int], Any]) -> Iterator[Any]:
    """Iterate a vector, refusing absurd lengths."""
    if count > _LIMIT:
        raise ValueError(f"a vector of {count} items")
    return (get(index) for index in range(count))


def _name(text: bytes | None) -> str:
    return text.decode("utf-8") if text is not None else ""


def flat_plan(data: bytes, method: str, where: str = ".pte") -> tuple[Any, list[int]]:
    """Return the flatbuffer of a method and the sizes of its planned buffers; of a program that `read_pte` took."""
    program = FlatProgram.GetRootAs(data, 0)
    plans = list(_items(program.ExecutionPlanLength(), program.ExecutionPlan))
    names = [_name(plan.Name()) for plan in plans]
    if method not in names:
        raise ProgramError(
            f"the program has no method {method!r}",
            where=where,
            hint=f"it has: {', '.join(names) or 'none'}",
        )
    plan = plans[names.index(method)]
    sizes = list(_items(plan.NonConstBufferSizesLength(), plan.NonConstBufferSizes))
    if any(size < 0 for size in sizes):
        raise ValueError(f"a planned buffer of negative size {min(sizes)}")
    return plan, sizes


def _read(data: bytes, method: str, where: str) -> PteFacts:
    program = FlatProgram.GetRootAs(data, 0)
    plan, sizes = flat_plan(data, method, where)
    plans = list(_items(program.ExecutionPlanLength(), program.ExecutionPlan))
    names = tuple(_name(one.Name()) for one in plans)
    return PteFacts(
        methods=names,
        cpu=_cpu(plans[names.index(CPU_METHOD)]) if CPU_METHOD in names else "",
        inputs=tuple(_tensor(plan, i) for i in _given(plan)),
        outputs=tuple(_tensor(plan, plan.Outputs(i)) for i in range(plan.OutputsLength())),
        operators=tuple(_operators(plan)),
        planned_bytes=sum(sizes[1:]),  # the schema: non_const_buffer_sizes[0] is to be ignored
        plan=_plan_parts(plan, sizes),
        constant_bytes=sum(
            segment.Size() for segment in _items(program.SegmentsLength(), program.Segments)
        ),
    )


# position of the scratch tensors among an operator's arguments: executorch, backends/cortex_m/ops/operators.yaml
SCRATCH_ARGUMENTS = {
    "cortex_m::quantized_conv2d": (12,),
    "cortex_m::quantized_conv2d_nhwc": (12,),
    "cortex_m::quantized_depthwise_conv2d": (13,),
    "cortex_m::quantized_depthwise_conv2d_nhwc": (13,),
    "cortex_m::quantized_transpose_conv2d": (13, 14),
    "cortex_m::quantized_transpose_conv2d_nhwc": (13, 14),
    "cortex_m::quantized_avg_pool2d": (8,),
    "cortex_m::quantized_avg_pool2d_nhwc": (8,),
    "cortex_m::quantized_batch_matmul": (7,),
}


def _plan_parts(plan: Any, sizes: list[int]) -> PlanParts:
    """Attribute each planned byte by the rule of `PlanParts`."""
    total = sum(sizes[1:])
    if total > _PLAN_LIMIT_BYTES:
        raise ValueError(f"a memory plan of {total} bytes")
    use = bytearray(total)  # 0 activations, 1 scratch, 2 input or output
    ends = {plan.Inputs(i) for i in range(plan.InputsLength())}
    ends |= {plan.Outputs(i) for i in range(plan.OutputsLength())}
    for mark, values in ((1, _scratch_values(plan)), (2, ends)):
        for index in values:
            start, nbytes = planned_range(plan, index, sizes)
            use[start : start + nbytes] = bytes([mark]) * nbytes
    return PlanParts(use.count(0), use.count(2), use.count(1))


def _scratch_values(plan: Any) -> set[int]:
    found = set()
    for _, call in calls(plan):
        name = _name(plan.Operators(call.OpIndex()).Name())
        found |= {
            call.Args(place)
            for place in SCRATCH_ARGUMENTS.get(name, ())
            if place < call.ArgsLength()
        }
    return found


def planned_range(plan: Any, index: int, sizes: list[int]) -> tuple[int, int]:
    """Return where a tensor lies in the planned buffers, put end to end, and its size; (0, 0) if it is not planned."""
    value = _value(plan, index)
    if value.ValType() != KernelTypes.KernelTypes.Tensor:
        return 0, 0
    tensor = Tensor.Tensor()
    tensor.Init(value.Val().Bytes, value.Val().Pos)
    place = tensor.AllocationInfo()
    if place is None:
        return 0, 0
    buffer = place.MemoryId()
    offset = place.MemoryOffsetLow() + (place.MemoryOffsetHigh() << 32)
    nbytes = _tensor(plan, index).nbytes
    if not 1 <= buffer < len(sizes) or offset + nbytes > sizes[buffer]:
        raise ValueError(f"value {index} lies outside the memory plan")
    return sum(sizes[1:buffer]) + offset, nbytes


_FIXED = (KernelTypes.KernelTypes.Int, KernelTypes.KernelTypes.Bool, KernelTypes.KernelTypes.Double,
          KernelTypes.KernelTypes.Null)  # fmt: skip


def _given(plan: Any) -> Iterator[int]:
    """Iterate the inputs that are to be given: numbers that export took as constants stand among them, and ask for nothing."""
    for place in range(plan.InputsLength()):
        index = plan.Inputs(place)
        if _value(plan, index).ValType() not in _FIXED:
            yield index


def _value(plan: Any, index: int) -> Any:
    if not 0 <= index < plan.ValuesLength():
        raise ValueError(f"value {index} of {plan.ValuesLength()}")
    return plan.Values(index)


def _cpu(plan: Any) -> str:
    """Return the string that the constant method gives."""
    value = _value(plan, plan.Outputs(0))
    if value.ValType() != KernelTypes.KernelTypes.String:
        return ""
    text = String.String()
    text.Init(value.Val().Bytes, value.Val().Pos)
    return _name(text.StringVal())


def _tensor(plan: Any, index: int) -> TensorInfo:
    value = _value(plan, index)
    if value.ValType() != KernelTypes.KernelTypes.Tensor:
        raise ValueError(f"value {index} is an input or output but no tensor")
    tensor = Tensor.Tensor()
    tensor.Init(value.Val().Bytes, value.Val().Pos)
    shape = tuple(tensor.Sizes(i) for i in range(tensor.SizesLength()))
    order = tuple(tensor.DimOrder(i) for i in range(tensor.DimOrderLength()))
    code = tensor.ScalarType()
    if code not in _SCALAR_TYPES:
        raise ValueError(f"scalar type {code} of value {index}")
    dtype = _SCALAR_TYPES[code]
    if any(size < 0 for size in shape) or sorted(order) != list(range(len(shape))):
        raise ValueError(f"shape {shape}, dim order {order} of value {index}")
    return TensorInfo(shape, dtype, order, math.prod(shape) * _SIZES[dtype])


def calls(plan: Any) -> Iterator[tuple[int, Any]]:
    """Iterate the kernel calls of the first chain with their positions."""
    chain = plan.Chains(0)
    if chain is None:
        raise ValueError("a method without instructions")
    for index, instruction in enumerate(_items(chain.InstructionsLength(), chain.Instructions)):
        if instruction.InstrArgsType() != InstructionArguments.KernelCall:
            continue
        call = KernelCall.KernelCall()
        call.Init(instruction.InstrArgs().Bytes, instruction.InstrArgs().Pos)
        if not 0 <= call.OpIndex() < plan.OperatorsLength():
            raise ValueError(f"operator {call.OpIndex()} of {plan.OperatorsLength()}")
        yield index, call


@dataclass(frozen=True)
class Argument:
    """What an instruction is called with, as far as a reader of programs needs it.

    Attributes:
        index: among the plan's values.
        numbers: of a list of integers.
        shape: of a tensor.
        nbytes: of a tensor.
        explicit_layout: the operator's images name their dimensions as they lie in memory (`_nhwc`).
    """

    index: int
    is_none: bool = False
    numbers: tuple[int, ...] = ()
    shape: tuple[int, ...] = ()
    nbytes: int = 0
    explicit_layout: bool = False


def arguments_of(plan: Any) -> Iterator[tuple[int, str, list[Argument]]]:
    """Iterate the kernel calls: position, operator without overload, arguments."""
    for index, call in calls(plan):
        name = _name(plan.Operators(call.OpIndex()).Name())
        explicit = name.endswith("_nhwc")
        places = _items(call.ArgsLength(), call.Args)
        yield index, name, [_argument(plan, place, explicit) for place in places]


def _argument(plan: Any, index: int, explicit: bool) -> Argument:
    value = _value(plan, index)
    kind = value.ValType()
    if kind == KernelTypes.KernelTypes.Null:
        return Argument(index, is_none=True)
    if kind == KernelTypes.KernelTypes.Tensor:
        tensor = _tensor(plan, index)
        return Argument(index, shape=tensor.shape, nbytes=tensor.nbytes, explicit_layout=explicit)
    if kind == KernelTypes.KernelTypes.IntList:
        items = IntList.IntList()
        items.Init(value.Val().Bytes, value.Val().Pos)
        boxed = [_value(plan, items.Items(i)) for i in range(items.ItemsLength())]
        return Argument(index, numbers=tuple(_integer(item) for item in boxed))
    return Argument(index)


def _integer(value: Any) -> int:
    if value.ValType() != KernelTypes.KernelTypes.Int:
        raise ValueError("a list of integers has another value in it")
    number = Int.Int()
    number.Init(value.Val().Bytes, value.Val().Pos)
    return int(number.IntVal())


def _operators(plan: Any) -> Iterator[OperatorInfo]:
    for index, call in calls(plan):
        operator = plan.Operators(call.OpIndex())
        name, overload = _name(operator.Name()), _name(operator.Overload())
        yield OperatorInfo(index, f"{name}.{overload}" if overload else name, "", "", 0)
