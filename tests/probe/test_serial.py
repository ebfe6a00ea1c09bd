"""Serial ports: the one that belongs to the probe, and everything that real ones do to a stream of lines."""

from __future__ import annotations

import dataclasses
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
import serial
from hypothesis import given
from hypothesis import strategies as st

from bench.bundle import Inject
from bench.errors import LabError, SerialMissingError
from bench.image import Image
from bench.targets.line_store import LineStore
from bench.targets.recovery import LADDER
from bench.targets.serial_port import (
    FoundPort,
    SerialPort,
    looks_like_another_baud_rate,
    port_of,
)
from bench.wire import frame
from tests.probe.conftest import Simulated, bundle_of, image_of, output_of

qemu = pytest.mark.qemu


# --- which port ---


def test_the_port_of_a_probe_is_found_by_its_serial_number() -> None:
    """J-Link's leading zeros, either case of letters, several ports of one probe, and never another's."""
    ports = (
        FoundPort("/dev/ttyACM0", "000683012345", "J-Link"),
        FoundPort("/dev/ttyACM1", "000683012345", "J-Link"),
        FoundPort("/dev/ttyACM2", "0240000034544E45", "DAPLink"),
        FoundPort("/dev/ttyUSB0", "", "FTDI"),
    )

    assert "/dev/ttyACM0" == port_of("683012345", ports).path
    assert "/dev/ttyACM1" == port_of("683012345", ports, vcom=1).path
    assert "/dev/ttyACM2" == port_of("0240000034544e45", ports).path
    with pytest.raises(SerialMissingError, match="has 0 serial ports"):
        port_of("83012345", ports)
    with pytest.raises(SerialMissingError, match="2 serial ports, number 2 is wanted"):
        port_of("683012345", ports, vcom=2)


# --- what comes ---


_LINES = [frame(i, f"output sample=0 index=0 offset={i} data=AAAA") for i in range(5)]


@given(st.binary(max_size=80), st.integers(1, 40))
def test_noise_hides_no_line(noise: bytes, chunk: int) -> None:
    """Boot noise, a modem's probing, half a frame and then whole ones: every whole one is kept (G16, S31)."""
    raw = b"\x00\xff\xfe~x" + b"AT+GCAP\r" + _LINES[0][:20] + noise + b"\n"
    raw += b"warning: deprecated\n".join(_LINES) + frame(5, "end status=ok lines=6")
    store = LineStore()

    for start in range(0, len(raw), chunk):
        store.feed(raw[start : start + chunk])

    assert store.complete
    assert {*range(6)} == set(store.frames)


def test_lost_and_doubled_bytes_are_missing_lines() -> None:
    """Three bytes removed, one byte doubled: those lines are missing, by number, and nothing else is (G17)."""
    damaged = [*_LINES, frame(5, "end status=ok lines=6")]
    damaged[1] = damaged[1][:10] + damaged[1][13:]
    damaged[2] = damaged[2][:15] + damaged[2][15:16] + damaged[2][15:]
    damaged[4] = damaged[4].rstrip(b"\n")
    store = LineStore()

    store.feed(b"".join(damaged))

    assert [(1, 2), (4, 4)] == store.missing()
    assert not store.complete


def test_a_stream_at_another_baud_rate_is_recognised() -> None:
    """Frame bytes as seen at half the rate are no text; a quiet line or a short one says nothing (S30)."""
    from bench.targets.simprobe.serial_cable import _at_half_the_rate  # noqa: PLC0415

    assert looks_like_another_baud_rate(_at_half_the_rate(b"".join(_LINES)))
    assert not looks_like_another_baud_rate(b"".join(_LINES))
    assert not looks_like_another_baud_rate(b"\xff\x00\xff")


@contextmanager
def _terminal() -> Iterator[tuple[int, str]]:
    master, slave = os.openpty()
    try:
        yield master, os.ttyname(slave)
    finally:
        os.close(master)
        os.close(slave)


def test_a_port_is_opened_for_one_program_alone() -> None:
    """The second hears so, whoever it is."""
    with (
        _terminal() as (_, path),
        serial.Serial(path, exclusive=True),
        pytest.raises(LabError, match="open in another program") as caught,
    ):
        SerialPort(lambda: path, 115_200)

    assert "serial-taken" == caught.value.code


def test_a_read_ends_at_its_deadline_whatever_trickles() -> None:
    """A byte now and then does not prolong a wait (G17)."""
    with _terminal() as (master, path), SerialPort(lambda: path, 115_200) as port:
        os.write(master, b"x")
        started = time.monotonic()

        taken = port.take(2.0)

        assert b"x" == taken
        assert b"" == port.take(0.1)
        assert time.monotonic() - started < 2.0


def test_a_missing_port_is_named() -> None:
    """A path that is not there is no crash of pyserial's."""
    with pytest.raises(LabError) as caught:
        SerialPort(lambda: "/dev/no-such-port", 115_200)

    assert "serial-gone" == caught.value.code


# --- the same on a device ---


@qemu
@pytest.mark.parametrize(
    ("armed", "repaired"),
    [
        ({"serial_noise": b"\x00\xff\xfe~x AT+GCAP\r @0 hello boa"}, 0),
        ({"serial_lose": {40: 3}}, 1),
        ({"serial_lose": {300: 400}}, 2),
        ({"serial_double": [60, 400, 403]}, 2),  # where a line ends, its end twice is no damage
        ({"serial_gone_after_bytes": 500, "serial_back": True}, 1),
    ],
    ids=["boot noise", "lost bytes", "lost lines", "doubled bytes", "re-enumeration"],
)
def test_damage_is_repaired(armed: dict[str, object], repaired: int, an386: Simulated) -> None:
    """What was lost is asked for again, by number; measured lines come from the device's journal."""
    an386.bench.arm(**armed)

    log, transcript = an386.run()

    assert output_of("linear") == log.outputs[0, 0]
    assert transcript.repaired_lines >= repaired
    assert bool(transcript.received) == bool(repaired)


@qemu
def test_a_lost_end_line_is_found_by_looking(an386: Simulated) -> None:
    """Nothing comes any more: the mailbox says that the run is over, long before the deadline."""
    _, whole = an386.run()
    end = whole.raw.rindex(b"@")
    an386.bench.arm(serial_lose={end: 100})
    started = time.monotonic()

    log, transcript = an386.run(deadline_s=150.0)

    assert output_of("linear") == log.outputs[0, 0]
    assert 1 == transcript.repaired_lines
    assert time.monotonic() - started < 100.0


@qemu
@pytest.mark.parametrize(
    ("armed", "code", "telling"),
    [
        ({"serial_mangle": True}, "serial-baud", "another baud rate than 115200"),
        ({"serial_trickle": True}, "serial-corrupt", "bytes of noise and not one line"),
        ({"serial_mute": True}, "serial-corrupt", "not a byte .* ran and has measured"),
        ({"serial_gone_after_bytes": 500}, "serial-gone", "vanished .* not back"),
    ],
    ids=["wrong baud", "endless trickle", "another port", "unplugged"],
)
def test_what_cannot_be_repaired_is_named(
    armed: dict[str, object], code: str, telling: str, an386: Simulated
) -> None:
    """Within the time that a boot takes, not the run's deadline; the mended device works."""
    an386.bench.arm(**armed)
    started = time.monotonic()

    with pytest.raises(LabError, match=telling) as caught:
        an386.run(boot_s=2.0, deadline_s=150.0)

    assert code == caught.value.code
    assert time.monotonic() - started < 100.0
    an386.bench.do("mend")
    log, _ = an386.run()
    assert output_of("linear") == log.outputs[0, 0]


@qemu
def test_lines_that_never_come_whole_are_an_error(an386: Simulated) -> None:
    """A port that loses bytes for ever: asked for three times, then named by number; nothing is made up."""
    an386.bench.arm(serial_lose_each=350)  # lines with outputs are longer, others are not

    with pytest.raises(
        LabError, match=r"lines stay lost after 3 rounds of asking again: \d+"
    ) as caught:
        an386.run(bundle_of("autoencoder", samples=2))

    assert "serial-corrupt" == caught.value.code
    an386.bench.do("mend")
    log, _ = an386.run(bundle_of("autoencoder", samples=2))
    assert {output_of("autoencoder")} == set(log.outputs.values())


@qemu
def test_a_port_in_use_is_found_before_anything_is_flashed(an386: Simulated) -> None:
    """Nothing has been touched when the error comes."""
    with (
        serial.Serial(str(an386.device.tty), exclusive=True),
        pytest.raises(LabError, match="open in another program") as caught,
    ):
        an386.run()

    assert "serial-taken" == caught.value.code
    assert 0 == an386.bench.status()["resets"]


@qemu
def test_opening_the_port_resets_the_board_before_anything_is_flashed(an386: Simulated) -> None:
    """DTR is wired to the reset pin (S29): the port is opened first, then reset on purpose, and nothing is lost."""
    an386.run()
    before = an386.bench.status()["resets"]
    an386.bench.arm(reset_on_open=True)

    log, transcript = an386.run()

    plain = an386.bench.status()["resets"] - before
    assert output_of("linear") == log.outputs[0, 0]
    assert (0, b"") == (transcript.repaired_lines, transcript.received)
    an386.bench.arm(reset_on_open=False)
    an386.run()
    assert 1 == plain - (an386.bench.status()["resets"] - before - plain)


@qemu
def test_a_port_that_comes_back_with_a_reset_is_named(an386: Simulated) -> None:
    """The port vanishes in the middle, and opening it again resets the board (S29): no line of two runs is mixed."""
    an386.bench.arm(reset_on_open=True, serial_gone_after_bytes=500, serial_back=True)

    with pytest.raises(LabError, match=r"began anew in the middle of its run") as caught:
        an386.run(deadline_s=20.0)

    assert "no-boot" == caught.value.code
    an386.bench.do("mend")
    log, _ = an386.run()
    assert output_of("linear") == log.outputs[0, 0]


@qemu
def test_a_second_reader_steals_bytes_and_is_noticed(an386: Simulated) -> None:
    """Either all that it took was sent again, or the run fails and says so; never do wrong bytes pass."""
    stop = threading.Event()
    stolen = bytearray()

    def steal() -> None:
        handle = os.open(an386.device.tty, os.O_RDONLY | os.O_NOCTTY | os.O_NONBLOCK)
        while not stop.wait(0.02):
            with suppress(BlockingIOError):
                stolen.extend(os.read(handle, 50))
        os.close(handle)

    thief = threading.Thread(target=steal)
    thief.start()
    try:
        log, transcript = an386.run(bundle_of("linear", samples=300))
        outputs, told = set(log.outputs.values()), f"{transcript.repaired_lines} repaired"
    except LabError as fault:
        outputs, told = set(), fault.code
    finally:
        stop.set()
        thief.join()

    assert not stolen or told != "0 repaired"
    assert told in {"serial-corrupt", "serial-gone"} or told.endswith(" repaired")
    assert outputs <= {output_of("linear")}


# --- a device that says nothing, or stops ---


def _image_that_stands_still(image: Image, copy: Path) -> Image:
    """Return the image with a jump to itself at its entry."""
    raw = bytearray(image.elf.read_bytes())
    entry = int.from_bytes(raw[24:28], "little") & ~1
    start, count = int.from_bytes(raw[28:32], "little"), int.from_bytes(raw[44:46], "little")
    for header in range(start, start + 32 * count, 32):
        offset, address = (
            int.from_bytes(raw[header + i : header + i + 4], "little") for i in (4, 8)
        )
        nbytes = int.from_bytes(raw[header + 16 : header + 20], "little")
        if address <= entry < address + nbytes:
            at = offset + entry - address
            raw[at : at + 2] = b"\xfe\xe7"
    copy.write_bytes(raw)
    return dataclasses.replace(image, elf=copy)


@qemu
def test_no_boot_says_where_the_core_stands(an386: Simulated, tmp_path: Path) -> None:
    """Flashed, started, and silent: the core is halted and its place named; reset and reflashing were tried."""
    image = _image_that_stands_still(image_of("mps2-an386"), tmp_path / "still.elf")

    with pytest.raises(
        LabError, match=r"says nothing; it stands at pc reset_handler\+0x0"
    ) as caught:
        an386.run(image=image, boot_s=1.0, ladder=LADDER)

    assert "no-boot" == caught.value.code
    assert "(tried: reset, reflash)" in caught.value.what


@qemu
def test_a_hang_says_where_the_core_stands(an386: Simulated) -> None:
    """At the deadline of the run the core is halted, and its place named with file and line."""
    with pytest.raises(LabError, match=r"silent after line \d+; .*inject_in_inference") as caught:
        an386.run(bundle_of("linear", inject=Inject.HANG), deadline_s=8.0)

    assert "hang" == caught.value.code
    assert "inject.cpp:" in caught.value.what
    log, _ = an386.run()
    assert output_of("linear") == log.outputs[0, 0]


@qemu
@pytest.mark.parametrize("inject", [Inject.UNDEFINED_INSTRUCTION, Inject.STACK_OVERFLOW])
def test_a_processor_fault_arrives_as_on_an_emulator(inject: Inject, an386: Simulated) -> None:
    """The device stays after its fault line, and the lines before it can still be asked for."""
    an386.bench.arm(serial_lose={80: 30})

    with pytest.raises(LabError) as caught:
        an386.run(bundle_of("linear", inject=inject))

    assert "device-fault" == caught.value.code
