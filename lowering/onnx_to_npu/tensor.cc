#include "lowering/onnx_to_npu/tensor.h"

#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace npu {

using onnx::TensorProto;

bool isFloatType(int type) {
  return type == TensorProto::FLOAT || type == TensorProto::FLOAT16 ||
         type == TensorProto::BFLOAT16 || type == TensorProto::DOUBLE;
}

int64_t elementSize(int type) {
  switch (type) {
  case TensorProto::BOOL:
  case TensorProto::INT8:
  case TensorProto::UINT8:
    return 1;
  case TensorProto::INT16:
  case TensorProto::UINT16:
  case TensorProto::FLOAT16:
  case TensorProto::BFLOAT16:
    return 2;
  case TensorProto::FLOAT:
  case TensorProto::INT32:
  case TensorProto::UINT32:
    return 4;
  case TensorProto::DOUBLE:
  case TensorProto::INT64:
  case TensorProto::UINT64:
    return 8;
  default:
    return 0;
  }
}

std::string typeName(int type) {
  return TensorProto::DataType_IsValid(type)
             ? TensorProto::DataType_Name(TensorProto::DataType(type))
             : absl::StrCat("type ", type);
}

int64_t elementCount(const Dims &dims) {
  int64_t count = 1;
  for (int64_t d : dims) {
    if (d < 0 || (d != 0 && count > (int64_t{1} << 40) / d))
      return -1;
    count *= d;
  }
  return count;
}

bool Tensor::isFloat() const { return isFloatType(type); }
int64_t Tensor::count() const { return isFloat() ? f.size() : i.size(); }

std::vector<int64_t> Tensor::integers() const {
  if (!isFloat())
    return i;
  std::vector<int64_t> out;
  for (float v : f) // saturating, so that a hostile value is refused later
    out.push_back(v >= 9e18f    ? INT64_MAX
                  : v <= -9e18f ? INT64_MIN
                  : v == v      ? int64_t(v)
                                : 0);
  return out;
}
std::vector<float> Tensor::floats() const {
  return isFloat() ? f : std::vector<float>(i.begin(), i.end());
}

namespace {

float halfToFloat(uint16_t h) {
  int exponent = h >> 10 & 31;
  float mantissa = float(h & 1023);
  float value = exponent == 31  ? (mantissa ? NAN : INFINITY)
                : exponent == 0 ? std::ldexp(mantissa, -24)
                                : std::ldexp(mantissa + 1024, exponent - 25);
  return h >> 15 ? -value : value;
}

float bfloatToFloat(uint16_t b) {
  uint32_t bits = uint32_t(b) << 16;
  float value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

template <typename T> T load(const char *bytes, int64_t n) {
  T value;
  std::memcpy(&value, bytes + n * sizeof(T), sizeof(T));
  return value;
}

void decode(const char *bytes, int64_t count, Tensor *out) {
  for (int64_t n = 0; n < count; ++n) {
    switch (out->type) {
    case TensorProto::FLOAT:
      out->f.push_back(load<float>(bytes, n));
      break;
    case TensorProto::DOUBLE:
      out->f.push_back(float(load<double>(bytes, n)));
      break;
    case TensorProto::FLOAT16:
      out->f.push_back(halfToFloat(load<uint16_t>(bytes, n)));
      break;
    case TensorProto::BFLOAT16:
      out->f.push_back(bfloatToFloat(load<uint16_t>(bytes, n)));
      break;
    case TensorProto::BOOL:
    case TensorProto::UINT8:
      out->i.push_back(load<uint8_t>(bytes, n));
      break;
    case TensorProto::INT8:
      out->i.push_back(load<int8_t>(bytes, n));
      break;
    case TensorProto::INT16:
      out->i.push_back(load<int16_t>(bytes, n));
      break;
    case TensorProto::UINT16:
      out->i.push_back(load<uint16_t>(bytes, n));
      break;
    case TensorProto::INT32:
      out->i.push_back(load<int32_t>(bytes, n));
      break;
    case TensorProto::UINT32:
      out->i.push_back(load<uint32_t>(bytes, n));
      break;
    default:
      out->i.push_back(load<int64_t>(bytes, n));
      break;
    }
  }
}

absl::Status error(const TensorProto &proto, absl::string_view why) {
  return absl::InvalidArgumentError(
      absl::StrCat("initialiser \"", proto.name(), "\": ", why));
}

absl::StatusOr<std::string> externalData(const TensorProto &proto,
                                         const std::string &folder,
                                         int64_t bytes) {
  std::string location;
  int64_t offset = 0, length = bytes;
  for (const auto &entry : proto.external_data()) {
    if (entry.key() == "location")
      location = entry.value();
    else if ((entry.key() == "offset" &&
              !absl::SimpleAtoi(entry.value(), &offset)) ||
             (entry.key() == "length" &&
              !absl::SimpleAtoi(entry.value(), &length)))
      return error(proto, absl::StrCat("external data ", entry.key(), " \"",
                                       entry.value(), "\" is no number"));
  }
  std::filesystem::path path(location);
  bool escapes = location.empty() || path.is_absolute();
  for (const auto &part : path)
    escapes |= part == "..";
  if (escapes)
    return error(proto, absl::StrCat("external data location \"", location,
                                     "\" must lie in the model's folder"));
  std::string full = (std::filesystem::path(folder) / path).string();
  std::ifstream in(full, std::ios::binary | std::ios::ate);
  if (!in)
    return error(proto, absl::StrCat("external data file ", full,
                                     " cannot be read; copy it beside the "
                                     "model"));
  int64_t size = in.tellg();
  if (length != bytes || offset < 0 || offset > size - bytes)
    return error(proto, absl::StrCat("needs ", bytes,
                                     " bytes, external data "
                                     "gives ",
                                     length, " at offset ", offset,
                                     " of a file of ", size));
  std::string data(bytes, '\0');
  in.seekg(offset);
  if (!in.read(data.data(), bytes))
    return error(proto, absl::StrCat("reading ", full, " failed"));
  return data;
}

// The repeated field that holds `type`; ONNX packs small types in int32_data.
int64_t typedCount(const TensorProto &proto) {
  switch (proto.data_type()) {
  case TensorProto::FLOAT:
    return proto.float_data_size();
  case TensorProto::DOUBLE:
    return proto.double_data_size();
  case TensorProto::INT64:
    return proto.int64_data_size();
  case TensorProto::UINT32:
  case TensorProto::UINT64:
    return proto.uint64_data_size();
  default:
    return proto.int32_data_size();
  }
}

void decodeTyped(const TensorProto &proto, int64_t count, Tensor *out) {
  for (int64_t n = 0; n < count; ++n) {
    switch (out->type) {
    case TensorProto::FLOAT:
      out->f.push_back(proto.float_data(n));
      break;
    case TensorProto::DOUBLE:
      out->f.push_back(float(proto.double_data(n)));
      break;
    case TensorProto::FLOAT16:
      out->f.push_back(halfToFloat(uint16_t(proto.int32_data(n))));
      break;
    case TensorProto::BFLOAT16:
      out->f.push_back(bfloatToFloat(uint16_t(proto.int32_data(n))));
      break;
    case TensorProto::INT64:
      out->i.push_back(proto.int64_data(n));
      break;
    case TensorProto::UINT32:
    case TensorProto::UINT64:
      out->i.push_back(int64_t(proto.uint64_data(n)));
      break;
    default:
      out->i.push_back(proto.int32_data(n));
      break;
    }
  }
}

} // namespace

absl::StatusOr<TensorPtr> readTensor(const TensorProto &proto,
                                     const std::string &folder, bool numbers) {
  auto tensor = std::make_shared<Tensor>();
  tensor->type = proto.data_type();
  tensor->dims.assign(proto.dims().begin(), proto.dims().end());
  int64_t size = elementSize(tensor->type);
  int64_t count = elementCount(tensor->dims);
  if (size == 0)
    return error(proto, absl::StrCat("element type ", typeName(tensor->type),
                                     " is not supported"));
  if (count < 0)
    return error(proto, absl::StrCat("impossible shape [",
                                     absl::StrJoin(tensor->dims, ","), "]"));
  if (proto.data_location() == TensorProto::EXTERNAL) {
    absl::StatusOr<std::string> data =
        externalData(proto, folder, count * size);
    if (!data.ok())
      return data.status();
    decode(data->data(), count, tensor.get());
  } else if (proto.has_raw_data()) {
    if (int64_t(proto.raw_data().size()) != count * size)
      return error(proto,
                   absl::StrCat("shape [", absl::StrJoin(tensor->dims, ","),
                                "] needs ", count * size,
                                " bytes of data, found ",
                                proto.raw_data().size()));
    decode(proto.raw_data().data(), count, tensor.get());
  } else {
    if (typedCount(proto) != count)
      return error(proto,
                   absl::StrCat("shape [", absl::StrJoin(tensor->dims, ","),
                                "] needs ", count, " values, found ",
                                typedCount(proto)));
    decodeTyped(proto, count, tensor.get());
  }
  for (size_t n = 0; numbers && n < tensor->f.size(); ++n)
    if (std::isnan(tensor->f[n]))
      return error(proto, absl::StrCat("value ", n, " is ", tensor->f[n],
                                       "; the training or export of this model "
                                       "went wrong"));
  return TensorPtr(tensor);
}

} // namespace npu
