"""The kinds of instructions that a timing table prices, and what the pricer must know of one instruction."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

FLAGS = 1 << 16  # the condition flags as a bit of a register mask; bits 0 to 14 are r0 to lr
S0 = 32  # bit of s0; q registers are four of these


class Kind(StrEnum):
    """What an instruction is to a pipeline."""

    ALU = "alu"  # data processing on registers or immediates
    SHIFT = "shift"  # a shift alone
    ALU_SHIFTED = "alu_shifted"  # data processing with a shifted operand
    BITFIELD = "bitfield"
    EXTEND = "extend"
    EXTEND_ADD = "extend_add"
    SATURATE = "saturate"  # SSAT, USAT, QADD and its like
    REVERSE = "reverse"  # REV, RBIT, CLZ
    SIMD = "simd"  # parallel add and subtract, SEL, PKH
    SELECT = "select"  # CSEL and its like
    LONG_SHIFT = "long_shift"  # scalar shifts of the vector extension
    MUL = "mul"
    MLA = "mla"
    MUL_DSP = "mul_dsp"  # SMULBB, SMUAD, SMMUL, USAD8, ...
    MLA_DSP = "mla_dsp"  # SMLABB, SMLAD, ...
    MULL = "mull"
    MLAL = "mlal"
    DIV = "div"
    LOAD = "load"
    LOAD_PART = "load_part"  # a byte or halfword
    STORE = "store"
    LOAD_DUAL = "load_dual"
    STORE_DUAL = "store_dual"
    LOAD_MULTIPLE = "load_multiple"  # LDM, POP
    STORE_MULTIPLE = "store_multiple"  # STM, PUSH
    LOAD_EXCLUSIVE = "load_exclusive"  # also load-acquire
    STORE_EXCLUSIVE = "store_exclusive"
    PRELOAD = "preload"
    BRANCH = "branch"
    BRANCH_IF = "branch_if"
    COMPARE_BRANCH = "compare_branch"  # CBZ, CBNZ
    CALL = "call"
    CALL_INDIRECT = "call_indirect"
    BRANCH_INDIRECT = "branch_indirect"
    TABLE_BRANCH = "table_branch"
    LOOP_START = "loop_start"  # WLS, DLS
    LOOP_END = "loop_end"  # LE, LETP
    IT = "it"
    NOP = "nop"
    HINT = "hint"
    BARRIER = "barrier"
    SYSTEM = "system"
    VLOAD = "vload"
    VSTORE = "vstore"
    VLOAD_MULTIPLE = "vload_multiple"
    VSTORE_MULTIPLE = "vstore_multiple"
    VMOV = "vmov"
    VMOV_CORE = "vmov_core"  # one core register
    VMOV_PAIR = "vmov_pair"  # two core registers
    VSTATUS = "vstatus"  # VMRS, VMSR
    VADD = "vadd"
    VMUL = "vmul"
    VMLA = "vmla"
    VFMA = "vfma"
    VDIV = "vdiv"
    VSQRT = "vsqrt"
    VCMP = "vcmp"
    VCVT = "vcvt"
    VSELECT = "vselect"  # VSEL, VMAXNM, VMINNM
    MVE_LOAD = "mve_load"
    MVE_STORE = "mve_store"
    MVE_GATHER = "mve_gather"
    MVE_SCATTER = "mve_scatter"
    MVE_INT = "mve_int"  # integer pipe, result after a cycle
    MVE_INT_SLOW = "mve_int_slow"  # saturating and rounding shifts: a cycle later
    MVE_NARROW = "mve_narrow"  # VMOVN, VQSHRN, ...: later still, not forwarded into stores
    MVE_INT_REDUCE = "mve_int_reduce"  # VMAXV, VABAV
    MVE_MUL = "mve_mul"  # multiply pipe
    MVE_REDUCE = "mve_reduce"  # VMLADAV, VADDV: a core register at the end
    MVE_FLOAT = "mve_float"  # floating-point add, compare, ...
    MVE_COMPARE = "mve_compare"
    MVE_LANE = "mve_lane"
    MVE_PREDICATE = "mve_predicate"  # VPST, VCTP, VPNOT


MVE = frozenset(kind for kind in Kind if kind.startswith("mve_"))
BRANCHES = frozenset(
    {
        Kind.BRANCH,
        Kind.BRANCH_IF,
        Kind.COMPARE_BRANCH,
        Kind.CALL,
        Kind.CALL_INDIRECT,
        Kind.BRANCH_INDIRECT,
        Kind.TABLE_BRANCH,
        Kind.LOOP_START,
        Kind.LOOP_END,
    }
)


@dataclass(frozen=True)
class Instruction:
    """One instruction.

    Attributes:
        size: bytes.
        written, read: masks of registers: bits 0 to 14 core, FLAGS, S0 and on the vector file.
        address: those of `read` that form an address.
        registers: how many a load or store moves.
        double: double-precision floating point.
        indexed: a load or store whose offset is a register.
        to_pc: a load or move that branches.
        slim: a 16-bit instruction that the M33 and M55 pair with another 16-bit one.
    """

    kind: Kind
    size: int
    written: int = 0
    read: int = 0
    address: int = 0
    registers: int = 1
    double: bool = False
    indexed: bool = False
    to_pc: bool = False
    slim: bool = False

    @property
    def key(self) -> str:
        """What a timing table calls it."""
        return f"{self.kind}_double" if self.double else self.kind.value
