//===- Passes.td - npu -> cmdq --------------------------------------------===//

#ifndef LOWERING_NPU_TO_CMDQ_PASSES_TD
#define LOWERING_NPU_TO_CMDQ_PASSES_TD

include "mlir/Pass/PassBase.td"

def NpuToCmdqPass : Pass<"npu-to-cmdq", "::mlir::ModuleOp"> {
  let summary = "Turns the npu dialect's main function into commands";
  let description = [{
    Afterwards the module holds one `cmdq.program` in its virtual form
    (`cmdq.alloc`, `cmdq.constant`, `cmdq.io` and views of them) in place of
    `@main`, in an order in which the commands can be executed one after the
    other. On a target with SRAM, commands of the matrix and vector engines
    work on SRAM buffers and DMA commands bring tensors in and out; with
    unified memory there is no staging.

    Slices, transposes, reshapes and broadcasts become views; pieces of a
    concatenation and the function's results are written in place where they
    are produced. Tables, multipliers and clamps are computed here from the
    quantised types. Operators without a command are errors that name the node.
  }];
  let options = [
    Option<"tapViews", "tap-views", "bool", /*default=*/"false",
           "Copies tensors that would only be views or pieces of others, so "
           "that a command (and its tap) writes every named tensor as a whole; "
           "for calibration">
  ];
  let dependentDialects = ["::npu::cmdq::CmdqDialect",
                           "::mlir::memref::MemRefDialect"];
}

#endif
