// Normalization of float rows with a single-precision FPU. float_norm.hpp has the contracts.
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

  BEGIN     rt_float_sums
  push      {r4-r8, lr}
  vpush     {s16-s19}
  ldm       r0, {r4-r7}
  movs      r12, #0
  vmov      d0, r12, r12
  vmov      d1, r12, r12
  lsrs      r12, r1, #2
  beq       2f
1:
  vldmia    r4!, {s4-s7}
  vldmia    r5!, {s8-s11}
  vldmia    r6!, {s12-s15}
  vldmia    r7!, {s16-s19}
  vadd.f32  s0, s0, s4
  vadd.f32  s1, s1, s8
  vadd.f32  s2, s2, s12
  vadd.f32  s3, s3, s16
  vadd.f32  s0, s0, s5
  vadd.f32  s1, s1, s9
  vadd.f32  s2, s2, s13
  vadd.f32  s3, s3, s17
  vadd.f32  s0, s0, s6
  vadd.f32  s1, s1, s10
  vadd.f32  s2, s2, s14
  vadd.f32  s3, s3, s18
  vadd.f32  s0, s0, s7
  vadd.f32  s1, s1, s11
  vadd.f32  s2, s2, s15
  vadd.f32  s3, s3, s19
  subs      r12, r12, #1
  bne       1b
2:
  ands      r12, r1, #3
  beq       4f
3:
  vldmia    r4!, {s4}
  vldmia    r5!, {s8}
  vldmia    r6!, {s12}
  vldmia    r7!, {s16}
  vadd.f32  s0, s0, s4
  vadd.f32  s1, s1, s8
  vadd.f32  s2, s2, s12
  vadd.f32  s3, s3, s16
  subs      r12, r12, #1
  bne       3b
4:
  vstm      r2, {s0-s3}
  vpop      {s16-s19}
  pop       {r4-r8, pc}
  .size rt_float_sums, . - rt_float_sums

  BEGIN     rt_float_squares
  push      {r4-r8, lr}
  vpush     {s16-s23}
  vldm      r2, {s20-s23}
  ldm       r0, {r4-r7}
  movs      r12, #0
  vmov      d0, r12, r12
  vmov      d1, r12, r12
  lsrs      r12, r1, #2
  beq       2f
1:
  vldmia    r4!, {s4-s7}
  vldmia    r5!, {s8-s11}
  vldmia    r6!, {s12-s15}
  vldmia    r7!, {s16-s19}
  vsub.f32  s4, s4, s20
  vsub.f32  s8, s8, s21
  vsub.f32  s12, s12, s22
  vsub.f32  s16, s16, s23
  vsub.f32  s5, s5, s20
  vsub.f32  s9, s9, s21
  vsub.f32  s13, s13, s22
  vsub.f32  s17, s17, s23
  vsub.f32  s6, s6, s20
  vsub.f32  s10, s10, s21
  vsub.f32  s14, s14, s22
  vsub.f32  s18, s18, s23
  vsub.f32  s7, s7, s20
  vsub.f32  s11, s11, s21
  vsub.f32  s15, s15, s22
  vsub.f32  s19, s19, s23
  vmul.f32  s4, s4, s4
  vmul.f32  s8, s8, s8
  vmul.f32  s12, s12, s12
  vmul.f32  s16, s16, s16
  vmul.f32  s5, s5, s5
  vmul.f32  s9, s9, s9
  vmul.f32  s13, s13, s13
  vmul.f32  s17, s17, s17
  vmul.f32  s6, s6, s6
  vmul.f32  s10, s10, s10
  vmul.f32  s14, s14, s14
  vmul.f32  s18, s18, s18
  vmul.f32  s7, s7, s7
  vmul.f32  s11, s11, s11
  vmul.f32  s15, s15, s15
  vmul.f32  s19, s19, s19
  vadd.f32  s0, s0, s4
  vadd.f32  s1, s1, s8
  vadd.f32  s2, s2, s12
  vadd.f32  s3, s3, s16
  vadd.f32  s0, s0, s5
  vadd.f32  s1, s1, s9
  vadd.f32  s2, s2, s13
  vadd.f32  s3, s3, s17
  vadd.f32  s0, s0, s6
  vadd.f32  s1, s1, s10
  vadd.f32  s2, s2, s14
  vadd.f32  s3, s3, s18
  vadd.f32  s0, s0, s7
  vadd.f32  s1, s1, s11
  vadd.f32  s2, s2, s15
  vadd.f32  s3, s3, s19
  subs      r12, r12, #1
  bne       1b
2:
  ands      r12, r1, #3
  beq       4f
3:
  vldmia    r4!, {s4}
  vldmia    r5!, {s8}
  vldmia    r6!, {s12}
  vldmia    r7!, {s16}
  vsub.f32  s4, s4, s20
  vsub.f32  s8, s8, s21
  vsub.f32  s12, s12, s22
  vsub.f32  s16, s16, s23
  vmul.f32  s4, s4, s4
  vmul.f32  s8, s8, s8
  vmul.f32  s12, s12, s12
  vmul.f32  s16, s16, s16
  vadd.f32  s0, s0, s4
  vadd.f32  s1, s1, s8
  vadd.f32  s2, s2, s12
  vadd.f32  s3, s3, s16
  subs      r12, r12, #1
  bne       3b
4:
  vstm      r3, {s0-s3}
  vpop      {s16-s23}
  pop       {r4-r8, pc}
  .size rt_float_squares, . - rt_float_squares

  BEGIN     rt_float_normalize
  push      {r4, lr}
  vpush     {s16-s25}
  vldmia    r3!, {s24-s25}
  ldrd      r3, r4, [r3]
  lsrs      r12, r2, #3
  beq       2f
1:
  vldmia    r0!, {s0-s7}
  vldmia    r3!, {s8-s15}
  vldmia    r4!, {s16-s23}
  vsub.f32  s0, s0, s24
  vsub.f32  s1, s1, s24
  vsub.f32  s2, s2, s24
  vsub.f32  s3, s3, s24
  vsub.f32  s4, s4, s24
  vsub.f32  s5, s5, s24
  vsub.f32  s6, s6, s24
  vsub.f32  s7, s7, s24
  vmul.f32  s0, s0, s25
  vmul.f32  s1, s1, s25
  vmul.f32  s2, s2, s25
  vmul.f32  s3, s3, s25
  vmul.f32  s4, s4, s25
  vmul.f32  s5, s5, s25
  vmul.f32  s6, s6, s25
  vmul.f32  s7, s7, s25
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
  bne       1b
2:
  ands      r2, r2, #7
  beq       4f
3:
  vldmia    r0!, {s0}
  vldmia    r3!, {s8}
  vldmia    r4!, {s16}
  vsub.f32  s0, s0, s24
  vmul.f32  s0, s0, s25
  vmul.f32  s0, s0, s8
  vadd.f32  s0, s0, s16
  vstmia    r1!, {s0}
  subs      r2, r2, #1
  bne       3b
4:
  vpop      {s16-s25}
  pop       {r4, pc}
  .size rt_float_normalize, . - rt_float_normalize
