//===- import.h - ONNX to the npu dialect -----------------------*- C++ -*-===//
#ifndef LOWERING_ONNX_TO_NPU_IMPORT_H
#define LOWERING_ONNX_TO_NPU_IMPORT_H

#include <map>
#include <set>
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

/// Why a node cannot be imported, for reports.
enum class RefusalKind {
  Training,      ///< optimisers, gradients, losses
  Random,        ///< never the same twice; not run on the host either
  NonTensor,     ///< sequences, optionals, strings, maps
  DataDependent, ///< the shape of a result depends on values
  Operator,      ///< nothing imports this operator
  Type,          ///< not on this element type
  NotConstant,   ///< an input must be known when building
  Constraint,    ///< an attribute, rank or size that is not understood
  Invalid,       ///< the model is wrong
  Empty          ///< a tensor without elements
};
const char *refusalName(RefusalKind kind);

struct Refusal {
  std::string node, op; ///< op: "Conv", or "domain:Op"
  RefusalKind kind = RefusalKind::Constraint;
  std::string reason;
};

/// What an import has to say beyond its status.
struct ImportReport {
  std::vector<Refusal> refusals;
  /// Inputs of the graph that must be known when building; see
  /// ImportOptions::values.
  std::set<std::string> wanted;
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
  /// Inputs fixed to a value, which makes them constants: a TensorProto's
  /// bytes by input name.
  std::map<std::string, std::string> values;
  /// The same as text: numbers of the input's type separated by commas, one
  /// for each element or one for all.
  std::map<std::string, std::string> valueTexts;
  ImportReport *report = nullptr; ///< filled in if given
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
/// "NAME=FILE", a file with one ONNX tensor (.pb).
absl::Status parseValue(const std::string &text, ImportOptions *options);

/// `npu-translate --onnx-to-npu`, with --batch, --shape, --dim and --value.
void registerOnnxToNpuTranslation();

} // namespace npu

#endif // LOWERING_ONNX_TO_NPU_IMPORT_H
