//===- onnx_models.h - Small models for tests -------------------*- C++ -*-===//
#ifndef TEST_E2E_ONNX_MODELS_H
#define TEST_E2E_ONNX_MODELS_H

#include <string>

#include "onnx/onnx_pb.h"

namespace npu {

/// Conv, then `layers` times `op` (of one operand) and Conv, on x[1,3,8,8],
/// with 1x1 filters of random weights. Nodes: conv0, odd0, conv1, odd1, ...
onnx::ModelProto sandwich(const std::string &op, int layers = 1);

/// Writes to a file in the test's folder; returns its path.
std::string write(const onnx::ModelProto &model);

} // namespace npu

#endif // TEST_E2E_ONNX_MODELS_H
