// Registers of the RP2040 that the board's code touches: RP2040 Datasheet, the list of registers at
// the end of each chapter ("Subsystem Resets", "Clocks", "Crystal Oscillator", "PLL", "GPIO",
// "Flash", "UART"). There is no SVD file of it in pyOCD's wheel.
#pragma once

#include "boards/common/registers.hpp"

namespace boards::rp2040 {

inline constexpr Register<uint32_t> kReset{0x4000C000};      // RESETS.RESET
inline constexpr Field kResetPins{5, 1};                     // RESETS.RESET.IO_BANK0
inline constexpr Field kResetPads{8, 1};                     // RESETS.RESET.PADS_BANK0
inline constexpr Field kResetPll{12, 1};                     // RESETS.RESET.PLL_SYS
inline constexpr Field kResetUart{22, 1};                    // RESETS.RESET.UART0
inline constexpr Register<uint32_t> kResetDone{0x4000C008};  // RESETS.RESET_DONE

inline constexpr Register<uint32_t> kCrystal{0x40024000};         // XOSC.CTRL
inline constexpr Field kCrystalRange{0, 12};                      // XOSC.CTRL.FREQ_RANGE
inline constexpr Field kCrystalEnable{12, 12};                    // XOSC.CTRL.ENABLE
inline constexpr Register<uint32_t> kCrystalStatus{0x40024004};   // XOSC.STATUS
inline constexpr Field kCrystalStable{31, 1};                     // XOSC.STATUS.STABLE
inline constexpr Register<uint32_t> kCrystalStartup{0x4002400C};  // XOSC.STARTUP
inline constexpr Field kCrystalDelay{0, 14};                      // XOSC.STARTUP.DELAY

inline constexpr Register<uint32_t> kReference{0x40008030};          // CLOCKS.CLK_REF_CTRL
inline constexpr Field kReferenceSource{0, 2};                       // CLOCKS.CLK_REF_CTRL.SRC
inline constexpr Register<uint32_t> kReferenceSelected{0x40008038};  // CLOCKS.CLK_REF_SELECTED
inline constexpr Register<uint32_t> kSystem{0x4000803C};             // CLOCKS.CLK_SYS_CTRL
inline constexpr Field kSystemSource{0, 1};                          // CLOCKS.CLK_SYS_CTRL.SRC
inline constexpr Field kSystemAuxiliary{5, 3};                       // CLOCKS.CLK_SYS_CTRL.AUXSRC
inline constexpr Register<uint32_t> kSystemSelected{0x40008044};     // CLOCKS.CLK_SYS_SELECTED
inline constexpr Register<uint32_t> kPeripheral{0x40008048};         // CLOCKS.CLK_PERI_CTRL
inline constexpr Field kPeripheralAuxiliary{5, 3};                   // CLOCKS.CLK_PERI_CTRL.AUXSRC
inline constexpr Field kPeripheralEnable{11, 1};                     // CLOCKS.CLK_PERI_CTRL.ENABLE

inline constexpr Register<uint32_t> kPllStatus{0x40028000};    // PLL_SYS.CS
inline constexpr Field kPllReferenceDivider{0, 6};             // PLL_SYS.CS.REFDIV
inline constexpr Field kPllLock{31, 1};                        // PLL_SYS.CS.LOCK
inline constexpr Register<uint32_t> kPllPower{0x40028004};     // PLL_SYS.PWR
inline constexpr Field kPllDown{0, 1};                         // PLL_SYS.PWR.PD
inline constexpr Field kPllDividerDown{3, 1};                  // PLL_SYS.PWR.POSTDIVPD
inline constexpr Field kPllOscillatorDown{5, 1};               // PLL_SYS.PWR.VCOPD
inline constexpr Register<uint32_t> kPllMultiply{0x40028008};  // PLL_SYS.FBDIV_INT
inline constexpr Register<uint32_t> kPllDivide{0x4002800C};    // PLL_SYS.PRIM
inline constexpr Field kPllDivide1{16, 3};                     // PLL_SYS.PRIM.POSTDIV1
inline constexpr Field kPllDivide2{12, 3};                     // PLL_SYS.PRIM.POSTDIV2

inline constexpr Register<uint32_t> kPin0{0x40014004};  // IO_BANK0.GPIO0_CTRL
inline constexpr Field kPin0Function{0, 5};             // IO_BANK0.GPIO0_CTRL.FUNCSEL
inline constexpr Register<uint32_t> kPin1{0x4001400C};  // IO_BANK0.GPIO1_CTRL
inline constexpr Field kPin1Function{0, 5};             // IO_BANK0.GPIO1_CTRL.FUNCSEL

inline constexpr Register<uint32_t> kUartData{0x40034000};          // UART0.UARTDR
inline constexpr Register<uint32_t> kUartFlags{0x40034018};         // UART0.UARTFR
inline constexpr Field kUartReceiveEmpty{4, 1};                     // UART0.UARTFR.RXFE
inline constexpr Field kUartTransmitFull{5, 1};                     // UART0.UARTFR.TXFF
inline constexpr Register<uint32_t> kUartBaud{0x40034024};          // UART0.UARTIBRD
inline constexpr Register<uint32_t> kUartBaudFraction{0x40034028};  // UART0.UARTFBRD
inline constexpr Register<uint32_t> kUartLine{0x4003402C};          // UART0.UARTLCR_H
inline constexpr Field kUartFifo{4, 1};                             // UART0.UARTLCR_H.FEN
inline constexpr Field kUartWordLength{5, 2};                       // UART0.UARTLCR_H.WLEN
inline constexpr Register<uint32_t> kUartControl{0x40034030};       // UART0.UARTCR
inline constexpr Field kUartEnable{0, 1};                           // UART0.UARTCR.UARTEN
inline constexpr Field kUartTransmitEnable{8, 1};                   // UART0.UARTCR.TXE
inline constexpr Field kUartReceiveEnable{9, 1};                    // UART0.UARTCR.RXE

inline constexpr Register<uint32_t> kFlashCache{0x14000000};  // XIP_CTRL.CTRL
inline constexpr Field kFlashCacheEnable{0, 1};               // XIP_CTRL.CTRL.EN

// The second stage's (boot2.hpp), which reaches them by their offsets.
inline constexpr Register<uint32_t> kSsiControl0{0x18000000};     // XIP_SSI.CTRLR0
inline constexpr Field kSsiTransferMode{8, 2};                    // XIP_SSI.CTRLR0.TMOD
inline constexpr Field kSsiFrameBits{16, 5};                      // XIP_SSI.CTRLR0.DFS_32
inline constexpr Field kSsiFrameFormat{21, 2};                    // XIP_SSI.CTRLR0.SPI_FRF
inline constexpr Register<uint32_t> kSsiControl1{0x18000004};     // XIP_SSI.CTRLR1
inline constexpr Register<uint32_t> kSsiEnable{0x18000008};       // XIP_SSI.SSIENR
inline constexpr Register<uint32_t> kSsiSelect{0x18000010};       // XIP_SSI.SER
inline constexpr Register<uint32_t> kSsiDivider{0x18000014};      // XIP_SSI.BAUDR
inline constexpr Register<uint32_t> kSsiStatus{0x18000028};       // XIP_SSI.SR
inline constexpr Field kSsiBusy{0, 1};                            // XIP_SSI.SR.BUSY
inline constexpr Field kSsiSent{2, 1};                            // XIP_SSI.SR.TFE
inline constexpr Register<uint32_t> kSsiData{0x18000060};         // XIP_SSI.DR0
inline constexpr Register<uint32_t> kSsiSampleDelay{0x180000F0};  // XIP_SSI.RX_SAMPLE_DLY
inline constexpr Register<uint32_t> kSsiSpiControl{0x180000F4};   // XIP_SSI.SPI_CTRLR0
inline constexpr Field kSsiTransferType{0, 2};                    // XIP_SSI.SPI_CTRLR0.TRANS_TYPE
inline constexpr Field kSsiAddressNibbles{2, 4};                  // XIP_SSI.SPI_CTRLR0.ADDR_L
inline constexpr Field kSsiInstruction{8, 2};                     // XIP_SSI.SPI_CTRLR0.INST_L
inline constexpr Field kSsiWaitCycles{11, 5};                     // XIP_SSI.SPI_CTRLR0.WAIT_CYCLES
inline constexpr Field kSsiContinue{24, 8};                       // XIP_SSI.SPI_CTRLR0.XIP_CMD

}  // namespace boards::rp2040
