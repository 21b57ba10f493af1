#include <algorithm>
#include <unordered_map>

#include "kernels.hpp"
#include "ngrams.hpp"

namespace postil {
namespace {

// Longest common subsequence, a word of the reference at a time over 64 positions of the candidate (Hyyro 2004): a zero
// bit in `row` at i says that the LCS with the candidate's first i + 1 words is one longer than with its first i.
template <int kWords>
struct Lcs {
  Masks<kWords> masks;
  std::vector<uint64_t> row;

  void start() { row.assign(masks.width(), ~0ull); }

  void read(const uint64_t* mask) {
    uint64_t carry = 0;
    for (int w = 0; w < masks.width(); ++w) {
      const uint64_t met = row[w] & mask[w];
      const uint64_t sum = row[w] + met;
      const uint64_t total = sum + carry;
      carry = (sum < met) | (total < sum);
      row[w] = total | (row[w] & ~mask[w]);
    }
  }

  // Zero bits among the first `count` positions.
  static int32_t zeros(const uint64_t* row, int32_t count) {
    int32_t sum = 0;
    for (int32_t w = 0; w * 64 < count; ++w) {
      const int32_t left = count - w * 64;
      const uint64_t used = left >= 64 ? ~0ull : (1ull << left) - 1;
      sum += __builtin_popcountll(~row[w] & used);
    }
    return sum;
  }

  int32_t length(const Candidate& candidate, int32_t j) {
    start();
    for (const Hit* hit = candidate.begin(j); hit != candidate.end(j); ++hit) read(masks[hit->unit]);
    return zeros(row.data(), candidate.length);
  }
};

struct Scratch {
  Lcs<1> narrow;
  Lcs<0> wide;
  std::vector<uint64_t> rows;      // [hits + 1, words]: row of the reversed texts before each hit, from the end
  std::vector<int32_t> reversed;   // the candidate's units, last first
  std::vector<double> covered;     // best weight of a reference whose LCS covers the position
  std::vector<int32_t> next;
  Lcs<1>& lcs(std::integral_constant<int, 1>) { return narrow; }
  Lcs<0>& lcs(std::integral_constant<int, 0>) { return wide; }
};

double f_measure(double precision, double recall, double beta_squared) {
  if (precision == 0.0 || recall == 0.0) return 0.0;
  return (1.0 + beta_squared) * precision * recall / (recall + beta_squared * precision);
}

template <int kWords>
double best_of_each(const Overlap& overlap, const Candidate& candidate, const double* weights, double beta_squared,
                    Lcs<kWords>& lcs) {
  lcs.masks.set(candidate);
  double precision = 0.0, recall = 0.0;
  for (int32_t j = 0; j < candidate.references; ++j) {
    if (candidate.begin(j) == candidate.end(j)) continue;
    const int64_t r = candidate.first_reference + j;
    const double common = lcs.length(candidate, j);
    precision = std::max(precision, weights[r] * (common / candidate.length));
    recall = std::max(recall, weights[r] * (common / overlap.references.length(r)));
  }
  return f_measure(precision, recall, beta_squared);
}

// Mark the leftmost positions of the candidate that an LCS with reference j can cover. With rows of the *reversed*
// texts, LCS(candidate from i, reference from hit h) is a count of zero bits, so the walk goes from the left: take word i
// with its next occurrence in the reference whenever that leaves an LCS one shorter than what is still to be covered.
template <int kWords>
void cover(const Candidate& candidate, int32_t j, double weight, Lcs<kWords>& lcs, Scratch& scratch) {
  const Hit* hits = candidate.begin(j);
  const int32_t count = static_cast<int32_t>(candidate.end(j) - hits), length = candidate.length;
  const int width = lcs.masks.width();
  scratch.rows.resize(static_cast<size_t>(count + 1) * width);
  lcs.start();
  for (int32_t h = count;; --h) {
    std::copy(lcs.row.begin(), lcs.row.end(), scratch.rows.begin() + static_cast<size_t>(h) * width);
    if (h == 0) break;
    lcs.read(lcs.masks[hits[h - 1].unit]);
  }
  auto left = [&](int32_t i, int32_t h) {
    return Lcs<kWords>::zeros(scratch.rows.data() + static_cast<size_t>(h) * width, length - i);
  };
  int32_t to_cover = left(0, 0), h = 0;
  for (int32_t i = 0; to_cover > 0; ++i) {
    int32_t met = h;
    while (met < count && hits[met].unit != candidate.units[i]) ++met;
    if (met == count || left(i + 1, met + 1) + 1 < to_cover) continue;
    scratch.covered[i] = std::max(scratch.covered[i], weight);
    h = met + 1;
    --to_cover;
  }
}

template <int kWords>
double united(const Overlap& overlap, const Candidate& candidate, const double* weights, double beta_squared,
              Lcs<kWords>& lcs, Scratch& scratch) {
  const int32_t reference = closest_length(overlap, candidate);
  if (candidate.length == 0 || reference == 0) return 0.0;
  scratch.reversed.assign(candidate.units, candidate.units + candidate.length);
  std::reverse(scratch.reversed.begin(), scratch.reversed.end());
  Candidate backwards = candidate;
  backwards.units = scratch.reversed.data();
  lcs.masks.set(backwards);
  scratch.covered.assign(candidate.length, 0.0);
  for (int32_t j = 0; j < candidate.references; ++j) {
    const double weight = weights[candidate.first_reference + j];
    if (weight > 0.0 && candidate.begin(j) != candidate.end(j)) cover(candidate, j, weight, lcs, scratch);
  }
  double sum = 0.0;
  for (double weight : scratch.covered) sum += weight;
  return f_measure(sum / candidate.length, std::min(1.0, sum / reference), beta_squared);
}

struct UnitScratch {
  Masks<1> narrow;
  Masks<0> wide;
  std::vector<int32_t> own, found, touched;
  std::unordered_map<int64_t, int32_t> pairs, met;
  Masks<1>& masks(std::integral_constant<int, 1>) { return narrow; }
  Masks<0>& masks(std::integral_constant<int, 0>) { return wide; }
};

// sum over n-grams of min(count in the candidate, count in reference j)
template <int kWords>
int64_t shared_ngrams(const Candidate& candidate, int32_t j, int order, const Masks<kWords>& masks, UnitScratch& scratch) {
  const int32_t* own = scratch.own.data() + static_cast<size_t>(order - 1) * candidate.length;
  int64_t shared = 0;
  NgramReader<kWords> reader(masks, order);
  for (const Hit* hit = candidate.begin(j); hit != candidate.end(j); ++hit) {
    reader.read(*hit);
    if (reader.order_reached() < order) continue;
    const int32_t place = reader.place(order);
    if (scratch.found[place]++ == 0) scratch.touched.push_back(place);
    shared += scratch.found[place] <= own[place];
  }
  for (int32_t place : scratch.touched) scratch.found[place] = 0;
  scratch.touched.clear();
  return shared;
}

int64_t pair_of(int32_t first, int32_t second) { return static_cast<int64_t>(first) << 32 | static_cast<uint32_t>(second); }

int64_t shared_skip_bigrams(const Candidate& candidate, int32_t j, int skip, UnitScratch& scratch) {
  int64_t shared = 0;
  scratch.met.clear();
  for (const Hit* a = candidate.begin(j); a != candidate.end(j); ++a) {
    for (const Hit* b = a + 1; b != candidate.end(j) && b->at - a->at <= skip + 1; ++b) {
      const auto own = scratch.pairs.find(pair_of(a->unit, b->unit));
      if (own != scratch.pairs.end()) shared += ++scratch.met[own->first] <= own->second;
    }
  }
  return shared;
}

int64_t skip_bigrams(int32_t length, int skip) {
  int64_t sum = 0;
  for (int gap = 1; gap <= skip + 1; ++gap) sum += std::max(0, length - gap);
  return sum;
}

}  // namespace

void rouge_l(const Overlap& overlap, const double* weights, double beta_squared, bool unite, int jobs, double* out) {
  overlap.for_each(jobs, [] { return Scratch(); }, [&](Scratch& scratch, const Candidate& candidate) {
    by_width(candidate, [&](auto width) {
      auto& lcs = scratch.lcs(width);
      out[candidate.row] = unite ? united(overlap, candidate, weights, beta_squared, lcs, scratch)
                                 : best_of_each(overlap, candidate, weights, beta_squared, lcs);
    });
  });
}

void rouge_n(const Overlap& overlap, const double* weights, int order, int skip, int jobs, double* out) {
  overlap.for_each(jobs, [] { return UnitScratch(); }, [&](UnitScratch& scratch, const Candidate& candidate) {
    double matched = 0.0, total = 0.0;
    scratch.pairs.clear();
    if (skip >= 0) {
      for (int32_t i = 0; i < candidate.length; ++i) {
        for (int32_t k = i + 1; k < candidate.length && k - i <= skip + 1; ++k) {
          ++scratch.pairs[pair_of(candidate.units[i], candidate.units[k])];
        }
      }
    }
    by_width(candidate, [&](auto width) {
      auto& masks = scratch.masks(width);
      masks.set(candidate);
      count_own_ngrams(candidate, masks, order, scratch.own);
      scratch.found.assign(candidate.length, 0);
      for (int32_t j = 0; j < candidate.references; ++j) {
        const int64_t r = candidate.first_reference + j;
        const int32_t length = overlap.references.length(r);
        int64_t shared = shared_ngrams(candidate, j, order, masks, scratch);
        int64_t units = std::max(0, length - order + 1);
        if (skip >= 0) {
          shared += shared_skip_bigrams(candidate, j, skip, scratch);
          units += skip_bigrams(length, skip);
        }
        matched += weights[r] * static_cast<double>(shared);
        total += static_cast<double>(units);
      }
    });
    out[2 * candidate.row] = matched;
    out[2 * candidate.row + 1] = total;
  });
}

}  // namespace postil
