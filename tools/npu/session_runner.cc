#include "tools/npu/session_runner.h"

#include <cmath>
#include <cstring>
#include <limits>

#include "absl/strings/str_cat.h"
#include "runtime/npz/npz.h"
#include "runtime/support/half.h"

namespace npu {

using rt::DType;

template <typename T>
static void convert(const float *in, int64_t count, uint8_t *out) {
  for (int64_t i = 0; i < count; ++i) {
    double value = std::nearbyint(in[i]);
    T to = value != value ? T(0)
           : value <= double(std::numeric_limits<T>::min())
               ? std::numeric_limits<T>::min()
           : value >= double(std::numeric_limits<T>::max())
               ? std::numeric_limits<T>::max()
               : static_cast<T>(value);
    std::memcpy(out + i * sizeof(T), &to, sizeof(T));
  }
}

void fromFloats(const float *in, int64_t count, DType type, uint8_t *out) {
  switch (type) {
  case DType::kF32:
    std::memcpy(out, in, count * 4);
    return;
  case DType::kI8:
    return convert<int8_t>(in, count, out);
  case DType::kU8:
    return convert<uint8_t>(in, count, out);
  case DType::kI16:
    return convert<int16_t>(in, count, out);
  case DType::kI32:
    return convert<int32_t>(in, count, out);
  case DType::kI64:
    return convert<int64_t>(in, count, out);
  case DType::kBool:
    for (int64_t i = 0; i < count; ++i)
      out[i] = in[i] != 0;
    return;
  case DType::kU16:
    return convert<uint16_t>(in, count, out);
  case DType::kU32:
    return convert<uint32_t>(in, count, out);
  case DType::kU64:
    return convert<uint64_t>(in, count, out);
  case DType::kF64:
    for (int64_t i = 0; i < count; ++i) {
      double value = in[i];
      std::memcpy(out + i * 8, &value, 8);
    }
    return;
  case DType::kF16:
  case DType::kBF16:
    for (int64_t i = 0; i < count; ++i) {
      uint16_t half = type == DType::kF16 ? rt::halfFromFloat(in[i])
                                          : rt::bfloatFromFloat(in[i]);
      std::memcpy(out + i * 2, &half, 2);
    }
    return;
  }
}

void toFloats(const uint8_t *in, int64_t count, DType type, float *out) {
  rt::Array array{"",
                  type,
                  {count},
                  std::string(reinterpret_cast<const char *>(in),
                              count * rt::sizeOf(type))};
  std::vector<float> values = array.floats();
  std::copy(values.begin(), values.end(), out);
}

absl::StatusOr<std::unique_ptr<SessionRunner>>
SessionRunner::create(std::shared_ptr<const rt::Blob> blob,
                      const rt::DeviceOptions &options) {
  auto device = rt::openDevice(options);
  if (!device.ok())
    return device.status();
  auto session = rt::Session::create(*device, blob);
  if (!session.ok())
    return session.status();
  std::unique_ptr<SessionRunner> runner(new SessionRunner);
  runner->blob_ = std::move(blob);
  runner->session_ = *std::move(session);
  return runner;
}

/// True if the operand's elements are row-major without gaps.
static bool isDense(const rt::Operand &o) {
  int64_t expected = 1;
  for (int i = o.rank - 1; i >= 0; --i) {
    if (o.dims[i] != 1 && o.strides[i] != expected)
      return false;
    expected *= o.dims[i];
  }
  return true;
}

/// The elements of an f32 operand in row-major order.
static void gather(const rt::Operand &o, const uint8_t *data, float *out) {
  int64_t index[rt::kMaxRank] = {0};
  const auto *in = reinterpret_cast<const float *>(data);
  for (;;) {
    int64_t at = 0;
    for (int d = 0; d + 1 < o.rank; ++d)
      at += index[d] * o.strides[d];
    for (int64_t i = 0; i < o.dims[o.rank - 1]; ++i)
      *out++ = in[at + i * o.strides[o.rank - 1]];
    int d = o.rank - 2;
    for (; d >= 0 && ++index[d] == o.dims[d]; --d)
      index[d] = 0;
    if (d < 0)
      return;
  }
}

absl::Status
SessionRunner::run(const std::vector<calibration::InputTensor> &inputs,
                   const Tap &tap) {
  for (size_t i = 0; i < blob_->inputs().size(); ++i) {
    const rt::TensorInfo &info = blob_->inputs()[i];
    const calibration::InputTensor *given = nullptr;
    for (const auto &input : inputs)
      if (input.name == info.name)
        given = &input;
    if (!given || int64_t(given->data.size()) != info.elements())
      return absl::InvalidArgumentError(absl::StrCat("input '", info.name,
                                                     "' is missing or has not ",
                                                     rt::typeText(info)));
    fromFloats(given->data.data(), info.elements(), info.dtype,
               session_->input(i).data);
    if (tap)
      if (absl::Status s = tap({given->name, given->data.data(), given->shape});
          !s.ok())
        return s;
  }
  if (!tap) {
    session_->setTap(nullptr);
    return session_->run();
  }
  session_->setTap([&](const rt::TapView &view) -> absl::Status {
    const rt::Operand &o = view.operand;
    if (o.dtype != DType::kF32)
      return absl::OkStatus();
    calibration::TensorView tensor{view.name,
                                   reinterpret_cast<const float *>(view.data),
                                   {o.dims, o.dims + o.rank}};
    if (!isDense(o)) {
      int64_t count = 1;
      for (int64_t d : tensor.shape)
        count *= d;
      scratch_.resize(count);
      gather(o, view.data, scratch_.data());
      tensor.data = scratch_.data();
    }
    return tap(tensor);
  });
  absl::Status status = session_->run();
  session_->setTap(nullptr);
  return status;
}

std::vector<float> SessionRunner::output(size_t i) {
  const rt::TensorInfo &info = blob_->outputs()[i];
  std::vector<float> values(info.elements());
  toFloats(session_->output(i).data, info.elements(), info.dtype,
           values.data());
  return values;
}

} // namespace npu
