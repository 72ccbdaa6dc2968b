#include "runtime/kernels/testing_cases.h"

#include <algorithm>
#include <cmath>

namespace npu::rt::testing {

static int64_t channels(Rng &rng) {
  return rng.of<int64_t>({1, 3, 5, 8, 16, 17, 33});
}

static int32_t zeroPoint(Rng &rng) { return int32_t(rng.pick(-128, 127)); }

static std::vector<int64_t> anyDims(Rng &rng, int least = 1) {
  std::vector<int64_t> dims(rng.pick(least, kMaxRank));
  for (int64_t &dim : dims)
    dim = rng.pick(1, 5);
  dims.back() = rng.of<int64_t>({1, 3, 5, 17, 33});
  return dims;
}

static uint32_t anyMask(Rng &rng, size_t rank) {
  return rng.chance(40) ? uint32_t(rng.pick(0, (1 << rank) - 1)) : 0;
}

static void inputs(Rng &rng, Case &c, int count, DType type,
                   const std::vector<int64_t> &dims) {
  for (int i = 1; i <= count; ++i)
    c.arrays[i] = randomArray(rng, type, dims, anyLayout(rng, false),
                              anyMask(rng, dims.size()));
}

Case convCase(Rng &rng, DType in, DType out, bool depthwise) {
  Case c(depthwise ? Opcode::kDepthwiseConv2d : Opcode::kConv2d);
  ConvParams &p = c.command.params.conv;
  bool square = rng.chance(30); // pointwise
  int64_t h = rng.pick(1, 9), w = rng.pick(1, 9), n = rng.pick(1, 2);
  int64_t kernel[2], size[2] = {h, w}, outSize[2];
  for (int i = 0; i < 2; ++i) {
    kernel[i] = square ? 1 : rng.pick(1, 3);
    p.stride[i] = int32_t(rng.pick(1, 3));
    p.dilation[i] = int32_t(rng.pick(1, 2));
    int64_t extent = p.dilation[i] * (kernel[i] - 1) + 1;
    p.pad[i] = int32_t(rng.pick(0, extent - 1));
    p.pad[i + 2] = int32_t(rng.pick(0, extent - 1));
    size[i] = std::max(size[i], extent - p.pad[i] - p.pad[i + 2]);
    outSize[i] = (size[i] + p.pad[i] + p.pad[i + 2] - extent) / p.stride[i] + 1;
  }
  p.groups = depthwise ? 1 : int32_t(rng.of({1, 1, 2, 3}));
  int64_t ic = p.groups * channels(rng), oc = p.groups * channels(rng);
  if (depthwise)
    oc = ic;
  if (in == DType::kI8) {
    p.in_zp = zeroPoint(rng);
    p.w_zp = rng.chance(50) ? 0 : zeroPoint(rng);
  }
  Layout layout = anyLayout(rng, true);
  c.arrays[0] = randomArray(rng, out, {n, outSize[0], outSize[1], oc}, layout);
  c.arrays[1] = randomArray(rng, in, {n, size[0], size[1], ic},
                            anyLayout(rng, true), rng.chance(10) ? 1 : 0);
  c.arrays[2] =
      depthwise
          ? randomArray(rng, in, {kernel[0], kernel[1], ic})
          : randomArray(rng, in, {oc, kernel[0], kernel[1], ic / p.groups});
  c.constantWeights = rng.chance(50);
  randomEpilogue(rng, c, p.epilogue, oc, rng.chance(40));
  return c;
}

Case matmulCase(Rng &rng, DType in, DType out) {
  Case c(Opcode::kMatmul);
  MatmulParams &p = c.command.params.matmul;
  std::vector<int64_t> dims(rng.pick(2, 4));
  for (int64_t &dim : dims)
    dim = rng.pick(1, 3);
  int64_t m = rng.pick(1, 14), k = channels(rng), n = channels(rng);
  auto shape = [&](int64_t rows, int64_t columns) {
    std::vector<int64_t> shape = dims;
    shape[dims.size() - 2] = rows, shape[dims.size() - 1] = columns;
    return shape;
  };
  uint32_t batch = (1u << (dims.size() - 2)) - 1;
  c.arrays[0] = randomArray(rng, out, shape(m, n), anyLayout(rng, true));
  c.arrays[1] = randomArray(rng, in, shape(m, k), anyLayout(rng, false),
                            rng.chance(30) ? batch : 0);
  c.arrays[2] = randomArray(rng, in, shape(k, n), anyLayout(rng, false),
                            rng.chance(30) ? batch : 0);
  if (in == DType::kI8)
    p.a_zp = zeroPoint(rng), p.b_zp = zeroPoint(rng);
  randomEpilogue(rng, c, p.epilogue, n, rng.chance(40));
  return c;
}

Case poolCase(Rng &rng, DType type, PoolKind kind) {
  Case c = convCase(rng, type, type, true);
  ConvParams conv = c.command.params.conv;
  Case out(Opcode::kPool2d);
  PoolParams &p = out.command.params.pool;
  for (int i = 0; i < 2; ++i) {
    p.kernel[i] = int32_t(c.arrays[2].dims[i]);
    p.stride[i] = conv.stride[i], p.dilation[i] = conv.dilation[i];
    p.pad[i] = conv.pad[i], p.pad[i + 2] = conv.pad[i + 2];
  }
  p.kind = kind;
  p.count_include_pad = rng.chance(50);
  if (type == DType::kI8) {
    p.in_zp = zeroPoint(rng), p.out_zp = zeroPoint(rng);
    p.multiplier = rng.real(0.3f, 2);
    p.lo = int32_t(rng.pick(-128, 0)), p.hi = int32_t(rng.pick(1, 127));
  }
  out.arrays[0] = c.arrays[0];
  out.arrays[1] = c.arrays[1];
  return out;
}

Case reduceCase(Rng &rng, DType type, ReduceKind kind) {
  Case c(Opcode::kReduce);
  ReduceParams &p = c.command.params.reduce;
  std::vector<int64_t> dims = anyDims(rng);
  inputs(rng, c, 1, type, dims);
  p.axes = uint32_t(rng.pick(0, (1 << dims.size()) - 1));
  for (size_t d = 0; d < dims.size(); ++d)
    if (p.axes >> d & 1)
      dims[d] = 1;
  c.arrays[0] = randomArray(rng, type, dims, anyLayout(rng, false));
  p.kind = kind;
  if (type == DType::kI8) {
    p.in_zp = zeroPoint(rng), p.out_zp = zeroPoint(rng);
    p.multiplier = rng.real(0.1f, 2);
    p.lo = int32_t(rng.pick(-128, 0)), p.hi = int32_t(rng.pick(1, 127));
  }
  return c;
}

Case binaryCase(Rng &rng, DType type, BinaryKind kind) {
  Case c(Opcode::kBinary);
  BinaryParams &p = c.command.params.binary;
  std::vector<int64_t> dims = anyDims(rng);
  if (rng.chance(10))
    dims = {40000}; // rows that are cut in pieces
  c.arrays[0] = randomArray(rng, type, dims, anyLayout(rng, false));
  inputs(rng, c, 2, type, dims);
  p.kind = kind;
  if (type == DType::kI8) {
    p.a_zp = zeroPoint(rng), p.b_zp = zeroPoint(rng), p.out_zp = zeroPoint(rng);
    p.a_mul = rng.real(0.01f, 1.5f), p.b_mul = rng.real(0.01f, 1.5f);
    p.lo = int32_t(rng.pick(-128, 0)), p.hi = int32_t(rng.pick(1, 127));
    if (rng.chance(30)) {
      std::vector<int8_t> lut(256);
      for (int8_t &v : lut)
        v = int8_t(rng.pick(-128, 127));
      c.table(2, lut);
      p.flags = kLutFlag;
    }
  }
  if (type == DType::kF32 && kind != BinaryKind::kPow && rng.chance(50)) {
    p.function = rng.of({Function::kClip, Function::kHardSwish});
    p.alpha = -1, p.beta = 1.25f;
  }
  return c;
}

Case compareCase(Rng &rng, DType type, CompareKind kind) {
  Case c(Opcode::kCompare);
  std::vector<int64_t> dims = anyDims(rng);
  c.arrays[0] = randomArray(rng, DType::kBool, dims, anyLayout(rng, false));
  inputs(rng, c, 2, type, dims);
  c.command.params.compare.kind = kind;
  return c;
}

Case selectCase(Rng &rng, DType type) {
  Case c(Opcode::kSelect);
  std::vector<int64_t> dims = anyDims(rng);
  c.arrays[0] = randomArray(rng, type, dims, anyLayout(rng, false));
  inputs(rng, c, 3, type, dims);
  c.arrays[1] = randomArray(rng, DType::kBool, dims, anyLayout(rng, false),
                            anyMask(rng, dims.size()));
  return c;
}

Case unaryCase(Rng &rng, DType type, Function function) {
  Case c(Opcode::kUnary);
  std::vector<int64_t> dims = anyDims(rng);
  c.arrays[0] = randomArray(rng, type, dims, anyLayout(rng, false));
  inputs(rng, c, 1, type, dims);
  c.command.params.unary.function = function;
  c.command.params.unary.alpha = function == Function::kClip ? -1.f : 0.25f;
  c.command.params.unary.beta = 1.5f;
  return c;
}

static int64_t lowest(DType type) {
  return type == DType::kI8 ? -128 : type == DType::kI16 ? -32768 : 0;
}
static int64_t highest(DType type) {
  return type == DType::kI8 ? 127 : type == DType::kI16 ? 32767 : 255;
}

Case convertCase(Rng &rng, DType in, DType out, bool quantize) {
  Case c(Opcode::kConvert);
  ConvertParams &p = c.command.params.convert;
  std::vector<int64_t> dims = anyDims(rng);
  c.arrays[0] = randomArray(rng, out, dims, anyLayout(rng, false));
  inputs(rng, c, 1, in, dims);
  p.quantize = quantize;
  if (!quantize)
    return c;
  p.scale = in == DType::kF32   ? rng.real(0.01f, 0.1f)
            : in == DType::kI32 ? rng.real(1e-4f, 1e-3f)
                                : rng.real(0.05f, 2);
  if (in != DType::kF32)
    p.in_zp = in == DType::kI32 ? int32_t(rng.pick(-1000, 1000))
                                : int32_t(rng.pick(lowest(in), highest(in)));
  if (out != DType::kF32)
    p.out_zp = int32_t(rng.pick(lowest(out), highest(out)));
  return c;
}

Case softmaxCase(Rng &rng, DType in, DType out) {
  Case c(Opcode::kSoftmax);
  std::vector<int64_t> dims = anyDims(rng);
  c.arrays[0] = randomArray(rng, out, dims, anyLayout(rng, false));
  inputs(rng, c, 1, in, dims);
  if (in == DType::kF32)
    return c;
  std::vector<float> table(256);
  float scale = rng.real(0.01f, 0.2f);
  for (int d = 0; d < 256; ++d)
    table[d] = std::exp(-float(d) * scale);
  c.table(0, table);
  c.command.params.softmax.out_zp = out == DType::kI8 ? -128 : 0;
  c.command.params.softmax.multiplier = 256;
  return c;
}

static std::vector<ResizeTap> taps(Rng &rng, int64_t count, int64_t size) {
  std::vector<ResizeTap> taps(count);
  for (ResizeTap &tap : taps) {
    tap.i0 = int32_t(rng.pick(0, size - 1));
    tap.i1 = int32_t(rng.pick(0, size - 1));
    tap.w1 = rng.real(0, 1);
    tap.w0 = 1 - tap.w1;
  }
  return taps;
}

Case resizeCase(Rng &rng, DType type, bool nearest) {
  Case c(Opcode::kResize2d);
  ResizeParams &p = c.command.params.resize;
  int64_t n = rng.pick(1, 2), ch = channels(rng), h = rng.pick(1, 6),
          w = rng.pick(1, 6), oh = rng.pick(1, 9), ow = rng.pick(1, 9);
  c.arrays[0] = randomArray(rng, type, {n, oh, ow, ch}, anyLayout(rng, true));
  c.arrays[1] = randomArray(rng, type, {n, h, w, ch}, anyLayout(rng, true));
  c.table(0, taps(rng, oh, h));
  c.table(1, taps(rng, ow, w));
  p.nearest = nearest;
  if (type == DType::kI8 && !nearest) {
    p.in_zp = zeroPoint(rng), p.out_zp = zeroPoint(rng);
    p.multiplier = rng.real(0.3f, 2);
  }
  return c;
}

Case argMaxCase(Rng &rng, DType in, DType out) {
  Case c(Opcode::kArgMax);
  std::vector<int64_t> dims = anyDims(rng);
  inputs(rng, c, 1, in, dims);
  dims.back() = 1;
  c.arrays[0] = randomArray(rng, out, dims, anyLayout(rng, false));
  return c;
}

static Case gatherCase(Rng &rng) {
  Case c(Opcode::kGather);
  DType type = rng.of({DType::kI8, DType::kF16, DType::kF32, DType::kI64});
  std::vector<int64_t> dims = anyDims(rng);
  inputs(rng, c, 1, type, dims);
  int64_t axis = rng.pick(0, int64_t(dims.size()) - 1);
  std::vector<int32_t> indices(rng.pick(1, 6));
  for (int32_t &index : indices)
    index = int32_t(rng.pick(0, dims[axis] - 1));
  dims[axis] = int64_t(indices.size());
  c.arrays[0] = randomArray(rng, type, dims, anyLayout(rng, false));
  c.command.params.gather.axis = int32_t(axis);
  c.table(0, indices);
  return c;
}

static Case vectorMacCase(Rng &rng) {
  Case c(Opcode::kVectorMac);
  VectorMacParams &p = c.command.params.vector_mac;
  std::vector<int64_t> dims = {rng.pick(1, 2), rng.pick(1, 5), rng.pick(1, 5),
                               channels(rng)};
  c.arrays[0] = randomArray(rng, DType::kI32, dims, anyLayout(rng, true));
  c.arrays[1] = randomArray(rng, DType::kI8, dims, anyLayout(rng, true));
  c.arrays[2] = randomArray(rng, DType::kI8, {dims[3]});
  p.in_zp = zeroPoint(rng), p.w_zp = zeroPoint(rng);
  p.first = rng.chance(50);
  return c;
}

static Case requantizeCase(Rng &rng) {
  Case c(Opcode::kRequantize);
  std::vector<int64_t> dims = anyDims(rng);
  c.arrays[0] = randomArray(rng, DType::kI8, dims, anyLayout(rng, true));
  c.arrays[1] = randomArray(rng, DType::kI32, dims, anyLayout(rng, true));
  randomEpilogue(rng, c, c.command.params.requantize.epilogue, dims.back(),
                 rng.chance(50));
  return c;
}

// One input with the dims of the output.
static Case plainCase(Rng &rng, Opcode opcode, DType type) {
  Case c(opcode);
  std::vector<int64_t> dims = anyDims(rng);
  c.arrays[0] = randomArray(rng, type, dims, anyLayout(rng, false));
  if (opcode != Opcode::kFill)
    inputs(rng, c, 1, type, dims);
  return c;
}

static DType anyType(Rng &rng) { return DType(rng.pick(0, kNumDTypes - 1)); }

Case randomCase(Opcode opcode, Rng &rng) {
  bool f32 = rng.chance(40);
  DType type = f32 ? DType::kF32 : DType::kI8;
  DType matrix = f32 ? DType::kF32 : rng.of({DType::kI8, DType::kI32});
  switch (opcode) {
  case Opcode::kNop:
    return Case(opcode);
  case Opcode::kDma:
    return plainCase(rng, opcode, anyType(rng));
  case Opcode::kFill: {
    Case c = plainCase(rng, opcode, anyType(rng));
    c.command.params.fill.bits = uint64_t(rng.pick(0, INT64_MAX));
    return c;
  }
  case Opcode::kConv2d:
    return convCase(rng, type, matrix, false);
  case Opcode::kDepthwiseConv2d:
    return convCase(rng, type, matrix, true);
  case Opcode::kMatmul:
    return matmulCase(rng, type, matrix);
  case Opcode::kPool2d:
    return poolCase(rng, type, PoolKind(rng.pick(0, 1)));
  case Opcode::kReduce:
    return reduceCase(
        rng, f32 ? type : rng.of({DType::kI8, DType::kI32, DType::kI64}),
        ReduceKind(rng.pick(0, 3)));
  case Opcode::kBinary:
    return binaryCase(
        rng, f32 ? type : rng.of({DType::kI8, DType::kI32, DType::kI64}),
        BinaryKind(rng.pick(0, 5)));
  case Opcode::kUnary:
    return unaryCase(rng, DType::kF32,
                     Function(rng.pick(0, kNumFunctions - 1)));
  case Opcode::kLut: {
    Case c = plainCase(rng, opcode, DType::kI8);
    std::vector<int8_t> table(256);
    for (int8_t &v : table)
      v = int8_t(rng.pick(-128, 127));
    c.table(0, table);
    return c;
  }
  case Opcode::kSoftmax:
    return softmaxCase(rng, type,
                       f32 ? type : rng.of({DType::kI8, DType::kF32}));
  case Opcode::kResize2d:
    return resizeCase(rng, type, rng.chance(40));
  case Opcode::kGather:
    return gatherCase(rng);
  case Opcode::kConvert: {
    bool quantize = rng.chance(60);
    DType out = rng.of({DType::kI8, DType::kU8, DType::kI16});
    DType in = quantize ? rng.of({DType::kI8, DType::kF32, DType::kI32})
                        : anyType(rng);
    if (!quantize)
      out = anyType(rng);
    return convertCase(rng, in, out, quantize);
  }
  case Opcode::kVectorMac:
    return vectorMacCase(rng);
  case Opcode::kRequantize:
    return requantizeCase(rng);
  case Opcode::kArgMax:
    return argMaxCase(rng, type, rng.of({DType::kI32, DType::kI64}));
  case Opcode::kCompare:
    return compareCase(
        rng, rng.of({DType::kF32, DType::kI32, DType::kI64, DType::kU64}),
        CompareKind(rng.pick(0, kNumCompareKinds - 1)));
  case Opcode::kSelect:
    return selectCase(rng, anyType(rng));
  }
  return Case(Opcode::kNop);
}

} // namespace npu::rt::testing
