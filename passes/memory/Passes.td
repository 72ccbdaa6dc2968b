//===- Passes.td - Memory planning ----------------------------------------===//

#ifndef PASSES_MEMORY_PASSES_TD
#define PASSES_MEMORY_PASSES_TD

include "mlir/Pass/PassBase.td"

def CmdqPlanMemoryPass : Pass<"cmdq-plan-memory", "::mlir::ModuleOp"> {
  let summary = "Gives every buffer of a cmdq.program its address";
  let description = [{
    Turns the virtual form of a program into the planned one: every operand
    becomes a `cmdq.buffer` with an absolute offset and a type without one,
    `cmdq.alloc` and views disappear, `cmdq.constant` gets its offset in the
    weight section (identical bytes are there once; unused constants are
    dropped), `cmdq.io` stays. `sram_bytes`, `dram_bytes` are set, and
    `npu.dram_lower_bound`, the largest sum of DRAM bytes that live at one time,
    to compare with.

    A buffer lives from the first command that touches it through any view to
    the last one. In SRAM it is kept for some commands longer, as far as there
    is room, so that the command that takes its place does not wait for it.

    An SRAM plan larger than the target's is an error that names the layer, the
    bytes needed and the capacity. Programs that are planned already stay as
    they are.
  }];
  let options = [
    Option<"slack", "sram-slack", "int64_t", /*default=*/"6",
           "Commands that an SRAM buffer stays reserved after its last use, "
           "where there is room">
  ];
  let dependentDialects = ["::npu::cmdq::CmdqDialect"];
}

#endif
