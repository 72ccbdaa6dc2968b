//===- Models.h - Making one ONNX model of several --------------*- C++ -*-===//
#ifndef PASSES_PARTITION_MODELS_H
#define PASSES_PARTITION_MODELS_H

#include "dialects/npu/NPU.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"

#include <map>
#include <memory>
#include <string>

namespace onnx {
class ModelProto;
class GraphProto;
} // namespace onnx

namespace npu {

/// The ONNX element type of an unquantised MLIR type; 0 if there is none.
int onnxTypeOf(mlir::Type element);

/// True if `op` only moves data and can be written as an ONNX node.
bool isMovement(mlir::Operation *op);

/// Collects operators in program order; finish() gives the model of all.
class ModelBuilder {
public:
  ModelBuilder();
  ~ModelBuilder();

  /// Failure after a diagnostic, for a model that is none.
  mlir::LogicalResult add(HostCallOp call);
  void add(mlir::Operation *movement);

  /// Values that come from outside, in order.
  llvm::ArrayRef<mlir::Value> inputs() const { return inputs_.getArrayRef(); }
  std::string finish(llvm::ArrayRef<mlir::Value> outputs);

private:
  /// The name of a value in the model; an input if nothing here defines it.
  std::string nameOf(mlir::Value value);
  std::string fresh(const std::string &name);
  void join(onnx::ModelProto &model);
  void dropCasts();

  std::unique_ptr<onnx::ModelProto> model_;
  llvm::SetVector<mlir::Value> inputs_;
  llvm::DenseMap<mlir::Value, std::string> names_;
  std::map<std::string, int> used_;
};

} // namespace npu

#endif // PASSES_PARTITION_MODELS_H
