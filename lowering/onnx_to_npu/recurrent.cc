// Recurrent nodes, unrolled: all inputs are projected at once, then every step
// multiplies the state before it.
#include "lowering/onnx_to_npu/recurrent.h"

#include <map>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"

using namespace mlir;

namespace npu {

// Each step is some ten operators.
constexpr int64_t kMostSteps = 1024;

namespace {

struct Function {
  float alpha, beta; ///< by default
  int parameters;
  std::function<Entry(Compose &, const Entry &, float, float)> make;
};

template <typename Op> Function plain() {
  return {0, 0, 0, [](Compose &c, const Entry &x, float, float) {
            return c.unary<Op>(x);
          }};
}

// The names of ONNX's recurrent operators, in lower case.
const std::map<std::string, Function> &functions() {
  using S = Compose;
  static const auto *all = new std::map<std::string, Function>{
      {"relu", plain<ReluOp>()},
      {"tanh", plain<TanhOp>()},
      {"sigmoid", plain<SigmoidOp>()},
      {"softplus", plain<SoftplusOp>()},
      {"affine",
       {1, 0, 2,
        [](Compose &c, const Entry &x, float a, float b) {
          return c.add(c.mul(x, S::scalar(a)), S::scalar(b));
        }}},
      {"leakyrelu",
       {0.01f, 0, 1,
        [](Compose &c, const Entry &x, float a, float) {
          return c.unary<LeakyReluOp>(x, APFloat(a));
        }}},
      {"scaledtanh",
       {1, 1, 2,
        [](Compose &c, const Entry &x, float a, float b) {
          return c.mul(c.unary<TanhOp>(c.mul(x, S::scalar(b))), S::scalar(a));
        }}},
      {"hardsigmoid",
       {0.2f, 0.5f, 2,
        [](Compose &c, const Entry &x, float a, float b) {
          return c.unary<HardSigmoidOp>(x, APFloat(a), APFloat(b));
        }}},
      {"elu",
       {1, 0, 1,
        [](Compose &c, const Entry &x, float a, float) {
          return c.unary<EluOp>(x, APFloat(a));
        }}},
  };
  return *all;
}

std::vector<float> floatsOf(const Node &node, const char *name) {
  const onnx::AttributeProto *a = node.attr(name);
  return a ? std::vector<float>(a->floats().begin(), a->floats().end())
           : std::vector<float>();
}

} // namespace

absl::StatusOr<std::vector<Activation>>
readActivations(const Node &node, int64_t d,
                const std::vector<const char *> &defaults) {
  std::vector<std::string> names;
  if (const onnx::AttributeProto *a = node.attr("activations"))
    names.assign(a->strings().begin(), a->strings().end());
  size_t count = defaults.size();
  if (!names.empty() && names.size() % count != 0)
    return absl::InvalidArgumentError(
        absl::StrCat(names.size(), " activations; ", count,
                     " are needed for every direction"));
  std::vector<float> alphas = floatsOf(node, "activation_alpha"),
                     betas = floatsOf(node, "activation_beta");
  std::vector<Activation> all;
  // Parameters are listed only for the functions that take them.
  size_t alpha = 0, beta = 0;
  for (size_t n = 0; n < (d + 1) * count; ++n) {
    std::string name = names.empty()      ? defaults[n % count]
                       : n < names.size() ? names[n]
                                          : names[n % count];
    auto found = functions().find(absl::AsciiStrToLower(name));
    if (found == functions().end())
      return absl::UnimplementedError("the activation " + name);
    const Function &f = found->second;
    float a =
        f.parameters > 0 && alpha < alphas.size() ? alphas[alpha++] : f.alpha;
    float b = f.parameters > 1 && beta < betas.size() ? betas[beta++] : f.beta;
    all.push_back(
        [&f, a, b](Compose &c, const Entry &x) { return f.make(c, x, a, b); });
  }
  return std::vector<Activation>(all.begin() + d * count, all.end());
}

Entry gate(Compose &c, const Entry &gates, int64_t n, int64_t hidden) {
  return c.slice(gates, int64_t(c.dims(gates).size()) - 1, n * hidden, hidden);
}

Entry clipped(Compose &c, const Direction &d, const Entry &e) {
  return d.clip > 0 ? c.clip(e, -d.clip, d.clip) : e;
}

namespace {

struct Sizes {
  int64_t steps, batch, input, hidden, directions;
};

/// Slice `d` of a tensor of all directions, without that dimension.
Entry ofDirection(Compose &c, const Entry &e, int64_t d) {
  if (!e)
    return e;
  Dims dims = c.dims(e);
  if (dims.empty())
    return e;
  dims.erase(dims.begin());
  return c.reshape(c.slice(e, 0, d, 1), dims);
}

absl::StatusOr<Sizes> readSizes(Importer &im, const Node &node, int gates,
                                bool batchFirst) {
  Dims x = im.shape(im.entry(node, 0)), w = im.shape(im.entry(node, 1)),
       r = im.shape(im.entry(node, 2));
  if (x.size() != 3 || w.size() != 3 || r.size() != 3)
    return absl::InvalidArgumentError("X, W and R must have three dimensions");
  Sizes s = {x[batchFirst], x[!batchFirst], x[2], r[2], w[0]};
  if (w[2] != s.input || w[1] != gates * s.hidden || r[1] != w[1] ||
      r[0] != s.directions)
    return absl::InvalidArgumentError("the shapes of X, W and R do not fit");
  std::string direction = node.s("direction", "forward");
  if (s.directions != (direction == "bidirectional" ? 2 : 1))
    return absl::InvalidArgumentError(absl::StrCat(
        "weights of ", s.directions, " directions for ", direction));
  if (s.steps > kMostSteps)
    return absl::UnimplementedError(absl::StrCat("a sequence of ", s.steps,
                                                 " steps; at most ", kMostSteps,
                                                 " are unrolled"));
  return s;
}

absl::StatusOr<Direction> readDirection(Importer &im, const Node &node,
                                        Compose &c, const CellKind &kind,
                                        const Sizes &s, const Entry &x,
                                        int64_t d) {
  Direction out;
  int64_t width = kind.gates * s.hidden;
  out.hidden = s.hidden;
  out.clip = node.f("clip", 0);
  NPU_ASSIGN(out.activations, readActivations(node, d, kind.activations));
  Entry weights = ofDirection(c, im.entry(node, 1), d);
  Entry bias = ofDirection(c, im.entry(node, 3), d);
  out.recurrence = ofDirection(c, im.entry(node, 2), d);
  if (bias)
    out.recurrenceBias = c.slice(bias, 0, width, width);
  if (kind.hasCellState)
    out.peepholes = ofDirection(c, im.entry(node, 7), d);
  Entry flat = c.reshape(x, {s.steps * s.batch, s.input});
  Entry all = c.linear(flat, weights, bias ? c.slice(bias, 0, 0, width) : bias);
  out.projected = c.reshape(all, {s.steps, s.batch, width});
  return out;
}

/// Step `t` of [T,B,N].
Entry atStep(Compose &c, const Entry &e, int64_t t) {
  Dims dims = c.dims(e);
  return c.reshape(c.slice(e, 0, t, 1), {dims[1], dims[2]});
}

struct Outputs {
  std::vector<Entry> all; ///< hidden states by time, [1,1,B,H]
  State last;
};

Outputs unroll(Importer &im, const Node &node, Compose &c, const CellKind &kind,
               const Direction &d, const Sizes &s, bool backward, State state) {
  Entry lengths = im.entry(node, 4);
  if (lengths)
    lengths =
        c.reshape(c.castTo(lengths, im.builder.getI32Type()), {s.batch, 1});
  Outputs out;
  out.all.resize(s.steps);
  for (int64_t n = 0; n < s.steps && c.status().ok(); ++n) {
    int64_t t = backward ? s.steps - 1 - n : n;
    State next = kind.step(c, d, atStep(c, d.projected, t), state);
    Entry seen = next.hidden;
    if (lengths) { // behind its end a sequence keeps its state and gives 0
      Entry inside = c.pair<LessOp>(
          Compose::integers({}, {t}, onnx::TensorProto::INT32), lengths);
      seen = c.select(inside, next.hidden, Compose::scalar(0));
      next.hidden = c.select(inside, next.hidden, state.hidden);
      if (kind.hasCellState)
        next.cell = c.select(inside, next.cell, state.cell);
    }
    out.all[t] = c.reshape(seen, {1, 1, s.batch, s.hidden});
    state = next;
  }
  out.last = state;
  return out;
}

/// [D,B,H] -> [B,D,H] if the batch comes first.
Entry stateOutput(Compose &c, const std::vector<Entry> &states, const Sizes &s,
                  bool batchFirst) {
  std::vector<Entry> parts;
  for (const Entry &e : states)
    parts.push_back(c.reshape(e, {1, s.batch, s.hidden}));
  Entry all = c.concat(parts, 0);
  return batchFirst ? c.transpose(all, {1, 0, 2}) : all;
}

} // namespace

absl::Status recurrent(Importer &im, const Node &node, const CellKind &kind) {
  Compose c(im);
  bool batchFirst = node.i("layout", 0);
  NPU_ASSIGN(Sizes s, readSizes(im, node, kind.gates, batchFirst));
  Entry x = im.entry(node, 0);
  if (batchFirst)
    x = c.transpose(c.asValue(x), {1, 0, 2});
  std::string direction = node.s("direction", "forward");
  std::vector<Entry> sequences, hidden, cells;
  for (int64_t d = 0; d < s.directions; ++d) {
    NPU_ASSIGN(Direction one, readDirection(im, node, c, kind, s, x, d));
    auto initial = [&](int input) {
      Entry e = im.entry(node, input);
      if (!e)
        return Compose::floats({s.batch, s.hidden},
                               std::vector<float>(s.batch * s.hidden, 0));
      if (batchFirst)
        e = c.transpose(c.asValue(e), {1, 0, 2});
      return ofDirection(c, e, d);
    };
    State first{initial(5), kind.hasCellState ? initial(6) : Entry()};
    Outputs out = unroll(im, node, c, kind, one, s,
                         direction == "reverse" || d == 1, first);
    if (!c.status().ok())
      return c.status();
    sequences.push_back(c.concat(out.all, 0));
    hidden.push_back(out.last.hidden);
    cells.push_back(out.last.cell);
  }
  Entry y = c.concat(sequences, 1); // [T,D,B,H]
  if (batchFirst)
    y = c.transpose(y, {2, 0, 1, 3});
  (void)c.bind(node, 0, y);
  (void)c.bind(node, 1, stateOutput(c, hidden, s, batchFirst));
  if (kind.hasCellState)
    (void)c.bind(node, 2, stateOutput(c, cells, s, batchFirst));
  return c.status();
}

} // namespace npu
