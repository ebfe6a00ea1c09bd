"""What objdump calls an instruction, and which kinds each mnemonic may be: written from the architecture manuals."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

from bench.estimate.kinds import Kind

K = Kind  # the table is read by the column

_MOV_R8_R8 = 0x46C0
_CONDITIONS = "eq|ne|cs|cc|mi|pl|vs|vc|hi|ls|ge|lt|gt|le"
_LINE = re.compile(r"\s*([0-9a-f]+):\t([0-9a-f]{4})(?: ([0-9a-f]{4}))? +\t(\S+)")


def disassemble(path: Path) -> Iterator[tuple[int, int, int, str]]:
    """Yield address, word, size and mnemonic of every instruction."""
    machine = ["-m", "armv8.1-m.main"] if is_v81(path) else []  # or it knows no vectors
    done = subprocess.run(
        ["arm-none-eabi-objdump", "-d", *machine, str(path)], capture_output=True, text=True, check=True
    )  # fmt: skip
    for line in done.stdout.splitlines():
        match = _LINE.match(line)
        if match and not match[4].startswith("."):
            size = 4 if match[3] else 2
            word = int(match[2] + (match[3] or ""), 16)
            # `mov r8, r8` is what Armv6-M pads with
            yield int(match[1], 16), word, size, "mov" if word == _MOV_R8_R8 else match[4]


def is_v81(path: Path) -> bool:
    """Whether the object is for Armv8.1-M."""
    done = subprocess.run(
        ["arm-none-eabi-readelf", "-A", str(path)], capture_output=True, text=True, check=True
    )
    return "Tag_CPU_arch: v8.1-M" in done.stdout


def kinds_of(mnemonic: str) -> set[K]:
    """Return the kinds that a mnemonic may be; empty if it is not known here."""
    name, _, element = mnemonic.partition(".")
    if name == "vmovlt" and element in (
        "f32",
        "f64",
    ):  # of floats it is a vmov under LT, no widening
        name = "vmov"
    bare = re.sub(f"(?:{_CONDITIONS})$", "", name)
    in_vector_block = re.sub("(?:t|e)$", "", name)
    for shorter in (name, bare, name.removesuffix("s"), bare.removesuffix("s"), in_vector_block):
        if shorter in _KINDS:
            return _KINDS[shorter]
    return set()


def _table(rows: dict[str, set[K]]) -> dict[str, set[K]]:
    return {name: kinds for names, kinds in rows.items() for name in names.split()}


_KINDS = _table(
    {
        "adc add and bic cmn cmp eor mvn orr orn rsb sbc sub teq tst neg": {K.ALU, K.ALU_SHIFTED},
        "addw subw movw movt adr cpy": {K.ALU},
        "mov": {K.ALU, K.SHIFT, K.BRANCH_INDIRECT},
        "asr lsl lsr ror rrx": {K.SHIFT},
        "bfc bfi sbfx ubfx": {K.BITFIELD},
        "sxtb sxth uxtb uxth sxtb16 uxtb16": {K.EXTEND},
        "sxtab sxtah uxtab uxtah sxtab16 uxtab16": {K.EXTEND_ADD},
        "ssat usat ssat16 usat16 qadd qsub qdadd qdsub": {K.SATURATE},
        "clz rbit rev rev16 revsh": {K.REVERSE},
        "sadd8 sadd16 ssub8 ssub16 sasx ssax uadd8 uadd16 usub8 usub16 shadd16 uhadd8": {K.SIMD},
        "qadd8 qadd16 qsub8 qsub16 uqadd16 uqsub8 sel pkhbt pkhtb": {K.SIMD},
        "qasx qsax uasx usax shasx shsax shadd8 shsub8 shsub16 uhadd16 uhsub8 uhsub16": {K.SIMD},
        "uhasx uhsax uqadd8 uqsub16 uqasx uqsax": {K.SIMD},
        "csel csinc csinv csneg cinc cinv cneg cset csetm": {K.SELECT},
        "asrl lsll lsrl sqrshr sqrshrl sqshl sqshll srshr srshrl": {K.LONG_SHIFT},
        "uqrshl uqrshll uqshl uqshll urshr urshrl": {K.LONG_SHIFT},
        "mul": {K.MUL},
        "mla mls": {K.MLA},
        "smulbb smulbt smultb smultt smulwb smulwt smuad smuadx smusd smusdx smmul smmulr usad8": {
            K.MUL_DSP
        },
        "smlabb smlabt smlatb smlatt smlawb smlad smladx smlsd smmla smmls usada8": {K.MLA_DSP},
        "smlawt smlsdx smmlar smmlsr": {K.MLA_DSP},
        "smull umull": {K.MULL},
        "smlal umlal umaal smlalbb smlalbt smlaltb smlaltt smlald smlaldx smlsld smlsldx": {K.MLAL},
        "sdiv udiv": {K.DIV},
        "ldr ldrt": {K.LOAD},
        "ldrb ldrh ldrsb ldrsh ldrbt ldrht": {K.LOAD_PART},
        "str strb strh strt strbt strht": {K.STORE},
        "ldrd": {K.LOAD_DUAL},
        "strd": {K.STORE_DUAL},
        "ldm ldmia ldmdb clrm": {K.LOAD_MULTIPLE},
        "pop": {K.LOAD_MULTIPLE, K.LOAD},
        "stm stmia stmdb": {K.STORE_MULTIPLE},
        "push": {K.STORE_MULTIPLE, K.STORE},
        "ldrex ldrexb ldrexh lda ldaex": {K.LOAD_EXCLUSIVE},
        "strex strexb strexh stl stlex": {K.STORE_EXCLUSIVE},
        "pld pldw": {K.PRELOAD},
        "b": {K.BRANCH, K.BRANCH_IF},
        "cbz cbnz": {K.COMPARE_BRANCH},
        "bl": {K.CALL},
        "blx blxns": {K.CALL_INDIRECT},
        "bx bxns": {K.BRANCH_INDIRECT},
        "tbb tbh": {K.TABLE_BRANCH},
        "dls dlstp wls wlstp": {K.LOOP_START},
        "le letp": {K.LOOP_END},
        "it itt ite ittt itte itet itee itttt ittte ittet ittee itett itete iteet iteee": {K.IT},
        "nop": {K.NOP},
        "sev wfi wfe yield csdb": {K.HINT},
        "dmb dsb isb clrex": {K.BARRIER},
        "cpsid cpsie mrs msr svc udf bkpt lctp sg tt": {K.SYSTEM},
        "vldr": {K.VLOAD},
        "vstr": {K.VSTORE, K.VSTATUS},
        "vldmia vldmdb vpop vscclrm": {K.VLOAD_MULTIPLE},
        "vstmia vstmdb vpush": {K.VSTORE_MULTIPLE},
        "vmov": {K.VMOV, K.VMOV_CORE, K.VMOV_PAIR, K.MVE_LANE, K.MVE_INT},
        "vmrs vmsr": {K.VSTATUS},
        "vadd vsub": {K.VADD, K.MVE_INT, K.MVE_FLOAT},
        "vneg vabs": {K.VADD, K.MVE_INT, K.MVE_FLOAT},
        "vmul vnmul": {K.VMUL, K.MVE_MUL},
        "vmla vmls vnmla vnmls": {K.VMLA, K.MVE_MUL},
        "vfma vfms vfnma vfnms": {K.VFMA, K.MVE_MUL},
        "vdiv": {K.VDIV},
        "vsqrt": {K.VSQRT},
        "vcmp vcmpe": {K.VCMP, K.MVE_COMPARE},
        "vcvt vcvta vcvtn vcvtr vrintn vrintz": {K.VCVT, K.MVE_MUL},
        "vcvtb vcvtt": {K.VCVT, K.MVE_NARROW},
        "vrinta vrintx vrintm vrintp vrintr vcvtm vcvtp": {K.VCVT, K.MVE_MUL},
        "vmaxnm vminnm": {K.VSELECT, K.MVE_FLOAT},
        "vselgt vselge vseleq vselvs": {K.VSELECT},
        "vmovx vins": {K.VMOV},
        "vldrb vldrh": {K.MVE_LOAD, K.MVE_GATHER},
        "vldrw vldrd": {K.MVE_LOAD, K.MVE_GATHER},
        "vld20 vld21 vld40 vld41 vld42 vld43": {K.MVE_LOAD},
        "vstrb vstrh vstrw vstrd": {K.MVE_STORE, K.MVE_SCATTER},
        "vst20 vst21 vst40 vst41 vst42 vst43": {K.MVE_STORE},
        "vabd": {K.MVE_INT, K.MVE_FLOAT},
        "vcadd": {K.MVE_INT, K.MVE_FLOAT},
        "vand vbic vbrsr vcls vclz vddup vdwdup veor vhadd vhcadd vhsub vidup viwdup": {K.MVE_INT},
        "vmax vmaxa vmin vmina vmovlb vmovlt vmvn vorn vorr vpsel vqabs vqadd vqneg": {K.MVE_INT},
        "vqsub vrev16 vrev32 vrev64 vrhadd vshl vshlc vshllb vshllt vshr vsli vsri": {K.MVE_INT},
        "vadc vsbc vqshl vqrshl vrshl vrshr": {K.MVE_INT_SLOW},
        "vmovnb vmovnt vqmovnb vqmovnt vqmovunb vqmovunt vqrshrnb vqrshrnt": {K.MVE_NARROW},
        "vqrshrunb vqrshrunt vqshrnb vqshrnt vqshrunb vqshrunt": {K.MVE_NARROW},
        "vrshrnb vrshrnt vshrnb vshrnt": {K.MVE_NARROW},
        "vabav vmaxav vmaxv vminav vminv vmaxnmv vmaxnmav vminnmv": {K.MVE_INT_REDUCE},
        "vcmla vcmul vfmas vmlas vmulh vrmulh vmullb vmullt vqdmulh vqrdmulh": {K.MVE_MUL},
        "vqdmladh vqdmladhx vqrdmladh vqrdmladhx vqdmlsdh vqdmlsdhx vqrdmlsdh": {K.MVE_MUL},
        "vqrdmlsdhx vqdmlah vqrdmlah vqdmlash vqrdmlash": {K.MVE_MUL},
        "vqdmullb vqdmullt": {K.MVE_MUL},
        "vaddv vaddva vaddlv vaddlva vmlav vmlava vmladavx vmlalv vmlalva": {K.MVE_REDUCE},
        "vmladav vmladava vmladavax vmlaldav vmlaldava vmlaldavx vmlaldavax": {K.MVE_REDUCE},
        "vmlsdav vmlsdava vmlsdavx vmlsdavax vmlsldav vmlsldava": {K.MVE_REDUCE},
        "vrmlalvh vrmlalvha vrmlaldavh vrmlaldavha": {K.MVE_REDUCE},
        "vmaxnma vminnma": {K.MVE_FLOAT},
        "vdup": {K.MVE_LANE},
        "vpt": {K.MVE_COMPARE},
        "vpst vpnot vctp": {K.MVE_PREDICATE},
    }
)
