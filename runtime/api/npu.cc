// The C interface: the C++ one behind opaque handles.
#include "runtime/api/npu.h"

#include <new>

#include "absl/time/clock.h"
#include "runtime/api/queue.h"

using namespace npu::rt;

struct npu_device {
  std::shared_ptr<Device> device;
};
struct npu_program {
  std::shared_ptr<const Program> program;
  mutable std::map<std::string, std::string> info; ///< strings handed out
};
struct npu_session {
  std::unique_ptr<Session> session;
};
struct npu_queue {
  std::unique_ptr<Queue> queue;
};
struct npu_fence {
  Fence fence;
};

static thread_local std::string lastError;

static npu_code codeOf(absl::StatusCode code) {
  switch (code) {
  case absl::StatusCode::kOk:
    return NPU_OK;
  case absl::StatusCode::kInvalidArgument:
  case absl::StatusCode::kOutOfRange:
    return NPU_INVALID_ARGUMENT;
  case absl::StatusCode::kNotFound:
    return NPU_NOT_FOUND;
  case absl::StatusCode::kResourceExhausted:
    return NPU_RESOURCE_EXHAUSTED;
  case absl::StatusCode::kFailedPrecondition:
    return NPU_FAILED_PRECONDITION;
  case absl::StatusCode::kDataLoss:
    return NPU_DATA_LOSS;
  case absl::StatusCode::kUnimplemented:
  case absl::StatusCode::kUnavailable:
    return NPU_UNIMPLEMENTED;
  case absl::StatusCode::kCancelled:
    return NPU_CANCELLED;
  case absl::StatusCode::kDeadlineExceeded:
    return NPU_DEADLINE_EXCEEDED;
  default:
    return NPU_INTERNAL;
  }
}

static npu_code report(const absl::Status &status) {
  if (!status.ok())
    lastError = std::string(status.message());
  return codeOf(status.code());
}

static npu_code invalid(const char *message) {
  return report(absl::InvalidArgumentError(message));
}

static const TensorInfo *tensor(const npu_program *program, int32_t i) {
  if (!program || i < 0)
    return nullptr;
  const auto &in = program->program->inputs(),
             &out = program->program->outputs();
  size_t n = i;
  if (n < in.size())
    return &in[n];
  return n - in.size() < out.size() ? &out[n - in.size()] : nullptr;
}

static npu_code loaded(absl::StatusOr<std::shared_ptr<const Program>> program,
                       npu_program **out) {
  if (!program.ok())
    return report(program.status());
  *out = new npu_program{*std::move(program), {}};
  return NPU_OK;
}

uint32_t npu_abi_version(void) { return NPU_ABI_VERSION; }
const char *npu_last_error(void) { return lastError.c_str(); }

npu_code npu_device_open(const char *name, int32_t threads, int32_t portable,
                         npu_device **device) {
  if (!name || !device)
    return invalid("npu_device_open: null argument");
  DeviceOptions options;
  options.name = name;
  options.threads = threads;
  options.portable = portable != 0;
  auto opened = openDevice(options);
  if (!opened.ok())
    return report(opened.status());
  *device = new npu_device{*std::move(opened)};
  return NPU_OK;
}
void npu_device_free(npu_device *device) { delete device; }

npu_code npu_program_load(const char *path, npu_program **program) {
  if (!path || !program)
    return invalid("npu_program_load: null argument");
  return loaded(Program::open(path), program);
}
npu_code npu_program_load_bytes(const void *bytes, size_t size,
                                npu_program **program) {
  if (!bytes || !program)
    return invalid("npu_program_load_bytes: null argument");
  return loaded(
      Program::parse({static_cast<const char *>(bytes), size}, "the blob"),
      program);
}
void npu_program_free(npu_program *program) { delete program; }
int32_t npu_program_num_inputs(const npu_program *program) {
  return program ? program->program->inputs().size() : 0;
}
int32_t npu_program_num_outputs(const npu_program *program) {
  return program ? program->program->outputs().size() : 0;
}
const char *npu_program_tensor_name(const npu_program *program, int32_t i) {
  const TensorInfo *t = tensor(program, i);
  return t ? t->name.c_str() : nullptr;
}
npu_type npu_program_tensor_type(const npu_program *program, int32_t i) {
  const TensorInfo *t = tensor(program, i);
  return t ? static_cast<npu_type>(t->dtype) : NPU_I8;
}
int32_t npu_program_tensor_rank(const npu_program *program, int32_t i) {
  const TensorInfo *t = tensor(program, i);
  return t ? t->shape.size() : 0;
}
const int64_t *npu_program_tensor_shape(const npu_program *program, int32_t i) {
  const TensorInfo *t = tensor(program, i);
  return t ? t->shape.data() : nullptr;
}
int64_t npu_program_tensor_bytes(const npu_program *program, int32_t i) {
  const TensorInfo *t = tensor(program, i);
  return t ? t->bytes() : 0;
}
const char *npu_program_info(const npu_program *program, const char *key) {
  if (!program || !key)
    return "";
  auto [it, isNew] = program->info.try_emplace(key);
  if (isNew)
    it->second = program->program->info(key);
  return it->second.c_str();
}
int64_t npu_program_session_bytes(const npu_program *program) {
  if (!program)
    return 0;
  const SpaceSizes &sizes = program->program->sizes();
  int64_t bytes = sizes.dram + sizes.sram * sizes.cores;
  for (int64_t io : sizes.io)
    bytes += io;
  return bytes;
}

npu_code npu_session_create(npu_device *device, npu_program *program,
                            npu_session **session) {
  if (!device || !program || !session)
    return invalid("npu_session_create: null argument");
  auto created = Session::create(device->device, program->program);
  if (!created.ok())
    return report(created.status());
  *session = new npu_session{*std::move(created)};
  return NPU_OK;
}
void npu_session_free(npu_session *session) { delete session; }
void *npu_session_data(npu_session *session, int32_t i) {
  if (!session || i < 0 ||
      size_t(i) >= session->session->program().sizes().io.size())
    return nullptr;
  return session->session->input(i).data;
}
npu_code npu_session_bind(npu_session *session, const char *name, void *data,
                          int64_t bytes) {
  if (!session || !name)
    return invalid("npu_session_bind: null argument");
  return report(session->session->bind(name, data, bytes));
}
npu_code npu_session_run(npu_session *session) {
  return session ? report(session->session->run())
                 : invalid("npu_session_run: null session");
}

npu_code npu_queue_create(npu_device *device, npu_queue **queue) {
  if (!device || !queue)
    return invalid("npu_queue_create: null argument");
  *queue = new npu_queue{std::make_unique<Queue>(device->device)};
  return NPU_OK;
}
void npu_queue_free(npu_queue *queue) { delete queue; }
npu_fence *npu_fence_create(void) { return new (std::nothrow) npu_fence; }
void npu_fence_free(npu_fence *fence) { delete fence; }
npu_code npu_queue_submit(npu_queue *queue, npu_session *session,
                          npu_fence *fence, int32_t priority,
                          double deadline_ms) {
  if (!queue || !session || !fence)
    return invalid("npu_queue_submit: null argument");
  JobOptions options;
  options.priority = priority;
  if (deadline_ms > 0)
    options.deadline = absl::Now() + absl::Milliseconds(deadline_ms);
  return report(
      queue->queue->submit(*session->session, &fence->fence, options));
}
npu_code npu_fence_wait(npu_fence *fence, double timeout_ms) {
  if (!fence)
    return invalid("npu_fence_wait: null fence");
  return report(fence->fence.wait(timeout_ms < 0
                                      ? absl::InfiniteDuration()
                                      : absl::Milliseconds(timeout_ms)));
}
int32_t npu_fence_done(const npu_fence *fence) {
  return fence && fence->fence.done();
}
void npu_fence_cancel(npu_fence *fence) {
  if (fence)
    fence->fence.cancel();
}
