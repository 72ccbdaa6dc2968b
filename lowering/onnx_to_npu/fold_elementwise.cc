// Evaluates functions of one or two constant elements.
#include "lowering/onnx_to_npu/fold.h"

#include <cmath>
#include <map>

namespace npu {

Result make(int type, Dims dims) {
  auto t = std::make_shared<Tensor>();
  t->type = type;
  t->dims = std::move(dims);
  return t;
}

void push(Tensor &t, double value) {
  if (t.isFloat())
    t.f.push_back(float(value));
  else
    t.i.push_back(int64_t(value));
}
void pushFrom(Tensor &t, const Tensor &from, int64_t n) {
  if (t.isFloat())
    t.f.push_back(from.isFloat() ? from.f[n] : float(from.i[n]));
  else
    t.i.push_back(from.isFloat() ? int64_t(from.f[n]) : from.i[n]);
}

bool broadcast(const Dims &a, const Dims &b, Dims *out) {
  out->assign(std::max(a.size(), b.size()), 1);
  for (size_t i = 0; i < out->size(); ++i) {
    int64_t x = i < a.size() ? a[a.size() - 1 - i] : 1;
    int64_t y = i < b.size() ? b[b.size() - 1 - i] : 1;
    if (x != y && x != 1 && y != 1)
      return false;
    (*out)[out->size() - 1 - i] = x == 1 ? y : x;
  }
  return elementCount(*out) >= 0 && elementCount(*out) <= kMaxElements;
}

int64_t source(int64_t n, const Dims &shape, const Dims &dims) {
  int64_t index = 0, stride = 1;
  for (int i = int(shape.size()) - 1, j = int(dims.size()) - 1; j >= 0;
       --i, --j) {
    int64_t x = n % shape[i];
    n /= shape[i];
    index += dims[j] == 1 ? 0 : x * stride;
    stride *= dims[j];
  }
  return index;
}

namespace {

using Real = double (*)(double, double);
using Whole = int64_t (*)(int64_t, int64_t);

// Integers wrap, as on the NPU.
int64_t wrapped(uint64_t x) { return int64_t(x); }

struct Pair {
  Real real;
  Whole whole = nullptr; ///< exact, for integers; else they are taken as reals
  bool truth = false;    ///< the result is boolean
};

const std::map<std::string, Pair> &pairs() {
  using D = double;
  using I = int64_t;
  static const auto *all = new std::map<std::string, Pair>{
      {"Add",
       {[](D x, D y) { return x + y; },
        [](I x, I y) { return wrapped(uint64_t(x) + uint64_t(y)); }}},
      {"Sub",
       {[](D x, D y) { return x - y; },
        [](I x, I y) { return wrapped(uint64_t(x) - uint64_t(y)); }}},
      {"Mul",
       {[](D x, D y) { return x * y; },
        [](I x, I y) { return wrapped(uint64_t(x) * uint64_t(y)); }}},
      {"Div",
       {[](D x, D y) { return x / y; },
        [](I x, I y) {
          return y == 0 ? I(0) : y == -1 ? wrapped(-uint64_t(x)) : x / y;
        }}},
      {"Pow", {[](D x, D y) { return std::pow(x, y); }}},
      {"Max",
       {[](D x, D y) { return std::max(x, y); },
        [](I x, I y) { return std::max(x, y); }}},
      {"Min",
       {[](D x, D y) { return std::min(x, y); },
        [](I x, I y) { return std::min(x, y); }}},
      {"Equal",
       {[](D x, D y) { return D(x == y); }, [](I x, I y) { return I(x == y); },
        true}},
      {"Less",
       {[](D x, D y) { return D(x < y); }, [](I x, I y) { return I(x < y); },
        true}},
      {"Greater",
       {[](D x, D y) { return D(x > y); }, [](I x, I y) { return I(x > y); },
        true}},
      {"LessOrEqual",
       {[](D x, D y) { return D(x <= y); }, [](I x, I y) { return I(x <= y); },
        true}},
      {"GreaterOrEqual",
       {[](D x, D y) { return D(x >= y); }, [](I x, I y) { return I(x >= y); },
        true}},
      {"And", {[](D x, D y) { return D(x && y); }, nullptr, true}},
      {"Or", {[](D x, D y) { return D(x || y); }, nullptr, true}},
      {"Xor", {[](D x, D y) { return D(x != y); }, nullptr, true}},
  };
  return *all;
}

// The remainder of the floored quotient has the divisor's sign, fmod's that
// of the dividend.
Pair modulo(bool truncated) {
  if (truncated)
    return {[](double x, double y) { return std::fmod(x, y); },
            [](int64_t x, int64_t y) {
              return y == 0 || y == -1 ? int64_t(0) : x % y;
            }};
  return {[](double x, double y) { return x - y * std::floor(x / y); },
          [](int64_t x, int64_t y) {
            int64_t rest = y == 0 || y == -1 ? 0 : x % y;
            return rest && (rest < 0) != (y < 0) ? rest + y : rest;
          }};
}

Result binary(const Pair &op, const Tensor &a, const Tensor &b) {
  Dims dims;
  if (!broadcast(a.dims, b.dims, &dims))
    return nullptr;
  bool whole = op.whole && !a.isFloat() && !b.isFloat();
  Result out = make(op.truth ? int(onnx::TensorProto::BOOL) : a.type, dims);
  for (int64_t n = 0, count = elementCount(dims); n < count; ++n) {
    int64_t x = source(n, dims, a.dims), y = source(n, dims, b.dims);
    if (whole)
      out->i.push_back(op.whole(a.i[x], b.i[y]));
    else
      push(*out, op.real(a.at(x), b.at(y)));
  }
  return out;
}

const std::map<std::string, double (*)(double)> &functions() {
  using D = double;
  static const auto *all = new std::map<std::string, double (*)(double)>{
      {"Neg", [](D x) { return -x; }},
      {"Sqrt", [](D x) { return std::sqrt(x); }},
      {"Exp", [](D x) { return std::exp(x); }},
      {"Log", [](D x) { return std::log(x); }},
      {"Sin", [](D x) { return std::sin(x); }},
      {"Cos", [](D x) { return std::cos(x); }},
      {"Tanh", [](D x) { return std::tanh(x); }},
      {"Sigmoid", [](D x) { return 1 / (1 + std::exp(-x)); }},
      {"Relu", [](D x) { return x > 0 ? x : 0; }},
      {"Floor", [](D x) { return std::floor(x); }},
      {"Ceil", [](D x) { return std::ceil(x); }},
      {"Round", [](D x) { return std::nearbyint(x); }},
      {"Abs", [](D x) { return std::fabs(x); }},
      {"Sign", [](D x) { return D(x > 0) - D(x < 0); }},
      {"Reciprocal", [](D x) { return 1 / x; }},
      {"Not", [](D x) { return D(x == 0); }},
  };
  return *all;
}

} // namespace

Result foldElementwise(Importer &im, const Node &node) {
  const std::string &op = node.proto.op_type();
  TensorPtr a = im.constant(node, 0), b = im.constant(node, 1);
  if (node.inputs() == 2 && b && !(node.opset < 7 && node.attr("axis"))) {
    if (op == "Mod")
      return binary(modulo(node.i("fmod", 0)), *a, *b);
    auto found = pairs().find(op);
    return found == pairs().end() ? nullptr : binary(found->second, *a, *b);
  }
  auto found = functions().find(op);
  if (node.inputs() != 1 || found == functions().end())
    return nullptr;
  Result out = make(a->type, a->dims);
  for (int64_t n = 0; n < a->count(); ++n)
    push(*out, found->second(a->at(n)));
  return out;
}

} // namespace npu
