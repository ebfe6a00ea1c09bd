"""The encoding tables of the decoder: (bit pattern, kind, `written < read [address]`, flags ...), first match wins.

Field names are those of decode.py. Flags: `slim` (see Instruction), `indexed`, `fp` (bit 8 says double precision),
`two` (moves two registers).
"""

from __future__ import annotations

from bench.estimate.kinds import Kind

K = Kind  # the tables are read by the column

Row = tuple[str, K, str] | tuple[str, K, str, str] | tuple[str, K, str, str, str]

# floating-point kinds whose bit 8 is not a matter of time
MOVES = frozenset(
    {K.VLOAD, K.VSTORE, K.VLOAD_MULTIPLE, K.VSTORE_MULTIPLE, K.VMOV, K.VMOV_CORE, K.VMOV_PAIR}
)

# fmt: off
NARROW: tuple[Row, ...] = (
    ("0000 0000 00.. ....", K.ALU, "d3 F < n3", "slim"),  # MOVS
    ("0001 110. .... ....", K.ALU, "d3 F < n3", "slim"),  # ADDS, SUBS #imm3
    ("0001 111. .... ....", K.ALU, "d3 F < n3", "slim"),
    ("0001 10.. .... ....", K.ALU, "d3 F < n3 m3"),
    ("000. .... .... ....", K.SHIFT, "d3 F < n3"),
    ("0010 0... .... ....", K.ALU, "d8 F", "slim"),  # MOVS #imm8
    ("0010 1... .... ....", K.ALU, "F < d8"),  # CMP
    ("0011 .... .... ....", K.ALU, "d8 F < d8", "slim"),  # ADDS, SUBS #imm8
    ("0100 0000 1... ....", K.SHIFT, "d3 F < d3 n3"),  # LSLS, LSRS
    ("0100 0001 00.. ....", K.SHIFT, "d3 F < d3 n3"),  # ASRS
    ("0100 0001 11.. ....", K.SHIFT, "d3 F < d3 n3"),  # RORS
    ("0100 0001 .... ....", K.ALU, "d3 F < d3 n3 F"),  # ADCS, SBCS
    ("0100 0010 00.. ....", K.ALU, "F < d3 n3"),  # TST
    ("0100 0010 01.. ....", K.ALU, "d3 F < n3"),  # RSBS
    ("0100 0010 1... ....", K.ALU, "F < d3 n3"),  # CMP, CMN
    ("0100 0011 01.. ....", K.MUL, "d3 F < d3 n3"),
    ("0100 0011 11.. ....", K.ALU, "d3 F < n3"),  # MVNS
    ("0100 00.. .... ....", K.ALU, "d3 F < d3 n3"),  # ANDS, EORS, ORRS, BICS
    ("0100 0100 1... .111", K.BRANCH_INDIRECT, "< hm"),  # ADD PC
    ("0100 0100 .... ....", K.ALU, "hd < hd hm"),
    ("0100 0101 .... ....", K.ALU, "F < hd hm"),  # CMP
    ("0100 0110 1... .111", K.BRANCH_INDIRECT, "< hm"),  # MOV PC
    ("0100 0110 .... ....", K.ALU, "hd < hm", "slim"),  # MOV
    ("0100 0111 0... ....", K.BRANCH_INDIRECT, "< hm"),  # BX
    ("0100 0111 1... ....", K.CALL_INDIRECT, "LR < hm"),  # BLX
    ("0100 1... .... ....", K.LOAD, "d8"),  # LDR literal
    ("0101 00.. .... ....", K.STORE, "< d3 [n3 m3]", "indexed"),  # STR, STRH
    ("0101 010. .... ....", K.STORE, "< d3 [n3 m3]", "indexed"),  # STRB
    ("0101 100. .... ....", K.LOAD, "d3 < [n3 m3]", "indexed"),
    ("0101 .... .... ....", K.LOAD_PART, "d3 < [n3 m3]", "indexed"),
    ("0110 0... .... ....", K.STORE, "< d3 [n3]"),
    ("0110 1... .... ....", K.LOAD, "d3 < [n3]"),
    ("0111 0... .... ....", K.STORE, "< d3 [n3]"),
    ("0111 1... .... ....", K.LOAD_PART, "d3 < [n3]"),
    ("1000 0... .... ....", K.STORE, "< d3 [n3]"),
    ("1000 1... .... ....", K.LOAD_PART, "d3 < [n3]"),
    ("1001 0... .... ....", K.STORE, "< d8 [SP]"),
    ("1001 1... .... ....", K.LOAD, "d8 < [SP]"),
    ("1010 0... .... ....", K.ALU, "d8"),  # ADR
    ("1010 1... .... ....", K.ALU, "d8 < SP"),
    ("1011 0000 .... ....", K.ALU, "SP < SP"),
    ("1011 .0.1 .... ....", K.COMPARE_BRANCH, "< d3"),
    ("1011 0010 .... ....", K.EXTEND, "d3 < n3", "slim"),
    ("1011 010. .... ....", K.STORE_MULTIPLE, "SP < push [SP]"),
    ("1011 110. .... ....", K.LOAD_MULTIPLE, "pop SP < [SP]"),
    ("1011 0110 .... ....", K.SYSTEM, ""),  # CPS, SETPAN
    ("1011 1010 10.. ....", K.SYSTEM, ""),  # HLT
    ("1011 1010 .... ....", K.REVERSE, "d3 < n3"),
    ("1011 1110 .... ....", K.SYSTEM, ""),  # BKPT
    ("1011 1111 0000 0000", K.NOP, "", "slim"),
    ("1011 1111 .... 0000", K.HINT, ""),
    ("1011 1111 .... ....", K.IT, "< F", "slim"),
    ("1100 0... .... ....", K.STORE_MULTIPLE, "d8 < list8 [d8]"),
    ("1100 1... .... ....", K.LOAD_MULTIPLE, "list8 d8 < [d8]"),
    ("1101 111. .... ....", K.SYSTEM, ""),  # UDF, SVC
    ("1101 .... .... ....", K.BRANCH_IF, "< F", "slim"),
    ("1110 0... .... ....", K.BRANCH, "", "slim"),
)

_SCALAR: tuple[Row, ...] = (
    # load and store multiple, dual, exclusive, table branch
    ("1110 1001 0111 1111 1110 1001 0111 1111", K.SYSTEM, ""),  # SG
    ("1110 1000 0100 .... 1111 .... .... ....", K.SYSTEM, "Rd < Rn"),  # TT
    ("1110 1000 1001 1111 .... .... .... ....", K.LOAD_MULTIPLE, "list"),  # CLRM
    ("1110 100. .0.1 .... .... .... .... ....", K.LOAD_MULTIPLE, "list W < [Rn]"),
    ("1110 100. .0.0 .... .... .... .... ....", K.STORE_MULTIPLE, "W < list [Rn]"),
    ("1110 1000 1101 .... 1111 0000 000. ....", K.TABLE_BRANCH, "< [Rn Rm]"),
    ("1110 1000 0100 .... .... .... .... ....", K.STORE_EXCLUSIVE, "Rd < Rt [Rn]"),
    ("1110 1000 0101 .... .... .... .... ....", K.LOAD_EXCLUSIVE, "Rt < [Rn]"),
    ("1110 1000 1100 .... .... .... .... ....", K.STORE_EXCLUSIVE, "Rm < Rt [Rn]"),
    ("1110 1000 1101 .... .... .... .... ....", K.LOAD_EXCLUSIVE, "Rt < [Rn]"),
    ("1110 100. .1.1 .... .... .... .... ....", K.LOAD_DUAL, "Rt Rd W < [Rn]", "two"),
    ("1110 100. .1.0 .... .... .... .... ....", K.STORE_DUAL, "W < Rt Rd [Rn]", "two"),
    # data processing on shifted registers
    ("1110 1010 0101 .... .... 1111 .... 1101", K.LONG_SHIFT, "Rn < Rn Rt"),
    ("1110 1010 0101 .... .... .... .... 1101", K.LONG_SHIFT, "Slo Shi < Slo Shi Rt"),
    ("1110 1010 0101 .... 1... .... .... ....", K.SELECT, "Rd < Rn Rm F"),
    ("1110 1010 0101 .... .... 1111 .... 1111", K.LONG_SHIFT, "Rn < Rn"),
    ("1110 1010 0101 .... .... .... .... 1111", K.LONG_SHIFT, "Slo Shi < Slo Shi"),
    ("1110 1010 110. .... .... .... .... ....", K.SIMD, "Rd < Rn Rm"),  # PKHBT, PKHTB
    ("1110 1010 010. 1111 .000 .... 0000 ....", K.ALU, "Rd S < Rm"),  # MOV
    ("1110 1010 010. 1111 .... .... .... ....", K.SHIFT, "Rd S < Rm"),
    ("1110 101. .... .... .000 .... 0000 ....", K.ALU, "Rd S < Rn Rm"),
    ("1110 101. .... .... .... .... .... ....", K.ALU_SHIFTED, "Rd S < Rn Rm"),
    # branches and miscellaneous control
    ("1111 0000 0000 1111 1110 0000 0000 0001", K.SYSTEM, ""),  # LCTP
    ("1111 0000 00.. .... 1110 1000 0000 0001", K.MVE_PREDICATE, "< Rn"),  # VCTP
    ("1111 0000 0... 1111 1100 .... .... ...1", K.LOOP_END, "LR < LR"),  # LE, LETP
    ("1111 0000 0... .... 1110 0000 0000 0001", K.LOOP_START, "LR < Rn"),  # DLS, DLSTP
    ("1111 0000 0... .... 1100 .... .... ...1", K.LOOP_START, "LR < Rn"),  # WLS, WLSTP
    ("1111 0... .... .... 11.1 .... .... ....", K.CALL, "LR"),
    ("1111 0... .... .... 10.1 .... .... ....", K.BRANCH, ""),
    ("1111 0011 1000 .... 10.0 .... .... ....", K.SYSTEM, "< Rn"),  # MSR
    ("1111 0011 1010 1111 10.0 0000 0000 0000", K.NOP, ""),
    ("1111 0011 1010 .... 10.0 .... .... ....", K.HINT, ""),
    ("1111 0011 1011 .... 10.0 .... .... ....", K.BARRIER, ""),
    ("1111 0011 111. .... 10.0 .... .... ....", K.SYSTEM, "Rd"),  # MRS
    ("1111 0111 1111 .... 1010 .... .... ....", K.SYSTEM, ""),  # UDF
    ("1111 0... .... .... 10.0 .... .... ....", K.BRANCH_IF, "< F"),
    # data processing on immediates
    ("1111 0.11 0000 .... 0... .... .... ....", K.SATURATE, "Rd < Rn"),  # SSAT
    ("1111 0.11 0010 .... 0... .... .... ....", K.SATURATE, "Rd < Rn"),
    ("1111 0.11 1000 .... 0... .... .... ....", K.SATURATE, "Rd < Rn"),  # USAT
    ("1111 0.11 1010 .... 0... .... .... ....", K.SATURATE, "Rd < Rn"),
    ("1111 0.11 0100 .... 0... .... .... ....", K.BITFIELD, "Rd < Rn"),  # SBFX
    ("1111 0.11 1100 .... 0... .... .... ....", K.BITFIELD, "Rd < Rn"),  # UBFX
    ("1111 0.11 0110 .... 0... .... .... ....", K.BITFIELD, "Rd < Rd Rn"),  # BFI, BFC
    ("1111 0.10 1100 .... 0... .... .... ....", K.ALU, "Rd < Rd"),  # MOVT
    ("1111 0.10 0100 .... 0... .... .... ....", K.ALU, "Rd"),  # MOVW
    ("1111 0.1. .... .... 0... .... .... ....", K.ALU, "Rd < Rn"),  # ADDW, SUBW
    ("1111 0.0. .... .... 0... .... .... ....", K.ALU, "Rd S < Rn"),
    # single loads and stores
    ("1111 100. .0.1 1111 1111 .... .... ....", K.PRELOAD, ""),
    ("1111 100. 10.1 .... 1111 .... .... ....", K.PRELOAD, "< [Rn]"),
    ("1111 100. 00.1 .... 1111 1100 .... ....", K.PRELOAD, "< [Rn]"),
    ("1111 100. 00.1 .... 1111 0000 00.. ....", K.PRELOAD, "< [Rn Rm]"),
    ("1111 1000 .101 1111 .... .... .... ....", K.LOAD, "Rt"),
    ("1111 100. .0.1 1111 .... .... .... ....", K.LOAD_PART, "Rt"),
    ("1111 1000 1101 .... .... .... .... ....", K.LOAD, "Rt < [Rn]"),
    ("1111 100. 1..1 .... .... .... .... ....", K.LOAD_PART, "Rt < [Rn]"),
    ("1111 1000 1..0 .... .... .... .... ....", K.STORE, "< Rt [Rn]"),
    ("1111 1000 0101 .... .... 0000 00.. ....", K.LOAD, "Rt < [Rn Rm]", "indexed"),
    ("1111 100. 0..1 .... .... 0000 00.. ....", K.LOAD_PART, "Rt < [Rn Rm]", "indexed"),
    ("1111 1000 0..0 .... .... 0000 00.. ....", K.STORE, "< Rt [Rn Rm]", "indexed"),
    ("1111 1000 0101 .... .... 1..1 .... ....", K.LOAD, "Rt Rn < [Rn]"),
    ("1111 100. 0..1 .... .... 1..1 .... ....", K.LOAD_PART, "Rt Rn < [Rn]"),
    ("1111 1000 0..0 .... .... 1..1 .... ....", K.STORE, "Rn < Rt [Rn]"),
    ("1111 1000 0101 .... .... 1... .... ....", K.LOAD, "Rt < [Rn]"),
    ("1111 100. 0..1 .... .... 1... .... ....", K.LOAD_PART, "Rt < [Rn]"),
    ("1111 1000 0..0 .... .... 1... .... ....", K.STORE, "< Rt [Rn]"),
    # data processing on registers
    ("1111 1010 0... .... 1111 .... 0000 ....", K.SHIFT, "Rd S < Rn Rm"),
    ("1111 1010 0... 1111 1111 .... 1... ....", K.EXTEND, "Rd < Rm"),
    ("1111 1010 0... .... 1111 .... 1... ....", K.EXTEND_ADD, "Rd < Rn Rm"),
    ("1111 1010 1000 .... 1111 .... 1... ....", K.SATURATE, "Rd < Rn Rm"),  # QADD, QDSUB, ...
    ("1111 1010 1001 .... 1111 .... 1... ....", K.REVERSE, "Rd < Rm"),
    ("1111 1010 1010 .... 1111 .... 1... ....", K.SIMD, "Rd < Rn Rm F"),  # SEL
    ("1111 1010 1011 .... 1111 .... 1... ....", K.REVERSE, "Rd < Rm"),  # CLZ
    ("1111 1010 1... .... 1111 .... 0... ....", K.SIMD, "Rd < Rn Rm"),
    # multiply and divide
    ("1111 1011 0000 .... 1111 .... 0000 ....", K.MUL, "Rd < Rn Rm"),
    ("1111 1011 0000 .... .... .... 000. ....", K.MLA, "Rd < Rn Rm Rt"),
    ("1111 1011 0... .... 1111 .... .... ....", K.MUL_DSP, "Rd < Rn Rm"),
    ("1111 1011 0... .... .... .... .... ....", K.MLA_DSP, "Rd < Rn Rm Rt"),
    ("1111 1011 10.1 .... 1111 .... 1111 ....", K.DIV, "Rd < Rn Rm"),
    ("1111 1011 10.0 .... .... .... 0000 ....", K.MULL, "Rt Rd < Rn Rm"),
    ("1111 1011 11.. .... .... .... .... ....", K.MLAL, "Rt Rd < Rn Rm Rt Rd"),
)

_FLOAT: tuple[Row, ...] = (
    ("1110 1100 .101 1111 .... 101. .... ....", K.VLOAD_MULTIPLE, "", "fp"),  # VSCCLRM
    ("1110 1101 ...1 .... .... 1111 1... ....", K.VSTATUS, "< [Rn]"),  # VLDR, VSTR of a status register
    ("1110 1101 ...0 .... .... 1111 1... ....", K.VSTATUS, "< [Rn]"),
    ("1110 1100 0101 .... .... 101. 00.1 ....", K.VMOV_PAIR, "Rt Rn < Fm", "fp"),
    ("1110 1100 0100 .... .... 101. 00.1 ....", K.VMOV_PAIR, "Fm < Rt Rn", "fp"),
    ("1110 1101 ..01 .... .... 10.. .... ....", K.VLOAD, "Fd < [Rn]", "fp"),
    ("1110 1101 ..00 .... .... 10.. .... ....", K.VSTORE, "< Fd [Rn]", "fp"),
    ("1110 110. ...1 .... .... 101. .... ....", K.VLOAD_MULTIPLE, "Flist W < [Rn]", "fp"),
    ("1110 110. ...0 .... .... 101. .... ....", K.VSTORE_MULTIPLE, "W < Flist [Rn]", "fp"),
    ("1110 1110 1111 .... 1111 1010 ...1 ....", K.VSTATUS, "F"),  # VMRS APSR_nzcv
    ("1110 1110 1111 .... .... 1010 ...1 ....", K.VSTATUS, "Rt"),
    ("1110 1110 1110 .... .... 1010 ...1 ....", K.VSTATUS, "< Rt"),
    ("1110 1110 1.10 .... .... 1011 ...1 ....", K.MVE_LANE, "Qn < Rt"),  # VDUP
    ("1110 1110 00.0 .... .... 1011 .001 ....", K.VMOV_CORE, "Fn < Rt", "fp"),  # a 32-bit lane
    ("1110 1110 00.1 .... .... 1011 .001 ....", K.VMOV_CORE, "Rt < Fn", "fp"),
    ("1110 1110 ...0 .... .... 1011 ...1 ....", K.MVE_LANE, "Qn < Qn Rt"),
    ("1110 1110 ...1 .... .... 1011 ...1 ....", K.MVE_LANE, "Rt < Qn"),
    ("1110 1110 ...1 .... .... 10.. ...1 ....", K.VMOV_CORE, "Rt < Fn"),
    ("1110 1110 ...0 .... .... 10.. ...1 ....", K.VMOV_CORE, "Fn < Rt"),
    ("1111 1110 0... .... .... 10.. .0.0 ....", K.VSELECT, "Fd < Fn Fm F", "fp"),  # VSEL
    ("1111 1110 1.00 .... .... 10.. ...0 ....", K.VSELECT, "Fd < Fn Fm", "fp"),  # VMAXNM, VMINNM
    ("1111 1110 1.11 10.. .... 10.. .1.0 ....", K.VCVT, "Fd < Fm", "fp"),  # VRINTA, ...
    ("1111 1110 1.11 11.. .... 10.. .1.0 ....", K.VCVT, "Fd < Fm", "fp"),  # VCVTA, ...
    ("1111 1110 1.11 0000 .... 10.. .1.0 ....", K.VMOV, "Fd < Fm", "fp"),  # VMOVX, VINS
    ("1110 1110 0.0. .... .... 10.. ...0 ....", K.VMLA, "Fd < Fn Fm Fd", "fp"),
    ("1110 1110 0.10 .... .... 10.. ...0 ....", K.VMUL, "Fd < Fn Fm", "fp"),
    ("1110 1110 0.11 .... .... 10.. ...0 ....", K.VADD, "Fd < Fn Fm", "fp"),
    ("1110 1110 1.00 .... .... 10.. ...0 ....", K.VDIV, "Fd < Fn Fm", "fp"),
    ("1110 1110 1.01 .... .... 10.. ...0 ....", K.VFMA, "Fd < Fn Fm Fd", "fp"),
    ("1110 1110 1.10 .... .... 10.. ...0 ....", K.VFMA, "Fd < Fn Fm Fd", "fp"),
    ("1110 1110 1.11 .... .... 10.. .0.0 ....", K.VMOV, "Fd", "fp"),  # VMOV #imm
    ("1110 1110 1.11 0000 .... 10.. 01.0 ....", K.VMOV, "Fd < Fm", "fp"),
    ("1110 1110 1.11 0000 .... 10.. 11.0 ....", K.VADD, "Fd < Fm", "fp"),  # VABS
    ("1110 1110 1.11 0001 .... 10.. 01.0 ....", K.VADD, "Fd < Fm", "fp"),  # VNEG
    ("1110 1110 1.11 0001 .... 10.. 11.0 ....", K.VSQRT, "Fd < Fm", "fp"),
    ("1110 1110 1.11 010. .... 10.. .1.0 ....", K.VCMP, "F < Fd Fm", "fp"),
    ("1110 1110 1.11 .... .... 10.. .1.0 ....", K.VCVT, "Fd < Fm", "fp"),  # VCVT, VRINT
)

_VECTOR: tuple[Row, ...] = (
    # moves of lanes, loads and stores
    ("1110 1100 000. .... ...0 1111 000. ....", K.MVE_LANE, "Rn Rm Qd < Qd Rn Rm"),
    ("111. 1100 1.01 .... ...0 111. .... ....", K.MVE_GATHER, "Qd < Qm [Rn]"),
    ("111. 1100 1.00 .... ...0 111. .... ....", K.MVE_SCATTER, "< Qd Qm [Rn]"),
    ("1111 1101 ...1 .... ...1 111. .... ....", K.MVE_GATHER, "Qd < Qn"),
    ("1111 1101 ...0 .... ...1 111. .... ....", K.MVE_SCATTER, "< Qd Qn"),
    ("111. 110. ...1 .... .... 111. .... ....", K.MVE_LOAD, "Qd W < [Rn]"),  # also VLD2, VLD4
    ("111. 110. ...0 .... .... 111. .... ....", K.MVE_STORE, "W < Qd [Rn]"),
    ("1111 110. ..1. .... .... 1000 .1.. ....", K.MVE_MUL, "Qd < Qn Qm Qd"),  # VCMLA
    ("1111 110. 1.0. .... .... 1000 .1.. ....", K.MVE_FLOAT, "Qd < Qn Qm"),  # VCADD
    # predicates and compares
    ("1111 1110 0.11 0001 .... 1111 0100 1101", K.MVE_PREDICATE, ""),  # VPST, VPNOT
    ("1111 1110 0011 ...1 ...0 1111 0000 ...1", K.MVE_INT, "Qd < Qn Qm"),  # VPSEL
    ("111. 1110 0.11 ...1 .... 1111 .1.. ....", K.MVE_COMPARE, "< Qn Rm"),
    ("111. 1110 0.11 ...1 .... 1111 .0.. ....", K.MVE_COMPARE, "< Qn Qm"),
    ("1111 1110 0... ...1 .... 1111 .1.. ....", K.MVE_COMPARE, "< Qn Rm"),
    ("1111 1110 0... ...1 .... 1111 .0.. ....", K.MVE_COMPARE, "< Qn Qm"),
    # EE and FE, size 11: narrowing, shifts by a register, floating point with a scalar
    ("111. 1110 0.11 ..01 ...1 1110 011. ....", K.MVE_INT, "Qd < Qd Rm"),  # VSHL
    ("111. 1110 0.11 ...1 ...1 1110 .11. ....", K.MVE_INT_SLOW, "Qd < Qd Rm"),  # VQSHL, VRSHL
    ("111. 1110 0.11 ...1 .... 1110 .1.. ....", K.MVE_MUL, "Qd < Qn Qd Rm"),  # VFMA, VMUL
    ("111. 1110 0.11 1111 .... 1110 1.0. ...1", K.MVE_FLOAT, "Qd < Qd Qm"),  # VMAXNMA
    ("111. 1110 0.11 1111 .... 1110 0.0. ...1", K.MVE_NARROW, "Qd < Qd Qm"),  # VCVTB, VCVTT
    ("111. 1110 0.11 ..01 .... 1110 1.0. ...1", K.MVE_NARROW, "Qd < Qd Qm"),  # VMOVN, VQMOVUN
    ("111. 1110 0.11 ..11 .... 1110 0.0. ...1", K.MVE_NARROW, "Qd < Qd Qm"),  # VQMOVN
    ("1110 1110 0.11 ..11 .... 1110 1.0. ...1", K.MVE_INT, "Qd < Qd Qm"),  # VMAXA
    ("111. 1110 0.11 ...0 .... 1111 .10. ....", K.MVE_FLOAT, "Qd < Qn Rm"),  # VADD, VSUB
    ("111. 1110 0.11 ...0 .... 1111 .11. ....", K.MVE_MUL, "Qd < Qn Rm"),  # VQDMULL
    ("111. 1110 0.11 ...0 .... 1111 .0.. ...1", K.MVE_MUL, "Qd < Qn Qm"),  # VQDMULL
    ("111. 1110 0.11 ...0 .... 1111 .0.. ...0", K.MVE_INT_SLOW, "Qd < Qn Qm"),  # VADC, VSBC
    # EE and FE, integers
    ("1110 1110 0... ...1 .... 1111 .11. ....", K.MVE_INT, "Qd Qn"),  # VIDUP and its like
    ("1110 1110 0... ...1 .... 1111 .10. ....", K.MVE_INT, "Qd < Qn Rm"),  # VADD, VSUB
    ("111. 1110 0... ...0 .... 1111 .1.. ....", K.MVE_INT, "Qd < Qn Rm"),  # VHADD, VQADD, ...
    ("111. 1110 0... ...0 .... 1111 .0.. ....", K.MVE_INT, "Qd < Qn Qm"),  # VCADD, VHCADD
    ("1111 1110 0... ...1 ...1 1110 .11. ....", K.MVE_INT, "Qd < Qn Rm"),  # VBRSR
    ("111. 1110 0... .... .... 1110 .1.. ....", K.MVE_MUL, "Qd < Qn Qd Rm"),
    ("111. 1110 0... .... .... 1110 .0.. ....", K.MVE_MUL, "Qd < Qn Qm"),
    # EE and FE, upper half: reductions and shifts that widen or narrow
    ("1110 1110 1.1. .... .... 1111 1100 ....", K.MVE_INT, "Qd < Qd Rm"),  # VSHLC
    ("111. 1110 1.0. .... .... 1111 .1.. ....", K.MVE_NARROW, "Qd < Qd Qm"),  # VSHRN
    ("111. 1110 1.1. .... .... 1111 .1.. ....", K.MVE_INT, "Qd < Qm"),  # VMOVL, VSHLL
    ("111. 1110 1110 .... .... 1111 .0.. ...0", K.MVE_INT_REDUCE, "Rt < Rt Qm"),  # VMAXV
    ("111. 1110 10.. ...0 .... 1111 00.0 ...1", K.MVE_INT_REDUCE, "Rt < Rt Qn Qm"),  # VABAV
    ("111. 1110 1111 .... .... 111. .0.. ....", K.MVE_REDUCE, "Rlo < Ra Qn Qm"),  # VMLADAV, VADDV
    ("111. 1110 1... .... .... 111. .0.. ....", K.MVE_REDUCE, "Rlo Rhi < Ra Qn Qm"),  # VMLALDAV
    # EF and FF, three registers
    ("111. 1111 0... .... .... 0100 .1.1 ....", K.MVE_INT_SLOW, "Qd < Qn Qm"),  # VQSHL
    ("111. 1111 0... .... .... 0101 .1.. ....", K.MVE_INT_SLOW, "Qd < Qn Qm"),  # VRSHL, VQRSHL
    ("111. 1111 0... .... .... 0... .1.. ....", K.MVE_INT, "Qd < Qn Qm"),
    ("111. 1111 0... .... .... 1000 .1.0 ....", K.MVE_INT, "Qd < Qn Qm"),  # VADD, VSUB
    ("111. 1111 0... .... .... 1001 .1.1 ....", K.MVE_MUL, "Qd < Qn Qm"),
    ("111. 1111 0... .... .... 1011 .1.. ....", K.MVE_MUL, "Qd < Qn Qm"),  # VQDMULH
    ("111. 1111 0... .... .... 1100 .1.1 ....", K.MVE_MUL, "Qd < Qn Qm Qd"),  # VFMA
    ("111. 1111 0... .... .... 1101 .1.1 ....", K.MVE_MUL, "Qd < Qn Qm"),
    ("111. 1111 0... .... .... 1101 .1.0 ....", K.MVE_FLOAT, "Qd < Qn Qm"),
    ("111. 1111 0... .... .... 1111 .1.1 ....", K.MVE_FLOAT, "Qd < Qn Qm"),  # VMAXNM
    # EF and FF, immediates and two registers
    ("111. 1111 1.00 0... .... .... 01.1 ....", K.MVE_INT, "Qd < Qd"),  # VMOV, VMVN, VORR, VBIC
    ("111. 1111 1... .... .... 0010 .1.1 ....", K.MVE_INT_SLOW, "Qd < Qm"),  # VRSHR
    ("111. 1111 1... .... .... 011. .1.1 ....", K.MVE_INT_SLOW, "Qd < Qm"),  # VQSHL
    ("111. 1111 1... .... .... 0... .1.1 ....", K.MVE_INT, "Qd < Qm Qd"),  # VSHR, VSHL, VSLI, VSRI
    ("111. 1111 1... .... .... 11.. .1.1 ....", K.MVE_MUL, "Qd < Qm"),  # VCVT with a fixed point
    ("1111 1111 1.11 ..11 .... 0... .1.0 ....", K.MVE_MUL, "Qd < Qm"),  # VCVT
    ("1111 1111 1.11 ..10 .... 01.. .1.0 ....", K.MVE_MUL, "Qd < Qm"),  # VRINT
    ("1111 1111 1.11 ..01 .... 0111 .1.0 ....", K.MVE_FLOAT, "Qd < Qm"),  # VABS, VNEG
    ("1111 1111 1.11 .... .... 0... .1.0 ....", K.MVE_INT, "Qd < Qm"),  # VREV, VCLZ, VMVN, ...
)
# fmt: on

WIDE: tuple[Row, ...] = _SCALAR + _FLOAT + _VECTOR
