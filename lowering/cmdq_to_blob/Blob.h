//===- Blob.h - cmdq programs to blobs and back -----------------*- C++ -*-===//
//
// Emission and disassembly read the same table in two directions:
// blob -> cmdq -> blob gives the same bytes.
//
// Facts for people travel in the module attribute `npu.info`, a dictionary of
// strings. Emission adds "target" (JSON, from `npu.target`), "estimate" and
// "memory" (JSON, from the program's `npu.estimate` and
// `npu.dram_lower_bound`).
//
//===----------------------------------------------------------------------===//
#ifndef LOWERING_CMDQ_TO_BLOB_BLOB_H
#define LOWERING_CMDQ_TO_BLOB_BLOB_H

#include <string>

#include "dialects/cmdq/Cmdq.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "runtime/blob/blob.h"

namespace npu {

/// The blob of a module with one planned `cmdq.program`. Failure after a
/// diagnostic.
mlir::FailureOr<std::string> emitBlob(mlir::ModuleOp module);

/// The program of a blob in the planned form.
mlir::OwningOpRef<mlir::ModuleOp> disassemble(const rt::Blob &blob,
                                              mlir::MLIRContext *context);

/// `npu-translate --npu-to-blob` and `--blob-to-npu`.
void registerBlobTranslations();

} // namespace npu

#endif // LOWERING_CMDQ_TO_BLOB_BLOB_H
