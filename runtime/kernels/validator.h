//===- validator.h - State of the validation of one command -----*- C++ -*-===//
#ifndef RUNTIME_KERNELS_VALIDATOR_H
#define RUNTIME_KERNELS_VALIDATOR_H

#include <initializer_list>

#include "absl/strings/str_cat.h"
#include "runtime/kernels/kernels.h"

namespace npu::rt {

class Validator {
public:
  Validator(const Command &command, const SpaceSizes &sizes,
            const uint8_t *constants)
      : c(command), sizes(sizes), constants(constants) {}

  absl::Status run();

private:
  template <typename... Args> bool fail(const Args &...args) {
    if (status.ok())
      status = absl::InvalidArgumentError(absl::StrCat(args...));
    return false;
  }

  int64_t spaceSize(const Operand &o);
  bool operand(int i);
  bool expect(int i, bool present);
  bool type(int i, std::initializer_list<DType> types);
  bool sameDims(int a, int b);
  bool dense(int i);
  bool innerDense(int i);
  bool table(int i, int64_t count, int64_t size, bool needed);
  bool tapTable(int i, int64_t count, int64_t size);
  bool epilogue(const Epilogue &e, int64_t channels);
  bool finite(float value, const char *what);
  bool zeroPoint(int32_t zp, DType type = DType::kI8);
  bool bounds(int32_t lo, int32_t hi, int32_t zp, int32_t levels = 256);

  bool conv();
  bool depthwise();
  bool window(const ConvParams &p, int64_t kh, int64_t kw);
  bool matmul();
  bool pool();
  bool reduce();
  bool binary();
  bool compare();
  bool select();
  bool unary();
  bool softmax();
  bool resize();
  bool gather();
  bool convert();
  bool vectorMac();
  bool requantize();
  bool argMax();
  bool opcode();

  const Operand &op(int i) const { return c.operands[i]; }
  int64_t dim(int i, int d) const { return c.operands[i].dims[d]; }

  const Command &c;
  const SpaceSizes &sizes;
  const uint8_t *constants;
  absl::Status status;
};

} // namespace npu::rt

#endif // RUNTIME_KERNELS_VALIDATOR_H
