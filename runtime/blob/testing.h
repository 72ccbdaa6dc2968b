//===- testing.h - A small program for tests --------------------*- C++ -*-===//
#ifndef RUNTIME_BLOB_TESTING_H
#define RUNTIME_BLOB_TESTING_H

#include <cstring>

#include "runtime/blob/writer.h"

namespace npu::rt::testing {

inline Operand operand(Space space, int io, int64_t offset, int32_t count) {
  Operand o{};
  o.space = space;
  o.dtype = DType::kF32;
  o.rank = 1;
  o.io = static_cast<uint8_t>(io);
  o.offset = offset;
  o.dims[0] = count;
  o.strides[0] = 1;
  return o;
}

/// y = |x| + c on `n` floats, `repeat` times over: kUnary into the arena, kAdd
/// of a constant (value 2) out.
inline BlobContents addProgram(int32_t n = 8, int repeat = 1) {
  BlobContents c;
  c.inputs = {{"x", DType::kF32, {1, n}, ""}};
  c.outputs = {{"y", DType::kF32, {1, n}, ""}};
  c.layers = {"abs", "add"};
  c.dramBytes = n * 4;
  c.constants.resize(n * 4);
  for (int32_t i = 0; i < n; ++i) {
    float two = 2;
    std::memcpy(&c.constants[i * 4], &two, 4);
  }
  c.declarations = {{0, DType::kF32, {n}}};
  for (int i = 0; i < repeat; ++i) {
    Command abs{};
    abs.opcode = Opcode::kUnary;
    abs.engine = Engine::kVector;
    std::memset(abs.aux, 0xff, sizeof(abs.aux));
    abs.operands[0] = operand(Space::kDram, 0, 0, n);
    abs.operands[1] = operand(Space::kIo, 0, 0, n);
    abs.params.unary.function = Function::kAbs;
    Command add = abs;
    add.opcode = Opcode::kBinary;
    add.layer = 1;
    add.operands[0] = operand(Space::kIo, 1, 0, n);
    add.operands[1] = operand(Space::kDram, 0, 0, n);
    add.operands[2] = operand(Space::kConst, 0, 0, n);
    std::memset(&add.params, 0, sizeof(add.params));
    add.params.binary.kind = BinaryKind::kAdd;
    c.commands.push_back(abs);
    c.commands.push_back(add);
  }
  c.taps = {{"abs_out", 0}};
  c.info = {{"mode", "fp32"}, {"labels", "cat\ndog"}};
  return c;
}

/// The same with a host segment between the two commands, which works on the
/// arena: `model` takes |x| and gives what the addition reads.
inline BlobContents hostProgram(std::string model, int32_t n = 8) {
  BlobContents c = addProgram(n);
  c.dramBytes = 2 * n * 4;
  c.commands[1].operands[1].offset = n * 4;
  HostCall call;
  call.before = 1;
  call.inputs = {operand(Space::kDram, 0, 0, n)};
  call.outputs = {operand(Space::kDram, 0, n * 4, n)};
  call.nodes = {{"odd", "Odd", "there is no kernel", "use another", 0, 64}};
  c.hostCalls = {call};
  c.models = {std::move(model)};
  return c;
}

} // namespace npu::rt::testing

#endif // RUNTIME_BLOB_TESTING_H
