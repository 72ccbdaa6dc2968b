//===- Passes.td - Scheduling ---------------------------------------------===//

#ifndef PASSES_SCHEDULING_PASSES_TD
#define PASSES_SCHEDULING_PASSES_TD

include "mlir/Pass/PassBase.td"

def CmdqPrefetchPass : Pass<"cmdq-prefetch", "::mlir::ModuleOp"> {
  let summary = "Hoists loads into SRAM over commands that they can overlap";
  let description = [{
    Works on the virtual form. A DMA command that fills an SRAM buffer moves up
    over earlier commands that it does not conflict with, so that its transfer
    overlaps them and its buffer is not the one they use. It passes at most
    `lookahead` compute commands of its core, never a host segment, and stops
    before the buffers that live at once exceed the target's SRAM less `margin`.
    If they find no place in the SRAM even so, loads of that time stay where
    they are; if that does not help, `lookahead` is halved.
  }];
  let options = [
    Option<"lookahead", "lookahead", "int64_t", /*default=*/"2",
           "Compute commands that a load may pass">,
    Option<"margin", "sram-margin", "int64_t", /*default=*/"10",
           "Share of the SRAM left free for fragmentation, in percent">
  ];
}

def CmdqInsertWaitsPass : Pass<"cmdq-insert-waits", "::mlir::ModuleOp"> {
  let summary = "Orders conflicting commands of different queues by waits";
  let description = [{
    Works on the planned form. Two commands conflict if they touch common bytes
    and one of them writes there. The later one in program order gets a wait for
    the earlier one's queue unless other waits order them already; no wait that
    is set could be left out. Waits that do not fit a command go to a `cmdq.nop`
    before it. Waits and nops that are there before are replaced.
  }];
}

def CmdqVerifySchedulePass
    : Pass<"cmdq-verify-schedule", "::mlir::ModuleOp"> {
  let summary = "Rejects races, waits that never end, and wild addresses";
  let description = [{
    Works on the planned form, with the analysis that the blob's loader uses.
    Errors: conflicting commands of different queues that no wait orders; a wait
    for commands that do not come before; an operand outside its space.
  }];
}

def CmdqEstimatePass : Pass<"cmdq-estimate", "::mlir::ModuleOp"> {
  let summary = "Simulates the queues with the cost model";
  let description = [{
    Works on the planned form with waits. Every command takes what the target's
    cost model says; commands that run together share the bandwidth of the DRAM,
    of the weights' memory and of their SRAM. The program gets the attribute
    `npu.estimate` with `cycles`, `latency_ms`, `macs`, `mac_efficiency` (share
    of the target's peak) and `busy` cycles by engine (all cores together).
    Host segments count as 0 cycles; `host_calls` tells how many there are.
  }];
}

#endif
