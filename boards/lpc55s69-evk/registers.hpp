// Registers of the LPC55S69 that the board's code touches.
// LPC55S6x User manual (UM11126) Rev. 2.4: 4 SYSCON, 13 ANACTRL, 15 IOCON, 33 Flexcomm, 34 USART.
//
// SVD: LPC55S69_cm33_core0.xml
#pragma once

#include "boards/common/registers.hpp"

namespace boards::lpc55s69 {

inline constexpr Register<uint32_t> kClockGate0{0x40000200};      // SYSCON.AHBCLKCTRL0
inline constexpr Field kGateIocon{13, 1};                         // SYSCON.AHBCLKCTRL0.IOCON
inline constexpr Register<uint32_t> kClockGate1{0x40000204};      // SYSCON.AHBCLKCTRL1
inline constexpr Field kGateFlexcomm0{11, 1};                     // SYSCON.AHBCLKCTRL1.FC0
inline constexpr Register<uint32_t> kMainClockA{0x40000280};      // SYSCON.MAINCLKSELA
inline constexpr Register<uint32_t> kMainClockB{0x40000284};      // SYSCON.MAINCLKSELB
inline constexpr Field kMainClockSource{0, 3};                    // SYSCON.MAINCLKSELA.SEL
inline constexpr Register<uint32_t> kFlexcomm0Clock{0x400002B0};  // SYSCON.FCCLKSEL0
inline constexpr Field kFlexcomm0Source{0, 3};                    // SYSCON.FCCLKSEL0.SEL
inline constexpr Register<uint32_t> kCoreDivider{0x40000380};     // SYSCON.AHBCLKDIV
inline constexpr Field kCoreDividerValue{0, 8};                   // SYSCON.AHBCLKDIV.DIV
inline constexpr Register<uint32_t> kFlashControl{0x40000400};    // SYSCON.FMCCR
inline constexpr Field kFlashTime{12, 4};                         // SYSCON.FMCCR.FLASHTIM

inline constexpr Register<uint32_t> kFreeOscillator{0x40013010};  // ANACTRL.FRO192M_CTRL
inline constexpr Field kOscillator12Mhz{14, 1};  // ANACTRL.FRO192M_CTRL.ENA_12MHZCLK
inline constexpr Field kOscillator96Mhz{30, 1};  // ANACTRL.FRO192M_CTRL.ENA_96MHZCLK

inline constexpr Register<uint32_t> kPinReceive{0x40001074};   // IOCON.PIO0_29
inline constexpr Register<uint32_t> kPinTransmit{0x40001078};  // IOCON.PIO0_30
inline constexpr Field kPinFunction{0, 4};                     // IOCON.PIO0_29.FUNC
inline constexpr Field kPinDigital{8, 1};                      // IOCON.PIO0_29.DIGIMODE

inline constexpr Register<uint32_t> kFlexcommFunction{0x40086FF8};    // FLEXCOMM0.PSELID
inline constexpr Field kFlexcommSelect{0, 3};                         // FLEXCOMM0.PSELID.PERSEL
inline constexpr Register<uint32_t> kUsartConfiguration{0x40086000};  // USART0.CFG
inline constexpr Field kUsartEnable{0, 1};                            // USART0.CFG.ENABLE
inline constexpr Field kUsartDataBits{2, 2};                          // USART0.CFG.DATALEN
inline constexpr Register<uint32_t> kUsartBaud{0x40086020};           // USART0.BRG
inline constexpr Register<uint32_t> kUsartOversample{0x40086028};     // USART0.OSR
inline constexpr Register<uint32_t> kFifoConfiguration{0x40086E00};   // USART0.FIFOCFG
inline constexpr Field kFifoTransmitEnable{0, 1};                     // USART0.FIFOCFG.ENABLETX
inline constexpr Field kFifoReceiveEnable{1, 1};                      // USART0.FIFOCFG.ENABLERX
inline constexpr Register<uint32_t> kFifoStatus{0x40086E04};          // USART0.FIFOSTAT
inline constexpr Field kFifoTransmitReady{5, 1};                      // USART0.FIFOSTAT.TXNOTFULL
inline constexpr Field kFifoReceived{6, 1};                           // USART0.FIFOSTAT.RXNOTEMPTY
inline constexpr Register<uint32_t> kFifoWrite{0x40086E20};           // USART0.FIFOWR
inline constexpr Register<uint32_t> kFifoRead{0x40086E30};            // USART0.FIFORD

}  // namespace boards::lpc55s69
