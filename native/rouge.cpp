#include <algorithm>
#include <unordered_map>

#include "checks.hpp"
#include "kernels.hpp"
#include "ngrams.hpp"

namespace postil {
namespace {

// Longest common subsequence, a word of the reference at a time over 64 positions of the candidate (Hyyro 2004): a zero
// bit in the row at i says that the LCS with the candidate's first i + 1 words is one longer than with its first i.

// Zero bits among the first `count` positions.
inline int32_t zeros(const uint64_t* row, int32_t count) {
  int32_t sum = 0;
  for (; count >= 64; count -= 64) sum += __builtin_popcountll(~*row++);
  return count > 0 ? sum + __builtin_popcountll(~*row & ((1ull << count) - 1)) : sum;
}

// Of a candidate of at most 64 words.
class ShortLcs {
 public:
  void set(const Candidate& candidate) {
    of_unit_.assign(candidate.unit_count, 0);
    for (int32_t i = 0; i < candidate.length; ++i) of_unit_[candidate.units[i]] |= 1ull << i;
  }
  size_t width() const { return 1; }
  const uint64_t* row() const { return &row_; }
  void start() { row_ = ~0ull; }
  void read(int32_t unit) {
    const uint64_t mask = of_unit_[unit], met = row_ & mask;
    row_ = (row_ + met) | (row_ & ~mask);
  }

 private:
  std::vector<uint64_t> of_unit_;
  uint64_t row_ = ~0ull;
};

// Of a candidate of any length. Masks of all units take memory with the square of it, so where it has more than kMasked
// words only units in at least every eighth machine word keep theirs.
class LongLcs {
 public:
  void set(const Candidate& candidate) {
    row_.resize((candidate.length + 63) / 64);
    const size_t width = row_.size();
    mask_at_.resize(candidate.unit_count);
    if (candidate.length <= kMasked) {
      masks_.assign(width * candidate.unit_count, 0);
      for (int32_t unit = 0; unit < candidate.unit_count; ++unit) mask_at_[unit] = static_cast<int64_t>(unit * width);
      for (int32_t i = 0; i < candidate.length; ++i) masks_[mask_at_[candidate.units[i]] + i / 64] |= 1ull << (i % 64);
      return;
    }
    pieces_.assign(candidate.unit_count, {});
    for (int32_t i = 0; i < candidate.length; ++i) {
      std::vector<Piece>& pieces = pieces_[candidate.units[i]];
      if (pieces.empty() || pieces.back().word != i / 64) pieces.push_back({i / 64, 0});
      pieces.back().bits |= 1ull << (i % 64);
    }
    masks_.assign(width, 0);  // the first is for the units that keep none
    for (int32_t unit = 0; unit < candidate.unit_count; ++unit) {
      const bool keep = pieces_[unit].size() * 8 >= width;
      mask_at_[unit] = keep ? static_cast<int64_t>(masks_.size()) : -1;
      if (!keep) continue;
      masks_.resize(masks_.size() + width, 0);
      for (const Piece& piece : pieces_[unit]) masks_[mask_at_[unit] + piece.word] = piece.bits;
    }
  }
  size_t width() const { return row_.size(); }
  const uint64_t* row() const { return row_.data(); }
  void start() { std::fill(row_.begin(), row_.end(), ~0ull); }

  void read(int32_t unit) {
    if (mask_at_[unit] >= 0) return read(masks_.data() + mask_at_[unit]);
    for (const Piece& piece : pieces_[unit]) masks_[piece.word] = piece.bits;
    read(masks_.data());
    for (const Piece& piece : pieces_[unit]) masks_[piece.word] = 0;
  }

 private:
  static constexpr int32_t kMasked = 4096;
  struct Piece {
    int32_t word;
    uint64_t bits;
  };

  void read(const uint64_t* mask) {
    uint64_t* row = row_.data();
    uint64_t* const end = row + row_.size();
    for (uint64_t carry = 0; row != end; ++row, ++mask) {
      const uint64_t before = *row, met = before & *mask;
      const uint64_t sum = before + met;
      const uint64_t total = sum + carry;
      carry = (sum < met) | (total < sum);
      *row = total | (before & ~*mask);
    }
  }

  std::vector<uint64_t> masks_;   // a row each
  std::vector<int64_t> mask_at_;  // of each unit: where in masks_, or -1
  std::vector<std::vector<Piece>> pieces_;
  std::vector<uint64_t> row_;
};

constexpr size_t kMostRowWords = size_t{1} << 29;  // 4 GiB

struct Scratch {
  ShortLcs narrow;
  LongLcs wide;
  std::vector<uint64_t> rows;      // [hits + 1, words]: row of the reversed texts before each hit, from the end
  std::vector<int32_t> reversed;   // the candidate's units, last first
  std::vector<double> covered;     // best weight of a reference whose LCS covers the position
};

double f_measure(double precision, double recall, double beta_squared) {
  if (precision == 0.0 || recall == 0.0) return 0.0;
  return (1.0 + beta_squared) * precision * recall / (recall + beta_squared * precision);
}

template <class Lcs>
double best_of_each(const Overlap& overlap, const Candidate& candidate, const double* weights, double beta_squared,
                    Lcs& lcs) {
  lcs.set(candidate);
  double precision = 0.0, recall = 0.0;
  for (int32_t j = 0; j < candidate.references; ++j) {
    if (candidate.begin(j) == candidate.end(j)) continue;
    const int64_t r = candidate.first_reference + j;
    lcs.start();
    for (const Hit* hit = candidate.begin(j); hit != candidate.end(j); ++hit) lcs.read(hit->unit);
    const double common = zeros(lcs.row(), candidate.length);
    precision = std::max(precision, weights[r] * (common / candidate.length));
    recall = std::max(recall, weights[r] * (common / overlap.references.length(r)));
  }
  return f_measure(precision, recall, beta_squared);
}

// Mark the leftmost positions of the candidate that an LCS with reference j can cover. With rows of the *reversed*
// texts, LCS(candidate from i, reference from hit h) is a count of zero bits, so the walk goes from the left: take word i
// with its next occurrence in the reference whenever that leaves an LCS one shorter than what is still to be covered.
template <class Lcs>
void cover(const Overlap& overlap, const Candidate& candidate, int32_t j, double weight, Lcs& lcs, Scratch& scratch) {
  const Hit* hits = candidate.begin(j);
  const int32_t count = static_cast<int32_t>(candidate.end(j) - hits), length = candidate.length;
  const size_t width = lcs.width();
  if ((count + size_t{1}) * width > kMostRowWords) refuse(candidate, overlap, j);
  scratch.rows.resize((count + size_t{1}) * width);
  lcs.start();
  for (int32_t h = count;; --h) {
    std::copy_n(lcs.row(), width, scratch.rows.begin() + static_cast<size_t>(h) * width);
    if (h == 0) break;
    lcs.read(hits[h - 1].unit);
  }
  auto left = [&](int32_t i, int32_t h) {
    return zeros(scratch.rows.data() + static_cast<size_t>(h) * width, length - i);
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

template <class Lcs>
double united(const Overlap& overlap, const Candidate& candidate, const double* weights, double beta_squared,
              Lcs& lcs, Scratch& scratch) {
  const int32_t reference = closest_length(overlap, candidate);
  if (candidate.length == 0 || reference == 0) return 0.0;
  scratch.reversed.assign(candidate.units, candidate.units + candidate.length);
  std::reverse(scratch.reversed.begin(), scratch.reversed.end());
  Candidate backwards = candidate;
  backwards.units = scratch.reversed.data();
  lcs.set(backwards);
  scratch.covered.assign(candidate.length, 0.0);
  for (int32_t j = 0; j < candidate.references; ++j) {
    const double weight = weights[candidate.first_reference + j];
    if (weight > 0.0 && candidate.begin(j) != candidate.end(j)) cover(overlap, candidate, j, weight, lcs, scratch);
  }
  double sum = 0.0;
  for (double weight : scratch.covered) sum += weight;
  return f_measure(sum / candidate.length, std::min(1.0, sum / reference), beta_squared);
}

struct UnionScratch {
  Scratch lcs;
  std::vector<uint8_t> covered;  // of each hit, reference behind reference
  std::vector<int32_t> own, left;
};

// body(from, to) for each sentence of a text that has words.
template <class Body>
void each_sentence(Span<int64_t> offsets, int64_t begin, int64_t end, Body body) {
  const int64_t* cut = std::upper_bound(offsets.data, offsets.data + offsets.size, begin);
  for (int64_t from = begin; from < end; from = *cut++) {
    while (*cut == from) ++cut;
    if (*cut >= end) return body(from, end);
    body(from, *cut);
  }
}

// Mark the hits in the LCS of a sentence with one of the reference. Several can be longest: the one is taken that a walk
// from the ends finds which goes to the left only where going up would lose a word, as rouge-score does. A word of the
// reference that is no hit makes that walk go up, so that it can be left out.
template <class Lcs>
void cover_hits(const Hit* begin, const Hit* end, const Candidate& sentence, Lcs& lcs, std::vector<uint64_t>& rows,
                uint8_t* covered) {
  const size_t width = lcs.width();
  const int32_t count = static_cast<int32_t>(end - begin);
  rows.resize((count + size_t{1}) * width);
  lcs.start();
  for (int32_t h = 0;; ++h) {
    std::copy_n(lcs.row(), width, rows.begin() + static_cast<size_t>(h) * width);
    if (h == count) break;
    lcs.read(begin[h].unit);
  }
  auto row = [&](int32_t h) { return rows.data() + static_cast<size_t>(h) * width; };
  int32_t h = count, i = sentence.length;
  for (int32_t left = zeros(row(h), i); left > 0;) {
    if (begin[h - 1].unit == sentence.units[i - 1]) {
      covered[h - 1] = 1;
      --h, --i, --left;
    } else if (row(h)[(i - 1) / 64] >> ((i - 1) % 64) & 1 && zeros(row(h - 1), i) < left) {
      --i;
    } else {
      --h;
    }
  }
}

template <class Lcs>
void cover_hits(const Overlap& overlap, const Candidate& sentence, Span<int64_t> reference_sentences, Lcs& lcs,
                UnionScratch& scratch) {
  lcs.set(sentence);
  for (int32_t j = 0; j < sentence.references; ++j) {
    const int64_t r = sentence.first_reference + j, begin = overlap.references.begin(r);
    const Hit* hit = sentence.begin(j);
    each_sentence(reference_sentences, begin, begin + overlap.references.length(r), [&](int64_t, int64_t to) {
      const Hit* const first = hit;
      while (hit != sentence.end(j) && hit->at < to - begin) ++hit;
      if (hit == first) return;
      if ((hit - first + size_t{1}) * lcs.width() > kMostRowWords) refuse(sentence, overlap, j);
      cover_hits(first, hit, sentence, lcs, scratch.lcs.rows, scratch.covered.data() + (first - sentence.begin(0)));
    });
  }
}

struct UnitScratch {
  NgramsOfCandidate ngrams;
  std::vector<int32_t> own, found, touched, left;
  std::unordered_map<int64_t, int32_t> pairs, met;
};

// sum over n-grams of min(count in the candidate, count in reference j)
template <class Ngrams>
int64_t shared_ngrams(const Candidate& candidate, int32_t j, int order, const Ngrams& ngrams, UnitScratch& scratch) {
  const int32_t* own = scratch.own.data() + static_cast<size_t>(order - 1) * candidate.length;
  int64_t shared = 0;
  NgramReader<Ngrams> reader(ngrams, order);
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

void count_skip_bigrams(const Candidate& candidate, int skip, UnitScratch& scratch) {
  scratch.pairs.clear();
  for (int32_t i = 0; i < candidate.length; ++i) {
    for (int32_t k = i + 1; k < candidate.length && k - i <= skip + 1; ++k) {
      ++scratch.pairs[pair_of(candidate.units[i], candidate.units[k])];
    }
  }
}

int64_t skip_bigrams(int32_t length, int skip) {
  int64_t sum = 0;
  for (int gap = 1; gap <= skip + 1; ++gap) sum += std::max(0, length - gap);
  return sum;
}

}  // namespace

void rouge_l(const Overlap& overlap, const double* weights, double beta_squared, bool unite, int jobs, double* out) {
  overlap.for_each(jobs, [] { return Scratch(); }, [&](Scratch& scratch, const Candidate& candidate) {
    auto score = [&](auto& lcs) {
      return unite ? united(overlap, candidate, weights, beta_squared, lcs, scratch)
                   : best_of_each(overlap, candidate, weights, beta_squared, lcs);
    };
    out[candidate.row] = candidate.length <= kWordBits ? score(scratch.narrow) : score(scratch.wide);
  });
}

void rouge_n(const Overlap& overlap, const double* weights, int order, int skip, int jobs, double* out) {
  overlap.for_each(jobs, [] { return UnitScratch(); }, [&](UnitScratch& scratch, const Candidate& candidate) {
    double matched = 0.0, total = 0.0;
    if (skip >= 0) count_skip_bigrams(candidate, skip, scratch);
    scratch.ngrams.visit(candidate, order, [&](const auto& ngrams) {
      count_own_ngrams(candidate, ngrams, order, scratch.own);
      scratch.found.assign(candidate.length, 0);
      for (int32_t j = 0; j < candidate.references; ++j) {
        const int64_t r = candidate.first_reference + j;
        const int32_t length = overlap.references.length(r);
        int64_t shared = shared_ngrams(candidate, j, order, ngrams, scratch);
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

void ngram_matches(const Overlap& overlap, int order, int skip, int jobs, int64_t* out) {
  const std::vector<int64_t> first = overlap.first_pairs();
  overlap.for_each(jobs, [] { return UnitScratch(); }, [&](UnitScratch& scratch, const Candidate& candidate) {
    const int32_t length = candidate.length;
    if (skip >= 0) count_skip_bigrams(candidate, skip, scratch);
    scratch.ngrams.visit(candidate, order, [&](const auto& ngrams) {
      count_own_ngrams(candidate, ngrams, order, scratch.own);
      NgramReader reader(ngrams, order);
      for (int32_t j = 0; j < candidate.references; ++j) {
        int64_t* matched = out + (first[candidate.row] + j) * order;
        std::fill(matched, matched + order, int64_t{0});
        scratch.left = scratch.own;
        reader.restart();
        for (const Hit* hit = candidate.begin(j); hit != candidate.end(j); ++hit) {
          reader.read(*hit);
          for (int n = 1; n <= reader.order_reached(); ++n) {
            matched[n - 1] += scratch.left[static_cast<size_t>(n - 1) * length + reader.place(n)]-- > 0;
          }
        }
        if (skip >= 0) matched[0] += shared_skip_bigrams(candidate, j, skip, scratch);
      }
    });
  });
}

void lcs_lengths(const Overlap& overlap, int jobs, int64_t* out) {
  const std::vector<int64_t> first = overlap.first_pairs();
  overlap.for_each(jobs, [] { return Scratch(); }, [&](Scratch& scratch, const Candidate& candidate) {
    auto measure = [&](auto& lcs) {
      lcs.set(candidate);
      for (int32_t j = 0; j < candidate.references; ++j) {
        lcs.start();
        for (const Hit* hit = candidate.begin(j); hit != candidate.end(j); ++hit) lcs.read(hit->unit);
        out[first[candidate.row] + j] = zeros(lcs.row(), candidate.length);
      }
    };
    candidate.length <= kWordBits ? measure(scratch.narrow) : measure(scratch.wide);
  });
}

void union_lcs(const Overlap& overlap, Span<int64_t> candidate_sentences, Span<int64_t> reference_sentences, int jobs,
               int64_t* out) {
  const char* const what = "expected offsets of the sentences of all texts";
  check_offsets(candidate_sentences, overlap.candidates.ids.size, what);
  check_offsets(reference_sentences, overlap.references.ids.size, what);
  const std::vector<int64_t> first = overlap.first_pairs();
  overlap.for_each(jobs, [] { return UnionScratch(); }, [&](UnionScratch& scratch, const Candidate& candidate) {
    scratch.covered.assign(candidate.begin(candidate.references) - candidate.begin(0), 0);
    const int64_t begin = overlap.candidates.begin(candidate.row);
    each_sentence(candidate_sentences, begin, begin + candidate.length, [&](int64_t from, int64_t to) {
      Candidate sentence = candidate;
      sentence.units += from - begin;
      sentence.length = static_cast<int32_t>(to - from);
      if (sentence.length <= kWordBits) {
        cover_hits(overlap, sentence, reference_sentences, scratch.lcs.narrow, scratch);
      } else {
        cover_hits(overlap, sentence, reference_sentences, scratch.lcs.wide, scratch);
      }
    });
    scratch.own.assign(candidate.unit_count, 0);
    for (int32_t i = 0; i < candidate.length; ++i) ++scratch.own[candidate.units[i]];
    const uint8_t* covered = scratch.covered.data();
    for (int32_t j = 0; j < candidate.references; ++j) {
      scratch.left = scratch.own;
      int64_t sum = 0;
      for (const Hit* hit = candidate.begin(j); hit != candidate.end(j); ++hit) {
        if (*covered++) sum += scratch.left[hit->unit]-- > 0;
      }
      out[first[candidate.row] + j] = sum;
    }
  });
}

}  // namespace postil
