#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <iostream>
#include <numeric>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "runtime/npz/npz.h"
#include "tools/npu/commands.h"
#include "tools/npu/dataset.h"
#include "tools/npu/session_runner.h"
#include "tools/npu/table.h"

namespace npu {
namespace {

using calibration::InputTensor;
using Clock = std::chrono::steady_clock;

/// The sample that `--input` names: one file for all inputs, or NAME=FILE for
/// each.
absl::StatusOr<std::vector<InputTensor>>
readInputs(const RunOptions &options, const std::vector<InputSpec> &specs) {
  auto named = [&](const std::string &text) -> const InputSpec * {
    for (const InputSpec &spec : specs)
      if (text.compare(0, spec.name.size() + 1, spec.name + "=") == 0)
        return &spec;
    return nullptr;
  };
  std::error_code error;
  if (options.inputs.size() == 1 && !named(options.inputs[0]) &&
      (!absl::StrContains(options.inputs[0], '=') ||
       std::filesystem::exists(options.inputs[0], error)))
    return readSample(options.inputs[0], specs);
  std::vector<InputTensor> sample;
  for (const std::string &text : options.inputs) {
    const InputSpec *spec = named(text);
    if (!spec)
      return absl::InvalidArgumentError(absl::StrCat(
          "--input ", text, ": expected NAME=FILE, where NAME is one of ",
          absl::StrJoin(specs, ", ",
                        [](std::string *out, const InputSpec &spec) {
                          out->append(spec.name);
                        })));
    auto one = readSample(text.substr(spec->name.size() + 1), {*spec});
    if (!one.ok())
      return one.status();
    sample.push_back(std::move((*one)[0]));
  }
  return sample;
}

/// Values as probabilities, unless they are that already.
std::vector<float> probabilities(std::vector<float> values) {
  float sum = std::accumulate(values.begin(), values.end(), 0.0f);
  float low = *std::min_element(values.begin(), values.end());
  if (low >= 0 && std::fabs(sum - 1) < 0.02f)
    return values;
  float high = *std::max_element(values.begin(), values.end());
  double total = 0;
  for (float v : values)
    total += std::exp(double(v) - high);
  for (float &v : values)
    v = std::exp(double(v) - high) / total;
  return values;
}

void printTop(const rt::Blob &blob, SessionRunner &runner, int64_t top) {
  std::vector<std::string> labels = absl::StrSplit(blob.info("labels"), '\n');
  for (size_t o = 0; o < blob.outputs().size(); ++o) {
    std::vector<float> p = probabilities(runner.output(o));
    std::vector<size_t> order(p.size());
    std::iota(order.begin(), order.end(), 0);
    size_t n = std::min<size_t>(top, p.size());
    std::partial_sort(order.begin(), order.begin() + n, order.end(),
                      [&](size_t a, size_t b) { return p[a] > p[b]; });
    std::cout << blob.outputs()[o].name << ":\n";
    for (size_t i = 0; i < n; ++i)
      std::cout << absl::StrFormat("  %5.1f %%  %s\n", 100 * p[order[i]],
                                   order[i] < labels.size() && labels.size() > 1
                                       ? labels[order[i]]
                                       : absl::StrCat("class ", order[i]));
  }
}

void printOutputs(const rt::Blob &blob, SessionRunner &runner) {
  std::vector<std::vector<std::string>> rows = {
      {"output", "type", "min", "max", "mean"}};
  for (size_t o = 0; o < blob.outputs().size(); ++o) {
    std::vector<float> v = runner.output(o);
    double sum = std::accumulate(v.begin(), v.end(), 0.0);
    rows.push_back(
        {blob.outputs()[o].name, rt::typeText(blob.outputs()[o]),
         absl::StrFormat("%.5g", *std::min_element(v.begin(), v.end())),
         absl::StrFormat("%.5g", *std::max_element(v.begin(), v.end())),
         absl::StrFormat("%.5g", sum / v.size())});
  }
  std::cout << formatTable(rows);
}

void printProfile(const rt::Session &session) {
  std::vector<rt::LayerProfile> layers = session.profile();
  int64_t total = 0, commands = 0;
  for (const rt::LayerProfile &l : layers)
    total += l.nanoseconds;
  std::vector<std::vector<std::string>> rows = {
      {"layer", "where", "engine", "commands", "us", "%"}};
  auto shorten = [](const std::string &s) {
    return s.size() <= 60 ? s : s.substr(0, 57) + "...";
  };
  for (const rt::LayerProfile &l : layers) {
    commands += l.commands;
    rows.push_back({shorten(l.layer.empty() ? "(transfers)" : l.layer), "NPU",
                    l.engine, absl::StrCat(l.commands),
                    absl::StrFormat("%.1f", l.nanoseconds / 1e3),
                    absl::StrFormat("%.1f", 100.0 * l.nanoseconds /
                                                std::max<int64_t>(1, total))});
  }
  rows.push_back({"total", "NPU", "", absl::StrCat(commands),
                  absl::StrFormat("%.1f", total / 1e3), "100.0"});
  std::cout << formatTable(rows);
}

absl::Status writeOutputs(const std::string &path, const rt::Blob &blob,
                          rt::Session &session) {
  std::vector<rt::Array> arrays;
  for (size_t o = 0; o < blob.outputs().size(); ++o) {
    const rt::TensorInfo &info = blob.outputs()[o];
    rt::Region region = session.output(o);
    arrays.push_back(
        {info.name, info.dtype, info.shape,
         std::string(reinterpret_cast<char *>(region.data), region.size)});
  }
  return rt::writeArrays(path, arrays);
}

} // namespace

absl::Status run(const RunOptions &options) {
  auto blob = rt::Blob::open(options.blob);
  if (!blob.ok())
    return blob.status();
  auto specs = inputSpecs(**blob);
  if (!specs.ok())
    return specs.status();
  auto sample = readInputs(options, *specs);
  if (!sample.ok())
    return sample.status();
  rt::DeviceOptions device;
  device.threads = options.threads;
  device.portable = options.portable;
  auto runner = SessionRunner::create(*blob, device);
  if (!runner.ok())
    return runner.status();
  rt::Session &session = (*runner)->session();
  std::vector<double> ms;
  for (int64_t i = 0; i < options.repeat; ++i) {
    session.setProfiling(options.profile && i + 1 == options.repeat);
    auto start = Clock::now();
    if (absl::Status s = (*runner)->run(*sample, nullptr); !s.ok())
      return s;
    ms.push_back(std::chrono::duration<double, std::milli>(Clock::now() - start)
                     .count());
  }
  if (!options.output.empty())
    if (absl::Status s = writeOutputs(options.output, **blob, session); !s.ok())
      return s;
  if (options.quiet)
    return absl::OkStatus();
  if (options.profile)
    printProfile(session);
  std::sort(ms.begin(), ms.end());
  std::cout << absl::StrFormat(
      "%.3f ms on the software NPU (median of %d), %d thread(s)\n",
      ms[ms.size() / 2], ms.size(), options.threads);
  if (options.top > 0)
    printTop(**blob, **runner, options.top);
  else
    printOutputs(**blob, **runner);
  return absl::OkStatus();
}

} // namespace npu
