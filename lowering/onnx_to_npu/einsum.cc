// Einsum, out of transposes, sums and matrix products.
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "lowering/onnx_to_npu/compose.h"

using namespace mlir;

namespace npu {

namespace {

/// A tensor whose dimensions have labels; no label is there twice. Dimensions
/// of an ellipsis are labelled by the numbers below kEllipsis, the last one 0.
struct Term {
  Entry e;
  std::string labels;
};
constexpr char kEllipsis = 'A' - 1;

/// "ij...k" with the ellipsis written out for `rank` dimensions; -1: for
/// `hidden` of them.
absl::StatusOr<std::string> labelsOf(const std::string &text, int64_t rank,
                                     int64_t hidden = 0) {
  std::string labels;
  size_t dots = text.find("...");
  int64_t named = int64_t(text.size()) - (dots == text.npos ? 0 : 3);
  if (rank >= 0)
    hidden = rank - named;
  if (hidden < 0 || hidden >= kEllipsis ||
      (dots == text.npos && rank >= 0 && hidden))
    return absl::InvalidArgumentError(absl::StrCat(
        "term \"", text, "\" does not fit a tensor of rank ", rank));
  for (size_t i = 0; i < text.size(); ++i) {
    if (i == dots) {
      for (int64_t n = hidden; n-- > 0;)
        labels += char(n + 1);
      i += 2;
    } else if (!isalpha(text[i])) {
      return absl::InvalidArgumentError("term \"" + text + "\" has a \"" +
                                        text[i] + "\"");
    } else {
      labels += text[i];
    }
  }
  return labels;
}

Dims positions(const std::string &labels, const std::string &wanted) {
  Dims at;
  for (char l : wanted)
    at.push_back(labels.find(l));
  return at;
}

/// The elements for which two dimensions of the same label agree.
Term diagonal(Compose &c, Term t) {
  for (size_t i = 0; i < t.labels.size(); ++i) {
    size_t j = t.labels.find(t.labels[i], i + 1);
    if (j == std::string::npos)
      continue;
    Dims dims = c.dims(t.e), order;
    if (dims.empty() || dims[i] != dims[j]) {
      c.fail(absl::InvalidArgumentError(absl::StrCat(
          "label \"", std::string(1, t.labels[i]), "\" stands for two sizes")));
      return t;
    }
    std::string labels;
    Dims rest;
    for (size_t d = 0; d < dims.size(); ++d)
      if (d != i && d != j) {
        order.push_back(d);
        rest.push_back(dims[d]);
        labels += t.labels[d];
      }
    order.push_back(i);
    order.push_back(j);
    int64_t n = dims[i];
    rest.push_back(n * n);
    t.e = c.slice(c.reshape(c.transpose(t.e, order), rest), rest.size() - 1, 0,
                  n, n + 1);
    return diagonal(c, {t.e, labels + t.labels[i]});
  }
  return t;
}

/// Sums over what is in no `keep`.
Term summed(Compose &c, Term t, const std::set<char> &keep) {
  Dims axes, dims = c.dims(t.e), left;
  std::string labels;
  for (size_t d = 0; d < dims.size(); ++d)
    if (keep.count(t.labels[d])) {
      labels += t.labels[d];
      left.push_back(dims[d]);
    } else {
      axes.push_back(d);
    }
  if (axes.empty())
    return t;
  return {c.reshape(c.reduce<ReduceSumOp>(t.e, axes), left), labels};
}

/// Sizes by label, ones of an ellipsis broadcast.
absl::Status sizesOf(Compose &c, const Term &t,
                     std::map<char, int64_t> *sizes) {
  Dims dims = c.dims(t.e);
  for (size_t d = 0; d < dims.size(); ++d) {
    int64_t &size = sizes->emplace(t.labels[d], dims[d]).first->second;
    if (size != dims[d] && size != 1 && dims[d] != 1)
      return absl::InvalidArgumentError(
          absl::StrCat("one label stands for sizes ", size, " and ", dims[d]));
    size = std::max(size, dims[d]);
  }
  return absl::OkStatus();
}

class Product {
public:
  Product(Compose &c, Term a, Term b, const std::map<char, int64_t> &sizes)
      : c(c), a(std::move(a)), b(std::move(b)), sizes(sizes) {}

  /// a * b, summed over what both have and `keep` does not.
  Term run(const std::set<char> &keep) {
    for (char l : a.labels)
      (b.labels.find(l) == std::string::npos ? onlyA
       : keep.count(l)                       ? batch
                                             : contracted) += l;
    for (char l : b.labels)
      if (a.labels.find(l) == std::string::npos)
        onlyB += l;
    // The product takes either order of the second; what it is stored in
    // costs no transpose.
    bool straight = !batch.empty() && b.labels == batch + contracted + onlyB;
    Entry x = flat(a, onlyA, contracted);
    Entry y =
        straight ? flat(b, contracted, onlyB) : flat(b, onlyB, contracted);
    Entry out = batch.empty() ? c.linear(x, y, {}) : c.matmul(x, y, !straight);
    std::string labels = batch + onlyA + onlyB;
    return {c.reshape(out, shapeOf(labels)), labels};
  }

private:
  Dims shapeOf(const std::string &labels) {
    Dims dims;
    for (char l : labels)
      dims.push_back(sizes.at(l));
    return dims;
  }
  /// As [batch, rows, columns], or a matrix if there is no batch.
  Entry flat(const Term &t, const std::string &rows,
             const std::string &columns) {
    std::string order = batch + rows + columns;
    Entry e = c.transpose(t.e, positions(t.labels, order));
    e = c.expand(e, shapeOf(order));
    Dims dims = {elementCount(shapeOf(rows)), elementCount(shapeOf(columns))};
    if (!batch.empty())
      dims.insert(dims.begin(), elementCount(shapeOf(batch)));
    return c.reshape(e, dims);
  }

  Compose &c;
  Term a, b;
  const std::map<char, int64_t> &sizes;
  std::string batch, onlyA, onlyB, contracted;
};

/// The output's labels when the equation has no "->": in alphabetical order
/// what is there once.
std::string implied(const std::vector<std::string> &terms) {
  std::map<char, int> times;
  std::string out;
  for (const std::string &t : terms) {
    if (out.empty() && t.find("...") != t.npos)
      out = "...";
    for (char l : t)
      times[l] += l != '.';
  }
  for (auto [label, n] : times)
    if (n == 1)
      out += label;
  return out;
}

absl::Status einsum(Importer &im, const Node &node) {
  std::string equation = node.s("equation", "");
  equation.erase(std::remove(equation.begin(), equation.end(), ' '),
                 equation.end());
  std::vector<std::string> sides = absl::StrSplit(equation, "->");
  std::vector<std::string> texts = absl::StrSplit(sides[0], ',');
  if (sides.size() > 2 || int(texts.size()) != node.inputs())
    return absl::InvalidArgumentError(
        absl::StrCat("equation \"", equation, "\" has ", texts.size(),
                     " terms for ", node.inputs(), " inputs"));
  Compose c(im);
  std::vector<Term> terms;
  std::map<char, int64_t> sizes;
  int64_t hidden = 0;
  for (size_t n = 0; n < texts.size(); ++n) {
    Term t{im.entry(node, n), ""};
    NPU_ASSIGN(t.labels, labelsOf(texts[n], c.dims(t.e).size()));
    for (char l : t.labels)
      hidden = std::max<int64_t>(hidden, l < kEllipsis ? l : 0);
    terms.push_back(diagonal(c, t));
    if (!c.status().ok())
      return c.status();
    if (absl::Status s = sizesOf(c, terms.back(), &sizes); !s.ok())
      return s;
  }
  NPU_ASSIGN(
      std::string out,
      labelsOf(sides.size() == 2 ? sides[1] : implied(texts), -1, hidden));
  for (char l : out)
    if (!sizes.count(l))
      return absl::InvalidArgumentError("the output has a label that no input "
                                        "has");
  Term result = terms[0];
  for (size_t n = 0; n < terms.size(); ++n) {
    std::set<char> keep(out.begin(), out.end());
    for (size_t m = n + 1; m < terms.size(); ++m)
      keep.insert(terms[m].labels.begin(), terms[m].labels.end());
    if (n == 0) {
      result = summed(c, result, keep);
      continue;
    }
    std::set<char> both = keep;
    both.insert(result.labels.begin(), result.labels.end());
    result = Product(c, result, summed(c, terms[n], both), sizes).run(keep);
    if (!c.status().ok())
      return c.status();
  }
  return c.bind(node, 0, c.transpose(result.e, positions(result.labels, out)));
}

} // namespace

void registerEinsumOps(Registry &r) {
  r["Einsum"] = OpImport(einsum)
                    .on(Engine::Matrix)
                    .anyInputs()
                    .of(kFloat)
                    .since(12)
                    .note("sums, then one matrix product for each pair of "
                          "inputs, from the left");
}

} // namespace npu
