// Elementwise kernels with Helium. elementwise.hpp has the contracts.
.syntax unified
.thumb

  .section .text.rt_mve_add, "ax"
  .global rt_mve_add
  .type rt_mve_add, %function
  .thumb_func
rt_mve_add:
  push    {r4-r9, lr}
  ldm     r3, {r4, r5, r6, r7, r8, r9}  // tables, multiplier, shift, offset, count
  wlstp.32 lr, r9, 2f
1:
  vldrb.u32 q0, [r0], #4
  vldrb.u32 q1, [r1], #4
  vldrw.u32 q2, [r4, q0, uxtw #2]
  vldrw.u32 q3, [r5, q1, uxtw #2]
  vadd.i32 q2, q2, q3
  vqrdmulh.s32 q2, q2, r6
  vshr.s32 q3, q2, #31
  vadd.i32 q2, q2, q3
  vrshl.s32 q2, r7
  vadd.i32 q2, q2, r8
  vqmovnb.s32 q2, q2
  vqmovnb.s16 q2, q2
  vstrb.32 q2, [r2], #4
  letp    lr, 1b
2:
  pop     {r4-r9, pc}
  .size rt_mve_add, . - rt_mve_add

.macro EXTREME name, instruction
  .section .text.\name, "ax"
  .global \name
  .type \name, %function
  .thumb_func
\name:
  push    {r4, lr}
  wlstp.8 lr, r3, 2f
1:
  vldrb.8 q0, [r0], #16
  vldrb.8 q1, [r1], #16
  \instruction q0, q0, q1
  vstrb.8 q0, [r2], #16
  letp    lr, 1b
2:
  pop     {r4, pc}
  .size \name, . - \name
.endm

EXTREME rt_mve_maximum, vmax.s8
EXTREME rt_mve_minimum, vmin.s8

  .section .text.rt_mve_look_up, "ax"
  .global rt_mve_look_up
  .type rt_mve_look_up, %function
  .thumb_func
rt_mve_look_up:
  push    {r4, lr}
  vmov.i8 q2, #0x80
  wlstp.8 lr, r3, 2f
1:
  vldrb.8 q0, [r0], #16
  veor    q0, q0, q2
  vldrb.u8 q1, [r1, q0]
  vstrb.8 q1, [r2], #16
  letp    lr, 1b
2:
  pop     {r4, pc}
  .size rt_mve_look_up, . - rt_mve_look_up

  .section .text.rt_mve_multiply, "ax"
  .global rt_mve_multiply
  .type rt_mve_multiply, %function
  .thumb_func
rt_mve_multiply:
  push    {r4-r9, lr}
  ldm     r3, {r4, r5, r6, r7, r8, r9}  // zero points, multiplier, shift, offset, count
  wlstp.32 lr, r9, 2f
1:
  vldrb.s32 q0, [r0], #4
  vldrb.s32 q1, [r1], #4
  vsub.i32 q0, q0, r4
  vsub.i32 q1, q1, r5
  vmul.i32 q2, q0, q1
  vqrdmulh.s32 q2, q2, r6
  vshr.s32 q3, q2, #31
  vadd.i32 q2, q2, q3
  vrshl.s32 q2, r7
  vadd.i32 q2, q2, r8
  vqmovnb.s32 q2, q2
  vqmovnb.s16 q2, q2
  vstrb.32 q2, [r2], #4
  letp    lr, 1b
2:
  pop     {r4-r9, pc}
  .size rt_mve_multiply, . - rt_mve_multiply

#if __ARM_FEATURE_MVE & 2

  .section .text.rt_mve_quantize, "ax"
  .global rt_mve_quantize
  .type rt_mve_quantize, %function
  .thumb_func
rt_mve_quantize:
  push    {r4, lr}
  vpush   {d8-d13}
  ldrd    r4, r3, [r3]                // inverse scale, zero point
  vmov.i32 q6, #0
  dls     lr, r2
1:
  vld40.32 {q0, q1, q2, q3}, [r0]
  vld41.32 {q0, q1, q2, q3}, [r0]
  vld42.32 {q0, q1, q2, q3}, [r0]
  vld43.32 {q0, q1, q2, q3}, [r0]!
  vmul.f32 q0, q0, r4
  vmul.f32 q1, q1, r4
  // A NaN makes the sum one; so may infinities, which does no harm.
  vadd.f32 q6, q6, q0
  vmul.f32 q2, q2, r4
  vcvtn.s32.f32 q0, q0
  vadd.f32 q6, q6, q1
  vmul.f32 q3, q3, r4
  vcvtn.s32.f32 q1, q1
  vadd.f32 q6, q6, q2
  vqmovnb.s32 q4, q0
  vcvtn.s32.f32 q2, q2
  vadd.f32 q6, q6, q3
  vqmovnb.s32 q5, q1
  vcvtn.s32.f32 q3, q3
  vqmovnt.s32 q4, q2
  vqmovnt.s32 q5, q3
  vqadd.s16 q4, q4, r3
  vqadd.s16 q5, q5, r3
  vqmovnb.s16 q0, q4
  vqmovnt.s16 q0, q5
  vstrb.8 q0, [r1], #16
  le      lr, 1b
  vcmp.f32 ne, q6, q6
  vmrs    r0, p0
  vpop    {d8-d13}
  pop     {r4, pc}
  .size rt_mve_quantize, . - rt_mve_quantize

  .section .text.rt_mve_dequantize, "ax"
  .global rt_mve_dequantize
  .type rt_mve_dequantize, %function
  .thumb_func
rt_mve_dequantize:
  push    {r4, lr}
  ldrd    r12, r3, [r3]               // scale, zero point
  wlstp.32 lr, r2, 2f
1:
  vldrb.s32 q0, [r0], #4
  vsub.i32 q0, q0, r3
  vcvt.f32.s32 q0, q0
  vmul.f32 q0, q0, r12
  vstrw.32 q0, [r1], #16
  letp    lr, 1b
2:
  pop     {r4, pc}
  .size rt_mve_dequantize, . - rt_mve_dequantize

#endif
