// .npz: a ZIP archive of .npy members.
#include <cstring>
#include <zlib.h>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "runtime/npz/npz.h"
#include "runtime/support/file.h"

namespace npu::rt {
namespace {

constexpr uint32_t kLocal = 0x04034b50, kCentral = 0x02014b50,
                   kEnd = 0x06054b50;

/// Little-endian numbers out of a string; 0 beyond its end.
uint32_t number(const std::string &s, size_t at, int bytes) {
  uint32_t n = 0;
  for (int i = bytes; i-- > 0;)
    n = n << 8 | (at + i < s.size() ? static_cast<uint8_t>(s[at + i]) : 0);
  return n;
}

void append(std::string *s, uint32_t n, int bytes) {
  for (int i = 0; i < bytes; ++i)
    *s += static_cast<char>(n >> 8 * i);
}

bool inflate(const std::string &in, std::string *out) {
  z_stream stream{};
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK)
    return false;
  stream.next_in = reinterpret_cast<Bytef *>(const_cast<char *>(in.data()));
  stream.avail_in = in.size();
  stream.next_out = reinterpret_cast<Bytef *>(&(*out)[0]);
  stream.avail_out = out->size();
  int status = ::inflate(&stream, Z_FINISH);
  bool whole = status == Z_STREAM_END && stream.avail_out == 0;
  inflateEnd(&stream);
  return whole;
}

struct Member {
  std::string name;
  uint32_t method, crc, packed, size, local;
};

absl::StatusOr<std::string> extract(const std::string &zip, const Member &m,
                                    const std::string &what) {
  auto fail = [&](const char *why) {
    return absl::InvalidArgumentError(absl::StrCat(what, ": ", why));
  };
  if (number(zip, m.local, 4) != kLocal)
    return fail("the archive is damaged");
  size_t data = size_t(m.local) + 30 + number(zip, m.local + 26, 2) +
                number(zip, m.local + 28, 2);
  if (data > zip.size() || m.packed > zip.size() - data)
    return fail("the archive is cut short");
  std::string packed = zip.substr(data, m.packed), out;
  // Deflate reaches 1032:1 at most; more is a lie.
  if (m.method == 8 && m.size / 1100 > m.packed + 1)
    return fail("the archive is damaged");
  if (m.method == 0 && m.packed == m.size) {
    out = std::move(packed);
  } else if (m.method == 8) {
    out.resize(m.size);
    if (!inflate(packed, &out))
      return fail("the compressed data is damaged");
  } else {
    return fail("its compression is not supported; use numpy.savez");
  }
  if (crc32(0, reinterpret_cast<const Bytef *>(out.data()), out.size()) !=
      m.crc)
    return fail("the checksum is wrong");
  return out;
}

absl::StatusOr<std::vector<Array>> readZip(const std::string &zip,
                                           const std::string &path) {
  auto fail = [&](const char *why) {
    return absl::InvalidArgumentError(absl::StrCat(path, ": ", why));
  };
  // The end record is last, before a comment of at most 64 KiB.
  size_t end = std::string::npos;
  for (size_t i = zip.size() < 22 ? 0 : zip.size() - 21; i-- > 0;) {
    if (number(zip, i, 4) == kEnd) {
      end = i;
      break;
    }
    if (zip.size() - i > 22 + 65535)
      break;
  }
  if (end == std::string::npos)
    return fail("not a NumPy .npz file, or it is cut short");
  size_t at = number(zip, end + 16, 4), count = number(zip, end + 10, 2);
  std::vector<Array> arrays;
  for (size_t i = 0; i < count; ++i) {
    if (at + 46 > zip.size() || number(zip, at, 4) != kCentral)
      return fail("the archive is damaged");
    size_t nameSize = number(zip, at + 28, 2);
    if (nameSize > zip.size() - at - 46)
      return fail("the archive is damaged");
    Member m{zip.substr(at + 46, nameSize), number(zip, at + 10, 2),
             number(zip, at + 16, 4),       number(zip, at + 20, 4),
             number(zip, at + 24, 4),       number(zip, at + 42, 4)};
    at += 46 + nameSize + number(zip, at + 30, 2) + number(zip, at + 32, 2);
    std::string what = absl::StrCat(path, ": ", m.name);
    absl::StatusOr<std::string> bytes = extract(zip, m, what);
    if (!bytes.ok())
      return bytes.status();
    absl::StatusOr<Array> array = parseNpy(*bytes, what);
    if (!array.ok())
      return array.status();
    array->name = m.name;
    if (absl::EndsWith(array->name, ".npy"))
      array->name.resize(array->name.size() - 4);
    arrays.push_back(*std::move(array));
  }
  return arrays;
}

std::string toZip(const std::vector<Array> &arrays) {
  std::string zip, central;
  for (const Array &array : arrays) {
    std::string data = toNpy(array), name = array.name + ".npy";
    uint32_t crc =
        crc32(0, reinterpret_cast<const Bytef *>(data.data()), data.size());
    // Version, flags, method, time and date (1980-01-01), checksum, sizes.
    std::string common;
    for (uint32_t field : {20, 0, 0, 0, 33})
      append(&common, field, 2);
    for (uint32_t field : {crc, uint32_t(data.size()), uint32_t(data.size())})
      append(&common, field, 4);
    append(&common, name.size(), 2);
    append(&common, 0, 2);
    append(&central, kCentral, 4);
    append(&central, 20, 2);
    central += common;
    central.append(6, '\0');
    append(&central, 0, 4);
    append(&central, zip.size(), 4);
    central += name;
    append(&zip, kLocal, 4);
    zip += common + name + data;
  }
  uint32_t start = zip.size();
  zip += central;
  append(&zip, kEnd, 4);
  append(&zip, 0, 4);
  append(&zip, arrays.size(), 2);
  append(&zip, arrays.size(), 2);
  append(&zip, central.size(), 4);
  append(&zip, start, 4);
  append(&zip, 0, 2);
  return zip;
}

} // namespace

absl::StatusOr<std::vector<Array>> readArrays(const std::string &path) {
  absl::StatusOr<std::string> bytes = readFile(path);
  if (!bytes.ok())
    return bytes.status();
  if (absl::EndsWithIgnoreCase(path, ".npz"))
    return readZip(*bytes, path);
  absl::StatusOr<Array> array = parseNpy(*bytes, path);
  if (!array.ok())
    return array.status();
  return std::vector<Array>{*std::move(array)};
}

absl::Status writeArrays(const std::string &path,
                         const std::vector<Array> &arrays) {
  if (absl::EndsWithIgnoreCase(path, ".npz")) {
    uint64_t total = 0;
    for (const Array &array : arrays)
      total += array.bytes.size() + 256;
    if (total > UINT32_MAX)
      return absl::InvalidArgumentError(
          absl::StrCat(path, ": more than 4 GiB do not fit a .npz"));
    return writeFileAtomically(path, toZip(arrays));
  }
  if (!absl::EndsWithIgnoreCase(path, ".npy") || arrays.size() != 1)
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": give a name that ends in .npz",
                     arrays.size() == 1 ? " or .npy" : ""));
  return writeFileAtomically(path, toNpy(arrays[0]));
}

} // namespace npu::rt
