#include <cmath>

#include "runtime/kernels/testing_cases.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace npu::rt::testing {
namespace {

using ::testing::HasSubstr;

Case valid(Opcode opcode, uint32_t seed = 1) {
  Rng rng(seed);
  Case c = randomCase(opcode, rng);
  c.finish();
  EXPECT_TRUE(validateCommand(c.command, c.sizes(), c.constants.data()).ok());
  return c;
}

TEST(Validate, AcceptsRandomCommandsOfEveryOpcode) {
  for (int opcode = 0; opcode < kNumOpcodes; ++opcode)
    for (uint32_t seed = 0; seed < 50; ++seed)
      valid(Opcode(opcode), seed);
}

TEST(Validate, CommandFields) {
  Case c = valid(Opcode::kLut);
  Command good = c.command;
  c.command.opcode = Opcode(kNumOpcodes);
  EXPECT_THAT(refusal(c), HasSubstr("unknown opcode"));
  c.command = good, c.command.engine = Engine(4);
  EXPECT_THAT(refusal(c), HasSubstr("engine"));
  c.command = good, c.command.core = 1;
  EXPECT_THAT(refusal(c), HasSubstr("core"));
  c.command = good, c.command.num_waits = kMaxWaits + 1;
  EXPECT_THAT(refusal(c), HasSubstr("waits"));
  c.command = good, c.command.num_waits = 1, c.command.waits[0].queue = 4;
  EXPECT_THAT(refusal(c), HasSubstr("queue"));
}

TEST(Validate, OperandFields) {
  Case c = valid(Opcode::kDma);
  Operand good = c.command.operands[0];
  auto refused = [&](const char *why, auto change) {
    Operand &o = c.command.operands[0];
    o = good;
    change(o);
    EXPECT_THAT(refusal(c), HasSubstr(why));
    o = good;
  };
  refused("missing", [](Operand &o) { o.rank = 0; });
  refused("rank", [](Operand &o) { o.rank = kMaxRank + 1; });
  refused("element type", [](Operand &o) { o.dtype = DType(kNumDTypes); });
  refused("space", [](Operand &o) { o.space = Space(4); });
  refused("space", [](Operand &o) { o.io = 4; });
  refused("not written", [&](Operand &o) {
    o.io = 0;
    o.dims[0] = 1;
    std::fill(o.dims, o.dims + o.rank, 1);
  });
  refused("offset", [](Operand &o) { o.offset = -8; });
  refused("leave", [](Operand &o) { o.offset = int64_t(1) << 62; });
  refused("dimension", [](Operand &o) { o.dims[0] = 0; });
  refused("dimension", [](Operand &o) { o.dims[0] = -1; });
  refused("stride", [](Operand &o) { o.strides[0] = -1; });
  refused("", [](Operand &o) { o.dims[o.rank - 1] = INT32_MAX; });
  Case fill = valid(Opcode::kFill, 3);
  Operand &o = fill.command.operands[0];
  o.rank = 1, o.dims[0] = 2, o.strides[0] = 0, o.offset = 0;
  EXPECT_THAT(refusal(fill), HasSubstr("strides overlap"));
}

TEST(Validate, TablesLieInTheConstants) {
  Case c = valid(Opcode::kLut);
  for (int64_t at : {int64_t(-1), int64_t(-2), int64_t(1), INT64_MAX}) {
    c.command.aux[0] = at;
    EXPECT_THAT(refusal(c), HasSubstr("table 0"));
  }
  Case gather = valid(Opcode::kGather);
  gather.constants[gather.command.aux[0] + 3] = 0x7f;
  EXPECT_THAT(refusal(gather), HasSubstr("index"));
  gather.constants[gather.command.aux[0] + 3] = 0xff;
  EXPECT_THAT(refusal(gather), HasSubstr("index"));
  Case resize = valid(Opcode::kResize2d);
  resize.constants[resize.command.aux[1] + 7] = 0x7f;
  EXPECT_THAT(refusal(resize), HasSubstr("tap"));
}

TEST(Validate, ConvolutionParameters) {
  Rng rng(1);
  Case c = convCase(rng, DType::kI8, DType::kI8, false);
  c.finish();
  Command good = c.command;
  auto refused = [&](const char *why, auto change) {
    c.command = good;
    change(c.command.params.conv);
    EXPECT_THAT(refusal(c), HasSubstr(why));
  };
  refused("stride", [](ConvParams &p) { p.stride[0] = 0; });
  refused("dilation", [](ConvParams &p) { p.dilation[1] = -1; });
  refused("pad", [](ConvParams &p) { p.pad[2] = -1; });
  refused("pad", [](ConvParams &p) { p.pad[0] = 1000; });
  refused("groups", [](ConvParams &p) { p.groups = 0; });
  refused("zero point", [](ConvParams &p) { p.in_zp = 128; });
  refused("zero point", [](ConvParams &p) { p.w_zp = -129; });
  refused("clamp", [](ConvParams &p) { p.epilogue.lo = -129; });
  refused("clamp", [](ConvParams &p) { p.epilogue.hi = p.epilogue.lo - 1; });
  refused("zero point", [](ConvParams &p) { p.epilogue.mid_zp = 200; });
  refused("function",
          [](ConvParams &p) { p.epilogue.function = Function(99); });
  refused("flag", [](ConvParams &p) { p.epilogue.flags |= 0x80; });
}

TEST(Validate, OtherParameters) {
  Rng rng(2);
  auto refused = [](Case c, const char *why, auto change) {
    c.finish();
    change(c);
    EXPECT_THAT(refusal(c), HasSubstr(why));
  };
  Case matmul = matmulCase(rng, DType::kI8, DType::kI32);
  refused(matmul, "zero point",
          [](Case &c) { c.command.params.matmul.a_zp = 300; });
  refused(matmul, "zero point",
          [](Case &c) { c.command.params.matmul.b_zp = -300; });
  Case unary = unaryCase(rng, DType::kF32, Function::kExp);
  refused(unary, "function",
          [](Case &c) { c.command.params.unary.function = Function(200); });
  refused(unaryCase(rng, DType::kI32, Function::kExp), "i32", [](Case &) {});
  Case binary = binaryCase(rng, DType::kI8, BinaryKind::kAdd);
  refused(binary, "operation", [](Case &c) {
    c.command.params.binary.kind = BinaryKind(kNumBinaryKinds);
  });
  refused(binary, "does not take element type",
          [](Case &c) { c.command.params.binary.kind = BinaryKind::kPow; });
  refused(binary, "finite",
          [](Case &c) { c.command.params.binary.a_mul = NAN; });
  refused(binary, "zero point",
          [](Case &c) { c.command.params.binary.b_zp = 128; });
  Case convert = convertCase(rng, DType::kF32, DType::kI8, true);
  refused(convert, "scale",
          [](Case &c) { c.command.params.convert.scale = 0; });
  refused(convert, "zero point",
          [](Case &c) { c.command.params.convert.out_zp = 128; });
  refused(convertCase(rng, DType::kI64, DType::kI8, true), "element type",
          [](Case &) {});
  for (BinaryKind kind : {BinaryKind::kMod, BinaryKind::kAnd, BinaryKind::kShl})
    refused(binaryCase(rng, DType::kF32, kind), "does not take element type",
            [](Case &) {});
  refused(binaryCase(rng, DType::kBool, BinaryKind::kAdd),
          "does not take element type", [](Case &) {});
  refused(binaryCase(rng, DType::kI32, BinaryKind::kAdd), "table",
          [](Case &c) { c.command.params.binary.flags = kLutFlag; });
  Case compare = compareCase(rng, DType::kI32, CompareKind::kLess);
  refused(compare, "comparison",
          [](Case &c) { c.command.params.compare.kind = CompareKind(3); });
  refused(compareCase(rng, DType::kI8, CompareKind::kLess), "element type",
          [](Case &) {});
  Case select = selectCase(rng, DType::kF32);
  refused(select, "element type",
          [](Case &c) { c.command.operands[1].dtype = DType::kI8; });
  refused(select, "input 2", [](Case &c) { c.command.operands[3].rank = 0; });
  Case softmax = softmaxCase(rng, DType::kI8, DType::kI8);
  refused(softmax, "finite",
          [](Case &c) { c.command.params.softmax.multiplier = INFINITY; });
  refused(softmax, "table", [](Case &c) { c.command.aux[0] = -1; });
  Case resize = resizeCase(rng, DType::kI8, false);
  refused(resize, "zero point",
          [](Case &c) { c.command.params.resize.in_zp = 1 << 20; });
  refused(resize, "finite",
          [](Case &c) { c.command.params.resize.multiplier = NAN; });
  Case reduce = reduceCase(rng, DType::kI8, ReduceKind::kSum);
  refused(reduce, "kind",
          [](Case &c) { c.command.params.reduce.kind = ReduceKind(6); });
  refused(reduce, "no i8",
          [](Case &c) { c.command.params.reduce.kind = ReduceKind::kProd; });
  refused(reduce, "axes", [](Case &c) { c.command.params.reduce.axes |= 64; });
  Case pool = poolCase(rng, DType::kI8, PoolKind::kAverage);
  refused(pool, "pool", [](Case &c) { c.command.params.pool.kernel[0] = 0; });
  refused(pool, "", [](Case &c) { c.command.params.pool.kernel[1] = 1 << 30; });
  refused(pool, "finite",
          [](Case &c) { c.command.params.pool.multiplier = NAN; });
}

// An inner dimension of broadcasts needs no memory of its own; the kernels'
// copies of it would.
TEST(Validate, MatmulOfEndlessBroadcasts) {
  Rng rng(3);
  Case c(Opcode::kMatmul);
  c.arrays[0] = randomArray(rng, DType::kF32, {1, 1});
  c.arrays[1] = randomArray(rng, DType::kF32, {1, 1 << 30}, Layout::kDense, 2);
  c.arrays[2] = randomArray(rng, DType::kF32, {1 << 30, 1}, Layout::kDense, 1);
  c.finish();
  EXPECT_THAT(refusal(c), HasSubstr("inner dimension"));
}

// Work of a command, to leave out the flips that make it endless.
bool isSmall(const Command &c) {
  int64_t most = 1;
  for (const Operand &o : c.operands) {
    int64_t n = 1;
    for (int d = 0; d < o.rank; ++d)
      n *= o.dims[d];
    most = std::max(most, n);
  }
  return most <= 1 << 16;
}

// Whatever is not refused must stay inside its memory: guard zones here, the
// address sanitiser with --config=asan.
TEST(Validate, FlippedBytesAreRefusedOrHarmless) {
  Rng rng(4);
  int refused = 0, executed = 0;
  for (int i = 0; i < 20000 && !HasFailure(); ++i) {
    Case c = randomCase(Opcode(i % kNumOpcodes), rng);
    c.finish();
    auto *bytes = reinterpret_cast<uint8_t *>(&c.command);
    for (int64_t flips = rng.pick(1, 3); flips > 0; --flips) {
      if (!c.constants.empty() && rng.chance(10))
        c.constants[rng.pick(0, int64_t(c.constants.size()) - 1)] ^=
            uint8_t(1 << rng.pick(0, 7));
      else
        bytes[rng.pick(0, sizeof(Command) - 1)] ^=
            uint8_t(rng.chance(50) ? 1 << rng.pick(0, 7) : rng.pick(1, 255));
    }
    if (!validateCommand(c.command, c.sizes(), c.constants.data()).ok()) {
      ++refused;
      continue;
    }
    if (!isSmall(c.command))
      continue;
    ++executed;
    SCOPED_TRACE(::testing::Message() << "flip " << i);
    runOnce(c, i % 2 ? detectIsa() : Isa::kPortable, 1 + i % 2);
  }
  EXPECT_GT(refused, 1000);
  EXPECT_GT(executed, 1000);
}

} // namespace
} // namespace npu::rt::testing
