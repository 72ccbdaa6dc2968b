//===- Translate.cc - npu-translate --npu-to-blob, --blob-to-npu ----------===//

#include "lowering/cmdq_to_blob/Blob.h"

#include "dialects/npu/NPU.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Tools/mlir-translate/Translation.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;

namespace npu {

static LogicalResult toBlob(ModuleOp module, raw_ostream &out) {
  FailureOr<std::string> bytes = emitBlob(module);
  if (failed(bytes))
    return failure();
  // What no runtime would load is not written.
  auto check = rt::Blob::parse(*bytes, "the blob");
  if (!check.ok())
    return module.emitError(std::string(check.status().message()));
  out << *bytes;
  return success();
}

static OwningOpRef<Operation *> fromBlob(llvm::SourceMgr &sources,
                                         MLIRContext *context) {
  auto *buffer = sources.getMemoryBuffer(sources.getMainFileID());
  auto blob = rt::Blob::parse(buffer->getBuffer().str(),
                              buffer->getBufferIdentifier().str());
  if (!blob.ok()) {
    emitError(UnknownLoc::get(context)) << std::string(blob.status().message());
    return {};
  }
  return disassemble(**blob, context);
}

void registerBlobTranslations() {
  static TranslateFromMLIRRegistration to(
      "npu-to-blob", "write a planned cmdq program as a blob",
      [](ModuleOp module, raw_ostream &out) { return toBlob(module, out); },
      [](DialectRegistry &registry) {
        registry.insert<cmdq::CmdqDialect, NPUDialect, func::FuncDialect,
                        memref::MemRefDialect>();
      });
  static TranslateToMLIRRegistration from(
      "blob-to-npu", "disassemble a blob into a planned cmdq program",
      [](llvm::SourceMgr &sources, MLIRContext *context) {
        return fromBlob(sources, context);
      },
      [](DialectRegistry &registry) {
        registry.insert<cmdq::CmdqDialect, memref::MemRefDialect>();
      });
}

} // namespace npu
