// Copies that broadcast, and change the element type where it differs.
#pragma once

#include "runtime/kernels/convert.hpp"

namespace rt::kernels {

inline Error check_assign(Args& args, uint32_t source, uint32_t out) {
  RT_TRY(expect_broadcast(args, {source}, out));
  if (args.tensor(source).type() == args.tensor(out).type()) return Error::kOk;
  RT_TRY(expect_known(args, source));
  return expect_known(args, out);
}

inline void assign(const Tensor& source, Tensor& out) {
  if (source.type() != out.type()) return convert(source, out);
  const auto same = [](auto x) { return x; };
  switch (element_bytes(out.type())) {
    case 1:
      return map<uint8_t, uint8_t>(source, out, same);
    case 2:
      return map<uint16_t, uint16_t>(source, out, same);
    case 4:
      return map<uint32_t, uint32_t>(source, out, same);
    default:
      return map<uint64_t, uint64_t>(source, out, same);
  }
}

}  // namespace rt::kernels
