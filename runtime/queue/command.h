//===- command.h - The command descriptor of the NPU's queues ---*- C++ -*-===//
//
// A program is a list of fixed-size commands in program order. Each command
// belongs to one engine queue of one core. Commands of a queue run in order;
// across queues order comes only from the waits below. This header is the one
// definition of every command's layout *and* meaning: the compiler emits it,
// the loader verifies it, devices execute it.
//
// Numerics. `fl(x)` rounds to float32 (to nearest, ties to even) after every
// single operation: no fused multiply-add, no reassociation in the quantised
// commands, so that every device, instruction set and tile size gives the same
// integers. `round(x)` is to nearest, ties to even. `sat(x)` clamps to the
// range of the output's type. Integer sums are exact in int32 (two's
// complement, wrapping).
//
//===----------------------------------------------------------------------===//
#ifndef RUNTIME_QUEUE_COMMAND_H
#define RUNTIME_QUEUE_COMMAND_H

#include <cstdint>
#include <type_traits>

namespace npu::rt {

constexpr int kMaxRank = 6;
constexpr int kMaxOperands = 4;
constexpr int kMaxWaits = 6;
constexpr int kMaxAux = 4;

/// Element types of operands. Quantised tensors are kI8/kI16 here; their scale
/// and zero point are in the command's parameters. What inputs and outputs have
/// beyond kI8, kI32, kI64, kU64, kF32 and kBool is moved and converted only.
enum class DType : uint8_t {
  kI8,
  kU8,
  kI16,
  kI32,
  kI64,
  kF16,
  kF32,
  kBool,
  kU16,
  kU32,
  kU64,
  kF64,
  kBF16,
};
constexpr int kNumDTypes = static_cast<int>(DType::kBF16) + 1;

/// Bytes of one element; 0 for a value that is no DType.
constexpr int sizeOf(DType type) {
  switch (type) {
  case DType::kI8:
  case DType::kU8:
  case DType::kBool:
    return 1;
  case DType::kI16:
  case DType::kU16:
  case DType::kF16:
  case DType::kBF16:
    return 2;
  case DType::kI32:
  case DType::kU32:
  case DType::kF32:
    return 4;
  case DType::kI64:
  case DType::kU64:
  case DType::kF64:
    return 8;
  }
  return 0;
}

/// Where an operand lies.
enum class Space : uint8_t {
  kConst, ///< the blob's weight section, read-only
  kDram,  ///< the session's activation arena
  kSram,  ///< the on-chip memory of the command's core
  kIo,    ///< a bound input or output; `Operand::io` is its index
};

/// The engine that runs the command; a queue is a (core, engine) pair.
enum class Engine : uint8_t { kMatrix, kVector, kDmaIn, kDmaOut };
constexpr int kEnginesPerCore = 4;
constexpr int queueIndex(int core, Engine engine) {
  return core * kEnginesPerCore + static_cast<int>(engine);
}

/// A strided view of memory: dims[0..rank) outermost first, strides in
/// elements, not negative. A stride of 0 broadcasts (inputs only). Spatial
/// tensors are NHWC.
struct Operand {
  Space space;
  DType dtype;
  uint8_t rank; ///< 0: operand absent (a scalar has rank 1 and dims {1})
  uint8_t io;   ///< index of the bound tensor; inputs first, then outputs
  uint32_t reserved;
  int64_t offset; ///< bytes from the start of the space
  int32_t dims[kMaxRank];
  int32_t strides[kMaxRank];
};
static_assert(sizeof(Operand) == 64);

/// The command may start when `queue` has completed at least `count` commands.
struct Wait {
  uint16_t queue; ///< queueIndex()
  uint16_t reserved;
  uint32_t count;
};

enum class Opcode : uint16_t {
  kNop,             ///< carries waits only
  kDma,             ///< out = in0; same dims and element size
  kFill,            ///< out = FillParams::bits, sizeOf(dtype) low bytes
  kConv2d,          ///< matrix engine, see ConvParams
  kDepthwiseConv2d, ///< see ConvParams
  kMatmul,          ///< see MatmulParams
  kPool2d,          ///< see PoolParams
  kReduce,          ///< see ReduceParams
  kBinary,          ///< see BinaryParams
  kUnary,           ///< f32 functions, see UnaryParams
  kLut,        ///< out[i] = table[in0[i] + 128], i8 -> i8; aux[0]: 256 x i8
  kSoftmax,    ///< over the last dimension, see SoftmaxParams
  kResize2d,   ///< see ResizeParams
  kGather,     ///< see GatherParams
  kConvert,    ///< casts, quantise, dequantise, requantise: ConvertParams
  kVectorMac,  ///< i32 accumulate on the vector engine: VectorMacParams
  kRequantize, ///< i32 -> i8 with an epilogue, see RequantizeParams
  kArgMax,  ///< over the last dimension (1 in out), first of equals; i32 or i64
  kCompare, ///< truth of two values, see CompareParams
  kSelect,  ///< out = in0 ? in1 : in2; in0 bool, any type of the others
};
constexpr int kNumOpcodes = static_cast<int>(Opcode::kSelect) + 1;

/// Functions of kUnary and activations fused into float commands. `a`, `b` are
/// the parameters alpha and beta.
enum class Function : uint8_t {
  kIdentity,
  kClip,        ///< min(max(x, a), b): relu is (0, inf), relu6 (0, 6)
  kLeakyRelu,   ///< x < 0 ? a * x : x
  kSigmoid,     ///< 1 / (1 + exp(-x))
  kHardSigmoid, ///< max(0, min(1, a * x + b))
  kHardSwish,   ///< x * max(0, min(1, x / 6 + 0.5))
  kSwish,       ///< x * sigmoid(a * x)
  kTanh,
  kGelu,     ///< 0.5 x (1 + erf(x / sqrt 2))
  kGeluTanh, ///< the tanh approximation
  kExp,
  kLog,
  kSqrt,
  kReciprocal,
  kAbs,
  kNeg,
  kErf,
  kFloor,
  kCeil,
  kRound, ///< ties to even
  kElu,   ///< x < 0 ? a * (exp(x) - 1) : x
  kSoftplus,
  kSin,
  kCos,
  kTan,
  kAsin,
  kAcos,
  kAtan,
  kSinh,
  kCosh,
  kAsinh,
  kAcosh,
  kAtanh,
  kSign, ///< -1, 0 or 1; of no number: itself
};
constexpr int kNumFunctions = static_cast<int>(Function::kSign) + 1;

enum class BinaryKind : uint8_t {
  kAdd,
  kSub,
  kMul,
  kDiv,
  kMin,
  kMax,
  kPow,   ///< not i8
  kPrelu, ///< x < 0 ? x * slope : x, in1 is the slope
  kRem,   ///< remainder of the truncated quotient: sign of x; f32 and integers
  kMod,   ///< remainder of the floored quotient: sign of y; integers only
  kAnd,   ///< bits; integers and bool, as kOr and kXor
  kOr,
  kXor,
  kShl, ///< integers only, as kShr; by less than 0 or all the bits gives 0
  kShr, ///< of the bits: zeros come in
};
constexpr int kNumBinaryKinds = static_cast<int>(BinaryKind::kShr) + 1;

enum class CompareKind : uint8_t { kEqual, kLess, kLessEqual };
constexpr int kNumCompareKinds = static_cast<int>(CompareKind::kLessEqual) + 1;

enum class PoolKind : uint8_t { kMax, kAverage };
enum class ReduceKind : uint8_t { kMean, kSum, kMax, kMin, kProd, kSumSquare };

/// What a convolution or matmul does to its accumulator `acc` (bias included).
///
/// i8 output: q = sat(round(fl(float(acc) * multiplier[c])) + mid_zp), clamped
/// to [lo, hi]; if kLutFlag, q = lut[q + 128]. With kWideLutFlag besides it q
/// has 10 bits before the table: mid_zp, lo and hi in [-512, 511] and q =
/// lut[q + 512]. Without a residual that is the output. With one (operand 3,
/// i8, same dims as the output):
///   out = sat(round(fl(fl(float(q - res_mid_zp) * scale_self) +
///                      fl(float(r - res_zp) * scale_res))) + out_zp),
/// clamped to [lo2, hi2]. (res_mid_zp is mid_zp, or the LUT output's.)
/// i32 output: out = acc; nothing else applies.
/// f32 output: x = f(acc) with function/alpha/beta; with a residual (f32)
/// x = fclip(x + r, flo2, fhi2).
struct Epilogue {
  int32_t mid_zp;
  int32_t lo, hi;
  int32_t res_mid_zp, res_zp, out_zp;
  float scale_self, scale_res;
  int32_t lo2, hi2;
  float alpha, beta;
  float flo2, fhi2;
  Function function;
  uint8_t flags; ///< EpilogueFlags
  uint16_t reserved;
};
enum EpilogueFlags : uint8_t {
  kLutFlag = 1,         ///< aux[2] is a table of 256 x i8
  kResidualFlag = 2,    ///< operand 3 is the residual
  kPerChannelScale = 4, ///< aux[1] has one multiplier per output channel
  kWideLutFlag = 8,     ///< with kLutFlag: the table has kWideLut x i8
};
constexpr int32_t kLut = 256, kWideLut = 1024; ///< entries of the tables
/// What the table of an epilogue with these flags holds.
constexpr int32_t lutEntries(uint8_t flags) {
  return flags & kWideLutFlag ? kWideLut : kLut;
}

/// Operands: out [N,OH,OW,OC], in0 [N,H,W,IC], in1 weights, in2 residual.
/// aux[0]: bias, i32 (or f32) x OC, or absent; aux[1]: f32 multipliers, OC or
/// 1 of them (i8 output only); aux[2]: LUT.
/// kConv2d weights [OC,KH,KW,IC/groups] dense rows; kDepthwiseConv2d weights
/// [KH,KW,C], OC = C = IC, groups ignored.
/// i8: acc = bias + sum (in - in_zp) * (w - w_zp); outside the input, in is
/// in_zp. The result has OH = (H + pad_top + pad_bottom - dilation*(KH-1) - 1)
/// / stride + 1, same for W.
struct ConvParams {
  int32_t stride[2], dilation[2];
  int32_t pad[4]; ///< top, left, bottom, right; in [0, dilated kernel size)
  int32_t groups;
  int32_t in_zp, w_zp;
  Epilogue epilogue;
};

/// out [B...,M,N] = in0 [B...,M,K] x in1 [B...,K,N], all of the same rank
/// (batch strides of 0 broadcast), i8 or f32. aux[0]: bias x N, aux[1]:
/// multiplier(s) x N or 1, aux[2]: LUT. Residual: in2.
struct MatmulParams {
  int32_t a_zp, b_zp;
  Epilogue epilogue;
};

/// out [N,OH,OW,C], in0 [N,H,W,C]; i8 or f32. Maximum ignores padding.
/// i8 average: sat(round(fl(float(sum(q - in_zp)) * fl(multiplier /
/// float(count)))) + out_zp), count being the elements inside the input, or
/// also the padding when count_include_pad. i8 maximum: as it is (in and out
/// share scale and zero point). Both are then clamped to [lo, hi].
struct PoolParams {
  int32_t kernel[2], stride[2], dilation[2];
  int32_t pad[4];
  int32_t in_zp, out_zp;
  float multiplier;
  int32_t lo, hi;
  PoolKind kind;
  uint8_t count_include_pad;
  uint16_t reserved;
};

/// out has the rank of in0, with 1 at the reduced dimensions (bit i of `axes`
/// is dimension i). f32: kinds as named. i8 mean and sum as PoolParams'
/// average with count = elements reduced (mean) or 1 (sum); i8 max/min plain.
/// i32/i64: as named, wrapping; the mean is the sum (in int64) divided,
/// truncating.
struct ReduceParams {
  uint32_t axes;
  int32_t in_zp, out_zp;
  float multiplier;
  int32_t lo, hi;
  ReduceKind kind;
};

/// out, in0, in1 of the same dims (broadcast by strides of 0); i8, f32, i32,
/// i64, u64 or (bit operations) bool.
/// i8, with A = float(a - a_zp), B = float(b - b_zp):
///   add/sub  fl(fl(A * a_mul) +/- fl(B * b_mul))      x_mul = s_x / s_out
///   mul      fl(fl(A * B) * a_mul)                    a_mul = s_a*s_b / s_out
///   div      fl(fl(A * a_mul) / B)                    a_mul = s_a/(s_b*s_out)
///            (B = 0: 0 when A = 0, else +-infinity)
///   min/max  of fl(A * a_mul), fl(B * b_mul)
///   prelu    A < 0 ? fl(fl(A * B) * b_mul) : fl(A * a_mul)
/// then q = sat(round(..) + out_zp) clamped to [lo, hi]; with kLutFlag the
/// table aux[2] is applied. f32: x = f(a op b) with function/alpha/beta.
/// i32/i64/u64: exact, wrapping; division truncates, by zero gives 0, as do
/// both remainders; x to the power of y < 0 is the truncated 1 / x^-y (0 to it
/// is 0). bool: a byte other than 0 is true.
struct BinaryParams {
  BinaryKind kind;
  Function function;
  uint8_t flags; ///< kLutFlag
  uint8_t reserved;
  int32_t a_zp, b_zp, out_zp;
  float a_mul, b_mul;
  int32_t lo, hi;
  float alpha, beta;
};

/// out bool, in0 and in1 f32, i32, i64 or u64, all of the same dims: in0 ==
/// in1, in0 < in1 or in0 <= in1. Of what is no number all three are false.
struct CompareParams {
  CompareKind kind;
};

/// f32 -> f32, same dims; kAbs, kNeg and kClip also on i32.
struct UnaryParams {
  Function function;
  uint8_t reserved[3];
  float alpha, beta;
};

/// Over the last dimension. f32: exp(x - max) / sum.
/// i8: e[i] = table[max(q) - q[i]] (aux[0]: 256 x f32, table[d] =
/// exp(-d * s_in)), sum in double in index order, out = sat(round(fl(fl(e[i] /
/// float(sum)) * multiplier)) + out_zp), multiplier = 1 / s_out.
/// i8 in and f32 out: out = fl(e[i] / float(sum)).
struct SoftmaxParams {
  int32_t out_zp;
  float multiplier;
};

/// One output coordinate of kResize2d: value = in[i0] * w0 + in[i1] * w1.
struct ResizeTap {
  int32_t i0, i1;
  float w0, w1;
};

/// out [N,OH,OW,C], in0 [N,H,W,C]. aux[0]: OH x ResizeTap, aux[1]: OW x
/// ResizeTap (the compiler puts every coordinate mode into them).
/// nearest: out = in[h.i0][w.i0] unchanged, any element type. Otherwise
///   t0 = fl(fl(v00 * w.w0) + fl(v01 * w.w1)), t1 the same of row h.i1,
///   x = fl(fl(t0 * h.w0) + fl(t1 * h.w1));  f32: v as it is, out = x;
/// i8: v = float(q - in_zp), out = sat(round(fl(x * multiplier)) + out_zp).
struct ResizeParams {
  int32_t in_zp, out_zp;
  float multiplier;
  uint8_t nearest;
};

/// out [O..., n, I...] = in0 [O..., m, I...] along `axis`; aux[0]: n x i32
/// indices in [0, m). Any element type.
struct GatherParams {
  int32_t axis;
};

/// Same dims. With out i8/u8/i16 (range of that type) and quantise set:
///   f32 in: sat(round(fl(x / scale)) + out_zp)
///   i8/u8/i16/i32 in: sat(round(fl(float(q - in_zp) * scale)) + out_zp)
/// out f32 from integers with quantise set: fl(float(q - in_zp) * scale).
/// quantise clear: a plain cast of any type to any (float to integer truncates
/// and saturates, integers wrap, to bool: x != 0, to f16 and bf16: the f32 to
/// nearest even).
struct ConvertParams {
  uint8_t quantize;
  uint8_t reserved[3];
  int32_t in_zp, out_zp;
  float scale;
};

/// out i32 [N,H,W,C] += (in0 - in_zp) * (in1 - w_zp); in0 i8 with the dims of
/// out, in1 i8 [C]. `first` starts from 0 instead of out.
struct VectorMacParams {
  int32_t in_zp, w_zp;
  uint8_t first;
};

/// out i8 [..,C] from in0 i32: acc = in0 + bias; then Epilogue. aux as kConv2d,
/// residual: in2 (operand 3).
struct RequantizeParams {
  Epilogue epilogue;
};

struct FillParams {
  uint64_t bits;
};

union Params {
  ConvParams conv;
  MatmulParams matmul;
  PoolParams pool;
  ReduceParams reduce;
  BinaryParams binary;
  CompareParams compare;
  UnaryParams unary;
  SoftmaxParams softmax;
  ResizeParams resize;
  GatherParams gather;
  ConvertParams convert;
  VectorMacParams vector_mac;
  RequantizeParams requantize;
  FillParams fill;
  uint8_t raw[160];
};
static_assert(sizeof(Params) == 160);

/// Reserved fields and unused operands, waits, aux and parameter bytes are 0
/// (aux: -1), so that equal programs are equal bytes.
struct Command {
  Opcode opcode;
  Engine engine;
  uint8_t core;
  uint8_t num_waits;
  uint8_t reserved[3];
  uint32_t layer; ///< index into the blob's layer table, for profiles
  uint32_t reserved2;
  Wait waits[kMaxWaits];
  Operand operands[kMaxOperands]; ///< out, in0, in1, in2
  int64_t aux[kMaxAux]; ///< byte offsets into kConst, aligned to the element;
                        ///< -1: none
  Params params;
};
static_assert(sizeof(Command) == 512);
static_assert(std::is_trivially_copyable_v<Command>);

} // namespace npu::rt

#endif // RUNTIME_QUEUE_COMMAND_H
