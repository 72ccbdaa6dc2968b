#include "dialects/npu/NPU.h"
#include "dialects/npu/Tiling.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace npu;

#include "dialects/npu/NPUDialect.cpp.inc"
#include "dialects/npu/NPUEnums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/npu/NPUAttrs.cpp.inc"
#define GET_OP_CLASSES
#include "dialects/npu/NPUOps.cpp.inc"

void NPUDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/npu/NPUAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialects/npu/NPUOps.cpp.inc"
      >();
  attachTilingInterfaces(getContext());
}

//===----------------------------------------------------------------------===//
// #npu.act<kind, alpha, beta>
//===----------------------------------------------------------------------===//

// Bounds may be infinite, which a plain float literal cannot say.
static FailureOr<APFloat> parseReal(AsmParser &parser) {
  double value;
  bool negative = succeeded(parser.parseOptionalMinus());
  if (succeeded(parser.parseOptionalKeyword("inf")))
    value = std::numeric_limits<double>::infinity();
  else if (parser.parseFloat(value))
    return failure();
  APFloat result(static_cast<float>(negative ? -value : value));
  return result;
}

static void printReal(AsmPrinter &printer, const APFloat &value) {
  if (value.isInfinity())
    printer << (value.isNegative() ? "-inf" : "inf");
  else
    printer.printFloat(value);
}

Attribute ActivationAttr::parse(AsmParser &parser, Type) {
  StringRef keyword;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() || parser.parseKeyword(&keyword))
    return {};
  std::optional<ActivationKind> kind = symbolizeActivationKind(keyword);
  if (!kind) {
    parser.emitError(loc, "unknown activation '") << keyword << "'";
    return {};
  }
  APFloat alpha(0.0f), beta(0.0f);
  for (APFloat *out : {&alpha, &beta}) {
    if (failed(parser.parseOptionalComma()))
      break;
    FailureOr<APFloat> value = parseReal(parser);
    if (failed(value))
      return {};
    *out = *value;
  }
  if (parser.parseGreater())
    return {};
  return ActivationAttr::get(parser.getContext(), *kind, alpha, beta);
}

void ActivationAttr::print(AsmPrinter &printer) const {
  printer << "<" << stringifyActivationKind(getKind()) << ", ";
  printReal(printer, getAlpha());
  printer << ", ";
  printReal(printer, getBeta());
  printer << ">";
}
