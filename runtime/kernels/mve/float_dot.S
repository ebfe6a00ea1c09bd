// Products of float rows with Helium, Armv8.1-M MVE with floats (Cortex-M55, M85).
// fpu/float_dot.hpp has the contracts.
#if defined(__ARM_FEATURE_MVE) && (__ARM_FEATURE_MVE & 2)
.syntax unified
.thumb

// struct Dot
.equ D_OUT, 16
.equ D_BIAS, 32
.equ D_WEIGHTS, 36
.equ D_WEIGHTS_ROW, 40
.equ D_COUNT, 44
.equ D_ROWS, 48
.equ D_X_GAP, 52
.equ D_WEIGHTS_GAP, 56
.equ D_BLOCKS, 60

// One term of the sums q0-q3 of four channels over the four pixels whose inputs are q4.
.macro TERM a, b, c, d
  vmul.f32    q5, q4, \a
  vmul.f32    q6, q4, \b
  vadd.f32    q0, q0, q5
  vmul.f32    q5, q4, \c
  vadd.f32    q1, q1, q6
  vmul.f32    q6, q4, \d
  vadd.f32    q2, q2, q5
  vadd.f32    q3, q3, q6
.endm

  .section .text.rt_float_dot, "ax"
  .align 2
  .global rt_float_dot
  .type rt_float_dot, %function
  .thumb_func
rt_float_dot:
  push        {r4-r11, lr}
  vpush       {d8-d15}
  sub         sp, sp, #8
1:                                    // four channels
  ldrd        r1, r5, [r0, #D_WEIGHTS]
  add         r2, r1, r5
  add         r3, r2, r5
  add         r4, r3, r5
  add         r5, r5, r4
  str         r5, [r0, #D_WEIGHTS]
  vmov.i32    q0, #0
  vmov.i32    q1, #0
  vmov.i32    q2, #0
  vmov.i32    q3, #0
  vldrw.u32   q7, [r0]
  movs        r5, #4
  vsub.i32    q7, q7, r5              // the loads below step before they read
  ldr         r5, [r0, #D_ROWS]
  cmp         r5, #0
  beq         6f
2:                                    // a run
  str         r5, [sp]
  ldr         r5, [r0, #D_COUNT]
  lsrs        lr, r5, #1
  beq         4f
  dls         lr, lr
3:
  ldrd        r5, r6, [r1], #8
  ldrd        r7, r8, [r2], #8
  ldrd        r9, r10, [r3], #8
  ldrd        r11, r12, [r4], #8
  vldrw.u32   q4, [q7, #4]!
  TERM        r5, r7, r9, r11
  vldrw.u32   q4, [q7, #4]!
  TERM        r6, r8, r10, r12
  le          lr, 3b
4:
  ldr         r5, [r0, #D_COUNT]
  lsls        r5, r5, #31
  beq         5f
  ldr         r5, [r1], #4
  ldr         r7, [r2], #4
  ldr         r9, [r3], #4
  ldr         r11, [r4], #4
  vldrw.u32   q4, [q7, #4]!
  TERM        r5, r7, r9, r11
5:
  ldr         r5, [sp]
  subs        r5, r5, #1
  beq         6f
  ldrd        r6, r7, [r0, #D_X_GAP]
  vadd.i32    q7, q7, r6
  add         r1, r1, r7
  add         r2, r2, r7
  add         r3, r3, r7
  add         r4, r4, r7
  b           2b
6:
  ldr         r5, [r0, #D_BIAS]
  vldrw.u32   q4, [r0, #D_OUT]
  cbz         r5, 7f
  ldm         r5!, {r6-r9}
  str         r5, [r0, #D_BIAS]
  vadd.f32    q0, q0, r6
  vadd.f32    q1, q1, r7
  vadd.f32    q2, q2, r8
  vadd.f32    q3, q3, r9
7:
  vstrw.32    q0, [q4]
  vstrw.32    q1, [q4, #4]
  vstrw.32    q2, [q4, #8]
  vstrw.32    q3, [q4, #12]
  movs        r5, #16
  vadd.i32    q4, q4, r5
  vstrw.32    q4, [r0, #D_OUT]
  ldr         r5, [r0, #D_BLOCKS]
  subs        r5, r5, #1
  str         r5, [r0, #D_BLOCKS]
  bne         1b
  add         sp, sp, #8
  vpop        {d8-d15}
  pop         {r4-r11, pc}
  .size rt_float_dot, . - rt_float_dot

// struct Lanes
.equ L_ROWS, 16
.equ L_BLOCKS, 40

  .section .text.rt_float_lanes, "ax"
  .align 2
  .global rt_float_lanes
  .type rt_float_lanes, %function
  .thumb_func
rt_float_lanes:
  push        {r4-r8, lr}
  vpush       {d8-d11}
1:                                    // eight channels
  ldr         r1, [r0]
  ldr         r2, [r0, #12]
  add         r3, r0, #L_ROWS
  ldm         r3, {r3-r8}             // rows, columns, x_column, x_gap, weights_column, weights_gap
  add         r12, r1, #32
  str         r12, [r0]
  add         r12, r2, #32
  str         r12, [r0, #12]
  vmov.i32    q0, #0
  vmov.i32    q1, #0
  cbz         r3, 4f
  cbz         r4, 4f
2:                                    // a row
  dls         lr, r4
3:
  vldrw.u32   q2, [r1]
  vldrw.u32   q4, [r2]
  vmul.f32    q2, q2, q4
  vldrw.u32   q3, [r1, #16]
  vldrw.u32   q5, [r2, #16]
  vmul.f32    q3, q3, q5
  add         r1, r1, r5
  vadd.f32    q0, q0, q2
  add         r2, r2, r7
  vadd.f32    q1, q1, q3
  le          lr, 3b
  add         r1, r1, r6
  add         r2, r2, r8
  subs        r3, r3, #1
  bne         2b
4:
  ldrd        r1, r2, [r0, #4]        // out, bias
  cbz         r2, 5f
  vldrw.u32   q2, [r2], #16
  vldrw.u32   q3, [r2], #16
  vadd.f32    q0, q0, q2
  vadd.f32    q1, q1, q3
5:
  vstrw.32    q0, [r1], #16
  vstrw.32    q1, [r1], #16
  strd        r1, r2, [r0, #4]
  ldr         r12, [r0, #L_BLOCKS]
  subs        r12, r12, #1
  str         r12, [r0, #L_BLOCKS]
  bne         1b
  vpop        {d8-d11}
  pop         {r4-r8, pc}
  .size rt_float_lanes, . - rt_float_lanes
#endif
