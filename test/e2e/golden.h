//===- golden.h - Trained models to check against ---------------*- C++ -*-===//
//
// The models of golden.json, found in the folder that NPU_MODELS names; what
// they are fed; and how outputs are compared.
//
//===----------------------------------------------------------------------===//
#ifndef TEST_E2E_GOLDEN_H
#define TEST_E2E_GOLDEN_H

#include <ostream>
#include <string>
#include <vector>

#include "test/reference/onnxruntime.h"
#include "tools/npu/compiler.h"
#include "tools/npu/config.h"
#include "tools/npu/dataset.h"
#include "tools/npu/session_runner.h"
#include "tools/npu/tuner.h"

namespace npu::golden {

struct Model {
  std::string name, path;
  std::string kind; ///< classifier, detector, segmenter, other, quantised
  std::string data; ///< folder or .npz; "" if there is none: random values
  double knownCosine = 0; ///< below the bound: what it must at least reach
  std::string later;      ///< why it is not expected to compile yet
  std::vector<InputConfig> inputs;

  friend void PrintTo(const Model &model, std::ostream *out) {
    *out << model.name;
  }
};

/// Empty when NPU_MODELS is not set or holds no golden models.
std::vector<Model> models();
/// Every .onnx file in the folder that NPU_MORE_MODELS names: fed with random
/// values, compared with ONNX Runtime as well, without a bound on INT8.
std::vector<Model> moreModels();

/// A blob compiled and loaded.
using Runner = std::unique_ptr<SessionRunner>;
using Sample = std::vector<calibration::InputTensor>;
using Outputs = std::vector<std::vector<float>>;

/// One model from import to blobs.
class Toolchain {
public:
  explicit Toolchain(const Model &model) : model_(model) {}

  /// Imports and optimises anew.
  absl::StatusOr<std::unique_ptr<Compiler>> import();
  /// `count` samples: real ones where there are some, else random.
  absl::StatusOr<std::vector<Sample>> samples(int count);
  /// Calibrates on `count` samples into `stats`, a file, and chooses the
  /// method by them.
  absl::Status calibrate(int count, const std::string &stats);
  /// The blob for a target; quantised with `stats` unless it is "".
  absl::StatusOr<std::shared_ptr<const rt::Blob>>
  build(const std::string &target, const std::string &stats);

private:
  const Model &model_;
  std::vector<InputSpec> specs_;
  QuantizeRequest request_; ///< as `calibrate` settled it
};

absl::StatusOr<Outputs> run(std::shared_ptr<const rt::Blob> blob,
                            const Sample &sample, int threads = 1,
                            bool portable = false);
absl::StatusOr<Outputs> runReference(reference::Model &model,
                                     const Sample &sample);

/// Largest |a - b| over the largest |b| (1 if that is smaller than 1e-6).
double relativeError(const std::vector<float> &a, const std::vector<float> &b);

} // namespace npu::golden

#endif // TEST_E2E_GOLDEN_H
