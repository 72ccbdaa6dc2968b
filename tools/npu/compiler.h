//===- compiler.h - The compiler behind `npu build` -------------*- C++ -*-===//
//
// One module on its way from ONNX to a blob. MLIR stays behind this header;
// its diagnostics become the Status (the first error) and warnings().
//
//===----------------------------------------------------------------------===//
#ifndef TOOLS_NPU_COMPILER_H
#define TOOLS_NPU_COMPILER_H

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/npu/report.h"

namespace npu {

struct ImportReport;

struct TensorSignature {
  std::string name;
  std::vector<int64_t> shape;
  bool isFloat = true;
};

struct QuantizeRequest {
  std::string stats; ///< calibration file
  std::string method = "minmax";
  double percentile = 99.99;
  std::vector<std::string> keepFloat; ///< node names or /regex/
  int64_t splitChannels = 1;          ///< groups, for npu-split-channels
  bool biasCorrection = true;         ///< may biases be corrected by measuring?
  /// For each operator with a filter, in order, and each output channel: added
  /// to its bias, in units of the result. Empty: nothing.
  std::vector<std::vector<double>> biasShifts;
};

struct ImportRequest {
  int64_t batch = 1; ///< for an unknown first dimension
  std::map<std::string, std::vector<int64_t>> shapes; ///< "": any input's
  std::vector<std::string> shapeTexts;                ///< "NAME=1x3x224x224"
  std::vector<std::string> dimTexts;                  ///< "NAME=1"
  std::vector<std::string> valueTexts;                ///< "NAME=1,2,3"
  std::string placement;                              ///< file of rules
  std::map<std::string, std::string> values; ///< inputs fixed, as TensorProto
  ImportReport *report = nullptr;            ///< filled in if given
};

class Compiler {
public:
  /// `temps`: folder for the IR of each level; empty: not kept.
  explicit Compiler(std::string temps);
  ~Compiler();

  /// ONNX -> npu.
  absl::Status import(const std::string &path, const ImportRequest &request);
  /// Canonical float module.
  absl::Status optimise();
  /// Of the module as it is now.
  std::vector<TensorSignature> inputs() const;
  /// True if the model came with quantised operators.
  bool isQuantised() const;
  Coverage coverage() const;

  /// Stores the preprocessing (JSON) of an input in the module.
  void setPreprocess(const std::string &input, const std::string &json);
  /// The float module compiled for the software NPU with a tap on every
  /// tensor.
  absl::StatusOr<std::string> calibrationBlob();
  absl::Status quantise(const QuantizeRequest &request);
  /// What `quantise` would give, compiled for the host. The module stays float;
  /// no warnings.
  absl::StatusOr<std::string> trialBlob(const QuantizeRequest &request);
  /// For each operator with a filter of the module with `request`'s ranges, in
  /// order: how many others lie before it (passes/quantization/FilterLevels.h).
  absl::StatusOr<std::vector<int64_t>>
  filterLevels(const QuantizeRequest &request);
  /// A program for the host that returns what the filters of one level (-1:
  /// all) compute, float or quantised by `request`. The module stays float.
  absl::StatusOr<std::string> filterBlob(const QuantizeRequest &request,
                                         int64_t level, bool quantised);
  /// The nodes that compute, in order, each name once.
  std::vector<std::string> layers() const;
  /// npu -> scheduled commands for the target (preset or file).
  absl::Status compile(const std::string &target, int64_t cores);
  Estimate estimate() const;
  MemoryUse memory() const;
  std::string targetName() const;
  /// The blob with these facts in it.
  absl::StatusOr<std::string>
  emit(const std::map<std::string, std::string> &info);

  const std::vector<std::string> &warnings() const;
  /// Files written for `temps`.
  const std::vector<std::string> &files() const;

private:
  /// A blob for the host of the module as `prepare` changes it; the module
  /// stays as it is and warnings are dropped.
  absl::StatusOr<std::string>
  trial(const std::function<absl::Status()> &prepare);

  struct Impl;
  std::unique_ptr<Impl> impl_;
};

} // namespace npu

#endif // TOOLS_NPU_COMPILER_H
