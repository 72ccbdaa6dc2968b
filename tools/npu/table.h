//===- table.h - Tables for terminals ---------------------------*- C++ -*-===//
#ifndef TOOLS_NPU_TABLE_H
#define TOOLS_NPU_TABLE_H

#include <string>
#include <vector>

namespace npu {

/// Columns padded to their widest cell, the first line being the heads; a
/// column whose other cells are all numbers is set to the right.
std::string formatTable(const std::vector<std::vector<std::string>> &rows);

} // namespace npu

#endif // TOOLS_NPU_TABLE_H
