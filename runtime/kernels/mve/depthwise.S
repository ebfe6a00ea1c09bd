// Depthwise convolution of four channels with Helium. depthwise.hpp has the contracts.
.syntax unified
.thumb

// A line of outputs. A window's bytes of each channel times its weights is one instruction; the
// windows are `step` bytes apart, or r5 if that is 0. Values that the clamp makes alike need no
// rounding away from zero (`away`).
.macro OUTPUTS step, away
  dls     lr, r2
8:
  ldm     r1, {r0, r2, r4, r6}
  .if \step
  vldrb.8 q4, [r8], #\step
  vmladava.s8 r0, q0, q4
  vldrb.8 q7, [r9], #\step
  vmladava.s8 r2, q1, q7
  vldrb.8 q4, [r10], #\step
  vmladava.s8 r4, q2, q4
  vldrb.8 q7, [r11], #\step
  vmladava.s8 r6, q3, q7
  .else
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
  add     r10, r10, r5
  add     r11, r11, r5
  .endif
  vmov    q4[2], q4[0], r0, r4
  vmov    q4[3], q4[1], r2, r6
  vqrdmulh.s32 q4, q4, q5
  .if \away
  vshr.s32 q7, q4, #31
  vadd.i32 q4, q4, q7
  .endif
  vrshl.s32 q4, q4, q6
  vadd.i32 q4, q4, r7
  vqmovnb.s32 q4, q4
  vqmovnb.s16 q4, q4
  vstrb.32 q4, [r3]
  add     r3, r3, r12
  le      lr, 8b
  b       9f
.endm

  .section .text.rt_mve_depthwise, "ax"
  .global rt_mve_depthwise
  .type rt_mve_depthwise, %function
  .thumb_func
rt_mve_depthwise:
  push    {r4-r11, lr}
  vpush   {d8-d15}
  ldm     r0!, {r2, r4, r5, r6, r7, r8, r9, r10, r11, r12}
  mov     r3, r1
  vldrb.8 q0, [r9]
  vldrb.8 q1, [r9, #16]
  vldrb.8 q2, [r9, #32]
  vldrb.8 q3, [r9, #48]
  vldrw.32 q5, [r10]
  vldrw.32 q6, [r11]
  ldr     r1, [r0]                    // folded biases
  add     r9, r8, r12
  add     r10, r9, r12
  add     r11, r10, r12
  mov     r12, r4
  cmp     r6, #0
  beq     2f
  cmp     r5, #3
  beq     3f
  cmp     r5, #6
  beq     6f
  OUTPUTS 0, 1
2:
  cmp     r5, #3
  beq     4f
  cmp     r5, #6
  beq     7f
  OUTPUTS 0, 0
3:
  OUTPUTS 3, 1
4:
  OUTPUTS 3, 0
6:
  OUTPUTS 6, 1
7:
  OUTPUTS 6, 0
9:
  vpop    {d8-d15}
  pop     {r4-r11, pc}
  .size rt_mve_depthwise, . - rt_mve_depthwise

// Windows of two vectors; the weights stay in memory.
.macro CHANNEL sum, patches, at
  vldrb.8 q0, [\patches]
  vldrb.8 q1, [r12, #\at]
  vmladava.s8 \sum, q0, q1
  vldrb.8 q2, [\patches, #16]
  vldrb.8 q3, [r12, #(\at + 16)]
  vmladava.s8 \sum, q2, q3
  add     \patches, \patches, r5
.endm

  .section .text.rt_mve_depthwise32, "ax"
  .global rt_mve_depthwise32
  .type rt_mve_depthwise32, %function
  .thumb_func
rt_mve_depthwise32:
  push    {r4-r11, lr}
  vpush   {d8-d15}
  ldm     r0!, {r2, r4, r5, r6, r7, r8, r9, r10, r11, r12}
  push    {r4}                        // bytes from output to output
  mov     r3, r1
  vldrw.32 q5, [r10]
  vldrw.32 q6, [r11]
  ldr     r1, [r0]                    // folded biases
  mov     lr, r9                      // weights
  add     r9, r8, r12
  add     r10, r9, r12
  add     r11, r10, r12
  mov     r12, lr
  dls     lr, r2
1:
  ldm     r1, {r0, r2, r4, r6}
  CHANNEL r0, r8, 0
  CHANNEL r2, r9, 32
  CHANNEL r4, r10, 64
  CHANNEL r6, r11, 96
  vmov    q4[2], q4[0], r0, r4
  vmov    q4[3], q4[1], r2, r6
  ldr     r0, [sp]
  vqrdmulh.s32 q4, q4, q5
  vshr.s32 q7, q4, #31
  vadd.i32 q4, q4, q7
  vrshl.s32 q4, q4, q6
  vadd.i32 q4, q4, r7
  vqmovnb.s32 q4, q4
  vqmovnb.s16 q4, q4
  vstrb.32 q4, [r3]
  add     r3, r3, r0
  le      lr, 1b
  add     sp, #4
  vpop    {d8-d15}
  pop     {r4-r11, pc}
  .size rt_mve_depthwise32, . - rt_mve_depthwise32

  .section .text.rt_mve_scatter, "ax"
  .global rt_mve_scatter
  .type rt_mve_scatter, %function
  .thumb_func
rt_mve_scatter:
  push    {r4-r6, lr}
  ldrd    r4, r5, [sp, #16]           // lines, bytes from lane to lane
  ldr     r6, [sp, #24]               // channels
  movs    r12, #0
  vidup.u16 q1, r12, #1
  vmul.i16 q1, q1, r5
  vctp.16 r6
  wls     lr, r4, 2f
1:
  vpst
  vldrbt.u16 q0, [r2]
  add     r2, r2, r3
  vpst
  vstrbt.16 q0, [r0, q1]
  add     r0, r0, r1
  le      lr, 1b
2:
  pop     {r4-r6, pc}
  .size rt_mve_scatter, . - rt_mve_scatter

  .section .text.rt_mve_scatter3, "ax"
  .global rt_mve_scatter3
  .type rt_mve_scatter3, %function
  .thumb_func
rt_mve_scatter3:
  push    {r4-r8, lr}
  ldm     r0, {r1, r2, r3, r4, r5, r6, r7, r8, r12}
  movs    r0, #0
  vidup.u16 q1, r0, #1
  vmul.i16 q1, q1, r12
  movs    r0, #1
  vadd.i16 q2, q1, r0
  vadd.i16 q3, q2, r0
  wls     lr, r2, 2f
1:
  vldrb.u16 q0, [r3]
  vstrb.16 q0, [r1, q1]
  vldrb.u16 q0, [r4]
  vstrb.16 q0, [r1, q2]
  vldrb.u16 q0, [r5]
  vstrb.16 q0, [r1, q3]
  add     r3, r3, r6
  add     r4, r4, r7
  add     r5, r5, r8
  adds    r1, #3
  le      lr, 1b
2:
  pop     {r4-r8, pc}
  .size rt_mve_scatter3, . - rt_mve_scatter3
