#include "test/conformance/tensors.h"

#include <cmath>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace npu::conformance {

using onnx::TensorProto;
using rt::DType;

static std::string shapeText(const Dims &dims) {
  return absl::StrCat("[", absl::StrJoin(dims, ","), "]");
}

absl::StatusOr<TensorPtr> parseStored(const std::string &bytes, int declared) {
  TensorProto proto;
  if (!proto.ParseFromString(bytes))
    return absl::DataLossError("a stored tensor cannot be parsed");
  if (declared == TensorProto::BFLOAT16 &&
      proto.data_type() == TensorProto::UINT16)
    proto.set_data_type(declared);
  return readTensor(proto, ".", false);
}

static bool sameShape(const Dims &a, const Dims &b) {
  return a == b || (a.empty() && b == Dims{1});
}

template <typename T>
static void store(const std::vector<int64_t> &values, uint8_t *data) {
  for (size_t n = 0; n < values.size(); ++n) {
    T v = T(values[n]);
    std::memcpy(data + n * sizeof(T), &v, sizeof(T));
  }
}

template <typename T> static int64_t load(const uint8_t *data, int64_t n) {
  T v;
  std::memcpy(&v, data + n * sizeof(T), sizeof(T));
  return int64_t(v);
}

absl::Status fill(const Tensor &tensor, const rt::TensorInfo &info,
                  uint8_t *data) {
  if (!sameShape(tensor.dims, info.shape))
    return absl::InvalidArgumentError(
        absl::StrCat("input ", info.name, " is ", rt::typeText(info),
                     ", the stored value ", shapeText(tensor.dims)));
  if (tensor.isFloat() != (info.dtype == DType::kF32))
    return absl::InvalidArgumentError(
        absl::StrCat("input ", info.name, " is ", rt::typeText(info),
                     ", the stored value ", typeName(tensor.type)));
  switch (info.dtype) {
  case DType::kF32:
    std::memcpy(data, tensor.f.data(), tensor.f.size() * 4);
    break;
  case DType::kI8:
  case DType::kU8:
  case DType::kBool:
    store<uint8_t>(tensor.i, data);
    break;
  case DType::kI16:
  case DType::kU16:
    store<uint16_t>(tensor.i, data);
    break;
  case DType::kI32:
  case DType::kU32:
    store<uint32_t>(tensor.i, data);
    break;
  default:
    store<int64_t>(tensor.i, data);
    break;
  }
  return absl::OkStatus();
}

static int64_t integerAt(DType type, const uint8_t *data, int64_t n) {
  switch (type) {
  case DType::kI8:
    return load<int8_t>(data, n);
  case DType::kU8:
  case DType::kBool:
    return load<uint8_t>(data, n);
  case DType::kI16:
    return load<int16_t>(data, n);
  case DType::kU16:
    return load<uint16_t>(data, n);
  case DType::kI32:
    return load<int32_t>(data, n);
  case DType::kU32:
    return load<uint32_t>(data, n);
  default:
    return load<int64_t>(data, n);
  }
}

// Two integers of the declared type; unsigned ones may be held as signed.
static bool equalIntegers(int type, int64_t a, int64_t b) {
  int64_t bytes = elementSize(type);
  uint64_t mask = bytes >= 8 ? ~uint64_t{0} : (uint64_t{1} << 8 * bytes) - 1;
  return (uint64_t(a) & mask) == (uint64_t(b) & mask);
}

// Units in the last place of narrow types, relative.
static double typeTolerance(int type) {
  return type == TensorProto::BFLOAT16 ? 1.0 / 128 : 1e-3;
}

static absl::Status compareFloats(const Tensor &expected, const float *got) {
  double largest = 0;
  for (float v : expected.f)
    if (std::isfinite(v))
      largest = std::max(largest, std::fabs(double(v)));
  double rtol = typeTolerance(expected.type);
  double atol = std::max(1e-7, largest * 1e-6);
  for (size_t n = 0; n < expected.f.size(); ++n) {
    double a = got[n], b = expected.f[n];
    bool near = a == b || (std::isnan(a) && std::isnan(b)) ||
                std::fabs(a - b) <= atol + rtol * std::fabs(b);
    if (!near)
      return absl::DataLossError(
          absl::StrCat("value ", n, " is ", a, " instead of ", b));
  }
  return absl::OkStatus();
}

absl::Status compare(const Tensor &expected, const rt::TensorInfo &info,
                     const uint8_t *data) {
  if (!sameShape(expected.dims, info.shape))
    return absl::DataLossError(absl::StrCat("output ", info.name, " is ",
                                            rt::typeText(info), " instead of ",
                                            shapeText(expected.dims)));
  bool isFloat = info.dtype == DType::kF32;
  if (isFloat != expected.isFloat() ||
      (!isFloat && rt::sizeOf(info.dtype) != elementSize(expected.type)))
    return absl::DataLossError(absl::StrCat("output ", info.name, " is ",
                                            rt::typeText(info), " instead of ",
                                            typeName(expected.type)));
  absl::Status status;
  if (isFloat)
    status = compareFloats(expected, reinterpret_cast<const float *>(data));
  for (size_t n = 0; !isFloat && status.ok() && n < expected.i.size(); ++n)
    if (int64_t got = integerAt(info.dtype, data, n);
        !equalIntegers(expected.type, got, expected.i[n]))
      status = absl::DataLossError(absl::StrCat("value ", n, " is ", got,
                                                " instead of ", expected.i[n]));
  return status.ok() ? status
                     : absl::DataLossError(absl::StrCat(
                           "output ", info.name, ": ", status.message()));
}

} // namespace npu::conformance
