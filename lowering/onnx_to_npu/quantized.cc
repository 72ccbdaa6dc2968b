// Models that are quantised already: QDQ nodes become quantise and dequantise,
// QOperator nodes become operators on quantised types. uint8 is held as int8
// with the zero point moved by 128: the same integers, the same rounding.
#include "lowering/onnx_to_npu/quantized.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "lowering/onnx_to_npu/conv.h"
#include "lowering/onnx_to_npu/elementwise.h"

using namespace mlir;

namespace npu {

constexpr int kOnnxUint8 = onnx::TensorProto::UINT8;

//===----------------------------------------------------------------------===//
// QuantizeLinear, DequantizeLinear
//===----------------------------------------------------------------------===//

// The axis attribute, for scales of which there are several.
static absl::StatusOr<int64_t> quantAxis(const Node &node, const Dims &dims,
                                         const QuantInfo &info) {
  if (node.i("block_size", 0) != 0)
    return absl::UnimplementedError("blocked quantisation");
  if (info.perTensor())
    return -1;
  int64_t rank = dims.size(), axis = node.i("axis", 1);
  axis += axis < 0 ? rank : 0;
  if (axis < 0 || axis >= rank || dims[axis] != int64_t(info.scales.size()))
    return absl::InvalidArgumentError(absl::StrCat(
        info.scales.size(), " scales do not fit axis ", node.i("axis", 1)));
  return axis;
}

static TensorPtr quantizeConstant(const Tensor &x, const QuantInfo &info,
                                  int64_t axis) {
  auto out = std::make_shared<Tensor>();
  out->type = info.type;
  out->dims = x.dims;
  int64_t inner = 1;
  for (size_t i = axis + 1; axis >= 0 && i < x.dims.size(); ++i)
    inner *= x.dims[i];
  int64_t low = info.type == kOnnxUint8 ? 0 : -128, high = low + 255;
  for (size_t n = 0; n < x.f.size(); ++n) {
    size_t c = axis < 0 ? 0 : n / inner % info.scales.size();
    double q = std::nearbyint(x.f[n] / float(info.scales[c]));
    q = std::isnan(q) ? 0 : q;
    out->i.push_back(int64_t(std::clamp<double>(q + double(info.zeroPoints[c]),
                                                double(low), double(high))));
  }
  return out;
}

static absl::Status quantizeLinear(Importer &im, const Node &node) {
  Entry x = im.entry(node, 0);
  int wanted = int(node.i("output_dtype", kOnnxUint8));
  NPU_ASSIGN(QuantInfo info,
             readQuantInfo(im, node, 1, 2, {}, wanted ? wanted : kOnnxUint8));
  if (info.type == onnx::TensorProto::INT32)
    return im.unsupported("quantised to int32");
  NPU_ASSIGN(int64_t axis, quantAxis(node, im.shape(x), info));
  if (x.constant) {
    if (!x.constant->isFloat())
      return im.unsupported("of integers");
    im.bind(node, 0, quantizeConstant(*x.constant, info, axis));
    return absl::OkStatus();
  }
  if (axis >= 0)
    return im.unsupported("an activation with a scale per channel; quantise "
                          "it per tensor");
  if (!cast<RankedTensorType>(x.value.getType()).getElementType().isF32())
    return im.unsupported("of integers");
  NPU_ASSIGN(Type held, heldType(im, info, -1));
  NPU_ASSIGN(Value out, im.create<QuantizeOp>(held, x.value));
  im.bind(node, 0, out, x.perm);
  return absl::OkStatus();
}

static absl::Status dequantizeLinear(Importer &im, const Node &node) {
  Entry x = im.entry(node, 0);
  NPU_ASSIGN(QuantInfo info, readQuantInfo(im, node, 1, 2, x, kOnnxUint8));
  NPU_ASSIGN(int64_t axis, quantAxis(node, im.shape(x), info));
  Entry held;
  if (axis >= 0) {
    if (!x.constant)
      return im.unsupported("an activation with a scale per channel; quantise "
                            "it per tensor");
    // The integers as for one scale, then the type with all of them.
    QuantInfo first = info;
    first.scales.resize(1);
    first.zeroPoints.resize(1);
    NPU_ASSIGN(held, asHeld(im, x, first));
    NPU_ASSIGN(Type element, heldType(im, info, axis));
    held.value.setType(
        cast<RankedTensorType>(held.value.getType()).clone(element));
  } else {
    NPU_ASSIGN(held, asHeld(im, x, info));
  }
  NPU_ASSIGN(Value out,
             im.create<DequantizeOp>(im.builder.getF32Type(), held.value));
  im.bind(node, 0, out, held.perm);
  return absl::OkStatus();
}

//===----------------------------------------------------------------------===//
// Integer convolutions and matrix products
//===----------------------------------------------------------------------===//

// The i32 bias at input n, or null.
static absl::StatusOr<Value> integerBias(Importer &im, const Node &node,
                                         int n) {
  if (!node.has(n))
    return Value();
  TensorPtr bias = im.constant(node, n);
  if (!bias || bias->type != onnx::TensorProto::INT32)
    return absl::UnimplementedError("the bias must be a constant of int32");
  return im.constantValue(*bias);
}

static absl::Status convolution(Importer &im, const Node &node, const Entry &x,
                                const QuantInfo &xInfo, int w,
                                const QuantInfo &wInfo, Value bias,
                                Type element) {
  NPU_ASSIGN(Filter filter, heldFilter(im.entry(node, w), wInfo, 0));
  NPU_ASSIGN(Entry input, asHeld(im, x, xInfo));
  Dims in = im.shape(x);
  NPU_ASSIGN(Convolution c, readConvolution(im, node, in, filter, false));
  NPU_ASSIGN(Value out, buildConv(im, spatialInput(im, input), c.filter, bias,
                                  c.window, c.groups, c.depthwise, element));
  bindSpatial(im, node, out, in.size());
  return absl::OkStatus();
}

static absl::Status qLinearConv(Importer &im, const Node &node) {
  Entry x = im.entry(node, 0);
  NPU_ASSIGN(QuantInfo xi, readQuantInfo(im, node, 1, 2, x, kOnnxUint8));
  NPU_ASSIGN(QuantInfo wi,
             readQuantInfo(im, node, 4, 5, im.entry(node, 3), kOnnxUint8));
  NPU_ASSIGN(QuantInfo yi, readQuantInfo(im, node, 6, 7, {}, xi.type));
  NPU_ASSIGN(Value bias, integerBias(im, node, 8));
  NPU_ASSIGN(Type element, heldType(im, yi, -1));
  return convolution(im, node, x, xi, 3, wi, bias, element);
}

// Of ConvInteger and MatMulInteger, which know zero points only. A tensor that
// was quantised keeps its scale, so that nothing has to be cast.
static absl::StatusOr<QuantInfo> integerInfo(Importer &im, const Node &node,
                                             int tensor, int zero) {
  Entry e = im.entry(node, tensor);
  NPU_ASSIGN(QuantInfo info, readQuantInfo(im, node, -1, zero, e, kOnnxUint8));
  if (e.value && info.perTensor()) {
    auto held = dyn_cast<quant::UniformQuantizedType>(
        cast<RankedTensorType>(e.value.getType()).getElementType());
    if (held && held.getZeroPoint() == info.zeroPoints[0] - info.shift())
      info.scales = {held.getScale()};
  }
  return info;
}

static absl::Status convInteger(Importer &im, const Node &node) {
  NPU_ASSIGN(QuantInfo xi, integerInfo(im, node, 0, 2));
  NPU_ASSIGN(QuantInfo wi, integerInfo(im, node, 1, 3));
  return convolution(im, node, im.entry(node, 0), xi, 1, wi, Value(),
                     im.builder.getI32Type());
}

static absl::Status matrixProduct(Importer &im, const Node &node,
                                  const Entry &a, const QuantInfo &ai,
                                  const Entry &b, const QuantInfo &bi,
                                  Type element) {
  NPU_ASSIGN(Entry left, asHeld(im, a, ai));
  Dims dims = im.shape(a);
  Value lhs = im.materialize(left, identity(dims.size()));
  if (b.constant && b.constant->dims.size() == 2 && !dims.empty()) {
    NPU_ASSIGN(Filter filter, heldFilter(b, bi, 1));
    NPU_ASSIGN(Value weights, matrixFilter(im, filter, false, false));
    NPU_ASSIGN(Value out, fullyConnected(im, lhs, weights, Value(), element));
    im.bind(node, 0, out);
    return absl::OkStatus();
  }
  if (dims.size() < 2 || im.shape(b).size() < 2)
    return im.unsupported("a product with a vector");
  NPU_ASSIGN(Entry right, asHeld(im, b, bi));
  Value rhs = im.materialize(right, identity(im.shape(b).size()));
  NPU_ASSIGN(Value out, im.create<MatMulOp>(element, lhs, rhs, false));
  im.bind(node, 0, out);
  return absl::OkStatus();
}

static absl::Status qLinearMatMul(Importer &im, const Node &node) {
  Entry a = im.entry(node, 0), b = im.entry(node, 3);
  NPU_ASSIGN(QuantInfo ai, readQuantInfo(im, node, 1, 2, a, kOnnxUint8));
  NPU_ASSIGN(QuantInfo bi, readQuantInfo(im, node, 4, 5, b, kOnnxUint8));
  NPU_ASSIGN(QuantInfo yi, readQuantInfo(im, node, 6, 7, {}, ai.type));
  NPU_ASSIGN(Type element, heldType(im, yi, -1));
  return matrixProduct(im, node, a, ai, b, bi, element);
}

static absl::Status matMulInteger(Importer &im, const Node &node) {
  NPU_ASSIGN(QuantInfo ai, integerInfo(im, node, 0, 2));
  NPU_ASSIGN(QuantInfo bi, integerInfo(im, node, 1, 3));
  return matrixProduct(im, node, im.entry(node, 0), ai, im.entry(node, 1), bi,
                       im.builder.getI32Type());
}

//===----------------------------------------------------------------------===//
// com.microsoft
//===----------------------------------------------------------------------===//

template <typename Op>
static absl::Status qLinearBinary(Importer &im, const Node &node) {
  Entry a = im.entry(node, 0), b = im.entry(node, 3);
  NPU_ASSIGN(QuantInfo ai, readQuantInfo(im, node, 1, 2, a, kOnnxUint8));
  NPU_ASSIGN(QuantInfo bi, readQuantInfo(im, node, 4, 5, b, ai.type));
  NPU_ASSIGN(QuantInfo yi, readQuantInfo(im, node, 6, 7, {}, ai.type));
  NPU_ASSIGN(Type element, heldType(im, yi, -1));
  NPU_ASSIGN(Entry left, asHeld(im, a, ai));
  NPU_ASSIGN(Entry right, asHeld(im, b, bi));
  Operands o = broadcastOperands(im, left, right);
  NPU_ASSIGN(Value out,
             im.create<Op>(element, o.a, o.b, ActivationAttr(), TypeAttr()));
  im.bind(node, 0, out, o.perm);
  return absl::OkStatus();
}

// Input, its scale and zero point, the output's: most of the others.
struct OneInput {
  Entry x;
  Type element;
};
static absl::StatusOr<OneInput> oneInput(Importer &im, const Node &node) {
  Entry x = im.entry(node, 0);
  NPU_ASSIGN(QuantInfo xi, readQuantInfo(im, node, 1, 2, x, kOnnxUint8));
  NPU_ASSIGN(QuantInfo yi, readQuantInfo(im, node, 3, 4, {}, xi.type));
  OneInput out;
  NPU_ASSIGN(out.element, heldType(im, yi, -1));
  NPU_ASSIGN(out.x, asHeld(im, x, xi));
  return out;
}

template <typename Op, typename... Attrs>
static absl::Status qLinearUnary(Importer &im, const Node &node,
                                 Attrs... attrs) {
  NPU_ASSIGN(OneInput in, oneInput(im, node));
  NPU_ASSIGN(Value out, im.create<Op>(in.element, in.x.value, attrs...));
  im.bind(node, 0, out, in.x.perm);
  return absl::OkStatus();
}

static int64_t stored(const Dims &perm, int64_t axis) {
  return std::find(perm.begin(), perm.end(), axis) - perm.begin();
}

static absl::Status qLinearSoftmax(Importer &im, const Node &node) {
  NPU_ASSIGN(OneInput in, oneInput(im, node));
  int64_t rank = in.x.perm.size(), axis = node.i("axis", -1);
  axis += axis < 0 ? rank : 0;
  if (axis < 0 || axis >= rank)
    return absl::InvalidArgumentError("axis outside the rank");
  // Before opset 13 everything from the axis on is one.
  Dims dims = im.shape(in.x);
  if (node.i("opset", 13) < 13 &&
      elementCount(Dims(dims.begin() + axis + 1, dims.end())) != 1)
    return im.unsupported("an axis that is not the last, by opset 12");
  NPU_ASSIGN(Value out, im.create<SoftmaxOp>(in.element, in.x.value,
                                             stored(in.x.perm, axis)));
  im.bind(node, 0, out, in.x.perm);
  return absl::OkStatus();
}

static absl::Status qLinearGlobalAveragePool(Importer &im, const Node &node) {
  NPU_ASSIGN(OneInput in, oneInput(im, node));
  if (node.i("channels_last", 0))
    return im.unsupported("channels_last");
  Dims axes;
  for (size_t i = 2; i < in.x.perm.size(); ++i)
    axes.push_back(stored(in.x.perm, i));
  std::sort(axes.begin(), axes.end());
  NPU_ASSIGN(Value out,
             im.create<ReduceMeanOp>(in.element, in.x.value, axes, true));
  im.bind(node, 0, out, in.x.perm);
  return absl::OkStatus();
}

static absl::Status qLinearAveragePool(Importer &im, const Node &node) {
  NPU_ASSIGN(OneInput in, oneInput(im, node));
  if (node.i("channels_last", 0))
    return im.unsupported("channels_last");
  Dims dims = im.shape(in.x);
  if (dims.size() > 4)
    return im.unsupported("a 3-D pool of quantised values");
  NPU_ASSIGN(Window w, readWindow(node, dims, {}));
  bool include = node.i("count_include_pad", 0);
  if (include && node.i("ceil_mode", 0))
    return im.unsupported("count_include_pad with ceil_mode");
  NPU_ASSIGN(Value out, im.create<AvgPool2DOp>(
                            in.element, spatialInput(im, in.x), w.kernel,
                            w.strides, w.pads, w.dilations, include));
  bindSpatial(im, node, out, dims.size());
  return absl::OkStatus();
}

// y_scale, y_zero_point, then each input with its own.
static absl::Status qLinearConcat(Importer &im, const Node &node) {
  NPU_ASSIGN(QuantInfo yi,
             readQuantInfo(im, node, 0, 1, im.entry(node, 2), kOnnxUint8));
  NPU_ASSIGN(Type element, heldType(im, yi, -1));
  std::vector<Entry> parts;
  Dims perm;
  for (int n = 2; n + 1 < node.inputs(); n += 3) {
    Entry e = im.entry(node, n);
    NPU_ASSIGN(QuantInfo info,
               readQuantInfo(im, node, n + 1, n + 2, e, yi.type));
    NPU_ASSIGN(Entry held, asHeld(im, e, info));
    auto type = cast<RankedTensorType>(held.value.getType());
    if (type.getElementType() != element) {
      // By way of float: exactly ONNX's rounding.
      NPU_ASSIGN(Value real,
                 im.create<DequantizeOp>(im.builder.getF32Type(), held.value));
      NPU_ASSIGN(held.value, im.create<QuantizeOp>(element, real));
    }
    if (perm.empty() || isIdentity(perm))
      perm = held.perm;
    parts.push_back(held);
  }
  if (parts.empty())
    return absl::InvalidArgumentError("nothing to concatenate");
  int64_t rank = perm.size(), axis = node.i("axis", 0);
  axis += axis < 0 ? rank : 0;
  if (axis < 0 || axis >= rank)
    return absl::InvalidArgumentError("axis outside the rank");
  SmallVector<Value> inputs;
  for (const Entry &part : parts) {
    if (int64_t(part.perm.size()) != rank)
      return absl::InvalidArgumentError("inputs differ in rank");
    inputs.push_back(im.materialize(part, perm));
  }
  NPU_ASSIGN(Value out, im.create<ConcatOp>(element, ValueRange(inputs),
                                            stored(perm, axis)));
  im.bind(node, 0, out, perm);
  return absl::OkStatus();
}

static absl::Status dynamicQuantizeLinear(Importer &im, const Node &) {
  return im.unsupported("the scale is computed at run time; quantise the model "
                        "statically, or compile the float model with "
                        "calibration data");
}

void registerQuantizedOps(Registry &r) {
  r["QuantizeLinear"] = quantizeLinear;
  r["DequantizeLinear"] = dequantizeLinear;
  r["QLinearConv"] = OpImport(qLinearConv).on(Engine::Matrix).inputs(8);
  r["ConvInteger"] = OpImport(convInteger).on(Engine::Matrix).inputs(2);
  r["QLinearMatMul"] = OpImport(qLinearMatMul).on(Engine::Matrix).inputs(8);
  r["MatMulInteger"] = OpImport(matMulInteger).on(Engine::Matrix).inputs(2);
  r["DynamicQuantizeLinear"] = dynamicQuantizeLinear;
  // The contributed forms of the same operators, as ONNX Runtime writes them.
  r["com.microsoft:QuantizeLinear"] = quantizeLinear;
  r["com.microsoft:DequantizeLinear"] = dequantizeLinear;
  r["com.microsoft:QLinearAdd"] = qLinearBinary<AddOp>;
  r["com.microsoft:QLinearMul"] = qLinearBinary<MulOp>;
  r["com.microsoft:QLinearConcat"] = qLinearConcat;
  r["com.microsoft:QLinearSoftmax"] = qLinearSoftmax;
  r["com.microsoft:QLinearAveragePool"] = qLinearAveragePool;
  r["com.microsoft:QLinearGlobalAveragePool"] = qLinearGlobalAveragePool;
  r["com.microsoft:QLinearSigmoid"] = [](Importer &im, const Node &n) {
    return qLinearUnary<SigmoidOp>(im, n);
  };
  r["com.microsoft:QLinearLeakyRelu"] = [](Importer &im, const Node &n) {
    return qLinearUnary<LeakyReluOp>(im, n, APFloat(n.f("alpha", 0.01f)));
  };
}

} // namespace npu
