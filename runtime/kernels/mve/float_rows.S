// Elementwise float kernels with Helium; loops need no tails. fpu/float_rows.hpp has the contracts.
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
  push        {r4-r8, lr}
.endm

// Of the comparisons GT alone is what it says where there is a NaN: LT is true then.
  BEGIN       rt_float_relu
  movs        r3, #0
  vmov.i32    q1, #0
  dlstp.32    lr, r2
1:
  vldrw.u32   q0, [r0], #16
  vpt.f32     gt, q1, q0
  vdupt.32    q0, r3
  vstrw.32    q0, [r1], #16
  letp        lr, 1b
  pop         {r4-r8, pc}
  .size rt_float_relu, . - rt_float_relu

  BEGIN       rt_float_clamp
  ldrd        r4, r5, [r3]
  vdup.32     q1, r4
  dlstp.32    lr, r2
1:
  vldrw.u32   q0, [r0], #16
  vpt.f32     gt, q1, q0
  vdupt.32    q0, r4
  vpt.f32     gt, q0, r5
  vdupt.32    q0, r5
  vstrw.32    q0, [r1], #16
  letp        lr, 1b
  pop         {r4-r8, pc}
  .size rt_float_clamp, . - rt_float_clamp

  BEGIN       rt_float_sum_one
  ldr         r3, [r3]
  dlstp.32    lr, r2
1:
  vldrw.u32   q0, [r0], #16
  vadd.f32    q0, q0, r3
  vstrw.32    q0, [r1], #16
  letp        lr, 1b
  pop         {r4-r8, pc}
  .size rt_float_sum_one, . - rt_float_sum_one

  BEGIN       rt_float_product_one
  ldr         r3, [r3]
  dlstp.32    lr, r2
1:
  vldrw.u32   q0, [r0], #16
  vmul.f32    q0, q0, r3
  vstrw.32    q0, [r1], #16
  letp        lr, 1b
  pop         {r4-r8, pc}
  .size rt_float_product_one, . - rt_float_product_one

  BEGIN       rt_float_sum
  ldr         r4, [sp, #24]
  ldr         r4, [r4]
  dlstp.32    lr, r3
1:
  vldrw.u32   q1, [r1], #16
  vldrw.u32   q0, [r0], #16
  vmul.f32    q1, q1, r4
  vadd.f32    q0, q0, q1
  vstrw.32    q0, [r2], #16
  letp        lr, 1b
  pop         {r4-r8, pc}
  .size rt_float_sum, . - rt_float_sum

  BEGIN       rt_float_product
  dlstp.32    lr, r3
1:
  vldrw.u32   q1, [r1], #16
  vldrw.u32   q0, [r0], #16
  vmul.f32    q0, q0, q1
  vstrw.32    q0, [r2], #16
  letp        lr, 1b
  pop         {r4-r8, pc}
  .size rt_float_product, . - rt_float_product

  .section .text.rt_float_scale, "ax"
  .align 2
  .global rt_float_scale
  .type rt_float_scale, %function
  .thumb_func
rt_float_scale:
  push        {r4-r9, lr}
  ldm         r2, {r4-r7}             // scale, shift, channels, pixels
  lsl         r8, r6, #2
1:                                    // a pixel
  mov         r2, r4
  mov         r3, r5
  mov         r12, r0
  mov         r9, r1
  dlstp.32    lr, r6
2:
  vldrw.u32   q1, [r2], #16
  vldrw.u32   q0, [r12], #16
  vmul.f32    q0, q0, q1
  vldrw.u32   q1, [r3], #16
  vadd.f32    q0, q0, q1
  vstrw.32    q0, [r9], #16
  letp        lr, 2b
  add         r0, r0, r8
  add         r1, r1, r8
  subs        r7, r7, #1
  bne         1b
  pop         {r4-r9, pc}
  .size rt_float_scale, . - rt_float_scale
#endif
