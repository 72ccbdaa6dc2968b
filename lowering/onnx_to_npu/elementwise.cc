// Elementwise operators: they keep the order in which a value is stored.
#include <cmath>
#include <limits>

#include "absl/strings/str_cat.h"
#include "lowering/onnx_to_npu/compose.h"

using namespace mlir;

namespace npu {

Value alignedTo(Importer &im, const Entry &e, const Dims &perm) {
  Dims dims = im.shape(e);
  if (dims.size() == perm.size())
    return im.materialize(e, perm);
  Dims wide(perm.size() - dims.size(), 1);
  wide.insert(wide.end(), dims.begin(), dims.end());
  if (e.constant) {
    auto copy = std::make_shared<Tensor>(*e.constant);
    copy->dims = wide;
    return im.materialize({copy, {}, {}}, perm);
  }
  Value v = im.materialize(e, identity(dims.size()));
  auto type = cast<RankedTensorType>(v.getType());
  v = ReshapeOp::create(im.builder, im.loc,
                        RankedTensorType::get(wide, type.getElementType()), v,
                        wide);
  return im.materialize({nullptr, v, identity(wide.size())}, perm);
}

Operands broadcastOperands(Importer &im, const Entry &a, const Entry &b) {
  size_t rank = std::max(im.shape(a).size(), im.shape(b).size());
  Operands out;
  out.perm = identity(rank);
  for (const Entry *e : {&b, &a})
    if (e->value && e->perm.size() == rank && !isIdentity(e->perm))
      out.perm = e->perm;
  // Scalars need no layout; everything else gets the result's rank.
  out.a = alignedTo(im, a, out.perm);
  out.b = alignedTo(im, b, out.perm);
  return out;
}

/// Integers are computed as words; the result is of the operands' type.
template <typename Op>
static absl::Status binaryOf(Importer &im, const Node &node, const Entry &a,
                             const Entry &b) {
  Compose c(im);
  Entry out = c.binary<Op>(c.words(a), c.words(b));
  return c.bind(node, 0, c.castTo(out, c.elementOf(a)));
}

// Before opset 7, b's dimensions are those of a from `axis` on.
static absl::StatusOr<Entry> alignOld(Importer &im, const Node &node,
                                      const Dims &a, Entry b) {
  Dims dims = im.shape(b);
  int64_t rank = a.size(), axis = node.i("axis", rank - int64_t(dims.size()));
  axis += axis < 0 ? rank : 0;
  int64_t tail = rank - axis - int64_t(dims.size());
  if (node.opset >= 7 || tail == 0 || dims.empty())
    return b;
  if (axis < 0 || tail < 0)
    return absl::InvalidArgumentError("axis does not fit the operands");
  Dims wide = dims;
  wide.insert(wide.end(), tail, 1);
  if (b.constant) {
    auto copy = std::make_shared<Tensor>(*b.constant);
    copy->dims = wide;
    return Entry{copy, {}, {}};
  }
  Value v = im.materialize(b, identity(dims.size()));
  auto type = cast<RankedTensorType>(v.getType());
  v = ReshapeOp::create(im.builder, im.loc,
                        RankedTensorType::get(wide, type.getElementType()), v,
                        wide);
  return Entry{nullptr, v, identity(wide.size())};
}

template <typename Op> static absl::Status binary(Importer &im, const Node &n) {
  Entry a = im.entry(n, 0);
  NPU_ASSIGN(Entry b, alignOld(im, n, im.shape(a), im.entry(n, 1)));
  return binaryOf<Op>(im, n, a, b);
}

// PRelu's slope broadcasts to x only; before opset 7 it is one per channel.
static absl::Status prelu(Importer &im, const Node &node) {
  Entry x = im.entry(node, 0), slope = im.entry(node, 1);
  Dims dims = im.shape(x);
  if (node.opset < 7 && slope.constant && dims.size() > 2 &&
      im.shape(slope).size() == 1 && slope.constant->count() == dims[1]) {
    auto copy = std::make_shared<Tensor>(*slope.constant);
    copy->dims.resize(dims.size() - 1, 1);
    slope.constant = copy;
  }
  return binaryOf<PReluOp>(im, node, x, slope);
}

// Max, Min, Sum, Mean of any number of inputs.
template <typename Op>
static Entry accumulate(Compose &c, Importer &im, const Node &node) {
  Entry first = im.entry(node, 0), acc = c.words(first);
  for (int n = 1; n < node.inputs(); ++n)
    acc = c.binary<Op>(acc, c.words(im.entry(node, n)));
  return c.castTo(acc, c.elementOf(first));
}

template <typename Op>
static absl::Status variadic(Importer &im, const Node &node) {
  Compose c(im);
  return c.bind(node, 0, accumulate<Op>(c, im, node));
}

static absl::Status mean(Importer &im, const Node &node) {
  Compose c(im);
  Entry sum = accumulate<AddOp>(c, im, node);
  return c.bind(node, 0,
                c.mul(sum, Compose::scalar(1.0f / float(node.inputs()))));
}

template <typename Op, typename... Attrs>
static absl::Status unaryOf(Importer &im, const Node &node, Attrs... attrs) {
  Entry x = im.entry(node, 0);
  if (x.constant)
    x = {nullptr, im.constantValue(*x.constant),
         identity(x.constant->dims.size())};
  NPU_ASSIGN(Value out, im.create<Op>(Type(), x.value, attrs...));
  im.bind(node, 0, out, x.perm);
  return absl::OkStatus();
}

template <typename Op> static Handler unary() {
  return [](Importer &im, const Node &node) { return unaryOf<Op>(im, node); };
}

static absl::Status clip(Importer &im, const Node &node) {
  float low = std::numeric_limits<float>::lowest(), high = -low;
  if (node.opset < 11) {
    low = node.f("min", low);
    high = node.f("max", high);
  } else {
    for (int n = 1; n <= 2; ++n) {
      if (!node.has(n))
        continue;
      TensorPtr t = im.constant(node, n);
      if (!t || t->count() != 1)
        return im.unsupported("bounds must be constant scalars");
      (n == 1 ? low : high) = float(t->at(0));
    }
  }
  if (low <= std::numeric_limits<float>::lowest())
    low = -std::numeric_limits<float>::infinity();
  if (high >= std::numeric_limits<float>::max())
    high = std::numeric_limits<float>::infinity();
  return unaryOf<ClipOp>(im, node, APFloat(low), APFloat(high));
}

// The second output, what has been kept, is everything.
static absl::Status dropout(Importer &im, const Node &node) {
  TensorPtr ratio = im.constant(node, 1), training = im.constant(node, 2);
  bool drops = training && training->count() == 1 && training->at(0) &&
               !(ratio && ratio->count() == 1 && ratio->at(0) == 0);
  if (drops)
    return im.refuse(RefusalKind::Random,
                     "training_mode is set; export the model for inference");
  im.bind(node.proto.output(0), im.entry(node, 0));
  auto mask = std::make_shared<Tensor>();
  mask->type = node.opset < 10 ? int(onnx::TensorProto::FLOAT)
                               : int(onnx::TensorProto::BOOL);
  mask->dims = im.shape(im.entry(node, 0));
  if (mask->isFloat())
    mask->f.assign(elementCount(mask->dims), 1);
  else
    mask->i.assign(elementCount(mask->dims), 1);
  if (node.proto.output_size() > 1)
    im.bind(node, 1, TensorPtr(mask));
  return absl::OkStatus();
}

// Identity.
static absl::Status forward(Importer &im, const Node &node) {
  Entry e = im.entry(node, 0);
  im.bind(node.proto.output(0), e);
  return absl::OkStatus();
}

// x * scale + offset per channel; a later pass folds it into a convolution.
static absl::Status batchNorm(Importer &im, const Node &node) {
  if (node.i("training_mode", 0))
    return im.refuse(RefusalKind::Training,
                     "training_mode is set; export the model for inference");
  TensorPtr t[5];
  for (int n = 1; n < 5; ++n) {
    t[n] = im.constant(node, n);
    if (!t[n] || !t[n]->isFloat() || t[n]->count() != t[1]->count())
      return im.unsupported("scale, bias, mean and variance must be float "
                            "constants of one length");
  }
  Entry x = im.entry(node, 0);
  Dims shape = im.shape(x);
  int64_t channels = t[1]->count();
  if (shape.size() < 2 || shape[1] != channels)
    return absl::InvalidArgumentError("channels do not fit the input");
  float epsilon = node.f("epsilon", 1e-5f);
  auto scale = std::make_shared<Tensor>(), offset = std::make_shared<Tensor>();
  for (int64_t c = 0; c < channels; ++c) {
    double s = t[1]->f[c] / std::sqrt(double(t[4]->f[c]) + epsilon);
    scale->f.push_back(float(s));
    offset->f.push_back(float(t[2]->f[c] - t[3]->f[c] * s));
  }
  scale->dims = offset->dims = Dims(shape.size() - 1, 1);
  scale->dims[0] = offset->dims[0] = channels;
  Compose c(im);
  return c.bind(node, 0, c.add(c.mul(x, {scale, {}, {}}), {offset, {}, {}}));
}

void registerElementwiseOps(Registry &r) {
  constexpr unsigned kNumbers = kFloat | kIntegers;
  auto two = [](Handler handler, unsigned types) {
    return OpImport(handler).inputs(2).of(types);
  };
  r["Add"] = two(binary<AddOp>, kNumbers);
  r["Sub"] = two(binary<SubOp>, kNumbers);
  r["Mul"] = two(binary<MulOp>, kNumbers);
  r["Div"] = two(binary<DivOp>, kNumbers);
  r["PRelu"] = two(prelu, kFloat);
  r["Max"] = OpImport(variadic<MaxOp>).anyInputs().of(kNumbers);
  r["Min"] = OpImport(variadic<MinOp>).anyInputs().of(kNumbers);
  r["Sum"] = OpImport(variadic<AddOp>).anyInputs().of(kFloat);
  r["Mean"] = OpImport(mean).anyInputs().of(kFloat);
  auto one = [](Handler handler) { return OpImport(handler).of(kFloat); };
  r["Relu"] = one(unary<ReluOp>());
  r["Sigmoid"] = one(unary<SigmoidOp>());
  r["Tanh"] = one(unary<TanhOp>());
  r["Exp"] = one(unary<ExpOp>());
  r["Log"] = one(unary<LogOp>());
  r["Sqrt"] = one(unary<SqrtOp>());
  r["Reciprocal"] = one(unary<ReciprocalOp>());
  r["Abs"] = one(unary<AbsOp>()).of(kFloat | kInt32);
  r["Neg"] = one(unary<NegOp>()).of(kFloat | kInt32);
  r["Erf"] = one(unary<ErfOp>());
  r["Floor"] = one(unary<FloorOp>());
  r["Ceil"] = one(unary<CeilOp>());
  r["Round"] = one(unary<RoundOp>());
  r["Softplus"] = one(unary<SoftplusOp>());
  r["HardSwish"] = one(unary<HardSwishOp>());
  r["LeakyRelu"] = one([](Importer &im, const Node &n) {
    return unaryOf<LeakyReluOp>(im, n, APFloat(n.f("alpha", 0.01f)));
  });
  r["Elu"] = one([](Importer &im, const Node &n) {
    return unaryOf<EluOp>(im, n, APFloat(n.f("alpha", 1)));
  });
  r["HardSigmoid"] = one([](Importer &im, const Node &n) {
    return unaryOf<HardSigmoidOp>(im, n, APFloat(n.f("alpha", 0.2f)),
                                  APFloat(n.f("beta", 0.5f)));
  });
  r["Gelu"] =
      one([](Importer &im, const Node &n) {
        return unaryOf<GeluOp>(im, n, n.s("approximate", "none") == "tanh");
      }).since(20);
  r["com.microsoft:Gelu"] = one([](Importer &im, const Node &n) {
    return unaryOf<GeluOp>(im, n, false);
  });
  r["Clip"] = one(clip).constant({1, 2});
  r["Identity"] = OpImport(forward).on(Engine::None);
  r["Dropout"] = OpImport(dropout).on(Engine::None).constant({2});
  r["BatchNormalization"] =
      one(batchNorm).inputs(5).constant({1, 2, 3, 4}).ranks(2, 8);
}

} // namespace npu
