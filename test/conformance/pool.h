//===- pool.h - Cases in child processes ------------------------*- C++ -*-===//
#ifndef TEST_CONFORMANCE_POOL_H
#define TEST_CONFORMANCE_POOL_H

#include "test/conformance/case.h"

namespace npu::conformance {

/// Runs every case in a process of its own, `jobs` at a time. One that dies, or
/// takes longer than `seconds`, is a Crash.
std::vector<Outcome> runAll(const std::vector<Case> &cases, int jobs,
                            int seconds);

} // namespace npu::conformance

#endif // TEST_CONFORMANCE_POOL_H
