// aten::arange: numbers of equal distances. float32, int32, int64.

#include "runtime/kernels/elementwise.hpp"

namespace rt::kernels {
namespace {

struct Range {
  double start, end, step;
};

Range range_of(const Args &args) {
  if (args.count() < 5) return {0.0, args.number(0), 1.0};
  return {args.number(0), args.number(1), args.number(2)};
}

// Whether the type holds the number once its fraction is cut off.
bool holds(ScalarType type, double number) {
  if (type == ScalarType::kInt) return number > -2147483649.0 && number < 2147483648.0;
  // The next double below 2^63 is 1024 less.
  constexpr double kBound = 9223372036854775808.0;
  return type != ScalarType::kLong || (number >= -kBound && number < kBound);
}

Error check(Args &args, uint32_t out_index) {
  const Range range = range_of(args);
  const Tensor &out = args.tensor(out_index);
  RT_TRY(expect_number(args, out_index));
  if (!(range.step != 0.0)) return args.refuse(2, Error::kArgumentValue);
  const double span = (range.end - range.start) / range.step;
  // The number of steps, rounded up.
  const bool fits = out.rank() == 1 && span > static_cast<double>(out.size(0)) - 1.0 &&
                    span <= static_cast<double>(out.size(0));
  const double last = range.start + range.step * (static_cast<double>(out.numel()) - 1.0);
  if (fits && (!holds(out.type(), range.start) || !holds(out.type(), last))) {
    return args.refuse(out_index, Error::kArgumentValue);
  }
  return fits || (out.numel() == 0 && span <= 0.0) ? Error::kOk
                                                   : args.refuse(out_index, Error::kArgumentShape);
}

void write(const Range &range, Tensor &out) {
  for_number_type(out.type(), [&]<typename T>(T) {
    for (uint32_t i = 0; i < out.numel(); ++i) {
      out.as<T>()[i] = static_cast<T>(range.start + range.step * static_cast<double>(i));
    }
  });
}

Error prepare(Args &args, Needs &) {
  RT_TRY(args.match("so="));
  return check(args, 1);
}

Error run(const Args &args, std::span<std::byte>) {
  write(range_of(args), args.tensor(1));
  return Error::kOk;
}

Error prepare_start(Args &args, Needs &) {
  RT_TRY(args.match("ssso="));
  return check(args, 3);
}

Error run_start(const Args &args, std::span<std::byte>) {
  write(range_of(args), args.tensor(3));
  return Error::kOk;
}

}  // namespace

RT_KERNEL("aten::arange.out", prepare, run);
RT_KERNEL("aten::arange.start_out", prepare_start, run_start);

}  // namespace rt::kernels
