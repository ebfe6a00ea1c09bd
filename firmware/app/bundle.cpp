#include "firmware/app/bundle.hpp"

#include <algorithm>

namespace fw {
namespace {

constexpr std::string_view kMagic = "LABB";
constexpr uint32_t kVersion = 1;
constexpr uint32_t kAlignment = 16;
constexpr BundleRefusal kGood{};

BundleRefusal refuse(std::string_view code, uint32_t have = 0, uint32_t need = 0) {
  return {code, have, need};
}

// Sizes are compared by subtraction: a sum of two fields may overflow.
bool lies_inside(uint32_t offset, uint32_t bytes, uint32_t total) {
  return offset % kAlignment == 0 && offset >= sizeof(BundleHeader) && offset <= total &&
         bytes <= total - offset;
}

bool is_erased(std::span<const std::byte> bytes) {
  return std::ranges::all_of(bytes, [&](std::byte b) { return b == bytes.front(); }) &&
         (bytes.front() == std::byte{0x00} || bytes.front() == std::byte{0xFF});
}

}  // namespace

BundleRefusal find_bundle(std::span<const std::byte> slot, Bundle& out) {
  if (slot.size() < sizeof(BundleHeader)) return refuse("bundle-absent");
  if (is_erased(slot.first(sizeof(BundleHeader)))) return refuse("bundle-absent");
  const auto* header = reinterpret_cast<const BundleHeader*>(slot.data());
  if (std::string_view(header->magic, sizeof header->magic) != kMagic) {
    return refuse("bundle-magic");
  }
  if (header->version != kVersion) return refuse("bundle-version", header->version, kVersion);
  if (header->header_bytes != sizeof(BundleHeader)) {
    return refuse("bundle-header", header->header_bytes, sizeof(BundleHeader));
  }
  if (header->total_bytes < sizeof(BundleHeader)) {
    return refuse("bundle-header", header->total_bytes, sizeof(BundleHeader));
  }
  if (header->total_bytes > slot.size()) {
    return refuse("slot-too-small", static_cast<uint32_t>(slot.size()), header->total_bytes);
  }
  out.whole = slot.first(header->total_bytes);
  out.header = header;
  return kGood;
}

BundleRefusal open_bundle(uint32_t arena_bytes, Bundle& bundle) {
  const BundleHeader& header = *bundle.header;
  const uint32_t total = header.total_bytes;
  const uint64_t samples_bytes = uint64_t{header.sample_count} * header.sample_stride_bytes;
  if (header.sample_count == 0 || header.sample_stride_bytes % kAlignment != 0 ||
      samples_bytes > total ||
      !lies_inside(header.samples_offset, static_cast<uint32_t>(samples_bytes), total) ||
      !lies_inside(header.pte_offset, header.pte_bytes, total)) {
    return refuse("bundle-layout");
  }
  const auto* const method_end = std::ranges::find(header.method, '\0');
  if (method_end == std::end(header.method) || method_end == header.method) {
    return refuse("bundle-method");
  }
  if ((header.flags & ~kFlags) != 0) return refuse("bundle-flags", header.flags, kFlags);
  if (header.inject > static_cast<uint32_t>(kLastInject)) {
    return refuse("bundle-inject", header.inject, static_cast<uint32_t>(kLastInject));
  }
  if (header.arena_limit_bytes > arena_bytes) {
    return refuse("arena-too-small", arena_bytes, header.arena_limit_bytes);
  }
  bundle.pte = bundle.whole.subspan(header.pte_offset, header.pte_bytes);
  bundle.samples = bundle.whole.subspan(header.samples_offset, static_cast<size_t>(samples_bytes));
  bundle.method = {header.method, static_cast<size_t>(method_end - header.method)};
  return kGood;
}

}  // namespace fw
