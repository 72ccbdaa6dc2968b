#include "tools/npu/version.h"

#include "absl/strings/str_cat.h"
#include "runtime/blob/format.h"
#include "llvm/Config/llvm-config.h"

namespace npu {

std::map<std::string, std::string> versions() {
  return {{"npu-mlir", kVersion},
          {"blob", absl::StrCat(rt::kFormatMajor, ".", rt::kFormatMinor)},
          {"mlir", LLVM_VERSION_STRING}};
}

} // namespace npu
