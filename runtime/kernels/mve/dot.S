// Dot products of int8 with Helium, Armv8.1-M MVE (Cortex-M55, M85). dot.hpp has the contracts.
.syntax unified
.thumb

// x = requantize(x + bias) + offset, clamped; `t` is overwritten. VQRDMULH is the rounded product,
// VRSHL rounds ties up: taking one from negative values makes that away from zero.
.macro ROUND_AWAY x, t, away
  .if \away
  vshr.s32 \t, \x, #31
  vadd.i32 \x, \x, \t
  .endif
.endm

.macro REQUANTIZE x, t, multiplier, shift, offset, away=1
  vqrdmulh.s32 \x, \x, \multiplier
  ROUND_AWAY \x, \t, \away
  vrshl.s32 \x, \x, \shift
  vadd.i32 \x, \x, \offset
  vmax.s32 \x, \x, q5
  vmin.s32 \x, \x, q6
.endm

// Two rows of weights at r12 times three of activations. Sums: r0, r4, r8 of the first row of
// weights, r2, r6, r10 of the second (VMLADAVA needs even registers). lr: whole blocks of sixteen
// but one; with none, \tail does it.
.macro TWO_BY_THREE tail
  ldm     sp, {r0, r1, r2, r4, r5, r6, r7, r8, r10, lr}
  mov     r3, r12
  add     r9, r12, r11
  add     r12, r12, r11, lsl #1
  wls     lr, lr, \tail
  vldrb.8 q0, [r1], #16
  vldrb.8 q2, [r3], #16
8:                                    // a load beside every multiplication
  vmladava.s8 r0, q0, q2
  vldrb.8 q3, [r9], #16
  vmladava.s8 r2, q0, q3
  vldrb.8 q1, [r5], #16
  vmladava.s8 r4, q1, q2
  vldrb.8 q0, [r1], #16               // of the next block
  vmladava.s8 r6, q1, q3
  vldrb.8 q4, [r7], #16
  vmladava.s8 r8, q4, q2
  vldrb.8 q2, [r3], #16               // of the next block
  vmladava.s8 r10, q4, q3
  le      lr, 8b
  vmladava.s8 r0, q0, q2
  vldrb.8 q3, [r9]
  vmladava.s8 r2, q0, q3
  vldrb.8 q1, [r5]
  vmladava.s8 r4, q1, q2
  vldrb.8 q4, [r7]
  vmladava.s8 r6, q1, q3
  vmladava.s8 r8, q4, q2
  vmladava.s8 r10, q4, q3
.endm

// The same of any depth.
.macro TWO_BY_THREE_TAIL
  dlstp.8 lr, r11
8:
  vldrb.8 q0, [r1], #16
  vldrb.8 q2, [r3], #16
  vmladava.s8 r0, q0, q2
  vldrb.8 q3, [r9], #16
  vmladava.s8 r2, q0, q3
  vldrb.8 q1, [r5], #16
  vmladava.s8 r4, q1, q2
  vldrb.8 q0, [r7], #16
  vmladava.s8 r6, q1, q3
  vmladava.s8 r8, q0, q2
  vmladava.s8 r10, q0, q3
  letp    lr, 8b
.endm

// Stack: starts of the sums, addresses and blocks that TWO_BY_THREE loads at once, sums of four
// channels, then the rest of struct Dot3.
.equ D3_SUMS, 40
.equ D3_REST, 88
.equ D3_BYTES, 124

.macro DOT3 name, away
  .section .text.\name, "ax"
  .align 3
9:
  // In the sums of a pixel: channels 0 and 1 lie together, 2 and 3 after those of three pixels.
  .word   0, 4, 24, 28

  .global \name
  .type \name, %function
  .thumb_func
\name:
  push    {r4-r11, lr}
  vpush   {d8-d15}
  sub     sp, #D3_BYTES
  mov     r12, r1
  ldm     r0!, {r1, r2, r3, r11}      // activations, depth
  ldm     r0!, {r4, r5, r6}           // starts
  strd    r4, r1, [sp, #0]
  strd    r4, r5, [sp, #8]
  strd    r2, r5, [sp, #16]
  strd    r3, r6, [sp, #24]
  lsr     r7, r11, #4
  subs    r7, #1
  it      ne
  tstne   r11, #15                    // one block, or a part of one
  it      ne
  movne   r7, #0
  strd    r6, r7, [sp, #32]
  ldm     r0!, {r1-r9}                // bias .. offset
  add     r10, sp, #D3_REST
  stm     r10, {r1-r9}
  ldrd    r1, r2, [r0]
  vdup.32 q5, r1
  vdup.32 q6, r2
  adr     r0, 9b
  vldrw.32 q7, [r0]
1:
  TWO_BY_THREE 5f
3:
  add     lr, sp, #D3_SUMS
  stm     lr, {r0, r2, r4, r6, r8, r10}
  TWO_BY_THREE 6f
4:
  add     lr, sp, #(D3_SUMS + 24)
  stm     lr, {r0, r2, r4, r6, r8, r10}
  add     lr, sp, #D3_REST
  ldm     lr, {r1-r9}
  sub     r0, lr, #48
  add     r10, r0, #8
  // Loads run beside arithmetic of what was loaded before; q7 is a temporary between the gathers.
  vldrw.32 q3, [r0, q7]
  vldrw.32 q4, [r10, q7]
  add     r0, r0, #16
  vldrw.32 q0, [r1], #16
  vldrw.32 q1, [r2]
  vadd.i32 q3, q3, q0
  vldrw.32 q2, [r3]
  add     r2, r2, r4
  vqrdmulh.s32 q3, q3, q1
  vadd.i32 q4, q4, q0
  ROUND_AWAY q3, q7, \away
  vqrdmulh.s32 q4, q4, q1
  vrshl.s32 q3, q3, q2
  add     r3, r3, r4
  ROUND_AWAY q4, q7, \away
  .if \away
  adr     r10, 9b
  vldrw.32 q7, [r10]
  .endif
  vadd.i32 q3, q3, r9
  vmax.s32 q3, q3, q5
  vmin.s32 q3, q3, q6
  vrshl.s32 q4, q4, q2
  vstrb.32 q3, [r5], #4
  vadd.i32 q4, q4, r9
  vldrw.32 q3, [r0, q7]
  vmax.s32 q4, q4, q5
  vmin.s32 q4, q4, q6
  vadd.i32 q3, q3, q0
  vstrb.32 q4, [r6], #4
  subs    r8, r8, #4
  REQUANTIZE q3, q4, q1, q2, r9, \away
  vstrb.32 q3, [r7], #4
  stm     lr, {r1-r8}
  bne.w   1b
  add     sp, #D3_BYTES
  vpop    {d8-d15}
  pop     {r4-r11, pc}
5:
  TWO_BY_THREE_TAIL
  b       3b
6:
  TWO_BY_THREE_TAIL
  b       4b
  .size \name, . - \name
.endm

DOT3 rt_mve_dot3, 1
DOT3 rt_mve_dot3_relu, 0

  .section .text.rt_mve_dot1, "ax"
  .global rt_mve_dot1
  .type rt_mve_dot1, %function
  .thumb_func
rt_mve_dot1:
  push    {r4-r11, lr}
  vpush   {d8-d15}
  mov     r12, r1
  ldm     r0, {r1-r9}                 // activations, depth, bias, multiplier .. out
  mov     r11, r1
  vdup.32 q5, r7
  vdup.32 q6, r8
  vdup.32 q7, r5                      // shift
  mov     r7, r9                      // out
  ldr     r8, [r0, #36]               // channels
  mov     r10, r2
  push    {r3, r4, r6, r7, r8, r11}   // bias, multiplier, offset, out, channels, activations
1:
  ldr     r11, [sp, #20]
  mov     r1, r12
  add     r3, r12, r10
  add     r5, r12, r10, lsl #1
  add     r7, r3, r10, lsl #1
  add     r12, r12, r10, lsl #2
  movs    r0, #0
  movs    r2, #0
  movs    r4, #0
  movs    r6, #0
  dlstp.8 lr, r10
2:
  vldrb.8 q0, [r11], #16
  vldrb.8 q1, [r1], #16
  vmladava.s8 r0, q0, q1
  vldrb.8 q2, [r3], #16
  vmladava.s8 r2, q0, q2
  vldrb.8 q3, [r5], #16
  vmladava.s8 r4, q0, q3
  vldrb.8 q4, [r7], #16
  vmladava.s8 r6, q0, q4
  letp    lr, 2b
  ldm     sp, {r1, r3, r5, r7, r8}
  vmov    q0[2], q0[0], r0, r4
  vmov    q0[3], q0[1], r2, r6
  vldrw.32 q1, [r1], #16
  vadd.i32 q0, q0, q1
  REQUANTIZE q0, q1, r3, q7, r5
  vstrb.32 q0, [r7], #4
  subs    r8, r8, #4
  str     r1, [sp]
  strd    r7, r8, [sp, #12]
  bne     1b
  add     sp, #24
  vpop    {d8-d15}
  pop     {r4-r11, pc}
  .size rt_mve_dot1, . - rt_mve_dot1

  .section .text.rt_mve_fold_offset, "ax"
  .global rt_mve_fold_offset
  .type rt_mve_fold_offset, %function
  .thumb_func
rt_mve_fold_offset:
  push    {r4-r9, lr}
  ldm     r3, {r4, r5, r6, r7}        // depth, channels, offset, bias step
1:
  mov     r8, r1
  add     r1, r1, r4
  movs    r12, #0
  dlstp.8 lr, r4
2:
  vldrb.8 q0, [r8], #16
  vaddva.s8 r12, q0
  letp    lr, 2b
  ldr     r9, [r0]
  add     r0, r0, r7
  mla     r9, r12, r6, r9
  str     r9, [r2], #4
  subs    r5, r5, #1
  bne     1b
  pop     {r4-r9, pc}
  .size rt_mve_fold_offset, . - rt_mve_fold_offset
