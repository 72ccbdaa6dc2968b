//===- NPUBase.td - The npu dialect, its attributes and op classes --------===//

#ifndef DIALECTS_NPU_NPUBASE_TD
#define DIALECTS_NPU_NPUBASE_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/CommonAttrConstraints.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def NPU_Dialect : Dialect {
  let name = "npu";
  let cppNamespace = "::npu";
  let summary = "Neural-network operators as an NPU sees them";
  let description = [{
    Static-shaped tensors in, static-shaped tensors out. Spatial operators are
    NHWC. Element types are f32, f16, integers, and `!quant.uniform` from
    MLIR's quant dialect (8-bit storage, per tensor for activations, per axis
    for weights). The meaning of the quantised operators is that of the
    commands they become, `runtime/queue/command.h`.
  }];
  let useDefaultAttributePrinterParser = 1;
  let dependentDialects = ["::mlir::quant::QuantDialect",
                           "::mlir::tensor::TensorDialect"];
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

class NPU_Attr<string name, string attrMnemonic> : AttrDef<NPU_Dialect, name> {
  let mnemonic = attrMnemonic;
}

class NPU_Enum<string name, string desc, list<I32EnumAttrCase> cases>
    : I32EnumAttr<name, desc, cases> {
  let cppNamespace = "::npu";
  let genSpecializedAttr = 0;
}

def NPU_ActivationKind : NPU_Enum<"ActivationKind", "a function fused into a producer", [
  I32EnumAttrCase<"Clip", 0, "clip">,
  I32EnumAttrCase<"LeakyRelu", 1, "leaky_relu">,
  I32EnumAttrCase<"Sigmoid", 2, "sigmoid">,
  I32EnumAttrCase<"HardSigmoid", 3, "hard_sigmoid">,
  I32EnumAttrCase<"HardSwish", 4, "hard_swish">,
  I32EnumAttrCase<"Swish", 5, "swish">,
  I32EnumAttrCase<"Tanh", 6, "tanh">,
  I32EnumAttrCase<"Gelu", 7, "gelu">,
  I32EnumAttrCase<"GeluTanh", 8, "gelu_tanh">
]>;

def NPU_ActivationAttr : NPU_Attr<"Activation", "act"> {
  let summary = "An activation fused into the producing operator";
  let description = [{
    `#npu.act<clip, 0.0, 6.0>`: kind, alpha, beta; both in real (dequantised)
    units. Clip is [alpha, beta] (relu: 0 and +inf); leaky_relu's slope,
    hard_sigmoid's slope and offset and swish's factor are alpha (and beta);
    the other kinds ignore them.
  }];
  let parameters = (ins EnumParameter<NPU_ActivationKind>:$kind,
                        "::llvm::APFloat":$alpha, "::llvm::APFloat":$beta);
  let hasCustomAssemblyFormat = 1;
  let builders = [AttrBuilder<(ins "ActivationKind":$kind,
      CArg<"double", "0.0">:$alpha, CArg<"double", "0.0">:$beta), [{
    return $_get($_ctxt, kind, ::llvm::APFloat(static_cast<float>(alpha)),
                 ::llvm::APFloat(static_cast<float>(beta)));
  }]>];
  let extraClassDeclaration = [{
    float alpha() const { return getAlpha().convertToFloat(); }
    float beta() const { return getBeta().convertToFloat(); }
  }];
}

def NPU_ResizeMode : NPU_Enum<"ResizeMode", "interpolation", [
  I32EnumAttrCase<"Nearest", 0, "nearest">,
  I32EnumAttrCase<"Linear", 1, "linear">
]>;
def NPU_ResizeModeAttr : EnumAttr<NPU_Dialect, NPU_ResizeMode, "resize_mode">;

def NPU_CoordinateMode : NPU_Enum<"CoordinateMode", "ONNX coordinate transformation", [
  I32EnumAttrCase<"HalfPixel", 0, "half_pixel">,
  I32EnumAttrCase<"PytorchHalfPixel", 1, "pytorch_half_pixel">,
  I32EnumAttrCase<"AlignCorners", 2, "align_corners">,
  I32EnumAttrCase<"Asymmetric", 3, "asymmetric">,
  I32EnumAttrCase<"HalfPixelSymmetric", 4, "half_pixel_symmetric">,
  I32EnumAttrCase<"TfHalfPixelForNN", 5, "tf_half_pixel_for_nn">
]>;
def NPU_CoordinateModeAttr : EnumAttr<NPU_Dialect, NPU_CoordinateMode, "coordinate_mode">;

def NPU_NearestMode : NPU_Enum<"NearestMode", "ONNX rounding of nearest", [
  I32EnumAttrCase<"RoundPreferFloor", 0, "round_prefer_floor">,
  I32EnumAttrCase<"RoundPreferCeil", 1, "round_prefer_ceil">,
  I32EnumAttrCase<"Floor", 2, "floor">,
  I32EnumAttrCase<"Ceil", 3, "ceil">
]>;
def NPU_NearestModeAttr : EnumAttr<NPU_Dialect, NPU_NearestMode, "nearest_mode">;

def NPU_PadMode : NPU_Enum<"PadMode", "what padding holds", [
  I32EnumAttrCase<"Constant", 0, "constant">,
  I32EnumAttrCase<"Reflect", 1, "reflect">,
  I32EnumAttrCase<"Edge", 2, "edge">
]>;
def NPU_PadModeAttr : EnumAttr<NPU_Dialect, NPU_PadMode, "pad_mode">;

def NPU_DepthToSpaceMode : NPU_Enum<"DepthToSpaceMode", "order of the channel's factors", [
  I32EnumAttrCase<"DCR", 0, "dcr">, I32EnumAttrCase<"CRD", 1, "crd">
]>;
def NPU_DepthToSpaceModeAttr : EnumAttr<NPU_Dialect, NPU_DepthToSpaceMode, "d2s_mode">;

//===----------------------------------------------------------------------===//
// Types and op classes
//===----------------------------------------------------------------------===//

def NPU_Tensor : StaticShapeTensorOf<[AnyType]>;


// Every op infers the *shape* of its results (element types are free where
// quantisation may change them); the verifier compares.
class NPU_Op<string mnemonic, list<Trait> traits = []>
    : Op<NPU_Dialect, mnemonic, traits>;

class NPU_PureOp<string mnemonic, list<Trait> traits = []>
    : NPU_Op<mnemonic, [Pure, InferShapedTypeOpAdaptor] # traits>;

#endif
