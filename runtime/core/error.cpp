#include "runtime/core/error.hpp"

namespace rt {

const char* error_name(Error error) {
  switch (error) {
    case Error::kOk:
      return "ok";
    case Error::kProgramMisaligned:
      return "program-misaligned";
    case Error::kProgramForeign:
      return "program-foreign";
    case Error::kProgramTruncated:
      return "program-truncated";
    case Error::kProgramCorrupt:
      return "program-corrupt";
    case Error::kProgramTangled:
      return "program-tangled";
    case Error::kMethodMissing:
      return "method-missing";
    case Error::kDelegateUnsupported:
      return "delegate-unsupported";
    case Error::kControlFlowUnsupported:
      return "control-flow-unsupported";
    case Error::kInstructionUnsupported:
      return "instruction-unsupported";
    case Error::kDynamicShapeUnsupported:
      return "dynamic-shape-unsupported";
    case Error::kExternalDataUnsupported:
      return "external-data-unsupported";
    case Error::kMutableStateUnsupported:
      return "mutable-state-unsupported";
    case Error::kDeviceUnsupported:
      return "device-unsupported";
    case Error::kLayoutUnsupported:
      return "layout-unsupported";
    case Error::kScalarTypeUnsupported:
      return "scalar-type-unsupported";
    case Error::kInputUnsupported:
      return "input-unsupported";
    case Error::kOutputUnsupported:
      return "output-unsupported";
    case Error::kIndexOutOfRange:
      return "index-out-of-range";
    case Error::kTensorShapeInvalid:
      return "tensor-shape-invalid";
    case Error::kTensorOutOfBounds:
      return "tensor-out-of-bounds";
    case Error::kTensorMisaligned:
      return "tensor-misaligned";
    case Error::kTensorUnplanned:
      return "tensor-unplanned";
    case Error::kOperatorMissing:
      return "operator-missing";
    case Error::kArgumentCount:
      return "argument-count";
    case Error::kArgumentKind:
      return "argument-kind";
    case Error::kArgumentScalarType:
      return "argument-scalar-type";
    case Error::kArgumentShape:
      return "argument-shape";
    case Error::kArgumentLayout:
      return "argument-layout";
    case Error::kArgumentValue:
      return "argument-value";
    case Error::kArenaTooSmall:
      return "arena-too-small";
    case Error::kNotLoaded:
      return "not-loaded";
  }
  return "unknown";
}

}  // namespace rt
