// The engine: what runs programs. The image links one: engine_lab.cpp over runtime/, or another
// that implements these functions (CMake option ENGINE).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace fw::engine {

/** Why a load or execute failed. Its words are made where they are asked for: an image that does
 * not print them has none in it. */
struct Refusal {
  int32_t instruction = -1;  // of the program
  int32_t value = -1;        // index in the program's values
  uint32_t have_bytes = 0;   // both 0: they do not apply
  uint32_t need_bytes = 0;
};

/** The last refusal's code, kebab-case, stable. */
std::string_view refusal_code();
/** The operator that it names, with its overload, as in the program; empty if none. */
std::string_view refusal_operator();

/** Called around each instruction of the program. */
struct Hook {
  void (*before)(void* context, uint32_t instruction);
  void (*after)(void* context, uint32_t instruction);
  void* context;
};

/** Bytes of the arena by purpose, after a load. */
struct Memory {
  uint32_t planned_bytes;
  uint32_t method_bytes;
  uint32_t temporary_bytes;
  uint32_t arena_bytes;   // given
  uint32_t needed_bytes;  // of it
};

std::string_view name();
std::string_view version();

/** Load `method` of `program` into `arena`. `program` and `arena` are 16-byte aligned and must
 * stay.
 *
 * The one loaded method is the engine's state; a second load replaces it.
 * @return false with `why` set if the engine refuses. */
[[nodiscard]] bool load(std::span<const std::byte> program, std::string_view method,
                        std::span<std::byte> arena, Refusal& why);

/** Instructions of the loaded method. */
uint32_t instruction_count();

/** Call `use` with the bytes of each input in order, to be written before each execute: the memory
 * plan may reuse them. A program may name one memory as several inputs. */
void for_each_input(void (*use)(void*, std::span<std::byte>), void* context);

uint32_t output_count();
/** Bytes of output `i`, valid until the next write to an input. */
std::span<const std::byte> output(uint32_t i);
/** The same to write to; empty if it lies in the program, as a constant does. */
std::span<std::byte> output_memory(uint32_t i);

/** Bytes of what an instruction of the program wrote (the first of several results), valid inside
 * `Hook::after`; empty if it wrote none. */
std::span<const std::byte> result(uint32_t instruction);

/** Call `use` with the bytes of each tensor among an instruction's arguments, its results included;
 * not at all if the engine does not tell. */
void for_each_argument(uint32_t instruction, void (*use)(void*, std::span<const std::byte>),
                       void* context);

/** Execute once. `hook` may be null.
 *
 * @return false with `why` set if an instruction failed. */
[[nodiscard]] bool execute(const Hook* hook, Refusal& why);

Memory memory();

/** A part of the arena that was given to a load. */
struct Part {
  uint32_t begin, bytes;
};
/** What no execute may change, from a load to the next; no bytes if the engine has no such part. */
Part fixed_memory();

}  // namespace fw::engine
