// Run numbered blocks of work on a few threads. Every block writes only its own
// rows, so the result has the same bits whatever the number of threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace postil {

constexpr int64_t kBlock = 256;  // candidates in one block of work

inline int64_t block_count(int64_t n) { return (n + kBlock - 1) / kBlock; }

// body(block) for block = 0 .. blocks-1. Each thread owns the Worker that make() gives it.
template <class Make, class Body>
void for_each_block(int64_t blocks, int jobs, Make make, Body body) {
  const int threads = static_cast<int>(std::max<int64_t>(1, std::min<int64_t>(jobs, blocks)));
  std::atomic<int64_t> next{0};
  std::exception_ptr failure;
  std::mutex failure_lock;
  auto work = [&] {
    try {
      auto worker = make();
      for (int64_t block; (block = next.fetch_add(1)) < blocks;) body(worker, block);
    } catch (...) {
      std::lock_guard<std::mutex> hold(failure_lock);
      if (!failure) failure = std::current_exception();
      next = blocks;
    }
  };
  std::vector<std::thread> pool;
  for (int i = 1; i < threads; ++i) pool.emplace_back(work);
  work();
  for (auto& thread : pool) thread.join();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace postil
