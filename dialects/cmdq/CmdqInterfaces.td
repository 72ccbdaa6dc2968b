//===- CmdqInterfaces.td - What all commands have in common ---------------===//

#ifndef DIALECTS_CMDQ_CMDQINTERFACES_TD
#define DIALECTS_CMDQ_CMDQINTERFACES_TD

include "mlir/IR/OpBase.td"

def Cmdq_CommandOpInterface : OpInterface<"CommandOpInterface"> {
  let cppNamespace = "::npu::cmdq";
  let description = [{
    One command of a queue. The slots are those of `npu::rt::Command`: absent
    ones are null values.
  }];
  let methods = [
    InterfaceMethod<"The command's opcode.", "::npu::rt::Opcode", "getOpcode">,
    InterfaceMethod<"out, in0, in1, in2.", "::std::array<::mlir::Value, 4>", "getSlots">,
    InterfaceMethod<"aux[0] to aux[3].", "::std::array<::mlir::Value, 4>", "getAuxSlots">,
    InterfaceMethod<"The engine.", "::npu::cmdq::EngineKind", "getEngine">,
    InterfaceMethod<"The core.", "uint32_t", "getCore">,
    InterfaceMethod<"Name of the layer, for profiles.",
                    "::std::optional<::llvm::StringRef>", "getLayer">,
    InterfaceMethod<"Name of the tensor that this command completes.",
                    "::std::optional<::llvm::StringRef>", "getTap">,
    InterfaceMethod<"Waits as attributes; null if there are none.",
                    "::mlir::ArrayAttr", "getWaitsAttr">,
    InterfaceMethod<"Replaces the waits.", "void", "setWaitsAttr",
                    (ins "::mlir::ArrayAttr":$waits)>
  ];
  let verify = "return ::npu::cmdq::verifyCommand($_op);";
  let extraSharedClassDeclaration = [{
    /// The output, or null.
    ::mlir::Value getOut() { return $_op.getSlots()[0]; }
    /// The inputs that are there, in order.
    ::llvm::SmallVector<::mlir::Value, 3> getIns() {
      return ::npu::cmdq::present($_op.getSlots(), 1);
    }
    /// The auxiliary operands that are there, in order.
    ::llvm::SmallVector<::mlir::Value, 4> getAux() {
      return ::npu::cmdq::present($_op.getAuxSlots(), 0);
    }
    /// Index of the queue that runs it.
    int getQueue() {
      return ::npu::rt::queueIndex($_op.getCore(),
          static_cast<::npu::rt::Engine>($_op.getEngine()));
    }
    /// Queue and count of every wait.
    ::llvm::SmallVector<::npu::rt::Wait> getWaitList() {
      return ::npu::cmdq::toWaits($_op.getWaitsAttr());
    }
    /// Replaces the waits (none: removes the attribute).
    void setWaitList(::llvm::ArrayRef<::npu::rt::Wait> waits) {
      $_op.setWaitsAttr(::npu::cmdq::fromWaits($_op->getContext(), waits));
    }
  }];
}

#endif
