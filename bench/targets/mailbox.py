"""The mailbox of a running device through the debug port (docs/bundle.md); the core is not halted."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from bench.board import ChipId
from bench.bundle import MAILBOX_ARGUMENTS, MAILBOX_COMMAND, MAILBOX_STATE, Command, State
from bench.image import symbolise
from bench.targets import pyocd

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bench.targets.orders import Order


def chip_of(order: Order) -> pyocd.Chip:
    """Return the chip that an order is about."""
    ids = tuple(ChipId(address=a, value=v, mask=m) for a, v, m in order.chip_id)
    return pyocd.Chip(order.target, order.cpu, ids, order.packs)


@dataclass(frozen=True)
class Mailbox:
    """A debugger beside a running device, and the order that says where its mailbox lies."""

    debugger: pyocd.Debugger
    order: Order

    def _word(self, offset: int) -> int:
        return int.from_bytes(self.debugger.read(self.order.mailbox + offset, 4), "little")

    @property
    def state(self) -> int:
        """What the device says that it does, one of `State` if it is healthy."""
        return self._word(MAILBOX_STATE)

    @property
    def waits_for_orders(self) -> bool:
        """Whether the device has taken every order and has ended its run."""
        return self._word(MAILBOX_COMMAND) == Command.NONE and self.state == State.IDLE

    @property
    def took_the_order(self) -> bool:
        """Whether the device has seen the last command."""
        return self._word(MAILBOX_COMMAND) == Command.NONE

    def tell(self, command: Command, *arguments: int) -> None:
        """Give a command; the command's word last, because the device looks at nothing else."""
        for index, argument in enumerate(arguments):
            self.debugger.write_word(self.order.mailbox + MAILBOX_ARGUMENTS + 4 * index, argument)
        self.debugger.write_word(self.order.mailbox + MAILBOX_COMMAND, command)

    def where(self) -> str:
        """Halt the core and say where it stood; closing the session lets it go on."""
        place = self.debugger.where()
        elf = Path(self.order.elf)
        text = f"pc {symbolise(elf, place.pc)}, lr {symbolise(elf, place.lr)}"
        return f"the core is locked up, {text}" if place.locked_up else text


@contextmanager
def beside(order: Order) -> Iterator[Mailbox]:
    """Connect to a running device without halting it; at the end the debugger is off the bus again."""
    with pyocd.connect(
        order.uid, chip_of(order), mode="attach", clock_hz=order.clock_hz
    ) as debugger:
        yield Mailbox(debugger, order)
