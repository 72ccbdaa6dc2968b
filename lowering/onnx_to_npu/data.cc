// Data movement, shapes, resize, constants.
#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "lowering/onnx_to_npu/compose.h"
#include "lowering/onnx_to_npu/conv.h"

using namespace mlir;

namespace npu {

static int64_t stored(const Dims &perm, int64_t axis) {
  return std::find(perm.begin(), perm.end(), axis) - perm.begin();
}

static Entry asValue(Importer &im, Entry e) {
  if (!e.constant)
    return e;
  return {nullptr, im.constantValue(*e.constant),
          identity(e.constant->dims.size())};
}

static absl::Status reshapeTo(Importer &im, const Node &node, Dims dims) {
  Value v = im.value(node, 0);
  auto type = cast<RankedTensorType>(v.getType());
  if (elementCount(dims) != type.getNumElements())
    return absl::InvalidArgumentError("the new shape has another number of "
                                      "elements");
  im.bind(node, 0,
          ReshapeOp::create(im.builder, im.loc,
                            RankedTensorType::get(dims, type.getElementType()),
                            v, dims));
  return absl::OkStatus();
}

static absl::Status reshape(Importer &im, const Node &node) {
  std::optional<Dims> dims = im.integers(node, 1);
  if (!dims)
    return im.unsupported("the shape must be constant after folding");
  Dims in = im.shape(im.entry(node, 0));
  int64_t known = 1, unknown = -1;
  for (size_t i = 0; i < dims->size(); ++i) {
    int64_t &d = (*dims)[i];
    if (d == 0 && !node.i("allowzero", 0) && i < in.size())
      d = in[i];
    if (d == -1 && unknown < 0)
      unknown = i;
    else if (d <= 0)
      return absl::InvalidArgumentError(absl::StrCat("dimension ", d));
    else if ((known = elementCount({known, d})) < 0)
      return absl::InvalidArgumentError("the new shape is too large");
  }
  if (unknown >= 0)
    (*dims)[unknown] = elementCount(in) / known;
  return reshapeTo(im, node, *dims);
}

static absl::Status flatten(Importer &im, const Node &node) {
  Dims in = im.shape(im.entry(node, 0));
  int64_t axis = node.i("axis", 1);
  axis += axis < 0 ? in.size() : 0;
  if (axis < 0 || axis > int64_t(in.size()))
    return absl::InvalidArgumentError("axis outside the rank");
  return reshapeTo(im, node,
                   {elementCount(Dims(in.begin(), in.begin() + axis)),
                    elementCount(Dims(in.begin() + axis, in.end()))});
}

static absl::Status squeeze(Importer &im, const Node &node, bool insert) {
  Dims in = im.shape(im.entry(node, 0)), axes = node.ints("axes"), out;
  if (node.opset >= 13 && node.has(1)) {
    std::optional<Dims> given = im.integers(node, 1);
    if (!given)
      return im.unsupported("axes must be constant");
    axes = *given;
  }
  int64_t rank = in.size() + (insert ? axes.size() : 0);
  for (int64_t &a : axes) {
    NPU_ASSIGN(a, axisOf(a, rank));
  }
  std::sort(axes.begin(), axes.end());
  if (std::adjacent_find(axes.begin(), axes.end()) != axes.end())
    return absl::InvalidArgumentError("an axis is given twice");
  if (insert) {
    for (int64_t i = 0, n = 0; i < rank; ++i)
      out.push_back(std::count(axes.begin(), axes.end(), i) ? 1 : in[n++]);
  } else {
    for (int64_t i = 0; i < rank; ++i)
      if (axes.empty() ? in[i] != 1 : !std::count(axes.begin(), axes.end(), i))
        out.push_back(in[i]);
  }
  return reshapeTo(im, node, out);
}

// Only the bookkeeping changes; data moves where an operator needs it.
static absl::Status transpose(Importer &im, const Node &node) {
  Entry e = asValue(im, im.entry(node, 0));
  Dims perm = node.ints("perm");
  int64_t rank = e.perm.size();
  if (perm.empty())
    for (int64_t i = rank - 1; i >= 0; --i)
      perm.push_back(i);
  Dims sorted = perm, out(rank);
  std::sort(sorted.begin(), sorted.end());
  if (sorted != identity(rank))
    return absl::InvalidArgumentError("perm is no permutation");
  for (int64_t i = 0; i < rank; ++i)
    out[i] = stored(perm, e.perm[i]);
  im.bind(node.proto.output(0), {nullptr, e.value, out});
  return absl::OkStatus();
}

static absl::Status concat(Importer &im, const Node &node) {
  Entry first = im.entry(node, 0);
  int64_t rank = im.shape(first).size();
  NPU_ASSIGN(int64_t axis, axisOf(node.i("axis", 1), rank));
  Dims perm = identity(rank);
  for (int n = 0; n < node.inputs(); ++n) {
    Entry e = im.entry(node, n);
    if (int64_t(im.shape(e).size()) != rank)
      return absl::InvalidArgumentError("inputs differ in rank");
    if (e.value && !isIdentity(e.perm))
      perm = e.perm;
  }
  SmallVector<Value> inputs;
  for (int n = 0; n < node.inputs(); ++n)
    inputs.push_back(im.value(node, n, perm));
  NPU_ASSIGN(Value out, im.create<ConcatOp>(Type(), ValueRange(inputs),
                                            stored(perm, axis)));
  im.bind(node, 0, out, perm);
  return absl::OkStatus();
}

static absl::StatusOr<Value> sliceOf(Importer &im, const Entry &e,
                                     const Dims &starts, const Dims &sizes,
                                     const Dims &strides) {
  Dims a, b, c;
  for (int64_t p : e.perm) {
    a.push_back(starts[p]);
    b.push_back(sizes[p]);
    c.push_back(strides[p]);
  }
  return im.create<SliceOp>(Type(), e.value, a, b, c);
}

static absl::Status slice(Importer &im, const Node &node) {
  Entry e = asValue(im, im.entry(node, 0));
  Dims in = im.shape(e), sizes = in, starts(in.size(), 0),
       strides(in.size(), 1);
  Dims from = node.ints("starts"), to = node.ints("ends"),
       axes = node.ints("axes"), steps;
  if (node.opset >= 10) {
    Dims *parts[] = {nullptr, &from, &to, &axes, &steps};
    for (int n = 1; n <= 4; ++n)
      if (node.has(n)) {
        std::optional<Dims> given = im.integers(node, n);
        if (!given)
          return im.unsupported("starts, ends, axes and steps must be "
                                "constant");
        *parts[n] = *given;
      }
  }
  if (axes.empty())
    axes = identity(from.size());
  if (steps.empty())
    steps = Dims(from.size(), 1);
  if (from.size() != to.size() || from.size() != axes.size() ||
      from.size() != steps.size())
    return absl::InvalidArgumentError("starts, ends, axes differ in length");
  for (size_t n = 0; n < axes.size(); ++n) {
    NPU_ASSIGN(int64_t axis, axisOf(axes[n], in.size()));
    int64_t d = in[axis], a = from[n], b = to[n];
    int64_t step = std::clamp<int64_t>(steps[n], -INT32_MAX, INT32_MAX);
    if (step == 0)
      return absl::InvalidArgumentError("step 0");
    a += a < 0 ? d : 0;
    b += b < 0 && b >= -d ? d : 0;
    a = std::clamp<int64_t>(a, 0, step > 0 ? d : d - 1);
    b = std::clamp<int64_t>(b, step > 0 ? 0 : -1, d);
    int64_t size =
        step > 0 ? (b - a + step - 1) / step : (a - b - step - 1) / -step;
    if (size <= 0)
      return im.unsupported("an empty result");
    starts[axis] = a;
    sizes[axis] = size;
    strides[axis] = step;
  }
  NPU_ASSIGN(Value out, sliceOf(im, e, starts, sizes, strides));
  im.bind(node, 0, out, e.perm);
  return absl::OkStatus();
}

static absl::Status split(Importer &im, const Node &node) {
  Entry e = asValue(im, im.entry(node, 0));
  Dims in = im.shape(e);
  NPU_ASSIGN(int64_t axis, axisOf(node.i("axis", 0), in.size()));
  Dims sizes = node.ints("split");
  int64_t count = node.proto.output_size();
  if (node.opset >= 13 && node.has(1)) {
    std::optional<Dims> given = im.integers(node, 1);
    if (!given)
      return im.unsupported("split must be constant");
    sizes = *given;
  }
  if (sizes.empty()) {
    int64_t each = (in[axis] + count - 1) / count;
    for (int64_t n = 0, left = in[axis]; n < count; ++n, left -= each)
      sizes.push_back(std::min(each, left));
  }
  Dims starts(in.size(), 0), strides(in.size(), 1), size = in;
  if (int64_t(sizes.size()) != count)
    return absl::InvalidArgumentError("split sizes and outputs differ");
  for (int64_t n = 0; n < count; ++n) {
    if (sizes[n] < 1 || sizes[n] > in[axis] - starts[axis])
      return absl::InvalidArgumentError(
          absl::StrCat("part ", n, " of size ", sizes[n],
                       " leaves a dimension of ", in[axis]));
    size[axis] = sizes[n];
    NPU_ASSIGN(Value out, sliceOf(im, e, starts, size, strides));
    im.bind(node, n, out, e.perm);
    starts[axis] += sizes[n];
  }
  return absl::OkStatus();
}

static absl::Status pad(Importer &im, const Node &node) {
  Entry e = asValue(im, im.entry(node, 0));
  int64_t rank = im.shape(e).size();
  Dims pads = node.ints("pads"), axes = identity(rank);
  float value = node.f("value", 0);
  if (node.opset >= 11) {
    std::optional<Dims> given = im.integers(node, 1);
    if (!given)
      return im.unsupported("pads must be constant");
    pads = *given;
    if (node.has(2)) {
      TensorPtr t = im.constant(node, 2);
      if (!t || t->count() != 1)
        return im.unsupported("the value must be a constant scalar");
      value = float(t->at(0));
    }
    if (node.has(3)) {
      std::optional<Dims> which = im.integers(node, 3);
      if (!which)
        return im.unsupported("axes must be constant");
      axes = *which;
    }
  }
  if (pads.size() != 2 * axes.size())
    return absl::InvalidArgumentError("pads and rank do not fit");
  Dims low(rank, 0), high(rank, 0);
  for (size_t n = 0; n < axes.size(); ++n) {
    NPU_ASSIGN(int64_t axis, axisOf(axes[n], rank));
    for (int64_t p : {pads[n], pads[n + axes.size()]})
      if (p < -INT32_MAX || p > INT32_MAX)
        return absl::InvalidArgumentError(absl::StrCat("pad ", p));
    low[stored(e.perm, axis)] = pads[n];
    high[stored(e.perm, axis)] = pads[n + axes.size()];
  }
  // Negative pads cut.
  Dims starts(rank, 0), strides(rank, 1),
      sizes(cast<RankedTensorType>(e.value.getType()).getShape());
  bool cut = false;
  for (int64_t i = 0; i < rank; ++i) {
    starts[i] = std::max<int64_t>(0, -low[i]);
    sizes[i] += std::min<int64_t>(0, low[i]) + std::min<int64_t>(0, high[i]);
    if (sizes[i] < 1)
      return absl::InvalidArgumentError("negative pads leave nothing");
    cut |= low[i] < 0 || high[i] < 0;
    low[i] = std::max<int64_t>(0, low[i]);
    high[i] = std::max<int64_t>(0, high[i]);
  }
  if (cut) {
    NPU_ASSIGN(e.value,
               im.create<SliceOp>(Type(), e.value, starts, sizes, strides));
  }
  std::string mode = node.s("mode", "constant");
  PadMode kind = mode == "reflect" ? PadMode::Reflect
                 : mode == "edge"  ? PadMode::Edge
                                   : PadMode::Constant;
  if (mode != "constant" && mode != "reflect" && mode != "edge")
    return im.unsupported("mode " + mode);
  NPU_ASSIGN(Value out, im.create<PadOp>(Type(), e.value, low, high, kind,
                                         APFloat(value)));
  im.bind(node, 0, out, e.perm);
  return absl::OkStatus();
}

static absl::Status expand(Importer &im, const Node &node) {
  std::optional<Dims> dims = im.integers(node, 1);
  if (!dims)
    return im.unsupported("the shape must be constant after folding");
  Dims in = im.shape(im.entry(node, 0)), out = *dims;
  if (in.size() > out.size())
    out.insert(out.begin(), in.size() - out.size(), 1);
  for (size_t i = 0; i < in.size(); ++i) {
    int64_t &d = out[out.size() - in.size() + i];
    d = std::max(d, in[i]);
  }
  if (elementCount(out) < 1)
    return absl::InvalidArgumentError("impossible shape");
  NPU_ASSIGN(Value v, im.create<BroadcastToOp>(Type(), im.value(node, 0), out));
  im.bind(node, 0, v);
  return absl::OkStatus();
}

static absl::Status gather(Importer &im, const Node &node) {
  Entry e = asValue(im, im.entry(node, 0));
  TensorPtr t = im.constant(node, 1);
  if (!t)
    return im.unsupported("indices must be constant");
  Dims in = im.shape(e), indices = t->integers();
  NPU_ASSIGN(int64_t axis, axisOf(node.i("axis", 0), in.size()));
  for (int64_t &i : indices) {
    if (i < -in[axis] || i >= in[axis])
      return absl::InvalidArgumentError(
          absl::StrCat("index ", i, " is outside a dimension of ", in[axis]));
    i += i < 0 ? in[axis] : 0;
  }
  NPU_ASSIGN(Value out, im.create<GatherOp>(Type(), e.value, indices,
                                            stored(e.perm, axis)));
  if (t->dims.size() == 1) {
    im.bind(node, 0, out, e.perm);
    return absl::OkStatus();
  }
  Value v = im.materialize({nullptr, out, e.perm}, identity(in.size()));
  Dims dims(in.begin(), in.begin() + axis);
  dims.insert(dims.end(), t->dims.begin(), t->dims.end());
  dims.insert(dims.end(), in.begin() + axis + 1, in.end());
  auto type = cast<RankedTensorType>(v.getType());
  im.bind(node, 0,
          ReshapeOp::create(im.builder, im.loc,
                            RankedTensorType::get(dims, type.getElementType()),
                            v, dims));
  return absl::OkStatus();
}

static absl::Status cast_(Importer &im, const Node &node) {
  if (node.i("to", 1) == onnx::TensorProto::STRING)
    return im.refuse(RefusalKind::NonTensor,
                     "to strings, which have no place on an NPU; keep this "
                     "part of the model in the application");
  Entry e = asValue(im, im.entry(node, 0));
  Type to = elementType(im.builder.getContext(), int(node.i("to", 1)));
  if (!to)
    return im.unsupported("to " + typeName(int(node.i("to", 1))));
  auto type = mlir::cast<RankedTensorType>(e.value.getType());
  if (type.getElementType() == to) {
    im.bind(node.proto.output(0), e);
    return absl::OkStatus();
  }
  NPU_ASSIGN(Value out, im.create<CastOp>(to, e.value));
  im.bind(node, 0, out, e.perm);
  return absl::OkStatus();
}

static absl::Status depthToSpace(Importer &im, const Node &node, bool inverse) {
  Dims in = im.shape(im.entry(node, 0));
  int64_t block = node.i("blocksize", 0);
  if (in.size() != 4 || block < 1 || block > 1 << 15)
    return absl::InvalidArgumentError(
        absl::StrCat("rank ", in.size(), " with blocksize ", block));
  Value v = im.value(node, 0, kNhwc), out;
  if (inverse) {
    NPU_ASSIGN(out, im.create<SpaceToDepthOp>(Type(), v, block));
  } else {
    NPU_ASSIGN(out, im.create<DepthToSpaceOp>(Type(), v, block,
                                              node.s("mode", "DCR") == "CRD"
                                                  ? DepthToSpaceMode::CRD
                                                  : DepthToSpaceMode::DCR));
  }
  im.bind(node, 0, out, kNhwc);
  return absl::OkStatus();
}

static absl::StatusOr<CoordinateMode> coordinates(const std::string &name) {
  for (unsigned i = 0; auto mode = symbolizeCoordinateMode(i); ++i)
    if (stringifyCoordinateMode(*mode) == name)
      return *mode;
  if (name == "tf_half_pixel_for_nn")
    return CoordinateMode::TfHalfPixelForNN;
  return absl::UnimplementedError("coordinate mode " + name);
}

static absl::Status resize(Importer &im, const Node &node) {
  Dims in = im.shape(im.entry(node, 0));
  bool upsample = node.proto.op_type() == "Upsample";
  bool old = upsample || node.opset < 11;
  std::vector<float> scales;
  std::optional<Dims> sizes;
  int scalesAt = old ? 1 : 2;
  if (upsample && node.opset < 9) {
    if (const auto *a = node.attr("scales"))
      scales.assign(a->floats().begin(), a->floats().end());
  } else if (node.has(scalesAt)) {
    TensorPtr t = im.constant(node, scalesAt);
    if (!t)
      return im.unsupported("scales must be constant");
    scales = t->floats();
  }
  if (!old && node.has(3)) {
    sizes = im.integers(node, 3);
    if (!sizes)
      return im.unsupported("sizes must be constant");
  }
  Dims axes = node.ints("axes", identity(in.size()));
  if (in.size() != 4 || (scales.empty() && !sizes) ||
      (sizes ? sizes->size() : scales.size()) != axes.size())
    return im.unsupported("only [N,C,H,W] with scales or sizes for its axes");
  if (node.s("keep_aspect_ratio_policy", "stretch") != "stretch" ||
      node.i("antialias", 0))
    return im.unsupported("antialias and keep_aspect_ratio_policy");
  Dims out = in;
  std::vector<float> factor(4, 1);
  for (size_t n = 0; n < axes.size(); ++n) {
    NPU_ASSIGN(int64_t axis, axisOf(axes[n], 4));
    double size = sizes ? double((*sizes)[n])
                        : std::floor(double(float(in[axis]) * scales[n]));
    if (!(size >= 1 && size <= INT32_MAX))
      return absl::InvalidArgumentError(
          absl::StrCat("dimension ", axis, " would become ", size));
    out[axis] = int64_t(size);
    factor[axis] = sizes ? float(out[axis]) / float(in[axis]) : scales[n];
  }
  if (out[0] != in[0] || out[1] != in[1])
    return im.unsupported("resizing batch or channels");
  std::string mode = node.s("mode", "nearest");
  if (mode != "nearest" && mode != "linear" && mode != "bilinear")
    return im.unsupported("mode " + mode + ": use linear or nearest");
  // Before opset 11 there was one way: asymmetric, rounded down.
  NPU_ASSIGN(CoordinateMode coordinate,
             coordinates(
                 old ? "asymmetric"
                     : node.s("coordinate_transformation_mode", "half_pixel")));
  auto nearest = symbolizeNearestMode(
      old ? "floor" : node.s("nearest_mode", "round_prefer_floor"));
  if (!nearest)
    return im.unsupported("nearest_mode " + node.s("nearest_mode", ""));
  NPU_ASSIGN(Value v,
             im.create<ResizeOp>(Type(), im.value(node, 0, kNhwc),
                                 mode == "nearest" ? ResizeMode::Nearest
                                                   : ResizeMode::Linear,
                                 coordinate, *nearest, Dims{out[2], out[3]},
                                 ArrayRef<float>{factor[2], factor[3]}));
  im.bind(node, 0, v, kNhwc);
  return absl::OkStatus();
}

static absl::Status constantNode(Importer &im, const Node &node) {
  if (const auto *a = node.attr("value"); a && a->has_t()) {
    NPU_ASSIGN(TensorPtr t, readTensor(a->t(), im.folder, false));
    im.bind(node, 0, t);
    return absl::OkStatus();
  }
  auto t = std::make_shared<Tensor>();
  if (const auto *a = node.attr("value_float")) {
    t->f = {a->f()};
  } else if (const auto *a = node.attr("value_int")) {
    t->type = onnx::TensorProto::INT64;
    t->i = {a->i()};
  } else if (const auto *a = node.attr("value_floats")) {
    t->f.assign(a->floats().begin(), a->floats().end());
    t->dims = {int64_t(t->f.size())};
  } else if (const auto *a = node.attr("value_ints")) {
    t->type = onnx::TensorProto::INT64;
    t->i.assign(a->ints().begin(), a->ints().end());
    t->dims = {int64_t(t->i.size())};
  } else {
    return im.unsupported("a constant without tensor, number or list");
  }
  im.bind(node, 0, TensorPtr(t));
  return absl::OkStatus();
}

// foldNode does these; what comes here is too large, or wrong.
static absl::Status foldedOnly(Importer &im, const Node &node) {
  return im.unsupported("its inputs give no constant of at most 2^24 elements");
}

void registerDataOps(Registry &r) {
  auto view = [](Handler handler) {
    return OpImport(handler).on(Engine::None);
  };
  auto move = [](Handler handler) { return OpImport(handler).on(Engine::Dma); };
  r["Reshape"] = view(reshape).inputs(2).constant({1});
  r["Flatten"] = view(flatten);
  r["Squeeze"] = view([](Importer &im, const Node &n) {
                   return squeeze(im, n, false);
                 }).constant({1});
  r["Unsqueeze"] = view([](Importer &im, const Node &n) {
                     return squeeze(im, n, true);
                   }).constant({1});
  r["Transpose"] = move(transpose);
  r["Concat"] = move(concat).anyInputs();
  r["Slice"] = move(slice).constant({1, 2, 3, 4});
  r["Split"] = move(split).constant({1});
  r["Pad"] = move(pad).constant({1, 2, 3}).of(kAnyType & ~kQuantized);
  r["Expand"] = move(expand).inputs(2).constant({1});
  r["Gather"] = move(gather).inputs(2).constant({1});
  r["Cast"] = OpImport(cast_).of(kAnyType & ~kQuantized);
  r["DepthToSpace"] = move([](Importer &im, const Node &n) {
                        return depthToSpace(im, n, false);
                      }).ranks(4, 4);
  r["SpaceToDepth"] = move([](Importer &im, const Node &n) {
                        return depthToSpace(im, n, true);
                      }).ranks(4, 4);
  r["Resize"] = OpImport(resize).of(kFloat).constant({1, 2, 3});
  r["Upsample"] = OpImport(resize).of(kFloat).constant({1});
  r["Constant"] = view(constantNode).inputs(0);
  r["Shape"] = view(foldedOnly);
  r["Size"] = view(foldedOnly);
  r["Range"] = view(foldedOnly).inputs(3).constant({0, 1, 2});
  r["ConstantOfShape"] = view(foldedOnly).constant({0});
}

} // namespace npu
