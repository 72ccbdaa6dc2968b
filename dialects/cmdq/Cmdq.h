//===- Cmdq.h - The cmdq dialect --------------------------------*- C++ -*-===//
//
// Command-queue programs: one op per command of runtime/queue/command.h.
//
//===----------------------------------------------------------------------===//
#ifndef DIALECTS_CMDQ_CMDQ_H
#define DIALECTS_CMDQ_CMDQ_H

#include <array>
#include <cstring>
#include <optional>

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "runtime/queue/command.h"

namespace npu::cmdq {

/// `npu::rt::Epilogue` as a value that attributes can hold: compared and
/// hashed by its bytes, so that nothing of a command is lost.
struct EpilogueValue {
  rt::Epilogue fields{};

  bool operator==(const EpilogueValue &other) const {
    return !std::memcmp(&fields, &other.fields, sizeof(fields));
  }
};
static_assert(std::has_unique_object_representations_v<uint32_t> &&
                  sizeof(rt::Epilogue) == 60,
              "Epilogue must have no padding bytes");
llvm::hash_code hash_value(const EpilogueValue &value);

/// True for what a command can address: rank 1 to 6, static shape, static
/// strides and offset, element type with a DType, memory space #cmdq.space.
bool isBufferType(mlir::Type type);

/// The DType of an element type (ui8 is kU8, i1 kBool), or none.
std::optional<rt::DType> toDType(mlir::Type type);
/// The element type of a DType.
mlir::Type fromDType(mlir::MLIRContext *context, rt::DType type);

/// The non-null values of `slots` from `first` on.
llvm::SmallVector<mlir::Value, 4>
present(const std::array<mlir::Value, 4> &slots, int first);

/// Conversion of the `waits` attribute (null is no waits, and back).
llvm::SmallVector<rt::Wait> toWaits(mlir::ArrayAttr waits);
mlir::ArrayAttr fromWaits(mlir::MLIRContext *context,
                          llvm::ArrayRef<rt::Wait> waits);

/// What holds for every command: output not in constant memory, auxiliary
/// operands dense and in constant memory, not more waits than fit.
mlir::LogicalResult verifyCommand(mlir::Operation *op);

} // namespace npu::cmdq

#include "dialects/cmdq/CmdqDialect.h.inc"
#include "dialects/cmdq/CmdqEnums.h.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/cmdq/CmdqAttrs.h.inc"
#include "dialects/cmdq/CmdqInterfaces.h.inc"
#define GET_OP_CLASSES
#include "dialects/cmdq/CmdqOps.h.inc"

namespace npu::cmdq {

/// The space of a buffer type; `isBufferType(type)` must hold.
inline SpaceKind spaceOf(mlir::MemRefType type) {
  return mlir::cast<SpaceAttr>(type.getMemorySpace()).getKind();
}
inline SpaceKind spaceOf(mlir::Value buffer) {
  return spaceOf(mlir::cast<mlir::MemRefType>(buffer.getType()));
}

/// Follows view-like ops (memref.subview, reshapes, reinterpret_cast) to the
/// buffer they look at: the result of a cmdq.alloc, constant, io or buffer.
mlir::Value rootBuffer(mlir::Value view);

} // namespace npu::cmdq

#endif // DIALECTS_CMDQ_CMDQ_H
