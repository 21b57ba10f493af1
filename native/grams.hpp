// In how many items' references each n-gram occurs, for CIDEr's idf.
//
// idf = log N - log max(1, df) makes no difference between df 0 and df 1, so an n-gram that occurs once needs no entry,
// and neither does one whose first or last words form an n-gram that occurs once. Most long n-grams fall away so.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "memory.hpp"
#include "overlap.hpp"
#include "places.hpp"

namespace postil {

// The n-grams of one order from 2 on, numbered, and found by the number of their first n-1 words and their last word.
class GramLevel {
 public:
  struct Gram {
    int32_t first, last;  // number of the (n-1)-gram, one order below; word
    int32_t df, last_item;
  };
  const Large<Gram>& grams() const { return grams_; }

  void reserve(size_t grams);
  int32_t find(int32_t first, int32_t last) const;            // number or -1
  int32_t add(int32_t first, int32_t last, int32_t item);     // number; counts the item, unless it was the last to come
  void set(int32_t first, int32_t last, int32_t df) { grams_[add(first, last, -1)].df = df; }
  void prefetch(uint64_t hash) const { __builtin_prefetch(&slots_[hash & mask_]); }
  void prefetch_gram(uint64_t hash) const { __builtin_prefetch(grams_.data() + std::max(0, slots_[hash & mask_].id)); }
  static uint64_t hash_of(int32_t first, int32_t last) {
    uint64_t key = static_cast<uint64_t>(static_cast<uint32_t>(first)) << 32 | static_cast<uint32_t>(last);
    key ^= key >> 31;
    key *= 0x9E3779B97F4A7C15ull;
    return key ^ (key >> 29);
  }

 private:
  struct Slot {
    uint32_t tag;  // of the hash, so that other n-grams are seldom looked at
    int32_t id;    // or -1
  };
  static uint32_t tag_of(uint64_t hash) { return static_cast<uint32_t>(hash >> 32); }
  size_t place_of(uint64_t hash, int32_t first, int32_t last) const;  // where it stands or would
  Large<Gram> grams_;
  Large<Slot> slots_;
  uint64_t mask_ = 0;
};

class Grams {
 public:
  // Count the references. item[s] says which item the set s belongs to; sets of one item stand behind one another.
  Grams(const Texts& references, Span<int64_t> set_offsets, Span<int32_t> item, int order);
  // From saved tables: words[n-1] is [grams, n], row by row, with each order's n-grams in any order; df beside it.
  Grams(int64_t items, const std::vector<Span<int32_t>>& words, const std::vector<Span<int32_t>>& df);

  int order() const { return static_cast<int>(levels_.size()) + 1; }
  int64_t items() const { return items_; }
  // The number of the n-gram that ends with `word` and begins with the (n-1)-gram `first`, or -1 if its df is not known to
  // be above 1. At n = 1 it is the word.
  int32_t find(int n, int32_t first, int32_t word) const {
    if (n == 1) return static_cast<size_t>(word) < word_df_.size() ? word : -1;
    return first < 0 ? -1 : levels_[n - 2].find(first, word);
  }
  double idf(int n, int32_t id) const {
    const int32_t df = id < 0 ? 0 : n == 1 ? word_df_[id] : levels_[n - 2].grams()[id].df;
    return static_cast<size_t>(df) < idf_of_df_.size() ? idf_of_df_[df] : log_items_ - std::log(static_cast<double>(df));
  }
  // n-grams with df of at least 2 as words [grams, n] and df.
  void table(int n, std::vector<int32_t>& words, std::vector<int32_t>& df) const;

 private:
  void set_idf();
  int64_t items_;
  std::vector<int32_t> word_df_;
  std::vector<GramLevel> levels_;  // of order 2 and up
  double log_items_ = 0.0;
  std::vector<double> idf_of_df_;  // of those below kTabled
};

// The length of a text's tf-idf vector in each order. One for each thread.
class Norms {
 public:
  explicit Norms(const Grams& grams) : grams_(grams) {}
  // Orders 1 to `top` -> out[0] to out[top - 1].
  void of(const int32_t* words, int32_t length, int top, double* out);

 private:
  struct Place {
    int32_t id;     // of the n-gram that ends here, or -1
    int32_t first;  // where this n-gram first ends in the text
    int32_t count;  // at its first place: how often it occurs
  };
  const Grams& grams_;
  std::vector<Place> places_;
  FirstPlaces first_;  // of a long text
};

}  // namespace postil
