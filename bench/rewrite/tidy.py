"""What every exported program gets: nothing in it that is never read, and the best memory plan that is found."""

from __future__ import annotations

from bench.errors import ProgramError
from bench.rewrite.flat import read_flat, write_flat
from bench.rewrite.plan import plan_memory
from bench.rewrite.slim import slim


def tidy(pte: bytes) -> bytes:
    """Return the program with every method slim and planned anew; as it is, if it is of a form that is not rewritten."""
    try:
        program = read_flat(pte)
    except ProgramError:
        return pte
    slim(program)
    for plan in program.table.executionPlan:
        plan_memory(program, plan.name.decode())
    return write_flat(program)
