// In how many items' references each n-gram occurs, for CIDEr's idf.
//
// idf = log N - log max(1, df) makes no difference between df 0 and df 1, so an n-gram that occurs once needs no entry,
// and neither does one whose first or last words form an n-gram that occurs once. Most long n-grams fall away so.
#pragma once

#include <cstdint>
#include <vector>

#include "overlap.hpp"

namespace postil {

// (id of the first n-1 words, last word) -> id, for the n-grams of one order.
class GramIndex {
 public:
  void reserve(size_t entries);
  void insert(uint64_t key, int32_t id);
  int32_t find(uint64_t key) const;  // id or -1

 private:
  struct Slot {
    uint64_t key;
    int32_t id;
  };
  std::vector<Slot> slots_;
  uint64_t mask_ = 0;
};

struct GramLevel {
  std::vector<int32_t> first;  // id of the (n-1)-gram, one order below
  std::vector<int32_t> last;   // word id
  std::vector<int32_t> df;
  GramIndex index;  // empty at order 1, where the id is the word
};

class Grams {
 public:
  // Count the references. group[s] says which item the set s belongs to; sets of one item stand behind one another.
  // norms, where not null, is filled with the length of each reference's tf-idf vector in each order: [references, order].
  Grams(const Texts& references, Span<int64_t> set_offsets, Span<int32_t> group, int order, int jobs, double* norms);
  // From saved tables: words[n-1] is [grams, n], row by row, with each order's n-grams in any order; df beside it.
  Grams(int64_t items, const std::vector<Span<int32_t>>& words, const std::vector<Span<int32_t>>& df);

  int order() const { return static_cast<int>(levels_.size()); }
  int64_t items() const { return items_; }
  // The id of the n-gram that ends with `word` and begins with the (n-1)-gram `first`, or -1 if its df is at most 1.
  int32_t find(int n, int32_t first, int32_t word) const;
  double idf(int n, int32_t id) const;
  // Length of each text's tf-idf vector in each order: [texts, order].
  void norms(const Texts& texts, int jobs, double* out) const;
  // n-grams with df of at least 2 as words [grams, n] and df.
  void table(int n, std::vector<int32_t>& words, std::vector<int32_t>& df) const;

 private:
  void set_idf();
  int64_t items_;
  std::vector<GramLevel> levels_;
  std::vector<double> idf_of_df_;
};

}  // namespace postil
