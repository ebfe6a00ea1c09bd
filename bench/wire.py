"""Lines that come out of a device: read them, check them, make a `RunLog` (docs/wire.md).

Nothing is guessed: noise outside lines is counted and skipped; a lost, repeated or damaged line, a value that is no
number, an answer of another run and a run without its end each raise their own error.
"""

from __future__ import annotations

import base64
import binascii
import re
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field

from bench.errors import (
    CounterError,
    DeadlineError,
    DeviceFaultError,
    DeviceRefusedError,
    DoesNotFitError,
    IncompleteRunError,
    LabError,
    NoAnswerError,
    OperatorMissingError,
    TargetError,
    WireDamagedError,
    WireValueError,
    WrongIdentityError,
)

_FRAME = re.compile(rb"@(\d{1,9}) ([^*@\n\r]{1,480}) \*([0-9a-f]{8})\r?\n")
_BODY = re.compile(r"([a-z0-9_]+)((?: [a-z0-9_]+=[A-Za-z0-9_.:+/=\-<>,]+)*)")
_SHOWN_GAPS = 8
INFERENCES = ("latency_first", "latency_warmup", "latency")  # cold, and warm ones
SIDES = {"pre": "_pre", "post": "_post"}  # key of a measure's line -> suffix of the window's name


@dataclass(frozen=True)
class Transcript:
    """Everything a device said, and how its process ended.

    Attributes:
        raw: bytes of the serial port.
        exit_code: of the emulator or host process, None on a real board.
        timed_out: the deadline passed.
        overflowed: more bytes came than any run sends.
        seconds: wall time of the run.
        diagnostics: what the target itself (not the device) printed.
        device: name of the device on the bench; empty where there is only the board.
        repaired_lines: lost on the way and sent again; `raw` is then the lines in order, without noise.
        received: bytes as they came, if `raw` was put together from them.
        recovery: steps that it took to get there (retry, reset, reflash, power-cycle), in order.
        arrived: number of a `clock` line that came in its turn -> when, in seconds by this machine's clock.
    """

    raw: bytes
    exit_code: int | None
    timed_out: bool
    overflowed: bool
    seconds: float
    diagnostics: str = ""
    device: str = ""
    repaired_lines: int = 0
    received: bytes = b""
    recovery: tuple[str, ...] = ()
    arrived: Mapping[int, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Line:
    """One checked line."""

    seq: int
    kind: str
    fields: dict[str, str]

    def text(self, key: str) -> str:
        """Return a field; raises WireValueError if it is missing."""
        if key not in self.fields:
            raise WireValueError(f"line {self.seq} ({self.kind}) lacks {key!r}")
        return self.fields[key]

    def number(self, key: str) -> int:
        """Return a decimal field below 2**64; raises WireValueError for anything else."""
        text = self.text(key)
        if not re.fullmatch(r"[0-9]{1,20}", text) or int(text) >= 1 << 64:
            raise WireValueError(
                f"line {self.seq} ({self.kind}) says {key}={text!r}, which is no number",
                hint="the firmware printed it wrongly; a C library without 64-bit formats prints 'lu'",
            )
        return int(text)


@dataclass(frozen=True)
class Hello:
    """Who answers."""

    board: str
    build: str
    nonce: str
    bundle: str
    engine: str
    engine_version: str
    counter: str
    counter_hz: int


@dataclass(frozen=True)
class Expected:
    """Who must answer: identity of the run, the image and the bundle."""

    board: str
    build: str
    nonce: str
    bundle: str


@dataclass(frozen=True)
class Pool:
    """A memory pool of the device, bytes."""

    have: int
    used: int


@dataclass(frozen=True)
class Counter:
    """The device's counter, as its self-test found it.

    Attributes:
        overhead_ticks: of an empty window.
        wrap_bits: width of the counter before it was widened; 64 if nothing wraps.
        wrap_instructions: what the wrap's interrupt executes inside the window that it falls into.
    """

    overhead_ticks: int
    wrap_bits: int
    wrap_instructions: int


@dataclass(frozen=True)
class Guard:
    """Bytes that no kernel may write, and how many of them were written to.

    Attributes:
        nbytes: behind what the program may use of the arena.
        beside: around each instruction's output.
        first: the first instruction that wrote beside its output, -1 if none did.
        front: in front of the program's memory.
        fixed: of the engine's own data; `fixed_damaged` is 1 if they changed, whatever the number.
    """

    nbytes: int = 0
    damaged: int = 0
    beside: int = 0
    beside_damaged: int = 0
    first: int = -1
    front: int = 0
    front_damaged: int = 0
    fixed: int = 0
    fixed_damaged: int = 0


@dataclass(frozen=True)
class RunLog:
    """What a whole and healthy run said.

    Attributes:
        ticks: window name -> ticks in order of iteration; `NAME_pre` and `NAME_post` lie around each `NAME`.
        outputs: (sample, output index) -> bytes in the program's layout.
        intermediates: (sample, instruction) -> bytes of what it wrote, if they were asked for.
        operator_ticks: (instruction, run, ticks).
        noise_bytes: bytes outside lines that were skipped.
        clock: number of a `clock` line -> ticks of the counter when it was sent, if they were asked for.
    """

    hello: Hello
    counter: Counter
    pools: dict[str, Pool]
    ticks: dict[str, tuple[int, ...]]
    operator_ticks: tuple[tuple[int, int, int], ...]
    outputs: dict[tuple[int, int], bytes]
    noise_bytes: int
    intermediates: dict[tuple[int, int], bytes] = field(default_factory=dict)
    guard: Guard = Guard()
    clock: Mapping[int, int] = field(default_factory=dict)


def frame(seq: int, body: str) -> bytes:
    """Return the line that a device sends for `body` (`kind key=value ...`)."""
    text = f"@{seq} {body}".encode("ascii")
    return text + b" *%08x\n" % zlib.crc32(text)


def read_lines(raw: bytes) -> tuple[tuple[Line, ...], int, tuple[str, ...]]:
    """Find the lines in a byte stream.

    Returns:
        The lines in order of arrival, the number of noise bytes, and one sentence a piece of damage.

    Raises:
        WireValueError: a line with a good CRC breaks the grammar (a blank value, say): the firmware is wrong.
    """
    lines: list[Line] = []
    damage: list[str] = []
    taken = 0
    position = 0
    while match := _FRAME.search(raw, position):
        position = match.end()
        text = match.group(0)[: match.group(0).rindex(b" *")]
        if zlib.crc32(text) != int(match.group(3), 16):
            damage.append(f"line {match.group(1).decode()} fails its CRC")
            # a good line may begin inside a damaged one that lost its line feed
            position = match.start() + 1
            continue
        taken += len(match.group(0))
        body = match.group(2).decode("latin-1")
        parsed = _BODY.fullmatch(body)
        if parsed is None:
            raise WireValueError(
                f"line {int(match.group(1))} arrived whole but reads {body!r}",
                hint="the firmware prints a blank or a forbidden character; see docs/wire.md",
            )
        fields = dict(item.split("=", 1) for item in parsed.group(2).split())
        lines.append(Line(int(match.group(1)), parsed.group(1), fields))
    return tuple(lines), len(raw) - taken, tuple(damage)


def _ordered(transcript: Transcript) -> tuple[tuple[Line, ...], int]:
    """Return the lines of a complete stream in sequence, or say what is missing."""
    lines, noise_bytes, damage = read_lines(transcript.raw)
    lines = _without_reminders(lines)
    if not lines:
        _raise_no_answer(transcript, damage)
    sequence = [line.seq for line in lines]
    last = lines[-1]
    if last.kind == "fault":
        raise _device_fault(last)
    gaps = sorted(set(range(max(sequence) + 1)) - set(sequence))
    repeated = (
        sorted({seq for seq in sequence if sequence.count(seq) > 1})
        if len(set(sequence)) < len(sequence)
        else []
    )
    if gaps or repeated or sequence != sorted(sequence):
        told = [f"missing lines {gaps[:_SHOWN_GAPS]}"] if gaps else []
        told += [f"repeated lines {repeated[:_SHOWN_GAPS]}"] if repeated else []
        told += [] if told else ["lines out of order"]
        raise WireDamagedError(
            "; ".join([*told, *damage[:_SHOWN_GAPS]]),
            hint="a full serial buffer, a second reader of the port or a wrong baud rate loses bytes",
        )
    if transcript.timed_out and last.kind != "end":
        raise DeadlineError(
            f"the device stopped answering after line {last.seq} ({last.kind}) and the deadline of "
            f"{transcript.seconds:.1f} s passed",
            hint="it hangs or is slower than planned: raise --deadline, or debug it with `bench run`",
        )
    if last.kind != "end":
        raise IncompleteRunError(
            f"the run stops after line {last.seq} ({last.kind}), exit code {transcript.exit_code}, without an end line",
            hint="the firmware reset, crashed silently or lost its port",
        )
    if last.number("lines") != len(lines):
        raise WireDamagedError(f"the device sent {last.text('lines')} lines, {len(lines)} arrived")
    return lines, noise_bytes


def _without_reminders(lines: tuple[Line, ...]) -> tuple[Line, ...]:
    """Return the lines without the `measured` that a device repeats until its host has heard it."""
    return tuple(
        line
        for index, line in enumerate(lines)
        if index == 0 or line.kind != "measured" or line != lines[index - 1]
    )


def _raise_no_answer(transcript: Transcript, damage: tuple[str, ...]) -> None:
    """Say why not one line was understood."""
    if transcript.exit_code not in (None, 0) and not transcript.raw and not transcript.timed_out:
        tail = transcript.diagnostics.strip()[-400:]
        raise TargetError(
            f"the target ended with code {transcript.exit_code} before the device said anything: {tail}"
        )
    if transcript.overflowed:
        raise NoAnswerError(f"{len(transcript.raw)} bytes came and not one line among them")
    if damage:
        raise WireDamagedError("; ".join(damage[:_SHOWN_GAPS]))
    if transcript.timed_out:
        raise NoAnswerError(
            f"no line within {transcript.seconds:.1f} s ({len(transcript.raw)} bytes of noise)",
            hint="the firmware did not start, or the port or baud rate is another one",
        )
    shown = transcript.raw[:60]
    raise NoAnswerError(f"no line among {len(transcript.raw)} bytes: {shown!r}")


def _device_fault(line: Line) -> DeviceFaultError:
    """Make the error of a fault line; the pipeline adds symbols."""
    return DeviceFaultError(" ".join(f"{key}={value}" for key, value in line.fields.items()))


def fault_of(transcript: Transcript) -> dict[str, str]:
    """Return the fields of the transcript's fault line, empty without one."""
    try:
        lines, _, _ = read_lines(transcript.raw)
    except WireValueError:
        return {}
    return next((line.fields for line in lines if line.kind == "fault"), {})


def _refusal(line: Line) -> LabError:
    """Turn an error line into the lab's error of the same meaning."""
    code = line.text("code")
    told = ", ".join(f"{key}={value}" for key, value in line.fields.items() if key != "code")
    have, need = line.fields.get("have"), line.fields.get("need")
    if code == "operator-missing":
        return OperatorMissingError(
            f"the firmware has no kernel for {line.fields.get('op', 'an operator')} (instruction "
            f"{line.fields.get('instruction', '?')})"
        )
    if code in ("arena-too-small", "temporary-too-small", "slot-too-small") and have and need:
        return DoesNotFitError(f"{code}: have {have} bytes, need {need} bytes")
    if code.startswith("counter"):
        return CounterError(f"the device's counter does not work: {code} {told}".rstrip())
    return DeviceRefusedError(f"the device refuses: {code}" + (f" ({told})" if told else ""))


def _check_identity(hello: Hello, expected: Expected) -> None:
    """Raise WrongIdentityError naming each part of the hello that is another's."""
    wrong = [
        f"{what} is {got}, expected {want}"
        for what, got, want in (
            ("nonce", hello.nonce, expected.nonce),
            ("build id", hello.build, expected.build),
            ("bundle CRC", hello.bundle, expected.bundle),
            ("board", hello.board, expected.board),
        )
        if got != want
    ]
    if wrong:
        raise WrongIdentityError(
            "the answer is not this run's: " + "; ".join(wrong),
            hint="an old run's bytes, another firmware, or a model slot that was not written whole",
        )


@dataclass
class _Outputs:
    """Outputs being put together, chunk by chunk; `key` names the field beside the sample."""

    key: str = "index"
    parts: dict[tuple[int, int], bytearray] = field(default_factory=dict)
    whole: dict[tuple[int, int], bytes] = field(default_factory=dict)

    def add(self, line: Line) -> None:
        key = (line.number("sample"), line.number(self.key))
        part = self.parts.setdefault(key, bytearray())
        if line.number("offset") != len(part):
            raise WireValueError(f"line {line.seq} continues {line.kind} {key} at the wrong offset")
        try:
            part += base64.b64decode(line.text("data"), validate=True)
        except binascii.Error as error:
            raise WireValueError(f"line {line.seq}: data is not base64") from error

    def close(self, line: Line) -> None:
        key = (line.number("sample"), line.number(self.key))
        data = bytes(self.parts.pop(key, b""))
        if len(data) != line.number("bytes") or f"{zlib.crc32(data):08x}" != line.text("crc"):
            raise WireValueError(
                f"{line.kind.removesuffix('_end')} {key} of {len(data)} bytes is not what the device announced"
            )
        self.whole[key] = data


def _counter(line: Line) -> Counter:
    """Read the counter's self-test; raises CounterError if the counter stands still or wraps unseen."""
    if line.number("moved") != 1:
        raise CounterError(
            "the device's counter stands still", hint="QEMU needs -icount; DWT reads as zero there"
        )
    if line.fields.get("wraps_seen", "1") != "1":
        raise CounterError(
            f"the device's counter wraps every 2^{line.number('wrap_bits')} ticks and its firmware does not notice: "
            "longer windows would lose whole wraps",
            hint="SysTick's interrupt does not reach systick_handler: masked, or another vector table",
        )
    return Counter(
        line.number("overhead"), line.number("wrap_bits"), line.number("wrap_instructions")
    )


@dataclass
class _Said:
    """What the lines of a run said, being put together."""

    pools: dict[str, Pool] = field(default_factory=dict)
    ticks: dict[str, list[int]] = field(default_factory=dict)
    operators: list[tuple[int, int, int]] = field(default_factory=list)
    outputs: _Outputs = field(default_factory=_Outputs)
    intermediates: _Outputs = field(default_factory=lambda: _Outputs("i"))
    counter: Counter | None = None
    guard: Guard = Guard()
    clock: dict[int, int] = field(default_factory=dict)

    def bulk(self, kind: str) -> _Outputs:
        """Return where a kind of data is put together."""
        return self.outputs if kind == "output" else self.intermediates

    def add_window(self, line: Line) -> None:
        """Take in an inference with what was timed around it."""
        name = line.text("name")
        for key, suffix in {"ticks": "", **SIDES}.items():
            if key == "ticks" or key in line.fields:
                self.ticks.setdefault(name + suffix, []).append(line.number(key))

    def read(self, line: Line) -> None:
        """Take one line in; lines of kinds that this host does not know yet are left alone."""
        match line.kind:
            case "error":
                raise _refusal(line)
            case "fault":
                raise _device_fault(line)
            case "counter":
                self.counter = _counter(line)
            case "pool":
                self.pools[line.text("name")] = Pool(line.number("have"), line.number("used"))
            case "load":
                self.ticks["load"] = [line.number("ticks")]
            case "measure":
                self.add_window(line)
            case "op":
                self.operators.append((line.number("i"), line.number("run"), line.number("ticks")))
            case "output" | "intermediate":
                self.bulk(line.kind).add(line)
            case "output_end" | "intermediate_end":
                self.bulk(line.kind.removesuffix("_end")).close(line)
            case "clock":
                self.clock[line.seq] = line.number("ticks")
            case "guard":
                renamed = {"bytes": "nbytes", "i": "first"}
                self.guard = Guard(
                    **{renamed.get(key, key): line.number(key) for key in line.fields}
                )


def parse(transcript: Transcript, expected: Expected) -> RunLog:
    """Make a `RunLog` of a transcript, or raise the error that names what is wrong with it.

    Raises:
        NoAnswerError, WireDamagedError, WireValueError, IncompleteRunError, DeadlineError: the stream.
        WrongIdentityError: another run, image or bundle answered.
        DeviceFaultError, DeviceRefusedError, OperatorMissingError, DoesNotFitError, CounterError: the device's word.
    """
    lines, noise_bytes = _ordered(transcript)
    hello = _hello(lines[0])
    _check_identity(hello, expected)
    said = _Said()
    for line in lines:
        said.read(line)
    if lines[-1].text("status") != "ok":
        raise DeviceRefusedError(f"the run ended with status {lines[-1].text('status')}")
    if said.counter is None:
        raise CounterError("the device did not say what its counter is")
    if begun := [*sorted(said.outputs.parts), *sorted(said.intermediates.parts)]:
        raise WireValueError(f"outputs {begun} were begun and never closed")
    return RunLog(
        hello=hello,
        counter=said.counter,
        pools=said.pools,
        ticks={name: tuple(values) for name, values in said.ticks.items()},
        operator_ticks=tuple(said.operators),
        outputs=said.outputs.whole,
        noise_bytes=noise_bytes,
        intermediates=said.intermediates.whole,
        guard=said.guard,
        clock=said.clock,
    )


def _hello(line: Line) -> Hello:
    """Read the first line, which must be a hello."""
    if line.kind != "hello":
        raise WireValueError(f"the run begins with {line.kind!r}, not with a hello")
    return Hello(
        board=line.text("board"),
        build=line.text("build"),
        nonce=line.text("nonce"),
        bundle=line.text("bundle"),
        engine=line.text("engine"),
        engine_version=line.text("engine_version"),
        counter=line.text("counter"),
        counter_hz=line.number("counter_hz"),
    )
