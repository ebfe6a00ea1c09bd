// Dot products on Armv6-M (Cortex-M0, M0+, M1) and Armv8-M Baseline (M23). Sums are in registers that
// only ADD reaches. dot.hpp has the contracts.
#if __ARM_ARCH_ISA_THUMB == 1
.syntax unified
.thumb

.macro SAVE
  push    {r3-r7, lr}
  mov     r4, r8
  mov     r5, r9
  mov     r6, r10
  mov     r7, r11
  push    {r4-r7}
  movs    r4, #0
  mov     r8, r4
  mov     r9, r4
  mov     r10, r4
  mov     r11, r4
.endm

.macro RESTORE
  pop     {r4-r7}
  mov     r8, r4
  mov     r9, r5
  mov     r10, r6
  mov     r11, r7
  pop     {r3-r7, pc}
.endm

.macro WEIGHT_OF_5 at
  ldrb    r2, [r1, #\at]
  ldm     r0!, {r3, r4, r5, r6, r7}
  sxtb    r2, r2
  muls    r3, r2
  muls    r4, r2
  muls    r5, r2
  muls    r6, r2
  muls    r7, r2
  add     r8, r3
  add     r9, r4
  add     r10, r5
  add     r11, r6
  add     r12, r7
.endm

  .section .text.rt_scalar_dot5, "ax"
  .global rt_scalar_dot5
  .type rt_scalar_dot5, %function
  .thumb_func
rt_scalar_dot5:
  SAVE
  mov     r12, r4
  movs    r3, #20
  muls    r3, r2
  adds    r3, r0
  mov     lr, r3                      // the activations' end
  lsls    r3, r2, #30
  beq     2f
1:
  push    {r3}
  WEIGHT_OF_5 0
  pop     {r3}
  adds    r1, #1
  // One of the depth's last two bits less.
  ldr     r2, =0x40000000
  subs    r3, r3, r2
  bne     1b
2:
  cmp     r0, lr
  beq     4f
3:
  WEIGHT_OF_5 0
  WEIGHT_OF_5 1
  WEIGHT_OF_5 2
  WEIGHT_OF_5 3
  adds    r1, #4
  cmp     r0, lr
  bne     3b
4:
  ldr     r0, [sp, #16]
  mov     r3, r8
  mov     r4, r9
  mov     r5, r10
  mov     r6, r11
  mov     r7, r12
  stm     r0!, {r3, r4, r5, r6, r7}
  RESTORE
  .pool
  .size rt_scalar_dot5, . - rt_scalar_dot5

// Rows of weights are at r1, r2, r6 and r7; r3 is where in them.
.macro ACTIVATION_OF_4
  ldm     r0!, {r4}
  ldrsb   r5, [r1, r3]
  muls    r5, r4
  add     r8, r5
  ldrsb   r5, [r2, r3]
  muls    r5, r4
  add     r9, r5
  ldrsb   r5, [r6, r3]
  muls    r5, r4
  add     r10, r5
  ldrsb   r5, [r7, r3]
  muls    r5, r4
  add     r11, r5
  adds    r3, #1
.endm

  .section .text.rt_scalar_dot1, "ax"
  .global rt_scalar_dot1
  .type rt_scalar_dot1, %function
  .thumb_func
rt_scalar_dot1:
  SAVE
  mov     lr, r2
  movs    r4, #3
  ands    r4, r2
  mov     r12, r4                     // what is left when fours are done
  adds    r2, r1, r2
  mov     r6, lr
  adds    r6, r2, r6
  mov     r7, lr
  adds    r7, r6, r7
  mov     r3, lr
  subs    r3, r3, r4
  mov     lr, r3                      // fours, all together
  movs    r3, #0
  cmp     r3, lr
  beq     2f
1:
  ACTIVATION_OF_4
  ACTIVATION_OF_4
  ACTIVATION_OF_4
  ACTIVATION_OF_4
  cmp     r3, lr
  bne     1b
2:
  mov     r4, r12
  cmp     r4, #0
  beq     4f
  add     r12, lr                     // the depth
3:
  ACTIVATION_OF_4
  cmp     r3, r12
  bne     3b
4:
  ldr     r0, [sp, #16]
  mov     r3, r8
  mov     r4, r9
  mov     r5, r10
  mov     r6, r11
  stm     r0!, {r3, r4, r5, r6}
  RESTORE
  .size rt_scalar_dot1, . - rt_scalar_dot1
#endif
