//===- Passes.td - Partitioning between NPU and host ----------------------===//

#ifndef PASSES_PARTITION_PASSES_TD
#define PASSES_PARTITION_PASSES_TD

include "mlir/Pass/PassBase.td"

def NpuPartitionPass : Pass<"npu-partition", "::mlir::func::FuncOp"> {
  let summary = "Joins host nodes so that there are as few NPU subgraphs as possible";
  let description = [{
    Orders the function into phases that alternate between the NPU and the host,
    as few as the dependences allow, and makes one `npu.host_call` of all that
    the host runs in a phase: one model, its inputs what comes from outside.
    Casts between two of its nodes that undo each other are dropped, so that
    such an edge has the type that it has in ONNX.

    Operators that only move data (reshape, transpose, concat, slice,
    broadcast_to of unquantised tensors) may follow to the host, if that saves an
    NPU subgraph and no placement rule pins them (function attribute
    `npu.pinned`, a list of node names).

    Fails if the model of a host call is no serialised ONNX model with as many
    inputs and outputs as the call. A remark (category "npu-partition") for every
    host segment says what is in it and how many bytes cross its edges.
  }];
  let options = [
    Option<"move", "move", "bool", /*default=*/"true",
           "Let operators that only move data follow to the host">
  ];
}

#endif
