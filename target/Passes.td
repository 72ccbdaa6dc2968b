//===- Passes.td - Passes about the target --------------------------------===//

#ifndef TARGET_PASSES_TD
#define TARGET_PASSES_TD

include "mlir/Pass/PassBase.td"

def SetTargetPass : Pass<"npu-set-target", "::mlir::ModuleOp"> {
  let summary = "Says which target the module is compiled for";
  let description = [{
    Afterwards the module has the attribute `npu.target`, the complete
    description of the target, which every later pass reads. Fails if the name
    is no preset or the file is not a valid target description.
  }];
  let options = [
    Option<"target", "target", "std::string", /*default=*/"\"edge\"",
           "edge, pc, micro, host, or the path of a JSON file">
  ];
  let dependentDialects = ["::npu::NPUDialect"];
}

#endif
