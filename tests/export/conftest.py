"""What the export's tests share: a quiet torch, and programs that are made once a session."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import torch

from bench.cache import PROJECT
from bench.export.programs import Failed, ProgramFiles, export_programs
from bench.model import ModelDefinition, ModelSource, build_model, resolve_model

CPUS = ("cortex-m4", "cortex-m55")
Exported = dict[str, ProgramFiles]


@pytest.fixture(scope="session", autouse=True)
def _quiet_torch() -> Iterator[None]:
    """Keep torch to one thread and its logs out of reports."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    logging.disable(logging.WARNING)
    yield
    logging.disable(logging.NOTSET)
    torch.set_num_threads(threads)


@pytest.fixture(scope="session")
def upstream() -> Path:
    """Return the folder of upstream's programs and vectors."""
    return PROJECT / "tests" / "data" / "upstream"


@pytest.fixture(scope="session")
def zoo() -> Callable[..., Exported]:
    """Return a function that exports a model of the zoo, once a session, for an M4 and an M55."""
    definitions: dict[str, ModelDefinition] = {}
    made: dict[tuple[str, str], Exported] = {}

    def export(name: str, scheme: str = "int8") -> Exported:
        if name not in definitions:
            source = resolve_model(name)
            assert isinstance(source, ModelSource)
            definitions[name] = build_model(source)
        if (name, scheme) not in made:
            made[name, scheme] = export_all(name, definitions[name], scheme, CPUS)
        return made[name, scheme]

    return export


@pytest.fixture(scope="session")
def export_one() -> Callable[..., ProgramFiles]:
    """Return a function that exports a module for one cpu."""

    def export(
        module: torch.nn.Module,
        *inputs: torch.Tensor,
        scheme: str = "int8",
        cpu: str = "cortex-m4",
        calibration: tuple[tuple[torch.Tensor, ...], ...] = (),
    ) -> ProgramFiles:
        definition = ModelDefinition(module.eval(), inputs, calibration=calibration)
        return export_all("case", definition, scheme, (cpu,))[cpu]

    return export


def export_all(
    name: str,
    definition: ModelDefinition,
    scheme: str,
    cpus: tuple[str, ...],
    method: str = "forward",
) -> Exported:
    """Export a model and raise what failed."""
    made = {}
    for result in export_programs(
        name,
        definition,
        scheme=scheme,
        cpus=cpus,
        samples=None,
        model_sha256="00",
        method=method,
    ):
        if isinstance(result, Failed):
            raise result.error
        made[result.cpu] = result
    return made
