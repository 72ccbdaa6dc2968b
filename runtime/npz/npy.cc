// The .npy format.
#include <cmath>
#include <cstring>
#include <optional>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "runtime/npz/npz.h"
#include "runtime/support/half.h"

namespace npu::rt {
namespace {

constexpr int64_t kMaxElements = int64_t(1) << 36;

struct Header {
  std::string descr;
  bool fortran = false;
  std::vector<int64_t> shape;
};

/// The text after `'key':` in the header's Python dictionary.
std::optional<absl::string_view> field(absl::string_view text,
                                       const char *key) {
  size_t at = text.find(absl::StrCat("'", key, "'"));
  if (at == absl::string_view::npos)
    return std::nullopt;
  text.remove_prefix(at + std::strlen(key) + 2);
  text = absl::StripLeadingAsciiWhitespace(text);
  if (!absl::ConsumePrefix(&text, ":"))
    return std::nullopt;
  return absl::StripLeadingAsciiWhitespace(text);
}

bool parseHeader(absl::string_view text, Header *header) {
  auto descr = field(text, "descr"), order = field(text, "fortran_order"),
       shape = field(text, "shape");
  if (!descr || !order || !shape || !absl::ConsumePrefix(&*descr, "'") ||
      !absl::ConsumePrefix(&*shape, "("))
    return false;
  size_t quote = descr->find('\''), close = shape->find(')');
  if (quote == absl::string_view::npos || close == absl::string_view::npos)
    return false;
  header->descr = std::string(descr->substr(0, quote));
  header->fortran = absl::StartsWith(*order, "True");
  for (absl::string_view part : absl::StrSplit(shape->substr(0, close), ',')) {
    part = absl::StripAsciiWhitespace(part);
    int64_t dim;
    if (part.empty())
      continue;
    if (!absl::SimpleAtoi(part, &dim) || dim < 0)
      return false;
    header->shape.push_back(dim);
  }
  return true;
}

struct Source {
  const char *descr;
  DType dtype;
};
// NumPy has no bf16: its libraries save it as raw bytes.
constexpr Source kSources[] = {
    {"|b1", DType::kBool}, {"|i1", DType::kI8},  {"|u1", DType::kU8},
    {"<i2", DType::kI16},  {"<i4", DType::kI32}, {"<i8", DType::kI64},
    {"<u2", DType::kU16},  {"<u4", DType::kU32}, {"<u8", DType::kU64},
    {"<f2", DType::kF16},  {"<f4", DType::kF32}, {"<f8", DType::kF64},
    {"|V2", DType::kBF16}, {"<V2", DType::kBF16}};

/// Column-major to row-major.
std::string rowMajor(const Array &array) {
  int64_t size = sizeOf(array.dtype), count = array.elements();
  std::string out(array.bytes.size(), '\0');
  std::vector<int64_t> index(array.shape.size(), 0);
  for (int64_t from = 0; from < count; ++from) {
    int64_t to = 0;
    for (size_t d = 0; d < index.size(); ++d)
      to = to * array.shape[d] + index[d];
    std::memcpy(&out[to * size], &array.bytes[from * size], size);
    for (size_t d = 0; d < index.size() && ++index[d] == array.shape[d]; ++d)
      index[d] = 0;
  }
  return out;
}

template <typename T> float at(const std::string &bytes, int64_t i) {
  T value;
  std::memcpy(&value, &bytes[i * sizeof(T)], sizeof(T));
  return static_cast<float>(value);
}

} // namespace

int64_t Array::elements() const {
  int64_t n = 1;
  for (int64_t d : shape)
    n *= d;
  return n;
}

std::vector<float> Array::floats() const {
  std::vector<float> out(elements());
  for (size_t i = 0; i < out.size(); ++i) {
    switch (dtype) {
    case DType::kI8:
      out[i] = at<int8_t>(bytes, i);
      break;
    case DType::kU8:
    case DType::kBool:
      out[i] = at<uint8_t>(bytes, i);
      break;
    case DType::kI16:
      out[i] = at<int16_t>(bytes, i);
      break;
    case DType::kI32:
      out[i] = at<int32_t>(bytes, i);
      break;
    case DType::kI64:
      out[i] = at<int64_t>(bytes, i);
      break;
    case DType::kF32:
      out[i] = at<float>(bytes, i);
      break;
    case DType::kU16:
      out[i] = at<uint16_t>(bytes, i);
      break;
    case DType::kU32:
      out[i] = at<uint32_t>(bytes, i);
      break;
    case DType::kU64:
      out[i] = at<uint64_t>(bytes, i);
      break;
    case DType::kF64:
      out[i] = at<double>(bytes, i);
      break;
    case DType::kF16:
    case DType::kBF16: {
      uint16_t half;
      std::memcpy(&half, &bytes[i * 2], 2);
      out[i] = dtype == DType::kF16 ? halfToFloat(half) : bfloatToFloat(half);
      break;
    }
    }
  }
  return out;
}

Array Array::row(int64_t i) const {
  Array out{name, dtype, shape, ""};
  int64_t size = bytes.size() / shape[0];
  out.shape[0] = 1;
  out.bytes = bytes.substr(i * size, size);
  return out;
}

absl::StatusOr<Array> parseNpy(const std::string &bytes,
                               const std::string &what) {
  auto fail = [&](const std::string &why) {
    return absl::InvalidArgumentError(absl::StrCat(what, ": ", why));
  };
  if (bytes.size() < 12 || bytes.compare(0, 6, "\x93NUMPY") != 0)
    return fail("not a NumPy .npy file");
  int version = static_cast<uint8_t>(bytes[6]);
  size_t start = version == 1 ? 10 : 12, length = 0;
  for (size_t i = start; i-- > 8;)
    length = length << 8 | static_cast<uint8_t>(bytes[i]);
  Header header;
  if (version < 1 || version > 3 || length > bytes.size() - start ||
      !parseHeader(absl::string_view(bytes).substr(start, length), &header))
    return fail("its header cannot be read");
  const Source *source = nullptr;
  for (const Source &s : kSources)
    if (header.descr == s.descr)
      source = &s;
  if (!source)
    return fail(absl::StrCat("element type '", header.descr,
                             "' is not supported; save it as float32"));
  Array array{"", source->dtype, header.shape, ""};
  int64_t count = 1;
  for (int64_t d : array.shape) {
    if (d != 0 && count > kMaxElements / d)
      return fail("its shape is impossibly large");
    count *= d;
  }
  start += length;
  int64_t size = sizeOf(source->dtype);
  if (bytes.size() - start != size_t(count * size))
    return fail(absl::StrCat(
        "has ", bytes.size() - start, " bytes of elements, its shape [",
        absl::StrJoin(array.shape, ","), "] needs ", count * size));
  array.bytes = bytes.substr(start);
  if (header.fortran && array.shape.size() > 1)
    array.bytes = rowMajor(array);
  return array;
}

std::string toNpy(const Array &array) {
  const char *descr = "<f4";
  for (const Source &s : kSources)
    if (s.dtype == array.dtype) {
      descr = s.descr;
      break;
    }
  std::string header = absl::StrCat("{'descr': '", descr,
                                    "', 'fortran_order': False, 'shape': (",
                                    absl::StrJoin(array.shape, ", "),
                                    array.shape.size() == 1 ? ",), }" : "), }");
  // The elements begin at a multiple of 64.
  header.append((64 - (10 + header.size() + 1) % 64) % 64, ' ');
  header += '\n';
  std::string out("\x93NUMPY\x01\x00", 8);
  out += static_cast<char>(header.size() & 255);
  out += static_cast<char>(header.size() >> 8);
  return out + header + array.bytes;
}

} // namespace npu::rt
