// Depthwise convolution of four channels with Helium. depthwise.hpp has the contracts.
.syntax unified
.thumb

  .section .text.rt_mve_depthwise, "ax"
  .global rt_mve_depthwise
  .type rt_mve_depthwise, %function
  .thumb_func
rt_mve_depthwise:
  push    {r4-r11, lr}
  vpush   {d8-d15}
  mov     r1, r0
  ldm     r1!, {r3, r5, r7, r8, r9, r10, r12}   // out .. weights
  vldrb.8 q0, [r12]
  vldrb.8 q1, [r12, #16]
  vldrb.8 q2, [r12, #32]
  vldrb.8 q3, [r12, #48]
  ldm     r1!, {r11, r12}             // multipliers, shifts
  vldrw.32 q5, [r11]
  vldrw.32 q6, [r12]
  mov     r12, r8                     // bytes from output to output
  mov     lr, r5                      // outputs
  mov     r5, r9                      // bytes from patch to patch
  mov     r8, r10                     // patches of the first channel
  ldr     r11, [r1], #4               // bytes from channel to channel
  add     r9, r8, r11
  add     r10, r9, r11
  add     r11, r10, r11
  dls     lr, lr
1:
  ldm     r1, {r0, r2, r4, r6}        // folded biases
  vldrb.8 q4, [r8]
  vmladava.s8 r0, q0, q4
  vldrb.8 q7, [r9]
  vmladava.s8 r2, q1, q7
  vldrb.8 q4, [r10]
  vmladava.s8 r4, q2, q4
  vldrb.8 q7, [r11]
  vmladava.s8 r6, q3, q7
  add     r8, r8, r5
  add     r9, r9, r5
  vmov    q4[2], q4[0], r0, r4
  vmov    q4[3], q4[1], r2, r6
  add     r10, r10, r5
  vqrdmulh.s32 q4, q4, q5
  add     r11, r11, r5
  vshr.s32 q7, q4, #31
  vadd.i32 q4, q4, q7
  vrshl.s32 q4, q4, q6
  vadd.i32 q4, q4, r7
  vqmovnb.s32 q4, q4
  vqmovnb.s16 q4, q4
  vstrb.32 q4, [r3]
  add     r3, r3, r12
  le      lr, 1b
  vpop    {d8-d15}
  pop     {r4-r11, pc}
  .size rt_mve_depthwise, . - rt_mve_depthwise

  .section .text.rt_mve_scatter, "ax"
  .global rt_mve_scatter
  .type rt_mve_scatter, %function
  .thumb_func
rt_mve_scatter:
  push    {r4-r6, lr}
  ldrd    r4, r5, [sp, #16]           // lines, lane bytes
  ldr     r6, [sp, #24]               // channels
  movs    r12, #0
  vidup.u16 q1, r12, #1
  vmul.i16 q1, q1, r5
  cmp     r6, #8
  blo     2f
  wls     lr, r4, 3f
1:
  vldrb.u16 q0, [r2]
  add     r2, r2, r3
  vstrb.16 q0, [r0, q1]
  add     r0, r0, r1
  le      lr, 1b
  pop     {r4-r6, pc}
2:
  vctp.16 r6
  wls     lr, r4, 3f
4:
  vpst
  vldrbt.u16 q0, [r2]
  add     r2, r2, r3
  vpst
  vstrbt.16 q0, [r0, q1]
  add     r0, r0, r1
  le      lr, 4b
3:
  pop     {r4-r6, pc}
  .size rt_mve_scatter, . - rt_mve_scatter
