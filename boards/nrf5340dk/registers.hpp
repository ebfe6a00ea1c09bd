// Registers of the nRF5340's application core that the board's code touches, by their Secure
// aliases. nRF5340 Product Specification 1.3: 4.9 CLOCK, 7.2 CACHE, 7.14 GPIO, 7.37 UARTE; 10.1
// instances. No SVD file of this chip is at hand: unverified.
#pragma once

#include "boards/common/registers.hpp"

namespace boards::nrf5340 {

inline constexpr Register<uint32_t> kHfclkStart{0x50005000};    // CLOCK.TASKS_HFCLKSTART
inline constexpr Register<uint32_t> kHfclkStarted{0x50005100};  // CLOCK.EVENTS_HFCLKSTARTED
inline constexpr Register<uint32_t> kHfclkControl{0x50005558};  // CLOCK.HFCLKCTRL
inline constexpr Field kHfclkDivider{0, 2};                     // CLOCK.HFCLKCTRL.HCLK

inline constexpr Register<uint32_t> kCacheEnable{0x50001500};  // CACHE.ENABLE

inline constexpr Register<uint32_t> kPort0Set{0x50842508};     // P0.OUTSET
inline constexpr Register<uint32_t> kPort0Output{0x50842518};  // P0.DIRSET

inline constexpr Register<uint32_t> kUartStartReceive{0x50008000};     // UARTE0.TASKS_STARTRX
inline constexpr Register<uint32_t> kUartStartTransmit{0x50008008};    // UARTE0.TASKS_STARTTX
inline constexpr Register<uint32_t> kUartReceiveEnd{0x50008110};       // UARTE0.EVENTS_ENDRX
inline constexpr Register<uint32_t> kUartTransmitEnd{0x50008120};      // UARTE0.EVENTS_ENDTX
inline constexpr Register<uint32_t> kUartEnable{0x50008500};           // UARTE0.ENABLE
inline constexpr Register<uint32_t> kUartTransmitPin{0x5000850C};      // UARTE0.PSEL.TXD
inline constexpr Register<uint32_t> kUartReceivePin{0x50008514};       // UARTE0.PSEL.RXD
inline constexpr Register<uint32_t> kUartBaud{0x50008524};             // UARTE0.BAUDRATE
inline constexpr Register<uint32_t> kUartReceivePointer{0x50008534};   // UARTE0.RXD.PTR
inline constexpr Register<uint32_t> kUartReceiveCount{0x50008538};     // UARTE0.RXD.MAXCNT
inline constexpr Register<uint32_t> kUartTransmitPointer{0x50008544};  // UARTE0.TXD.PTR
inline constexpr Register<uint32_t> kUartTransmitCount{0x50008548};    // UARTE0.TXD.MAXCNT

}  // namespace boards::nrf5340
