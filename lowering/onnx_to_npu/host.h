//===- host.h - Nodes that stay ONNX ----------------------------*- C++ -*-===//
//
// A node that is not imported becomes an `npu.host_call` with a model of this
// one node; npu-partition joins them. The npu dialect has no f64, f16 (it
// computes these in f32) nor unsigned integers of more than 8 bits: at the
// node's edges casts in its model convert them, and npu-partition drops a pair
// of casts between two nodes of one segment.
//
//===----------------------------------------------------------------------===//
#ifndef LOWERING_ONNX_TO_NPU_HOST_H
#define LOWERING_ONNX_TO_NPU_HOST_H

#include "lowering/onnx_to_npu/importer.h"

namespace npu {

/// ONNX types by tensor name, where the npu dialect's type does not tell:
/// every float is an f32 there, quantised types know no sign.
class DeclaredTypes {
public:
  void set(const std::string &name, int type) { types[name] = type; }
  int get(const std::string &name) const;
  /// Follows a node: its results have the type of its first such operand,
  /// unless its operator says otherwise.
  void follow(const onnx::NodeProto &node);

private:
  std::map<std::string, int> types;
};

/// The type with which a tensor of `type` crosses the edge of a host segment;
/// 0 if none can (strings, sequences, complex numbers).
int edgeType(int type);

/// Doc strings of the casts at edges.
constexpr char kEdgeIn[] = "npu.edge.in", kEdgeOut[] = "npu.edge.out";

/// Fills in type and shape of the model's outputs: by ONNX's shape inference
/// if it knows the operator and `trust` is set, else as ONNX Runtime finds
/// them.
absl::Status inferOutputs(onnx::ModelProto &model, bool trust);

/// Names that the subgraphs of a node take from around it.
std::vector<std::string> capturedNames(const onnx::NodeProto &node);

/// Multiply-accumulates of a node, 0 where there are none or they are not
/// known.
int64_t macsOf(const onnx::NodeProto &node,
               const std::function<Dims(const std::string &)> &shapeOf);

/// What a user can do about a node on the host.
std::string fixFor(const std::string &op, const absl::Status &why);

} // namespace npu

#endif // LOWERING_ONNX_TO_NPU_HOST_H
