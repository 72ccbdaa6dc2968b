//===- commands.h - The commands of the npu tool ----------------*- C++ -*-===//
#ifndef TOOLS_NPU_COMMANDS_H
#define TOOLS_NPU_COMMANDS_H

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "tools/npu/report.h"

namespace npu {

/// `npu build`. What is not set comes from the configuration file.
struct BuildOptions {
  std::string model, output = ".", config;
  std::optional<std::string> target, mode, calibration, method;
  std::optional<int64_t> cores, steps;
  std::optional<double> percentile, minCosine;
  std::string placement; ///< file of rules (docs/placement.md)
  std::string stats;     ///< calibration statistics of an earlier build
  std::vector<std::string> keepFloat, shapes, dims, values;
  int64_t batch = 1, compare = 8;
  bool requireNpu = false, saveTemps = false, quiet = false;
};
absl::Status build(const BuildOptions &options);

/// `npu check`: where each node would run, and why, without compiling.
struct CheckOptions {
  std::string model, target = "edge";
  std::string placement; ///< file of rules (docs/placement.md)
  std::vector<std::string> shapes, dims, values;
  int64_t batch = 1;
  bool requireNpu = false, json = false;
};
absl::Status check(const CheckOptions &options);

/// An error that lists the nodes on the host, if there are any.
absl::Status requireNpu(const Coverage &coverage);

/// `npu run`.
struct RunOptions {
  std::string blob, output;
  std::vector<std::string> inputs; ///< FILE, or NAME=FILE
  int64_t top = 0, threads = 1, repeat = 1;
  bool profile = false, portable = false, quiet = false;
};
absl::Status run(const RunOptions &options);

/// `npu info`.
struct InfoOptions {
  std::string blob;
  bool layers = false, json = false;
};
absl::Status info(const InfoOptions &options);

/// `npu eval`: top-1 and top-5 of blobs on labelled samples.
struct EvalOptions {
  std::vector<std::string> blobs;
  std::string labels; ///< CSV (file, class) or .npz (x, y)
  std::string folder; ///< of the CSV's files; empty: the CSV's own
  int64_t labelOffset = 0, limit = 0, threads = 0;
  bool json = false;
};
absl::Status eval(const EvalOptions &options);

} // namespace npu

#endif // TOOLS_NPU_COMMANDS_H
