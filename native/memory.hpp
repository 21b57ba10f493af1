// Large scratch arrays: on huge pages where the system has them, and not cleared before use.
#pragma once

#include <cstdlib>
#include <new>
#include <utility>
#include <vector>

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace postil {

template <class T>
struct LargeAllocator {
  using value_type = T;
  LargeAllocator() = default;
  template <class U>
  LargeAllocator(const LargeAllocator<U>&) {}

  T* allocate(size_t n) {
    const size_t bytes = n * sizeof(T);
#ifdef __linux__
    constexpr size_t kHuge = size_t{1} << 21;
    if (bytes >= kHuge) {
      void* memory = std::aligned_alloc(kHuge, (bytes + kHuge - 1) / kHuge * kHuge);
      if (!memory) throw std::bad_alloc();
      madvise(memory, bytes, MADV_HUGEPAGE);  // a wish; what happens without it is the same, slower
      return static_cast<T*>(memory);
    }
#endif
    void* memory = std::malloc(bytes);
    if (!memory) throw std::bad_alloc();
    return static_cast<T*>(memory);
  }
  void deallocate(T* memory, size_t) { std::free(memory); }

  template <class U>
  void construct(U* place) {
    ::new (static_cast<void*>(place)) U;  // leaves plain values as they are
  }
  template <class U, class... Args>
  void construct(U* place, Args&&... args) {
    ::new (static_cast<void*>(place)) U(std::forward<Args>(args)...);
  }
  bool operator==(const LargeAllocator&) const { return true; }
  bool operator!=(const LargeAllocator&) const { return false; }
};

// vector(n) leaves its values unset; give a value where one is needed.
template <class T>
using Large = std::vector<T, LargeAllocator<T>>;

}  // namespace postil
