// Static validation of one command. What passes here cannot make a kernel
// touch memory outside the spaces.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "runtime/kernels/kernels.h"

namespace npu::rt {

namespace {

const char *kOperandNames[] = {"output", "input 0", "input 1", "input 2"};

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
  bool bounds(int32_t lo, int32_t hi, int32_t zp);

  bool conv();
  bool depthwise();
  bool window(const ConvParams &p, int64_t kh, int64_t kw);
  bool matmul();
  bool pool();
  bool reduce();
  bool binary();
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

int64_t Validator::spaceSize(const Operand &o) {
  switch (o.space) {
  case Space::kConst:
    return sizes.constants;
  case Space::kDram:
    return sizes.dram;
  case Space::kSram:
    return sizes.sram;
  case Space::kIo:
    return o.io < sizes.io.size() ? sizes.io[o.io] : -1;
  }
  return -1;
}

bool Validator::operand(int i) {
  const Operand &o = op(i);
  if (o.rank == 0)
    return true;
  const char *name = kOperandNames[i];
  int64_t size = spaceSize(o), element = sizeOf(o.dtype);
  if (o.rank > kMaxRank)
    return fail(name, ": rank ", int(o.rank), " is above ", kMaxRank);
  if (element == 0)
    return fail(name, ": unknown element type ", int(o.dtype));
  if (size < 0)
    return fail(name, ": unknown space or tensor");
  if (o.offset < 0 || o.offset % element)
    return fail(name, ": offset ", o.offset, " is negative or not aligned");
  __int128 count = 1, last = 0;
  for (int d = 0; d < o.rank; ++d) {
    if (o.dims[d] <= 0)
      return fail(name, ": dimension ", o.dims[d], " is not positive");
    if (o.strides[d] < 0)
      return fail(name, ": stride ", o.strides[d], " is negative");
    count *= o.dims[d];
    last += __int128(o.dims[d] - 1) * o.strides[d];
    if (count > INT32_MAX)
      return fail(name, ": more than 2^31 elements");
  }
  if (o.offset + (last + 1) * element > size)
    return fail(name, ": bytes ", o.offset, " to ",
                int64_t(o.offset + (last + 1) * element), " leave a space of ",
                size);
  if (i != 0)
    return true;
  if (o.space == Space::kConst ||
      (o.space == Space::kIo && o.io < sizes.inputs))
    return fail(name, ": lies in memory that is not written");
  // An element must not be written twice: sorted by stride, each dimension
  // steps over all that the smaller ones span.
  bool used[kMaxRank] = {};
  int64_t span = 0;
  for (int n = 0; n < o.rank; ++n) {
    int next = -1;
    for (int d = 0; d < o.rank; ++d)
      if (!used[d] &&
          (next < 0 || o.strides[d] < o.strides[next] ||
           (o.strides[d] == o.strides[next] && o.dims[d] < o.dims[next])))
        next = d;
    used[next] = true;
    if (o.dims[next] > 1 && o.strides[next] <= span)
      return fail(name, ": strides overlap");
    span += int64_t(o.dims[next] - 1) * o.strides[next];
  }
  return true;
}

bool Validator::expect(int i, bool present) {
  if ((op(i).rank != 0) != present)
    return fail(kOperandNames[i], present ? ": is missing" : ": is too much");
  return true;
}

bool Validator::type(int i, std::initializer_list<DType> types) {
  for (DType t : types)
    if (op(i).dtype == t)
      return true;
  return fail(kOperandNames[i], ": element type ", int(op(i).dtype),
              " is not supported by this command");
}

bool Validator::sameDims(int a, int b) {
  if (op(a).rank != op(b).rank ||
      std::memcmp(op(a).dims, op(b).dims, op(a).rank * sizeof(int32_t)))
    return fail(kOperandNames[a], " and ", kOperandNames[b],
                ": dimensions differ");
  return true;
}

bool Validator::dense(int i) {
  int64_t stride = 1;
  for (int d = op(i).rank - 1; d >= 0; --d) {
    if (op(i).dims[d] > 1 && op(i).strides[d] != stride)
      return fail(kOperandNames[i], ": must be dense");
    stride *= op(i).dims[d];
  }
  return true;
}

bool Validator::innerDense(int i) {
  int last = op(i).rank - 1;
  if (op(i).dims[last] > 1 && op(i).strides[last] != 1)
    return fail(kOperandNames[i], ": the last dimension must be dense");
  return true;
}

bool Validator::table(int i, int64_t count, int64_t size, bool needed) {
  int64_t at = c.aux[i];
  if (at == -1)
    return needed ? fail("table ", i, " is missing") : true;
  if (at < 0 || at % std::min<int64_t>(size, 4) || at > sizes.constants ||
      count > (sizes.constants - at) / size)
    return fail("table ", i, ": ", count, " entries at ", at,
                " leave the constants");
  return true;
}

bool Validator::finite(float value, const char *what) {
  return std::isfinite(value) || fail(what, " is not finite");
}

bool Validator::bounds(int32_t lo, int32_t hi, int32_t zp) {
  if (lo < -128 || hi > 127 || lo > hi)
    return fail("clamp [", lo, ", ", hi, "] is no range of i8");
  return zeroPoint(zp);
}

// In the range of the type; types without a zero point take any.
bool Validator::zeroPoint(int32_t zp, DType type) {
  int32_t lo = INT32_MIN, hi = INT32_MAX;
  if (type == DType::kI8)
    lo = -128, hi = 127;
  else if (type == DType::kU8)
    lo = 0, hi = 255;
  else if (type == DType::kI16)
    lo = -32768, hi = 32767;
  if (zp < lo || zp > hi)
    return fail("zero point ", zp, " is outside [", lo, ", ", hi, "]");
  return true;
}

bool Validator::epilogue(const Epilogue &e, int64_t channels) {
  DType out = op(0).dtype;
  if (int(e.function) >= kNumFunctions)
    return fail("unknown function ", int(e.function));
  if (e.flags & ~(kLutFlag | kResidualFlag | kPerChannelScale))
    return fail("unknown flags ", int(e.flags));
  bool residual = e.flags & kResidualFlag;
  if (!expect(3, residual))
    return false;
  if (residual && !(sameDims(3, 0) && innerDense(3)))
    return false;
  if (residual && op(3).dtype != out)
    return fail("residual and output differ in element type");
  if (out == DType::kF32)
    return table(0, channels, 4, false);
  if (out == DType::kI32)
    return residual ? fail("an i32 output takes no residual")
                    : table(0, channels, 4, false);
  return table(0, channels, 4, false) &&
         table(1, e.flags & kPerChannelScale ? channels : 1, 4, true) &&
         table(2, 256, 1, e.flags & kLutFlag) && bounds(e.lo, e.hi, e.mid_zp) &&
         (!residual ||
          (bounds(e.lo2, e.hi2, e.out_zp) && zeroPoint(e.res_zp) &&
           zeroPoint(e.res_mid_zp) && finite(e.scale_self, "scale") &&
           finite(e.scale_res, "scale")));
}

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
  if (p.kind == BinaryKind::kPow && t != DType::kF32)
    return fail("power is f32 only");
  return type(0, {DType::kI8, DType::kI32, DType::kI64, DType::kF32}) &&
         type(1, {t}) && type(2, {t}) && table(2, 256, 1, p.flags & kLutFlag) &&
         (t != DType::kI8 ||
          (bounds(p.lo, p.hi, p.out_zp) && zeroPoint(p.a_zp) &&
           zeroPoint(p.b_zp) && finite(p.a_mul, "multiplier") &&
           finite(p.b_mul, "multiplier")));
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
  auto all = {DType::kI8,  DType::kU8,  DType::kI16, DType::kI32,
              DType::kI64, DType::kF32, DType::kBool};
  if (!expect(1, true) || !expect(2, false) || !expect(3, false) ||
      !sameDims(0, 1) || !type(0, all) || !type(1, all))
    return false;
  if (!p.quantize)
    return true;
  if (op(0).dtype == DType::kI32 || op(0).dtype == DType::kI64 ||
      op(0).dtype == DType::kBool || op(1).dtype == DType::kBool ||
      op(1).dtype == DType::kI64 ||
      (op(0).dtype == DType::kF32 && op(1).dtype == DType::kF32))
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

} // namespace

absl::Status validateCommand(const Command &command, const SpaceSizes &sizes,
                             const uint8_t *constants) {
  return Validator(command, sizes, constants).run();
}

} // namespace npu::rt
