//===- config.h - The configuration file of `npu build` ---------*- C++ -*-===//
//
// docs/config.md lists every key. Reading is strict: an unknown key, a wrong
// type, an impossible value or an unreadable file is an error with its JSON
// path. Relative paths are relative to the configuration file.
//
//===----------------------------------------------------------------------===//
#ifndef TOOLS_NPU_CONFIG_H
#define TOOLS_NPU_CONFIG_H

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/preprocess/preprocess.h"

namespace npu {

struct InputConfig {
  rt::Preprocess preprocess; ///< `preprocess.name` is the input's name
  std::vector<int64_t> shape;
  /// A picture is prepared for this input (any preprocessing key was given);
  /// otherwise it is fed arrays only.
  bool isPicture = false;
};

struct LayerOverride {
  std::string layer; ///< ONNX node name, or a regular expression in /slashes/
  std::string mode;  ///< "int8" or "fp32"
};

struct QuantizeConfig {
  std::string mode; ///< "int8", "fp32", "mixed"
  std::string
      dataset; ///< folder of pictures or arrays, or one .npz; empty: none
  int64_t steps = 100;         ///< at most so many samples
  std::string method = "auto"; ///< auto, minmax, percentile, entropy, mse
  double percentile = 99.99;
  bool biasCorrection = true; ///< correct biases by measuring where it helps
  /// Layers stay in f32 until each output is as similar as this; 0: none do.
  double minCosine = 0;
  std::vector<LayerOverride> overrides;
};

struct Config {
  std::vector<InputConfig> inputs;
  std::vector<std::string> labels; ///< class names, one a line of the file
  QuantizeConfig quantize;
  std::string hardware = "edge"; ///< preset, or path of a target file
  int64_t cores = 0;             ///< 0: all that the target has
  std::string text;              ///< the file itself, stored in the blob
};

absl::StatusOr<Config> readConfig(const std::string &path);
/// `folder`: where relative paths start.
absl::StatusOr<Config> parseConfig(const std::string &text,
                                   const std::string &what,
                                   const std::string &folder);

} // namespace npu

#endif // TOOLS_NPU_CONFIG_H
