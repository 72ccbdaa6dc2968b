//===- bias_correction.h - Biases corrected by measuring --------*- C++ -*-===//
#ifndef TOOLS_NPU_BIAS_CORRECTION_H
#define TOOLS_NPU_BIAS_CORRECTION_H

#include <functional>

#include "tools/npu/compiler.h"
#include "tools/npu/session_runner.h"

namespace npu {

/// What the output channels of each operator with a filter lack, on average
/// over the first `limit` samples and all positions, in the module quantised
/// by `request`, to have the mean that they have in the float module: to become
/// `request.biasShifts`. The filters nearer to the inputs come first, and those
/// behind are measured with them corrected. `step` is told the levels done, of
/// how many. Empty if the module has no operator with a filter.
///
/// After: Nagel et al., "Data-Free Quantization Through Weight Equalization and
/// Bias Correction", ICCV 2019, appendix D (empirical bias correction).
absl::StatusOr<std::vector<std::vector<double>>> measureBiasShifts(
    Compiler &compiler, QuantizeRequest request,
    const std::vector<std::vector<calibration::InputTensor>> &samples,
    size_t limit, const std::function<void(int64_t, int64_t)> &step = {});

} // namespace npu

#endif // TOOLS_NPU_BIAS_CORRECTION_H
