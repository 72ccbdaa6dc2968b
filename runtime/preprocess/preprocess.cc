#include "runtime/preprocess/preprocess.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace npu::rt {

namespace {

template <typename E> struct Name {
  const char *name;
  E value;
};
constexpr Name<PixelFormat> kFormats[] = {{"RGB", PixelFormat::kRgb},
                                          {"BGR", PixelFormat::kBgr},
                                          {"GRAY", PixelFormat::kGray}};
constexpr Name<TensorLayout> kLayouts[] = {{"NCHW", TensorLayout::kNchw},
                                           {"NHWC", TensorLayout::kNhwc}};
constexpr Name<Fit> kFits[] = {{"stretch", Fit::kStretch},
                               {"cover", Fit::kCover},
                               {"letterbox", Fit::kLetterbox}};
constexpr Name<Filter> kFilters[] = {{"nearest", Filter::kNearest},
                                     {"bilinear", Filter::kBilinear},
                                     {"bicubic", Filter::kBicubic}};

template <typename E, size_t N>
void readEnum(JsonObject &object, const char *key, const Name<E> (&names)[N],
              E *out) {
  std::string text;
  if (!object.has(key))
    return void(object.get(key));
  object.get(key, &text);
  std::string known;
  for (const Name<E> &n : names) {
    if (text == n.name) {
      *out = n.value;
      return;
    }
    absl::StrAppend(&known, known.empty() ? "" : ", ", n.name);
  }
  object.fail(absl::InvalidArgumentError(
      absl::StrCat(object.pathOf(key), ": \"", text, "\" is none of ", known)));
}

template <typename E, size_t N>
const char *nameOf(E value, const Name<E> (&names)[N]) {
  for (const Name<E> &n : names)
    if (n.value == value)
      return n.name;
  return "";
}

// {height, width} of a list of one or two positive integers.
void readSize(JsonObject &object, const char *key, std::vector<int64_t> *out) {
  object.get(key, out);
  bool good = out->size() <= 2;
  for (int64_t v : *out)
    good &= v > 0 && v <= 1 << 15;
  if (!good)
    object.fail(absl::InvalidArgumentError(
        absl::StrCat(object.pathOf(key),
                     ": expected [height, width], each 1 to 32768, "
                     "found [",
                     absl::StrJoin(*out, ", "), "]")));
}

void checkChannels(JsonObject &object, const char *key,
                   const std::vector<double> &values, int channels,
                   bool nonZero) {
  bool good = values.size() == 1 || int(values.size()) == channels;
  for (double v : values)
    good &= std::isfinite(v) && (!nonZero || v != 0);
  if (!good)
    object.fail(absl::InvalidArgumentError(
        absl::StrCat(object.pathOf(key), ": expected 1 or ", channels,
                     " finite", nonZero ? ", non-zero" : "",
                     " numbers, found [", absl::StrJoin(values, ", "), "]")));
}

} // namespace

Preprocess readPreprocess(JsonObject &object) {
  Preprocess p;
  readEnum(object, "format", kFormats, &p.format);
  readEnum(object, "layout", kLayouts, &p.layout);
  readEnum(object, "fit", kFits, &p.fit);
  readEnum(object, "filter", kFilters, &p.filter);
  object.get("mean", &p.mean);
  object.get("std", &p.std);
  checkChannels(object, "mean", p.mean, p.channels(), false);
  checkChannels(object, "std", p.std, p.channels(), true);
  readSize(object, "resize", &p.resize);
  readSize(object, "crop", &p.crop);
  object.get("fill", &p.fill);
  if (p.fill < 0 || p.fill > 255)
    object.fail(absl::InvalidArgumentError(absl::StrCat(
        object.pathOf("fill"), ": ", p.fill, " is outside 0..255")));
  return p;
}

Json toJson(const Preprocess &p) {
  Json json;
  json["name"] = p.name;
  json["format"] = nameOf(p.format, kFormats);
  json["layout"] = nameOf(p.layout, kLayouts);
  json["mean"] = p.mean;
  json["std"] = p.std;
  json["fit"] = nameOf(p.fit, kFits);
  json["filter"] = nameOf(p.filter, kFilters);
  json["resize"] = p.resize;
  json["crop"] = p.crop;
  json["fill"] = p.fill;
  return json;
}

absl::StatusOr<Preprocess> preprocessFromJson(const std::string &text) {
  absl::StatusOr<Json> json = parseJson(text, "preprocessing");
  if (!json.ok())
    return json.status();
  JsonObject object(*json, "$");
  Preprocess p = readPreprocess(object);
  object.get("name", &p.name);
  if (absl::Status status = object.finish(); !status.ok())
    return status;
  return p;
}

namespace {

struct Size {
  int64_t height, width;
};

// Size of the picture before the crop or fill to `target`.
Size scaledSize(const Image &image, const Preprocess &spec, Size target) {
  Size wanted = target;
  if (spec.resize.size() == 2)
    wanted = {spec.resize[0], spec.resize[1]};
  else if (spec.resize.size() == 1)
    wanted = {spec.resize[0], spec.resize[0]};
  if (spec.fit == Fit::kStretch)
    return wanted;
  double y = double(wanted.height) / image.height;
  double x = double(wanted.width) / image.width;
  double scale = spec.fit == Fit::kCover ? std::max(x, y) : std::min(x, y);
  return {std::max<int64_t>(1, std::llround(image.height * scale)),
          std::max<int64_t>(1, std::llround(image.width * scale))};
}

// The middle of `in` at the given size; `fill` where `in` is smaller.
Image centre(const Image &in, Size size, uint8_t fill) {
  if (in.height == size.height && in.width == size.width)
    return in;
  Image out{int(size.width), int(size.height), in.channels, {}};
  out.pixels.assign(size_t(size.width) * size.height * in.channels, fill);
  int64_t w = std::min<int64_t>(in.width, size.width);
  int64_t h = std::min<int64_t>(in.height, size.height);
  int64_t fromX = (in.width - w) / 2, fromY = (in.height - h) / 2;
  int64_t toX = (size.width - w) / 2, toY = (size.height - h) / 2;
  for (int64_t y = 0; y < h; ++y)
    std::memcpy(&out.pixels[((toY + y) * size.width + toX) * in.channels],
                &in.pixels[((fromY + y) * in.width + fromX) * in.channels],
                w * in.channels);
  return out;
}

// Interleaved bytes to normalised floats in the tensor's layout.
void normalise(const Image &image, const Preprocess &spec, float *out) {
  int channels = image.channels;
  int64_t count = int64_t{image.width} * image.height;
  for (int c = 0; c < channels; ++c) {
    int source = spec.format == PixelFormat::kBgr ? channels - 1 - c : c;
    float mean = spec.mean[spec.mean.size() == 1 ? 0 : c];
    float std = spec.std[spec.std.size() == 1 ? 0 : c];
    float table[256];
    for (int v = 0; v < 256; ++v)
      table[v] = (float(v) - mean) / std;
    const uint8_t *in = image.pixels.data() + source;
    bool planar = spec.layout == TensorLayout::kNchw;
    float *to = planar ? out + c * count : out + c;
    for (int64_t i = 0; i < count; ++i)
      to[planar ? i : i * channels] = table[in[i * channels]];
  }
}

} // namespace

absl::Status preprocessImage(const Image &image, const Preprocess &spec,
                             const std::vector<int64_t> &shape, float *out) {
  size_t rank = shape.size();
  auto error = [&](absl::string_view why) {
    return absl::InvalidArgumentError(
        absl::StrCat("a picture cannot fill the input ", spec.name,
                     " of shape [", absl::StrJoin(shape, ","), "]: ", why));
  };
  if ((rank != 4 && rank != 3) || (rank == 4 && shape[0] != 1))
    return error("expected [1,C,H,W], [1,H,W,C] or the same without batch");
  const int64_t *dims = shape.data() + (rank == 4);
  bool planar = spec.layout == TensorLayout::kNchw;
  int64_t channels = planar ? dims[0] : dims[2];
  Size target = planar ? Size{dims[1], dims[2]} : Size{dims[0], dims[1]};
  if (channels != spec.channels() || image.channels != spec.channels())
    return error(absl::StrCat("layout ", planar ? "NCHW" : "NHWC", " and ",
                              nameOf(spec.format, kFormats), " need ",
                              spec.channels(), " channels, found ", channels,
                              "; set input.layout and input.format"));
  if (!spec.crop.empty() &&
      (spec.crop.front() != target.height || spec.crop.back() != target.width))
    return error(absl::StrCat("the crop [", absl::StrJoin(spec.crop, ","),
                              "] is another size"));
  Size scaled = scaledSize(image, spec, target);
  absl::StatusOr<Image> resized =
      resizeImage(image, scaled.width, scaled.height, spec.filter);
  if (!resized.ok())
    return resized.status();
  bool mayDiffer = !spec.crop.empty() || spec.fit != Fit::kStretch;
  if (!mayDiffer &&
      (scaled.height != target.height || scaled.width != target.width))
    return error(absl::StrCat("it is resized to ", scaled.height, "x",
                              scaled.width,
                              "; set input.crop or drop input.resize"));
  normalise(centre(*resized, target, spec.fill), spec, out);
  return absl::OkStatus();
}

absl::StatusOr<std::vector<float>>
preprocessFile(const std::string &path, const Preprocess &spec,
               const std::vector<int64_t> &shape) {
  absl::StatusOr<Image> image = decodeImage(path, spec.channels());
  if (!image.ok())
    return image.status();
  int64_t count = 1;
  for (int64_t d : shape)
    count *= d;
  std::vector<float> out(count);
  if (absl::Status status = preprocessImage(*image, spec, shape, out.data());
      !status.ok())
    return absl::Status(status.code(),
                        absl::StrCat(path, ": ", status.message()));
  return out;
}

} // namespace npu::rt
