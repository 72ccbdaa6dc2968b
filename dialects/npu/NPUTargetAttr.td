//===- NPUTargetAttr.td - #npu.target ---------------------------------------===//

#ifndef DIALECTS_NPU_NPUTARGETATTR_TD
#define DIALECTS_NPU_NPUTARGETATTR_TD

include "dialects/npu/NPUBase.td"

def NPU_TargetAttr : NPU_Attr<"Target", "target"> {
  let summary = "What the target of a module can do and what it costs";
  let description = [{
    `#npu.target<"edge">` is a preset; `#npu.target<{base = "edge", name = "mine",
    cores = 2}>` the dictionary form, with the keys of the JSON form (see
    target/README.md). The attribute always holds the complete description; one
    that equals a preset prints as its name. Set by `npu-set-target` as the
    module attribute `npu.target`.
  }];
  let parameters = (ins "::mlir::DictionaryAttr":$spec);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// The attribute of a target that parseJson or a preset returned.
    static TargetAttr get(::mlir::MLIRContext *context,
                          const ::npu::target::Target &target);
    /// The plain struct; costs a few microseconds, keep it.
    ::npu::target::Target getTarget() const;
  }];
}

#endif
