"""A debug probe and the chip behind it in software, so that the way to real boards is exercised without one.

    pyOCD -> pyusb -> usb_backend --socket--> server: cmsis_dap -> debug_port -> core_debug -> qemu_chip | nrf52_chip
                                              server: the chip's UART -> a pseudo-terminal

The server is the board on the bench: a process of its own that outlives the runs which use it, with a USB cable that
can be pulled, a power switch and flash that can be stuck. Everything above the USB packets is pyOCD as it is.
It proves how the lab and pyOCD work together; it proves no timing, no driver and no figure.
"""
