// Validation of operands, tables and epilogues.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "runtime/kernels/validator.h"

namespace npu::rt {

namespace {
constexpr const char *kOperandNames[] = {"output", "input 0", "input 1",
                                         "input 2"};
} // namespace

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

bool Validator::bounds(int32_t lo, int32_t hi, int32_t zp, int32_t levels) {
  int32_t least = -levels / 2, most = levels / 2 - 1;
  if (lo < least || hi > most || lo > hi)
    return fail("clamp [", lo, ", ", hi, "] is no range in [", least, ", ",
                most, "]");
  if (zp < least || zp > most)
    return fail("zero point ", zp, " is outside [", least, ", ", most, "]");
  return true;
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
  if (e.flags & ~(kLutFlag | kResidualFlag | kPerChannelScale | kWideLutFlag))
    return fail("unknown flags ", int(e.flags));
  if ((e.flags & kWideLutFlag) && !(e.flags & kLutFlag))
    return fail("a wide table without a table");
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
         table(2, lutEntries(e.flags), 1, e.flags & kLutFlag) &&
         bounds(e.lo, e.hi, e.mid_zp, lutEntries(e.flags)) &&
         (!residual ||
          (bounds(e.lo2, e.hi2, e.out_zp) && zeroPoint(e.res_zp) &&
           zeroPoint(e.res_mid_zp) && finite(e.scale_self, "scale") &&
           finite(e.scale_res, "scale")));
}

} // namespace npu::rt
