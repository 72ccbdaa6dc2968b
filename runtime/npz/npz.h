//===- npz.h - NumPy's .npy and .npz files ----------------------*- C++ -*-===//
//
// Format: numpy.lib.format, versions 1.0 to 3.0; .npz is a ZIP archive of .npy
// members, stored or deflated (PKWARE APPNOTE 6.3, no encryption, no Zip64).
//
//===----------------------------------------------------------------------===//
#ifndef RUNTIME_NPZ_NPZ_H
#define RUNTIME_NPZ_NPZ_H

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/queue/command.h"

namespace npu::rt {

/// A dense row-major array.
struct Array {
  std::string name; ///< the member's name without .npy; "" from a .npy file
  DType dtype = DType::kF32;
  std::vector<int64_t> shape;
  std::string bytes;

  int64_t elements() const;
  /// The values as floats, whatever the type.
  std::vector<float> floats() const;
  /// Elements [i, i + 1) along the first dimension, shape with 1 there.
  Array row(int64_t i) const;
};

/// Little-endian arrays of the types in DType (bf16 as two raw bytes). Fortran
/// order is put right. Errors name the file,
/// the member and what is wrong.
absl::StatusOr<Array> parseNpy(const std::string &bytes,
                               const std::string &what);
/// All arrays of a .npz (`path` ends in .npz), or the one of a .npy.
absl::StatusOr<std::vector<Array>> readArrays(const std::string &path);

std::string toNpy(const Array &array);
/// Writes a .npz (stored), or a .npy with its single array, under a temporary
/// name first.
absl::Status writeArrays(const std::string &path,
                         const std::vector<Array> &arrays);

} // namespace npu::rt

#endif // RUNTIME_NPZ_NPZ_H
