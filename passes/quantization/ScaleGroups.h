//===- ScaleGroups.h - Tensors that share a scale ---------------*- C++ -*-===//
#ifndef PASSES_QUANTIZATION_SCALEGROUPS_H
#define PASSES_QUANTIZATION_SCALEGROUPS_H

#include "mlir/Interfaces/FunctionInterfaces.h"
#include "passes/quantization/Types.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace npu {

/// The i8 type of every f32 tensor of a function. Tensors between which values
/// only move are in one group and get one type.
class ScaleGroups {
public:
  /// Operators in `separate` tie nothing together.
  ScaleGroups(mlir::FunctionOpInterface function,
              const llvm::DenseSet<mlir::Operation *> &separate);

  /// The type that `tensor` has when it is quantised; null if its range is not
  /// known. Constants have no group: use constantType.
  PerTensorType typeOf(mlir::Value tensor);
  /// The range of a tensor by itself, derived if it was not calibrated.
  std::optional<Interval> rangeOf(mlir::Value tensor);

private:
  struct Group {
    std::optional<Interval> range;
    PerTensorType fixed;
    unsigned parent;
  };

  void addTensors();
  void tieMoves(mlir::Operation *op);
  void tieClip(mlir::Operation *op);
  void tieConcat(mlir::Operation *op);
  /// Narrows the ranges of what only saturating functions read.
  void trimTails();
  /// The range of `group` that its readers can tell apart; none if one of them
  /// can tell all.
  std::optional<Interval> usefulRange(unsigned group,
                                      llvm::ArrayRef<mlir::Value> tensors);
  /// True if what `tensor` holds is read through moves by one operator only.
  bool readOnce(mlir::Value tensor);
  Group &groupOf(mlir::Value tensor);
  unsigned find(unsigned id);
  /// One group of both, with the range and type of `ruler`'s.
  void join(mlir::Value ruler, mlir::Value other);

  mlir::FunctionOpInterface function;
  const llvm::DenseSet<mlir::Operation *> &separate;
  llvm::DenseMap<mlir::Value, unsigned> ids;
  llvm::DenseMap<mlir::Value, std::optional<Interval>> ranges;
  std::vector<Group> groups;
};

/// The smallest and largest element of an f32 constant.
std::optional<Interval> constantRange(mlir::Value value);

} // namespace npu

#endif // PASSES_QUANTIZATION_SCALEGROUPS_H
