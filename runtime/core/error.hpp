// Error codes of the runtime, each with a stable kebab-case name.
#pragma once

#include <cstdint>

namespace rt {

enum class [[nodiscard]] Error : uint8_t {
  kOk = 0,

  // The file.
  kProgramMisaligned,  // the .pte does not start at a multiple of 16
  kProgramForeign,     // not an ExecuTorch program of this version ("ET12")
  kProgramTruncated,   // the extended header promises more bytes than there are
  kProgramCorrupt,     // the flatbuffer verifier refused it, or a required field is missing
  kProgramTangled,     // its parts are named more often than its size allows
  kMethodMissing,      // no execution plan of that name

  // Things of the format that this runtime does not execute.
  kDelegateUnsupported,
  kControlFlowUnsupported,
  kInstructionUnsupported,
  kDynamicShapeUnsupported,
  kExternalDataUnsupported,
  kMutableStateUnsupported,
  kDeviceUnsupported,
  kLayoutUnsupported,
  kScalarTypeUnsupported,
  kInputUnsupported,   // a method's input that is no planned tensor
  kOutputUnsupported,  // a method's output that is no tensor

  // Values that contradict the file.
  kIndexOutOfRange,     // an index into values, operators, buffers, segments
  kTensorShapeInvalid,  // rank, a size, the number of elements or the dim order
  kTensorOutOfBounds,   // the data does not lie inside its buffer or segment
  kTensorMisaligned,    // the data is not aligned to its element size
  kTensorUnplanned,     // neither constant nor in the memory plan

  // An operator and its arguments.
  kOperatorMissing,
  kArgumentCount,
  kArgumentKind,
  kArgumentScalarType,
  kArgumentShape,
  kArgumentLayout,
  kArgumentValue,

  // The caller.
  kArenaTooSmall,
  kNotLoaded,
};

// @return the error's stable name, `arena-too-small`; a static string.
const char* error_name(Error error);

}  // namespace rt

// Hands an error on to the caller.
#define RT_TRY(expression)                                                                        \
  do {                                                                                            \
    if (const ::rt::Error rt_error = (expression); rt_error != ::rt::Error::kOk) return rt_error; \
  } while (false)
