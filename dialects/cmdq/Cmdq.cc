//===- Cmdq.cc - The cmdq dialect: attributes, helpers --------------------===//

#include "dialects/cmdq/Cmdq.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace npu::cmdq;

#include "dialects/cmdq/CmdqDialect.cpp.inc"
#include "dialects/cmdq/CmdqEnums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/cmdq/CmdqAttrs.cpp.inc"
#include "dialects/cmdq/CmdqInterfaces.cpp.inc"

namespace npu::cmdq {

// The dialect's enums are those of the command, number by number.
template <typename A, typename B> constexpr bool same(A a, B b) {
  return static_cast<int>(a) == static_cast<int>(b);
}
static_assert(same(SpaceKind::Const, rt::Space::kConst) &&
              same(SpaceKind::Io, rt::Space::kIo));
static_assert(same(EngineKind::Matrix, rt::Engine::kMatrix) &&
              same(EngineKind::DmaOut, rt::Engine::kDmaOut));
static_assert(same(Function::Identity, rt::Function::kIdentity) &&
              same(Function::GeluTanh, rt::Function::kGeluTanh) &&
              same(Function::Softplus, rt::Function::kSoftplus) &&
              same(Function::Sign, rt::Function::kSign));
static_assert(same(BinaryKind::Add, rt::BinaryKind::kAdd) &&
              same(BinaryKind::Prelu, rt::BinaryKind::kPrelu) &&
              same(BinaryKind::Shr, rt::BinaryKind::kShr));
static_assert(same(CompareKind::LessEqual, rt::CompareKind::kLessEqual));
static_assert(same(PoolKind::Average, rt::PoolKind::kAverage));
static_assert(same(ReduceKind::SumSquare, rt::ReduceKind::kSumSquare));

void CmdqDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/cmdq/CmdqAttrs.cpp.inc"
      >();
  registerOps();
}

//===----------------------------------------------------------------------===//
// Helpers
//===----------------------------------------------------------------------===//

llvm::hash_code hash_value(const EpilogueValue &value) {
  const auto *bytes = reinterpret_cast<const char *>(&value.fields);
  return llvm::hash_combine_range(bytes, bytes + sizeof(value.fields));
}

std::optional<rt::DType> toDType(Type type) {
  if (type.isF32())
    return rt::DType::kF32;
  if (type.isF16())
    return rt::DType::kF16;
  if (type.isF64())
    return rt::DType::kF64;
  if (type.isBF16())
    return rt::DType::kBF16;
  if (type.isUnsignedInteger(8))
    return rt::DType::kU8;
  if (type.isUnsignedInteger(16))
    return rt::DType::kU16;
  if (type.isUnsignedInteger(32))
    return rt::DType::kU32;
  if (type.isUnsignedInteger(64))
    return rt::DType::kU64;
  if (!type.isSignlessInteger())
    return std::nullopt;
  switch (type.getIntOrFloatBitWidth()) {
  case 1:
    return rt::DType::kBool;
  case 8:
    return rt::DType::kI8;
  case 16:
    return rt::DType::kI16;
  case 32:
    return rt::DType::kI32;
  case 64:
    return rt::DType::kI64;
  }
  return std::nullopt;
}

Type fromDType(MLIRContext *context, rt::DType type) {
  switch (type) {
  case rt::DType::kI8:
    return IntegerType::get(context, 8);
  case rt::DType::kU8:
    return IntegerType::get(context, 8, IntegerType::Unsigned);
  case rt::DType::kI16:
    return IntegerType::get(context, 16);
  case rt::DType::kI32:
    return IntegerType::get(context, 32);
  case rt::DType::kI64:
    return IntegerType::get(context, 64);
  case rt::DType::kF16:
    return Float16Type::get(context);
  case rt::DType::kF32:
    return Float32Type::get(context);
  case rt::DType::kBool:
    return IntegerType::get(context, 1);
  case rt::DType::kU16:
    return IntegerType::get(context, 16, IntegerType::Unsigned);
  case rt::DType::kU32:
    return IntegerType::get(context, 32, IntegerType::Unsigned);
  case rt::DType::kU64:
    return IntegerType::get(context, 64, IntegerType::Unsigned);
  case rt::DType::kF64:
    return Float64Type::get(context);
  case rt::DType::kBF16:
    return BFloat16Type::get(context);
  }
  return {};
}

bool isBufferType(Type type) {
  auto memref = dyn_cast<MemRefType>(type);
  if (!memref || !memref.hasStaticShape() || memref.getRank() < 1 ||
      memref.getRank() > rt::kMaxRank || !toDType(memref.getElementType()) ||
      !isa_and_nonnull<SpaceAttr>(memref.getMemorySpace()))
    return false;
  SmallVector<int64_t> strides;
  int64_t offset;
  return succeeded(memref.getStridesAndOffset(strides, offset)) &&
         offset != ShapedType::kDynamic &&
         !llvm::is_contained(strides, ShapedType::kDynamic);
}

SmallVector<Value, 4> present(const std::array<Value, 4> &slots, int first) {
  SmallVector<Value, 4> values;
  for (Value slot : llvm::drop_begin(slots, first))
    if (slot)
      values.push_back(slot);
  return values;
}

SmallVector<rt::Wait> toWaits(ArrayAttr waits) {
  SmallVector<rt::Wait> list;
  if (waits)
    for (auto wait : waits.getAsRange<WaitAttr>())
      list.push_back(
          {static_cast<uint16_t>(wait.getQueue()), 0, wait.getCount()});
  return list;
}

ArrayAttr fromWaits(MLIRContext *context, ArrayRef<rt::Wait> waits) {
  if (waits.empty())
    return {};
  SmallVector<Attribute> list;
  for (const rt::Wait &wait : waits)
    list.push_back(WaitAttr::get(context, wait.queue, wait.count));
  return ArrayAttr::get(context, list);
}

Value rootBuffer(Value view) {
  while (auto op = view.getDefiningOp<ViewLikeOpInterface>())
    view = op.getViewSource();
  return view;
}

//===----------------------------------------------------------------------===//
// #cmdq.epilogue
//===----------------------------------------------------------------------===//

namespace {
struct IntField {
  StringLiteral name;
  int32_t rt::Epilogue::*member;
};
struct FloatField {
  StringLiteral name;
  float rt::Epilogue::*member;
};
struct FlagField {
  StringLiteral name;
  rt::EpilogueFlags flag;
};
constexpr IntField kInts[] = {{"mid_zp", &rt::Epilogue::mid_zp},
                              {"lo", &rt::Epilogue::lo},
                              {"hi", &rt::Epilogue::hi},
                              {"res_mid_zp", &rt::Epilogue::res_mid_zp},
                              {"res_zp", &rt::Epilogue::res_zp},
                              {"out_zp", &rt::Epilogue::out_zp},
                              {"lo2", &rt::Epilogue::lo2},
                              {"hi2", &rt::Epilogue::hi2}};
constexpr FloatField kFloats[] = {{"scale_self", &rt::Epilogue::scale_self},
                                  {"scale_res", &rt::Epilogue::scale_res},
                                  {"alpha", &rt::Epilogue::alpha},
                                  {"beta", &rt::Epilogue::beta},
                                  {"flo2", &rt::Epilogue::flo2},
                                  {"fhi2", &rt::Epilogue::fhi2}};
constexpr FlagField kFlags[] = {{"lut", rt::kLutFlag},
                                {"wide_lut", rt::kWideLutFlag},
                                {"residual", rt::kResidualFlag},
                                {"per_channel", rt::kPerChannelScale}};

ParseResult parseField(AsmParser &parser, rt::Epilogue &fields) {
  StringRef name;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseKeyword(&name))
    return failure();
  for (const FlagField &field : kFlags)
    if (name == field.name) {
      fields.flags |= field.flag;
      return success();
    }
  if (parser.parseEqual())
    return failure();
  for (const IntField &field : kInts)
    if (name == field.name)
      return parser.parseInteger(fields.*field.member);
  for (const FloatField &field : kFloats)
    if (name == field.name) {
      APFloat value(0.0f);
      if (parser.parseFloat(APFloat::IEEEsingle(), value))
        return failure();
      fields.*field.member = value.convertToFloat();
      return success();
    }
  if (name != "function")
    return parser.emitError(loc) << "unknown epilogue field '" << name << "'";
  StringRef keyword;
  if (parser.parseKeyword(&keyword))
    return failure();
  auto function = symbolizeFunction(keyword);
  if (!function)
    return parser.emitError(loc) << "unknown function '" << keyword << "'";
  fields.function = static_cast<rt::Function>(*function);
  return success();
}
} // namespace

Attribute EpilogueAttr::parse(AsmParser &parser, Type) {
  rt::Epilogue fields{};
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::LessGreater, [&] {
        return parseField(parser, fields);
      }))
    return {};
  return get(parser.getContext(), fields);
}

void EpilogueAttr::print(AsmPrinter &printer) const {
  const rt::Epilogue &fields = getValue().fields;
  const char *separator = "";
  auto next = [&]() -> AsmPrinter & {
    printer << separator;
    separator = ", ";
    return printer;
  };
  printer << '<';
  for (const FlagField &field : kFlags)
    if (fields.flags & field.flag)
      next() << field.name;
  for (const IntField &field : kInts)
    if (fields.*field.member)
      next() << field.name << " = " << fields.*field.member;
  if (fields.function != rt::Function::kIdentity)
    next() << "function = "
           << stringifyFunction(static_cast<Function>(fields.function));
  for (const FloatField &field : kFloats) {
    APFloat value(fields.*field.member);
    if (!value.isPosZero()) {
      next() << field.name << " = ";
      printer.printFloat(value);
    }
  }
  printer << '>';
}

EpilogueAttr EpilogueAttr::get(MLIRContext *context,
                               const rt::Epilogue &fields) {
  return get(context, EpilogueValue{fields});
}

} // namespace npu::cmdq
