// Convolutions, matrix products, pools. Spatial operators are NHWC.
#include "lowering/onnx_to_npu/conv.h"

#include "absl/strings/str_cat.h"

using namespace mlir;

namespace npu {

const Dims kNhwc = {0, 2, 3, 1};
// [N,C,W] is computed as [N,1,W,C].
static Value to2d(Importer &im, const Entry &e) {
  Value v = im.materialize(e, {0, 2, 1});
  auto type = cast<RankedTensorType>(v.getType());
  Dims dims = {type.getDimSize(0), 1, type.getDimSize(1), type.getDimSize(2)};
  return ReshapeOp::create(im.builder, im.loc,
                           RankedTensorType::get(dims, type.getElementType()),
                           v, dims);
}

Value spatialInput(Importer &im, const Entry &e) {
  return im.shape(e).size() == 3 ? to2d(im, e) : im.materialize(e, kNhwc);
}

void bindSpatial(Importer &im, const Node &node, Value value, int64_t rank) {
  if (rank == 4)
    return im.bind(node, 0, value, kNhwc);
  auto type = cast<RankedTensorType>(value.getType());
  Dims dims = {type.getDimSize(0), type.getDimSize(2), type.getDimSize(3)};
  Value flat = ReshapeOp::create(
      im.builder, im.loc, RankedTensorType::get(dims, type.getElementType()),
      value, dims);
  im.bind(node, 0, flat, {0, 2, 1});
}

absl::StatusOr<Window> readWindow(const Node &node, const Dims &in,
                                  Dims kernel) {
  int64_t spatial = int64_t(in.size()) - 2;
  if (spatial < 1 || spatial > 2)
    return absl::UnimplementedError(
        absl::StrCat(spatial, "-D is not supported, 1-D and 2-D are"));
  Window w;
  w.kernel = kernel.empty() ? node.ints("kernel_shape") : kernel;
  w.strides = node.ints("strides", Dims(spatial, 1));
  w.dilations = node.ints("dilations", Dims(spatial, 1));
  w.pads = node.ints("pads", Dims(2 * spatial, 0));
  if (int64_t(w.kernel.size()) != spatial ||
      int64_t(w.strides.size()) != spatial ||
      int64_t(w.dilations.size()) != spatial ||
      int64_t(w.pads.size()) != 2 * spatial)
    return absl::InvalidArgumentError(
        "kernel_shape, strides, dilations or pads do not fit the input's rank");
  w.outputPads = node.ints("output_padding", Dims(spatial, 0));
  if (int64_t(w.outputPads.size()) != spatial)
    return absl::InvalidArgumentError("output_padding does not fit the rank");
  auto check = [](const char *what, const Dims &values,
                  int64_t least) -> absl::Status {
    for (int64_t v : values)
      if (v < least || v > INT32_MAX)
        return absl::InvalidArgumentError(
            absl::StrCat(what, " ", v, " is outside [", least, ", 2^31)"));
    return absl::OkStatus();
  };
  for (const absl::Status &s :
       {check("kernel size", w.kernel, 1), check("stride", w.strides, 1),
        check("dilation", w.dilations, 1),
        check("pad", w.pads, -int64_t(INT32_MAX)),
        check("output padding", w.outputPads, 0)})
    if (!s.ok())
      return s;
  std::string pad = node.s("auto_pad", "NOTSET");
  bool ceil = node.i("ceil_mode", 0) != 0;
  for (int64_t d = 0; d < spatial; ++d) {
    int64_t size = in[2 + d], extent = w.dilations[d] * (w.kernel[d] - 1) + 1;
    int64_t &low = w.pads[d], &high = w.pads[d + spatial];
    if (pad == "SAME_UPPER" || pad == "SAME_LOWER") {
      int64_t out = (size + w.strides[d] - 1) / w.strides[d];
      int64_t all =
          std::max<int64_t>(0, (out - 1) * w.strides[d] + extent - size);
      low = pad == "SAME_UPPER" ? all / 2 : all - all / 2;
      high = all - low;
    } else if (pad == "VALID") {
      low = high = 0;
    } else if (pad != "NOTSET") {
      return absl::InvalidArgumentError("unknown auto_pad " + pad);
    }
    if (low < 0 || high < 0)
      return absl::UnimplementedError("negative pads");
    if (ceil) { // one more output if its window starts inside
      int64_t rest = (size + low + high - extent) % w.strides[d];
      int64_t last = (size + low + high - extent) / w.strides[d] + 1;
      if (rest && last * w.strides[d] < size + low)
        high += w.strides[d] - rest;
    }
  }
  if (spatial == 1) {
    w.kernel.insert(w.kernel.begin(), 1);
    w.strides.insert(w.strides.begin(), 1);
    w.dilations.insert(w.dilations.begin(), 1);
    w.outputPads.insert(w.outputPads.begin(), 0);
    w.pads = {0, w.pads[0], 0, w.pads[1]};
  }
  return w;
}

// Weights [O,I,spatial...] seen as [O,I,KH,KW].
static Dims filterDims(const Dims &dims) {
  return dims.size() == 3 ? Dims{dims[0], dims[1], 1, dims[2]} : dims;
}

// [A,B,KH,KW] to [KH,KW,A*B] or [A,KH,KW,B].
template <typename T>
std::vector<T> reorderFilter(const std::vector<T> &in, const Dims &d,
                             bool depthwise) {
  std::vector<T> out(in.size());
  for (int64_t a = 0, n = 0; a < d[0]; ++a)
    for (int64_t b = 0; b < d[1]; ++b)
      for (int64_t y = 0; y < d[2]; ++y)
        for (int64_t x = 0; x < d[3]; ++x, ++n)
          out[depthwise ? (y * d[3] + x) * d[0] * d[1] + a * d[1] + b
                        : ((a * d[2] + y) * d[3] + x) * d[1] + b] = in[n];
  return out;
}
std::vector<int8_t> reorderFilter8(const std::vector<int8_t> &in,
                                   const Dims &dims, bool depthwise) {
  return reorderFilter(in, filterDims(dims), depthwise);
}

static Value optionalBias(Importer &im, const Node &node, int n) {
  return node.has(n) ? im.value(node, n) : Value();
}

absl::StatusOr<Value> buildConv(Importer &im, Value input, Value filter,
                                Value bias, const Window &w, int64_t groups,
                                bool depthwise, Type element) {
  if (depthwise)
    return im.create<DepthwiseConv2DOp>(
        element, input, filter, bias, Value(), ActivationAttr(), TypeAttr(),
        TypeAttr(), ActivationAttr(), w.strides, w.pads, w.dilations);
  return im.create<Conv2DOp>(
      element, input, filter, bias, Value(), ActivationAttr(), TypeAttr(),
      TypeAttr(), ActivationAttr(), w.strides, w.pads, w.dilations, groups);
}

static absl::Status conv(Importer &im, const Node &node) {
  Entry x = im.entry(node, 0);
  TensorPtr weights = im.constant(node, 1);
  if (!weights || !weights->isFloat())
    return im.unsupported("the filter must be a float constant");
  if (absl::Status s = finiteWeights(*weights); !s.ok())
    return s;
  Dims in = im.shape(x), dims = filterDims(weights->dims);
  if (dims.size() != 4 || in.size() != weights->dims.size())
    return im.unsupported(absl::StrCat("input of rank ", in.size(),
                                       " with a filter of rank ",
                                       weights->dims.size()));
  NPU_ASSIGN(Window w,
             readWindow(node, in,
                        Dims(weights->dims.begin() + 2, weights->dims.end())));
  int64_t groups = node.i("group", 1);
  if (groups < 1 || in[1] != groups * dims[1] || dims[0] % groups)
    return absl::InvalidArgumentError(
        absl::StrCat("filter [", dims[0], ",", dims[1], ",..] does not fit ",
                     in[1], " channels in ", groups, " groups"));
  bool depthwise = groups > 1 && groups == in[1] && dims[1] == 1;
  std::vector<float> values = reorderFilter(weights->f, dims, depthwise);
  Value filter =
      im.constantFloats(depthwise ? Dims{dims[2], dims[3], dims[0] * dims[1]}
                                  : Dims{dims[0], dims[2], dims[3], dims[1]},
                        values);
  NPU_ASSIGN(Value out,
             buildConv(im, spatialInput(im, x), filter,
                       optionalBias(im, node, 2), w, groups, depthwise, {}));
  bindSpatial(im, node, out, in.size());
  return absl::OkStatus();
}

static absl::Status convTranspose(Importer &im, const Node &node) {
  Entry x = im.entry(node, 0);
  TensorPtr weights = im.constant(node, 1);
  if (!weights || !weights->isFloat())
    return im.unsupported("the filter must be a float constant");
  if (absl::Status s = finiteWeights(*weights); !s.ok())
    return s;
  Dims in = im.shape(x), dims = filterDims(weights->dims);
  if (dims.size() != 4 || in.size() != weights->dims.size())
    return im.unsupported("input and filter differ in rank");
  NPU_ASSIGN(Window w,
             readWindow(node, in,
                        Dims(weights->dims.begin() + 2, weights->dims.end())));
  if (node.attr("output_shape") || node.s("auto_pad", "NOTSET") != "NOTSET")
    return im.unsupported("output_shape and auto_pad; export explicit pads");
  // [IC, OC/groups, KH, KW] to [OC, KH, KW, IC/groups].
  int64_t groups = node.i("group", 1), ic = dims[0], ocg = dims[1];
  if (groups < 1 || ic % groups)
    return absl::InvalidArgumentError("groups do not divide the channels");
  int64_t icg = ic / groups;
  std::vector<float> values(weights->f.size());
  for (int64_t i = 0, n = 0; i < ic; ++i)
    for (int64_t o = 0; o < ocg; ++o)
      for (int64_t y = 0; y < dims[2]; ++y)
        for (int64_t k = 0; k < dims[3]; ++k, ++n)
          values[(((i / icg * ocg + o) * dims[2] + y) * dims[3] + k) * icg +
                 i % icg] = weights->f[n];
  Value filter =
      im.constantFloats({ocg * groups, dims[2], dims[3], icg}, values);
  NPU_ASSIGN(Value out,
             im.create<TransposeConv2DOp>(
                 Type(), spatialInput(im, x), filter, optionalBias(im, node, 2),
                 Value(), ActivationAttr(), TypeAttr(), TypeAttr(),
                 ActivationAttr(), w.strides, w.pads, w.dilations, w.outputPads,
                 groups));
  bindSpatial(im, node, out, in.size());
  return absl::OkStatus();
}

// Filter [N,K] of a constant matrix [K,N] (or [N,K] when `transposed`).
static Value matrixFilter(Importer &im, const Tensor &b, bool transposed,
                          float scale) {
  int64_t rows = b.dims[0], columns = b.dims[1];
  std::vector<float> values(b.f.size());
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t c = 0; c < columns; ++c)
      values[transposed ? r * columns + c : c * rows + r] =
          scale * b.f[r * columns + c];
  return im.constantFloats(
      transposed ? Dims{rows, columns} : Dims{columns, rows}, values);
}

static absl::StatusOr<Value> fullyConnected(Importer &im, Value x, Value filter,
                                            Value bias) {
  return im.create<FullyConnectedOp>(Type(), x, filter, bias, Value(),
                                     ActivationAttr(), TypeAttr(), TypeAttr(),
                                     ActivationAttr());
}

static absl::Status gemm(Importer &im, const Node &node) {
  TensorPtr b = im.constant(node, 1);
  if (!b || b->dims.size() != 2 || !b->isFloat())
    return im.unsupported("B must be a constant float matrix");
  if (absl::Status s = finiteWeights(*b); !s.ok())
    return s;
  bool transA = node.i("transA", 0), transB = node.i("transB", 0);
  Entry a = im.entry(node, 0);
  if (im.shape(a).size() != 2)
    return absl::InvalidArgumentError("A is no matrix");
  Value x = im.materialize(a, transA ? Dims{1, 0} : Dims{0, 1});
  Value filter = matrixFilter(im, *b, transB, node.f("alpha", 1));
  int64_t n = transB ? b->dims[0] : b->dims[1];
  Value bias, after;
  if (node.has(2)) {
    TensorPtr c = im.constant(node, 2);
    float beta = node.f("beta", 1);
    if (c && c->isFloat() && (c->count() == n || c->count() == 1)) {
      std::vector<float> values(n);
      for (int64_t i = 0; i < n; ++i)
        values[i] = beta * c->f[c->count() == 1 ? 0 : i];
      bias = im.constantFloats({n}, values);
    } else if (beta == 1) {
      after = im.value(node, 2);
    } else {
      return im.unsupported("C that is no constant row, with beta");
    }
  }
  NPU_ASSIGN(Value out, fullyConnected(im, x, filter, bias));
  if (after) {
    NPU_ASSIGN(out, im.create<AddOp>(Type(), out, after, ActivationAttr(),
                                     TypeAttr()));
  }
  im.bind(node, 0, out);
  return absl::OkStatus();
}

static absl::Status matMul(Importer &im, const Node &node) {
  TensorPtr b = im.constant(node, 1);
  Dims a = im.shape(im.entry(node, 0));
  if (b && b->dims.size() == 2 && b->isFloat() && !a.empty()) {
    if (absl::Status s = finiteWeights(*b); !s.ok())
      return s;
    NPU_ASSIGN(Value out,
               fullyConnected(im, im.value(node, 0),
                              matrixFilter(im, *b, false, 1), Value()));
    im.bind(node, 0, out);
    return absl::OkStatus();
  }
  if (a.size() < 2 || im.shape(im.entry(node, 1)).size() < 2)
    return im.unsupported("a product with a vector");
  NPU_ASSIGN(Value out, im.create<MatMulOp>(Type(), im.value(node, 0),
                                            im.value(node, 1), false));
  im.bind(node, 0, out);
  return absl::OkStatus();
}

static absl::Status pool(Importer &im, const Node &node, bool max) {
  Entry x = im.entry(node, 0);
  Dims in = im.shape(x);
  NPU_ASSIGN(Window w, readWindow(node, in, {}));
  if (node.proto.output_size() > 1 && !node.proto.output(1).empty())
    return im.unsupported("the indices output");
  Value input = spatialInput(im, x), out;
  if (max) {
    NPU_ASSIGN(out, im.create<MaxPool2DOp>(Type(), input, w.kernel, w.strides,
                                           w.pads, w.dilations));
  } else {
    bool include = node.i("count_include_pad", 0);
    if (include && node.i("ceil_mode", 0))
      return im.unsupported("count_include_pad with ceil_mode");
    NPU_ASSIGN(out, im.create<AvgPool2DOp>(Type(), input, w.kernel, w.strides,
                                           w.pads, w.dilations, include));
  }
  bindSpatial(im, node, out, in.size());
  return absl::OkStatus();
}

void registerConvOps(Registry &r) {
  r["Conv"] = conv;
  r["ConvTranspose"] = convTranspose;
  r["Gemm"] = gemm;
  r["MatMul"] = matMul;
  r["MaxPool"] = [](Importer &im, const Node &n) { return pool(im, n, true); };
  r["AveragePool"] = [](Importer &im, const Node &n) {
    return pool(im, n, false);
  };
}

} // namespace npu
