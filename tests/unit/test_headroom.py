"""Headroom by memory region after a reserve, and records whose parts do not add up: by hand."""

from __future__ import annotations

import pytest

from bench.fit import Memory
from bench.headroom import FLASH_PARTS, RAM_PARTS, regions, with_reserves, wrong_sums
from bench.record import Evidence, ImageFacts, Measure, Record, measured
from tests.decide.records import make_record

FLASH = dict(zip(FLASH_PARTS, (700, 300, 200, 9_000, 4_000, 2_000), strict=True))
RAM = dict(zip(RAM_PARTS, (1_500, 400, 250, 600, 900, 128), strict=True))
SIZES = {**FLASH, **RAM, "flash_total": 16_200, "ram_total": 3_778, "lab_ram_temporary": 150}
MEMORIES = (
    Memory("CODE+MODEL", "Flash", 65_536, frozenset({"CODE", "MODEL"})),
    Memory("DATA", "RAM", 4_096, frozenset({"DATA"})),
    Memory("ARENA", "RAM", 8_192, frozenset({"ARENA"})),
)


def _measures(sizes: dict[str, int]) -> tuple[Measure, ...]:
    return tuple(
        measured(name, "bytes", Evidence.STATIC, value)
        for name, value in sizes.items()
        if value >= 0
    )


def _record(**changed: int) -> Record:
    image = ImageFacts(
        role="deployment",
        build_id="d",
        sha256="d",
        sizes={"code": 14_972, "data": 28, "bss": 100},
        ran=True,
    )
    record = make_record(*_measures(SIZES | changed))
    return record.model_copy(update={"images": (*record.images, image)})


def test_each_memory_has_its_need_and_what_is_left() -> None:
    """Flash: 15,000 + 1,200; DATA: 900 + 128; ARENA: 1,500 + 400 + 250 + 600."""
    found = regions(MEMORIES, _measures(SIZES), {})

    assert [
        ("CODE+MODEL", "deployment", 16_200, 49_336),
        ("DATA", "deployment", 1_028, 3_068),
        ("ARENA", "deployment", 2_750, 5_442),
    ] == [(one.name, one.image, one.need_bytes, one.headroom_bytes) for one in found]
    assert [100 * 49_336 / 65_536, 100 * 3_068 / 4_096] == pytest.approx(
        [one.headroom_percent for one in found[:2]]
    )


def test_a_reserve_is_taken_where_most_room_is() -> None:
    """7,000 B: all 5,442 of ARENA's, 1,558 of DATA's; of Flash as much as there is asked for."""
    found = regions(MEMORIES, _measures(SIZES), {"RAM": 7_000, "Flash": 10_000})

    assert {"CODE+MODEL": 10_000, "ARENA": 5_442, "DATA": 1_558} == {
        one.name: one.reserve_bytes for one in found
    }
    assert [39_336, 1_510, 0] == [one.headroom_bytes for one in found]
    assert found == with_reserves(
        regions(MEMORIES, _measures(SIZES), {}), {"RAM": 7_000, "Flash": 10_000}
    )


def test_a_reserve_that_does_not_fit_is_missing() -> None:
    """Room for 8,510 in all: 10,000 lack 1,490, told where most room was."""
    found = {r.name: r for r in regions(MEMORIES, _measures(SIZES), {"RAM": 10_000})}

    assert (-1_490, 0) == (found["ARENA"].headroom_bytes, found["DATA"].headroom_bytes)


def test_without_a_deployment_image_the_lab_images_sizes_are_an_upper_bound() -> None:
    """They are labelled; without either there is nothing to say."""
    lab = {
        "lab_flash_image": 60_000, "pte": 1_000, "lab_ram_static": 500, "lab_ram_stack": 900,
        "lab_ram_planned": 2_000, "lab_ram_method": 600, "lab_ram_temporary": 150,
    }  # fmt: skip

    assert [("lab", 61_000), ("lab", 1_400), ("lab", 2_750)] == [
        (one.image, one.need_bytes) for one in regions(MEMORIES, _measures(lab), {})
    ]
    assert () == regions(MEMORIES, _measures({"pte": 1_000}), {})


def test_a_record_that_adds_up() -> None:
    """Totals, the .pte (1,000 B), the plan (2,000 B) and the image's sections agree."""
    assert () == wrong_sums(_record())


@pytest.mark.parametrize("name", [*FLASH_PARTS, *RAM_PARTS, "flash_total", "ram_total"])
def test_a_byte_too_many_anywhere_is_found(name: str) -> None:
    """Each part stands in a sum or two, each total in one."""
    wrong = wrong_sums(_record(**{name: SIZES[name] + 1}))

    assert wrong
    assert all("bytes" in told for told in wrong)


def test_a_missing_part_is_found() -> None:
    """What is not there counts as nothing."""
    record = _record(ram_stack=-1)

    assert "ram_total has 3,778 bytes" in wrong_sums(record)[0]
