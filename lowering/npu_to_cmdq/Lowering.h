//===- Lowering.h - State of npu -> cmdq ------------------------*- C++ -*-===//
//
// The function is walked twice: backwards to find out where results can be
// written directly (a piece of a concatenation, an output), forwards to emit
// commands. A tensor is a `View` of a buffer.
//
//===----------------------------------------------------------------------===//
#ifndef LOWERING_NPU_TO_CMDQ_LOWERING_H
#define LOWERING_NPU_TO_CMDQ_LOWERING_H

#include "dialects/cmdq/Cmdq.h"
#include "dialects/npu/NPU.h"
#include "lowering/npu_to_cmdq/Tables.h"
#include "lowering/npu_to_cmdq/View.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"

#include <optional>

namespace npu {

/// What a command wants of an operand's layout.
enum class Need {
  kAny,   ///< any strides
  kInner, ///< channels (the last dimension) contiguous
  kDense, ///< row-major without gaps
};

class Lowering {
public:
  struct Options {
    bool tapViews = false; ///< a command, and so a tap, for every named tensor
  };

  Lowering(mlir::func::FuncOp function, Options options);

  /// Replaces the function with a cmdq.program. Failure after diagnostics.
  mlir::LogicalResult run();

  //===--- Used by the lowerings of single operators ----------------------===//

  mlir::OpBuilder &b() { return builder; }
  mlir::Location loc() { return location; }
  mlir::StringAttr layer() { return layerName; }
  uint32_t core() { return currentCore; }
  const target::Target &target() { return machine; }

  /// The view of a tensor that has been emitted.
  View viewOf(mlir::Value tensor);
  void setView(mlir::Value tensor, View view) { views[tensor] = view; }
  /// Where `result` has to be written: as planned, or a new buffer.
  View destinationOf(mlir::Value result);
  /// True if the backward walk gave `result` a place.
  bool hasDestination(mlir::Value result) { return dests.count(result); }
  /// `result` is `view` of something emitted before: a copy is made only if it
  /// has to be somewhere else.
  mlir::LogicalResult forward(mlir::Value result, View view);

  /// A memory operand that reads `view`, brought to where and how the engine
  /// can read it.
  mlir::Value input(View view, Need need = Need::kAny);
  /// A memory operand that the next command writes; `finish` moves it to
  /// `dest` if that is somewhere else. `update` also brings in the contents.
  mlir::Value output(View dest, Need need = Need::kAny, bool update = false);
  /// The same of `view` or `dest` seen with another shape of as many elements.
  mlir::Value inputAs(View view, llvm::ArrayRef<int64_t> shape,
                      Need need = Need::kAny);
  mlir::Value outputAs(View dest, llvm::ArrayRef<int64_t> shape,
                       Need need = Need::kAny);
  /// Completes the command that wrote `output(..)`; `result`'s tap is set if it
  /// is the whole of it.
  void finish(mlir::Operation *command, mlir::Value result);
  /// An auxiliary operand: a dense constant. Null with a diagnostic if not.
  mlir::Value auxiliary(mlir::Operation *op, mlir::Value tensor,
                        llvm::StringRef what);

  /// Constants; equal ones are shared.
  mlir::Value constant(mlir::ElementsAttr value, mlir::MemRefType type);
  mlir::Value constant(llvm::ArrayRef<float> values);
  mlir::Value constant(llvm::ArrayRef<int32_t> values,
                       llvm::ArrayRef<int64_t> shape);
  mlir::Value constant(llvm::ArrayRef<int8_t> values);

  /// out = in by DMA.
  mlir::Operation *copy(View out, View in);
  /// Fills with a value given by its bits.
  mlir::Operation *fill(View out, uint64_t bits);
  /// A new dense buffer.
  View allocate(llvm::ArrayRef<int64_t> shape, mlir::Type element,
                cmdq::SpaceKind space);
  /// Where commands work: SRAM, or DRAM if memory is unified.
  cmdq::SpaceKind workingSpace() const;

  /// Error at `op` that names its node.
  mlir::InFlightDiagnostic fail(mlir::Operation *op);

private:
  struct Staged {
    View view;
    uint32_t core;
    View copy;
  };

  bool reachable(const View &view);
  View stage(const View &view);
  mlir::LogicalResult declareIo();
  void planDestinations(mlir::Operation &op);
  void planReshape(mlir::Value result, mlir::Value input);
  View plannedOrNew(mlir::Value result);
  void plan(mlir::Value tensor, View dest);
  mlir::LogicalResult lower(mlir::Operation &op);
  mlir::LogicalResult lowerReturn(mlir::func::ReturnOp op);
  void tapResults(mlir::Operation &op);
  cmdq::SpaceKind spaceFor(mlir::Value result);

  mlir::func::FuncOp function;
  Options options;
  target::Target machine;
  mlir::OpBuilder builder;
  mlir::Location location;
  mlir::StringAttr layerName;
  uint32_t currentCore = 0;
  int slot = 0; ///< counts the inputs of one operator

  cmdq::ProgramOp program;
  mlir::Operation *declarations = nullptr; ///< constants go before it
  llvm::SmallVector<mlir::Value> outputs;

  llvm::DenseMap<mlir::Value, View> views, dests;
  llvm::DenseMap<std::pair<mlir::Attribute, mlir::Type>, mlir::Value> constants;
  llvm::SmallVector<std::optional<Staged>, 4> staged;
  std::optional<std::pair<View, View>> pendingOut; ///< (work, dest)
  llvm::DenseSet<mlir::Value> tapped;
};

/// The element type in memory: a quantised type's storage, others themselves.
mlir::Type storageType(mlir::Type element);
inline mlir::Type elementOf(mlir::Value tensor) {
  return mlir::cast<mlir::RankedTensorType>(tensor.getType()).getElementType();
}
inline llvm::ArrayRef<int64_t> shapeOf(mlir::Value tensor) {
  return mlir::cast<mlir::RankedTensorType>(tensor.getType()).getShape();
}
/// Per-tensor parameters of a quantised 8-bit type, or none.
std::optional<QuantParams> quantParams(mlir::Type element);
/// Scales of a filter: one, or one per channel.
llvm::SmallVector<float> filterScales(mlir::Type element);

/// Joint views of an elementwise operator, all with the dims of views[0], with
/// few enough dimensions. Failure after a diagnostic.
mlir::LogicalResult fitRank(Lowering &l, mlir::Operation *op,
                            llvm::MutableArrayRef<View> views);
/// Failure with a diagnostic if a view has more dimensions than a command.
mlir::LogicalResult checkRank(Lowering &l, mlir::Operation *op,
                              const View &view);

/// The lowerings; none if the operator is not one of theirs.
std::optional<mlir::LogicalResult> lowerMatrixOp(Lowering &l,
                                                 mlir::Operation *op);
std::optional<mlir::LogicalResult> lowerVectorOp(Lowering &l,
                                                 mlir::Operation *op);
std::optional<mlir::LogicalResult> lowerLogicOp(Lowering &l,
                                                mlir::Operation *op);
std::optional<mlir::LogicalResult> lowerDataOp(Lowering &l,
                                               mlir::Operation *op);

/// A fused activation as function and parameters.
struct FunctionParams {
  rt::Function function = rt::Function::kIdentity;
  float alpha = 0, beta = 0;
};
FunctionParams functionOf(ActivationAttr activation);

/// Quantised output of a vector command with an optional fused activation:
/// parameters to round to first, clamp, and the table if one is needed.
struct QuantOutput {
  QuantParams params; ///< of the command's own rounding
  int32_t lo = 0, hi = 0;
  mlir::Value lut;
  bool wide = false; ///< the table has rt::kWideLut entries
};
mlir::FailureOr<QuantOutput> quantOutput(Lowering &l, mlir::Operation *op,
                                         mlir::Type element,
                                         ActivationAttr activation,
                                         std::optional<mlir::Type> preType);

} // namespace npu

#endif // LOWERING_NPU_TO_CMDQ_LOWERING_H
