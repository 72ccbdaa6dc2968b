//===- Constants.h - Layout of the weight section ---------------*- C++ -*-===//
#ifndef PASSES_MEMORY_CONSTANTS_H
#define PASSES_MEMORY_CONSTANTS_H

#include "dialects/cmdq/Cmdq.h"

namespace npu {

/// Gives every constant of the program its offset, in order of appearance, the
/// same one to constants with identical bytes; erases those without users.
void placeConstants(cmdq::ProgramOp program);

} // namespace npu

#endif // PASSES_MEMORY_CONSTANTS_H
