// What an image for one program has instead of reference kernels that none of its calls takes.

#include "runtime/kernels/reference.hpp"

RT_FALLBACK(none) {
  static_cast<void>(args);
  static_cast<void>(temporary);
  return rt::Error::kOperatorMissing;
}
