//===- ChannelRegions.h - Tensors that share their channels -----*- C++ -*-===//
#ifndef PASSES_QUANTIZATION_CHANNELREGIONS_H
#define PASSES_QUANTIZATION_CHANNELREGIONS_H

#include "mlir/Interfaces/FunctionInterfaces.h"
#include "passes/quantization/OpClasses.h"
#include "llvm/ADT/DenseMap.h"

#include <vector>

namespace npu {

/// Tensors (the innermost dimension is the channel, as many in each) which may
/// be multiplied by one vector of positive factors: what makes them and what
/// reads them are filters, which take the factors and their inverses into
/// their weights, or operators with f(s * x) = s * f(x).
struct ChannelRegion {
  int64_t channels = 0;
  llvm::SmallVector<mlir::Value> tensors;
  /// Filters that make one of the tensors, and that read one.
  llvm::SmallVector<mlir::Operation *> producers, consumers;
  /// Clips inside: homogeneous only while they let everything through.
  llvm::SmallVector<ClipOp> clips;
};

/// The regions of a function with producers and consumers, in program order.
std::vector<ChannelRegion> findChannelRegions(mlir::FunctionOpInterface f);

/// Tensors whose channels may be put in another order, the same in each: the
/// filters at either end take it into their weights, and what lies between
/// works channel by channel.
struct ChannelOrderRegion {
  int64_t channels = 0;
  llvm::SmallVector<mlir::Value> tensors;
  /// Dense filters that make one of the tensors, and that read one.
  llvm::SmallVector<mlir::Operation *> producers, consumers;
  /// Depthwise filters between two of the tensors.
  llvm::SmallVector<mlir::Operation *> depthwise;
  /// Constants with one value per channel.
  llvm::SmallVector<mlir::OpOperand *> constants;
};

/// The regions with a depthwise filter inside, in program order.
std::vector<ChannelOrderRegion>
findChannelOrderRegions(mlir::FunctionOpInterface f);

/// A filter (and bias) of constants, to which nothing is fused yet.
bool isPlainFilter(mlir::Operation *op);

} // namespace npu

#endif // PASSES_QUANTIZATION_CHANNELREGIONS_H
