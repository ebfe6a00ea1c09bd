// The products of exact integer Winograd F(2x2, 3x3) (winograd.hpp), Armv7E-M (Cortex-M4, M7, M33).
.syntax unified
.thumb

// A pair of input channels of two filters, times four tiles: 11 instructions, 16 products.
// Sums of the first filter are r0-r3, of the second r4-r7.
.macro PAIR add
  ldrd    r10, r11, [r9], #8
  ldrd    r12, lr, [r8], #8
  .if \add
  smlad   r0, r10, r12, r0
  smlad   r4, r11, r12, r4
  smlad   r1, r10, lr, r1
  smlad   r5, r11, lr, r5
  .else
  smuad   r0, r10, r12
  smuad   r4, r11, r12
  smuad   r1, r10, lr
  smuad   r5, r11, lr
  .endif
  ldrd    r12, lr, [r8], #8
  .if \add
  smlad   r2, r10, r12, r2
  smlad   r6, r11, r12, r6
  smlad   r3, r10, lr, r3
  smlad   r7, r11, lr, r7
  .else
  smuad   r2, r10, r12
  smuad   r6, r11, r12
  smuad   r3, r10, lr
  smuad   r7, r11, lr
  .endif
.endm

// On the stack.
.equ INPUTS, 0
.equ ENTRY, 4
.equ SUMS, 8                          // then pairs of filters that are left
.equ END, 16

// Inputs, weights, sums, pairs of filters; on the stack pairs of channels.
  .section .text.rt_dsp_winograd_products, "ax"
  .global rt_dsp_winograd_products
  .type rt_dsp_winograd_products, %function
  .thumb_func
rt_dsp_winograd_products:
  ldr     r12, [sp]
  push    {r4-r11, lr}
  sub     sp, #20
  mov     r9, r1
  add     lr, r0, r12, lsl #4         // 16 bytes a pair of channels
  str     lr, [sp, #END]
  strd    r2, r3, [sp, #SUMS]
  // Eight pairs a turn after the first; the first turn begins where the rest of the division says.
  sub     r12, #1
  and     r12, #7
  adr     r10, 8f
  ldrh    r12, [r10, r12, lsl #1]
  adr     r10, 2f
  add     r12, r10
  orr     r12, r12, #1
  strd    r0, r12, [sp, #INPUTS]
1:
  ldr     r8, [sp, #INPUTS]
  PAIR    0
  ldr     r10, [sp, #ENTRY]
  bx      r10
  .align 2
2:
  PAIR    1
21:
  PAIR    1
22:
  PAIR    1
23:
  PAIR    1
24:
  PAIR    1
25:
  PAIR    1
26:
  PAIR    1
27:
  PAIR    1
  ldr     r10, [sp, #END]
  cmp     r8, r10
  bne.w   2b
  ldrd    r10, r11, [sp, #SUMS]
  stm     r10!, {r0-r7}
  subs    r11, #1
  strd    r10, r11, [sp, #SUMS]
  bne.w   1b
  add     sp, #20
  pop     {r4-r11, pc}
  .align 2
8:
  .short  0, 27b - 2b, 26b - 2b, 25b - 2b, 24b - 2b, 23b - 2b, 22b - 2b, 21b - 2b
  .size rt_dsp_winograd_products, . - rt_dsp_winograd_products
