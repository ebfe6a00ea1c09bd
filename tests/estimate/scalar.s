@ Scalar, DSP and floating-point instructions that compilers seldom use, so that the project's own code has few of
@ them. Assembled for -mcpu=cortex-m7 by test_decode.py.
.syntax unified
.thumb
adcs r0, r1
adc.w r0, r1, r2
add r8, r9
add sp, #16
add r0, sp, #16
addw r0, r1, #4095
adr r0, 1f
ands r0, r1
asrs r0, r1, #3
asr.w r0, r1, r2
bfc r0, #4, #8
bfi r0, r1, #4, #8
bics r0, r1
bkpt 0
clrex
clz r0, r1
cmn r0, r1
cmp r0, #1
cmp r8, r9
cpsid i
dmb sy
eor.w r0, r1, r2, lsl #3
ldmdb r0!, {r1, r2, r3}
ldmia r0!, {r1, r2}
ldr r0, 1f
ldr r0, [r1, r2]
ldr r0, [r1], #4
ldr r0, [r1, #4]!
ldr.w r0, [r1, r2, lsl #2]
ldr.w r0, [r1, #-4]
ldrb r0, [r1, #1]
ldrb r0, [r1], #1
ldrd r0, r1, [r2], #8
ldrd r0, r1, [r2, #8]
ldrex r0, [r1]
ldrexb r0, [r1]
ldrh r0, [r1, r2]
ldrsb r0, [r1, r2]
ldrsb.w r0, [r1, #5]
ldrsh r0, [r1, r2]
ldrsh.w r0, [r1, #-5]
ldrt r0, [r1, #4]
lsls r0, r1
mla r0, r1, r2, r3
mls r0, r1, r2, r3
movs r0, #1
movt r0, #1234
movw r0, #1234
mrs r0, primask
msr primask, r0
muls r0, r1, r0
mul.w r0, r1, r2
mvns r0, r1
mvn.w r0, r1, lsl #3
nop
nop.w
orn r0, r1, r2
orn r0, r1, #1
pkhbt r0, r1, r2, lsl #4
pkhtb r0, r1, r2, asr #4
pld [r0, #4]
pld [r0, r1]
pop {r4, pc}
pop.w {r4, r5, r8}
push {r4, lr}
push.w {r4, r5, r8}
qadd r0, r1, r2
qadd16 r0, r1, r2
qadd8 r0, r1, r2
qdadd r0, r1, r2
qdsub r0, r1, r2
qsub r0, r1, r2
rbit r0, r1
rev r0, r1
rev16 r0, r1
revsh r0, r1
rors r0, r1
ror.w r0, r1, #3
rrx r0, r1
rsbs r0, r1, #0
sadd16 r0, r1, r2
sadd8 r0, r1, r2
sasx r0, r1, r2
sbcs r0, r1
sbfx r0, r1, #3, #5
sdiv r0, r1, r2
sel r0, r1, r2
sev
shadd16 r0, r1, r2
smlabb r0, r1, r2, r3
smlatt r0, r1, r2, r3
smlad r0, r1, r2, r3
smladx r0, r1, r2, r3
smlal r0, r1, r2, r3
smlalbb r0, r1, r2, r3
smlald r0, r1, r2, r3
smlawb r0, r1, r2, r3
smlsd r0, r1, r2, r3
smlsld r0, r1, r2, r3
smmla r0, r1, r2, r3
smmls r0, r1, r2, r3
smmul r0, r1, r2
smmulr r0, r1, r2
smuad r0, r1, r2
smulbb r0, r1, r2
smull r0, r1, r2, r3
smulwb r0, r1, r2
smusd r0, r1, r2
ssat r0, #8, r1
ssat16 r0, #8, r1
ssax r0, r1, r2
ssub16 r0, r1, r2
stmdb r0!, {r1, r2, r3}
stmia r0!, {r1, r2}
str r0, [r1, r2]
str r0, [sp, #8]
str.w r0, [r1, #-4]
str r0, [r1], #4
str r0, [r1, #4]!
strb r0, [r1, r2]
strb.w r0, [r1, r2, lsl #1]
strd r0, r1, [r2, #8]
strex r0, r1, [r2]
strexh r0, r1, [r2]
strh r0, [r1, #2]
sub sp, #16
subw r0, r1, #4095
svc 0
sxtab r0, r1, r2
sxtab16 r0, r1, r2
sxtah r0, r1, r2, ror #8
sxtb r0, r1
sxtb.w r0, r1, ror #8
sxtb16 r0, r1
sxth r0, r1
tbb [r0, r1]
tbh [r0, r1, lsl #1]
teq r0, #1
tst r0, r1
uadd8 r0, r1, r2
ubfx r0, r1, #3, #5
udf #0
udiv r0, r1, r2
uhadd8 r0, r1, r2
umaal r0, r1, r2, r3
umlal r0, r1, r2, r3
umull r0, r1, r2, r3
uqadd16 r0, r1, r2
usad8 r0, r1, r2
usada8 r0, r1, r2, r3
usat r0, #8, r1
usat16 r0, #8, r1
usub8 r0, r1, r2
uxtab r0, r1, r2
uxtb r0, r1
uxtb16 r0, r1
uxth r0, r1
wfi
yield
1: beq 1b
beq.w 1b
b 1b
b.w 1b
bl 1b
blx r0
bx lr
cbz r0, 2f
cbnz r0, 2f
2: ite eq
moveq r0, #1
movne r0, #0
vabs.f32 s0, s1
vadd.f32 s0, s1, s2
vadd.f64 d0, d1, d2
vcmp.f32 s0, s1
vcmpe.f64 d0, #0
vcvt.f32.s32 s0, s1
vcvt.s32.f64 s0, d1
vcvt.f64.f32 d0, s1
vcvta.s32.f32 s0, s1
vcvtb.f32.f16 s0, s1
vdiv.f32 s0, s1, s2
vdiv.f64 d0, d1, d2
vfma.f32 s0, s1, s2
vfms.f64 d0, d1, d2
vfnma.f32 s0, s1, s2
vfnms.f32 s0, s1, s2
vldmia r0!, {s0-s3}
vldmdb r0!, {d0-d3}
vldr s0, [r0, #4]
vldr d0, [r0, #8]
vmaxnm.f32 s0, s1, s2
vminnm.f64 d0, d1, d2
vmla.f32 s0, s1, s2
vmls.f64 d0, d1, d2
vmov s0, r0
vmov r0, s0
vmov s0, s1, r0, r1
vmov r0, r1, s0, s1
vmov d0, r0, r1
vmov r0, r1, d0
vmov.f32 s0, #1.0
vmov.f64 d0, d1
vmov.32 d0[1], r0
vmrs r0, fpscr
vmrs APSR_nzcv, fpscr
vmsr fpscr, r0
vmul.f32 s0, s1, s2
vmul.f64 d0, d1, d2
vneg.f32 s0, s1
vnmla.f32 s0, s1, s2
vnmul.f32 s0, s1, s2
vpop {s16-s19}
vpush {d8-d11}
vrinta.f32 s0, s1
vrintx.f64 d0, d1
vrintz.f32 s0, s1
vselge.f32 s0, s1, s2
vseleq.f64 d0, d1, d2
vsqrt.f32 s0, s1
vsqrt.f64 d0, d1
vstmia r0!, {s0-s3}
vstr s0, [r0, #4]
vstr d0, [r0, #8]
vsub.f32 s0, s1, s2
.balign 4
1: nop
nop
