"""Faults of the lab: each has a stable code, says what and where, and hints at what to do."""

from __future__ import annotations

from enum import StrEnum


class Blame(StrEnum):
    """Whose fault it is: it decides the exit code and whether pytest says error or failure."""

    USAGE = "usage"  # bad input or option: exit 2
    MODEL = "model"  # the model or program cannot do it: exit 1
    DEVICE = "device"  # the device or firmware misbehaved: exit 1
    BENCH = "bench"  # a tool or the bench itself is missing: exit 3


class LabError(Exception):
    """A named fault.

    Args:
        what: one sentence, no full stop needed, that says what is wrong.
        where: file, board, model or line that it concerns.
        hint: what to do about it.
    """

    code = "lab-error"
    blame = Blame.BENCH
    received = b""  # what a device had sent when it failed

    def __init__(self, what: str, *, where: str = "", hint: str = "") -> None:
        super().__init__(what)
        self.what = what
        self.where = where
        self.hint = hint

    def __str__(self) -> str:
        text = f"{self.code}: {self.what}"
        if self.where:
            text += f" [{self.where}]"
        if self.hint:
            text += f"\n  hint: {self.hint}"
        return text


class UnknownNameError(LabError):
    """A board, model or scheme that does not exist."""

    code = "unknown-name"
    blame = Blame.USAGE


class BoardFileError(LabError):
    """A board.toml that is malformed."""

    code = "board-file"
    blame = Blame.USAGE


class InputError(LabError):
    """A file or option of the user's that cannot be used."""

    code = "bad-input"
    blame = Blame.USAGE


class ToolMissingError(LabError):
    """A program or package that the step needs is not installed."""

    code = "tool-missing"
    blame = Blame.BENCH


class EngineMissingError(LabError):
    """The engine that was asked for is not installed."""

    code = "engine-missing"
    blame = Blame.BENCH


class KnownBadKernelError(LabError):
    """The engine is known to get an instruction of the program wrong."""

    code = "known-bad-kernel"
    blame = Blame.MODEL


class ModelSourceError(LabError):
    """A model file that cannot be imported or whose build function is wrong."""

    code = "model-source"
    blame = Blame.USAGE


class ExportError(LabError):
    """A model that cannot be exported or lowered."""

    code = "export-failed"
    blame = Blame.MODEL


class ProgramError(LabError):
    """A .pte that is truncated, corrupt, foreign or not an ExecuTorch program."""

    code = "program-invalid"
    blame = Blame.USAGE


class CpuMismatchError(LabError):
    """A program proven to be lowered for another cpu than the board's."""

    code = "cpu-mismatch"
    blame = Blame.MODEL


class OperatorMissingError(LabError):
    """Operators that the program needs and the image does not have, all of them."""

    code = "operator-missing"
    blame = Blame.MODEL


class DoesNotFitError(LabError):
    """Something is larger than the place it has to go."""

    code = "does-not-fit"
    blame = Blame.MODEL


class AlignmentError(LabError):
    """A program or slot at an address that the runtime cannot use."""

    code = "misaligned"
    blame = Blame.BENCH


class BuildError(LabError):
    """The firmware did not compile or link."""

    code = "build-failed"
    blame = Blame.BENCH


class DeadlineError(LabError):
    """A device or process that did not end in time."""

    code = "deadline"
    blame = Blame.DEVICE


class TargetError(LabError):
    """The emulator or host process failed by itself."""

    code = "target-failed"
    blame = Blame.BENCH


class NoAnswerError(LabError):
    """Not one line of the device arrived."""

    code = "no-answer"
    blame = Blame.DEVICE


class WireDamagedError(LabError):
    """Lines that were lost, repeated or damaged."""

    code = "wire-damaged"
    blame = Blame.DEVICE


class WireValueError(LabError):
    """A line that arrived whole but says something that cannot be."""

    code = "wire-value"
    blame = Blame.DEVICE


class IncompleteRunError(LabError):
    """A run without its end line."""

    code = "run-incomplete"
    blame = Blame.DEVICE


class WrongIdentityError(LabError):
    """An answer of another run, another firmware or another bundle."""

    code = "wrong-identity"
    blame = Blame.DEVICE


class DeviceFaultError(LabError):
    """A processor fault on the device, symbolised."""

    code = "device-fault"
    blame = Blame.DEVICE


class DeviceRefusedError(LabError):
    """The firmware or its engine refused the program, with its own reason."""

    code = "device-refused"
    blame = Blame.MODEL


class BundleRefusedError(LabError):
    """The deployment image does not take a bundle: unmarked, changed, or with tables of something else."""

    code = "bundle-refused"
    blame = Blame.BENCH


class CounterError(LabError):
    """A counter that stands still or a latency that cannot be."""

    code = "counter-invalid"
    blame = Blame.DEVICE


class BringUpError(LabError):
    """A board that answers and is not yet to be believed."""

    code = "bring-up"
    blame = Blame.DEVICE


class RecordError(LabError):
    """A record that is damaged, foreign or cannot be written."""

    code = "record-invalid"
    blame = Blame.BENCH


class SiteFileError(LabError):
    """A bench.toml that is malformed."""

    code = "site-file"
    blame = Blame.USAGE


class DeviceBusyError(LabError):
    """A device that another run holds."""

    code = "device-busy"
    blame = Blame.BENCH


class QuarantinedError(LabError):
    """A device that failed again and is left alone for the rest of the run."""

    code = "quarantined"
    blame = Blame.BENCH


def absent_hint(uid: str) -> str:
    """Return what to look at when the probe with this id is not in the list of those that are attached."""
    jlink = "; a J-Link is listed only with SEGGER's library installed" if uid.isdecimal() else ""
    return (
        "cable, power of the hub, udev rules (docs/boards_on_a_bench.md)"
        f"{jlink}; `bench doctor` lists what is attached"
    )


class ProbeMissingError(LabError):
    """A debug probe that is not on the bus, or was pulled out."""

    code = "probe-missing"
    blame = Blame.BENCH


class WrongProbeError(LabError):
    """Probes that cannot be told apart, or none whose whole id is the one asked for."""

    code = "wrong-probe"
    blame = Blame.BENCH


class ProbeTakenError(LabError):
    """A probe whose interface another program holds, or that this user may not open."""

    code = "probe-taken"
    blame = Blame.BENCH


class ProbeProtocolError(LabError):
    """A probe or debug port that answers wrongly or not in time."""

    code = "probe-protocol"
    blame = Blame.DEVICE


class WrongChipError(LabError):
    """A chip that is not the one of the board file."""

    code = "wrong-chip"
    blame = Blame.BENCH


class LockedError(LabError):
    """A part whose debug access is protected."""

    code = "locked"
    blame = Blame.BENCH


class PackMissingError(LabError):
    """A chip whose description comes in a CMSIS-Pack that is not here."""

    code = "pack-missing"
    blame = Blame.BENCH


class FlashTargetError(LabError):
    """A target description that cannot flash this image: no flash region, or nothing would be programmed."""

    code = "flash-target"
    blame = Blame.BENCH


class FlashVerifyError(LabError):
    """Flash that reads back otherwise than it was written."""

    code = "flash-verify"
    blame = Blame.DEVICE


class FlashProtocolError(LabError):
    """A flash controller or algorithm that refuses or does not finish."""

    code = "flash-protocol"
    blame = Blame.DEVICE


class NoPowerError(LabError):
    """A probe that answers while the chip behind it does not."""

    code = "no-power"
    blame = Blame.BENCH


class PowerCommandError(LabError):
    """A site file's power command that does not work."""

    code = "power-command"
    blame = Blame.BENCH


class NoBootError(LabError):
    """A chip that was flashed and reset, and then says nothing."""

    code = "no-boot"
    blame = Blame.DEVICE


class HangError(LabError):
    """A device that went silent; where it stood was taken by halting it."""

    code = "hang"
    blame = Blame.DEVICE


class SerialMissingError(LabError):
    """A probe without a serial port, or more ports than can be told apart."""

    code = "serial-missing"
    blame = Blame.BENCH


class SerialTakenError(LabError):
    """A serial port that another program has open."""

    code = "serial-taken"
    blame = Blame.BENCH


class SerialGoneError(LabError):
    """A serial port that vanished and did not come back."""

    code = "serial-gone"
    blame = Blame.BENCH


class SerialCorruptError(LabError):
    """Lines that stay lost or damaged after they were asked for again."""

    code = "serial-corrupt"
    blame = Blame.DEVICE


class SerialBaudError(LabError):
    """Bytes that look like those of another baud rate."""

    code = "serial-baud"
    blame = Blame.BENCH


def _kinds(kind: type[LabError]) -> dict[str, type[LabError]]:
    found = {kind.code: kind}
    for below in kind.__subclasses__():
        found |= _kinds(below)
    return found


def error_of(code: str, what: str, *, where: str = "", hint: str = "") -> LabError:
    """Make the error of this code, as a child process told it; an unknown code is a plain LabError."""
    return _kinds(LabError).get(code, LabError)(what, where=where, hint=hint)


def nearest(name: str, known: list[str]) -> str:
    """Return a did-you-mean sentence for `name` among `known`, with the whole list."""
    import difflib  # noqa: PLC0415  only on the error path

    close = difflib.get_close_matches(name, known, n=1, cutoff=0.4)
    start = f"did you mean {close[0]!r}? " if close else ""
    return f"{start}known: {', '.join(sorted(known))}"


def fault_of(code: str, what: str, *, where: str = "", hint: str = "") -> LabError:
    """Return the fault that another process told: of the class with that code, a plain one if none has it."""
    known: dict[str, type[LabError]] = {}
    left: list[type[LabError]] = [LabError]
    while left:
        kind = left.pop()
        known.setdefault(kind.code, kind)
        left += kind.__subclasses__()
    return known.get(code, LabError)(what, where=where, hint=hint)
