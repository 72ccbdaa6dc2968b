#include "lowering/onnx_to_npu/registry.h"

#include "absl/strings/str_join.h"

namespace npu {

const char *refusalName(RefusalKind kind) {
  switch (kind) {
  case RefusalKind::Training:
    return "training";
  case RefusalKind::Random:
    return "random";
  case RefusalKind::NonTensor:
    return "non-tensor";
  case RefusalKind::DataDependent:
    return "data-dependent";
  case RefusalKind::Operator:
    return "operator";
  case RefusalKind::Type:
    return "type";
  case RefusalKind::NotConstant:
    return "not-constant";
  case RefusalKind::Constraint:
    return "constraint";
  case RefusalKind::Empty:
    return "empty";
  case RefusalKind::Invalid:
    break;
  }
  return "invalid";
}

const char *engineName(Engine engine) {
  switch (engine) {
  case Engine::Matrix:
    return "matrix engine";
  case Engine::Vector:
    return "vector engine";
  case Engine::Dma:
    return "DMA";
  case Engine::None:
    break;
  }
  return "nothing to run";
}

std::string typesText(unsigned types) {
  std::vector<std::string> names;
  const std::pair<unsigned, const char *> all[] = {
      {kFloat, "float"},   {kInt8, "int8"},     {kUint8, "uint8"},
      {kInt16, "int16"},   {kUint16, "uint16"}, {kInt32, "int32"},
      {kUint32, "uint32"}, {kInt64, "int64"},   {kUint64, "uint64"},
      {kBool, "bool"},     {kQuantized, "QDQ"}};
  for (const auto &[bit, name] : all)
    if (types & bit)
      names.push_back(name);
  return absl::StrJoin(names, ", ");
}

const Registry &registry() {
  static const Registry *all = [] {
    auto *r = new Registry;
    registerConvOps(*r);
    registerControlOps(*r);
    registerEinsumOps(*r);
    registerSignalOps(*r);
    registerTopKOps(*r);
    registerElementwiseOps(*r);
    registerLogicOps(*r);
    registerFunctionOps(*r);
    registerMaskOps(*r);
    registerIndexOps(*r);
    registerLossOps(*r);
    registerReduceOps(*r);
    registerRecurrentOps(*r);
    registerNormOps(*r);
    registerDataOps(*r);
    registerQuantizedOps(*r);
    registerRefusedOps(*r);
    return r;
  }();
  return *all;
}

namespace {

struct Group {
  RefusalKind kind;
  const char *why;
  std::vector<const char *> ops;
};

} // namespace

void registerRefusedOps(Registry &r) {
  const Group groups[] = {
      {RefusalKind::Training,
       "this operator trains a model; export it for inference",
       {"ai.onnx.preview.training:Adagrad", "ai.onnx.preview.training:Adam",
        "ai.onnx.preview.training:Gradient",
        "ai.onnx.preview.training:Momentum"}},
      {RefusalKind::Random,
       "its result is random; feed the values as an input instead",
       {"Bernoulli", "Multinomial", "RandomNormal", "RandomNormalLike",
        "RandomUniform", "RandomUniformLike"}},
      {RefusalKind::NonTensor,
       "sequences, optional values and strings have no place on an NPU; keep "
       "this part of the model in the application",
       {"ConcatFromSequence", "Optional", "OptionalGetElement",
        "OptionalHasElement", "SequenceAt", "SequenceConstruct",
        "SequenceEmpty", "SequenceErase", "SequenceInsert", "SequenceLength",
        "SequenceMap", "SplitToSequence", "StringConcat", "StringNormalizer",
        "StringSplit", "RegexFullMatch", "TfIdfVectorizer"}},
      {RefusalKind::DataDependent,
       "the shape of its result depends on values, which are not known when "
       "building",
       {"Compress", "NonMaxSuppression", "NonZero", "Unique"}}};
  for (const Group &group : groups)
    for (const char *op : group.ops) {
      OpImport entry;
      entry.kind = group.kind;
      entry.text = group.why;
      r.emplace(op, entry); // one that has a handler keeps it
    }
}

} // namespace npu
