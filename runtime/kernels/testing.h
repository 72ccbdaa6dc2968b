//===- testing.h - Running one command in a test ----------------*- C++ -*-===//
//
// A Case is a command over arrays of its own. Running it places every array in
// memory with guard zones around it, validates, executes on every instruction
// set and on several threads, and compares. References are written in the
// tests, from the text of command.h.
//
//===----------------------------------------------------------------------===//
#ifndef RUNTIME_KERNELS_TESTING_H
#define RUNTIME_KERNELS_TESTING_H

#include <array>
#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "runtime/kernels/kernels.h"

namespace npu::rt::testing {

using Index = std::array<int64_t, kMaxRank>;

class Rng {
public:
  explicit Rng(uint32_t seed) : engine_(seed) {}
  int64_t pick(int64_t lo, int64_t hi) {
    return std::uniform_int_distribution<int64_t>(lo, hi)(engine_);
  }
  float real(float lo, float hi) {
    return std::uniform_real_distribution<float>(lo, hi)(engine_);
  }
  bool chance(int percent) { return pick(0, 99) < percent; }
  template <typename T> T of(std::initializer_list<T> values) {
    return values.begin()[pick(0, int64_t(values.size()) - 1)];
  }

private:
  std::mt19937 engine_;
};

enum class Layout {
  kDense,
  kGaps, ///< the last dimension dense, gaps between the others
  kAny,  ///< any order, gaps everywhere
};

/// A tensor with strides, in its own storage that ends with its last element.
struct Array {
  DType type = DType::kI8;
  std::vector<int64_t> dims, strides; ///< strides in elements
  std::vector<uint8_t> bytes;

  bool present() const { return !dims.empty(); }
  int64_t count() const;
  int64_t offset(const Index &index) const;
  template <typename T> T &at(const Index &index) {
    return reinterpret_cast<T *>(bytes.data())[offset(index)];
  }
  template <typename T> T at(const Index &index) const {
    return reinterpret_cast<const T *>(bytes.data())[offset(index)];
  }
};

/// Random values everywhere, in the gaps too: integers over their whole range
/// (i32 and i64 in +-2^20), floats in [-2, 2]. Dimensions in `broadcast` (bit
/// i is dimension i) get stride 0.
Array randomArray(Rng &rng, DType type, std::vector<int64_t> dims,
                  Layout layout = Layout::kDense, uint32_t broadcast = 0);

/// One of the layouts, half of the time kDense.
Layout anyLayout(Rng &rng, bool innerDense);

void forEachIndex(const std::vector<int64_t> &dims,
                  const std::function<void(const Index &)> &body);

struct Case {
  Command command;
  std::array<Array, kMaxOperands> arrays; ///< out, in0, in1, in2
  std::vector<uint8_t> constants;
  bool constantWeights = false; ///< in1 lies in kConst, packed ahead

  explicit Case(Opcode opcode);
  /// Appends a table to the constants and points aux[i] at it.
  template <typename T> void table(int i, const std::vector<T> &values) {
    command.aux[i] = append(values.data(), values.size() * sizeof(T));
  }
  template <typename T> const T *aux(int i) const {
    return command.aux[i] < 0
               ? nullptr
               : reinterpret_cast<const T *>(constants.data() + command.aux[i]);
  }
  int64_t append(const void *data, size_t size);
  /// Describes the arrays in the command's operands. run() does it too.
  void finish();
  SpaceSizes sizes() const;
};

/// A random epilogue for `channels` channels of `out`: clamps, tables, bias.
/// Adds the residual when `residual`.
void randomEpilogue(Rng &rng, Case &c, Epilogue &e, int64_t channels,
                    bool residual);

/// The bytes of array 0 after running as it is (validated by the caller).
/// Fails the test when a guard zone, an input or a constant has changed.
std::vector<uint8_t> runOnce(const Case &c, Isa isa, int threads);

/// Validates and runs on {portable, AVX2} x {1, 2, 3 threads}. `expected` is
/// array 0 with the reference's values; integers and all gaps must have the
/// same bytes. Floats: within `tolerance`, relative to the greater of 1 and
/// the value; the same bytes for any number of threads.
void check(Case &c, const Array &expected, double tolerance = 0);

/// The error of a command that must be refused; the test fails when it is not.
std::string refusal(const Case &c);

//===- The numerics contract, written down once more for tests ------------===//

/// To nearest, ties to even.
double roundEven(double x);
/// sat(round(x) + zp) for i8, clamped.
int quantizeI8(float x, int zp, int lo = -128, int hi = 127);
/// Two's complement, wrapping.
int32_t wrap(int64_t x);
/// kUnary's functions in double.
double functionRef(Function f, double x, double a, double b);
/// Element `channel` of a quantised output.
int epilogueI8Ref(const Case &c, const Epilogue &e, int32_t acc,
                  int64_t channel, int residual);
double epilogueF32Ref(const Epilogue &e, double acc, const float *residual);

} // namespace npu::rt::testing

#endif // RUNTIME_KERNELS_TESTING_H
