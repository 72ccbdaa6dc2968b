#include "tools/npu/bias_correction.h"

#include <algorithm>

namespace npu {
namespace {

using Samples = std::vector<std::vector<calibration::InputTensor>>;
/// By tensor and channel.
using Means = std::vector<std::vector<double>>;

/// The means of the channels (the innermost dimension) of what the program in
/// `bytes` returns.
absl::StatusOr<Means> channelMeans(const std::string &bytes,
                                   const Samples &samples, size_t limit) {
  auto blob = rt::Blob::parse(bytes, "the probing program");
  if (!blob.ok())
    return blob.status();
  rt::DeviceOptions device;
  device.threads = 0;
  auto runner = SessionRunner::create(*blob, device);
  if (!runner.ok())
    return runner.status();
  Means means;
  for (const auto &output : (*blob)->outputs())
    means.emplace_back(output.shape.empty() ? 1 : output.shape.back(), 0.0);
  size_t count = std::min(limit, samples.size());
  for (size_t i = 0; i < count; ++i) {
    if (absl::Status s = (*runner)->run(samples[i], nullptr); !s.ok())
      return s;
    for (size_t t = 0; t < means.size(); ++t) {
      const std::vector<float> values = (*runner)->output(t);
      size_t channels = means[t].size();
      double share = double(channels) / values.size() / count;
      for (size_t n = 0; n < values.size(); ++n)
        means[t][n % channels] += values[n] * share;
    }
  }
  return means;
}

} // namespace

absl::StatusOr<std::vector<std::vector<double>>>
measureBiasShifts(Compiler &compiler, QuantizeRequest request,
                  const Samples &samples, size_t limit,
                  const std::function<void(int64_t, int64_t)> &step) {
  auto levels = compiler.filterLevels(request);
  if (!levels.ok())
    return levels.status();
  request.biasShifts.assign(levels->size(), {});
  if (levels->empty())
    return request.biasShifts;
  auto floats = compiler.filterBlob(request, -1, /*quantised=*/false);
  auto wanted = floats.ok() ? channelMeans(*floats, samples, limit)
                            : absl::StatusOr<Means>(floats.status());
  if (!wanted.ok())
    return wanted.status();
  int64_t last = *std::max_element(levels->begin(), levels->end());
  for (int64_t level = 0; level <= last; ++level) {
    auto bytes = compiler.filterBlob(request, level, /*quantised=*/true);
    auto means = bytes.ok() ? channelMeans(*bytes, samples, limit)
                            : absl::StatusOr<Means>(bytes.status());
    if (!means.ok())
      return means.status();
    size_t probe = 0;
    for (size_t f = 0; f < levels->size(); ++f) {
      if ((*levels)[f] != level)
        continue;
      const std::vector<double> &is = (*means)[probe++];
      for (size_t c = 0; c < is.size(); ++c)
        request.biasShifts[f].push_back((*wanted)[f][c] - is[c]);
    }
    if (step)
      step(level + 1, last + 1);
  }
  return request.biasShifts;
}

} // namespace npu
