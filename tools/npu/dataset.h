//===- dataset.h - Samples on disk ------------------------------*- C++ -*-===//
//
// A folder of pictures, .npy or .npz files, or one .npz whose arrays hold one
// sample per index of their first dimension. Used for calibration, for the
// similarity check and for accuracy: one reading, one preprocessing.
//
//===----------------------------------------------------------------------===//
#ifndef TOOLS_NPU_DATASET_H
#define TOOLS_NPU_DATASET_H

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "passes/quantization/calibration/runner.h"
#include "runtime/blob/blob.h"
#include "runtime/preprocess/preprocess.h"

namespace npu {

/// An input as the dataset has to fill it.
struct InputSpec {
  std::string name;
  std::vector<int64_t> shape;
  std::optional<rt::Preprocess> picture; ///< set: pictures are accepted
};

/// The inputs of a blob, with the preprocessing stored in it.
absl::StatusOr<std::vector<InputSpec>> inputSpecs(const rt::Blob &blob);

/// Opens `path`. Errors: it does not exist, holds no sample, mixes kinds, or
/// holds pictures while no input takes them. `limit` > 0: at most so many
/// samples, evenly spread in name order.
///
/// In a .npz, an input's array has its name; the array `x` stands for the only
/// input. Labels (`y`) are no input. uint8 arrays [N,H,W,C] are pictures if
/// the input takes them.
absl::StatusOr<std::unique_ptr<calibration::Dataset>>
openDataset(const std::string &path, const std::vector<InputSpec> &inputs,
            int64_t limit);

/// The inputs of one file: a picture, .npy (the only input) or .npz (by name).
absl::StatusOr<std::vector<calibration::InputTensor>>
readSample(const std::string &path, const std::vector<InputSpec> &inputs);

} // namespace npu

#endif // TOOLS_NPU_DATASET_H
