//===- Passes.td - Tiling -------------------------------------------------===//

#ifndef PASSES_TILING_PASSES_TD
#define PASSES_TILING_PASSES_TD

include "mlir/Pass/PassBase.td"

def NpuTilePass : Pass<"npu-tile", "::mlir::func::FuncOp"> {
  let summary = "Cuts operators into tiles that fit the target's SRAM";
  let description = [{
    Afterwards the operands and the result of every operator that a command
    engine runs fit the SRAM of a core together, twice where the next tile has
    to be fetched meanwhile. An operator that does not fit becomes a chain of
    `tensor.extract_slice`, the operator on a tile (pads and groups adjusted,
    input rows overlapping by the halo) and `tensor.insert_slice`; filters that
    are quantised per axis are cut into constants. The cost model chooses the
    tile and the order of the tiles.

    Before that, tensors that can stay in SRAM from their producer to their last
    user are chosen (single-core targets only); their operator, or the
    `tensor.empty` at the start of their chain, has the attribute `npu.sram`.
    With several cores, tiles go to the cores in blocks (attribute `npu.core`).

    Does nothing on targets with unified memory. Fails for an operator whose
    smallest tile does not fit. Remarks (category "npu-tile") say which tile was
    taken and why.
  }];
  let options = [
    Option<"margin", "sram-margin", "int64_t", /*default=*/"10",
           "Share of the SRAM left free for fragmentation, in percent">,
    Option<"resident", "resident", "bool", /*default=*/"true",
           "Let tensors stay in SRAM between operators">,
    Option<"maxCores", "cores", "int64_t", /*default=*/"0",
           "Cores to use; 0: all the target has">
  ];
  let dependentDialects = ["::mlir::tensor::TensorDialect"];
}

#endif
