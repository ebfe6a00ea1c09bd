// Quantization of floats, 16 at a time, with an FPU. quantize_per_tensor.cpp has the contract.
.syntax unified
.thumb

#ifdef __ARM_FP

.macro FOUR_BYTES a, b, c, d
  vmov    r4, r5, \a, \b
  vmov    r6, r7, \c, \d
  qadd    r4, r4, r3
  qadd    r5, r5, r3
  qadd    r6, r6, r3
  qadd    r7, r7, r3
  ssat    r4, #8, r4
  ssat    r5, #8, r5
  ssat    r6, #8, r6
  ssat    r7, #8, r7
  bfi     r4, r5, #8, #8
  bfi     r6, r7, #8, #8
  pkhbt   r4, r4, r6, lsl #16
  str     r4, [r1], #4
.endm

  .section .text.rt_dsp_quantize, "ax"
  .global rt_dsp_quantize
  .type rt_dsp_quantize, %function
  .thumb_func
rt_dsp_quantize:
  push    {r4-r7, lr}
  vpush   {s16-s31}
  vldr    s0, [r3]
  ldr     r3, [r3, #4]
  cmp     r2, #0
  beq     2f
1:
  vldm    r0!, {s16-s31}
  .irp    k, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
  vmul.f32 s\k, s\k, s0
  .endr
  // A NaN makes the sum one; so may infinities, which does no harm.
  vadd.f32 s1, s16, s17
  .irp    k, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
  vadd.f32 s1, s1, s\k
  .endr
  vcmp.f32 s1, s1
  vmrs    APSR_nzcv, fpscr
  bvs     2f
  .irp    k, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
  vcvtr.s32.f32 s\k, s\k
  .endr
  FOUR_BYTES s16, s17, s18, s19
  FOUR_BYTES s20, s21, s22, s23
  FOUR_BYTES s24, s25, s26, s27
  FOUR_BYTES s28, s29, s30, s31
  subs    r2, r2, #1
  bne.w   1b
2:
  mov     r0, r2
  vpop    {s16-s31}
  pop     {r4-r7, pc}
  .size rt_dsp_quantize, . - rt_dsp_quantize

#endif
