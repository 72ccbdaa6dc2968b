//===- ort_api.h - The part of ONNX Runtime's C interface we call -*- C++
//-*-===//
//
// ONNX Runtime hands out one table of functions to which versions only append,
// so a function is known by its place in it. Stating the few places here keeps
// the runtime free of a build dependency; api_table_test.cc compares them with
// the header of the installed version.
//
//===----------------------------------------------------------------------===//
#ifndef RUNTIME_HOST_ORT_API_H
#define RUNTIME_HOST_ORT_API_H

#include <cstddef>
#include <cstdint>

namespace npu::rt::ort {

struct Status;
struct Env;
struct Session;
struct SessionOptions;
struct MemoryInfo;
struct Value;
struct TypeInfo;
struct ShapeInfo;
struct Allocator;

/// Places in the table.
enum Slot {
  kGetErrorMessage = 2,
  kCreateEnv = 3,
  kCreateSessionFromArray = 8,
  kRun = 9,
  kCreateSessionOptions = 10,
  kSetIntraOpNumThreads = 24,
  kSetInterOpNumThreads = 25,
  kSessionGetInputCount = 30,
  kSessionGetOutputCount = 31,
  kSessionGetInputTypeInfo = 33,
  kSessionGetOutputTypeInfo = 34,
  kSessionGetInputName = 36,
  kSessionGetOutputName = 37,
  kCreateTensorWithData = 49,
  kIsTensor = 50,
  kGetTensorMutableData = 51,
  kCastTypeInfoToTensorInfo = 55,
  kGetTensorElementType = 60,
  kGetDimensionsCount = 61,
  kGetDimensions = 62,
  kGetTensorTypeAndShape = 65,
  kCreateCpuMemoryInfo = 69,
  kAllocatorFree = 76,
  kGetAllocatorWithDefaultOptions = 78,
  kReleaseStatus = 93,
  kReleaseMemoryInfo = 94,
  kReleaseSession = 95,
  kReleaseValue = 96,
  kReleaseTypeInfo = 98,
  kReleaseShapeInfo = 99,
  kReleaseSessionOptions = 100
};

/// What the library exports as OrtGetApiBase.
struct ApiBase {
  const void *const *(*getApi)(uint32_t version);
  const char *(*getVersionString)();
};

constexpr uint32_t kApiVersion = 1; ///< all of the above are in it
constexpr int kLogError = 3;        ///< logging level
constexpr int kArenaAllocator = 1;
constexpr int kDefaultMemory = 0;

/// Calls the function at a place: call<Status *>(table, kRun, ...).
template <typename Result, typename... Args>
Result call(const void *const *table, Slot slot, Args... args) {
  return reinterpret_cast<Result (*)(Args...)>(const_cast<void *>(table[slot]))(
      args...);
}

} // namespace npu::rt::ort

#endif // RUNTIME_HOST_ORT_API_H
