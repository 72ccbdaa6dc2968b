#include "lowering/cmdq_to_blob/Blob.h"
#include "lowering/onnx_to_npu/import.h"
#include "mlir/Tools/mlir-translate/MlirTranslateMain.h"

int main(int argc, char **argv) {
  npu::registerOnnxToNpuTranslation();
  npu::registerBlobTranslations();
  return mlir::failed(
      mlir::mlirTranslateMain(argc, argv, "npu-mlir translation driver"));
}
