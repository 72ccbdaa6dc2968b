//===- preprocess.h - From a picture to a network's input -------*- C++ -*-===//
//
// One description of how an input is prepared, one implementation. It is read
// from the configuration, stored in the blob, and used by calibration and by
// `npu run`: what the network sees at run time is what it was calibrated on.
//
//===----------------------------------------------------------------------===//
#ifndef RUNTIME_PREPROCESS_PREPROCESS_H
#define RUNTIME_PREPROCESS_PREPROCESS_H

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/preprocess/image.h"
#include "runtime/support/json_object.h"

namespace npu::rt {

enum class PixelFormat { kRgb, kBgr, kGray };
enum class TensorLayout { kNchw, kNhwc };

/// Preparation of one input: decode, resize, crop, convert to `format`, then
/// (value - mean) / std per channel, value in 0..255, and lay out.
struct Preprocess {
  std::string name; ///< the model's input; empty: its only one
  PixelFormat format = PixelFormat::kRgb;
  TensorLayout layout = TensorLayout::kNchw;
  std::vector<double> mean{0}, std{1}; ///< 1 value or one per channel
  Fit fit = Fit::kStretch;
  Filter filter = Filter::kBilinear;
  /// Size that the picture is resized to, {height, width}, before the crop;
  /// empty: the tensor's size. One number with `cover`: the shorter side.
  std::vector<int64_t> resize;
  std::vector<int64_t> crop; ///< {height, width} cut out of the middle
  int64_t fill = 114;        ///< grey level beside a letterboxed picture

  int channels() const { return format == PixelFormat::kGray ? 1 : 3; }
};

/// Reads the preprocessing keys out of an object that the caller finishes:
/// format, layout, mean, std, fit ("stretch", "cover", "letterbox"), filter
/// ("nearest", "bilinear", "bicubic"), resize, crop, fill.
Preprocess readPreprocess(JsonObject &object);

/// The same keys, all of them; readPreprocess() of it gives the same.
Json toJson(const Preprocess &preprocess);
absl::StatusOr<Preprocess> preprocessFromJson(const std::string &text);

/// Prepares a decoded picture for a tensor of `shape` (rank 4 or 3, in the
/// layout of `spec`; the batch dimension, if any, is 1). `out` receives
/// product(shape) floats.
absl::Status preprocessImage(const Image &image, const Preprocess &spec,
                             const std::vector<int64_t> &shape, float *out);

/// decodeImage() and preprocessImage().
absl::StatusOr<std::vector<float>>
preprocessFile(const std::string &path, const Preprocess &spec,
               const std::vector<int64_t> &shape);

} // namespace npu::rt

#endif // RUNTIME_PREPROCESS_PREPROCESS_H
