// Products of two int8 operands that both have offsets, Armv7E-M. matmul.hpp has the contracts.
.syntax unified
.thumb

// Four columns' values in lr, times those of each of the four rows. The second offset is in r4.
.macro QUAD_OF_4
  ldm     r11!, {r5, r6, r7, r8}
  sxtab16 r12, r4, lr
  smlad   r0, r12, r5, r0
  smlad   r1, r12, r6, r1
  smlad   r2, r12, r7, r2
  smlad   r3, r12, r8, r3
  ldm     r11!, {r5, r6, r7, r8}
  sxtab16 lr, r4, lr, ror #8
  smlad   r0, lr, r5, r0
  smlad   r1, lr, r6, r1
  smlad   r2, lr, r7, r2
  smlad   r3, lr, r8, r3
.endm

  .section .text.rt_dsp_matmul4, "ax"
  .global rt_dsp_matmul4
  .type rt_dsp_matmul4, %function
  .thumb_func
rt_dsp_matmul4:
  push    {r3-r11, lr}                // r3: where the sums go
  mov     r11, r0
  mov     r9, r1
  ldrd    r10, r4, [r2]               // quads, offset
  ldr     r12, [r2, #8]               // bytes of the last quad
  push    {r12}
  movs    r0, #0
  movs    r1, #0
  movs    r2, #0
  movs    r3, #0
  lsrs    r10, r10, #1
  bcc     2f
  ldr     lr, [r9], #4
  QUAD_OF_4
2:
  cmp     r10, #0
  beq     4f
3:
  ldr     lr, [r9], #4
  QUAD_OF_4
  ldr     lr, [r9], #4
  QUAD_OF_4
  subs    r10, #1
  bne     3b
4:
  pop     {r10}
  cmp     r10, #0
  beq     6f
  // One to three bytes, without reading past them; the rows' values there are followed by zeros.
  cmp     r10, #2
  ite     lo
  ldrblo  lr, [r9]
  ldrhhs  lr, [r9]
  bls     5f
  ldrb    r12, [r9, #2]
  orr     lr, lr, r12, lsl #16
5:
  QUAD_OF_4
6:
  pop     {r12}
  stm     r12, {r0, r1, r2, r3}
  pop     {r4-r11, pc}
  .size rt_dsp_matmul4, . - rt_dsp_matmul4
