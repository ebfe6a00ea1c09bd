// APB UART of the Cortex-M System Design Kit (Arm DDI0479D, chapter 4.3), polled.
#pragma once

#include <cstdint>

namespace boards {

struct CmsdkUart {
  uint32_t data;
  uint32_t state;
  uint32_t ctrl;
  uint32_t intstatus;
  uint32_t bauddiv;

  void start(uint32_t clock_hz, uint32_t baud) volatile {
    constexpr uint32_t kTransmitAndReceive = 3;
    bauddiv = clock_hz / baud;  // at least 16
    ctrl = kTransmitAndReceive;
  }

  void putc(char c) volatile {
    constexpr uint32_t kTransmitFull = 1u << 0;
    while ((state & kTransmitFull) != 0) {
    }
    data = static_cast<uint8_t>(c);
  }

  int getc() volatile {
    constexpr uint32_t kReceiveFull = 1u << 1;
    return (state & kReceiveFull) != 0 ? static_cast<int>(data & 0xFF) : -1;
  }
};

}  // namespace boards
