//===- CmdqOps.cc - Verifiers of the cmdq ops -----------------------------===//

#include "dialects/cmdq/Cmdq.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/OpImplementation.h"

using namespace mlir;
using namespace npu;
using namespace npu::cmdq;

#define GET_OP_CLASSES
#include "dialects/cmdq/CmdqOps.cpp.inc"

void CmdqDialect::registerOps() {
  addOperations<
#define GET_OP_LIST
#include "dialects/cmdq/CmdqOps.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// Common checks
//===----------------------------------------------------------------------===//

static MemRefType typeOf(Value value) {
  return cast<MemRefType>(value.getType());
}

static bool isDense(MemRefType type) {
  SmallVector<int64_t> strides;
  int64_t offset, expected = 1;
  if (failed(type.getStridesAndOffset(strides, offset)))
    return false;
  for (int64_t i = type.getRank() - 1; i >= 0; --i) {
    if (type.getDimSize(i) != 1 && strides[i] != expected)
      return false;
    expected *= type.getDimSize(i);
  }
  return true;
}

LogicalResult npu::cmdq::verifyCommand(Operation *op) {
  auto command = cast<CommandOpInterface>(op);
  if (Value out = command.getOut()) {
    if (spaceOf(out) == SpaceKind::Const)
      return op->emitOpError("writes constant memory, which is read-only");
    SmallVector<int64_t> strides;
    int64_t offset;
    (void)typeOf(out).getStridesAndOffset(strides, offset);
    for (auto [dim, stride] : llvm::zip(typeOf(out).getShape(), strides))
      if (dim > 1 && stride == 0)
        return op->emitOpError("output ")
               << typeOf(out) << " has a stride of 0: only inputs broadcast";
  }
  for (Value aux : command.getAux())
    if (spaceOf(aux) != SpaceKind::Const || !isDense(typeOf(aux)))
      return op->emitOpError("auxiliary operand ")
             << typeOf(aux) << " must be dense and in #cmdq.space<const>";
  if (ArrayAttr waits = command.getWaitsAttr())
    if (waits.size() > rt::kMaxWaits)
      return op->emitOpError("has ")
             << waits.size() << " waits; a command holds " << rt::kMaxWaits;
  return success();
}

static LogicalResult sameDims(Operation *op, Value a, Value b, StringRef what) {
  if (typeOf(a).getShape() != typeOf(b).getShape())
    return op->emitOpError(what)
           << " has dims of " << typeOf(b) << ", the output of " << typeOf(a);
  return success();
}

static LogicalResult wantRank(Operation *op, Value value, int64_t rank,
                              StringRef what) {
  if (typeOf(value).getRank() != rank)
    return op->emitOpError(what)
           << " must have rank " << rank << ", not " << typeOf(value);
  return success();
}

static LogicalResult wantTable(Operation *op, Value table, int64_t elements,
                               StringRef element, StringRef what) {
  if (!table)
    return success();
  MemRefType type = typeOf(table);
  std::string name;
  llvm::raw_string_ostream(name) << type.getElementType();
  if (type.getNumElements() != elements || name != element)
    return op->emitOpError(what)
           << " must be " << elements << " x " << element << ", not " << type;
  return success();
}

static LogicalResult wantSize(Operation *op, ArrayRef<int32_t> list,
                              size_t size, StringRef what) {
  if (list.size() != size)
    return op->emitOpError(what)
           << " must have " << size << " values, not " << list.size();
  return success();
}

template <typename Op>
static LogicalResult verifyEpilogue(Op op, int64_t channels) {
  const rt::Epilogue &epilogue = op.getEpilogue().getValue().fields;
  Type element = typeOf(op.getOut()).getElementType();
  auto flag = [&](rt::EpilogueFlags bit) { return bool(epilogue.flags & bit); };
  if (flag(rt::kLutFlag) != bool(op.getLut()))
    return op.emitOpError("epilogue flag 'lut' must say whether the operand "
                          "lut is there");
  if (flag(rt::kWideLutFlag) && !op.getLut())
    return op.emitOpError("epilogue flag 'wide_lut' needs the operand lut");
  if (flag(rt::kResidualFlag) != bool(op.getResidual()))
    return op.emitOpError("epilogue flag 'residual' must say whether the "
                          "operand residual is there");
  if (element.isInteger(8) != bool(op.getMultipliers()))
    return op.emitOpError("multipliers must be there exactly when the output "
                          "is i8");
  StringRef bias = element.isF32() ? "f32" : "i32";
  if (failed(wantTable(op, op.getBias(), channels, bias, "bias")) ||
      failed(wantTable(op, op.getMultipliers(),
                       flag(rt::kPerChannelScale) ? channels : 1, "f32",
                       "multipliers")) ||
      failed(wantTable(op, op.getLut(), rt::lutEntries(epilogue.flags), "i8",
                       "lut")))
    return failure();
  if (op.getResidual())
    return sameDims(op, op.getOut(), op.getResidual(), "residual");
  return success();
}

//===----------------------------------------------------------------------===//
// Commands
//===----------------------------------------------------------------------===//

LogicalResult DmaOp::verify() {
  if (typeOf(getOut()).getElementTypeBitWidth() !=
      typeOf(getIn()).getElementTypeBitWidth())
    return emitOpError("element sizes differ: ")
           << typeOf(getOut()) << " and " << typeOf(getIn());
  return sameDims(*this, getOut(), getIn(), "input");
}

LogicalResult FillOp::verify() { return success(); }

/// Output extent of a window, as command.h defines it.
static int64_t windowOut(int64_t in, int64_t kernel, int64_t stride,
                         int64_t dilation, int64_t padding) {
  return (in + padding - dilation * (kernel - 1) - 1) / stride + 1;
}

template <typename Op>
static LogicalResult verifyWindow(Op op, int64_t kh, int64_t kw) {
  if (failed(wantRank(op, op.getOut(), 4, "output")) ||
      failed(wantRank(op, op.getIn(), 4, "input")) ||
      failed(wantSize(op, op.getStrides(), 2, "strides")) ||
      failed(wantSize(op, op.getDilations(), 2, "dilations")) ||
      failed(wantSize(op, op.getPads(), 4, "pads")))
    return failure();
  ArrayRef<int32_t> strides = op.getStrides(), dilations = op.getDilations(),
                    pads = op.getPads();
  if (llvm::any_of(strides, [](int32_t s) { return s < 1; }) ||
      llvm::any_of(dilations, [](int32_t d) { return d < 1; }))
    return op.emitOpError("strides and dilations must be positive");
  int64_t extent[2] = {dilations[0] * (kh - 1) + 1,
                       dilations[1] * (kw - 1) + 1};
  for (int i = 0; i < 4; ++i)
    if (pads[i] < 0 || pads[i] >= extent[i % 2])
      return op.emitOpError("pads must be in [0, dilated kernel), but pads[")
             << i << "] is " << pads[i] << " for a kernel of " << extent[i % 2];
  MemRefType out = typeOf(op.getOut()), in = typeOf(op.getIn());
  int64_t oh = windowOut(in.getDimSize(1), kh, strides[0], dilations[0],
                         pads[0] + pads[2]);
  int64_t ow = windowOut(in.getDimSize(2), kw, strides[1], dilations[1],
                         pads[1] + pads[3]);
  if (out.getDimSize(0) != in.getDimSize(0) || out.getDimSize(1) != oh ||
      out.getDimSize(2) != ow)
    return op.emitOpError("output must be [")
           << in.getDimSize(0) << ", " << oh << ", " << ow << ", C], not "
           << out;
  return success();
}

LogicalResult Conv2dOp::verify() {
  if (failed(wantRank(*this, getFilter(), 4, "filter")))
    return failure();
  MemRefType filter = typeOf(getFilter());
  if (failed(verifyWindow(*this, filter.getDimSize(1), filter.getDimSize(2))))
    return failure();
  int64_t groups = getGroups(), oc = filter.getDimSize(0);
  if (groups < 1 || oc % groups || typeOf(getOut()).getDimSize(3) != oc ||
      typeOf(getIn()).getDimSize(3) != filter.getDimSize(3) * groups)
    return emitOpError("filter [OC,KH,KW,IC/groups] ")
           << filter << " with groups " << groups << " does not go with input "
           << typeOf(getIn()) << " and output " << typeOf(getOut());
  return verifyEpilogue(*this, oc);
}

LogicalResult DepthwiseConv2dOp::verify() {
  if (failed(wantRank(*this, getFilter(), 3, "filter")))
    return failure();
  MemRefType filter = typeOf(getFilter());
  if (failed(verifyWindow(*this, filter.getDimSize(0), filter.getDimSize(1))))
    return failure();
  int64_t channels = filter.getDimSize(2);
  if (typeOf(getOut()).getDimSize(3) != channels ||
      typeOf(getIn()).getDimSize(3) != channels)
    return emitOpError("filter [KH,KW,C] ")
           << filter << " does not go with input " << typeOf(getIn())
           << " and output " << typeOf(getOut());
  return verifyEpilogue(*this, channels);
}

LogicalResult MatmulOp::verify() {
  MemRefType out = typeOf(getOut()), lhs = typeOf(getLhs()),
             rhs = typeOf(getRhs());
  int64_t rank = out.getRank();
  if (rank < 2 || lhs.getRank() != rank || rhs.getRank() != rank)
    return emitOpError("operands must have one rank, at least 2: ")
           << out << ", " << lhs << ", " << rhs;
  bool fits = lhs.getDimSize(rank - 2) == out.getDimSize(rank - 2) &&
              rhs.getDimSize(rank - 1) == out.getDimSize(rank - 1) &&
              lhs.getDimSize(rank - 1) == rhs.getDimSize(rank - 2);
  for (int64_t i = 0; i < rank - 2; ++i)
    fits = fits && lhs.getDimSize(i) == out.getDimSize(i) &&
           rhs.getDimSize(i) == out.getDimSize(i);
  if (!fits)
    return emitOpError("[..,M,N] = [..,M,K] x [..,K,N] does not hold for ")
           << out << ", " << lhs << ", " << rhs;
  return verifyEpilogue(*this, out.getDimSize(rank - 1));
}

LogicalResult Pool2dOp::verify() {
  if (failed(wantSize(*this, getKernel(), 2, "kernel")) ||
      failed(verifyWindow(*this, getKernel()[0], getKernel()[1])))
    return failure();
  if (typeOf(getOut()).getDimSize(3) != typeOf(getIn()).getDimSize(3))
    return emitOpError("channels differ: ")
           << typeOf(getOut()) << " and " << typeOf(getIn());
  return success();
}

LogicalResult ReduceOp::verify() {
  MemRefType out = typeOf(getOut()), in = typeOf(getIn());
  SmallVector<int64_t> expected(in.getShape());
  int32_t previous = -1;
  for (int32_t axis : getAxes()) {
    if (axis <= previous || axis >= in.getRank())
      return emitOpError("axes must be sorted dimensions of the input, but "
                         "there is ")
             << axis;
    expected[axis] = 1;
    previous = axis;
  }
  if (out.getShape() != ArrayRef<int64_t>(expected))
    return emitOpError("output must have the input's rank with 1 at the "
                       "reduced dimensions, not ")
           << out;
  return success();
}

LogicalResult cmdq::BinaryOp::verify() {
  if (failed(wantTable(*this, getLut(), 256, "i8", "lut")) ||
      failed(sameDims(*this, getOut(), getLhs(), "lhs")))
    return failure();
  return sameDims(*this, getOut(), getRhs(), "rhs");
}

LogicalResult CompareOp::verify() {
  if (!typeOf(getOut()).getElementType().isInteger(1))
    return emitOpError("output must be i1, not ") << typeOf(getOut());
  if (failed(sameDims(*this, getOut(), getLhs(), "lhs")))
    return failure();
  return sameDims(*this, getOut(), getRhs(), "rhs");
}

LogicalResult SelectOp::verify() {
  if (!typeOf(getCondition()).getElementType().isInteger(1))
    return emitOpError("condition must be i1, not ") << typeOf(getCondition());
  for (Value side : {getLhs(), getRhs()})
    if (typeOf(side).getElementType() != typeOf(getOut()).getElementType())
      return emitOpError("takes ")
             << typeOf(side) << " for an output " << typeOf(getOut());
  for (Value input : {getCondition(), getLhs(), getRhs()})
    if (failed(sameDims(*this, getOut(), input, "input")))
      return failure();
  return success();
}

LogicalResult cmdq::UnaryOp::verify() {
  return sameDims(*this, getOut(), getIn(), "input");
}

LogicalResult LutOp::verify() {
  if (failed(wantTable(*this, getTable(), 256, "i8", "table")))
    return failure();
  return sameDims(*this, getOut(), getIn(), "input");
}

LogicalResult SoftmaxOp::verify() {
  bool integer = typeOf(getIn()).getElementType().isInteger(8);
  if (integer != bool(getTable()))
    return emitOpError("table must be there exactly when the input is i8");
  if (failed(wantTable(*this, getTable(), 256, "f32", "table")))
    return failure();
  return sameDims(*this, getOut(), getIn(), "input");
}

LogicalResult Resize2dOp::verify() {
  if (failed(wantRank(*this, getOut(), 4, "output")) ||
      failed(wantRank(*this, getIn(), 4, "input")) ||
      failed(wantTable(*this, getRows(), 4 * typeOf(getOut()).getDimSize(1),
                       "i32", "row taps")))
    return failure();
  MemRefType out = typeOf(getOut()), in = typeOf(getIn());
  if (out.getDimSize(0) != in.getDimSize(0) ||
      out.getDimSize(3) != in.getDimSize(3))
    return emitOpError("batch and channels of ")
           << out << " and " << in << " differ";
  return wantTable(*this, getColumns(), 4 * out.getDimSize(2), "i32",
                   "column taps");
}

LogicalResult cmdq::GatherOp::verify() {
  MemRefType out = typeOf(getOut()), in = typeOf(getIn());
  int64_t axis = getAxis();
  SmallVector<int64_t> expected(in.getShape());
  if (axis < 0 || axis >= in.getRank())
    return emitOpError("axis ") << axis << " is no dimension of " << in;
  expected[axis] = typeOf(getIndices()).getNumElements();
  if (out.getShape() != ArrayRef<int64_t>(expected))
    return emitOpError("output ")
           << out << " must be the input's shape with as many elements along "
           << "the axis as there are indices";
  return wantTable(*this, getIndices(), expected[axis], "i32", "indices");
}

LogicalResult ConvertOp::verify() {
  return sameDims(*this, getOut(), getIn(), "input");
}

LogicalResult cmdq::VectorMacOp::verify() {
  MemRefType out = typeOf(getOut()), weight = typeOf(getWeight());
  if (!out.getElementType().isInteger(32))
    return emitOpError("output must be i32, not ") << out;
  if (weight.getRank() != 1 || weight.getDimSize(0) != out.getShape().back())
    return emitOpError("weight must have the ")
           << out.getShape().back() << " channels of the output, not "
           << weight;
  return sameDims(*this, getOut(), getIn(), "input");
}

LogicalResult RequantizeOp::verify() {
  if (failed(sameDims(*this, getOut(), getIn(), "input")))
    return failure();
  return verifyEpilogue(*this, typeOf(getOut()).getShape().back());
}

LogicalResult cmdq::ArgMaxOp::verify() {
  MemRefType out = typeOf(getOut()), in = typeOf(getIn());
  SmallVector<int64_t> expected(in.getShape());
  expected.back() = 1;
  if (out.getShape() != ArrayRef<int64_t>(expected))
    return emitOpError("output must have the input's dims with 1 as the "
                       "last, not ")
           << out;
  if (!out.getElementType().isInteger(32) &&
      !out.getElementType().isInteger(64))
    return emitOpError("output must be i32 or i64, not ") << out;
  return success();
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

static LogicalResult wantSpace(Operation *op, MemRefType type,
                               ArrayRef<SpaceKind> spaces) {
  if (llvm::is_contained(spaces, spaceOf(type)))
    return success();
  return op->emitOpError("cannot be in space '")
         << stringifySpaceKind(spaceOf(type)) << "'";
}

LogicalResult ProgramOp::verifyRegions() {
  for (Operation &op : getBody().front()) {
    if (auto command = dyn_cast<CommandOpInterface>(op))
      if (command.getCore() >= getCores())
        return op.emitOpError("is on core ")
               << command.getCore() << " of a program with " << getCores()
               << " core(s)";
  }
  return success();
}

LogicalResult AllocOp::verify() {
  if (!isDense(getType()))
    return emitOpError("must be dense, not ") << getType();
  return wantSpace(*this, getType(), {SpaceKind::Dram, SpaceKind::Sram});
}

LogicalResult cmdq::ConstantOp::verify() {
  MemRefType type = getType();
  ShapedType value = getValue().getShapedType();
  if (!isDense(type) || value.getShape() != type.getShape() ||
      value.getElementType() != type.getElementType())
    return emitOpError("value ")
           << value << " does not fill the dense memref " << type;
  if (getOffset() &&
      (*getOffset() < 0 ||
       *getOffset() % rt::sizeOf(*toDType(type.getElementType()))))
    return emitOpError("offset ")
           << *getOffset() << " is negative or not aligned to the element";
  return wantSpace(*this, type, {SpaceKind::Const});
}

LogicalResult IoOp::verify() {
  if (!isDense(getType()))
    return emitOpError("must be dense, not ") << getType();
  return wantSpace(*this, getType(), {SpaceKind::Io});
}

LogicalResult cmdq::BufferOp::verify() {
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(getType().getStridesAndOffset(strides, offset)) || offset != 0)
    return emitOpError("the type's own offset must be 0, put it into the "
                       "attribute: ")
           << getType();
  return success();
}
