// Normalization of float rows with Helium: a lane is a row. fpu/float_norm.hpp has the contracts.
#if defined(__ARM_FEATURE_MVE) && (__ARM_FEATURE_MVE & 2)
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

  BEGIN       rt_float_sums
  push        {r4, lr}
  vldrw.u32   q2, [r0]
  movs        r3, #4
  vsub.i32    q2, q2, r3              // the loads below step before they read
  vmov.i32    q0, #0
  dls         lr, r1
1:
  vldrw.u32   q1, [q2, #4]!
  vadd.f32    q0, q0, q1
  le          lr, 1b
  vstrw.32    q0, [r2]
  pop         {r4, pc}
  .size rt_float_sums, . - rt_float_sums

  BEGIN       rt_float_squares
  push        {r4, lr}
  vldrw.u32   q2, [r0]
  movs        r4, #4
  vsub.i32    q2, q2, r4
  vldrw.u32   q3, [r2]
  vmov.i32    q0, #0
  dls         lr, r1
1:
  vldrw.u32   q1, [q2, #4]!
  vsub.f32    q1, q1, q3
  vmul.f32    q1, q1, q1
  vadd.f32    q0, q0, q1
  le          lr, 1b
  vstrw.32    q0, [r3]
  pop         {r4, pc}
  .size rt_float_squares, . - rt_float_squares

  BEGIN       rt_float_normalize
  push        {r4-r6, lr}
  ldm         r3, {r3-r6}             // mean, inverse, scale, shift
  dlstp.32    lr, r2
1:
  vldrw.u32   q0, [r0], #16
  vsub.f32    q0, q0, r3
  vldrw.u32   q1, [r5], #16
  vmul.f32    q0, q0, r4
  vldrw.u32   q2, [r6], #16
  vmul.f32    q0, q0, q1
  vadd.f32    q0, q0, q2
  vstrw.32    q0, [r1], #16
  letp        lr, 1b
  pop         {r4-r6, pc}
  .size rt_float_normalize, . - rt_float_normalize
#endif
