//===- version.h - What this toolchain is made of ---------------*- C++ -*-===//
#ifndef TOOLS_NPU_VERSION_H
#define TOOLS_NPU_VERSION_H

#include <map>
#include <string>

namespace npu {

inline constexpr char kVersion[] = "npu-mlir 0.1.0";

/// Names and versions for reports: the toolchain, the blob format, MLIR.
std::map<std::string, std::string> versions();

} // namespace npu

#endif // TOOLS_NPU_VERSION_H
