//===- Waits.h - The waits that a program needs -----------------*- C++ -*-===//
//
// No MLIR here, so that it can be tested with random programs.
//
//===----------------------------------------------------------------------===//
#ifndef PASSES_SCHEDULING_WAITS_H
#define PASSES_SCHEDULING_WAITS_H

#include "runtime/queue/command.h"

#include <cstdint>
#include <vector>

namespace npu {

/// The waits of every command. Where there are more than kMaxWaits, the counts
/// assume that nops before the command, on its queue, take kMaxWaits each, from
/// the front, until no more than kMaxWaits are left.
using WaitList = std::vector<std::vector<rt::Wait>>;

/// Derives the waits of `commands` (their own are ignored). `barriers` as in
/// rt::findScheduleError().
WaitList deriveWaits(const rt::Command *commands, int64_t count, int cores,
                     const std::vector<int64_t> &barriers = {});

} // namespace npu

#endif // PASSES_SCHEDULING_WAITS_H
