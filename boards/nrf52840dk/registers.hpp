// Registers of the nRF52840 that the board's code touches.
// nRF52840 Product Specification 1.7: 5.4 CLOCK, 6.9 GPIO, 6.34 UART, 4.3 NVMC.
//
// SVD: nrf52840.svd
#pragma once

#include "boards/common/registers.hpp"

namespace boards::nrf52840 {

inline constexpr Register<uint32_t> kHfclkStart{0x40000000};    // CLOCK.TASKS_HFCLKSTART
inline constexpr Register<uint32_t> kHfclkStarted{0x40000100};  // CLOCK.EVENTS_HFCLKSTARTED

inline constexpr Register<uint32_t> kInstructionCache{0x4001E540};  // NVMC.ICACHECNF
inline constexpr Field kCacheEnable{0, 1};                          // NVMC.ICACHECNF.CACHEEN

inline constexpr Register<uint32_t> kPort0Set{0x50000508};     // P0.OUTSET
inline constexpr Register<uint32_t> kPort0Output{0x50000518};  // P0.DIRSET

inline constexpr Register<uint32_t> kUartStartReceive{0x40002000};   // UART0.TASKS_STARTRX
inline constexpr Register<uint32_t> kUartStartTransmit{0x40002008};  // UART0.TASKS_STARTTX
inline constexpr Register<uint32_t> kUartReceived{0x40002108};       // UART0.EVENTS_RXDRDY
inline constexpr Register<uint32_t> kUartSent{0x4000211C};           // UART0.EVENTS_TXDRDY
inline constexpr Register<uint32_t> kUartEnable{0x40002500};         // UART0.ENABLE
inline constexpr Field kUartEnabled{0, 4};                           // UART0.ENABLE.ENABLE
inline constexpr Register<uint32_t> kUartTransmitPin{0x4000250C};    // UART0.PSEL.TXD
inline constexpr Register<uint32_t> kUartReceivePin{0x40002514};     // UART0.PSEL.RXD
inline constexpr Register<uint32_t> kUartReceive{0x40002518};        // UART0.RXD
inline constexpr Register<uint32_t> kUartTransmit{0x4000251C};       // UART0.TXD
inline constexpr Register<uint32_t> kUartBaud{0x40002524};           // UART0.BAUDRATE

}  // namespace boards::nrf52840
