// n-grams without hashing: sets of candidate positions as bits.
//
// mask[u] has bit i set where word i of the candidate is u. Reading a text word by word, D_1 = mask[word] and
// D_n = (D_{n-1} of the word before << 1) & mask[word]; bit i of D_n says that the n-gram just read also ends at position
// i of the candidate. Its lowest bit names the n-gram: the place where the candidate first ends it.
#pragma once

#include <cstring>

#include "overlap.hpp"

namespace postil {

constexpr int kMaxOrder = 9;

// Bits over the positions of one candidate. kWords is 1 where it has at most 64 words, which is nearly always;
// 0 means any number, held in `words`.
template <int kWords>
struct Masks {
  int words = 1;
  std::vector<uint64_t> of_unit;  // [units, words]

  void set(const Candidate& candidate) {
    words = kWords ? kWords : (candidate.length + 63) / 64;
    of_unit.assign(static_cast<size_t>(candidate.unit_count) * width(), 0);
    for (int32_t i = 0; i < candidate.length; ++i) {
      of_unit[static_cast<size_t>(candidate.units[i]) * width() + i / 64] |= 1ull << (i % 64);
    }
  }
  int width() const { return kWords ? kWords : words; }
  const uint64_t* operator[](int32_t unit) const { return of_unit.data() + static_cast<size_t>(unit) * width(); }
};

// Reads hits left to right; after read(), order_reached() says up to which n the words just read form an n-gram of the
// candidate, and place(n) where the candidate first ends it.
template <int kWords>
class NgramReader {
 public:
  NgramReader(const Masks<kWords>& masks, int order) : masks_(masks), order_(order) {
    ends_.resize(static_cast<size_t>(order) * masks.width());
    restart();
  }

  void restart() { last_at_ = -2, reached_ = 0; }

  void read(const Hit& hit) {
    const int width = masks_.width();
    const uint64_t* mask = masks_[hit.unit];
    int reach = hit.at == last_at_ + 1 ? std::min(reached_ + 1, order_) : 1;
    for (int n = reach; n >= 2; --n) {  // D_n from D_{n-1}, the long ones first
      uint64_t* to = ends(n);
      const uint64_t* from = ends(n - 1);
      uint64_t carry = 0, any = 0;
      for (int w = 0; w < width; ++w) {
        const uint64_t shifted = from[w] << 1 | carry;
        carry = from[w] >> 63;
        to[w] = shifted & mask[w];
        any |= to[w];
      }
      if (!any && n == reach) --reach;
    }
    std::memcpy(ends(1), mask, sizeof(uint64_t) * width);
    last_at_ = hit.at;
    reached_ = reach;
  }

  int order_reached() const { return reached_; }

  int32_t place(int n) const {
    const uint64_t* bits = ends(n);
    int w = 0;
    while (kWords != 1 && bits[w] == 0) ++w;
    return w * 64 + __builtin_ctzll(bits[w]);
  }

  int32_t occurrences(int n) const {  // how often the candidate holds it
    int32_t count = 0;
    for (int w = 0; w < masks_.width(); ++w) {
      for (uint64_t left = ends(n)[w]; left; left &= left - 1) ++count;  // nearly always one
    }
    return count;
  }

 private:
  uint64_t* ends(int n) { return ends_.data() + static_cast<size_t>(n - 1) * masks_.width(); }
  const uint64_t* ends(int n) const { return ends_.data() + static_cast<size_t>(n - 1) * masks_.width(); }

  const Masks<kWords>& masks_;
  int order_;
  std::vector<uint64_t> ends_;
  int32_t last_at_ = -2;
  int reached_ = 0;
};

// The distinct n-grams of a candidate: at each place where one first ends, how often it occurs; 0 elsewhere.
template <int kWords>
void count_own_ngrams(const Candidate& candidate, const Masks<kWords>& masks, int order, std::vector<int32_t>& counts) {
  counts.assign(static_cast<size_t>(order) * candidate.length, 0);
  NgramReader<kWords> reader(masks, order);
  for (int32_t i = 0; i < candidate.length; ++i) {
    reader.read({i, candidate.units[i]});
    for (int n = 1; n <= reader.order_reached(); ++n) {
      if (reader.place(n) == i) counts[static_cast<size_t>(n - 1) * candidate.length + i] = reader.occurrences(n);
    }
  }
}

// Call body(width tag) with the specialised or the general code for this candidate.
template <class Body>
void by_width(const Candidate& candidate, Body body) {
  if (candidate.length <= 64) {
    body(std::integral_constant<int, 1>{});
  } else {
    body(std::integral_constant<int, 0>{});
  }
}

}  // namespace postil
