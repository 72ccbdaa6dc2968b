#include "runtime/kernels/thread_pool.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace npu::rt {

// Long enough to bridge the gap between two commands, short enough not to
// burn a core between two inferences.
constexpr int kSpins = 2000;

static void pause() {
#if defined(__x86_64__)
  _mm_pause();
#endif
}

ThreadPool::ThreadPool(int threads) {
  for (int i = 1; i < threads; ++i)
    workers_.emplace_back([this, i] { work(i); });
}

ThreadPool::~ThreadPool() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    stop_ = true;
    ++generation_;
  }
  wake_.notify_all();
  for (std::thread &worker : workers_)
    worker.join();
}

void ThreadPool::drain(int thread) {
  for (int64_t i; (i = next_.fetch_add(1)) < pieces_;)
    call_(body_, i, thread);
}

void ThreadPool::run(int64_t pieces, void *body, Call call) {
  pieces_ = pieces;
  body_ = body;
  call_ = call;
  next_ = 0;
  busy_ = int(workers_.size());
  {
    std::lock_guard<std::mutex> lock(mutex_);
    ++generation_;
  }
  wake_.notify_all();
  drain(0);
  for (int spins = 0; busy_ != 0; ++spins) {
    if (spins < kSpins)
      pause();
    else
      std::this_thread::yield();
  }
}

void ThreadPool::work(int thread) {
  uint64_t seen = 0;
  while (true) {
    for (int spins = 0; spins < kSpins && generation_ == seen; ++spins)
      pause();
    if (generation_ == seen) {
      std::unique_lock<std::mutex> lock(mutex_);
      wake_.wait(lock, [&] { return generation_ != seen; });
    }
    seen = generation_;
    if (stop_)
      return;
    drain(thread);
    --busy_;
  }
}

} // namespace npu::rt
