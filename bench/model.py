"""Models: where they come from, what they give to the export, and the key of what is made of them.

Imports no torch: a warm run resolves names and computes keys with this module alone.
"""

from __future__ import annotations

import ast
import hashlib
import importlib.metadata
import importlib.util
import sys
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench.errors import InputError, ModelSourceError, UnknownNameError, nearest

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import torch

ZOO = Path(__file__).resolve().parent / "models"
FORWARD = "forward"
SCHEMES = ("int8", "int8-ends", "fp32")


@dataclass(frozen=True)
class ModelSource:
    """A model that can be built: a file of the zoo or of the user's.

    Attributes:
        name: what records and tables call it.
        path: the Python file.
        function: the function in it that returns a `ModelDefinition`.
        builtin: whether it is one of the zoo.
        method: the program's method that runs; empty for its own choice, `forward`.
    """

    name: str
    path: Path
    function: str
    builtin: bool
    method: str = ""


@dataclass(frozen=True)
class ModelDefinition:
    """What a model's `build()` returns; `(module, example_inputs)` alone will do.

    Attributes:
        module: float32, in eval mode.
        example_inputs: one inference's inputs, batch of 1, NCHW sizes for images.
        calibration: input tuples that the quantizer sees; empty: random normal numbers of a fixed seed.
        test_inputs: input tuples whose outputs are compared; empty: the example inputs.
        labels: class of each test input, empty if there is no labelled data set.
        classes: number of classes, 0 if it is no classifier.
        trained: whether the weights were learned; accuracy is only claimed if so.
        dataset_sha256: hash of the labelled data set, empty without one.
        methods: further methods of the program by name; this definition is its method `forward`.
    """

    module: torch.nn.Module
    example_inputs: tuple[torch.Tensor, ...]
    calibration: Sequence[tuple[torch.Tensor, ...]] = ()
    test_inputs: Sequence[tuple[torch.Tensor, ...]] = ()
    labels: Sequence[int] = ()
    classes: int = 0
    trained: bool = False
    dataset_sha256: str = ""
    description: str = ""
    methods: Mapping[str, ModelDefinition] = field(default_factory=dict)

    def method(self, name: str) -> ModelDefinition:
        """Return the definition of a method.

        Raises:
            UnknownNameError: there is none of that name.
        """
        if name == FORWARD:
            return self
        if name not in self.methods:
            known = [FORWARD, *self.methods]
            raise UnknownNameError(f"the model has no method {name!r}", hint=nearest(name, known))
        return self.methods[name]


def list_models() -> list[str]:
    """Return the names of the zoo."""
    return sorted(p.stem for p in ZOO.glob("*.py") if not p.name.startswith("_"))


def summary(name: str) -> str:
    """Return the first line of a zoo model's docstring."""
    text = ast.get_docstring(ast.parse((ZOO / f"{name}.py").read_bytes())) or ""
    return text.partition("\n")[0]


def split_method(text: str) -> tuple[str, str]:
    """Return a model's text without `#method` at its end, and the method, empty if none is named."""
    model, mark, method = text.rpartition("#")
    return (model, method) if mark and method.isidentifier() else (text, "")


def resolve_model(text: str) -> ModelSource | Path:
    """Return the model that `text` names: a name of the zoo, `file.py:function`, or a `.pte` file (as its path).

    Each may be followed by `#method`.

    Raises:
        UnknownNameError: no such name.
        InputError: a file that does not exist.
    """
    text, method = split_method(text)
    model = _resolve(text)
    if isinstance(model, Path) or not method:
        return model
    return replace(model, name=f"{model.name}-{method}", method=method)


def _resolve(text: str) -> ModelSource | Path:
    if text.endswith(".pte"):
        program = Path(text)
        if not program.is_file():
            raise InputError("there is no such program file", where=text)
        return program
    file, colon, function = text.rpartition(":")
    if not colon and text.endswith(".py"):
        file, function = text, "build"
    if file.endswith(".py"):
        path = Path(file).resolve()
        if not path.is_file():
            raise InputError("there is no such model file", where=file)
        if not function.isidentifier():
            raise InputError(
                f"{function!r} is not the name of a function", where=text, hint="file.py:build"
            )
        name = path.stem if function == "build" else f"{path.stem}-{function}"
        return ModelSource(name, path, function, builtin=False)
    if text in list_models():
        return ModelSource(text, ZOO / f"{text}.py", "build", builtin=True)
    hint = nearest(text, list_models()) + "; or path/to/file.py:build, or file.pte"
    raise UnknownNameError(f"there is no model {text!r}", hint=hint)


def build_model(source: ModelSource) -> ModelDefinition:
    """Import the model's file and call its function.

    Raises:
        ModelSourceError: the file cannot be imported, or its function is missing, fails or returns something else.
    """
    where = f"{source.path}:{source.function}"
    module = _import_file(source)
    function = getattr(module, source.function, None)
    if not callable(function):
        known = [n for n, v in vars(module).items() if callable(v) and not n.startswith("_")]
        raise ModelSourceError(
            f"it has no function {source.function!r}",
            where=where,
            hint=nearest(source.function, known),
        )
    try:
        built = function()
    except (Exception, SystemExit) as error:
        raise ModelSourceError(
            f"{source.function}() raised {type(error).__name__}: {first_line(error)}", where=where
        ) from error
    return _as_definition(built, where)


def _import_file(source: ModelSource) -> object:
    name = f"bench.models.{source.name}" if source.builtin else f"_model_{source.path.stem}"
    if not source.builtin and str(source.path.parent) not in sys.path:
        sys.path.insert(0, str(source.path.parent))  # a user's file may import its neighbours
    spec = importlib.util.spec_from_file_location(name, source.path)
    if spec is None or spec.loader is None:
        raise ModelSourceError("it cannot be imported as Python", where=str(source.path))
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        raise ModelSourceError(
            f"importing it raised {type(error).__name__}: {first_line(error)}",
            where=str(source.path),
        ) from error
    return module


def _as_definition(built: object, where: str) -> ModelDefinition:
    """Accept a definition, `(module, inputs)` or a module with `example_inputs`."""
    if isinstance(built, ModelDefinition):
        definition = built
    elif isinstance(built, tuple | list) and len(built) == 2:
        definition = ModelDefinition(built[0], built[1])
    else:
        raise ModelSourceError(
            f"it returned {type(built).__name__}",
            where=where,
            hint="return a bench.model.ModelDefinition, or (module, example_inputs)",
        )
    inputs: Any = definition.example_inputs
    if not isinstance(inputs, tuple | list):
        inputs = (inputs,)
    if not inputs or not all(hasattr(x, "dtype") and hasattr(x, "stride") for x in inputs):
        raise ModelSourceError("example_inputs must be a tuple of tensors", where=where)
    if not hasattr(definition.module, "state_dict"):
        raise ModelSourceError(
            f"its module is a {type(definition.module).__name__}, not a torch.nn.Module",
            where=where,
        )
    labels, tests = len(definition.labels), len(definition.test_inputs)
    if labels and labels != tests:
        raise ModelSourceError(f"it has {tests} test inputs and {labels} labels", where=where)
    values = {f: getattr(definition, f) for f in definition.__dataclass_fields__}
    return ModelDefinition(**{**values, "example_inputs": tuple(inputs)})


def first_line(error: BaseException, limit: int = 240) -> str:
    """Return the first line of an error's text that says something, shortened."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    text = lines[0] if lines else type(error).__name__
    return text if len(text) <= limit else text[: limit - 1] + "…"


def source_sha256(source: ModelSource) -> str:
    """Return the hash of what the model is built from, as far as its source shows it.

    That is the file, the modules beside it that it imports, and the files that string literals in them name
    (weights, data), looked up beside the file and in the working directory. Files that are found in any
    other way are not seen.
    """
    digest = hashlib.sha256(source.function.encode())
    for path in sorted(_reachable_files(source)):
        digest.update(path.name.encode() + b"\0" + hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def _reachable_files(source: ModelSource) -> set[Path]:
    found: set[Path] = set()
    open_files = [source.path, *(sorted(ZOO.glob("_*.py")) if source.builtin else [])]
    while open_files:
        path = open_files.pop()
        if path in found:
            continue
        found.add(path)
        if path.suffix == ".py":
            open_files += _named_files(path)
    return found


def _named_files(path: Path) -> Iterator[Path]:
    try:
        tree = ast.parse(path.read_bytes())
    except SyntaxError:
        return  # importing it will say so
    for node in ast.walk(tree):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            names = [base, *(f"{base}.{a.name}".lstrip(".") for a in node.names)]
        for name in filter(None, names):
            stem = path.parent.joinpath(*name.split("."))
            yield from filter(Path.is_file, (stem.with_suffix(".py"), stem / "__init__.py"))
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            text = node.value
            if 0 < len(text) < 256 and "\n" not in text and "\0" not in text:
                candidates = (path.parent / text, Path(text))
                yield from (c.resolve() for c in candidates if c.is_file())


def program_key(source: ModelSource, scheme: str, cpu: str, samples: int | None) -> str:
    """Return the content key of a program: equal keys mean equal programs, samples and expected outputs."""
    digest = hashlib.sha256()
    for part in (
        source.name,
        source.method,
        source_sha256(source),
        scheme,
        cpu,
        str(samples),
        *(f"{p}={importlib.metadata.version(p)}" for p in VERSIONED_PACKAGES),
        _exporter_sha256(),
    ):
        digest.update(part.encode() + b"\0")
    return digest.hexdigest()


VERSIONED_PACKAGES = ("torch", "executorch", "torchao", "numpy", "scikit-learn")


def _exporter_sha256() -> str:
    """Return the hash of the sources that decide what a program becomes."""
    here = Path(__file__).resolve().parent
    digest = hashlib.sha256()
    sources = [
        *(here / "export").glob("*.py"),
        *(here / "rewrite").glob("*.py"),
        here / "export_job.py",
        here / "program.py",
    ]
    for path in sorted([*sources, here / "model.py"]):
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()
