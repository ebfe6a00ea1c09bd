// Dot products on Armv7-M (Cortex-M3). dot.hpp has the contracts.
#if __ARM_ARCH_ISA_THUMB >= 2
.syntax unified
.thumb

.macro WEIGHT_OF_5
  ldm     r0!, {r3, r9, r10, r11, r12}
  ldrsb   lr, [r1], #1
  mla     r4, r3, lr, r4
  mla     r5, r9, lr, r5
  mla     r6, r10, lr, r6
  mla     r7, r11, lr, r7
  mla     r8, r12, lr, r8
.endm

  .section .text.rt_scalar_dot5, "ax"
  .global rt_scalar_dot5
  .type rt_scalar_dot5, %function
  .thumb_func
rt_scalar_dot5:
  push    {r3-r11, lr}
  movs    r4, #0
  movs    r5, #0
  movs    r6, #0
  movs    r7, #0
  mov     r8, #0
  tst     r2, #3
  beq     2f
1:
  WEIGHT_OF_5
  subs    r2, #1
  tst     r2, #3
  bne     1b
2:
  cbz     r2, 4f
3:
  WEIGHT_OF_5
  WEIGHT_OF_5
  WEIGHT_OF_5
  WEIGHT_OF_5
  subs    r2, #4
  bne     3b
4:
  pop     {r3}
  stm     r3, {r4, r5, r6, r7, r8}
  pop     {r4-r11, pc}
  .size rt_scalar_dot5, . - rt_scalar_dot5

.macro ACTIVATION_OF_4
  ldr     r8, [r0], #4
  ldrsb   r9, [r1], #1
  ldrsb   r10, [r11], #1
  mla     r4, r8, r9, r4
  mla     r5, r8, r10, r5
  ldrsb   r9, [r12], #1
  ldrsb   r10, [lr], #1
  mla     r6, r8, r9, r6
  mla     r7, r8, r10, r7
.endm

  .section .text.rt_scalar_dot1, "ax"
  .global rt_scalar_dot1
  .type rt_scalar_dot1, %function
  .thumb_func
rt_scalar_dot1:
  push    {r3-r11, lr}
  add     r11, r1, r2
  add     r12, r11, r2
  add     lr, r12, r2
  movs    r4, #0
  movs    r5, #0
  movs    r6, #0
  movs    r7, #0
  tst     r2, #3
  beq     2f
1:
  ACTIVATION_OF_4
  subs    r2, #1
  tst     r2, #3
  bne     1b
2:
  cmp     r2, #0
  beq     4f
3:
  ACTIVATION_OF_4
  ACTIVATION_OF_4
  ACTIVATION_OF_4
  ACTIVATION_OF_4
  subs    r2, #4
  bne     3b
4:
  pop     {r3}
  stm     r3, {r4, r5, r6, r7}
  pop     {r4-r11, pc}
  .size rt_scalar_dot1, . - rt_scalar_dot1
#endif
