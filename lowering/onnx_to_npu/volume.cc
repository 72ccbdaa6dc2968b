// 3-D convolutions and pools, as 2-D ones whose batch holds the depth.
#include "lowering/onnx_to_npu/volume.h"

#include "absl/strings/str_cat.h"
#include "lowering/onnx_to_npu/compose.h"

using namespace mlir;

namespace npu {

namespace {

/// Height and width of a window of three dimensions.
Window plane(const Window &w) {
  auto last = [](const Dims &d) { return Dims{d[1], d[2]}; };
  return {last(w.kernel), last(w.strides), last(w.dilations),
          Dims{w.pads[1], w.pads[2], w.pads[4], w.pads[5]}, last(w.outputPads)};
}

/// [N,C,D,H,W] as [N,D,H,W,C].
Entry channelsLast(Compose &c, const Entry &x) {
  return c.transpose(x, {0, 2, 3, 4, 1});
}

/// For every output depth, the `kernel` input depths of its window as channels:
/// [N*D,H,W,C*kernel]. In every group the depths come first, then its
/// channels. `x` is [N,D,H,W,C] and padded.
Entry depthAsChannels(Compose &c, const Entry &x, int64_t kernel,
                      int64_t stride, int64_t dilation, int64_t groups,
                      int64_t depth) {
  Dims in = c.dims(x);
  if (in.empty())
    return {};
  std::vector<Entry> slices;
  for (int64_t k = 0; k < kernel; ++k) {
    Entry e = c.slice(x, 1, k * dilation, depth, stride);
    slices.push_back(
        c.reshape(e, {in[0] * depth, in[2] * in[3], groups, in[4] / groups}));
  }
  return c.reshape(c.concat(slices, 3),
                   {in[0] * depth, in[2], in[3], in[4] * kernel});
}

/// Binds [N*D,H,W,C] as output 0.
absl::Status bindVolume(Compose &c, const Node &node, Value out,
                        int64_t batch) {
  Dims dims(cast<RankedTensorType>(out.getType()).getShape());
  Entry e = c.reshape({nullptr, out, identity(4)},
                      {batch, dims[0] / batch, dims[1], dims[2], dims[3]});
  return c.bind(node, 0, c.transpose(e, {0, 4, 1, 2, 3}));
}

/// Order for filterValue of [O,I,KD,KH,KW] to [O,KH,KW,KD*I].
Dims volumeOrder(const Dims &d) {
  Dims order;
  for (int64_t o = 0; o < d[0]; ++o)
    for (int64_t y = 0; y < d[3]; ++y)
      for (int64_t x = 0; x < d[4]; ++x)
        for (int64_t z = 0; z < d[2]; ++z)
          for (int64_t i = 0; i < d[1]; ++i)
            order.push_back((((o * d[1] + i) * d[2] + z) * d[3] + y) * d[4] +
                            x);
  return order;
}

/// The same of a transposed one, [I,O/groups,KD,KH,KW]; depths backwards.
Dims transposedOrder(const Dims &d, int64_t groups) {
  Dims order;
  int64_t each = d[0] / groups;
  for (int64_t o = 0; o < d[1] * groups; ++o)
    for (int64_t y = 0; y < d[3]; ++y)
      for (int64_t x = 0; x < d[4]; ++x)
        for (int64_t z = d[2]; z-- > 0;)
          for (int64_t i = 0; i < each; ++i) {
            int64_t from = o / d[1] * each + i;
            order.push_back(
                (((from * d[1] + o % d[1]) * d[2] + z) * d[3] + y) * d[4] + x);
          }
  return order;
}

Value biasOf(Importer &im, const Node &node) {
  return node.has(2) ? im.value(node, 2) : Value();
}

/// `stride` - 1 zeros between depths of [N,D,H,W,C].
Entry spread(Compose &c, const Entry &x, int64_t stride) {
  Dims in = c.dims(x);
  if (stride == 1 || in.empty())
    return x;
  Entry flat = c.reshape(x, {in[0], in[1], 1, in[2] * in[3] * in[4]});
  flat = c.pad(flat, {0, 0, 0, 0}, {0, 0, stride - 1, 0}, 0);
  return c.slice(c.reshape(flat, {in[0], in[1] * stride, in[2], in[3], in[4]}),
                 1, 0, (in[1] - 1) * stride + 1);
}

} // namespace

absl::Status conv3d(Importer &im, const Node &node, const Filter &filter) {
  Compose c(im);
  Entry x = im.entry(node, 0);
  Dims in = im.shape(x), dims = filter.dims;
  if (in.size() != 5 || dims.size() != 5)
    return im.unsupported("input and filter differ in rank");
  NPU_ASSIGN(Window w,
             readWindow(node, in, Dims(dims.begin() + 2, dims.end())));
  int64_t groups = node.i("group", 1);
  if (groups < 1 || in[1] != groups * dims[1] || dims[0] % groups)
    return absl::InvalidArgumentError(
        absl::StrCat("filter [", dims[0], ",", dims[1], ",..] does not fit ",
                     in[1], " channels in ", groups, " groups"));
  int64_t extent = w.dilations[0] * (w.kernel[0] - 1) + 1;
  int64_t padded = in[2] + w.pads[0] + w.pads[3];
  if (padded < extent)
    return absl::InvalidArgumentError("the window is deeper than the input");
  Entry deep = c.pad(channelsLast(c, x), {0, w.pads[0], 0, 0, 0},
                     {0, w.pads[3], 0, 0, 0}, 0);
  Entry planes =
      depthAsChannels(c, deep, w.kernel[0], w.strides[0], w.dilations[0],
                      groups, (padded - extent) / w.strides[0] + 1);
  if (!c.status().ok())
    return c.status();
  NPU_ASSIGN(Value weights,
             filterValue(im, filter,
                         {dims[0], dims[3], dims[4], dims[2] * dims[1]},
                         volumeOrder(dims), 0, 0, true));
  NPU_ASSIGN(Value out,
             buildConv(im, im.materialize(planes, identity(4)), weights,
                       biasOf(im, node), plane(w), groups, false, {}));
  return bindVolume(c, node, out, in[0]);
}

absl::Status convTranspose3d(Importer &im, const Node &node,
                             const Filter &filter, const Window &w) {
  Compose c(im);
  Entry x = im.entry(node, 0);
  Dims in = im.shape(x), dims = filter.dims;
  int64_t groups = node.i("group", 1);
  if (groups < 1 || dims[0] % groups || in[1] != dims[0])
    return absl::InvalidArgumentError("groups do not divide the channels");
  // Along the depth a convolution with the filter backwards over what has
  // zeros between; in the plane as it is.
  int64_t reach = w.dilations[0] * (w.kernel[0] - 1);
  Entry deep = spread(c, channelsLast(c, x), w.strides[0]);
  deep = c.pad(deep, {0, reach - w.pads[0], 0, 0, 0},
               {0, reach - w.pads[3] + w.outputPads[0], 0, 0, 0}, 0);
  if (!c.status().ok())
    return c.status();
  int64_t depth = c.dims(deep)[1] - reach;
  if (depth < 1)
    return absl::InvalidArgumentError("the pads leave no output");
  Entry planes =
      depthAsChannels(c, deep, w.kernel[0], 1, w.dilations[0], groups, depth);
  if (!c.status().ok())
    return c.status();
  NPU_ASSIGN(Value weights,
             filterValue(im, filter,
                         {dims[1] * groups, dims[3], dims[4],
                          dims[2] * (dims[0] / groups)},
                         transposedOrder(dims, groups), 1, 0, true));
  Window flat = plane(w);
  NPU_ASSIGN(Value out,
             im.create<TransposeConv2DOp>(
                 Type(), im.materialize(planes, identity(4)), weights,
                 biasOf(im, node), Value(), ActivationAttr(), TypeAttr(),
                 TypeAttr(), ActivationAttr(), flat.strides, flat.pads,
                 flat.dilations, flat.outputPads, groups));
  return bindVolume(c, node, out, in[0]);
}

absl::Status pool3d(Importer &im, const Node &node, const PoolBuilder &build) {
  Compose c(im);
  Entry x = im.entry(node, 0);
  Dims in = im.shape(x);
  NPU_ASSIGN(Window w, readWindow(node, in, {}));
  Entry flat =
      c.reshape(channelsLast(c, x), {in[0] * in[2], in[3], in[4], in[1]});
  if (!c.status().ok())
    return c.status();
  NPU_ASSIGN(Value planes, build(im.materialize(flat, identity(4)), plane(w)));
  Dims dims(cast<RankedTensorType>(planes.getType()).getShape());
  Entry columns = c.reshape({nullptr, planes, identity(4)},
                            {in[0], in[2], dims[1] * dims[2], dims[3]});
  if (!c.status().ok())
    return c.status();
  Window depth{{w.kernel[0], 1},
               {w.strides[0], 1},
               {w.dilations[0], 1},
               {w.pads[0], 0, w.pads[3], 0},
               {0, 0}};
  NPU_ASSIGN(Value out, build(im.materialize(columns, identity(4)), depth));
  int64_t deep = cast<RankedTensorType>(out.getType()).getDimSize(1);
  Entry volume = c.reshape({nullptr, out, identity(4)},
                           {in[0], deep, dims[1], dims[2], dims[3]});
  return c.bind(node, 0, c.transpose(volume, {0, 4, 1, 2, 3}));
}

} // namespace npu
