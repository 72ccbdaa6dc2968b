//===- vectorise.h - Plain loops for the widest vectors ---------*- C++ -*-===//
//
//   vectorise(context.isa, [&]() NPU_INLINE {
//     NPU_NO_OVERLAP for (...) out[i] = f(in[i]);
//   });
//
// compiles the loop twice and runs the copy for the instruction set. There is
// no FMA in either: floats have the same bits.
//
//===----------------------------------------------------------------------===//
#ifndef RUNTIME_KERNELS_VECTORISE_H
#define RUNTIME_KERNELS_VECTORISE_H

#include "runtime/kernels/context.h"

/// For the lambda: its body belongs in the copy, not beside it.
#define NPU_INLINE __attribute__((always_inline))

/// Before a loop: an element depends on no other one, even when a program
/// computes in place.
#if defined(__clang__)
#define NPU_NO_OVERLAP _Pragma("clang loop vectorize(assume_safety)")
#else
#define NPU_NO_OVERLAP _Pragma("GCC ivdep")
#endif

namespace npu::rt {

#if defined(__x86_64__)
template <typename F>
__attribute__((target("avx2"))) void vectoriseAvx2(const F &body) {
  body();
}
#endif

template <typename F> void vectorise(Isa isa, const F &body) {
#if defined(__x86_64__)
  if (isa != Isa::kPortable)
    return vectoriseAvx2(body);
#endif
  body();
}

} // namespace npu::rt

#endif // RUNTIME_KERNELS_VECTORISE_H
