#include "tools/npu/tuning.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace npu {
namespace {

/// Trials that find the layers that a warning names.
constexpr int kWarningTrials = 16;

std::string warningOf(double cosine, const std::vector<FloatLayers> &ranked) {
  std::string text = absl::StrFormat(
      "INT8 is not close to the float model (cosine %.5f). Costliest layers:",
      cosine);
  for (size_t i = 0; i < std::min<size_t>(3, ranked.size()); ++i)
    absl::StrAppendFormat(&text, "%s '%s' to '%s' (%.5f with them in f32)",
                          i ? "," : "", ranked[i].nodes.front(),
                          ranked[i].nodes.back(), ranked[i].cosine);
  return absl::StrFormat("%s; --min-cosine %g keeps what it takes in f32", text,
                         kSimilar);
}

} // namespace

absl::Status tuneQuantization(const QuantizeConfig &config, Compiler &compiler,
                              SessionRunner &reference, Tuner::Samples samples,
                              Progress &progress, QuantizeRequest *request,
                              Report *report) {
  auto tuner = Tuner::create(compiler, reference, std::move(samples));
  if (!tuner.ok())
    return tuner.status();
  auto step = [&](int64_t n, int64_t total) { progress.step(n, total); };
  QuantizationReport &q = report->quantization;
  q.minCosine = config.minCosine;
  auto tried = (*tuner)->settle(request, step);
  if (!tried.ok())
    return tried.status();
  q.tried = *std::move(tried);
  double cosine = -1;
  for (const Trial &trial : q.tried)
    cosine = std::max(cosine, trial.cosine);
  if (config.minCosine > 0) {
    auto kept = (*tuner)->reach(config.minCosine, request, step);
    if (!kept.ok())
      return kept.status();
    q.keptFloat = *std::move(kept);
    double last = q.keptFloat.empty() ? cosine : q.keptFloat.back().cosine;
    if (last < config.minCosine)
      report->warnings.push_back(absl::StrFormat(
          "cosine %.5f is all that was reached, %g was asked for", last,
          config.minCosine));
  } else if (cosine < kSimilar) {
    auto ranked = (*tuner)->rank(*request, kWarningTrials, step);
    if (!ranked.ok())
      return ranked.status();
    report->warnings.push_back(warningOf(cosine, *ranked));
  }
  return absl::OkStatus();
}

} // namespace npu
