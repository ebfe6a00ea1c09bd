// Depthwise 3x3 for four channels of a line of outputs, Armv7E-M. depthwise.hpp has the contracts.
.syntax unified
.thumb

// One row of taps: pairs of the first two for each channel, then the third of channels 0 and 2, and
// of 1 and 3.
.macro ROW_OF_TAPS
  ldm     r8!, {r4, r5, r6}
  ldm     r11!, {r7, r9, r10}
  smlad   r0, r4, r7, r0
  smlad   r1, r5, r9, r1
  smlad   r2, r6, r10, r2
  ldm     r8!, {r4, r5, r6}
  ldm     r11!, {r7, r9, r10}
  smlad   r3, r4, r7, r3
  smlabb  r0, r5, r9, r0
  smlatt  r2, r5, r9, r2
  smlabb  r1, r6, r10, r1
  smlatt  r3, r6, r10, r3
.endm

// As REQUANTIZE in dot.S, of sums that are doubled already.
.macro REQUANTIZE_DOUBLED x
  ldrd    r4, r5, [r11], #8
  smmulr  \x, \x, r4
  add     \x, \x, \x, asr #31
  asr     \x, \x, r5
  add     \x, \x, r12
  ssat    \x, #8, \x, asr #1
.endm

.equ BLOCK_BYTES, 120

  .section .text.rt_dsp_depthwise3, "ax"
  .global rt_dsp_depthwise3
  .type rt_dsp_depthwise3, %function
  .thumb_func
rt_dsp_depthwise3:
  push    {r4-r11, lr}
  mov     r8, r0
  mov     r11, r1
  mov     lr, r2
  ldm     r3, {r4, r5, r6, r12}
  push    {r4, r5, r6}
1:
  ldm     r11!, {r0, r1, r2, r3}
  ROW_OF_TAPS
  ROW_OF_TAPS
  ROW_OF_TAPS
  REQUANTIZE_DOUBLED r0
  REQUANTIZE_DOUBLED r1
  REQUANTIZE_DOUBLED r2
  REQUANTIZE_DOUBLED r3
  bfi     r0, r1, #8, #8
  bfi     r2, r3, #8, #8
  pkhbt   r0, r0, r2, lsl #16
  str     r0, [lr]
  ldm     sp, {r4, r5, r6}
  sub     r11, r11, #BLOCK_BYTES
  add     r8, r8, r4
  add     lr, lr, r5
  cmp     lr, r6
  bne     1b
  add     sp, #12
  pop     {r4-r11, pc}
  .size rt_dsp_depthwise3, . - rt_dsp_depthwise3
