"""The firmware of a CMSIS-DAP v2 probe: one command packet in, one reply out (Arm's CMSIS-DAP documentation, "Commands")."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

from bench.targets.simprobe.debug_port import NoAnswerFromPortError, PortFaultError, WaitError

if TYPE_CHECKING:
    from bench.targets.simprobe.debug_port import DebugPort

PACKET_BYTES, PACKET_COUNT = 512, 4
_OK, _WAIT, _FAULT, _NO_ACK = 1, 2, 4, 7
_ACCESS_PORT, _READ, _MATCH_MASK = 1, 2, 0x10
_INFO, _CONNECT, _TRANSFER_CONFIGURE, _TRANSFER, _TRANSFER_BLOCK = 0x00, 0x02, 0x04, 0x05, 0x06
_WRITE_ABORT, _SWJ_PINS, _SWJ_CLOCK, _SWJ_SEQUENCE, _SWD_SEQUENCE = 0x08, 0x10, 0x11, 0x12, 0x1D
_ONLY_ACKNOWLEDGED = {0x01, 0x03, 0x09, 0x0A, 0x13}  # LED, disconnect, delay, reset, SWD config
_RESET_PIN = 0x80


class ProbeFirmware:
    """The commands of one probe.

    Args:
        uid: the serial number that the probe tells.
        name: of the board that it sits on.
        target: pyOCD's name of the chip.
        port: the debug port at its other end.
    """

    def __init__(self, uid: str, name: str, target: str, port: DebugPort) -> None:
        self._port = port
        self._wait_retries = 100
        self._strings = {
            1: "cortex-m-bench",
            2: "Simulated CMSIS-DAP",
            3: uid,
            4: "2.1.1",
            5: "cortex-m-bench",
            6: target,
            7: "cortex-m-bench",
            8: name,
            9: "1",
        }

    def handle(self, packet: bytes) -> bytes:
        """Return the reply to a command packet."""
        command = packet[0]
        if command in _ONLY_ACKNOWLEDGED:
            return bytes([command, 0])
        act = {
            _INFO: self._info,
            _CONNECT: lambda packet: bytes([packet[0], 1]),
            _TRANSFER_CONFIGURE: self._configure,
            _TRANSFER: self._transfer,
            _TRANSFER_BLOCK: self._transfer_block,
            _WRITE_ABORT: self._write_abort,
            _SWJ_PINS: self._pins,
            _SWJ_CLOCK: self._clock,
            _SWJ_SEQUENCE: self._line_reset,
            _SWD_SEQUENCE: _swd_sequence,
        }.get(command)
        return act(packet) if act is not None else b"\xff"

    def _configure(self, packet: bytes) -> bytes:
        self._wait_retries = packet[2] | packet[3] << 8
        return bytes([packet[0], 0])

    def _write_abort(self, packet: bytes) -> bytes:
        return bytes([packet[0], 0 if self._one(0, packet[2:6])[0] == _OK else 0xFF])

    def _pins(self, packet: bytes) -> bytes:
        if packet[2] & _RESET_PIN:
            self._port.drive_reset(released=bool(packet[1] & _RESET_PIN))
        return bytes([packet[0], (_RESET_PIN if self._port.reset_released else 0) | 3])

    def _clock(self, packet: bytes) -> bytes:
        self._port.clock_hz = int.from_bytes(packet[1:5], "little")
        return bytes([packet[0], 0])

    def _line_reset(self, packet: bytes) -> bytes:
        self._port.line_reset()
        return bytes([packet[0], 0])

    def _info(self, packet: bytes) -> bytes:
        what = packet[1]
        if what in self._strings:
            text = self._strings[what].encode() + b"\0"
            return bytes([_INFO, len(text)]) + text
        capabilities = 0x21  # SWD, and SWD sequences
        numbers = {
            0xF0: bytes([capabilities]),
            0xFE: bytes([PACKET_COUNT]),
            0xFF: struct.pack("<H", PACKET_BYTES),
        }
        found = numbers.get(what, b"")
        return bytes([_INFO, len(found)]) + found

    def _one(self, request: int, data: bytes) -> tuple[int, int]:
        """Do one transfer; return its acknowledge and what was read."""
        for _ in range(self._wait_retries + 1):
            try:
                access_port, register = bool(request & _ACCESS_PORT), request & 0xC
                if request & _READ:
                    return _OK, self._port.read(register, access_port=access_port)
                value = int.from_bytes(data[:4], "little")
                self._port.write(register, value, access_port=access_port)
                return _OK, 0
            except WaitError:
                continue
            except PortFaultError:
                return _FAULT, 0
            except NoAnswerFromPortError:
                return _NO_ACK, 0
        return _WAIT, 0

    def _transfer(self, packet: bytes) -> bytes:
        offset, done, acknowledge, out = 3, 0, _OK, bytearray()
        for _ in range(packet[2]):
            request = packet[offset]
            offset += 1
            carries = not request & _READ or request & _MATCH_MASK
            acknowledge, value = self._one(request, packet[offset : offset + 4])
            offset += 4 if carries else 0
            if acknowledge != _OK:
                break
            done += 1
            if request & _READ:
                out += struct.pack("<I", value)
        return bytes([_TRANSFER, done, acknowledge]) + bytes(out)

    def _transfer_block(self, packet: bytes) -> bytes:
        count, request = struct.unpack_from("<HB", packet, 2)
        if request & _ACCESS_PORT:
            quick = self._quick_block(count, request, packet[5:])
            if quick is not None:
                return quick
        done, acknowledge, out = 0, _OK, bytearray()
        for i in range(count):
            acknowledge, value = self._one(request, packet[5 + 4 * i : 9 + 4 * i])
            if acknowledge != _OK:
                break
            done += 1
            if request & _READ:
                out += struct.pack("<I", value)
        return bytes([_TRANSFER_BLOCK]) + struct.pack("<HB", done, acknowledge) + bytes(out)

    def _quick_block(self, count: int, request: int, data: bytes) -> bytes | None:
        """Do a whole block at once; None if it must go word by word, because some of it fails."""
        register, out = request & 0xC, b""
        try:
            if request & _READ:
                out = struct.pack(f"<{count}I", *self._port.read_words(register, count))
            else:
                self._port.write_words(register, struct.unpack_from(f"<{count}I", data))
        except WaitError:
            return None
        except PortFaultError:
            return bytes([_TRANSFER_BLOCK]) + struct.pack("<HB", 0, _FAULT)
        except NoAnswerFromPortError:
            return bytes([_TRANSFER_BLOCK]) + struct.pack("<HB", 0, _NO_ACK)
        return bytes([_TRANSFER_BLOCK]) + struct.pack("<HB", count, _OK) + out


def _swd_sequence(packet: bytes) -> bytes:
    """Answer sequences of bits: what is read is zeros."""
    out, offset = bytearray([_SWD_SEQUENCE, 0]), 2
    for _ in range(packet[1]):
        nbytes = ((packet[offset] & 0x3F or 64) + 7) // 8
        reads = packet[offset] & 0x80
        offset += 1 if reads else 1 + nbytes
        out += bytes(nbytes) if reads else b""
    return bytes(out)
