// Products of float rows with a single-precision FPU (Cortex-M4, M7, M33). float_dot.hpp has the
// contracts. A product and a sum take a cycle each on a Cortex-M4, VMLA takes three (its technical
// reference manual, FPU instruction set).
.syntax unified
.thumb

// struct Dot
.equ D_OUT, 12
.equ D_BIAS, 24
.equ D_WEIGHTS, 28
.equ D_WEIGHTS_ROW, 32
.equ D_COUNT, 36
.equ D_ROWS, 40
.equ D_X_GAP, 44
.equ D_WEIGHTS_GAP, 48
.equ D_BLOCKS, 52

// Four terms of the sums of one channel, a, b and c, over three pixels.
.macro TERM a, b, c, x, y, z, weight
  vmul.f32  s28, \x, \weight
  vmul.f32  s29, \y, \weight
  vmul.f32  s30, \z, \weight
  vadd.f32  \a, \a, s28
  vadd.f32  \b, \b, s29
  vadd.f32  \c, \c, s30
.endm
.macro TERMS a, b, c, weights
  vldmia    \weights!, {s24-s27}
  TERM      \a, \b, \c, s12, s16, s20, s24
  TERM      \a, \b, \c, s13, s17, s21, s25
  TERM      \a, \b, \c, s14, s18, s22, s26
  TERM      \a, \b, \c, s15, s19, s23, s27
.endm

// s0-s3 and lr: four channels of a pixel, and its output.
.macro STORE first, last, a, b, c, d, out
  ldr       lr, [r0, \out]
  vadd.f32  \a, \a, s12
  vadd.f32  \b, \b, s13
  vadd.f32  \c, \c, s14
  vadd.f32  \d, \d, s15
  vstmia    lr!, {\first-\last}
  str       lr, [r0, \out]
.endm

  .section .text.rt_float_dot, "ax"
  .align 2
  .global rt_float_dot
  .type rt_float_dot, %function
  .thumb_func
rt_float_dot:
  push      {r4-r11, lr}
  vpush     {s16-s31}
1:                                    // four channels
  ldr       r1, [r0, #D_WEIGHTS]
  ldr       lr, [r0, #D_WEIGHTS_ROW]
  ldm       r0, {r5-r7}
  add       r2, r1, lr
  add       r3, r2, lr
  add       r4, r3, lr
  add       lr, lr, r4
  str       lr, [r0, #D_WEIGHTS]
  movs      lr, #0
  vmov      s0, lr
  vmov      s1, lr
  vmov      d1, lr, lr
  vmov      d2, lr, lr
  vmov      d3, lr, lr
  vmov      d4, lr, lr
  vmov      d5, lr, lr
  ldr       r9, [r0, #D_ROWS]
  ldr       r12, [r0, #D_COUNT]
  ldr       r10, [r0, #D_X_GAP]
  ldr       r11, [r0, #D_WEIGHTS_GAP]
  cmp       r9, #0
  beq       6f
2:                                    // a run
  lsrs      r8, r12, #2
  beq       4f
3:
  vldmia    r5!, {s12-s15}
  vldmia    r6!, {s16-s19}
  vldmia    r7!, {s20-s23}
  TERMS     s0, s4, s8, r1
  TERMS     s1, s5, s9, r2
  TERMS     s2, s6, s10, r3
  TERMS     s3, s7, s11, r4
  subs      r8, r8, #1
  bne       3b
4:
  ands      r8, r12, #3
  beq       8f
5:
  vldmia    r5!, {s12}
  vldmia    r6!, {s16}
  vldmia    r7!, {s20}
  vldmia    r1!, {s24}
  vldmia    r2!, {s25}
  vldmia    r3!, {s26}
  vldmia    r4!, {s27}
  TERM      s0, s4, s8, s12, s16, s20, s24
  TERM      s1, s5, s9, s12, s16, s20, s25
  TERM      s2, s6, s10, s12, s16, s20, s26
  TERM      s3, s7, s11, s12, s16, s20, s27
  subs      r8, r8, #1
  bne       5b
8:
  subs      r9, r9, #1
  beq       6f
  add       r5, r5, r10
  add       r6, r6, r10
  add       r7, r7, r10
  add       r1, r1, r11
  add       r2, r2, r11
  add       r3, r3, r11
  add       r4, r4, r11
  b         2b
6:
  ldr       lr, [r0, #D_BIAS]
  cmp       lr, #0
  beq       7f
  vldmia    lr!, {s12-s15}
  str       lr, [r0, #D_BIAS]
  b         9f
7:
  vmov      d6, lr, lr
  vmov      d7, lr, lr
9:
  STORE     s0, s3, s0, s1, s2, s3, #D_OUT
  STORE     s4, s7, s4, s5, s6, s7, #D_OUT+4
  STORE     s8, s11, s8, s9, s10, s11, #D_OUT+8
  ldr       lr, [r0, #D_BLOCKS]
  subs      lr, lr, #1
  str       lr, [r0, #D_BLOCKS]
  bne       1b
  vpop      {s16-s31}
  pop       {r4-r11, pc}
  .size rt_float_dot, . - rt_float_dot

// struct Lanes
.equ L_ROWS, 16
.equ L_X_COLUMN, 24
.equ L_BLOCKS, 40

  .section .text.rt_float_lanes, "ax"
  .align 2
  .global rt_float_lanes
  .type rt_float_lanes, %function
  .thumb_func
rt_float_lanes:
  push      {r4-r11, lr}
  vpush     {s16-s31}
1:                                    // eight channels
  ldr       r1, [r0]
  ldr       r2, [r0, #12]
  add       r3, r0, #L_ROWS
  ldm       r3, {r3-r8}               // rows, columns, x_column, x_gap, weights_column, weights_gap
  add       lr, r1, #32
  str       lr, [r0]
  add       lr, r2, #32
  str       lr, [r0, #12]
  movs      lr, #0
  vmov      d0, lr, lr
  vmov      d1, lr, lr
  vmov      d2, lr, lr
  vmov      d3, lr, lr
  cmp       r3, #0
  beq       4f
  cmp       r4, #0
  beq       4f
2:                                    // a row
  mov       r12, r4
3:
  vldm      r1, {s8-s15}
  vldm      r2, {s16-s23}
  vmul.f32  s24, s8, s16
  vmul.f32  s25, s9, s17
  vmul.f32  s26, s10, s18
  vmul.f32  s27, s11, s19
  vmul.f32  s28, s12, s20
  vmul.f32  s29, s13, s21
  vmul.f32  s30, s14, s22
  vmul.f32  s31, s15, s23
  vadd.f32  s0, s0, s24
  vadd.f32  s1, s1, s25
  vadd.f32  s2, s2, s26
  vadd.f32  s3, s3, s27
  vadd.f32  s4, s4, s28
  vadd.f32  s5, s5, s29
  vadd.f32  s6, s6, s30
  vadd.f32  s7, s7, s31
  add       r1, r1, r5
  add       r2, r2, r7
  subs      r12, r12, #1
  bne       3b
  add       r1, r1, r6
  add       r2, r2, r8
  subs      r3, r3, #1
  bne       2b
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
  ldr       lr, [r0, #L_BLOCKS]
  subs      lr, lr, #1
  str       lr, [r0, #L_BLOCKS]
  bne       1b
  vpop      {s16-s31}
  pop       {r4-r11, pc}
  .size rt_float_lanes, . - rt_float_lanes
