// Flash algorithm of the simulated boards: their "Flash" is RAM of the emulator that behaves like NOR Flash:
// erasing sets a sector to ones, programming can only clear bits. The words are in machines.py; a test assembles
// this file and compares them.
    .syntax unified
    .thumb
    .cpu cortex-m3
    .text
    // pyOCD's header: where a function returns to.
    bkpt #0
    b .
    .space 28

init:                       // (address, clock, operation) -> 0
uninit:                     // (operation) -> 0
    movs r0, #0
    bx lr

erase_sector:               // (address) -> 0; sectors have 4096 bytes
    add r2, r0, #4096
    mov r1, #-1
1:  str r1, [r0], #4
    cmp r0, r2
    bne 1b
    movs r0, #0
    bx lr

program_page:               // (address, bytes, data) -> 0
    push {r4, lr}
    add r1, r0, r1
2:  cmp r0, r1
    bhs 3f
    ldr r3, [r0]
    ldr r4, [r2], #4
    ands r3, r4
    str r3, [r0], #4
    b 2b
3:  movs r0, #0
    pop {r4, pc}
