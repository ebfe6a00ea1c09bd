// Registers of the MK64FN1M0 that the board's code touches.
// K64 Sub-Family Reference Manual (K64P144M120SF5RM) Rev. 4: 12 SIM, 11 PORT, 23 WDOG, 25 MCG, 52
// UART.
//
// SVD: MK64F12.svd
#pragma once

#include "boards/common/registers.hpp"

namespace boards::k64 {

inline constexpr Register<uint16_t> kWatchdogUnlock{0x4005200E};   // WDOG.UNLOCK
inline constexpr Register<uint16_t> kWatchdogControl{0x40052000};  // WDOG.STCTRLH
inline constexpr Field kWatchdogEnable{0, 1};                      // WDOG.STCTRLH.WDOGEN
inline constexpr Field kWatchdogAllowUpdate{4, 1};                 // WDOG.STCTRLH.ALLOWUPDATE

inline constexpr Register<uint32_t> kClockDividers{0x40048044};  // SIM.CLKDIV1
inline constexpr Field kCoreDivider{28, 4};                      // SIM.CLKDIV1.OUTDIV1
inline constexpr Field kBusDivider{24, 4};                       // SIM.CLKDIV1.OUTDIV2
inline constexpr Field kFlexBusDivider{20, 4};                   // SIM.CLKDIV1.OUTDIV3
inline constexpr Field kFlashDivider{16, 4};                     // SIM.CLKDIV1.OUTDIV4
inline constexpr Register<uint32_t> kClockGate4{0x40048034};     // SIM.SCGC4
inline constexpr Field kGateUart0{10, 1};                        // SIM.SCGC4.UART0
inline constexpr Register<uint32_t> kClockGate5{0x40048038};     // SIM.SCGC5
inline constexpr Field kGatePortB{10, 1};                        // SIM.SCGC5.PORTB

inline constexpr Register<uint8_t> kMcgC1{0x40064000};      // MCG.C1
inline constexpr Field kClockSource{6, 2};                  // MCG.C1.CLKS
inline constexpr Field kFllDivider{3, 3};                   // MCG.C1.FRDIV
inline constexpr Field kFllInternal{2, 1};                  // MCG.C1.IREFS
inline constexpr Register<uint8_t> kMcgC2{0x40064001};      // MCG.C2
inline constexpr Field kOscillatorRange{4, 2};              // MCG.C2.RANGE
inline constexpr Field kOscillatorCrystal{2, 1};            // MCG.C2.EREFS
inline constexpr Register<uint8_t> kMcgC5{0x40064004};      // MCG.C5
inline constexpr Field kPllDivider{0, 5};                   // MCG.C5.PRDIV0
inline constexpr Register<uint8_t> kMcgC6{0x40064005};      // MCG.C6
inline constexpr Field kPllSelect{6, 1};                    // MCG.C6.PLLS
inline constexpr Field kPllMultiplier{0, 5};                // MCG.C6.VDIV0
inline constexpr Register<uint8_t> kMcgStatus{0x40064006};  // MCG.S
inline constexpr Field kStatusSource{2, 2};                 // MCG.S.CLKST
inline constexpr Field kStatusFllInternal{4, 1};            // MCG.S.IREFST
inline constexpr Field kStatusPll{5, 1};                    // MCG.S.PLLST
inline constexpr Field kStatusLocked{6, 1};                 // MCG.S.LOCK0

inline constexpr Register<uint32_t> kPinReceive{0x4004A040};   // PORTB.PCR16
inline constexpr Register<uint32_t> kPinTransmit{0x4004A044};  // PORTB.PCR17
inline constexpr Field kPinFunction{8, 3};                     // PORTB.PCR16.MUX

inline constexpr Register<uint8_t> kUartBaudHigh{0x4006A000};  // UART0.BDH
inline constexpr Field kUartDividerHigh{0, 5};                 // UART0.BDH.SBR
inline constexpr Register<uint8_t> kUartBaudLow{0x4006A001};   // UART0.BDL
inline constexpr Register<uint8_t> kUartControl2{0x4006A003};  // UART0.C2
inline constexpr Field kUartReceiveEnable{2, 1};               // UART0.C2.RE
inline constexpr Field kUartTransmitEnable{3, 1};              // UART0.C2.TE
inline constexpr Register<uint8_t> kUartStatus1{0x4006A004};   // UART0.S1
inline constexpr Field kUartReceiveFull{5, 1};                 // UART0.S1.RDRF
inline constexpr Field kUartTransmitEmpty{7, 1};               // UART0.S1.TDRE
inline constexpr Register<uint8_t> kUartData{0x4006A007};      // UART0.D
inline constexpr Register<uint8_t> kUartControl4{0x4006A00A};  // UART0.C4
inline constexpr Field kUartDividerFine{0, 5};                 // UART0.C4.BRFA

}  // namespace boards::k64
