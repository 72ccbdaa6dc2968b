//===- import.h - ONNX to the npu dialect -----------------------*- C++ -*-===//
#ifndef LOWERING_ONNX_TO_NPU_IMPORT_H
#define LOWERING_ONNX_TO_NPU_IMPORT_H

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace npu {

/// Where a node has to run; the first rule that fits decides.
struct PlacementRule {
  std::string node; ///< name or /regex/; empty: any
  std::string op;   ///< operator type; empty: any
  bool host = true; ///< false: an error if it cannot run on the NPU
};

struct ImportOptions {
  int64_t batch = 1; ///< for an unknown first dimension
  std::map<std::string, std::vector<int64_t>> shapes; ///< by input name;
                                                      ///< "" stands for any
  std::map<std::string, int64_t> dims;                ///< by symbolic name
  /// Nodes that are not understood become `npu.host_call`, not errors, if
  /// their results have static shapes.
  bool hostNodes = false;
  std::vector<PlacementRule> placement; ///< every rule must fit some node
};

/// Imports a model file: binary protobuf, or protobuf text if its name ends in
/// .textproto. The module holds one function `main` on static shapes; inputs
/// and outputs keep ONNX's layout and type. Nodes that are not understood are
/// reported one by one through the context's diagnostics (name, operator,
/// opset, reason), unless they can go to the host; the status is a one-line
/// summary of the first cause.
absl::StatusOr<mlir::OwningOpRef<mlir::ModuleOp>>
importOnnx(const std::string &path, const ImportOptions &options,
           mlir::MLIRContext &context);

/// "NAME=1x3x224x224" and "NAME=1" into the options.
absl::Status parseShape(const std::string &text, ImportOptions *options);
absl::Status parseDim(const std::string &text, ImportOptions *options);
/// A file of placement rules (docs/placement.md) into the options.
absl::Status readPlacement(const std::string &path, ImportOptions *options);

/// `npu-translate --onnx-to-npu`, with --batch, --shape and --dim.
void registerOnnxToNpuTranslation();

} // namespace npu

#endif // LOWERING_ONNX_TO_NPU_IMPORT_H
