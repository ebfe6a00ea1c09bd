"""A bus with simulated probes for pyusb: pyOCD's own USB classes, threads and error handling run on it as they are.

Descriptors: CMSIS-DAP v2 is a vendor-specific interface with a bulk pair, whose name contains "CMSIS-DAP" (Arm's
CMSIS-DAP documentation, "USB configuration").
"""

from __future__ import annotations

import array
import errno
import functools
import select
import socket
import struct
import time
from contextlib import suppress
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pyocd.probe.pydapaccess.interface.pyusb_backend as version_1
import pyocd.probe.pydapaccess.interface.pyusb_v2_backend as version_2
import usb.backend
import usb.core

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from bench.targets.simprobe.client import SimulatedDevice

_PACKET_BYTES = 512
_RELEASE_S = 2.0
_LENGTH = struct.Struct("<I")
_VENDOR, _PRODUCT = 0x1209, 0x0001  # pid.codes: for tests
_STRINGS = {1: "cortex-m-bench", 4: "CMSIS-DAP v2 (simulated)"}


@dataclass
class _Plug:
    """A device on the bus."""

    device: SimulatedDevice
    address: int
    link: socket.socket | None = None
    buffer: bytearray = field(default_factory=bytearray)


def _gone() -> usb.core.USBError:
    return usb.core.USBError("No such device (it may have been disconnected)", -4, errno.ENODEV)


class SimulatedBus(usb.backend.IBackend):  # type: ignore[misc]
    """The backend."""

    def __init__(self, devices: Sequence[SimulatedDevice]) -> None:
        super().__init__()
        self._plugs = [_Plug(device, 2 + i) for i, device in enumerate(devices)]

    def enumerate_devices(self) -> Iterator[_Plug]:
        """Yield what is plugged in."""
        yield from (plug for plug in self._plugs if plug.device.is_plugged_in())

    def get_device_descriptor(self, dev: _Plug) -> SimpleNamespace:
        """USB 2.0, table 9-8."""
        return SimpleNamespace(
            bLength=18, bDescriptorType=1, bcdUSB=0x200, bDeviceClass=0xEF, bDeviceSubClass=2,
            bDeviceProtocol=1, bMaxPacketSize0=64, idVendor=_VENDOR, idProduct=_PRODUCT, bcdDevice=0x100,
            iManufacturer=1, iProduct=2, iSerialNumber=3, bNumConfigurations=1, address=dev.address, bus=9,
            port_number=dev.address, port_numbers=(1, dev.address), speed=3,
        )  # fmt: skip

    def get_configuration_descriptor(self, dev: _Plug, config: int) -> SimpleNamespace:  # noqa: ARG002
        """USB 2.0, table 9-10."""
        if config:
            raise IndexError
        return SimpleNamespace(
            bLength=9, bDescriptorType=2, wTotalLength=32, bNumInterfaces=1, bConfigurationValue=1,
            iConfiguration=0, bmAttributes=0x80, bMaxPower=250, extra_descriptors=[],
        )  # fmt: skip

    def get_interface_descriptor(
        self,
        dev: _Plug,  # noqa: ARG002  all devices are alike
        intf: int,
        alt: int,
        config: int,  # noqa: ARG002
    ) -> SimpleNamespace:
        """USB 2.0, table 9-12."""
        if intf or alt:
            raise IndexError
        return SimpleNamespace(
            bLength=9, bDescriptorType=4, bInterfaceNumber=0, bAlternateSetting=0, bNumEndpoints=2,
            bInterfaceClass=0xFF, bInterfaceSubClass=0, bInterfaceProtocol=0, iInterface=4, extra_descriptors=[],
        )  # fmt: skip

    def get_endpoint_descriptor(
        self,
        dev: _Plug,  # noqa: ARG002  all devices are alike
        ep: int,
        intf: int,  # noqa: ARG002
        alt: int,  # noqa: ARG002
        config: int,  # noqa: ARG002
    ) -> SimpleNamespace:
        """USB 2.0, table 9-13: a bulk pair, out first."""
        if ep > 1:
            raise IndexError
        return SimpleNamespace(
            bLength=7, bDescriptorType=5, bEndpointAddress=(0x01, 0x81)[ep], bmAttributes=2,
            wMaxPacketSize=_PACKET_BYTES, bInterval=0, bRefresh=0, bSynchAddress=0, extra_descriptors=[],
        )  # fmt: skip

    def open_device(self, dev: _Plug) -> _Plug:
        """Open: the device itself is its handle."""
        return dev

    def close_device(self, dev_handle: _Plug) -> None:
        """Close; an interface that is still claimed is given back."""
        self.release_interface(dev_handle, 0)

    def set_configuration(self, dev_handle: _Plug, config_value: int) -> None:
        """There is one configuration."""

    def get_configuration(self, dev_handle: _Plug) -> int:  # noqa: ARG002  there is one
        """Return the one that there is."""
        return 1

    def is_kernel_driver_active(self, dev_handle: _Plug, intf: int) -> bool:  # noqa: ARG002
        """No kernel driver wants it."""
        return False

    def claim_interface(self, dev_handle: _Plug, intf: int) -> None:  # noqa: ARG002  there is one
        """Take the interface, unless another process has it."""
        link = dev_handle.device.connect("claim")
        answer = link.makefile("rb", buffering=0).readline()
        if answer != b"claimed\n":
            link.close()
            raise (
                usb.core.USBError("Resource busy", -6, errno.EBUSY)
                if answer == b"busy\n"
                else _gone()
            )
        dev_handle.link = link
        dev_handle.buffer.clear()

    def release_interface(self, dev_handle: _Plug, intf: int) -> None:  # noqa: ARG002  there is one
        """Give the interface back, and wait until the device has seen it."""
        link, dev_handle.link = dev_handle.link, None
        if link is not None:
            with link, suppress(OSError):
                link.settimeout(_RELEASE_S)
                link.shutdown(socket.SHUT_WR)
                while link.recv(1 << 16):
                    pass

    def ctrl_transfer(
        self,
        dev_handle: _Plug,
        bmRequestType: int,  # noqa: N803  pyusb's names
        bRequest: int,  # noqa: N803
        wValue: int,  # noqa: N803
        wIndex: int,  # noqa: ARG002, N803
        data: array.array[int],
        timeout: int,  # noqa: ARG002
    ) -> int:
        """Give string descriptors (USB 2.0, 9.6.7); nothing else is asked for."""
        if (bmRequestType, bRequest, wValue >> 8) != (0x80, 6, 3):
            raise usb.core.USBError("Pipe error", -9, errno.EPIPE)
        index = wValue & 0xFF
        names = {2: f"CMSIS-DAP ({dev_handle.device.kind})", 3: dev_handle.device.uid}
        text = _STRINGS.get(index) or names.get(index, "")
        raw = b"\x04\x03\x09\x04" if index == 0 else text.encode("utf-16-le")
        whole = raw if index == 0 else bytes([2 + len(raw), 3]) + raw
        count = min(len(whole), len(data))
        data[:count] = array.array("B", whole[:count])
        return count

    def bulk_write(self, dev_handle: _Plug, ep: int, intf: int, data: Any, timeout: int) -> int:  # noqa: ARG002
        """Send a packet; an empty one ends a transfer and says nothing."""
        if dev_handle.link is None:
            raise _gone()
        if len(data):
            try:
                dev_handle.link.sendall(_LENGTH.pack(len(data)) + bytes(data))
            except OSError as error:
                raise _gone() from error
        return len(data)

    def bulk_read(
        self,
        dev_handle: _Plug,
        ep: int,  # noqa: ARG002  there is one
        intf: int,  # noqa: ARG002
        buff: array.array[int],
        timeout: int,
    ) -> int:
        """Receive a packet within `timeout` milliseconds."""
        until = time.monotonic() + timeout / 1000
        buffer = dev_handle.buffer
        while len(buffer) < 4 or len(buffer) < 4 + _LENGTH.unpack_from(buffer)[0]:
            link = dev_handle.link
            if link is None:
                raise _gone()
            if not select.select([link], [], [], max(0.0, until - time.monotonic()))[0]:
                raise usb.core.USBTimeoutError("Operation timed out", -7, errno.ETIMEDOUT)
            try:
                received = link.recv(1 << 16)
            except OSError as error:
                raise _gone() from error
            if not received:
                raise _gone()
            buffer += received
        count = _LENGTH.unpack_from(buffer)[0]
        buff[:count] = array.array("B", buffer[4 : 4 + count])
        del buffer[: 4 + count]
        return int(count)


def install(devices: Sequence[SimulatedDevice]) -> None:
    """Let pyOCD in this process find these devices, and no others."""
    find = functools.partial(usb.core.find, backend=SimulatedBus(devices))
    version_1.usb_find = version_2.usb_find = find
