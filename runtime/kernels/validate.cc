// Static validation of one command. What passes here cannot make a kernel
// touch memory outside the spaces.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "runtime/kernels/validator.h"

namespace npu::rt {

bool Validator::window(const ConvParams &p, int64_t kh, int64_t kw) {
  for (int i = 0; i < 2; ++i) {
    int64_t kernel = i ? kw : kh, size = dim(1, 1 + i);
    if (p.stride[i] < 1 || p.dilation[i] < 1 || p.pad[i] < 0 ||
        p.pad[i + 2] < 0)
      return fail("stride, dilation or pad out of range");
    int64_t extent = int64_t(p.dilation[i]) * (kernel - 1) + 1;
    if (c.opcode != Opcode::kPool2d &&
        (p.pad[i] >= extent || p.pad[i + 2] >= extent))
      return fail("pad ", std::max(p.pad[i], p.pad[i + 2]),
                  " is not smaller than the dilated kernel, ", extent);
    int64_t room = size + p.pad[i] + p.pad[i + 2] - extent;
    if (room < 0 || room / p.stride[i] + 1 != dim(0, 1 + i))
      return fail("output size ", dim(0, 1 + i), " does not follow from input ",
                  size, ", kernel ", kernel, " and pads");
    if (extent > INT32_MAX || p.pad[i] > INT32_MAX / 2 ||
        p.pad[i + 2] > INT32_MAX / 2)
      return fail("kernel or pad too large");
  }
  return true;
}

bool Validator::conv() {
  const ConvParams &p = c.params.conv;
  if (!expect(1, true) || !expect(2, true))
    return false;
  if (op(0).rank != 4 || op(1).rank != 4 || op(2).rank != 4)
    return fail("a convolution's operands have rank 4");
  bool f32 = op(1).dtype == DType::kF32;
  if (!(f32 ? type(2, {DType::kF32}) && type(0, {DType::kF32})
            : type(1, {DType::kI8}) && type(2, {DType::kI8}) &&
                  type(0, {DType::kI8, DType::kI32})))
    return false;
  int64_t ic = dim(1, 3), oc = dim(0, 3);
  if (p.groups < 1 || ic % p.groups || oc % p.groups || dim(2, 0) != oc ||
      dim(2, 3) != ic / p.groups || dim(0, 0) != dim(1, 0))
    return fail("weights [", dim(2, 0), ",..,", dim(2, 3), "] do not fit ", ic,
                " to ", oc, " channels in ", p.groups, " groups");
  if (!zeroPoint(p.in_zp) || !zeroPoint(p.w_zp))
    return false;
  return window(p, dim(2, 1), dim(2, 2)) && dense(2) && innerDense(0) &&
         innerDense(1) && epilogue(p.epilogue, oc);
}

bool Validator::depthwise() {
  const ConvParams &p = c.params.conv;
  if (!expect(1, true) || !expect(2, true))
    return false;
  if (op(0).rank != 4 || op(1).rank != 4 || op(2).rank != 3)
    return fail("a depthwise convolution takes [N,H,W,C] and [KH,KW,C]");
  bool f32 = op(1).dtype == DType::kF32;
  if (!(f32 ? type(2, {DType::kF32}) && type(0, {DType::kF32})
            : type(1, {DType::kI8}) && type(2, {DType::kI8}) &&
                  type(0, {DType::kI8, DType::kI32})))
    return false;
  if (dim(1, 3) != dim(0, 3) || dim(2, 2) != dim(0, 3) ||
      dim(0, 0) != dim(1, 0))
    return fail("channels differ: ", dim(1, 3), ", ", dim(2, 2), ", ",
                dim(0, 3));
  if (dim(2, 0) * dim(2, 1) > 4096)
    return fail("kernel of more than 4096 taps");
  if (!zeroPoint(p.in_zp) || !zeroPoint(p.w_zp))
    return false;
  return window(p, dim(2, 0), dim(2, 1)) && dense(2) && innerDense(0) &&
         innerDense(1) && epilogue(p.epilogue, dim(0, 3));
}

bool Validator::matmul() {
  if (!expect(1, true) || !expect(2, true))
    return false;
  int r = op(0).rank;
  if (r < 2 || op(1).rank != r || op(2).rank != r)
    return fail("a matmul's operands share one rank of 2 or more");
  for (int i = 0; i + 2 < r; ++i)
    if (dim(1, i) != dim(0, i) || dim(2, i) != dim(0, i))
      return fail("batch dimensions differ");
  if (dim(1, r - 2) != dim(0, r - 2) || dim(2, r - 1) != dim(0, r - 1) ||
      dim(1, r - 1) != dim(2, r - 2))
    return fail("matrix sizes do not fit");
  // Kernels copy 16 columns; an inner dimension of broadcasts could be endless.
  if (dim(1, r - 1) > 1 << 22)
    return fail("inner dimension ", dim(1, r - 1), " is above ", 1 << 22);
  if (!zeroPoint(c.params.matmul.a_zp) || !zeroPoint(c.params.matmul.b_zp))
    return false;
  bool f32 = op(1).dtype == DType::kF32;
  if (!(f32 ? type(2, {DType::kF32}) && type(0, {DType::kF32})
            : type(1, {DType::kI8}) && type(2, {DType::kI8}) &&
                  type(0, {DType::kI8, DType::kI32})))
    return false;
  return epilogue(c.params.matmul.epilogue, dim(0, r - 1));
}

bool Validator::pool() {
  const PoolParams &p = c.params.pool;
  if (!expect(1, true) || !expect(2, false) || !expect(3, false))
    return false;
  if (op(0).rank != 4 || op(1).rank != 4 || dim(0, 0) != dim(1, 0) ||
      dim(0, 3) != dim(1, 3))
    return fail("a pool takes [N,H,W,C] to [N,OH,OW,C]");
  if (int(p.kind) > 1 || p.kernel[0] < 1 || p.kernel[1] < 1)
    return fail("unknown pool or empty kernel");
  ConvParams window{};
  for (int i = 0; i < 2; ++i) {
    window.stride[i] = p.stride[i];
    window.dilation[i] = p.dilation[i];
  }
  std::memcpy(window.pad, p.pad, sizeof(p.pad));
  return type(0, {DType::kI8, DType::kF32}) && type(1, {op(0).dtype}) &&
         this->window(window, p.kernel[0], p.kernel[1]) && innerDense(0) &&
         innerDense(1) &&
         (op(0).dtype == DType::kF32 ||
          (bounds(p.lo, p.hi, p.out_zp) && zeroPoint(p.in_zp) &&
           finite(p.multiplier, "multiplier")));
}

bool Validator::reduce() {
  const ReduceParams &p = c.params.reduce;
  if (!expect(1, true) || !expect(2, false) || !expect(3, false))
    return false;
  if (op(0).rank != op(1).rank || int(p.kind) > int(ReduceKind::kSumSquare) ||
      p.axes >> op(1).rank)
    return fail("ranks, kind or axes of the reduction are wrong");
  for (int i = 0; i < op(1).rank; ++i)
    if (dim(0, i) != (p.axes >> i & 1 ? 1 : dim(1, i)))
      return fail("output dimension ", i, " does not follow from the axes");
  if (op(0).dtype == DType::kI8 &&
      (p.kind == ReduceKind::kProd || p.kind == ReduceKind::kSumSquare))
    return fail("no i8 product or sum of squares");
  return type(0, {DType::kI8, DType::kF32, DType::kI32, DType::kI64}) &&
         type(1, {op(0).dtype}) &&
         (op(0).dtype != DType::kI8 ||
          (bounds(p.lo, p.hi, p.out_zp) && zeroPoint(p.in_zp) &&
           finite(p.multiplier, "multiplier")));
}

bool Validator::binary() {
  const BinaryParams &p = c.params.binary;
  if (!expect(1, true) || !expect(2, true) || !expect(3, false) ||
      !sameDims(0, 1) || !sameDims(0, 2))
    return false;
  if (p.flags & ~kLutFlag)
    return fail("unknown flags ", int(p.flags));
  if (int(p.kind) >= kNumBinaryKinds || int(p.function) >= kNumFunctions)
    return fail("unknown operation ", int(p.kind));
  DType t = op(0).dtype;
  bool bits = p.kind == BinaryKind::kAnd || p.kind == BinaryKind::kOr ||
              p.kind == BinaryKind::kXor;
  bool integers = t == DType::kI32 || t == DType::kI64 || t == DType::kU64;
  if ((p.kind == BinaryKind::kPow && t == DType::kI8) ||
      (p.kind == BinaryKind::kRem && t != DType::kF32 && !integers) ||
      (p.kind > BinaryKind::kRem && !integers &&
       !(bits && t == DType::kBool)) ||
      (t == DType::kBool && !bits))
    return fail("operation ", int(p.kind), " does not take element type ",
                int(t));
  if (t != DType::kI8 && p.flags)
    return fail("a table is for i8 only");
  return type(0, {DType::kI8, DType::kI32, DType::kI64, DType::kU64,
                  DType::kF32, DType::kBool}) &&
         type(1, {t}) && type(2, {t}) && table(2, 256, 1, p.flags & kLutFlag) &&
         (t != DType::kI8 ||
          (bounds(p.lo, p.hi, p.out_zp) && zeroPoint(p.a_zp) &&
           zeroPoint(p.b_zp) && finite(p.a_mul, "multiplier") &&
           finite(p.b_mul, "multiplier")));
}

bool Validator::compare() {
  if (int(c.params.compare.kind) >= kNumCompareKinds)
    return fail("unknown comparison ", int(c.params.compare.kind));
  return expect(1, true) && expect(2, true) && expect(3, false) &&
         sameDims(0, 1) && sameDims(0, 2) && type(0, {DType::kBool}) &&
         type(1, {DType::kF32, DType::kI32, DType::kI64, DType::kU64}) &&
         type(2, {op(1).dtype});
}

bool Validator::select() {
  return expect(1, true) && expect(2, true) && expect(3, true) &&
         sameDims(0, 1) && sameDims(0, 2) && sameDims(0, 3) &&
         type(1, {DType::kBool}) && type(2, {op(0).dtype}) &&
         type(3, {op(0).dtype});
}

bool Validator::unary() {
  Function f = c.params.unary.function;
  if (int(f) >= kNumFunctions)
    return fail("unknown function ", int(f));
  if (op(0).dtype == DType::kI32 && f != Function::kAbs &&
      f != Function::kNeg && f != Function::kClip)
    return fail("function ", int(f), " does not take i32");
  return expect(1, true) && expect(2, false) && expect(3, false) &&
         sameDims(0, 1) && type(0, {DType::kF32, DType::kI32}) &&
         type(1, {op(0).dtype});
}

bool Validator::softmax() {
  const SoftmaxParams &p = c.params.softmax;
  if (!expect(1, true) || !expect(2, false) || !expect(3, false) ||
      !sameDims(0, 1) || !type(1, {DType::kI8, DType::kF32}))
    return false;
  if (op(1).dtype == DType::kF32)
    return type(0, {DType::kF32});
  return type(0, {DType::kI8, DType::kF32}) && table(0, 256, 4, true) &&
         zeroPoint(p.out_zp) && finite(p.multiplier, "multiplier");
}

// Entries must point into the input.
bool Validator::tapTable(int i, int64_t count, int64_t size) {
  if (!table(i, count, sizeof(ResizeTap), true))
    return false;
  for (int64_t at = 0; constants && at < count; ++at) {
    ResizeTap tap;
    std::memcpy(&tap, constants + c.aux[i] + at * sizeof(tap), sizeof(tap));
    if (tap.i0 < 0 || tap.i0 >= size || tap.i1 < 0 || tap.i1 >= size)
      return fail("resize tap ", at, " points outside the input");
  }
  return true;
}

bool Validator::resize() {
  const ResizeParams &p = c.params.resize;
  if (!expect(1, true) || !expect(2, false) || !expect(3, false))
    return false;
  if (op(0).rank != 4 || op(1).rank != 4 || dim(0, 0) != dim(1, 0) ||
      dim(0, 3) != dim(1, 3))
    return fail("a resize takes [N,H,W,C] to [N,OH,OW,C]");
  if (!p.nearest && !type(0, {DType::kI8, DType::kF32}))
    return false;
  return type(1, {op(0).dtype}) && innerDense(0) && innerDense(1) &&
         tapTable(0, dim(0, 1), dim(1, 1)) &&
         tapTable(1, dim(0, 2), dim(1, 2)) && zeroPoint(p.in_zp) &&
         zeroPoint(p.out_zp) && finite(p.multiplier, "multiplier");
}

bool Validator::gather() {
  int axis = c.params.gather.axis;
  if (!expect(1, true) || !expect(2, false) || !expect(3, false) ||
      !type(1, {op(0).dtype}))
    return false;
  if (op(0).rank != op(1).rank || axis < 0 || axis >= op(0).rank)
    return fail("axis ", axis, " is outside the operands");
  for (int i = 0; i < op(0).rank; ++i)
    if (i != axis && dim(0, i) != dim(1, i))
      return fail("dimensions differ outside the axis");
  if (!table(0, dim(0, axis), 4, true))
    return false;
  for (int64_t i = 0; constants && i < dim(0, axis); ++i) {
    int32_t index;
    std::memcpy(&index, constants + c.aux[0] + i * 4, 4);
    if (index < 0 || index >= dim(1, axis))
      return fail("index ", index, " is outside the axis");
  }
  return true;
}

bool Validator::convert() {
  const ConvertParams &p = c.params.convert;
  if (!expect(1, true) || !expect(2, false) || !expect(3, false) ||
      !sameDims(0, 1))
    return false;
  if (!p.quantize)
    return true;
  if (!type(0, {DType::kI8, DType::kU8, DType::kI16, DType::kF32}) ||
      !type(1, {DType::kI8, DType::kU8, DType::kI16, DType::kI32, DType::kF32}))
    return false;
  if (op(0).dtype == DType::kF32 && op(1).dtype == DType::kF32)
    return fail("no such quantising conversion");
  if (!(std::fabs(p.scale) > 0) || !std::isfinite(p.scale))
    return fail("scale must be finite and not zero");
  return zeroPoint(p.in_zp, op(1).dtype) && zeroPoint(p.out_zp, op(0).dtype);
}

bool Validator::vectorMac() {
  const VectorMacParams &p = c.params.vector_mac;
  if (!expect(1, true) || !expect(2, true) || !expect(3, false))
    return false;
  if (op(0).rank != 4 || op(2).rank != 1 || dim(2, 0) != dim(0, 3))
    return fail("takes [N,H,W,C] and weights [C]");
  if (!zeroPoint(p.in_zp) || !zeroPoint(p.w_zp))
    return false;
  return type(0, {DType::kI32}) && type(1, {DType::kI8}) &&
         type(2, {DType::kI8}) && sameDims(0, 1) && dense(2) && innerDense(0) &&
         innerDense(1);
}

bool Validator::requantize() {
  if (!expect(1, true) || !expect(2, false))
    return false;
  return type(0, {DType::kI8}) && type(1, {DType::kI32}) && sameDims(0, 1) &&
         innerDense(0) && innerDense(1) &&
         epilogue(c.params.requantize.epilogue, dim(0, op(0).rank - 1));
}

bool Validator::argMax() {
  if (!expect(1, true) || !expect(2, false) || !expect(3, false) ||
      op(0).rank != op(1).rank)
    return fail("arg max keeps the rank");
  int last = op(1).rank - 1;
  for (int i = 0; i < last; ++i)
    if (dim(0, i) != dim(1, i))
      return fail("dimensions differ");
  if (dim(0, last) != 1)
    return fail("the last dimension of arg max is 1");
  return type(0, {DType::kI32, DType::kI64}) &&
         type(1, {DType::kI8, DType::kF32, DType::kI32});
}

bool Validator::opcode() {
  switch (c.opcode) {
  case Opcode::kNop:
    return expect(0, false) && expect(1, false) && expect(2, false) &&
           expect(3, false);
  case Opcode::kDma:
    return expect(1, true) && expect(2, false) && expect(3, false) &&
           sameDims(0, 1) &&
           (sizeOf(op(0).dtype) == sizeOf(op(1).dtype) ||
            fail("element sizes differ"));
  case Opcode::kFill:
    return expect(1, false) && expect(2, false) && expect(3, false);
  case Opcode::kConv2d:
    return conv();
  case Opcode::kDepthwiseConv2d:
    return depthwise();
  case Opcode::kMatmul:
    return matmul();
  case Opcode::kPool2d:
    return pool();
  case Opcode::kReduce:
    return reduce();
  case Opcode::kBinary:
    return binary();
  case Opcode::kUnary:
    return unary();
  case Opcode::kLut:
    return expect(1, true) && expect(2, false) && expect(3, false) &&
           sameDims(0, 1) && type(0, {DType::kI8}) && type(1, {DType::kI8}) &&
           table(0, 256, 1, true);
  case Opcode::kSoftmax:
    return softmax();
  case Opcode::kResize2d:
    return resize();
  case Opcode::kGather:
    return gather();
  case Opcode::kConvert:
    return convert();
  case Opcode::kVectorMac:
    return vectorMac();
  case Opcode::kRequantize:
    return requantize();
  case Opcode::kArgMax:
    return argMax();
  case Opcode::kCompare:
    return compare();
  case Opcode::kSelect:
    return select();
  }
  return fail("unknown opcode ", int(c.opcode));
}

absl::Status Validator::run() {
  if (int(c.engine) >= kEnginesPerCore || c.core >= sizes.cores) {
    fail("unknown engine ", int(c.engine), " or core ", int(c.core));
    return status;
  }
  if (c.num_waits > kMaxWaits) {
    fail(int(c.num_waits), " waits are more than ", kMaxWaits);
    return status;
  }
  for (int i = 0; i < c.num_waits; ++i)
    if (c.waits[i].queue >= sizes.cores * kEnginesPerCore) {
      fail("waits for unknown queue ", c.waits[i].queue);
      return status;
    }
  if (c.opcode != Opcode::kNop && !expect(0, true))
    return status;
  for (int i = 0; i < kMaxOperands; ++i)
    if (!operand(i))
      return status;
  opcode();
  return status;
}

absl::Status validateCommand(const Command &command, const SpaceSizes &sizes,
                             const uint8_t *constants) {
  return Validator(command, sizes, constants).run();
}

} // namespace npu::rt
