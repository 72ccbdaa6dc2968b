//===- tuner.h - Chooses how to quantise by trying it -----------*- C++ -*-===//
//
// Quantises clones of the float module, runs them on a few samples and compares
// the outputs with the float program's.
//
//===----------------------------------------------------------------------===//
#ifndef TOOLS_NPU_TUNER_H
#define TOOLS_NPU_TUNER_H

#include <functional>
#include <memory>

#include "tools/npu/compiler.h"
#include "tools/npu/session_runner.h"

namespace npu {

/// None is negative and the sum is 1.
bool isProbabilities(const std::vector<float> &values);
/// The logits, less their mean, whose softmax these are.
void toLogits(std::vector<float> &values);

class Tuner {
public:
  using Samples = std::vector<std::vector<calibration::InputTensor>>;
  /// Is told how many trials are done, of how many at most.
  using Step = std::function<void(int64_t done, int64_t total)>;

  /// A request and what came of it.
  using Trials = std::vector<std::pair<QuantizeRequest, Trial>>;

  /// `compiler` holds the float module, `reference` runs it. Both outlive it.
  static absl::StatusOr<std::unique_ptr<Tuner>>
  create(Compiler &compiler, SessionRunner &reference, Samples samples);

  /// The smallest cosine of an output between the float program and the module
  /// quantised by `request`, on the first `limit` samples; -1 for NaN. Of
  /// probabilities the logits are compared: a softmax hides what is wrong.
  absl::StatusOr<double> measure(const QuantizeRequest &request,
                                 size_t limit = SIZE_MAX);

  /// Settles what `request` leaves open and returns what was tried: for method
  /// "auto" the method, its percentile and whether channels are split; and
  /// unless the outputs are close anyway or the request forbids it, whether
  /// biases are corrected by measuring.
  absl::StatusOr<std::vector<Trial>> settle(QuantizeRequest *request,
                                            const Step &step = {});

  /// Which layers cost similarity: runs of neighbours, found by halving, the
  /// costliest first; `cosine` is what keeping these alone in f32 gives.
  absl::StatusOr<std::vector<FloatLayers>>
  rank(const QuantizeRequest &request, int trials, const Step &step = {});

  /// Keeps layers in f32, the costliest first, until `goal` is reached. Adds
  /// them to `request`; returns them with the cosine reached by each.
  absl::StatusOr<std::vector<FloatLayers>>
  reach(double goal, QuantizeRequest *request, const Step &step = {});

private:
  /// Measures `request` and appends it to `trials`.
  absl::Status attempt(const QuantizeRequest &request, Trials *trials);
  /// The methods, and the best of them with channels split.
  absl::Status attemptMethods(const QuantizeRequest &request, const Step &step,
                              Trials *trials);
  /// The best of `trials` with biases corrected.
  absl::Status attemptCorrected(const Step &step, Trials *trials);

  /// `request` with these layers in f32 as well, which `with` becomes.
  absl::StatusOr<double> measureWith(const QuantizeRequest &request,
                                     const std::vector<FloatLayers> &kept,
                                     QuantizeRequest *with);

  Tuner(Compiler &compiler, Samples samples)
      : compiler_(compiler), samples_(std::move(samples)) {}

  Compiler &compiler_;
  Samples samples_;
  /// By sample and output.
  std::vector<std::vector<std::vector<float>>> expected_;
  std::vector<bool> logits_; ///< by output: it is compared as logits
};

} // namespace npu

#endif // TOOLS_NPU_TUNER_H
