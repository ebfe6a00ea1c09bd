#include "firmware/app/neighbours.hpp"

#include <algorithm>

#include "firmware/app/engine.hpp"
#include "firmware/port/port.hpp"

namespace fw {
namespace {

std::span<const std::byte> between(const std::byte* begin, const std::byte* end) {
  return {begin, begin < end ? static_cast<size_t>(end - begin) : 0};
}

const std::byte* end_of(std::span<const std::byte> bytes) { return bytes.data() + bytes.size(); }

}  // namespace

void Neighbours::before(uint32_t instruction) {
  const std::span<const std::byte> memory = arena();
  output_ = engine::result(instruction);
  front_ = behind_ = {};
  const bool planned =
      !output_.empty() && output_.data() >= memory.data() && end_of(output_) <= end_of(memory);
  if (!planned) return;
  const auto room_in_front = static_cast<size_t>(output_.data() - memory.data());
  const auto room_behind = static_cast<size_t>(end_of(memory) - end_of(output_));
  front_ = between(output_.data() - std::min(kReach, room_in_front), output_.data());
  behind_ = between(end_of(output_), end_of(output_) + std::min(kReach, room_behind));
  engine::for_each_argument(
      instruction,
      [](void* self, std::span<const std::byte> argument) {
        static_cast<Neighbours*>(self)->leave_out(argument);
      },
      this);
  std::ranges::copy(front_, kept_front_);
  std::ranges::copy(behind_, kept_behind_);
}

void Neighbours::leave_out(std::span<const std::byte> argument) {
  if (argument.data() == output_.data() && argument.size() == output_.size()) return;
  if (argument.data() < end_of(front_) && end_of(argument) > front_.data()) {
    front_ = between(std::min(end_of(argument), end_of(front_)), end_of(front_));
  }
  if (argument.data() < end_of(behind_) && end_of(argument) > behind_.data()) {
    behind_ = between(behind_.data(), std::max(argument.data(), behind_.data()));
  }
}

void Neighbours::after(uint32_t instruction) {
  const uint32_t changes = changed(front_, kept_front_) + changed(behind_, kept_behind_);
  bytes_ += static_cast<uint32_t>(front_.size() + behind_.size());
  damaged_ += changes;
  if (changes != 0 && first_ < 0) first_ = static_cast<int32_t>(instruction);
}

uint32_t Neighbours::changed(std::span<const std::byte> now, const std::byte* kept) const {
  uint32_t count = 0;
  for (size_t i = 0; i < now.size(); ++i) count += now[i] != kept[i] ? 1 : 0;
  return count;
}

}  // namespace fw
