// Registers of the STM32L4R5 that the board's code touches.
// RM0432 Rev. 9: 3 FLASH, 5 PWR, 6 RCC, 8 GPIO, 47 LPUART.
// No SVD file of this chip is at hand: unverified.
#pragma once

#include "boards/common/registers.hpp"

namespace boards::stm32l4r5 {

inline constexpr Register<uint32_t> kFlashAccess{0x40022000};  // FLASH.ACR
inline constexpr Field kFlashLatency{0, 4};                    // FLASH.ACR.LATENCY
inline constexpr Field kFlashPrefetch{8, 1};                   // FLASH.ACR.PRFTEN
inline constexpr Field kFlashInstructionCache{9, 1};           // FLASH.ACR.ICEN
inline constexpr Field kFlashDataCache{10, 1};                 // FLASH.ACR.DCEN

inline constexpr Register<uint32_t> kPowerControl1{0x40007000};  // PWR.CR1
inline constexpr Field kPowerRange{9, 2};                        // PWR.CR1.VOS
inline constexpr Register<uint32_t> kPowerControl2{0x40007004};  // PWR.CR2
inline constexpr Field kPowerPortG{9, 1};                        // PWR.CR2.IOSV
inline constexpr Register<uint32_t> kPowerStatus2{0x40007014};   // PWR.SR2
inline constexpr Field kPowerRangeChanging{10, 1};               // PWR.SR2.VOSF
inline constexpr Register<uint32_t> kPowerControl5{0x40007080};  // PWR.CR5
inline constexpr Field kPowerNotBoosted{8, 1};                   // PWR.CR5.R1MODE

inline constexpr Register<uint32_t> kClockControl{0x40021000};        // RCC.CR
inline constexpr Field kHsiOn{8, 1};                                  // RCC.CR.HSION
inline constexpr Field kHsiReady{10, 1};                              // RCC.CR.HSIRDY
inline constexpr Field kPllOn{24, 1};                                 // RCC.CR.PLLON
inline constexpr Field kPllReady{25, 1};                              // RCC.CR.PLLRDY
inline constexpr Register<uint32_t> kClockConfiguration{0x40021008};  // RCC.CFGR
inline constexpr Field kClockSwitch{0, 2};                            // RCC.CFGR.SW
inline constexpr Field kClockSwitched{2, 2};                          // RCC.CFGR.SWS
inline constexpr Field kCoreDivider{4, 4};                            // RCC.CFGR.HPRE
inline constexpr Register<uint32_t> kPllConfiguration{0x4002100C};    // RCC.PLLCFGR
inline constexpr Field kPllSource{0, 2};                              // RCC.PLLCFGR.PLLSRC
inline constexpr Field kPllM{4, 4};                                   // RCC.PLLCFGR.PLLM
inline constexpr Field kPllN{8, 7};                                   // RCC.PLLCFGR.PLLN
inline constexpr Field kPllREnable{24, 1};                            // RCC.PLLCFGR.PLLREN
inline constexpr Field kPllR{25, 2};                                  // RCC.PLLCFGR.PLLR
inline constexpr Register<uint32_t> kGateAhb2{0x4002104C};            // RCC.AHB2ENR
inline constexpr Field kGatePortG{6, 1};                              // RCC.AHB2ENR.GPIOGEN
inline constexpr Register<uint32_t> kGateApb11{0x40021058};           // RCC.APB1ENR1
inline constexpr Field kGatePower{28, 1};                             // RCC.APB1ENR1.PWREN
inline constexpr Register<uint32_t> kGateApb12{0x4002105C};           // RCC.APB1ENR2
inline constexpr Field kGateLpuart1{0, 1};                            // RCC.APB1ENR2.LPUART1EN

inline constexpr Register<uint32_t> kPortGMode{0x48001800};          // GPIOG.MODER
inline constexpr Field kMode7{14, 2};                                // GPIOG.MODER.MODER7
inline constexpr Field kMode8{16, 2};                                // GPIOG.MODER.MODER8
inline constexpr Register<uint32_t> kPortGFunctionLow{0x48001820};   // GPIOG.AFRL
inline constexpr Field kFunction7{28, 4};                            // GPIOG.AFRL.AFRL7
inline constexpr Register<uint32_t> kPortGFunctionHigh{0x48001824};  // GPIOG.AFRH
inline constexpr Field kFunction8{0, 4};                             // GPIOG.AFRH.AFRH8

inline constexpr Register<uint32_t> kUartControl1{0x40008000};  // LPUART1.CR1
inline constexpr Field kUartEnable{0, 1};                       // LPUART1.CR1.UE
inline constexpr Field kUartReceiveEnable{2, 1};                // LPUART1.CR1.RE
inline constexpr Field kUartTransmitEnable{3, 1};               // LPUART1.CR1.TE
inline constexpr Register<uint32_t> kUartBaud{0x4000800C};      // LPUART1.BRR
inline constexpr Register<uint32_t> kUartStatus{0x4000801C};    // LPUART1.ISR
inline constexpr Field kUartReceived{5, 1};                     // LPUART1.ISR.RXNE
inline constexpr Field kUartTransmitEmpty{7, 1};                // LPUART1.ISR.TXE
inline constexpr Register<uint32_t> kUartClear{0x40008020};     // LPUART1.ICR
inline constexpr Field kUartClearOverrun{3, 1};                 // LPUART1.ICR.ORECF
inline constexpr Register<uint32_t> kUartReceive{0x40008024};   // LPUART1.RDR
inline constexpr Register<uint32_t> kUartTransmit{0x40008028};  // LPUART1.TDR

}  // namespace boards::stm32l4r5
