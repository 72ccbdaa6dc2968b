//===- importer.h - State of one import -------------------------*- C++ -*-===//
#ifndef LOWERING_ONNX_TO_NPU_IMPORTER_H
#define LOWERING_ONNX_TO_NPU_IMPORTER_H

#include <functional>
#include <optional>
#include <set>

#include "dialects/npu/NPU.h"
#include "lowering/onnx_to_npu/import.h"
#include "lowering/onnx_to_npu/registry.h"
#include "lowering/onnx_to_npu/tensor.h"
#include "mlir/IR/Builders.h"

namespace npu {

/// What an ONNX name stands for: a constant, or a value of the function. The
/// value may be stored with its dimensions permuted (convolutions leave NHWC);
/// transposes are materialised only where an operator needs the other order.
struct Entry {
  TensorPtr constant;
  mlir::Value value;
  Dims perm; ///< stored dimension i is logical dimension perm[i]

  explicit operator bool() const { return constant || value; }
};

/// One node with typed access to its attributes and inputs.
class Node {
public:
  Node(const onnx::NodeProto &proto, int64_t opset)
      : proto(proto), opset(opset) {}

  const onnx::AttributeProto *attr(const char *name) const;
  int64_t i(const char *name, int64_t missing) const;
  float f(const char *name, float missing) const;
  std::string s(const char *name, const char *missing) const;
  Dims ints(const char *name, Dims missing = {}) const;
  int inputs() const { return proto.input_size(); }
  bool has(int n) const {
    return n < proto.input_size() && !proto.input(n).empty();
  }

  const onnx::NodeProto &proto;
  int64_t opset;
  /// The first attribute that was read as another type than it has.
  mutable std::string wrongAttr;
};

class DeclaredTypes;

class Importer {
public:
  Importer(mlir::MLIRContext &context, const ImportOptions &options,
           std::string folder);
  ~Importer();

  absl::StatusOr<mlir::OwningOpRef<mlir::ModuleOp>>
  run(const onnx::ModelProto &model);

  //===--- For the operators' handlers ------------------------------------===//

  /// Every handler's failure: why this node cannot be imported.
  absl::Status unsupported(const std::string &why) {
    return absl::UnimplementedError(why);
  }
  /// The same with a kind for reports.
  static absl::Status refuse(RefusalKind kind, const std::string &why);

  Entry entry(const Node &node, int n);
  /// The constant input n, or null.
  TensorPtr constant(const Node &node, int n);
  /// Input n as a value, dimensions in ONNX's order.
  mlir::Value value(const Node &node, int n);
  /// Input n as a value stored with `perm`.
  mlir::Value value(const Node &node, int n, const Dims &perm);
  mlir::Value materialize(const Entry &entry, const Dims &perm);
  Dims shape(const Entry &entry); ///< logical
  /// Integers out of input n, which must be constant; or nullopt.
  std::optional<Dims> integers(const Node &node, int n);

  mlir::Value constantValue(const Tensor &tensor);
  mlir::Value constantFloats(const Dims &dims,
                             const std::vector<float> &values);
  mlir::Value constantOf(mlir::RankedTensorType type,
                         mlir::DenseElementsAttr storage);

  /// Builds an op whose result has the inferred shape; `element` null: the
  /// inferred element type.
  template <typename Op, typename... Args>
  absl::StatusOr<mlir::Value> create(mlir::Type element, Args &&...args);

  void bind(const Node &node, int n, mlir::Value value, Dims perm = {});
  void bind(const Node &node, int n, TensorPtr constant);
  void bind(const std::string &name, const Entry &entry);

  /// Imports a subgraph in place, as one trip of a loop: its inputs are the
  /// `arguments`; gives its outputs. Its names are not known afterwards. Those
  /// of its nodes get `suffix`.
  absl::StatusOr<std::vector<Entry>>
  importBody(const onnx::GraphProto &body, const std::vector<Entry> &arguments,
             const std::string &suffix);

  mlir::OpBuilder builder;
  mlir::Location loc;
  int64_t opset = 0;
  std::string folder;

private:
  absl::Status inputs(const onnx::GraphProto &graph);
  absl::Status outputs(const onnx::GraphProto &graph);
  absl::StatusOr<Dims> inputShape(const onnx::ValueInfoProto &input);
  /// The value that the options give an input, or null.
  absl::StatusOr<TensorPtr> fixedInput(const onnx::ValueInfoProto &input);
  absl::Status importNodes(const onnx::GraphProto &graph);
  absl::Status importNode(const onnx::NodeProto &proto);
  absl::Status dispatch(const onnx::NodeProto &proto, const std::string &key);
  int onnxTypeOf(const std::string &name, const Entry &entry);
  absl::Status addHostInput(const std::string &name, onnx::ModelProto &model,
                            llvm::SmallVectorImpl<mlir::Value> &operands,
                            int64_t *bytes);
  absl::Status importOnHost(const onnx::NodeProto &proto,
                            const absl::Status &why);
  absl::Status finishHostCall(const onnx::NodeProto &proto,
                              onnx::ModelProto &model,
                              llvm::ArrayRef<mlir::Value> operands,
                              int64_t bytes, const absl::Status &why);
  /// The placement rule for a node, or null.
  const PlacementRule *ruleFor(const std::string &name, const std::string &op);
  absl::Status checkRules();
  void recordRefusal(const onnx::NodeProto &proto, const std::string &name,
                     const std::string &key, const absl::Status &status);
  void wantConstant(const Entry &entry);
  absl::Status initializers(const onnx::GraphProto &graph);

  const ImportOptions &options;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::func::FuncOp function;
  std::map<std::string, Entry> entries;
  std::vector<std::string> failures;
  std::set<std::string> tensorNames;
  const onnx::ModelProto *source = nullptr;
  std::unique_ptr<DeclaredTypes> types;
  std::set<const PlacementRule *> usedRules;
  llvm::SmallVector<mlir::Attribute> pinned; ///< nodes that rules keep here
  int depth = 0;
  std::string nameSuffix; ///< of nodes in the trips around this one
};

/// Why a node is malformed: inputs or outputs are missing, tensors empty.
/// Handlers rely on it. `op` null: the operator is not known.
absl::Status checkShape(Importer &importer, const Node &node,
                        const OpImport *op);
/// What the operator's entry does not allow: types, ranks, inputs that must be
/// constant.
absl::Status checkOperands(Importer &importer, const Node &node,
                           const OpImport &op);

/// Weights of a matrix operator must be finite; infinities are legitimate
/// elsewhere, in masks.
absl::Status finiteWeights(const Tensor &tensor);

/// Folds a node all of whose inputs are constant; false if it cannot be.
bool foldNode(Importer &importer, const Node &node);

mlir::Type elementType(mlir::MLIRContext *context, int onnxType);
Dims identity(int64_t rank);
bool isIdentity(const Dims &perm);

template <typename Op, typename... Args>
absl::StatusOr<mlir::Value> Importer::create(mlir::Type element,
                                             Args &&...args) {
  mlir::OperationState state(loc, Op::getOperationName());
  // A placeholder type, replaced by the inferred one.
  mlir::Type any = mlir::RankedTensorType::get({1}, builder.getF32Type());
  Op::build(builder, state, any, std::forward<Args>(args)...);
  mlir::Operation *op = mlir::Operation::create(state);
  builder.insert(op);
  std::string message;
  mlir::ScopedDiagnosticHandler catcher(
      builder.getContext(), [&](mlir::Diagnostic &d) {
        message = message.empty() ? d.str() : message;
        return mlir::success();
      });
  llvm::SmallVector<mlir::ShapedTypeComponents> inferred;
  typename Op::Adaptor adaptor(op->getOperands(), op->getAttrDictionary(),
                               op->getPropertiesStorage(), op->getRegions());
  if (failed(Op::inferReturnTypeComponents(builder.getContext(), loc, adaptor,
                                           inferred))) {
    op->erase();
    return absl::InvalidArgumentError(message.empty() ? "shapes do not fit"
                                                      : message);
  }
  op->getResult(0).setType(mlir::RankedTensorType::get(
      inferred[0].getDims(), element ? element : inferred[0].getElementType()));
  return op->getResult(0);
}

#define NPU_ASSIGN(var, expr) NPU_ASSIGN_(NPU_CAT(tmp_, __LINE__), var, expr)
#define NPU_CAT_(a, b) a##b
#define NPU_CAT(a, b) NPU_CAT_(a, b)
#define NPU_ASSIGN_(tmp, var, expr)                                            \
  auto tmp = (expr);                                                           \
  if (!tmp.ok())                                                               \
    return tmp.status();                                                       \
  var = *std::move(tmp)

} // namespace npu

#endif // LOWERING_ONNX_TO_NPU_IMPORTER_H
