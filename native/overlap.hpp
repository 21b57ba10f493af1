// What candidates share with their references, found once and read by every metric.
//
// A candidate of 12 words meets some 450 reference words and shares about one in ten with them, so one pass over the
// references keeps the hits (where in the reference, which word of the candidate) and the metrics never see the rest.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "parallel.hpp"

namespace postil {

template <class T>
struct Span {
  const T* data = nullptr;
  int64_t size = 0;
  const T& operator[](int64_t i) const { return data[i]; }
};

// Ragged texts: text i is ids[offsets[i] .. offsets[i + 1]].
struct Texts {
  Span<int32_t> ids;
  Span<int64_t> offsets;
  int64_t count() const { return offsets.size - 1; }
  int64_t begin(int64_t i) const { return offsets[i]; }
  int32_t length(int64_t i) const { return static_cast<int32_t>(offsets[i + 1] - offsets[i]); }
};

struct Hit {
  int32_t at;    // position in the reference
  int32_t unit;  // which distinct word of the candidate, numbered by first occurrence
};

// kBlock candidates in a row.
struct OverlapBlock {
  std::vector<int32_t> units;       // of each candidate position, candidates behind one another
  std::vector<int32_t> unit_count;  // of each candidate
  std::vector<int64_t> hit_begin;   // of each pair (candidate, reference), and one more
  std::vector<Hit> hits;
};

// One candidate and what it shares with its references.
struct Candidate {
  int64_t row;
  int32_t length;
  const int32_t* units;  // of each position
  int32_t unit_count;
  int64_t first_reference;
  int32_t references;
  const int64_t* hit_begin;
  const Hit* hits;

  const Hit* begin(int32_t j) const { return hits + hit_begin[j]; }
  const Hit* end(int32_t j) const { return hits + hit_begin[j + 1]; }
};

struct Overlap {
  Texts candidates;
  Texts references;
  Span<int32_t> sets;         // which set of references each candidate meets
  Span<int64_t> set_offsets;  // set s is references set_offsets[s] .. set_offsets[s + 1]
  std::vector<OverlapBlock> blocks;

  int64_t count() const { return candidates.count(); }
  void build(int jobs);

  // Pairs of a candidate and a reference before each candidate, and all of them.
  std::vector<int64_t> first_pairs() const {
    std::vector<int64_t> first(count() + 1, 0);
    for (int64_t i = 0; i < count(); ++i) first[i + 1] = first[i] + set_offsets[sets[i] + 1] - set_offsets[sets[i]];
    return first;
  }

  // body(worker, candidate) for every candidate, on `jobs` threads.
  template <class Make, class Body>
  void for_each(int jobs, Make make, Body body) const {
    for_each_block(static_cast<int64_t>(blocks.size()), jobs, make, [&](auto& worker, int64_t b) {
      const OverlapBlock& block = blocks[b];
      const int32_t* units = block.units.data();
      const int64_t* hit_begin = block.hit_begin.data();
      const int64_t first = b * kBlock;
      for (size_t k = 0; k < block.unit_count.size(); ++k) {
        const int64_t row = first + static_cast<int64_t>(k);
        const int64_t from = set_offsets[sets[row]];
        const Candidate candidate{row,
                                  candidates.length(row),
                                  units,
                                  block.unit_count[k],
                                  from,
                                  static_cast<int32_t>(set_offsets[sets[row] + 1] - from),
                                  hit_begin,
                                  block.hits.data()};
        body(worker, candidate);
        units += candidate.length;
        hit_begin += candidate.references;
      }
    });
  }
};

// For what would take memory with the product of the lengths.
[[noreturn]] inline void refuse(const Candidate& candidate, const Overlap& overlap, int32_t j) {
  const int32_t theirs = overlap.references.length(candidate.first_reference + j);
  throw std::overflow_error("a candidate of " + std::to_string(candidate.length) + " words and a reference of " +
                            std::to_string(theirs) + " are too long to be aligned");
}

// The length of the reference nearest to the candidate's; of two as near, the shorter.
inline int32_t closest_length(const Overlap& overlap, const Candidate& candidate) {
  int32_t best = -1, best_gap = 0;
  for (int32_t j = 0; j < candidate.references; ++j) {
    const int32_t length = overlap.references.length(candidate.first_reference + j);
    const int32_t gap = length < candidate.length ? candidate.length - length : length - candidate.length;
    if (best < 0 || gap < best_gap || (gap == best_gap && length < best)) best = length, best_gap = gap;
  }
  return best;
}

}  // namespace postil
