//===- thread_pool.h - Persistent workers for one device --------*- C++ -*-===//
#ifndef RUNTIME_KERNELS_THREAD_POOL_H
#define RUNTIME_KERNELS_THREAD_POOL_H

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

namespace npu::rt {

/// Runs the pieces of one job on `threads` threads, the caller among them.
/// One job at a time: parallelFor() is called by one thread.
class ThreadPool {
public:
  explicit ThreadPool(int threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool &) = delete;

  int threads() const { return int(workers_.size()) + 1; }

  /// Calls body(piece, thread) for piece in [0, pieces); thread is in
  /// [0, threads()). Returns when all are done. Does not allocate.
  template <typename F> void parallelFor(int64_t pieces, const F &body) {
    if (pieces <= 1 || workers_.empty()) {
      for (int64_t i = 0; i < pieces; ++i)
        body(i, 0);
      return;
    }
    run(pieces, const_cast<F *>(&body), [](void *f, int64_t i, int thread) {
      (*static_cast<const F *>(f))(i, thread);
    });
  }

private:
  using Call = void (*)(void *, int64_t, int);
  void run(int64_t pieces, void *body, Call call);
  void work(int thread);
  void drain(int thread);

  std::vector<std::thread> workers_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::atomic<uint64_t> generation_{0};
  std::atomic<bool> stop_{false};
  std::atomic<int64_t> next_{0};
  std::atomic<int> busy_{0};
  int64_t pieces_ = 0;
  void *body_ = nullptr;
  Call call_ = nullptr;
};

} // namespace npu::rt

#endif // RUNTIME_KERNELS_THREAD_POOL_H
