"""The way to a device when all is well: flash what changed, boot, read the port, ask again, and the same figures."""

from __future__ import annotations

import dataclasses
import json
import struct
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from bench.bundle import Options
from bench.errors import LabError
from bench.foreign import foreign_program
from bench.pipeline import Attempt, Case, Plan, run_case, target_for
from bench.record import Evidence, Status
from bench.targets import Request
from bench.targets.qemu import QemuTarget
from bench.targets.recovery import LADDER
from bench.targets.simprobe import machines
from bench.targets.simprobe.machines import SECTOR_BYTES
from bench.wire import Expected, parse
from tests.probe.conftest import (
    NONCE,
    UPSTREAM,
    Simulated,
    bundle_of,
    image_of,
    output_of,
    power_command,
)

pytestmark = pytest.mark.qemu


def _flashed(diagnostics: str) -> dict[str, float]:
    line = diagnostics.splitlines()[0].removeprefix("flash: ")
    told: dict[str, float] = json.loads(line)
    return told


def test_only_what_changed_is_programmed(an386: Simulated, tmp_path: Path) -> None:
    """Nothing the second time; of another model the slot, of another firmware the sectors that differ."""
    _, first = an386.run(bundle_of("linear"))
    _, same = an386.run(bundle_of("linear"))
    _, model = an386.run(bundle_of("ds_cnn"))
    image = image_of("mps2-an386")
    other = tmp_path / "other.elf"  # a word that only a fault would send
    other.write_bytes(image.elf.read_bytes().replace(b"unexpected_exception\0", b"U" * 20 + b"\0"))
    _, firmware = an386.run(bundle_of("ds_cnn"), image=dataclasses.replace(image, elf=other))

    assert 0 == _flashed(first.diagnostics)["identical_bytes"]
    assert 0 == _flashed(same.diagnostics)["programmed_bytes"]
    changed = _flashed(model.diagnostics)
    assert len(bundle_of("ds_cnn").data) <= changed["programmed_bytes"]
    assert changed["programmed_bytes"] < len(bundle_of("ds_cnn").data) + 2 * SECTOR_BYTES
    assert image.code_bytes - SECTOR_BYTES < changed["identical_bytes"]
    assert SECTOR_BYTES <= _flashed(firmware.diagnostics)["programmed_bytes"] <= 2 * SECTOR_BYTES


def test_nothing_outside_is_wiped(an386: Simulated) -> None:
    """Bytes that share the last sector with the bundle stay, and so do the sectors beside it."""
    slot = image_of("mps2-an386").model.start
    bundle = bundle_of("linear")
    an386.run(bundle)
    end = slot + len(bundle.data)
    next_sector = slot + -(-len(bundle.data) // SECTOR_BYTES) * SECTOR_BYTES
    an386.bench.write(end, b"neighbour")
    an386.bench.write(next_sector, b"the next sector")
    an386.bench.write(slot + 200, b"\0\0\0\0")

    an386.run(bundle)

    assert b"neighbour" == an386.bench.read(end, 9)
    assert b"the next sector" == an386.bench.read(next_sector, 15)
    assert bundle.data == an386.bench.read(slot, len(bundle.data))


@pytest.mark.parametrize("model", ["ds_cnn", "resnet8"])
def test_a_record_of_a_simulated_device(model: str, an386: Simulated) -> None:
    """It is complete and right, says `simulated`, counts what the emulator counts, and is never silicon."""
    program = foreign_program(
        UPSTREAM / f"{model}_cortex-m4.pte", (UPSTREAM / f"{model}_cortex-m4.in.bin",)
    )
    plan = Plan(Options(warmup=0, iterations=1), deadline_s=60.0)
    case = Case(an386.board, model, program.manifest.scheme)
    image = image_of("mps2-an386")

    outcome = run_case(Attempt(case, program, image, an386.target(), plan))
    emulated = run_case(Attempt(case, program, image, target_for(an386.board), plan))

    record = outcome.record
    assert (an386.entry.name, "simulated") == (record.device, record.attachment)
    assert record.status is not Status.INVALID
    assert output_of(model) == outcome.log.outputs[0, 0]
    assert Evidence.SILICON not in {measure.evidence for measure in record.measures}
    latency, twin = record.find("latency"), emulated.record.find("latency")
    assert latency is not None
    assert twin is not None
    assert (twin.values, "instructions") == (latency.values, latency.unit)
    assert [("lab", True), ("deployment", False)] == [(i.role, i.ran) for i in record.images]
    for name in ("flash_total", "ram_total", "ram_stack", "mismatch_deployment"):
        on_device, stood_in = record.find(name), emulated.record.find(name)
        assert on_device is not None
        assert stood_in is not None
        assert stood_in.values == on_device.values


@pytest.mark.parametrize("kind", ["mps2-an385", "mps2-an505", "mps3-an547"])
def test_other_cores(kind: str, plug_in: Callable[..., Simulated]) -> None:
    """M3, M33 and M55: flashed, booted, and every window has the emulator's ticks."""
    simulated = plug_in(kind)
    cpu = "cortex-m55" if kind == "mps3-an547" else "cortex-m4"
    bundle, image = bundle_of("linear", cpu=cpu), image_of(kind)

    log, _ = simulated.run(bundle)
    emulated = QemuTarget().run(Request(simulated.board, image, bundle, NONCE, 60.0))

    expected = Expected(kind, image.build_id, f"{NONCE:016x}", bundle.crc32)
    assert parse(emulated, expected).ticks == log.ticks
    assert output_of("linear", cpu) == log.outputs[0, 0]


def test_a_reset_that_fails_once_is_mended_and_recorded(an386: Simulated) -> None:
    """The first attach fails, the second works (S24): the run's transcript says so."""
    an386.bench.arm(deaf_sessions=1)

    log, transcript = an386.run(ladder=LADDER)

    assert ("retry",) == transcript.recovery
    assert output_of("linear") == log.outputs[0, 0]


def test_a_connection_that_is_too_fast_is_slowed_down(an386: Simulated) -> None:
    """A long cable, or a core in a slow mode: the ladder ends at a tenth of the clock, and says so (S24)."""
    an386.bench.arm(deaf_above_hz=200_000)

    log, transcript = an386.run(ladder=LADDER)

    assert ("retry", "reset", "slower-clock") == transcript.recovery
    assert output_of("linear") == log.outputs[0, 0]


def test_a_reset_pin_that_was_left_pulled_is_released(an386: Simulated) -> None:
    """A session that is killed while it connects under reset leaves the probe so; the next one runs all the same."""
    pins_low = bytes([0x10, 0x00, 0x80, 0, 0, 0, 0])  # CMSIS-DAP's DAP_SWJ_Pins: nRESET to 0
    with an386.device.connect("claim") as killed:
        stream = killed.makefile("rwb")
        assert stream.readline() == b"claimed\n"
        stream.write(struct.pack("<I", len(pins_low)) + pins_low)
        stream.flush()
        assert stream.read(6)[4:5] == b"\x10"
        stream.close()

    log, transcript = an386.run()

    assert output_of("linear") == log.outputs[0, 0]
    assert () == transcript.recovery


def test_power_is_cycled_where_the_site_file_says_how(
    plug_in: Callable[..., Simulated],
) -> None:
    """A device without power comes back through its power command, after the steps that cost less."""
    command = power_command("mps2-an386", "SIM-POWER")
    simulated = plug_in(uid="SIM-POWER", power_command=command)
    simulated.bench.do("power_off")

    log, transcript = simulated.run(ladder={"no-power": ("retry", "power-cycle")})

    assert ("retry", "power-cycle") == transcript.recovery
    assert output_of("linear") == log.outputs[0, 0]


@pytest.mark.parametrize(
    ("command", "telling"),
    [
        ("sh -c 'echo no such hub >&2; exit 7'", "ended with 7: no such hub"),
        ("no-such-program -l 1", "no-such-program is not installed"),
        ("sleep 60", "was not done after 1 s and was ended"),
    ],
)
def test_a_power_command_that_fails_is_named(
    command: str,
    telling: str,
    plug_in: Callable[..., Simulated],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What was wrong with the device before is in the message too; nothing else is tried."""
    monkeypatch.setattr("bench.targets.recovery._POWER_S", 1.0)
    simulated = plug_in(power_command=command)
    simulated.bench.do("power_off")

    with pytest.raises(LabError, match=telling) as caught:
        simulated.flash(ladder={"no-power": ("power-cycle",)})

    assert "power-command" == caught.value.code
    assert simulated.entry.name == caught.value.where
    assert "the probe answers, the chip does not" in caught.value.what
    simulated.bench.do("power_on")
    simulated.flash()


def test_a_device_that_fails_again_is_left_alone(an386: Simulated) -> None:
    """Twice in a row, then quarantined for the rest of the run, at once."""
    target = an386.target()
    an386.bench.do("unplug")
    codes = []
    for _ in range(3):
        with pytest.raises(LabError) as caught:
            target.flash(an386.board, image_of("mps2-an386"))
        codes.append(caught.value.code)

    assert ["probe-missing", "probe-missing", "quarantined"] == codes


def test_a_lost_line_of_a_large_dump_is_sent_again(an386: Simulated) -> None:
    """Of 500 KB of outputs some bytes in the middle get lost: those lines are asked for, the bytes are right."""
    an386.bench.arm(serial_lose={20_000: 3, 300_000: 700, 600_000: 1})

    log, transcript = an386.run(bundle_of("autoencoder", samples=200))

    sent = sum(len(data) for data in log.outputs.values())
    assert sent >= 500_000
    assert 3 <= transcript.repaired_lines <= 8
    assert {output_of("autoencoder")} == set(log.outputs.values())
    assert transcript.received != transcript.raw


def test_the_flash_algorithm_is_its_source(tmp_path: Path) -> None:
    """The words that pyOCD gets are flash_algorithm.S, assembled."""
    source = Path(machines.__file__).with_name("flash_algorithm.S")
    built, raw = tmp_path / "a.o", tmp_path / "a.bin"
    subprocess.run(["arm-none-eabi-as", str(source), "-o", str(built)], check=True)
    subprocess.run(["arm-none-eabi-objcopy", "-O", "binary", str(built), str(raw)], check=True)
    data = raw.read_bytes()
    data += bytes(-len(data) % 4)

    assert struct.unpack(f"<{len(data) // 4}I", data) == machines.ALGORITHM_WORDS
