// Registers of the STM32H743 that the board's code touches.
// RM0433 Rev. 8: 4 FLASH, 6 PWR, 8 RCC, 11 GPIO, 12 SYSCFG, 48 USART.
// No SVD file of this chip is at hand: unverified.
#pragma once

#include "boards/common/registers.hpp"

namespace boards::stm32h743 {

inline constexpr Register<uint32_t> kFlashAccess{0x52002000};  // FLASH.ACR
inline constexpr Field kFlashLatency{0, 4};                    // FLASH.ACR.LATENCY
inline constexpr Field kFlashSignalDelay{4, 2};                // FLASH.ACR.WRHIGHFREQ

inline constexpr Register<uint32_t> kPowerControl3{0x5802480C};   // PWR.CR3
inline constexpr Field kPowerUpdateLock{2, 1};                    // PWR.CR3.SCUEN
inline constexpr Field kPowerRegulator{1, 1};                     // PWR.CR3.LDOEN
inline constexpr Register<uint32_t> kPowerStatus1{0x58024804};    // PWR.CSR1
inline constexpr Field kPowerLevelReady{13, 1};                   // PWR.CSR1.ACTVOSRDY
inline constexpr Register<uint32_t> kPowerDomain3{0x58024818};    // PWR.D3CR
inline constexpr Field kPowerLevel{14, 2};                        // PWR.D3CR.VOS
inline constexpr Field kPowerReady{13, 1};                        // PWR.D3CR.VOSRDY
inline constexpr Register<uint32_t> kPowerOverdrive{0x5800042C};  // SYSCFG.PWRCR
inline constexpr Field kPowerOverdriveOn{0, 1};                   // SYSCFG.PWRCR.ODEN

inline constexpr Register<uint32_t> kClockControl{0x58024400};        // RCC.CR
inline constexpr Field kPllOn{24, 1};                                 // RCC.CR.PLL1ON
inline constexpr Field kPllReady{25, 1};                              // RCC.CR.PLL1RDY
inline constexpr Register<uint32_t> kClockConfiguration{0x58024410};  // RCC.CFGR
inline constexpr Field kClockSwitch{0, 3};                            // RCC.CFGR.SW
inline constexpr Field kClockSwitched{3, 3};                          // RCC.CFGR.SWS
inline constexpr Register<uint32_t> kDomain1{0x58024418};             // RCC.D1CFGR
inline constexpr Field kBusDivider{0, 4};                             // RCC.D1CFGR.HPRE
inline constexpr Field kApb3Divider{4, 3};                            // RCC.D1CFGR.D1PPRE
inline constexpr Field kCoreDivider{8, 4};                            // RCC.D1CFGR.D1CPRE
inline constexpr Register<uint32_t> kDomain2{0x5802441C};             // RCC.D2CFGR
inline constexpr Field kApb1Divider{4, 3};                            // RCC.D2CFGR.D2PPRE1
inline constexpr Field kApb2Divider{8, 3};                            // RCC.D2CFGR.D2PPRE2
inline constexpr Register<uint32_t> kDomain3{0x58024420};             // RCC.D3CFGR
inline constexpr Field kApb4Divider{4, 3};                            // RCC.D3CFGR.D3PPRE
inline constexpr Register<uint32_t> kPllSelection{0x58024428};        // RCC.PLLCKSELR
inline constexpr Field kPllSource{0, 2};                              // RCC.PLLCKSELR.PLLSRC
inline constexpr Field kPllM{4, 6};                                   // RCC.PLLCKSELR.DIVM1
inline constexpr Register<uint32_t> kPllConfiguration{0x5802442C};    // RCC.PLLCFGR
inline constexpr Field kPllInputRange{2, 2};                          // RCC.PLLCFGR.PLL1RGE
inline constexpr Field kPllPEnable{16, 1};                            // RCC.PLLCFGR.DIVP1EN
inline constexpr Register<uint32_t> kPllDividers{0x58024430};         // RCC.PLL1DIVR
inline constexpr Field kPllN{0, 9};                                   // RCC.PLL1DIVR.DIVN1
inline constexpr Field kPllP{9, 7};                                   // RCC.PLL1DIVR.DIVP1
inline constexpr Register<uint32_t> kKernelClock2{0x58024454};        // RCC.D2CCIP2R
inline constexpr Field kUsartSource{0, 3};                            // RCC.D2CCIP2R.USART234578SEL
inline constexpr Register<uint32_t> kGateAhb4{0x580244E0};            // RCC.AHB4ENR
inline constexpr Field kGatePortD{3, 1};                              // RCC.AHB4ENR.GPIODEN
inline constexpr Register<uint32_t> kGateApb1{0x580244E8};            // RCC.APB1LENR
inline constexpr Field kGateUsart3{18, 1};                            // RCC.APB1LENR.USART3EN
inline constexpr Register<uint32_t> kGateApb4{0x580244F4};            // RCC.APB4ENR
inline constexpr Field kGateSyscfg{1, 1};                             // RCC.APB4ENR.SYSCFGEN

inline constexpr Register<uint32_t> kPortDMode{0x58020C00};          // GPIOD.MODER
inline constexpr Field kMode8{16, 2};                                // GPIOD.MODER.MODER8
inline constexpr Field kMode9{18, 2};                                // GPIOD.MODER.MODER9
inline constexpr Register<uint32_t> kPortDFunctionHigh{0x58020C24};  // GPIOD.AFRH
inline constexpr Field kFunction8{0, 4};                             // GPIOD.AFRH.AFR8
inline constexpr Field kFunction9{4, 4};                             // GPIOD.AFRH.AFR9

inline constexpr Register<uint32_t> kUartControl1{0x40004800};  // USART3.CR1
inline constexpr Field kUartEnable{0, 1};                       // USART3.CR1.UE
inline constexpr Field kUartReceiveEnable{2, 1};                // USART3.CR1.RE
inline constexpr Field kUartTransmitEnable{3, 1};               // USART3.CR1.TE
inline constexpr Register<uint32_t> kUartBaud{0x4000480C};      // USART3.BRR
inline constexpr Register<uint32_t> kUartStatus{0x4000481C};    // USART3.ISR
inline constexpr Field kUartReceived{5, 1};                     // USART3.ISR.RXNE
inline constexpr Field kUartTransmitEmpty{7, 1};                // USART3.ISR.TXE
inline constexpr Register<uint32_t> kUartClear{0x40004820};     // USART3.ICR
inline constexpr Field kUartClearOverrun{3, 1};                 // USART3.ICR.ORECF
inline constexpr Register<uint32_t> kUartReceive{0x40004824};   // USART3.RDR
inline constexpr Register<uint32_t> kUartTransmit{0x40004828};  // USART3.TDR

// Armv7-M ARM (DDI0403E) B4.8.2 and B3.2.8: caches of the core.
inline constexpr Register<uint32_t> kInvalidateInstructions{0xE000EF50};  // SCB.ICIALLU
inline constexpr Register<uint32_t> kInvalidateDataBySet{0xE000EF60};     // SCB.DCISW
inline constexpr Register<uint32_t> kCacheControl{0xE000ED14};            // SCB.CCR
inline constexpr Field kInstructionCacheOn{17, 1};                        // SCB.CCR.IC
inline constexpr Field kDataCacheOn{16, 1};                               // SCB.CCR.DC

}  // namespace boards::stm32h743
