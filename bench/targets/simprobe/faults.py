"""What can be made to go wrong with a simulated device, on command."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class Faults:
    """Faults that are armed; None, 0 and empty mean healthy. Counts are from the moment of arming.

    Attributes:
        unplug_after_packets: the USB cable is pulled at that packet.
        corrupt_after_packets: the reply to that packet is another command's.
        drop_after_packets: the reply to that packet never comes.
        wait_after_accesses: from that access on the debug port answers WAIT for ever.
        fault_once_after_accesses: that one access ends in a bus fault.
        deaf_sessions: for so many sessions of the probe the chip does not answer: a first attach that fails.
        deaf_above_hz: the chip does not answer at a debug clock above this; 0 for never.
        power_loss_after_runs: power goes when the core is started for that time (flash algorithms start it).
        stuck_bits: address -> bits that stay 0 in Flash.
        hang_after_runs: from that start on the flash controller never finishes.
        false_lock_readings: so many readings of the lock status say locked though the part is not.
        chip_id: what the identification register says instead.
        serial_noise: bytes that come before what the device says after a reset.
        serial_lose: offset -> so many bytes are lost there, counted from the reset.
        serial_lose_each: of so many bytes the last is lost, for ever: no line that is longer comes whole.
        serial_double: offsets of bytes that come twice.
        serial_mangle: every byte comes as at a wrong baud rate.
        serial_gone_after_bytes: the port vanishes at that byte.
        serial_back: a port that vanished comes back under another name.
        serial_trickle: after the reset nothing comes but a byte now and then, for ever.
        serial_mute: nothing comes at all.
        reset_on_open: opening the port moves DTR, which is wired to the reset pin; a pseudo-terminal has no such line,
            so the device sees that somebody came instead.
    """

    unplug_after_packets: int | None = None
    corrupt_after_packets: int | None = None
    drop_after_packets: int | None = None
    wait_after_accesses: int | None = None
    fault_once_after_accesses: int | None = None
    deaf_sessions: int = 0
    deaf_above_hz: int = 0
    power_loss_after_runs: int | None = None
    stuck_bits: dict[int, int] = field(default_factory=dict)
    hang_after_runs: int | None = None
    false_lock_readings: int = 0
    chip_id: int | None = None
    serial_noise: bytes = b""
    serial_lose: dict[int, int] = field(default_factory=dict)
    serial_lose_each: int = 0
    serial_double: list[int] = field(default_factory=list)
    serial_mangle: bool = False
    serial_gone_after_bytes: int | None = None
    serial_back: bool = False
    serial_trickle: bool = False
    serial_mute: bool = False
    reset_on_open: bool = False

    def due(self, name: str) -> bool:
        """Count one event towards a fault; whether it is due now. It stays due until it is disarmed."""
        left = getattr(self, name)
        if left is None:
            return False
        if left > 0:
            setattr(self, name, left - 1)
            return False
        return True
