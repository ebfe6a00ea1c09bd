// Products of one float row with a matrix, with Helium. fpu/float_dot.hpp has the contracts.
#if defined(__ARM_FEATURE_MVE) && (__ARM_FEATURE_MVE & 2)
.syntax unified
.thumb

// struct Dot1 and struct Columns
.equ M_WEIGHTS, 12
.equ M_BLOCKS, 24

.macro NEXT_BLOCK first
  ldr         r12, [r0, #M_BLOCKS]
  subs        r12, r12, #1
  str         r12, [r0, #M_BLOCKS]
  bne         \first
.endm

  .section .text.rt_float_dot1, "ax"
  .align 3
9:
  .word       0, 1, 2, 3
  .global rt_float_dot1
  .type rt_float_dot1, %function
  .thumb_func
rt_float_dot1:
  push        {r4-r8, lr}
  adr         r1, 9b
  vldrw.u32   q3, [r1]
1:                                    // four rows of weights
  ldr         r1, [r0]
  ldrd        r2, r3, [r0, #M_WEIGHTS]
  ldr         r4, [r0, #20]           // depth
  vmul.i32    q2, q3, r3
  subs        r5, r2, #4              // the loads below step before they read
  vadd.i32    q2, q2, r5
  add         r2, r2, r3, lsl #2
  str         r2, [r0, #M_WEIGHTS]
  vmov.i32    q0, #0
  lsrs        lr, r4, #1
  beq         3f
  dls         lr, lr
2:
  ldrd        r5, r6, [r1], #8
  vldrw.u32   q1, [q2, #4]!
  vmul.f32    q1, q1, r5
  vadd.f32    q0, q0, q1
  vldrw.u32   q1, [q2, #4]!
  vmul.f32    q1, q1, r6
  vadd.f32    q0, q0, q1
  le          lr, 2b
3:
  lsls        r4, r4, #31
  beq         4f
  ldr         r5, [r1]
  vldrw.u32   q1, [q2, #4]!
  vmul.f32    q1, q1, r5
  vadd.f32    q0, q0, q1
4:
  ldrd        r1, r2, [r0, #4]        // out, bias
  cbz         r2, 5f
  vldrw.u32   q1, [r2], #16
  vadd.f32    q0, q0, q1
5:
  vstrw.32    q0, [r1], #16
  strd        r1, r2, [r0, #4]
  NEXT_BLOCK  1b
  pop         {r4-r8, pc}
  .size rt_float_dot1, . - rt_float_dot1

// One term of the sums q0 and q1, times x.
.macro TERM x
  vldrw.u32   q2, [r2]
  vmul.f32    q2, q2, \x
  vldrw.u32   q3, [r2, #16]
  add         r2, r2, r3
  vmul.f32    q3, q3, \x
  vadd.f32    q0, q0, q2
  vadd.f32    q1, q1, q3
.endm

  .section .text.rt_float_columns, "ax"
  .align 2
  .global rt_float_columns
  .type rt_float_columns, %function
  .thumb_func
rt_float_columns:
  push        {r4-r6, lr}
1:                                    // eight columns
  ldr         r1, [r0]
  ldrd        r2, r3, [r0, #M_WEIGHTS]
  ldr         r4, [r0, #20]           // depth
  add         r5, r2, #32
  str         r5, [r0, #M_WEIGHTS]
  vmov.i32    q0, #0
  vmov.i32    q1, #0
  lsrs        lr, r4, #1
  beq         3f
  dls         lr, lr
2:
  ldrd        r5, r6, [r1], #8
  TERM        r5
  TERM        r6
  le          lr, 2b
3:
  lsls        r4, r4, #31
  beq         4f
  ldr         r5, [r1]
  TERM        r5
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
  NEXT_BLOCK  1b
  pop         {r4-r6, pc}
  .size rt_float_columns, . - rt_float_columns
#endif
