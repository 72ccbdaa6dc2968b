//===- registry.h - What can be imported, and how ---------------*- C++ -*-===//
//
// One entry per operator. What an entry says is what the importer checks before
// it calls the handler, and what docs/SUPPORTED_OPS.md prints.
//
//===----------------------------------------------------------------------===//
#ifndef LOWERING_ONNX_TO_NPU_REGISTRY_H
#define LOWERING_ONNX_TO_NPU_REGISTRY_H

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "lowering/onnx_to_npu/import.h"

namespace npu {

class Importer;
class Node;

/// Opsets that can be declared by a model.
constexpr int64_t kOldestOpset = 1, kNewestOpset = 23;

using Handler = std::function<absl::Status(Importer &, const Node &)>;

/// Where an operator's work is done.
enum class Engine {
  Matrix,
  Vector,
  Dma,  ///< data is moved, not computed
  None, ///< nothing is left to do when the model runs
};
const char *engineName(Engine engine);

/// Sets of element types. Floating types are all computed as f32.
enum ElementTypes : unsigned {
  kFloat = 1,
  kInt8 = 2,
  kUint8 = 4,
  kInt16 = 8,
  kInt32 = 16,
  kInt64 = 32,
  kBool = 64,
  kQuantized = 128, ///< 8-bit with scale and zero point, in QDQ models
  kUint16 = 256,
  kUint32 = 512,
  kUint64 = 1024,
  kSmallIntegers = kInt8 | kUint8,
  kIntegers =
      kSmallIntegers | kInt16 | kUint16 | kInt32 | kUint32 | kInt64 | kUint64,
  kAnyType = kFloat | kIntegers | kBool | kQuantized,
};
/// "float, int8, uint8".
std::string typesText(unsigned types);

/// The entry of one operator.
struct OpImport {
  Handler handler; ///< empty: refused, `kind` and `text` say why
  Engine engine = Engine::Vector;
  int required = 1;      ///< inputs that must be there, the first ones
  bool variadic = false; ///< every input is one of the same kind
  /// Inputs that must be known when building, if they are there.
  std::vector<int> constants;
  /// The element types of the other required inputs.
  unsigned types = kAnyType;
  /// Ranks of input 0.
  int minRank = 0, maxRank = 1 << 10;
  std::string text; ///< what else limits it, for people
  /// Opset that brought it; given where the installed ONNX library is older.
  int firstOpset = 1;
  RefusalKind kind = RefusalKind::Operator;

  OpImport() = default;
  OpImport(Handler handler) : handler(std::move(handler)) {}
  template <typename F, typename = decltype(Handler(std::declval<F>()))>
  OpImport(F f) : handler(std::move(f)) {}

  OpImport &on(Engine e) { return engine = e, *this; }
  OpImport &inputs(int n) { return required = n, *this; }
  OpImport &anyInputs() { return variadic = true, *this; }
  OpImport &constant(std::vector<int> n) {
    return constants = std::move(n), *this;
  }
  OpImport &of(unsigned t) { return types = t, *this; }
  OpImport &ranks(int low, int high) {
    return minRank = low, maxRank = high, *this;
  }
  OpImport &since(int opset) { return firstOpset = opset, *this; }
  OpImport &note(std::string t) { return text = std::move(t), *this; }
};

/// By "OpType" (ai.onnx) or "com.microsoft:OpType".
using Registry = std::map<std::string, OpImport>;
const Registry &registry();

void registerConvOps(Registry &registry);
void registerControlOps(Registry &registry);
void registerEinsumOps(Registry &registry);
void registerElementwiseOps(Registry &registry);
void registerLogicOps(Registry &registry);
void registerFunctionOps(Registry &registry);
void registerMaskOps(Registry &registry);
void registerIndexOps(Registry &registry);
void registerLossOps(Registry &registry);
void registerReduceOps(Registry &registry);
void registerRecurrentOps(Registry &registry);
void registerNormOps(Registry &registry);
void registerDataOps(Registry &registry);
void registerQuantizedOps(Registry &registry);
void registerSignalOps(Registry &registry);
void registerTopKOps(Registry &registry);
/// What is known and refused, with the reason.
void registerRefusedOps(Registry &registry);

} // namespace npu

#endif // LOWERING_ONNX_TO_NPU_REGISTRY_H
