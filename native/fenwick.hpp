// Sums over the ranks below a rank, and additions to one, in the logarithm of their number (Fenwick 1994).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace postil {

struct Below {
  std::vector<int64_t> tree;

  void clear(size_t ranks) { tree.assign(ranks + 1, 0); }
  void add(int32_t rank, int64_t w) {
    for (size_t i = rank + 1; i < tree.size(); i += i & -i) tree[i] += w;
  }
  int64_t sum(int32_t rank) const {
    int64_t out = 0;
    for (size_t i = rank; i > 0; i &= i - 1) out += tree[i];
    return out;
  }
};

}  // namespace postil
