// Dot products of packed weights (packed.hpp) and q15 activations, Armv7E-M (Cortex-M4, M7, M33).
.syntax unified
.thumb

// x / 256 is the sum: the rest as in dot.S.
.macro REQUANTIZE x, multiplier, shift_less_1, rounding
  asr     \x, \x, #7
  smmulr  \x, \x, \multiplier
  add     \x, \x, \x, asr #31
  asr     \x, \x, \shift_less_1
  add     \x, \x, \rounding
  ssat    \x, #8, \x, asr #1
.endm

.macro FIVE weights
  ldm     r11!, {r5, r6, r7, r8, r10}
  smlad   r0, \weights, r5, r0
  smlad   r1, \weights, r6, r1
  smlad   r2, \weights, r7, r2
  smlad   r3, \weights, r8, r3
  smlad   r4, \weights, r10, r4
.endm

// Eight weights, times eight activations of each of the five rows: 27 instructions, 40 products.
.macro OCTET_OF_5
  ldrd    r12, lr, [r9], #8
  FIVE    r12
  sxtb16  r12, r12
  FIVE    r12
  FIVE    lr
  sxtb16  lr, lr
  FIVE    lr
.endm

// struct Packed5, as pushed
.equ P5_BIAS, 8
.equ P5_MULTIPLIERS, 12
.equ P5_END, 36

  .section .text.rt_dsp_packed5, "ax"
  .global rt_dsp_packed5
  .type rt_dsp_packed5, %function
  .thumb_func
rt_dsp_packed5:
  push    {r4-r11, lr}
  sub     sp, #44
  mov     r9, r1
  // activations, octets, bias, multipliers, out, channels, distance, rounding
  ldm     r0!, {r1-r8}
  ldr     r10, [r0]                   // out stride
  // Four octets a turn; the first turn begins where the rest of the division by four says.
  add     r11, r2, r2, lsl #2
  add     r11, r1, r11, lsl #4        // 80 bytes an octet
  str     r11, [sp, #P5_END]
  and     r2, r2, #3
  adr     r12, 8f
  ldrb    r2, [r12, r2]
  adr     r12, 2f
  add     r2, r12, r2, lsl #1
  orr     r2, r2, #1
  stm     sp, {r1-r8}
  str     r10, [sp, #32]
1:
  ldm     sp, {r11, r12, lr}
  ldr     r0, [lr], #4
  str     lr, [sp, #P5_BIAS]
  mov     r1, r0
  mov     r2, r0
  mov     r3, r0
  mov     r4, r0
  bx      r12
  .align 2
2:
  OCTET_OF_5
21:
  OCTET_OF_5
22:
  OCTET_OF_5
23:
  OCTET_OF_5
  ldr     r12, [sp, #P5_END]
  cmp     r11, r12
  bne.w   2b
  tst     r0, #255
  bne     9f
6:
  add     r8, sp, #P5_MULTIPLIERS
  // multipliers, out, channels, from multipliers to shifts, rounding, out stride
  ldm     r8, {r5, r6, r7, r10, r11, r12}
  ldr     r10, [r5, r10]
  ldr     lr, [r5], #4
  mvn     r10, r10
  REQUANTIZE r0, lr, r10, r11
  REQUANTIZE r1, lr, r10, r11
  REQUANTIZE r2, lr, r10, r11
  REQUANTIZE r3, lr, r10, r11
  REQUANTIZE r4, lr, r10, r11
  add     r10, r6, r12, lsl #1
  strb    r4, [r10, r12, lsl #1]
  strb    r3, [r10, r12]
  strb    r2, [r10]
  strb    r1, [r6, r12]
  strb    r0, [r6], #1
  subs    r7, #1
  stm     r8, {r5, r6, r7}
  bne.w   1b
  add     sp, #44
  pop     {r4-r11, pc}
  .align 2
8:
  .byte   0, (23b - 2b) / 2, (22b - 2b) / 2, (21b - 2b) / 2
  .align 2
9:
  // One half of a word lacks 2^16: take off as much of o, and the mark.
  uxtb    r12, r0
  ldr     r11, [sp, #P5_END]
  sub     lr, r9, r12, lsl #2
  ldr     lr, [lr]
  add     r10, r12, r12, lsl #2
  sub     r11, r11, r10, lsl #3
  ldm     r11, {r5, r6, r7, r8, r10}
  lsr     lr, lr, #23                 // 255: the high half is 0x7f80 and above
  cmp     lr, #255
  bne     10f
  pkhbt   r5, r12, r5
  pkhbt   r6, r12, r6
  pkhbt   r7, r12, r7
  pkhbt   r8, r12, r8
  pkhbt   r10, r12, r10
  b       11f
10:
  pkhbt   r5, r12, r5, lsl #16
  pkhbt   r6, r12, r6, lsl #16
  pkhbt   r7, r12, r7, lsl #16
  pkhbt   r8, r12, r8, lsl #16
  pkhbt   r10, r12, r10, lsl #16
11:
  sub     r0, r0, r5
  sub     r1, r1, r6
  sub     r2, r2, r7
  sub     r3, r3, r8
  sub     r4, r4, r10
  b       6b
  .size rt_dsp_packed5, . - rt_dsp_packed5

// Eight weights of a row, times eight activations in r3-r6.
.macro OCTET_OF_ROW row, sum
  ldrd    r7, r8, [\row], #8
  smlad   \sum, r7, r3, \sum
  sxtb16  r7, r7
  smlad   \sum, r7, r4, \sum
  smlad   \sum, r8, r5, \sum
  sxtb16  r8, r8
  smlad   \sum, r8, r6, \sum
.endm

.macro OCTET
  ldm     lr!, {r3, r4, r5, r6}
  OCTET_OF_ROW r9, r0
  OCTET_OF_ROW r10, r1
  OCTET_OF_ROW r11, r2
.endm

// struct Packed1, as pushed
.equ P1_BIAS, 8
.equ P1_MULTIPLIER, 16
.equ P1_OUT, 28
.equ P1_END, 36

  .section .text.rt_dsp_packed1, "ax"
  .global rt_dsp_packed1
  .type rt_dsp_packed1, %function
  .thumb_func
rt_dsp_packed1:
  push    {r4-r11, lr}
  sub     sp, #44
  mov     r11, r1
  // activations, octets, bias, depth, multiplier, shift, rounding, out
  ldm     r0!, {r1-r8}
  ldr     r10, [r0]                   // groups
  mvn     r6, r6
  add     r9, r1, r2, lsl #4          // 16 bytes an octet
  and     r2, r2, #7
  adr     r12, 8f
  ldrh    r2, [r12, r2, lsl #1]
  adr     r12, 2f
  add     r2, r2, r12
  orr     r2, r2, #1
  stm     sp, {r1-r8}
  strd    r10, r9, [sp, #32]
1:
  ldm     sp, {r3, r4, r5, r6}
  mov     lr, r3
  ldm     r5!, {r0, r1, r2}
  str     r5, [sp, #P1_BIAS]
  // The row after the third of a group is the first of the next.
  mov     r9, r11
  add     r10, r9, r6
  add     r11, r10, r6
  bx      r4
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
  ldr     r12, [sp, #P1_END]
  cmp     lr, r12
  bne.w   2b
  add     r8, sp, #P1_MULTIPLIER
  ldm     r8, {r3, r4, r5, r6, r7}
  REQUANTIZE r0, r3, r4, r5
  REQUANTIZE r1, r3, r4, r5
  REQUANTIZE r2, r3, r4, r5
  strb    r0, [r6], #1
  strb    r1, [r6], #1
  strb    r2, [r6], #1
  subs    r7, #1
  strd    r6, r7, [sp, #P1_OUT]
  bne.w   1b
  add     sp, #44
  pop     {r4-r11, pc}
  .align 2
8:
  .short  0, 27b - 2b, 26b - 2b, 25b - 2b, 24b - 2b, 23b - 2b, 22b - 2b, 21b - 2b
  .size rt_dsp_packed1, . - rt_dsp_packed1
