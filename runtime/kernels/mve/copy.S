// Copies and fills of bytes with Helium. copy.hpp has the contracts.
.syntax unified
.thumb

  .section .text.rt_mve_copy_rows, "ax"
  .global rt_mve_copy_rows
  .type rt_mve_copy_rows, %function
  .thumb_func
rt_mve_copy_rows:
  push    {r4-r6, lr}
  ldrd    r4, r5, [sp, #16]           // bytes, rows
  cmp     r4, #0
  it      ne
  cmpne   r5, #0
  beq     3f
1:
  mov     r6, r2
  mov     r12, r0
  dlstp.8 lr, r4
2:
  vldrb.8 q0, [r6], #16
  vstrb.8 q0, [r12], #16
  letp    lr, 2b
  add     r0, r0, r1
  add     r2, r2, r3
  subs    r5, r5, #1
  bne     1b
3:
  pop     {r4-r6, pc}
  .size rt_mve_copy_rows, . - rt_mve_copy_rows

  .section .text.rt_mve_fill, "ax"
  .global rt_mve_fill
  .type rt_mve_fill, %function
  .thumb_func
rt_mve_fill:
  push    {r4, lr}
  vdup.8  q0, r2
  wlstp.8 lr, r1, 2f
1:
  vstrb.8 q0, [r0], #16
  letp    lr, 1b
2:
  pop     {r4, pc}
  .size rt_mve_fill, . - rt_mve_fill

  .section .text.rt_mve_clamp, "ax"
  .global rt_mve_clamp
  .type rt_mve_clamp, %function
  .thumb_func
rt_mve_clamp:
  push    {r4, lr}
  vdup.8  q1, r2
  vdup.8  q2, r3
  wlstp.8 lr, r1, 2f
1:
  vldrb.8 q0, [r0]
  vmax.s8 q0, q0, q1
  vmin.s8 q0, q0, q2
  vstrb.8 q0, [r0], #16
  letp    lr, 1b
2:
  pop     {r4, pc}
  .size rt_mve_clamp, . - rt_mve_clamp
