// Convolutions, matrix products, pools. Spatial operators are NHWC.
#include "lowering/onnx_to_npu/conv.h"

#include "absl/strings/str_cat.h"
#include "lowering/onnx_to_npu/quantized.h"
#include "lowering/onnx_to_npu/volume.h"

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
  if (spatial < 1 || spatial > 3)
    return absl::UnimplementedError(
        absl::StrCat(spatial, "-D is not supported, 1-D to 3-D are"));
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
Dims filterDims(const Dims &dims) {
  return dims.size() == 3 ? Dims{dims[0], dims[1], 1, dims[2]} : dims;
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

absl::StatusOr<Convolution> readConvolution(Importer &im, const Node &node,
                                            const Dims &in,
                                            const Filter &filter,
                                            bool toFloat) {
  Dims dims = filterDims(filter.dims);
  if (dims.size() != 4 || in.size() != filter.dims.size())
    return absl::UnimplementedError(absl::StrCat("input of rank ", in.size(),
                                                 " with a filter of rank ",
                                                 filter.dims.size()));
  Convolution c;
  NPU_ASSIGN(
      c.window,
      readWindow(node, in, Dims(filter.dims.begin() + 2, filter.dims.end())));
  c.groups = node.i("group", 1);
  if (c.groups < 1 || in[1] != c.groups * dims[1] || dims[0] % c.groups)
    return absl::InvalidArgumentError(
        absl::StrCat("filter [", dims[0], ",", dims[1], ",..] does not fit ",
                     in[1], " channels in ", c.groups, " groups"));
  c.depthwise = c.groups > 1 && c.groups == in[1] && dims[1] == 1;
  NPU_ASSIGN(c.filter,
             filterValue(im, filter,
                         c.depthwise ? Dims{dims[2], dims[3], dims[0] * dims[1]}
                                     : Dims{dims[0], dims[2], dims[3], dims[1]},
                         windowOrder(dims, c.depthwise), 0, c.depthwise ? 2 : 0,
                         toFloat));
  return c;
}

static absl::Status finiteWeights(const Filter &filter) {
  return filter.floats ? finiteWeights(*filter.floats) : absl::OkStatus();
}

static absl::Status conv(Importer &im, const Node &node) {
  Entry x = im.entry(node, 0);
  std::optional<Filter> filter = filterOf(im.entry(node, 1));
  if (!filter)
    return im.unsupported("the filter must be a constant");
  if (absl::Status s = finiteWeights(*filter); !s.ok())
    return s;
  Dims in = im.shape(x);
  if (in.size() == 5)
    return conv3d(im, node, *filter);
  NPU_ASSIGN(Convolution c, readConvolution(im, node, in, *filter, true));
  NPU_ASSIGN(Value out, buildConv(im, spatialInput(im, x), c.filter,
                                  optionalBias(im, node, 2), c.window, c.groups,
                                  c.depthwise, {}));
  bindSpatial(im, node, out, in.size());
  return absl::OkStatus();
}

// Pads of a transposed convolution from the size of its output. As the
// operator's definition has it: what does not divide by two goes to the end
// with SAME_UPPER, else to the beginning.
static absl::Status padsFromOutput(const Node &node, const Dims &in,
                                   Window &w) {
  std::string pad = node.s("auto_pad", "NOTSET");
  Dims wanted = node.ints("output_shape");
  size_t spatial = in.size() - 2, skip = w.kernel.size() - spatial;
  if (wanted.size() == in.size())
    wanted.erase(wanted.begin(), wanted.begin() + 2);
  bool same = pad == "SAME_UPPER" || pad == "SAME_LOWER";
  if (wanted.empty() && !same)
    return absl::OkStatus();
  if (!wanted.empty() && wanted.size() != spatial)
    return absl::InvalidArgumentError("output_shape does not fit the rank");
  for (size_t d = 0; d < spatial; ++d) {
    size_t k = d + skip;
    int64_t extent = w.dilations[k] * (w.kernel[k] - 1) + 1;
    int64_t out = wanted.empty() ? in[2 + d] * w.strides[k] : wanted[d];
    int64_t all =
        (in[2 + d] - 1) * w.strides[k] + w.outputPads[k] + extent - out;
    if (out < 1 || all < -int64_t(INT32_MAX))
      return absl::InvalidArgumentError(
          absl::StrCat("output_shape holds ", out));
    if (all < 0) { // beyond what the windows reach
      w.outputPads[k] -= all;
      all = 0;
    }
    int64_t less = all / 2, more = all - less;
    w.pads[k] = pad == "SAME_UPPER" ? less : more;
    w.pads[k + w.kernel.size()] = pad == "SAME_UPPER" ? more : less;
  }
  return absl::OkStatus();
}

static absl::Status convTranspose(Importer &im, const Node &node) {
  Entry x = im.entry(node, 0);
  std::optional<Filter> weights = filterOf(im.entry(node, 1));
  if (!weights)
    return im.unsupported("the filter must be a constant");
  if (absl::Status s = finiteWeights(*weights); !s.ok())
    return s;
  Dims in = im.shape(x), dims = filterDims(weights->dims);
  if (in.size() != weights->dims.size())
    return im.unsupported("input and filter differ in rank");
  NPU_ASSIGN(Window w,
             readWindow(node, in,
                        Dims(weights->dims.begin() + 2, weights->dims.end())));
  if (absl::Status s = padsFromOutput(node, in, w); !s.ok())
    return s;
  if (in.size() == 5)
    return convTranspose3d(im, node, *weights, w);
  // [IC, OC/groups, KH, KW] to [OC, KH, KW, IC/groups].
  int64_t groups = node.i("group", 1), ic = dims[0], ocg = dims[1];
  if (groups < 1 || ic % groups)
    return absl::InvalidArgumentError("groups do not divide the channels");
  int64_t icg = ic / groups;
  Dims order(elementCount(dims));
  for (int64_t i = 0, n = 0; i < ic; ++i)
    for (int64_t o = 0; o < ocg; ++o)
      for (int64_t y = 0; y < dims[2]; ++y)
        for (int64_t k = 0; k < dims[3]; ++k, ++n)
          order[(((i / icg * ocg + o) * dims[2] + y) * dims[3] + k) * icg +
                i % icg] = n;
  NPU_ASSIGN(Value filter,
             filterValue(im, *weights, {ocg * groups, dims[2], dims[3], icg},
                         order, 1, 0, true));
  NPU_ASSIGN(Value out,
             im.create<TransposeConv2DOp>(
                 Type(), spatialInput(im, x), filter, optionalBias(im, node, 2),
                 Value(), ActivationAttr(), TypeAttr(), TypeAttr(),
                 ActivationAttr(), w.strides, w.pads, w.dilations, w.outputPads,
                 groups));
  bindSpatial(im, node, out, in.size());
  return absl::OkStatus();
}

absl::StatusOr<Value> matrixFilter(Importer &im, const Filter &b,
                                   bool transposed, bool toFloat) {
  int64_t rows = b.dims[0], columns = b.dims[1];
  return filterValue(
      im, b, transposed ? Dims{rows, columns} : Dims{columns, rows},
      matrixOrder(rows, columns, !transposed), transposed ? 0 : 1, 0, toFloat);
}

absl::StatusOr<Value> fullyConnected(Importer &im, Value x, Value filter,
                                     Value bias, Type element) {
  return im.create<FullyConnectedOp>(element, x, filter, bias, Value(),
                                     ActivationAttr(), TypeAttr(), TypeAttr(),
                                     ActivationAttr());
}

// C of a Gemm as the bias of a fully connected operator; null if it is none.
static Value gemmBias(Importer &im, const Node &node, int64_t n, float beta) {
  Entry e = im.entry(node, 2);
  if (TensorPtr c = e.constant) {
    if (!c->isFloat() || (c->count() != n && c->count() != 1))
      return {};
    std::vector<float> values(n);
    for (int64_t i = 0; i < n; ++i)
      values[i] = beta * c->f[c->count() == 1 ? 0 : i];
    return im.constantFloats({n}, values);
  }
  // A dequantised row.
  auto dequantize = e.value.getDefiningOp<DequantizeOp>();
  if (beta == 1 && dequantize && im.shape(e) == Dims{n} &&
      dequantize.getInput().getDefiningOp<ConstantOp>())
    return e.value;
  return {};
}

static absl::Status gemm(Importer &im, const Node &node) {
  std::optional<Filter> b = filterOf(im.entry(node, 1));
  if (!b || b->dims.size() != 2)
    return im.unsupported("B must be a constant matrix");
  if (absl::Status s = finiteWeights(*b); !s.ok())
    return s;
  bool transA = node.i("transA", 0), transB = node.i("transB", 0);
  Entry a = im.entry(node, 0);
  if (im.shape(a).size() != 2)
    return absl::InvalidArgumentError("A is no matrix");
  Value x = im.materialize(a, transA ? Dims{1, 0} : Dims{0, 1});
  if (float alpha = node.f("alpha", 1); alpha != 1) {
    if (!b->floats)
      return im.unsupported("alpha with a quantised B");
    auto scaled = std::make_shared<Tensor>(*b->floats);
    for (float &value : scaled->f)
      value *= alpha;
    b->floats = scaled;
  }
  NPU_ASSIGN(Value filter, matrixFilter(im, *b, transB, true));
  int64_t n = transB ? b->dims[0] : b->dims[1];
  Value bias, after;
  if (node.has(2)) {
    float beta = node.f("beta", 1);
    bias = gemmBias(im, node, n, beta);
    if (!bias && beta != 1)
      return im.unsupported("C that is no constant row, with beta");
    if (!bias)
      after = im.value(node, 2);
  }
  NPU_ASSIGN(Value out, fullyConnected(im, x, filter, bias, {}));
  if (after) {
    NPU_ASSIGN(out, im.create<AddOp>(Type(), out, after, ActivationAttr(),
                                     TypeAttr()));
  }
  im.bind(node, 0, out);
  return absl::OkStatus();
}

static absl::Status matMul(Importer &im, const Node &node) {
  std::optional<Filter> b = filterOf(im.entry(node, 1));
  Dims a = im.shape(im.entry(node, 0));
  if (b && b->dims.size() == 2 && !a.empty()) {
    if (absl::Status s = finiteWeights(*b); !s.ok())
      return s;
    NPU_ASSIGN(Value filter, matrixFilter(im, *b, false, true));
    NPU_ASSIGN(Value out,
               fullyConnected(im, im.value(node, 0), filter, Value(), {}));
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
  int bytes = max ? integers8(x) : 0;
  if (bytes) { // commands compare int8
    NPU_ASSIGN(x, asHeld(im, x, {{1}, {0}, bytes}));
  }
  bool include = !max && node.i("count_include_pad", 0);
  if (include && node.i("ceil_mode", 0))
    return im.unsupported("count_include_pad with ceil_mode");
  auto build = [&](Value input, const Window &w) -> absl::StatusOr<Value> {
    if (!max)
      return im.create<AvgPool2DOp>(Type(), input, w.kernel, w.strides, w.pads,
                                    w.dilations, include);
    return im.create<MaxPool2DOp>(Type(), input, w.kernel, w.strides, w.pads,
                                  w.dilations);
  };
  if (in.size() == 5 && bytes)
    return im.unsupported("a 3-D pool of integers");
  if (in.size() == 5)
    return pool3d(im, node, build);
  NPU_ASSIGN(Value out, build(spatialInput(im, x), w));
  if (bytes)
    out = asIntegers(im, out, bytes);
  bindSpatial(im, node, out, in.size());
  return absl::OkStatus();
}

void registerConvOps(Registry &r) {
  auto matrix = [](Handler handler) {
    return OpImport(handler)
        .on(Engine::Matrix)
        .inputs(2)
        .constant({1})
        .of(kFloat);
  };
  r["Conv"] = matrix(conv).ranks(3, 5);
  r["ConvTranspose"] = matrix(convTranspose).ranks(3, 5);
  r["Gemm"] = matrix(gemm).ranks(2, 2);
  r["MatMul"] = OpImport(matMul).on(Engine::Matrix).inputs(2).of(kFloat);
  r["MaxPool"] =
      OpImport([](Importer &im, const Node &n) { return pool(im, n, true); })
          .of(kFloat | kSmallIntegers | kQuantized)
          .ranks(3, 5);
  r["AveragePool"] =
      OpImport([](Importer &im, const Node &n) { return pool(im, n, false); })
          .of(kFloat)
          .ranks(3, 5);
}

} // namespace npu
