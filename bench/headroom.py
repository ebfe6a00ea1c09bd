"""What is left of each memory of a board after a reserve, and whether the parts of a record add up."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

from bench.fit import Fit, Memory, fits_of, needs_of
from bench.record import Measure, Record, RegionFacts

FLASH_PARTS = (
    "flash_weights",
    "flash_program",
    "flash_tables",
    "flash_runtime",
    "flash_kernels",
    "flash_firmware",
)
RAM_PARTS = ("ram_planned", "ram_input_output", "ram_scratch", "ram_method", "ram_stack", "ram_static")  # fmt: skip


def regions(
    memories: Sequence[Memory], measures: Iterable[Measure], reserves: Mapping[str, int]
) -> tuple[RegionFacts, ...]:
    """Return what each memory has, what the program needs of it, and what is left after the reserve.

    A reserve is for the application, wherever it goes: it is taken from the memory of its kind that has the most room,
    and what that has not, from the next.

    Args:
        reserves: bytes by kind, `RAM` and `Flash`.
    """
    needs = needs_of({one.name: int(one.median) for one in measures if one.unit == "bytes"})
    return _facts(fits_of(needs, memories), "deployment" if needs.deployment else "lab", reserves)


def with_reserves(
    found: Sequence[RegionFacts], reserves: Mapping[str, int]
) -> tuple[RegionFacts, ...]:
    """Return a record's regions with other reserves."""
    fits = [Fit(one.name, one.kind, one.have_bytes, one.need_bytes) for one in found]
    return _facts(fits, found[0].image if found else "lab", reserves)


def _facts(
    fits: Sequence[Fit], image: Literal["lab", "deployment"], reserves: Mapping[str, int]
) -> tuple[RegionFacts, ...]:
    taken = _share_out(fits, reserves)
    return tuple(
        RegionFacts(
            name=fit.memory,
            kind=fit.kind,
            image=image,
            have_bytes=fit.have_bytes,
            need_bytes=fit.need_bytes,
            reserve_bytes=taken[fit.memory],
            headroom_bytes=fit.headroom_bytes - taken[fit.memory],
            headroom_percent=100 * (fit.headroom_bytes - taken[fit.memory]) / fit.have_bytes,
        )
        for fit in fits
    )


def _share_out(fits: Sequence[Fit], reserves: Mapping[str, int]) -> dict[str, int]:
    """Return how much of the reserves each memory gives; what none has room for, the largest lacks."""
    taken = dict.fromkeys((fit.memory for fit in fits), 0)
    for kind, reserve in reserves.items():
        left = reserve
        mine = [fit for fit in fits if fit.kind == kind]
        mine.sort(key=lambda fit: fit.headroom_bytes, reverse=True)
        for fit in mine:
            taken[fit.memory] = min(left, max(0, fit.headroom_bytes))
            left -= taken[fit.memory]
        if left and mine:
            taken[mine[0].memory] += left
    return taken


def wrong_sums(record: Record) -> tuple[str, ...]:
    """Return a sentence for every whole of a record that is not the sum of its parts; empty where all add up.

    The totals, and what else tells the same bytes: the program's file and memory plan, the linked image's sections.
    """
    sizes = {one.name: int(one.median) for one in record.measures if one.unit == "bytes"}
    if "flash_total" not in sizes:
        return ()
    shipped = next((image.sizes for image in record.images if image.role == "deployment"), None)
    if shipped is None:
        return ("the record has a deployment image's sizes and no such image",)
    plan = ("ram_planned", "ram_input_output", "ram_scratch")
    checks = [
        ("flash_total", sizes["flash_total"], FLASH_PARTS),
        ("ram_total", sizes.get("ram_total", 0), RAM_PARTS),
        ("the .pte file", record.program.pte_bytes, ("flash_weights", "flash_program")),
        ("code and data of the image", shipped["code"] + shipped["data"],
         ("flash_runtime", "flash_kernels", "flash_firmware")),
        ("data and bss of the image", shipped["data"] + shipped["bss"], ("ram_static",)),
        ("the memory plan and the temporary pool",
         record.program.planned_bytes + sizes.get("lab_ram_temporary", 0), plan),
    ]  # fmt: skip
    return tuple(
        f"{whole} has {nbytes:,} bytes, {' + '.join(parts)} are {found:,}"
        for whole, nbytes, parts in checks
        if (found := sum(sizes.get(part, 0) for part in parts)) != nbytes
    )
