// Comparisons, truth values, bits, integer arithmetic, choices.
#include "lowering/onnx_to_npu/compose.h"

#include <limits>

using namespace mlir;

namespace npu {

namespace {

constexpr unsigned kNumbers = kFloat | kIntegers;

/// `Op` on words, the result as what the operands were.
template <typename Op> absl::Status onWords(Importer &im, const Node &node) {
  Compose c(im);
  Entry a = im.entry(node, 0), b = im.entry(node, 1);
  Entry out = c.pair<Op>(c.words(a), c.words(b));
  return c.bind(node, 0, c.castTo(out, c.elementOf(a)));
}

/// `Op` on operands as they are.
template <typename Op> absl::Status onTruth(Importer &im, const Node &node) {
  Compose c(im);
  return c.bind(node, 0, c.pair<Op>(im.entry(node, 0), im.entry(node, 1)));
}

/// `swapped`: greater is less of the operands the other way round.
template <typename Op> Handler compare(bool swapped = false) {
  return [swapped](Importer &im, const Node &node) {
    Compose c(im);
    Entry a = c.words(im.entry(node, swapped ? 1 : 0)),
          b = c.words(im.entry(node, swapped ? 0 : 1));
    return c.bind(node, 0, c.pair<Op>(a, b));
  };
}

absl::Status not_(Importer &im, const Node &node) {
  Compose c(im);
  return c.bind(node, 0, c.negate(im.entry(node, 0)));
}

absl::Status bitwiseNot(Importer &im, const Node &node) {
  Compose c(im);
  Entry x = im.entry(node, 0), word = c.words(x);
  Entry ones = c.numberLike(word, -1);
  return c.bind(node, 0, c.castTo(c.pair<XorOp>(word, ones), c.elementOf(x)));
}

absl::Status bitShift(Importer &im, const Node &node) {
  std::string direction = node.s("direction", "");
  if (direction == "LEFT")
    return onWords<ShlOp>(im, node);
  if (direction == "RIGHT")
    return onWords<ShrOp>(im, node);
  return absl::InvalidArgumentError("direction \"" + direction +
                                    "\" is neither LEFT nor RIGHT");
}

absl::Status mod(Importer &im, const Node &node) {
  if (node.i("fmod", 0))
    return onWords<RemOp>(im, node);
  Compose c(im);
  if (isa_and_nonnull<FloatType>(c.elementOf(im.entry(node, 0))))
    return absl::InvalidArgumentError("floats need the attribute fmod = 1");
  return onWords<ModOp>(im, node);
}

/// The result has the base's type; what is computed in f32 is truncated to it.
absl::Status pow(Importer &im, const Node &node) {
  Compose c(im);
  Entry base = im.entry(node, 0), exponent = im.entry(node, 1);
  auto isInteger = [&](const Entry &e) {
    return isa_and_nonnull<IntegerType>(c.elementOf(e));
  };
  bool integers = isInteger(base) && isInteger(exponent);
  Type common =
      integers ? Type(im.builder.getI64Type()) : Type(im.builder.getF32Type());
  Entry out = c.pow(c.castTo(base, common), c.castTo(exponent, common));
  return c.bind(node, 0, c.castTo(out, c.elementOf(base)));
}

absl::Status isNan(Importer &im, const Node &node) {
  Compose c(im);
  Entry x = im.entry(node, 0);
  return c.bind(node, 0, c.negate(c.pair<EqualOp>(x, x)));
}

absl::Status isInf(Importer &im, const Node &node) {
  Compose c(im);
  Entry x = im.entry(node, 0);
  constexpr float inf = std::numeric_limits<float>::infinity();
  bool above = node.i("detect_positive", 1),
       below = node.i("detect_negative", 1);
  if (above && below)
    x = c.unary<AbsOp>(x);
  // With neither of them nothing is found: not even a NaN equals itself.
  float found = above   ? inf
                : below ? -inf
                        : std::numeric_limits<float>::quiet_NaN();
  return c.bind(node, 0, c.pair<EqualOp>(x, Compose::scalar(found)));
}

absl::Status sign(Importer &im, const Node &node) {
  Compose c(im);
  Entry x = im.entry(node, 0), word = c.words(x);
  Type element = c.elementOf(word);
  Entry zero = c.numberLike(word, 0);
  Entry above = c.pair<LessOp>(zero, word), below = c.pair<LessOp>(word, zero);
  Entry out = c.sub(c.castTo(above, element), c.castTo(below, element));
  return c.bind(node, 0, c.castTo(out, c.elementOf(x)));
}

absl::Status where(Importer &im, const Node &node) {
  Compose c(im);
  return c.bind(
      node, 0,
      c.select(im.entry(node, 0), im.entry(node, 1), im.entry(node, 2)));
}

} // namespace

void registerLogicOps(Registry &r) {
  auto two = [](Handler handler, unsigned types) {
    return OpImport(handler).inputs(2).of(types);
  };
  r["Equal"] = two(compare<EqualOp>(), kNumbers | kBool);
  r["Less"] = two(compare<LessOp>(), kNumbers);
  r["LessOrEqual"] = two(compare<LessEqualOp>(), kNumbers);
  r["Greater"] = two(compare<LessOp>(true), kNumbers);
  r["GreaterOrEqual"] = two(compare<LessEqualOp>(true), kNumbers);
  r["And"] = two(onTruth<AndOp>, kBool);
  r["Or"] = two(onTruth<OrOp>, kBool);
  r["Xor"] = two(onTruth<XorOp>, kBool);
  r["Not"] = OpImport(not_).of(kBool);
  r["BitwiseAnd"] = two(onWords<AndOp>, kIntegers).since(18);
  r["BitwiseOr"] = two(onWords<OrOp>, kIntegers).since(18);
  r["BitwiseXor"] = two(onWords<XorOp>, kIntegers).since(18);
  r["BitwiseNot"] = OpImport(bitwiseNot).of(kIntegers).since(18);
  r["BitShift"] = two(bitShift, kUint8 | kUint16 | kUint32 | kUint64);
  r["Mod"] = two(mod, kNumbers);
  r["Pow"] = two(pow, kNumbers);
  r["IsNaN"] = OpImport(isNan).of(kFloat);
  r["IsInf"] = OpImport(isInf).of(kFloat);
  r["Sign"] = OpImport(sign).of(kNumbers);
  r["Where"] = OpImport(where).inputs(3).of(kAnyType & ~kQuantized);
}

} // namespace npu
