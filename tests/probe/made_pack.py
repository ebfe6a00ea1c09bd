"""A CMSIS-Pack of our own for the simulated Cortex-M4 board: description and flash algorithms, compiled and zipped.

Layout of the algorithm's ELF and of `FlashDevice`: CMSIS-Pack documentation, "Flash Programming Algorithms"
(FlashOS.h); of the description: Open-CMSIS-Pack specification, "/package" and "/package/devices".
"""

from __future__ import annotations

import subprocess
import zipfile
from pathlib import Path

ID, VERSION, TARGET = "CortexMBench.Simulated_DFP", "1.2.3", "labm4f"
# As QEMU's mps2-an386 has them: what stands for Flash, and RAM.
FLASH = ((0x00000000, 0x100000), (0x21000000, 0xC00000))
RAM = (0x20000000, 0x400000)

_ALGORITHM = """
struct Sector { unsigned size, address; };
struct FlashDevice {
  unsigned short version; char name[128]; unsigned short type;
  unsigned address, size, page, reserved; unsigned char empty;
  unsigned program_ms, erase_ms; struct Sector sectors[2];
};
__attribute__((section("DevDscr"), used)) const struct FlashDevice FlashDevice = {
  0x0101, "cortex-m-bench", 1, START, SIZE, 0x1000, 0, 0xFF, 1000, 1000,
  {{0x1000, 0}, {0xFFFFFFFF, 0xFFFFFFFF}},
};
#define CODE __attribute__((section("PrgCode"), used))
CODE int Init(unsigned address, unsigned clock, unsigned function) { return 0; }
CODE int UnInit(unsigned function) { return 0; }
CODE int EraseSector(unsigned address) {
  volatile unsigned* word = (volatile unsigned*)address;
  for (int i = 0; i < 0x1000 / 4; ++i) word[i] = 0xFFFFFFFF;
  return 0;
}
CODE int ProgramPage(unsigned address, unsigned size, const unsigned* data) {
  volatile unsigned* word = (volatile unsigned*)address;
  for (unsigned i = 0; i < (size + 3) / 4; ++i) word[i] &= data[i];
  return 0;
}
__attribute__((section("PrgData"), used)) int state = 1;
"""
_LINK = "SECTIONS { PrgCode 0 : { *(PrgCode) } PrgData : { *(PrgData) } DevDscr : { *(DevDscr) } }"


def _algorithm(folder: Path, start: int, nbytes: int) -> bytes:
    source, script, elf = folder / "a.c", folder / "a.ld", folder / "a.flm"
    source.write_text(f"#define START {start}u\n#define SIZE {nbytes}u\n{_ALGORITHM}")
    script.write_text(_LINK)
    subprocess.run(
        [
            *("arm-none-eabi-gcc", "-mcpu=cortex-m3", "-mthumb", "-Os", "-ffreestanding"),
            *("-nostdlib", "-fno-tree-loop-distribute-patterns", "-Wl,--build-id=none"),
            *("-Wl,--entry=Init", f"-Wl,-T,{script}", str(source), "-o", str(elf)),
        ],
        check=True,
    )
    return elf.read_bytes()


def _description(*, algorithms: bool) -> str:
    memories = "".join(
        f'<memory name="IROM{i + 1}" access="rx" start="0x{start:08X}" size="0x{size:X}" default="1"'
        f' startup="{int(i == 0)}"/>'
        for i, (start, size) in enumerate(FLASH)
    )
    flash = "".join(
        f'<algorithm name="Flash/{i}.FLM" start="0x{start:08X}" size="0x{size:X}" default="1" '
        f'RAMstart="0x{RAM[0]:08X}" RAMsize="0x8000"/>'
        for i, (start, size) in enumerate(FLASH)
    )
    return f"""<?xml version="1.0" encoding="utf-8"?>
<package schemaVersion="1.7.2">
 <vendor>CortexMBench</vendor><name>Simulated_DFP</name><description>For tests</description>
 <url>http://localhost/</url>
 <releases>
  <release version="{VERSION}">This one.</release><release version="1.0.0">An old one.</release>
 </releases>
 <devices><family Dfamily="Simulated" Dvendor="Arm:82"><device Dname="{TARGET.upper()}">
  <processor Dcore="Cortex-M4" DcoreVersion="r0p1" Dfpu="SP_FPU" Dmpu="MPU" Dendian="Little-endian" Dclock="25000000"/>
  <debug __dp="0" __ap="0"/>
  {memories}
  <memory name="IRAM1" access="rwx" start="0x{RAM[0]:08X}" size="0x{RAM[1]:X}" default="1"/>
  {flash if algorithms else ""}
 </device></family></devices>
</package>
"""


def make_pack(folder: Path, *, algorithms: bool = True) -> Path:
    """Compile and zip the pack into a folder; without algorithms it describes memory alone."""
    path = folder / f"{ID}.{VERSION}.pack"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("CortexMBench.Simulated_DFP.pdsc", _description(algorithms=algorithms))
        for i, (start, size) in enumerate(FLASH):
            archive.writestr(f"Flash/{i}.FLM", _algorithm(folder, start, size))
    return path
