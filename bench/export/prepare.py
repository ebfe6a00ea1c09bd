"""Bring a user's model into the shape that the export needs, and say what was changed."""

from __future__ import annotations

import copy
import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from bench.errors import ExportError, ModelSourceError
from bench.model import ModelDefinition, first_line
from bench.program import Finding

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

Inputs = tuple[torch.Tensor, ...]

RANDOM_CALIBRATION = 32
RANDOM_SEED = 20240229


@dataclass(frozen=True)
class Prepared:
    """A model ready to be captured.

    Attributes:
        module: a copy in eval mode, its convolution weights channels last.
        samples: the inputs whose outputs are compared.
        labels: class of each sample, empty without a labelled data set.
    """

    definition: ModelDefinition
    module: torch.nn.Module
    example_inputs: Inputs
    calibration: tuple[Inputs, ...]
    samples: tuple[Inputs, ...]
    labels: tuple[int, ...]
    findings: tuple[Finding, ...]


def prepare(definition: ModelDefinition, samples: int | None) -> Prepared:
    """Check a model and lay out its inputs.

    Args:
        definition: what the model's `build()` returned; it is not changed.
        samples: how many; None: all of a labelled test set, else one.

    Raises:
        ModelSourceError: weights or inputs that are not float32.
        ExportError: the model fails on its own example inputs, or returns something else than tensors.
    """
    _check_dtypes(definition)
    findings = []
    if any(layer.training for layer in definition.module.modules()):
        findings.append(
            Finding("eval-mode", "", "The model came in training mode. It was put in eval mode.")
        )
    layout, module, relaid = _lay_out(definition)
    findings += relaid
    example = layout(definition.example_inputs)
    if not definition.trained:
        findings.append(
            Finding(
                "untrained",
                "",
                "The model does not say that its weights were learned (ModelDefinition.trained). "
                "No accuracy is claimed.",
            )
        )
    calibration = tuple(layout(inputs) for inputs in definition.calibration)
    if not calibration:
        calibration = tuple(
            layout(inputs) for inputs in random_inputs(example, RANDOM_CALIBRATION, RANDOM_SEED)
        )
        findings.append(
            Finding(
                "random-calibration",
                "",
                f"The model brings no calibration inputs. {RANDOM_CALIBRATION} of normal random numbers "
                f"(seed {RANDOM_SEED}) stand in: right for timing, not for accuracy.",
            )
        )
    chosen, labels = _samples(definition, samples)
    return Prepared(
        definition,
        module,
        example,
        calibration,
        tuple(layout(inputs) for inputs in chosen),
        labels,
        tuple(findings),
    )


def _lay_out(
    definition: ModelDefinition,
) -> tuple[Callable[[Sequence[torch.Tensor]], Inputs], torch.nn.Module, list[Finding]]:
    """Return how inputs are laid out, the module to match, and what to tell the user."""
    given = definition.example_inputs
    plain = copy.deepcopy(definition.module).eval()
    spatial = _check_forward(plain, as_given(given))
    if not spatial:  # nothing that prefers channels last: rank 4 may be attention heads
        return as_given, plain, []
    module = _channels_last_weights(plain)
    images = relayout(given)
    try:
        _check_forward(module, images)
    except ExportError as error:
        why = (
            f"The model works, but not with images channels last ({error.what}), so its convolutions stay float. "
            f"Use .reshape() or .flatten() in place of .view()."
        )
        return as_given, plain, [Finding("input-relayout", "inputs", why)]
    findings = [
        Finding(
            "input-relayout",
            f"input {index}",
            f"Its example came as strides {tuple(old.stride())}. The program takes it channels last (NHWC in "
            f"memory), so that convolutions need no copies.",
        )
        for index, (old, new) in enumerate(zip(given, images, strict=True))
        if old.stride() != new.stride()
    ]
    return relayout, module, findings


def _channels_last_weights(module: torch.nn.Module) -> torch.nn.Module:
    """Return a copy whose convolution weights lie channels last, those of one channel in plain order.

    The bytes of one channel are the same either way, but ExecuTorch would derive dim_order [0, 2, 1, 3] from
    channels-last strides, which its float convolution refuses.
    """
    module = copy.deepcopy(module)
    for parameter in module.parameters():
        if parameter.dim() == 4:
            one = parameter.shape[1] == 1
            layout = torch.contiguous_format if one else torch.channels_last
            parameter.data = parameter.data.clone(memory_format=layout)
    return module


def as_given(inputs: Sequence[torch.Tensor]) -> Inputs:
    """Return the inputs in the order of their dimensions."""
    return tuple(x.detach().contiguous() for x in inputs)


def relayout(inputs: Sequence[torch.Tensor]) -> Inputs:
    """Return the inputs with images (rank 4) channels last in memory, also where one channel makes strides ambiguous."""
    return tuple(_channels_last(x.detach()) for x in inputs)


def _channels_last(tensor: torch.Tensor) -> torch.Tensor:
    if tensor.dim() != 4:
        return tensor.contiguous()
    n, c, h, w = tensor.shape
    # .to(memory_format=...) leaves strides alone that fit both layouts (C = 1); the quantizer reads strides.
    out = torch.empty_strided((n, c, h, w), (h * w * c, 1, w * c, c), dtype=tensor.dtype)
    return out.copy_(tensor)


def random_inputs(like: Inputs, count: int, seed: int) -> list[Inputs]:
    """Return inputs shaped like an example: normal numbers for floats, the example itself for integers."""
    generator = torch.Generator().manual_seed(seed)

    def draw(x: torch.Tensor) -> torch.Tensor:
        if not x.is_floating_point():
            return x
        return torch.randn(x.shape, generator=generator, dtype=x.dtype)

    return [tuple(draw(x) for x in like) for _ in range(count)]


def sha256_tensors(tensors: Sequence[torch.Tensor]) -> str:
    """Return the hash of shapes, dtypes and values (independent of memory layout)."""
    digest = hashlib.sha256()
    for tensor in tensors:
        digest.update(f"{tuple(tensor.shape)} {tensor.dtype};".encode())
        digest.update(tensor.detach().contiguous().view(-1).view(torch.uint8).numpy().tobytes())
    return digest.hexdigest()


def _samples(
    definition: ModelDefinition, count: int | None
) -> tuple[tuple[Inputs, ...], tuple[int, ...]]:
    example = tuple(definition.example_inputs)
    tests = [tuple(inputs) for inputs in definition.test_inputs] or [example]
    labels = tuple(int(label) for label in definition.labels)
    if count is None:
        count = len(tests) if labels else 1
    if not labels and count > len(tests):
        tests += random_inputs(example, count - len(tests), RANDOM_SEED + 1)
    return tuple(tests[:count]), labels[:count]


def _check_dtypes(definition: ModelDefinition) -> None:
    hint = "cast to float32: model.float(), and x.float() for the inputs"
    named = [
        *((f"parameter {n}", p) for n, p in definition.module.named_parameters()),
        *((f"buffer {n}", b) for n, b in definition.module.named_buffers()),
        *((f"example input {i}", x) for i, x in enumerate(definition.example_inputs)),
    ]
    for name, tensor in named:
        if tensor.is_complex() or (tensor.is_floating_point() and tensor.dtype != torch.float32):
            dtype = str(tensor.dtype).removeprefix("torch.")
            raise ModelSourceError(f"{name} is {dtype}, want float32", hint=hint)
        if tensor.device.type != "cpu":
            raise ModelSourceError(f"{name} is on {tensor.device}", hint="move it: model.cpu()")


class _SpatialOperators(TorchDispatchMode):  # type: ignore[no-untyped-call]  # untyped base
    """Sees whether convolutions or pools run on rank 4 tensors."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.seen: bool = False

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        name = str(func)
        if ("conv" in name or "pool2d" in name) and args and args[0].dim() == 4:
            self.seen = True
        return func(*args, **(kwargs or {}))


def _check_forward(module: torch.nn.Module, inputs: Inputs) -> bool:
    """Run the model once; return whether it has convolutions or pools on images."""
    try:
        with torch.no_grad(), _SpatialOperators() as operators:
            output = module(*inputs)
    except Exception as error:
        raise ExportError(
            f"the model fails on its own example inputs: {first_line(error)}",
            hint="call the model with its example inputs yourself",
        ) from error
    outputs = output if isinstance(output, tuple | list) else (output,)
    for value in outputs:
        if not isinstance(value, torch.Tensor):
            inner = f" with a {type(value).__name__}" if outputs is output else ""
            raise ExportError(
                f"forward returns a {type(output).__name__}{inner}",
                hint="return a tensor or a tuple of tensors: wrap the model in a module that picks them",
            )
    return bool(operators.seen)
