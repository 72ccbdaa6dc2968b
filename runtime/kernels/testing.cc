#include "runtime/kernels/testing.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <memory>
#include <numeric>

#include "gtest/gtest.h"

#if defined(__SANITIZE_ADDRESS__)
#define NPU_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define NPU_ASAN 1
#endif
#endif

namespace npu::rt::testing {

//===- Arrays -------------------------------------------------------------===//

int64_t Array::count() const {
  int64_t n = 1;
  for (int64_t dim : dims)
    n *= dim;
  return n;
}

int64_t Array::offset(const Index &index) const {
  int64_t at = 0;
  for (size_t d = 0; d < dims.size(); ++d)
    at += index[d] * strides[d];
  return at;
}

Layout anyLayout(Rng &rng, bool innerDense) {
  if (rng.chance(50))
    return Layout::kDense;
  return innerDense || rng.chance(50) ? Layout::kGaps : Layout::kAny;
}

static void setStrides(Rng &rng, Array &array, Layout layout,
                       uint32_t broadcast) {
  size_t rank = array.dims.size();
  std::vector<size_t> order(rank); // innermost first
  for (size_t i = 0; i < rank; ++i)
    order[i] = rank - 1 - i;
  if (layout == Layout::kAny)
    for (size_t i = rank; i-- > 1;)
      std::swap(order[i], order[rng.pick(0, int64_t(i))]);
  array.strides.assign(rank, 0);
  int64_t stride = layout == Layout::kAny ? rng.pick(1, 3) : 1;
  for (size_t d : order) {
    if (broadcast >> d & 1)
      continue;
    array.strides[d] = stride;
    stride = stride * array.dims[d] +
             (layout == Layout::kDense ? 0 : rng.pick(0, 5));
  }
}

static void randomValue(Rng &rng, DType type, uint8_t *at) {
  auto put = [&](auto value) { std::memcpy(at, &value, sizeof(value)); };
  switch (type) {
  case DType::kI8:
  case DType::kU8:
    return put(uint8_t(rng.pick(0, 255)));
  case DType::kBool:
    return put(uint8_t(rng.pick(0, 1)));
  case DType::kI16:
  case DType::kU16:
  case DType::kF16:
  case DType::kBF16:
    return put(uint16_t(rng.pick(0, 65535)));
  case DType::kU32:
    return put(uint32_t(rng.pick(0, UINT32_MAX)));
  case DType::kU64:
    return put(uint64_t(rng.pick(0, 1 << 20)));
  case DType::kF64:
    return put(double(rng.real(-2, 2)));
  case DType::kI32:
    return put(int32_t(rng.pick(-(1 << 20), 1 << 20)));
  case DType::kI64:
    return put(rng.pick(-(1 << 20), 1 << 20));
  case DType::kF32:
    return put(rng.real(-2, 2));
  }
}

Array randomArray(Rng &rng, DType type, std::vector<int64_t> dims,
                  Layout layout, uint32_t broadcast) {
  Array array;
  array.type = type;
  array.dims = std::move(dims);
  setStrides(rng, array, layout, broadcast);
  int64_t last = 0, size = sizeOf(type);
  for (size_t d = 0; d < array.dims.size(); ++d)
    last += (array.dims[d] - 1) * array.strides[d];
  array.bytes.resize((last + 1) * size);
  for (int64_t i = 0; i <= last; ++i)
    randomValue(rng, type, array.bytes.data() + i * size);
  return array;
}

void forEachIndex(const std::vector<int64_t> &dims,
                  const std::function<void(const Index &)> &body) {
  Index index{};
  while (true) {
    body(index);
    int d = int(dims.size()) - 1;
    while (d >= 0 && ++index[d] == dims[d])
      index[d--] = 0;
    if (d < 0)
      return;
  }
}

//===- Cases --------------------------------------------------------------===//

static Engine engineOf(Opcode opcode) {
  switch (opcode) {
  case Opcode::kConv2d:
  case Opcode::kDepthwiseConv2d:
  case Opcode::kMatmul:
    return Engine::kMatrix;
  case Opcode::kDma:
    return Engine::kDmaIn;
  default:
    return Engine::kVector;
  }
}

Case::Case(Opcode opcode) {
  std::memset(&command, 0, sizeof(command));
  command.opcode = opcode;
  command.engine = engineOf(opcode);
  std::fill(command.aux, command.aux + kMaxAux, -1);
}

int64_t Case::append(const void *data, size_t size) {
  constants.resize((constants.size() + 63) / 64 * 64);
  int64_t at = int64_t(constants.size());
  auto *from = static_cast<const uint8_t *>(data);
  constants.insert(constants.end(), from, from + size);
  return at;
}

// Inputs are the bound tensors 0 to 2, the output is number 3.
static int ioOf(int operand) { return operand == 0 ? 3 : operand - 1; }

void Case::finish() {
  for (int i = 0; i < kMaxOperands; ++i) {
    Operand &o = command.operands[i];
    const Array &array = arrays[i];
    if (!array.present() || (o.rank != 0 && o.space == Space::kConst))
      continue;
    o.rank = uint8_t(array.dims.size());
    o.dtype = array.type;
    for (size_t d = 0; d < array.dims.size(); ++d) {
      o.dims[d] = int32_t(array.dims[d]);
      o.strides[d] = int32_t(array.strides[d]);
    }
    o.space = Space::kIo;
    o.io = uint8_t(ioOf(i));
    if (i == 2 && constantWeights) {
      o.space = Space::kConst;
      o.io = 0;
      o.offset = append(array.bytes.data(), array.bytes.size());
    }
  }
}

SpaceSizes Case::sizes() const {
  SpaceSizes sizes;
  sizes.constants = int64_t(constants.size());
  sizes.io.resize(kMaxOperands);
  sizes.inputs = 3;
  for (int i = 0; i < kMaxOperands; ++i)
    sizes.io[ioOf(i)] = int64_t(arrays[i].bytes.size());
  return sizes;
}

//===- Running ------------------------------------------------------------===//

namespace {

// A copy of bytes that ends where its memory ends. Address sanitiser watches
// the ends itself; otherwise guard zones are looked at afterwards.
class Guarded {
public:
  explicit Guarded(const std::vector<uint8_t> &bytes) : size_(bytes.size()) {
    void *memory = nullptr;
    if (posix_memalign(&memory, 64, size_ + 2 * kGuard + (size_ == 0)))
      std::abort();
    memory_.reset(static_cast<uint8_t *>(memory));
    std::memset(memory_.get(), kFill, size_ + 2 * kGuard);
    std::copy(bytes.begin(), bytes.end(), data());
  }
  uint8_t *data() const { return memory_.get() + kGuard; }
  Region region() const { return {data(), int64_t(size_)}; }
  std::vector<uint8_t> bytes() const { return {data(), data() + size_}; }
  bool intact() const {
    for (size_t i = 0; i < kGuard; ++i)
      if (memory_.get()[i] != kFill ||
          memory_.get()[kGuard + size_ + i] != kFill)
        return false;
    return true;
  }

private:
#ifdef NPU_ASAN
  static constexpr size_t kGuard = 0;
#else
  static constexpr size_t kGuard = 256;
#endif
  static constexpr uint8_t kFill = 0xa5;
  struct Free {
    void operator()(void *p) const { std::free(p); }
  };
  std::unique_ptr<uint8_t, Free> memory_;
  size_t size_;
};

} // namespace

std::vector<uint8_t> runOnce(const Case &c, Isa isa, int threads) {
  Guarded constants(c.constants);
  std::vector<Guarded> io;
  for (int i = 1; i < kMaxOperands; ++i)
    io.emplace_back(c.arrays[i].bytes);
  io.emplace_back(c.arrays[0].bytes);
  MemoryMap memory;
  memory.constants = constants.region();
  memory.sram.resize(1);
  for (const Guarded &g : io)
    memory.io.push_back(g.region());
  ThreadPool pool(threads);
  std::unordered_map<int64_t, PackedWeights> packed;
  Context context;
  context.isa = isa;
  context.pool = &pool;
  context.memory = &memory;
  context.scratch.resize(threads);
  context.packed = &packed;
  context.command = 0;
  PackedWeights weights;
  if (packWeights(c.command, memory, isa, &weights))
    packed.emplace(0, std::move(weights));
  execute(c.command, context);
  EXPECT_TRUE(constants.intact() && constants.bytes() == c.constants)
      << "constants were written";
  for (int i = 0; i < kMaxOperands; ++i) {
    EXPECT_TRUE(io[ioOf(i)].intact()) << "written outside operand " << i;
    EXPECT_TRUE(i == 0 || io[ioOf(i)].bytes() == c.arrays[i].bytes)
        << "input " << i - 1 << " was written";
  }
  return io[ioOf(0)].bytes();
}

static void compareF32(const Array &expected, const Array &actual,
                       double tolerance) {
  int64_t wrong = 0;
  forEachIndex(expected.dims, [&](const Index &index) {
    double want = expected.at<float>(index), got = actual.at<float>(index);
    bool same =
        want == got || (std::isnan(want) && std::isnan(got)) ||
        std::fabs(want - got) <= tolerance * std::max(1.0, std::fabs(want));
    if (!same && wrong++ == 0)
      ADD_FAILURE() << "at " << ::testing::PrintToString(index) << " expected "
                    << want << ", got " << got;
  });
}

static void compareBytes(const Array &expected, const Array &actual) {
  if (expected.bytes == actual.bytes)
    return;
  auto at = std::mismatch(expected.bytes.begin(), expected.bytes.end(),
                          actual.bytes.begin())
                .first -
            expected.bytes.begin();
  ADD_FAILURE() << "byte " << at << " of " << expected.bytes.size()
                << " differs: expected " << int(expected.bytes[at]) << ", got "
                << int(actual.bytes[at]);
}

void check(Case &c, const Array &expected, double tolerance) {
  c.finish();
  absl::Status status =
      validateCommand(c.command, c.sizes(), c.constants.data());
  ASSERT_TRUE(status.ok()) << status;
  std::vector<Isa> isas = {Isa::kPortable};
  for (Isa isa : {Isa::kAvx2, Isa::kAvx512})
    if (isa <= detectIsa())
      isas.push_back(isa);
  for (Isa isa : isas) {
    std::vector<uint8_t> first;
    for (int threads = 1; threads <= 3; ++threads) {
      SCOPED_TRACE(::testing::Message()
                   << isaName(isa) << ", " << threads << " threads");
      Array actual = expected;
      actual.bytes = runOnce(c, isa, threads);
      if (threads > 1) {
        EXPECT_EQ(actual.bytes, first) << "depends on the number of threads";
        continue;
      }
      first = actual.bytes;
      if (expected.type != DType::kF32 || tolerance == 0) {
        compareBytes(expected, actual);
        continue;
      }
      compareF32(expected, actual, tolerance);
      // The gaps: put the reference's values in, then all is equal.
      forEachIndex(expected.dims, [&](const Index &index) {
        actual.at<float>(index) = expected.at<float>(index);
      });
      compareBytes(expected, actual);
    }
  }
}

std::string refusal(const Case &c) {
  absl::Status status =
      validateCommand(c.command, c.sizes(), c.constants.data());
  EXPECT_FALSE(status.ok()) << "was not refused";
  return std::string(status.message());
}

//===- Numerics -----------------------------------------------------------===//

double roundEven(double x) {
  double down = std::floor(x), rest = x - down;
  if (rest < 0.5)
    return down;
  if (rest > 0.5)
    return down + 1;
  return std::fmod(down, 2) == 0 ? down : down + 1;
}

int quantizeI8(float x, int zp, int lo, int hi) {
  double q = std::isinf(x) ? double(x) : roundEven(x) + zp;
  return int(std::min<double>(hi, std::max<double>(lo, q)));
}

int32_t wrap(int64_t x) { return int32_t(uint32_t(uint64_t(x))); }

double functionRef(Function f, double x, double a, double b) {
  auto sigmoid = [](double v) { return 1 / (1 + std::exp(-v)); };
  switch (f) {
  case Function::kIdentity:
    return x;
  case Function::kClip:
    return std::min(std::max(x, a), b);
  case Function::kLeakyRelu:
    return x < 0 ? a * x : x;
  case Function::kSigmoid:
    return sigmoid(x);
  case Function::kHardSigmoid:
    return std::max(0.0, std::min(1.0, a * x + b));
  case Function::kHardSwish:
    return x * std::max(0.0, std::min(1.0, x / 6 + 0.5));
  case Function::kSwish:
    return x * sigmoid(a * x);
  case Function::kTanh:
    return std::tanh(x);
  case Function::kGelu:
    return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0)));
  case Function::kGeluTanh:
    return 0.5 * x *
           (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
  case Function::kExp:
    return std::exp(x);
  case Function::kLog:
    return std::log(x);
  case Function::kSqrt:
    return std::sqrt(x);
  case Function::kReciprocal:
    return 1 / x;
  case Function::kAbs:
    return std::fabs(x);
  case Function::kNeg:
    return -x;
  case Function::kErf:
    return std::erf(x);
  case Function::kFloor:
    return std::floor(x);
  case Function::kCeil:
    return std::ceil(x);
  case Function::kRound:
    return roundEven(x);
  case Function::kElu:
    return x < 0 ? a * (std::exp(x) - 1) : x;
  case Function::kSoftplus:
    return std::log(1 + std::exp(x));
  case Function::kSin:
    return std::sin(x);
  case Function::kCos:
    return std::cos(x);
  case Function::kTan:
    return std::sin(x) / std::cos(x);
  case Function::kAsin:
    return std::asin(x);
  case Function::kAcos:
    return std::acos(x);
  case Function::kAtan:
    return std::atan(x);
  case Function::kSinh:
    return (std::exp(x) - std::exp(-x)) / 2;
  case Function::kCosh:
    return (std::exp(x) + std::exp(-x)) / 2;
  case Function::kAsinh:
    return std::asinh(x);
  case Function::kAcosh:
    return std::acosh(x);
  case Function::kAtanh:
    return std::atanh(x);
  case Function::kSign:
    return x > 0 ? 1 : x < 0 ? -1 : x;
  }
  return x;
}

void randomEpilogue(Rng &rng, Case &c, Epilogue &e, int64_t channels,
                    bool residual) {
  DType out = c.arrays[0].type;
  if (rng.chance(70)) {
    std::vector<float> f32(channels);
    std::vector<int32_t> i32(channels);
    for (int64_t i = 0; i < channels; ++i) {
      f32[i] = rng.real(-1, 1);
      i32[i] = int32_t(rng.pick(-5000, 5000));
    }
    out == DType::kF32 ? c.table(0, f32) : c.table(0, i32);
  }
  if (residual && out != DType::kI32) {
    c.arrays[3] = randomArray(rng, out, c.arrays[0].dims, anyLayout(rng, true));
    e.flags |= kResidualFlag;
  }
  if (out == DType::kF32) {
    e.function =
        rng.of({Function::kIdentity, Function::kClip, Function::kLeakyRelu,
                Function::kHardSwish, Function::kSigmoid});
    e.alpha = e.function == Function::kClip ? -0.5f : 0.125f;
    e.beta = 1.5f;
    e.flo2 = -3, e.fhi2 = rng.chance(50) ? 2.f : INFINITY;
  }
  if (out != DType::kI8)
    return;
  bool perChannel = rng.chance(50);
  std::vector<float> multipliers(perChannel ? channels : 1);
  for (float &m : multipliers)
    m = rng.real(0.0005f, 0.02f);
  c.table(1, multipliers);
  e.flags |= perChannel ? kPerChannelScale : 0;
  if (rng.chance(40))
    e.flags |= kLutFlag | (rng.chance(50) ? kWideLutFlag : 0);
  int32_t levels = lutEntries(e.flags);
  e.mid_zp = int32_t(rng.pick(-levels / 2, levels / 2 - 1));
  e.lo = int32_t(rng.pick(-levels / 2, 0));
  e.hi = int32_t(rng.pick(1, levels / 2 - 1));
  if (e.flags & kLutFlag) {
    std::vector<int8_t> lut(levels);
    for (int8_t &v : lut)
      v = int8_t(rng.pick(-128, 127));
    c.table(2, lut);
  }
  e.res_mid_zp = int32_t(rng.pick(-128, 127));
  e.res_zp = int32_t(rng.pick(-128, 127));
  e.out_zp = int32_t(rng.pick(-128, 127));
  e.scale_self = rng.real(0.1f, 1), e.scale_res = rng.real(0.1f, 1);
  e.lo2 = int32_t(rng.pick(-128, 0)), e.hi2 = int32_t(rng.pick(1, 127));
}

int epilogueI8Ref(const Case &c, const Epilogue &e, int32_t acc,
                  int64_t channel, int residual) {
  float m = c.aux<float>(1)[e.flags & kPerChannelScale ? channel : 0];
  int q = quantizeI8(float(acc) * m, e.mid_zp, e.lo, e.hi);
  if (e.flags & kLutFlag)
    q = c.aux<int8_t>(2)[q + lutEntries(e.flags) / 2];
  if (!(e.flags & kResidualFlag))
    return q;
  float self = float(q - e.res_mid_zp) * e.scale_self;
  float other = float(residual - e.res_zp) * e.scale_res;
  return quantizeI8(self + other, e.out_zp, e.lo2, e.hi2);
}

double epilogueF32Ref(const Epilogue &e, double acc, const float *residual) {
  double x = functionRef(e.function, acc, e.alpha, e.beta);
  if (!residual)
    return x;
  return std::min<double>(std::max<double>(x + *residual, e.flo2), e.fhi2);
}

} // namespace npu::rt::testing
