"""Runs a .pte with ExecuTorch's own Python operators over the memory that its plan lays out.

Slow and plain: it shows what the bytes of a program mean, independently of the graph they were made from.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch
from executorch.backends.cortex_m.passes import cortex_m_pass_manager  # noqa: F401  registers cortex_m; ops.operators alone is a circular import
from executorch.exir import schema
from executorch.exir._serialize import _deserialize_pte_binary

from bench.export.oracle import avg_pool2d_integers
from bench.export.softmax_integers import softmax_integers

TORCH_DTYPES = {
    schema.ScalarType.BYTE: torch.uint8,
    schema.ScalarType.CHAR: torch.int8,
    schema.ScalarType.INT: torch.int32,
    schema.ScalarType.LONG: torch.int64,
    schema.ScalarType.FLOAT: torch.float32,
    schema.ScalarType.BOOL: torch.bool,
}
FUNCTIONAL = {"aten::add.out": "Tensor", "aten::mean.out": "dim"}


class PteReference:
    """One program, its method `forward`.

    Args:
        pte: the program's bytes.
        corrected: whether average pooling and softmax are CMSIS-NN's (as on devices) or the Python operators'.
    """

    def __init__(self, pte: bytes, *, corrected: bool = True) -> None:
        self.program = _deserialize_pte_binary(pte).program
        self.plan = next(p for p in self.program.execution_plan if p.name == "forward")
        self.arenas = [bytearray(size) for size in self.plan.non_const_buffer_sizes]
        self.corrected = corrected

    def run(self, *inputs: bytes) -> list[bytes]:
        """Return the outputs' bytes for the inputs' bytes."""
        for index, data in zip(self.plan.inputs, inputs, strict=True):
            self._place(self.plan.values[index].val)[:] = data
        for instruction in self.plan.chains[0].instructions:
            self._call(instruction.instr_args)
        return [bytes(self._place(self.plan.values[i].val)) for i in self.plan.outputs]

    def _call(self, call: schema.KernelCall) -> None:
        operator = self.plan.operators[call.op_index]
        name = f"{operator.name}.{operator.overload}"
        namespace, _, short = operator.name.partition("::")
        packet = getattr(getattr(torch.ops, namespace), short)
        overload = getattr(packet, operator.overload)
        arguments = overload._schema.arguments
        outs = sum(a.is_out for a in arguments)
        given = [self._read(i) for i in call.args[: len(arguments) - outs]]
        for position, argument in enumerate(arguments[: len(given)]):
            if "ScalarType" in str(argument.real_type) and isinstance(given[position], int):
                given[position] = TORCH_DTYPES[schema.ScalarType(given[position])]
        results = self._compute(name, packet, given, arguments)
        for index, value in zip(call.args[len(given) :], results, strict=False):
            out = self.plan.values[index].val
            if isinstance(out, schema.Tensor) and math.prod(out.sizes):
                self._write(out, value)

    def _compute(self, name: str, packet: Any, given: list[Any], arguments: Any) -> tuple[Any, ...]:
        if name == "cortex_m::quantized_avg_pool2d.out" and self.corrected:
            return (avg_pool2d_integers(*given[:5]),)
        if name == "cortex_m::softmax.out" and self.corrected:
            return (softmax_integers(*given[:2], *given[4:7]),)
        if name.startswith("dim_order_ops::"):
            return (given[0],)
        if name == "aten::as_strided_copy.out":
            return (torch.as_strided(given[0].contiguous(), *given[1:]),)
        function = getattr(packet, FUNCTIONAL.get(name, "default"))
        keywords = {a.name: v for a, v in zip(arguments, given, strict=False) if a.kwarg_only}
        result = function(*given[: len(given) - len(keywords)], **keywords)
        return result if isinstance(result, tuple) else (result,)

    def _read(self, index: int) -> Any:
        value = self.plan.values[index].val
        if isinstance(value, schema.Tensor):
            return self._tensor(value)
        if isinstance(value, schema.IntList):
            return [self._read(i) for i in value.items]
        for field in ("int_val", "double_val", "bool_val", "string_val"):
            if hasattr(value, field):
                return getattr(value, field)
        if isinstance(value, schema.Null):
            return None
        return value.items

    def _place(self, tensor: schema.Tensor) -> memoryview:
        """Return the memory of a planned or constant tensor."""
        size = math.prod(tensor.sizes) * TORCH_DTYPES[tensor.scalar_type].itemsize
        where = tensor.allocation_info
        if where is None:
            return memoryview(self.program.constant_buffer[tensor.data_buffer_idx].storage)[:size]
        offset = (where.memory_offset_high << 32) + where.memory_offset_low
        return memoryview(self.arenas[where.memory_id])[offset : offset + size]

    def _tensor(self, tensor: schema.Tensor) -> torch.Tensor:
        order = [int(d) for d in tensor.dim_order]
        dtype = torch.empty(0, dtype=TORCH_DTYPES[tensor.scalar_type]).numpy().dtype
        data = np.frombuffer(bytes(self._place(tensor)), dtype)
        laid = torch.from_numpy(data.copy()).reshape([tensor.sizes[d] for d in order])
        return laid.permute([order.index(d) for d in range(len(order))])

    def _write(self, tensor: schema.Tensor, value: torch.Tensor) -> None:
        assert tuple(tensor.sizes) == tuple(value.shape)
        assert TORCH_DTYPES[tensor.scalar_type] == value.dtype
        ordered = value.permute(tuple(int(d) for d in tensor.dim_order)).contiguous()
        self._place(tensor)[:] = ordered.numpy().tobytes()
