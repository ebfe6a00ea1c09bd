// Dot products of int8 weights as exported and q15 activations, Armv7E-M (Cortex-M4, M7, M33).
// dot.hpp has the contracts.
.syntax unified
.thumb

// x = clamp8(((x * multiplier >> 31, rounded) >> shift, rounded, ties away from zero) + offset).
// The doubled value makes SMMULR that product; shifting by one less, adding 1 + 2 * offset and
// leaving the last place to SSAT rounds and offsets in one addition.
.macro REQUANTIZE x, multiplier, shift_less_1, rounding
  lsl     \x, \x, #1
  smmulr  \x, \x, \multiplier
  add     \x, \x, \x, asr #31
  asr     \x, \x, \shift_less_1
  add     \x, \x, \rounding
  ssat    \x, #8, \x, asr #1
.endm

// Four weights in lr, times four activations of each of the five rows.
.macro QUAD_OF_5
  ldm     r11!, {r5, r6, r7, r8, r10}
  sxtb16  r12, lr
  smlad   r0, r12, r5, r0
  smlad   r1, r12, r6, r1
  smlad   r2, r12, r7, r2
  smlad   r3, r12, r8, r3
  smlad   r4, r12, r10, r4
  ldm     r11!, {r5, r6, r7, r8, r10}
  sxtb16  lr, lr, ror #8
  smlad   r0, lr, r5, r0
  smlad   r1, lr, r6, r1
  smlad   r2, lr, r7, r2
  smlad   r3, lr, r8, r3
  smlad   r4, lr, r10, r4
.endm

// struct Dot5, as pushed
.equ D5_ACTIVATIONS, 0
.equ D5_BIAS, 4
.equ D5_BIAS_STEP, 8
.equ D5_MULTIPLIERS, 12
.equ D5_SHIFTS, 16
.equ D5_SCALE_STEP, 20
.equ D5_ROUNDING, 24
.equ D5_OUT, 28
.equ D5_OUT_STRIDE, 32
.equ D5_CHANNELS, 36
.equ D5_QUADS, 40
.equ D5_TAIL, 44
.equ D5_END, 48
.equ D5_ENTRY, 52

  .section .text.rt_dsp_dot5, "ax"
  .global rt_dsp_dot5
  .type rt_dsp_dot5, %function
  .thumb_func
rt_dsp_dot5:
  push    {r4-r11, lr}
  sub     sp, #60
  mov     r9, r1
  mov     r12, sp
  ldm     r0!, {r1-r8}
  stm     r12!, {r1-r8}
  ldm     r0, {r2-r5}
  stm     r12!, {r2-r5}
  add     r5, r4, r4, lsl #2
  add     r1, r1, r5, lsl #3          // 40 bytes a quad
  // The quads are done eight a turn; the first turn begins where the rest of the division by eight
  // says, or at the end if there are none.
  and     r5, r4, #7
  adr     r6, 8f
  cmp     r4, #0
  it      eq
  moveq   r5, #8
  ldrb    r5, [r6, r5]
  adr     r6, 2f
  add     r6, r6, r5, lsl #1
  orr     r6, r6, #1
  stm     r12, {r1, r6}
1:
  ldrd    r11, r5, [sp, #D5_ACTIVATIONS]
  ldr     r6, [sp, #D5_BIAS_STEP]
  ldr     r0, [r5]
  add     r5, r5, r6
  str     r5, [sp, #D5_BIAS]
  ldr     r12, [sp, #D5_ENTRY]
  mov     r1, r0
  mov     r2, r0
  mov     r3, r0
  mov     r4, r0
  bx      r12
  .align 2
2:
  ldr     lr, [r9], #4
  QUAD_OF_5
21:
  ldr     lr, [r9], #4
  QUAD_OF_5
22:
  ldr     lr, [r9], #4
  QUAD_OF_5
23:
  ldr     lr, [r9], #4
  QUAD_OF_5
24:
  ldr     lr, [r9], #4
  QUAD_OF_5
25:
  ldr     lr, [r9], #4
  QUAD_OF_5
26:
  ldr     lr, [r9], #4
  QUAD_OF_5
27:
  ldr     lr, [r9], #4
  QUAD_OF_5
  ldr     r12, [sp, #D5_END]
  cmp     r11, r12
  bne.w   2b
6:
  ldr     r10, [sp, #D5_TAIL]
  cmp     r10, #0
  bne     9f
7:
  add     r8, sp, #D5_MULTIPLIERS
  ldm     r8, {r5, r6, r7, r10}
  ldr     r11, [r5]
  ldr     r12, [r6]
  add     r5, r5, r7
  add     r6, r6, r7
  strd    r5, r6, [sp, #D5_MULTIPLIERS]
  mvn     r12, r12
  REQUANTIZE r0, r11, r12, r10
  REQUANTIZE r1, r11, r12, r10
  REQUANTIZE r2, r11, r12, r10
  REQUANTIZE r3, r11, r12, r10
  REQUANTIZE r4, r11, r12, r10
  add     r8, sp, #D5_OUT
  ldm     r8, {r5, r6, r7}
  // The first row last: with a stride of 0 it is what remains.
  add     r10, r5, r6, lsl #1
  strb    r4, [r10, r6, lsl #1]
  strb    r3, [r10, r6]
  strb    r2, [r10]
  strb    r1, [r5, r6]
  strb    r0, [r5], #1
  subs    r7, #1
  stm     r8, {r5, r6, r7}
  bne     1b
  add     sp, #60
  pop     {r4-r11, pc}
  .align 2
8:
  .byte   0, (27b - 2b) / 2, (26b - 2b) / 2, (25b - 2b) / 2, (24b - 2b) / 2, (23b - 2b) / 2
  .byte   (22b - 2b) / 2, (21b - 2b) / 2, (6b - 2b) / 2
  .align 2
9:
  // The last one to three weights of a row, without reading past them; their activations are
  // followed by zeros.
  cmp     r10, #2
  ite     lo
  ldrblo  lr, [r9]
  ldrhhs  lr, [r9]
  bls     10f
  ldrb    r12, [r9, #2]
  orr     lr, lr, r12, lsl #16
10:
  add     r9, r9, r10
  QUAD_OF_5
  b       7b
  .size rt_dsp_dot5, . - rt_dsp_dot5

// Eight weights of a row, times eight activations in r3-r6.
.macro OCTET_OF_ROW row, sum
  ldrd    r7, r8, [\row], #8
  sxtb16  r12, r7
  smlad   \sum, r12, r3, \sum
  sxtb16  r7, r7, ror #8
  smlad   \sum, r7, r4, \sum
  sxtb16  r12, r8
  smlad   \sum, r12, r5, \sum
  sxtb16  r8, r8, ror #8
  smlad   \sum, r8, r6, \sum
.endm

.macro OCTET
  ldm     lr!, {r3, r4, r5, r6}
  OCTET_OF_ROW r9, r0
  OCTET_OF_ROW r10, r1
  OCTET_OF_ROW r11, r2
.endm

.macro QUAD_OF_ROW row, sum
  ldr     r7, [\row], #4
  sxtb16  r12, r7
  smlad   \sum, r12, r3, \sum
  sxtb16  r7, r7, ror #8
  smlad   \sum, r7, r4, \sum
.endm

// struct Dot1, as pushed
.equ D1_BIAS, 4
.equ D1_DEPTH, 8
.equ D1_MULTIPLIER, 12
.equ D1_OUT, 24
.equ D1_GROUPS, 28
.equ D1_END, 32
.equ D1_ENTRY, 36

  .section .text.rt_dsp_dot1, "ax"
  .global rt_dsp_dot1
  .type rt_dsp_dot1, %function
  .thumb_func
rt_dsp_dot1:
  push    {r4-r11, lr}
  sub     sp, #44
  mov     r11, r1
  ldm     r0, {r1-r8}
  mvn     r5, r5
  stm     sp, {r1-r8}
  lsr     r4, r3, #3
  add     r1, r1, r4, lsl #4          // 16 bytes an octet
  and     r5, r4, #7
  adr     r6, 8f
  cmp     r4, #0
  it      eq
  moveq   r5, #8
  ldrh    r5, [r6, r5, lsl #1]
  adr     r6, 2f
  add     r6, r6, r5
  orr     r6, r6, #1
  strd    r1, r6, [sp, #D1_END]
1:
  ldm     sp, {r3, r4, r6}
  mov     lr, r3
  ldm     r4!, {r0, r1, r2}
  str     r4, [sp, #D1_BIAS]
  // The row after the third of a group is the first of the next.
  mov     r9, r11
  add     r10, r9, r6
  add     r11, r10, r6
  ldr     r12, [sp, #D1_ENTRY]
  bx      r12
  .align 2
2:
  OCTET
21:
  OCTET
22:
  OCTET
23:
  OCTET
24:
  OCTET
25:
  OCTET
26:
  OCTET
27:
  OCTET
  ldr     r12, [sp, #D1_END]
  cmp     lr, r12
  bne.w   2b
6:
  ldr     r7, [sp, #D1_DEPTH]
  lsls    r7, r7, #29
  beq     7f
  ldm     lr!, {r3, r4}
  QUAD_OF_ROW r9, r0
  QUAD_OF_ROW r10, r1
  QUAD_OF_ROW r11, r2
7:
  add     r8, sp, #D1_MULTIPLIER
  ldm     r8, {r3, r4, r5, r6, r7}
  REQUANTIZE r0, r3, r4, r5
  REQUANTIZE r1, r3, r4, r5
  REQUANTIZE r2, r3, r4, r5
  strb    r0, [r6], #1
  strb    r1, [r6], #1
  strb    r2, [r6], #1
  subs    r7, #1
  strd    r6, r7, [sp, #D1_OUT]
  bne.w   1b
  add     sp, #44
  pop     {r4-r11, pc}
  .align 2
8:
  .short  0, 27b - 2b, 26b - 2b, 25b - 2b, 24b - 2b, 23b - 2b, 22b - 2b, 21b - 2b, 6b - 2b
  .size rt_dsp_dot1, . - rt_dsp_dot1
