"""Everything known to go wrong between this machine and a chip, made to go wrong.

Each fault has its own error and no healthy result; the same device, mended, works the next time.
"""

from __future__ import annotations

import dataclasses
import re
import struct
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from bench.board import Pyocd
from bench.bundle import Options
from bench.errors import Blame, LabError
from bench.foreign import foreign_program
from bench.locks import device_lock
from bench.pipeline import Attempt, Case, Plan, RunFailedError, run_case
from bench.record import Status
from bench.targets.attached import attached
from bench.targets.device import DeviceTarget
from bench.targets.simprobe.client import Bench, SimulatedDevice
from tests.probe.conftest import NONCE, UPSTREAM, Simulated, bundle_of, image_of, output_of

pytestmark = pytest.mark.qemu

_SOON_S = 60.0  # of a fault's report, on a machine that is busy with other things, too


def _run_fails(simulated: Simulated, code: str, telling: str) -> None:
    """Run a program; it must fail with this code, soon, and its record must be invalid and without measures."""
    program = foreign_program(
        UPSTREAM / "linear_cortex-m4.pte", (UPSTREAM / "linear_cortex-m4.in.bin",)
    )
    case = Case(simulated.board, "linear", program.manifest.scheme)
    plan = Plan(Options(warmup=0, iterations=1), deadline_s=60.0)
    target = simulated.target()
    attempt = Attempt(case, program, image_of(simulated.board.id), target, plan)
    started = time.monotonic()
    with pytest.raises(RunFailedError) as caught:
        run_case(attempt)

    fault, record = caught.value.fault, caught.value.record
    print(fault)  # noqa: T201  `pytest -rP` shows every row's message
    assert code == fault.code
    assert re.search(telling, fault.what), fault.what
    assert fault.blame in (Blame.BENCH, Blame.DEVICE)
    assert fault.hint
    assert (Status.INVALID, (), [code]) == (
        record.status,
        record.measures,
        [issue.code for issue in record.issues],
    )
    assert time.monotonic() - started < _SOON_S


def _fails(simulated: Simulated, code: str, telling: str, **options: object) -> LabError:
    """Flash; it must fail with this code, soon, and be an error rather than a verdict on a model."""
    started = time.monotonic()
    with pytest.raises(LabError, match=telling) as caught:
        simulated.flash(**options)

    print(caught.value)  # noqa: T201  as above
    assert code == caught.value.code
    assert caught.value.blame in (Blame.BENCH, Blame.DEVICE)
    assert caught.value.hint
    assert time.monotonic() - started < _SOON_S
    return caught.value


# What is armed, the error's code, and what its message must say.
_MATRIX = {
    "unplugged mid-flash": ({"unplug_after_packets": 150}, "probe-missing", "vanished while flashing"),
    "unplugged while connecting": ({"unplug_after_packets": 5}, "probe-missing", "vanished while"),
    "a corrupted reply": ({"corrupt_after_packets": 150}, "probe-protocol", "the reply to another command while"),
    "a lost reply": ({"drop_after_packets": 150}, "probe-protocol", "did not answer a command in time while"),
    "power lost mid-flash": ({"power_loss_after_runs": 4}, "no-power", "while flashing"),
    "WAIT for ever": ({"wait_after_accesses": 3000}, "probe-protocol", "WAIT for ever"),
    "a bus fault": ({"fault_once_after_accesses": 900}, "probe-protocol", "the chip's bus refused an access while"),
    "a stuck flash bit": ({"stuck_bits": {0x40: 0xFF}}, "flash-verify", "at 0x00000040"),
    "a hanging controller": ({"hang_after_runs": 3}, "flash-protocol", "timed out"),
    "a wrong chip": ({"chip_id": 0x41043850}, "wrong-chip", "0x4002fffc reads 0x41043850"),
}  # fmt: skip


@pytest.mark.parametrize("name", _MATRIX)
def test_a_fault_is_named_and_the_mended_device_works(name: str, an386: Simulated) -> None:
    """The message says what failed while what was done, no record is valid; afterwards the device runs."""
    armed, code, telling = _MATRIX[name]
    an386.bench.arm(**armed)

    _run_fails(an386, code, telling)

    an386.bench.do("mend")
    log, _ = an386.run()
    assert output_of("linear") == log.outputs[0, 0]


def test_power_off_at_rest(an386: Simulated) -> None:
    """The probe answers, the chip does not."""
    an386.bench.do("power_off")

    _run_fails(an386, "no-power", "the probe answers, the chip does not, while connecting")

    an386.bench.do("power_on")
    an386.run()


def test_no_probe(an386: Simulated) -> None:
    """Within seconds, without a prompt and without a wait for one (G13)."""
    an386.bench.do("unplug")

    _run_fails(an386, "probe-missing", "is not attached; attached: none")

    an386.bench.do("plug")
    an386.run()


def test_another_program_has_the_interface(an386: Simulated) -> None:
    """The probe is there, and taken."""
    with an386.device.connect("claim") as other:
        assert other.makefile("rb").readline() == b"claimed\n"

        _run_fails(an386, "probe-taken", "another program has it")

    an386.run()


def test_two_probes_of_one_serial_number(plug_in: Callable[..., Simulated]) -> None:
    """They cannot be told apart, so neither is touched."""
    one, other = plug_in("mps2-an386", uid="CLONE"), plug_in("mps2-an385", uid="CLONE")
    bus = [("mps2-an386", "CLONE"), ("mps2-an385", "CLONE")]

    _fails(one, "wrong-probe", "2 probes say that their id is CLONE", bus=bus)

    assert (0, 0) == (one.bench.status()["resets"], other.bench.status()["resets"])
    one.flash()


def test_probes_with_a_common_suffix(plug_in: Callable[..., Simulated]) -> None:
    """PyOCD takes any probe whose id contains what it was given: only the whole id counts here (G14)."""
    one, other = plug_in(uid="0123456"), plug_in(uid="A0123456")
    bus = [("mps2-an386", "0123456"), ("mps2-an386", "A0123456")]
    part = dataclasses.replace(one, entry=one.entry.model_copy(update={"probe_uid": "23456"}))

    _fails(part, "wrong-probe", "2 have ids that contain it", bus=bus)

    one.flash(bus=bus)
    assert (1, 0) == (min(1, one.bench.status()["resets"]), other.bench.status()["resets"])


def test_a_board_of_another_core(plug_in: Callable[..., Simulated]) -> None:
    """The site file says Cortex-M4, a Cortex-M3 answers."""
    simulated = plug_in("mps2-an385", board="mps2-an386")

    _fails(simulated, "wrong-chip", "part number is 0xc23, a cortex-m4 has 0xc24")


def test_the_generic_target_is_refused(an386: Simulated) -> None:
    """PyOCD would program 0 bytes and report success."""
    board = an386.board.model_copy(update={"pyocd": Pyocd(target="cortex_m")})

    _fails(dataclasses.replace(an386, board=board), "flash-target", "would program 0 bytes")

    an386.flash()


def test_zero_bytes_programmed_is_a_failure(an386: Simulated, tmp_path: Path) -> None:
    """An image whose segments are all empty: pyOCD has nothing to do and says that all is well."""
    image = image_of("mps2-an386")
    emptied = dataclasses.replace(image, elf=_emptied(image.elf, tmp_path / "empty.elf"))

    with pytest.raises(LabError, match=r"0 bytes were programmed and 0 were there") as caught:
        an386.target().flash(an386.board, emptied)

    assert "flash-target" == caught.value.code
    an386.flash()


def _emptied(elf: Path, copy: Path) -> Path:
    """Write a copy whose segments have nothing in the file (ELF's p_filesz, 16 bytes into each header of 32)."""
    raw = bytearray(elf.read_bytes())
    start, count = struct.unpack_from("<I", raw, 28)[0], struct.unpack_from("<H", raw, 44)[0]
    for header in range(start, start + 32 * count, 32):
        struct.pack_into("<I", raw, header + 16, 0)
    copy.write_bytes(raw)
    return copy


def test_an_image_outside_of_flash_is_refused(nrf52: Simulated, tmp_path: Path) -> None:
    """Programming into RAM is no flashing, whatever pyOCD calls it."""
    image = image_of("nrf52840dk")
    moved = dataclasses.replace(image, elf=_moved(image.elf, tmp_path / "moved.elf"))

    with pytest.raises(LabError, match=r"0x20000000 to .* is not Flash of nrf52840") as caught:
        nrf52.target().flash(nrf52.board, moved)

    assert "flash-target" == caught.value.code


def _moved(elf: Path, copy: Path) -> Path:
    """Write a copy whose segments are loaded into RAM (ELF's p_paddr, 12 bytes into each header of 32)."""
    raw = bytearray(elf.read_bytes())
    start, count = struct.unpack_from("<I", raw, 28)[0], struct.unpack_from("<H", raw, 44)[0]
    for header in range(start, start + 32 * count, 32):
        struct.pack_into("<I", raw, header + 12, 0x20000000)
    copy.write_bytes(raw)
    return copy


def test_a_chip_that_pyocd_does_not_know(an386: Simulated) -> None:
    """Its description comes in a pack, and the message says so (G15)."""
    board = an386.board.model_copy(update={"pyocd": Pyocd(target="nrf5340_xxaa")})

    _fails(
        dataclasses.replace(an386, board=board),
        "pack-missing",
        "does not know the chip nrf5340_xxaa",
    )


# --- the nRF52840: its lock, and its own flash controller under pyOCD's algorithm ---


def test_a_locked_part_is_reported_and_only_recover_erases(nrf52: Simulated) -> None:
    """The message says what would be erased; the command erases it, and the part can be flashed again."""
    nrf52.flash()
    nrf52.bench.do("lock")

    fault = _fails(nrf52, "locked", "the part is locked")

    assert "bench recover" in fault.hint
    assert "0x00000000 to 0x00100000" in fault.hint
    assert 0 == nrf52.bench.status()["erased_all"]
    steps = nrf52.target().recover(nrf52.board)
    assert ("erase everything", "connect") == steps
    assert (1, False) == (nrf52.bench.status()["erased_all"], nrf52.bench.status()["locked"])
    assert 0 == nrf52.flash().identical_bytes


@pytest.mark.parametrize("readings", [1, 2, 3])
def test_a_flaky_lock_reading_erases_nothing(readings: int, nrf52: Simulated) -> None:
    """One reading that says locked is not believed, and whatever is believed, nothing is erased."""
    nrf52.flash()
    nrf52.bench.arm(false_lock_readings=readings)

    done = nrf52.flash()

    assert 0 == done.programmed_bytes
    assert 0 == nrf52.bench.status()["erased_all"]


@pytest.mark.parametrize(
    ("armed", "code", "telling"),
    [
        ({"stuck_bits": {0x80: 0x10}}, "flash-verify", "at 0x00000080"),
        ({"hang_after_runs": 3}, "flash-protocol", "timed out"),
        ({"power_loss_after_runs": 6}, "no-power", "while flashing"),
        ({"chip_id": 0x52832}, "wrong-chip", "0x10000100 reads 0x00052832"),
    ],
)
def test_faults_of_a_real_flash_controller(
    armed: dict[str, object], code: str, telling: str, nrf52: Simulated
) -> None:
    """PyOCD's own algorithm for the nRF52 meets NVMC's faults."""
    nrf52.bench.arm(**armed)

    _fails(nrf52, code, telling)

    nrf52.bench.do("mend")
    nrf52.flash()


def test_nothing_of_uicr_is_written(nrf52: Simulated) -> None:
    """PyOCD's default writes UICR.APPROTECT of a blank part at each connect."""
    nrf52.flash()

    assert b"\xff" * 4 == nrf52.bench.read(0x10001208, 4)


# --- two boards on one machine ---


def test_the_other_board_is_never_touched(plug_in: Callable[..., Simulated]) -> None:
    """Two boards on one bus: the one that was not asked for is not even reset (G14)."""
    one, other = plug_in(), plug_in()
    bus = [("mps2-an386", one.entry.uid), ("mps2-an386", other.entry.uid)]

    log, _ = one.run(bus=bus)

    assert f"{NONCE:016x}" == log.hello.nonce
    assert 0 == other.bench.status()["resets"]
    assert {one.entry.uid, other.entry.uid} == {probe.uid for probe in attached(bus).probes}


def test_a_free_device_is_taken_when_the_first_is_in_use(
    plug_in: Callable[..., Simulated],
) -> None:
    """Two of a kind: whoever comes second gets the other, and does not wait."""
    one, other = plug_in(), plug_in()
    target = DeviceTarget([one.entry, other.entry], ladder={}, lock_wait_s=0.0)
    with device_lock([one.entry.uid], 0):
        done = target.flash(one.board, image_of(one.board.id))

    assert other.entry.name == done.device


def test_a_simulated_bus_hides_nothing(plug_in: Callable[..., Simulated]) -> None:
    """What is on the bus is listed with its port; what is pulled out is not."""
    simulated = plug_in()
    bus = [("mps2-an386", simulated.entry.uid)]
    with_it = attached(bus)
    simulated.bench.do("unplug")

    assert [simulated.entry.uid] == [port.serial_number for port in with_it.ports]
    assert ((), ()) == (attached(bus).probes, attached(bus).ports)


def test_a_device_process_that_hangs_is_ended(
    monkeypatch: pytest.MonkeyPatch, plug_in: Callable[..., Simulated]
) -> None:
    """Whatever pyOCD or a driver does, the deadline of the device's process holds."""
    simulated = plug_in()
    monkeypatch.setattr("bench.targets.device._CONNECT_S", 3.0)
    monkeypatch.setattr("bench.targets.device._FLASH_BYTES_PER_S", 1e9)
    simulated.bench.arm(hang_after_runs=0)

    error = _fails(simulated, "probe-protocol", "was ended")

    assert error.where == simulated.entry.name
    simulated.bench.do("mend")
    monkeypatch.undo()


def test_a_bench_survives_its_clients() -> None:
    """A device's process goes on when a client dies in the middle of a packet."""
    with Bench(SimulatedDevice("mps2-an386", "ALONE")) as bench:
        broken = bench.device.connect("claim")
        broken.sendall(b"\xff\x00")
        broken.close()

        assert bench.status()["plugged"]
        bench.do("end")


def test_the_bundle_is_flash_too(an386: Simulated) -> None:
    """A stuck bit in the model slot is found before anything runs."""
    slot = image_of("mps2-an386").model.start
    an386.bench.arm(stuck_bits={slot: 0xFF})  # the L of LABB

    with pytest.raises(LabError) as caught:
        an386.run(bundle_of("linear"))

    assert "flash-verify" == caught.value.code
