#include "tests/fuzz/file.hpp"

#include <cstring>

namespace fuzz {
namespace {

// schema/extended_header.h of ExecuTorch; see runtime/pte/program.cpp.
struct Header {
  char magic[4];
  uint32_t length;
  uint64_t program_bytes, segments_begin, segments_bytes;
};
constexpr size_t kHeaderOffset = 8;
constexpr size_t kAlignment = 16;
constexpr size_t kMaxBytes = size_t{64} << 10;

// Tables that share parts are taken apart into one object each: bounded, or small files would
// become large.
constexpr uint32_t kMaxDepth = 64;
constexpr uint32_t kMaxTables = 4096;

}  // namespace

bool unpack(std::span<const uint8_t> bytes, File& out) {
  if (bytes.size() < kHeaderOffset + sizeof(Header) || bytes.size() > kMaxBytes) return false;
  // The verifier and the objects want the alignment that files have.
  std::vector<uint64_t> aligned((bytes.size() + 7) / 8);
  std::memcpy(aligned.data(), bytes.data(), bytes.size());
  const auto* data = reinterpret_cast<const uint8_t*>(aligned.data());

  Header header = {};
  std::memcpy(&header, data + kHeaderOffset, sizeof header);
  out.with_header = std::memcmp(header.magic, "eh00", 4) == 0;
  size_t program_bytes = bytes.size();
  if (out.with_header) {
    if (header.program_bytes > bytes.size() || header.segments_begin > bytes.size()) return false;
    program_bytes = static_cast<size_t>(header.program_bytes);
    if (header.segments_begin != 0) {
      out.segments.assign(bytes.begin() + static_cast<ptrdiff_t>(header.segments_begin),
                          bytes.end());
    }
  }
  flatbuffers::Verifier verifier(data, program_bytes, kMaxDepth, kMaxTables);
  if (!fb::VerifyProgramBuffer(verifier)) return false;
  out.program = fb::UnPackProgram(data);
  // Other methods are not looked at.
  if (out.program->execution_plan.size() != 1) return false;
  const fb::ExecutionPlanT& plan = out.plan();
  // The verifier lets a union be of a type and without a value, objects do not.
  for (const auto& value : plan.values) {
    if (value->val.type != fb::KernelTypes::NONE && value->val.value == nullptr) return false;
  }
  for (const auto& chain : plan.chains) {
    for (const auto& instruction : chain->instructions) {
      if (instruction->instr_args.value == nullptr) return false;
    }
  }
  return !plan.values.empty() && !plan.operators.empty() && !plan.chains.empty() &&
         !plan.chains[0]->instructions.empty();
}

std::vector<uint8_t> pack(const File& file, size_t max_bytes) {
  flatbuffers::FlatBufferBuilder builder(4096);
  fb::FinishProgramBuffer(builder, fb::CreateProgram(builder, file.program.get()));
  std::vector<uint8_t> bytes(builder.GetBufferPointer(),
                             builder.GetBufferPointer() + builder.GetSize());
  if (file.with_header) {
    // Offsets in a flatbuffer are relative: only the root's crosses the header.
    static_assert(sizeof(Header) % kAlignment == 0);
    uint32_t root = 0;
    std::memcpy(&root, bytes.data(), sizeof root);
    root += sizeof(Header);
    std::memcpy(bytes.data(), &root, sizeof root);
    Header header = {{'e', 'h', '0', '0'}, sizeof(Header), bytes.size() + sizeof(Header), 0, 0};
    const size_t begin = (bytes.size() + sizeof header + kAlignment - 1) / kAlignment * kAlignment;
    header.segments_begin = begin;
    header.segments_bytes = file.segments.size();
    uint8_t raw[sizeof header];
    std::memcpy(raw, &header, sizeof header);
    bytes.insert(bytes.begin() + kHeaderOffset, raw, raw + sizeof raw);
    bytes.resize(begin);
    bytes.insert(bytes.end(), file.segments.begin(), file.segments.end());
  }
  if (bytes.size() > max_bytes) bytes.clear();
  return bytes;
}

}  // namespace fuzz
