//===- tuning.h - How a build is quantised ----------------------*- C++ -*-===//
#ifndef TOOLS_NPU_TUNING_H
#define TOOLS_NPU_TUNING_H

#include "tools/npu/config.h"
#include "tools/npu/progress.h"
#include "tools/npu/tuner.h"

namespace npu {

/// Below this a quantised program is not close to the float model.
constexpr double kSimilar = 0.98;
/// Samples that choices are made on, unless more are compared.
constexpr int64_t kTuneSamples = 16;

/// Settles what `config` leaves open: the best method for "auto", and the
/// layers in f32 that its minCosine takes. Without one nothing stays in f32,
/// but a result that is not close gets a warning with the costliest layers.
/// What was tried goes to `report`.
absl::Status tuneQuantization(const QuantizeConfig &config, Compiler &compiler,
                              SessionRunner &reference, Tuner::Samples samples,
                              Progress &progress, QuantizeRequest *request,
                              Report *report);

} // namespace npu

#endif // TOOLS_NPU_TUNING_H
