//===- testing_cases.h - Random valid commands ------------------*- C++ -*-===//
#ifndef RUNTIME_KERNELS_TESTING_CASES_H
#define RUNTIME_KERNELS_TESTING_CASES_H

#include "runtime/kernels/testing.h"

namespace npu::rt::testing {

/// A valid command of the kind, of random shapes, layouts and parameters.
/// array 0 holds random bytes: the output before the command.
Case randomCase(Opcode opcode, Rng &rng);

Case convCase(Rng &rng, DType in, DType out, bool depthwise);
Case matmulCase(Rng &rng, DType in, DType out);
Case poolCase(Rng &rng, DType type, PoolKind kind);
Case reduceCase(Rng &rng, DType type, ReduceKind kind);
Case binaryCase(Rng &rng, DType type, BinaryKind kind);
Case compareCase(Rng &rng, DType type, CompareKind kind);
Case selectCase(Rng &rng, DType type);
Case unaryCase(Rng &rng, DType type, Function function);
Case convertCase(Rng &rng, DType in, DType out, bool quantize);
Case softmaxCase(Rng &rng, DType in, DType out);
Case resizeCase(Rng &rng, DType type, bool nearest);
Case argMaxCase(Rng &rng, DType in, DType out);

} // namespace npu::rt::testing

#endif // RUNTIME_KERNELS_TESTING_CASES_H
