/*===- npu.h - The runtime's C interface ------------------------*- C -*-===*
 *
 *   npu_device *device;   npu_device_open("software", 1, 0, &device);
 *   npu_program *program; npu_program_load("model.npub", &program);
 *   npu_session *session; npu_session_create(device, program, &session);
 *   float *in = npu_session_data(session, 0);           ... fill in ...
 *   npu_session_run(session);
 *   const float *out = npu_session_data(session,
 * npu_program_num_inputs(program));
 *
 * Functions that can fail return 0, or a code of npu_code; npu_last_error()
 * then has one line for people. Handles are freed with their _free, which
 * takes null; a session keeps its device and program alive. Different threads
 * may use different handles at the same time; one handle is for one thread at
 * a time, except for npu_fence_cancel, npu_fence_done and npu_fence_wait.
 *
 *===---------------------------------------------------------------------===*/
#ifndef RUNTIME_API_NPU_H
#define RUNTIME_API_NPU_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Incremented when a function changes; additions do not change it. */
#define NPU_ABI_VERSION 1

typedef enum npu_code {
  NPU_OK = 0,
  NPU_INVALID_ARGUMENT = 1,
  NPU_NOT_FOUND = 2,
  NPU_RESOURCE_EXHAUSTED = 3, /**< memory, or a full queue */
  NPU_FAILED_PRECONDITION = 4,
  NPU_DATA_LOSS = 5,     /**< a damaged blob */
  NPU_UNIMPLEMENTED = 6, /**< a blob of a newer format, say */
  NPU_CANCELLED = 7,
  NPU_DEADLINE_EXCEEDED = 8,
  NPU_INTERNAL = 9
} npu_code;

/** Element types; the numbers are those in blobs. */
typedef enum npu_type {
  NPU_I8,
  NPU_U8,
  NPU_I16,
  NPU_I32,
  NPU_I64,
  NPU_F16,
  NPU_F32,
  NPU_BOOL,
  NPU_U16,
  NPU_U32,
  NPU_U64,
  NPU_F64,
  NPU_BF16
} npu_type;

typedef struct npu_device npu_device;
typedef struct npu_program npu_program;
typedef struct npu_session npu_session;
typedef struct npu_queue npu_queue;
typedef struct npu_fence npu_fence;

uint32_t npu_abi_version(void);
/** The last error of this thread; "" if there was none. */
const char *npu_last_error(void);

/** Opens a device ("software"). `threads`: 0 for one per CPU; `portable`: not
 * 0 for kernels without vector instructions. */
npu_code npu_device_open(const char *name, int32_t threads, int32_t portable,
                         npu_device **device);
void npu_device_free(npu_device *device);

/** Maps and verifies a blob. */
npu_code npu_program_load(const char *path, npu_program **program);
/** The same of bytes, which are copied. */
npu_code npu_program_load_bytes(const void *bytes, size_t size,
                                npu_program **program);
void npu_program_free(npu_program *program);
int32_t npu_program_num_inputs(const npu_program *program);
int32_t npu_program_num_outputs(const npu_program *program);
/** Tensor `i`: inputs first, then outputs; null (or 0) if there is none. The
 * strings and arrays live as long as the program. */
const char *npu_program_tensor_name(const npu_program *program, int32_t i);
npu_type npu_program_tensor_type(const npu_program *program, int32_t i);
int32_t npu_program_tensor_rank(const npu_program *program, int32_t i);
const int64_t *npu_program_tensor_shape(const npu_program *program, int32_t i);
int64_t npu_program_tensor_bytes(const npu_program *program, int32_t i);
/** A fact that the compiler stored: "mode", "labels", ...; "" if absent. */
const char *npu_program_info(const npu_program *program, const char *key);
/** Bytes that a session of it takes: weights are mapped, the rest allocated. */
int64_t npu_program_session_bytes(const npu_program *program);

npu_code npu_session_create(npu_device *device, npu_program *program,
                            npu_session **session);
void npu_session_free(npu_session *session);
/** Memory of tensor `i` (inputs first), row-major; null if there is none. */
void *npu_session_data(npu_session *session, int32_t i);
/** Uses the caller's memory for a tensor until bound again (null: the
 * session's own). */
npu_code npu_session_bind(npu_session *session, const char *name, void *data,
                          int64_t bytes);
/** Runs to the end on this thread. */
npu_code npu_session_run(npu_session *session);

npu_code npu_queue_create(npu_device *device, npu_queue **queue);
/** Waits for the running job and cancels the others. */
void npu_queue_free(npu_queue *queue);
npu_fence *npu_fence_create(void);
/** The fence's job must have ended. */
void npu_fence_free(npu_fence *fence);
/** Starts a job. `deadline_ms` <= 0: none. */
npu_code npu_queue_submit(npu_queue *queue, npu_session *session,
                          npu_fence *fence, int32_t priority,
                          double deadline_ms);
/** Waits for the job's end and returns how it ended; `timeout_ms` < 0: as long
 * as it takes, otherwise NPU_DEADLINE_EXCEEDED if it has not by then. */
npu_code npu_fence_wait(npu_fence *fence, double timeout_ms);
int32_t npu_fence_done(const npu_fence *fence);
void npu_fence_cancel(npu_fence *fence);

#ifdef __cplusplus
}
#endif

#endif /* RUNTIME_API_NPU_H */
