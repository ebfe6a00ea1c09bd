// Elementwise float kernels with a single-precision FPU, eight elements at a time.
// float_rows.hpp has the contracts.
.syntax unified
.thumb

.macro BEGIN name
  .section .text.\name, "ax"
  .align 2
  .global \name
  .type \name, %function
  .thumb_func
\name:
.endm

// A NaN is not less, and stays.
.macro RELU x
  vcmp.f32  \x, #0
  vmrs      APSR_nzcv, fpscr
  it        mi
  vmovmi.f32 \x, s15
.endm
.macro CLAMP x
  vcmp.f32  \x, s13
  vmrs      APSR_nzcv, fpscr
  it        mi
  vmovmi.f32 \x, s13
  vcmp.f32  \x, s14
  vmrs      APSR_nzcv, fpscr
  it        gt
  vmovgt.f32 \x, s14
.endm

.macro ADD_ONE x
  vadd.f32  \x, \x, s15
.endm
.macro MULTIPLY_ONE x
  vmul.f32  \x, \x, s15
.endm

.macro UNARY name, function
  lsrs      r12, r2, #3
  beq       2f
1:
  vldmia    r0!, {s0-s7}
  \function s0
  \function s1
  \function s2
  \function s3
  \function s4
  \function s5
  \function s6
  \function s7
  vstmia    r1!, {s0-s7}
  subs      r12, r12, #1
  bne       1b
2:
  ands      r2, r2, #7
  beq       4f
3:
  vldmia    r0!, {s0}
  \function s0
  vstmia    r1!, {s0}
  subs      r2, r2, #1
  bne       3b
4:
  bx        lr
  .size \name, . - \name
.endm

  BEGIN     rt_float_relu
  movs      r12, #0
  vmov      s15, r12
  UNARY     rt_float_relu, RELU

  BEGIN     rt_float_clamp
  vldm      r3, {s13-s14}
  UNARY     rt_float_clamp, CLAMP

  BEGIN     rt_float_sum_one
  vldr      s15, [r3]
  UNARY     rt_float_sum_one, ADD_ONE

  BEGIN     rt_float_product_one
  vldr      s15, [r3]
  UNARY     rt_float_product_one, MULTIPLY_ONE

  BEGIN     rt_float_sum
  push      {r4, lr}
  ldr       r4, [sp, #8]
  vpush     {s16}
  vldr      s16, [r4]
  lsrs      r12, r3, #3
  beq       2f
1:
  vldmia    r1!, {s8-s15}
  vldmia    r0!, {s0-s7}
  vmul.f32  s8, s8, s16
  vmul.f32  s9, s9, s16
  vmul.f32  s10, s10, s16
  vmul.f32  s11, s11, s16
  vmul.f32  s12, s12, s16
  vmul.f32  s13, s13, s16
  vmul.f32  s14, s14, s16
  vmul.f32  s15, s15, s16
  vadd.f32  s0, s0, s8
  vadd.f32  s1, s1, s9
  vadd.f32  s2, s2, s10
  vadd.f32  s3, s3, s11
  vadd.f32  s4, s4, s12
  vadd.f32  s5, s5, s13
  vadd.f32  s6, s6, s14
  vadd.f32  s7, s7, s15
  vstmia    r2!, {s0-s7}
  subs      r12, r12, #1
  bne       1b
2:
  ands      r3, r3, #7
  beq       4f
3:
  vldmia    r1!, {s8}
  vldmia    r0!, {s0}
  vmul.f32  s8, s8, s16
  vadd.f32  s0, s0, s8
  vstmia    r2!, {s0}
  subs      r3, r3, #1
  bne       3b
4:
  vpop      {s16}
  pop       {r4, pc}
  .size rt_float_sum, . - rt_float_sum

  BEGIN     rt_float_product
  lsrs      r12, r3, #3
  beq       2f
1:
  vldmia    r1!, {s8-s15}
  vldmia    r0!, {s0-s7}
  vmul.f32  s0, s0, s8
  vmul.f32  s1, s1, s9
  vmul.f32  s2, s2, s10
  vmul.f32  s3, s3, s11
  vmul.f32  s4, s4, s12
  vmul.f32  s5, s5, s13
  vmul.f32  s6, s6, s14
  vmul.f32  s7, s7, s15
  vstmia    r2!, {s0-s7}
  subs      r12, r12, #1
  bne       1b
2:
  ands      r3, r3, #7
  beq       4f
3:
  vldmia    r1!, {s8}
  vldmia    r0!, {s0}
  vmul.f32  s0, s0, s8
  vstmia    r2!, {s0}
  subs      r3, r3, #1
  bne       3b
4:
  bx        lr
  .size rt_float_product, . - rt_float_product

  BEGIN     rt_float_scale
  push      {r4-r8, lr}
  vpush     {s16-s23}
  ldm       r2, {r4-r7}               // scale, shift, channels, pixels
1:                                    // a pixel
  mov       r2, r4
  mov       r3, r5
  lsrs      r12, r6, #3
  beq       3f
2:
  vldmia    r0!, {s0-s7}
  vldmia    r2!, {s8-s15}
  vldmia    r3!, {s16-s23}
  vmul.f32  s0, s0, s8
  vmul.f32  s1, s1, s9
  vmul.f32  s2, s2, s10
  vmul.f32  s3, s3, s11
  vmul.f32  s4, s4, s12
  vmul.f32  s5, s5, s13
  vmul.f32  s6, s6, s14
  vmul.f32  s7, s7, s15
  vadd.f32  s0, s0, s16
  vadd.f32  s1, s1, s17
  vadd.f32  s2, s2, s18
  vadd.f32  s3, s3, s19
  vadd.f32  s4, s4, s20
  vadd.f32  s5, s5, s21
  vadd.f32  s6, s6, s22
  vadd.f32  s7, s7, s23
  vstmia    r1!, {s0-s7}
  subs      r12, r12, #1
  bne       2b
3:
  ands      r12, r6, #7
  beq       5f
4:
  vldmia    r0!, {s0}
  vldmia    r2!, {s8}
  vldmia    r3!, {s16}
  vmul.f32  s0, s0, s8
  vadd.f32  s0, s0, s16
  vstmia    r1!, {s0}
  subs      r12, r12, #1
  bne       4b
5:
  subs      r7, r7, #1
  bne       1b
  vpop      {s16-s23}
  pop       {r4-r8, pc}
  .size rt_float_scale, . - rt_float_scale
