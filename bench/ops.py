"""Which of ExecuTorch's operators the runtime has kernels for.

The lists are the installed wheel's: `backends/cortex_m/ops/operators.yaml`, and `functions.yaml` with the copies of
`et_copy_ops.yaml` and `custom_ops.yaml` of the portable kernels. The kernels are read from the sources, where each
registers itself by name: no image need be built.
"""

from __future__ import annotations

import importlib.util
import re
from dataclasses import dataclass
from pathlib import Path

from bench.cache import PROJECT
from bench.errors import InputError

_KERNELS = PROJECT / "runtime" / "kernels"
_LISTS = {
    "cortex_m": "backends/cortex_m/ops/operators.yaml",
    "portable": "kernels/portable/functions.yaml",
}
_REGISTRATION = re.compile(
    r'RT_(?:REFERENCE_|NHWC_)?KERNEL\(\s*(?:\w+,\s*)?"([\w:.]+)"', re.MULTILINE
)
_ENTRY = re.compile(r"^- (?:op|func): *([\w:.]+)", re.MULTILINE)
_ISAS = ("dsp", "mve", "scalar", "fpu")


@dataclass(frozen=True)
class Operator:
    """One operator of a list.

    Attributes:
        name: as programs have it, `aten::add.out`.
        kernel: folder of the reference kernel (`ref`), empty if there is none.
        faster: instruction sets that have a faster kernel.
    """

    name: str
    kernel: str
    faster: tuple[str, ...]


@dataclass(frozen=True)
class Coverage:
    """One of the wheel's lists, joined with the kernels."""

    source: str
    operators: tuple[Operator, ...]

    @property
    def covered(self) -> int:
        """Operators with a kernel."""
        return sum(bool(operator.kernel) for operator in self.operators)


def coverage() -> dict[str, Coverage]:
    """Return the coverage of each of the wheel's lists, by name.

    Raises:
        InputError: executorch is not installed, or its lists are elsewhere.
    """
    kernels = {isa: _registered(_KERNELS / isa) for isa in ("ref", *_ISAS)}
    found = {}
    for name, relative in _LISTS.items():
        operators = tuple(
            Operator(
                operator,
                "ref" if operator in kernels["ref"] else "",
                tuple(isa for isa in _ISAS if operator in kernels[isa]),
            )
            for operator in sorted(_listed(_wheel() / relative))
        )
        found[name] = Coverage(relative, operators)
    return found


def others() -> tuple[str, ...]:
    """Return the kernels that are in none of the lists: layout operators, mostly."""
    listed = {o.name for part in coverage().values() for o in part.operators}
    return tuple(sorted(_registered(_KERNELS / "ref") - listed))


def summary(found: dict[str, Coverage]) -> str:
    """Return one line with the counts."""
    counts = {name: f"{part.covered} of {len(part.operators)}" for name, part in found.items()}
    return f"{counts['cortex_m']} cortex_m operators, {counts['portable']} portable ones"


def _registered(folder: Path) -> set[str]:
    return {
        name
        for path in folder.glob("*.cpp")
        for name in _REGISTRATION.findall(path.read_text(encoding="utf-8"))
    }


def _listed(path: Path) -> set[str]:
    if not path.is_file():
        raise InputError("the executorch wheel has no such list", where=str(path))
    names = _ENTRY.findall(path.read_text(encoding="utf-8"))
    return {name if "::" in name else f"aten::{name}" for name in names}


def _wheel() -> Path:
    spec = importlib.util.find_spec("executorch")
    if spec is None or not spec.submodule_search_locations:
        raise InputError("executorch is not installed", hint="make setup")
    return Path(next(iter(spec.submodule_search_locations)))
