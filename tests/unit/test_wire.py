"""The wire: every way in which a stream can be wrong has its own error (field cases G16, G17, S16, S31)."""

from __future__ import annotations

import binascii
import contextlib
import random
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench import errors
from bench.wire import Expected, Transcript, frame, parse, read_lines

EXPECTED = Expected(board="b", build="0" * 40, nonce="1" * 16, bundle="2" * 8)
HELLO = (
    f"hello board=b build={'0' * 40} nonce={'1' * 16} bundle={'2' * 8} bundle_bytes=9 engine=lab "
    "engine_version=0.1 counter=systick counter_hz=25000000 wire=1"
)
OUTPUT = bytes(range(10))
BODIES = [
    HELLO,
    "counter moved=1 overhead=2 wrap_bits=24 wrap_instructions=5",
    "load ticks=900 instructions=4",
    "pool name=planned have=100 used=64",
    "measure name=latency_first i=0 ticks=123456789012",
    "measure name=latency i=0 ticks=1000",
    "measure name=latency i=1 ticks=1001",
    "output sample=0 index=0 offset=0 data=AAECAwQFBgcICQ==",
    f"output_end sample=0 index=0 bytes=10 crc={zlib.crc32(OUTPUT):08x}",
    "end status=ok lines=10",
]


def _frames(bodies: list[str] = BODIES) -> list[bytes]:
    return [frame(seq, body) for seq, body in enumerate(bodies)]


def _transcript(raw: bytes, *, timed_out: bool = False, exit_code: int | None = 0) -> Transcript:
    return Transcript(raw, exit_code, timed_out=timed_out, overflowed=False, seconds=1.0)


def _with(line: int, body: str) -> bytes:
    bodies = list(BODIES)
    bodies[line] = body
    return b"".join(_frames(bodies))


def test_a_frame_is_what_the_document_says() -> None:
    """The CRC is zlib's over '@' up to the blank before '*'; computed here by hand with binascii."""
    expected = b"@3 end status=ok lines=4 *%08x\n" % binascii.crc32(b"@3 end status=ok lines=4")

    assert expected == frame(3, "end status=ok lines=4")


def test_a_whole_run_is_read() -> None:
    """Windows, pools and outputs of a healthy stream arrive as they were sent."""
    log = parse(_transcript(b"".join(_frames())), EXPECTED)

    assert log.ticks == {"load": (900,), "latency_first": (123456789012,), "latency": (1000, 1001)}
    assert log.outputs == {(0, 0): OUTPUT}
    assert log.pools["planned"].used == 64
    assert log.noise_bytes == 0


def test_boot_noise_and_modem_probing_are_skipped_and_counted() -> None:
    """G16: NULs, 0xFF, an AT probe and half a frame come before the first whole frame."""
    noise = b"\x00\xff\xfe~x" + b"AT+GCAP\r" + _frames()[0][:20]

    log = parse(_transcript(noise + b"".join(_frames())), EXPECTED)

    assert len(noise) == log.noise_bytes


def test_noise_between_lines_is_skipped() -> None:
    """S31: a harmless extra line of the tool between two protocol lines changes nothing."""
    frames = _frames()
    raw = b"".join([*frames[:4], b"warning: deprecated\n", *frames[4:]])

    assert parse(_transcript(raw), EXPECTED).outputs == {(0, 0): OUTPUT}


def test_noise_inside_a_line_is_damage() -> None:
    """Garbage inside a frame breaks its CRC: the line is missing, and the error says which."""
    frames = _frames()
    frames[5] = frames[5][:12] + b"\x00\xff" + frames[5][12:]

    with pytest.raises(errors.WireDamagedError, match=r"missing lines \[5\]"):
        parse(_transcript(b"".join(frames)), EXPECTED)


def test_three_bytes_lost_in_a_frame_is_damage() -> None:
    """G17: one frame with three bytes removed in the middle is never read as whole."""
    frames = _frames()
    frames[7] = frames[7][:15] + frames[7][18:]

    with pytest.raises(errors.WireDamagedError, match=r"missing lines \[7\]"):
        parse(_transcript(b"".join(frames)), EXPECTED)


def test_a_line_sent_twice_is_damage() -> None:
    """Doubled bytes are not silently taken as two samples."""
    frames = _frames()

    with pytest.raises(errors.WireDamagedError, match=r"repeated lines \[6\]"):
        parse(_transcript(b"".join([*frames[:7], frames[6], *frames[7:]])), EXPECTED)


def test_a_reminder_is_no_damage() -> None:
    """A device that waits says `measured` again until it is heard; only that line, and only at once."""
    bodies = [*BODIES[:7], "measured", *BODIES[7:-1], "end status=ok lines=11"]
    frames = _frames(bodies)

    log = parse(_transcript(b"".join([*frames[:8], *frames[7:]])), EXPECTED)

    assert (1000, 1001) == log.ticks["latency"]
    with pytest.raises(errors.WireDamagedError, match=r"repeated lines \[7\]"):
        parse(_transcript(b"".join([*frames[:9], frames[7], *frames[9:]])), EXPECTED)


def test_a_run_without_end_is_incomplete() -> None:
    """A stream that stops after a good line is no result."""
    with pytest.raises(errors.IncompleteRunError, match="line 8"):
        parse(_transcript(b"".join(_frames()[:-1])), EXPECTED)


def test_a_hang_is_told_from_a_silent_end() -> None:
    """The deadline passed: the message says after which line the device went silent."""
    with pytest.raises(errors.DeadlineError, match=r"after line 3 \(pool\)"):
        parse(_transcript(b"".join(_frames()[:4]), timed_out=True, exit_code=None), EXPECTED)


def test_a_device_that_never_speaks() -> None:
    """Nothing within the deadline is `no-answer`, not an empty result."""
    with pytest.raises(errors.NoAnswerError, match="no line within"):
        parse(_transcript(b"", timed_out=True, exit_code=None), EXPECTED)


def test_only_garbage_is_no_answer() -> None:
    """Noise alone is shown, as far as it helps."""
    with pytest.raises(errors.NoAnswerError, match="among 6 bytes"):
        parse(_transcript(b"\xf0\x0f\xf0\x0f\xf0\x0f"), EXPECTED)


@pytest.mark.parametrize("value", ["lu", "llu", "-5", "0x10", "1e3", "184467440737095516160"])
def test_a_value_that_is_no_number_is_named(value: str) -> None:
    """A C library without 64-bit formats prints `lu`: the field and the text are named."""
    with pytest.raises(errors.WireValueError, match="ticks="):
        parse(_transcript(_with(5, f"measure name=latency i=0 ticks={value}")), EXPECTED)


def test_a_blank_value_is_named() -> None:
    """A blank in place of a number arrives with a good CRC and is still refused."""
    with pytest.raises(errors.WireValueError, match="line 5 arrived whole"):
        parse(_transcript(_with(5, "measure name=latency i=0 ticks=")), EXPECTED)


@pytest.mark.parametrize(
    ("field", "what"),
    [("nonce", "nonce"), ("build", "build id"), ("bundle", "bundle CRC"), ("board", "board")],
)
def test_an_answer_of_another_run_is_refused(field: str, what: str) -> None:
    """An old nonce, another build, another bundle and another board are each named."""
    words = [f"{field}=abcdef" if w.startswith(f"{field}=") else w for w in HELLO.split()]

    with pytest.raises(errors.WrongIdentityError, match=f"{what} is abcdef"):
        parse(_transcript(_with(0, " ".join(words))), EXPECTED)


def test_a_counter_that_stands_still_is_an_error() -> None:
    """G20: a counter that reads zero never becomes a latency of zero."""
    with pytest.raises(errors.CounterError):
        parse(_transcript(_with(1, "counter moved=0 overhead=0")), EXPECTED)


def test_a_processor_fault_is_an_error_even_without_an_end() -> None:
    """A fault line ends the run whatever follows."""
    frames = [*_frames()[:5], frame(5, "fault type=hardfault pc=00001234 cfsr=00010000")]

    with pytest.raises(errors.DeviceFaultError, match="pc=00001234"):
        parse(_transcript(b"".join(frames)), EXPECTED)


def test_the_arena_too_small_tells_both_sizes() -> None:
    """G10: have and need are in the message."""
    frames = [*_frames()[:2], frame(2, "error code=arena-too-small have=4096 need=4140")]
    frames.append(frame(3, "end status=error lines=4"))

    with pytest.raises(errors.DoesNotFitError, match="have 4096 bytes, need 4140 bytes"):
        parse(_transcript(b"".join(frames)), EXPECTED)


def test_an_output_with_a_wrong_crc_is_refused() -> None:
    """Chunks that came whole but are not the announced output are an error."""
    with pytest.raises(errors.WireValueError, match="not what the device announced"):
        parse(_transcript(_with(8, "output_end sample=0 index=0 bytes=10 crc=00000000")), EXPECTED)


def test_a_lost_chunk_is_refused() -> None:
    """An offset that does not continue the output is an error, not a hole."""
    with pytest.raises(errors.WireValueError, match="wrong offset"):
        parse(_transcript(_with(7, "output sample=0 index=0 offset=4 data=AAEC")), EXPECTED)


def test_no_single_corrupted_byte_passes_unseen() -> None:
    """Any one byte changed anywhere in the run raises an error or leaves every value as it was."""
    raw = b"".join(_frames())
    good = parse(_transcript(raw), EXPECTED)
    generator = random.Random(5)
    seen = 0
    for position in range(len(raw)):
        damaged = bytearray(raw)
        damaged[position] ^= generator.randrange(1, 256)
        try:
            log = parse(_transcript(bytes(damaged)), EXPECTED)
        except errors.LabError:
            seen += 1
            continue
        assert (log.ticks, log.outputs, log.hello) == (good.ticks, good.outputs, good.hello)

    assert seen > 0.9 * len(raw)


@given(st.binary(max_size=400))
def test_random_bytes_never_crash_the_reader(raw: bytes) -> None:
    """Whatever comes, the reader returns or raises a fault of its own."""
    with contextlib.suppress(errors.WireValueError):
        read_lines(raw)


@given(st.integers(0, len(b"".join(_frames()))))
def test_every_truncation_is_an_error(length: int) -> None:
    """A stream cut anywhere is never taken for a run."""
    raw = b"".join(_frames())
    if length == len(raw):
        return
    with pytest.raises(errors.LabError):
        parse(_transcript(raw[:length]), EXPECTED)
