//===- software_device.h - The software NPU ---------------------*- C++ -*-===//
#ifndef RUNTIME_DEVICE_SOFTWARE_SOFTWARE_DEVICE_H
#define RUNTIME_DEVICE_SOFTWARE_SOFTWARE_DEVICE_H

#include "runtime/device/device.h"
#include "runtime/device/software/executor.h"

namespace npu::rt {

/// Executes command queues on this CPU. The bits of the result depend neither
/// on the number of threads nor on the instruction set (integers).
std::unique_ptr<Device> createSoftwareDevice(const ExecutorOptions &options);

} // namespace npu::rt

#endif // RUNTIME_DEVICE_SOFTWARE_SOFTWARE_DEVICE_H
