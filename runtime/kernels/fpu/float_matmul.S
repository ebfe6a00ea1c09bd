// Products of one float row with a matrix, with a single-precision FPU. float_dot.hpp has the
// contracts.
.syntax unified
.thumb

// struct Dot1 and struct Columns
.equ M_WEIGHTS, 12
.equ M_WEIGHTS_ROW, 16
.equ M_BLOCKS, 24

.macro BEGIN name
  .section .text.\name, "ax"
  .align 2
  .global \name
  .type \name, %function
  .thumb_func
\name:
  push      {r4-r11, lr}
  vpush     {s16-s31}
.endm

.macro NEXT_BLOCK first
  ldr       r12, [r0, #M_BLOCKS]
  subs      r12, r12, #1
  str       r12, [r0, #M_BLOCKS]
  bne       \first
  vpop      {s16-s31}
  pop       {r4-r11, pc}
.endm

// One term of the sums s0-s3, times x.
.macro TERM_OF_4 a, b, c, d, x
  vmul.f32  s24, \a, \x
  vmul.f32  s25, \b, \x
  vmul.f32  s26, \c, \x
  vmul.f32  s27, \d, \x
  vadd.f32  s0, s0, s24
  vadd.f32  s1, s1, s25
  vadd.f32  s2, s2, s26
  vadd.f32  s3, s3, s27
.endm

  BEGIN     rt_float_dot1
1:                                    // four rows of weights
  ldr       r1, [r0]
  ldrd      r2, r6, [r0, #M_WEIGHTS]
  ldr       r7, [r0, #20]             // depth
  add       r3, r2, r6
  add       r4, r3, r6
  add       r5, r4, r6
  add       r6, r6, r5
  str       r6, [r0, #M_WEIGHTS]
  movs      r6, #0
  vmov      d0, r6, r6
  vmov      d1, r6, r6
  lsrs      r6, r7, #2
  beq       3f
2:
  vldmia    r1!, {s28-s31}
  vldmia    r2!, {s4-s7}
  vldmia    r3!, {s8-s11}
  vldmia    r4!, {s12-s15}
  vldmia    r5!, {s16-s19}
  TERM_OF_4 s4, s8, s12, s16, s28
  TERM_OF_4 s5, s9, s13, s17, s29
  TERM_OF_4 s6, s10, s14, s18, s30
  TERM_OF_4 s7, s11, s15, s19, s31
  subs      r6, r6, #1
  bne       2b
3:
  ands      r6, r7, #3
  beq       5f
4:
  vldmia    r1!, {s28}
  vldmia    r2!, {s4}
  vldmia    r3!, {s8}
  vldmia    r4!, {s12}
  vldmia    r5!, {s16}
  TERM_OF_4 s4, s8, s12, s16, s28
  subs      r6, r6, #1
  bne       4b
5:
  ldrd      r1, r2, [r0, #4]          // out, bias
  cbz       r2, 6f
  vldmia    r2!, {s4-s7}
  vadd.f32  s0, s0, s4
  vadd.f32  s1, s1, s5
  vadd.f32  s2, s2, s6
  vadd.f32  s3, s3, s7
6:
  vstmia    r1!, {s0-s3}
  strd      r1, r2, [r0, #4]
  NEXT_BLOCK 1b
  .size rt_float_dot1, . - rt_float_dot1

// One term of the sums s0-s7, times x.
.macro TERM_OF_8 x
  vldm      r2, {s16-s23}
  add       r2, r2, r3
  vmul.f32  s24, s16, \x
  vmul.f32  s25, s17, \x
  vmul.f32  s26, s18, \x
  vmul.f32  s27, s19, \x
  vmul.f32  s28, s20, \x
  vmul.f32  s29, s21, \x
  vmul.f32  s30, s22, \x
  vmul.f32  s31, s23, \x
  vadd.f32  s0, s0, s24
  vadd.f32  s1, s1, s25
  vadd.f32  s2, s2, s26
  vadd.f32  s3, s3, s27
  vadd.f32  s4, s4, s28
  vadd.f32  s5, s5, s29
  vadd.f32  s6, s6, s30
  vadd.f32  s7, s7, s31
.endm

  BEGIN     rt_float_columns
1:                                    // eight columns
  ldr       r1, [r0]
  ldrd      r2, r3, [r0, #M_WEIGHTS]
  ldr       r4, [r0, #20]             // depth
  add       r5, r2, #32
  str       r5, [r0, #M_WEIGHTS]
  movs      r5, #0
  vmov      d0, r5, r5
  vmov      d1, r5, r5
  vmov      d2, r5, r5
  vmov      d3, r5, r5
  lsrs      r5, r4, #1
  beq       3f
2:
  vldmia    r1!, {s8-s9}
  TERM_OF_8 s8
  TERM_OF_8 s9
  subs      r5, r5, #1
  bne       2b
3:
  lsls      r5, r4, #31
  beq       4f
  vldmia    r1!, {s8}
  TERM_OF_8 s8
4:
  ldrd      r1, r2, [r0, #4]          // out, bias
  cbz       r2, 5f
  vldmia    r2!, {s8-s15}
  vadd.f32  s0, s0, s8
  vadd.f32  s1, s1, s9
  vadd.f32  s2, s2, s10
  vadd.f32  s3, s3, s11
  vadd.f32  s4, s4, s12
  vadd.f32  s5, s5, s13
  vadd.f32  s6, s6, s14
  vadd.f32  s7, s7, s15
5:
  vstmia    r1!, {s0-s7}
  strd      r1, r2, [r0, #4]
  NEXT_BLOCK 1b
  .size rt_float_columns, . - rt_float_columns
