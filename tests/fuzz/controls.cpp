// Kernels that do what no kernel may, with the arguments (input, out, out): the fuzz target must
// see each.

#include <cstring>

#include "runtime/core/kernel.hpp"

namespace {

rt::Error prepare(rt::Args& args, rt::Needs&) { return args.match("to="); }

// One byte behind the tensor, inside the arena.
rt::Error write_past_tensor(const rt::Args& args, std::span<std::byte>) {
  rt::Tensor& out = args.tensor(1);
  std::memset(out.data(), 0, out.nbytes() + 1);
  return rt::Error::kOk;
}
RT_KERNEL("test::write_past_tensor.out", prepare, write_past_tensor);

rt::Error read_past_tensor(const rt::Args& args, std::span<std::byte>) {
  const rt::Tensor& input = args.tensor(0);
  *args.tensor(1).data() = input.data()[input.nbytes()];
  return rt::Error::kOk;
}
RT_KERNEL("test::read_past_tensor.out", prepare, read_past_tensor);

rt::Error write_into_program(const rt::Args& args, std::span<std::byte>) {
  *const_cast<std::byte*>(args.tensor(0).data()) ^= std::byte{1};
  return rt::Error::kOk;
}
RT_KERNEL("test::write_into_program.out", prepare, write_into_program);

rt::Error write_into_method(const rt::Args& args, std::span<std::byte>) {
  *reinterpret_cast<uint32_t*>(&args.tensor(1)) ^= 1U;
  return rt::Error::kOk;
}
RT_KERNEL("test::write_into_method.out", prepare, write_into_method);

}  // namespace
