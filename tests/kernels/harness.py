"""Call a kernel of the runtime with torch's tensors; harness.cpp is the other end of the pipe."""

from __future__ import annotations

import struct
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

# ExecuTorch's scalar_type.fbs.
SCALAR_TYPES = {
    torch.uint8: 0,
    torch.int8: 1,
    torch.int16: 2,
    torch.int32: 3,
    torch.int64: 4,
    torch.float32: 6,
    torch.bool: 11,
}
NONE, INT, BOOL, DOUBLE, LIST, TENSOR, OUT, SAME, TENSORS, DOUBLES, TEXT = range(11)


class KernelRefusedError(Exception):
    """The kernel reported an error.

    Attributes:
        code: the error's stable name.
        argument: index of the argument at fault, -1 if none was named.
    """

    def __init__(self, code: str, argument: int) -> None:
        super().__init__(f"{code} (argument {argument})")
        self.code = code
        self.argument = argument


@dataclass(frozen=True)
class Out:
    """A tensor for the kernel to write, like `like` in shape, type and layout."""

    like: torch.Tensor


@dataclass(frozen=True)
class Planned:
    """An input that lies in the memory plan, so is no constant."""

    tensor: torch.Tensor


@dataclass(frozen=True)
class Tensors:
    """A list of tensors, `Planned` or `Out`."""

    items: tuple[Any, ...]


@dataclass(frozen=True)
class Doubles:
    """A list of floating-point numbers."""

    items: tuple[float, ...]


class Same:
    """The value of the argument before: an out variant returns its out argument."""


def memory_bytes(tensor: torch.Tensor) -> bytes:
    """Return the elements as they lie in memory by the tensor's dim order."""
    return tensor.permute(tensor.dim_order()).contiguous().numpy().tobytes()


def from_memory(data: bytes, like: torch.Tensor) -> torch.Tensor:
    """Return a tensor of the same shape and layout from its bytes."""
    order = list(like.dim_order())
    dtype = torch.empty(0, dtype=like.dtype).numpy().dtype
    array = np.frombuffer(data, dtype).reshape([like.shape[d] for d in order])
    return torch.from_numpy(array.copy()).permute([order.index(d) for d in range(like.dim())])


class Harness:
    """A running harness process; a sanitizer's report ends it and fails the call."""

    def __init__(self, binary: Path, seen: Callable[[bytes], None] = lambda _: None) -> None:
        """Start the process.

        Args:
            binary: harness.cpp, built.
            seen: is given each request that the kernel accepted.
        """
        self._seen = seen
        self._process = subprocess.Popen(
            [binary], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )

    def close(self) -> None:
        """End the process and wait for it."""
        self._process.communicate(timeout=10)

    def __call__(self, name: str, *arguments: Any) -> torch.Tensor:
        """Prepare and run a kernel.

        Args:
            name: `<namespace>::<operator>.<overload>`.
            arguments: tensors (constant, as in the program), `Planned`, `Out`, `Same()`, None, numbers, lists.

        Returns:
            the first out tensor.

        Raises:
            KernelRefusedError: prepare or run reported an error.
            AssertionError: the process died, with what it said.
        """
        return self.all_outs(name, *arguments)[0]

    def all_outs(self, name: str, *arguments: Any) -> list[torch.Tensor]:
        """As calling, but return every out tensor."""
        request = encode_call(name, *arguments)
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(request)
            self._process.stdin.flush()
        except BrokenPipeError:
            self._fail()
        code = self._read(struct.unpack("I", self._read(4))[0]).decode()
        (refused,) = struct.unpack("i", self._read(4))
        if code != "ok":
            raise KernelRefusedError(code, refused)
        self._seen(request)
        flat = [x for a in arguments for x in (a.items if isinstance(a, Tensors) else (a,))]
        likes = [argument.like for argument in flat if isinstance(argument, Out)]
        return [from_memory(self._read(like.nbytes), like) for like in likes]

    def _read(self, count: int) -> bytes:
        assert self._process.stdout is not None
        data = self._process.stdout.read(count)
        if len(data) != count:
            self._fail()
        return data

    def _fail(self) -> None:
        _, report = self._process.communicate(timeout=10)
        raise AssertionError(f"the harness died:\n{report.decode()[-4000:]}")


def encode_call(name: str, *arguments: Any) -> bytes:
    """Return the request of a call as it goes over the pipe."""
    head = struct.pack("I", len(name)) + name.encode() + struct.pack("I", len(arguments))
    return head + b"".join(_encode(argument) for argument in arguments)


def _encode_tensor(kind: int, tensor: torch.Tensor, *, constant: bool) -> bytes:
    rank = tensor.dim()
    return struct.pack(
        f"4B{rank}i{rank}B",
        kind,
        SCALAR_TYPES[tensor.dtype],
        rank,
        constant,
        *tensor.shape,
        *tensor.dim_order(),
    ) + (memory_bytes(tensor) if kind == TENSOR else b"")


def _encode(argument: Any) -> bytes:  # noqa: PLR0911, C901  one return a kind of value
    match argument:
        case None:
            return bytes([NONE])
        case bool():
            return struct.pack("BB", BOOL, argument)
        case int():
            return struct.pack("=Bq", INT, argument)
        case float():
            return struct.pack("=Bd", DOUBLE, argument)
        case list() | tuple():
            return struct.pack(f"=BI{len(argument)}q", LIST, len(argument), *argument)
        case torch.Tensor():
            return _encode_tensor(TENSOR, argument, constant=True)
        case Planned():
            return _encode_tensor(TENSOR, argument.tensor, constant=False)
        case Out():
            return _encode_tensor(OUT, argument.like, constant=False)
        case Same():
            return bytes([SAME])
        case str():
            return struct.pack("=BI", TEXT, len(argument)) + argument.encode()
        case Tensors():
            parts = b"".join(_encode(item) for item in argument.items)
            return struct.pack("=BI", TENSORS, len(argument.items)) + parts
        case Doubles():
            return struct.pack(
                f"=BI{len(argument.items)}d", DOUBLES, len(argument.items), *argument.items
            )
    raise TypeError(f"no kernel takes {argument!r}")
