#include "search.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <stdexcept>
#include <utility>

#include "checks.hpp"
#include "parallel.hpp"
#include "wide.hpp"

#if defined(__GNUC__)
#define POSTIL_PREFETCH(address) __builtin_prefetch(address)
#else
#define POSTIL_PREFETCH(address)
#endif

namespace postil {

namespace {

constexpr int64_t kMostDense = 4096;  // terms in the table
constexpr double kRowSteps = 2000;    // about the most that a row of the table adds up to
constexpr double kUnits = 60000;      // the highest score that a query may have, in units of its sums
constexpr double kMostWeight = 281474976710655.0;  // 2^48 - 1: times an impact it still fits
constexpr double kFew = 1200;         // postings that are added up while bounds find one result of a query of one term
constexpr double kAbove = 1 + 1e-9;   // more than the errors of double precision here

inline int class_of(int64_t frequency, int64_t documents) {
  return (frequency * 128 >= documents) + (frequency * 32 >= documents) + (frequency * 8 >= documents) +
         (frequency * 2 >= documents);
}

inline int64_t groups_of(int64_t documents) { return (documents + kGroup - 1) / kGroup; }

inline float short_above(double value) {
  return std::nextafter(static_cast<float>(value), std::numeric_limits<float>::infinity());
}

inline int64_t parts_above(double value, double whole, int parts) {
  return capped<int64_t>(std::ceil(value / whole * parts), parts);
}

// How many documents of a group may reach a score: sums say what they have, lengths what waiting terms may add.
POSTIL_WIDE int count_reaching(const uint16_t* __restrict sums, const uint8_t* __restrict lengths, int64_t stride, const uint16_t* waiting,
                               uint16_t least) {
  uint16_t most[kGroup] = {0};
  for (int kind = 0; kind < kClasses - 1; ++kind) {
    const uint16_t weight = waiting[kind];
    if (weight == 0) continue;
    for (int64_t i = 0; i < kGroup; ++i) {
      const uint16_t length = lengths[kind * stride + i];
      const uint32_t product = static_cast<uint32_t>(static_cast<uint16_t>(length << 8)) * weight;
      most[i] += static_cast<uint16_t>(product >> 16) + std::min<uint16_t>(length, 1);
    }
  }
  uint16_t reaching = 0;
  for (int64_t i = 0; i < kGroup; ++i) {
    reaching += sums[i] >= static_cast<uint16_t>(std::max(least, most[i]) - most[i]);
  }
  return reaching;
}

// What dense terms add to the documents of a group, in steps. (With __restrict, GCC 12 takes two rows at once and then
// adds them without wide registers.)
POSTIL_WIDE void add_rows(const uint8_t* rows, const int32_t* places, const uint16_t* weights, int64_t count,
                          uint16_t* totals) {
  for (int64_t t = 0; t < count; ++t) {
    const uint8_t* row = rows + places[t] * kGroup;
    const uint16_t weight = weights[t];
    for (int64_t i = 0; i < kGroup; ++i) totals[i] += static_cast<uint16_t>(weight * row[i]);
  }
}

// What dense terms add to the scores of a group, term by term. The sums of as many documents as there are indices stay in
// registers.
template <size_t... i>
POSTIL_IN_WIDE void add_scores(const uint8_t* rows, const int32_t* places, const double* weights, int64_t count,
                               double* totals, std::index_sequence<i...>) {
  double sums[] = {totals[i]...};
  for (int64_t t = 0; t < count; ++t) {
    const uint8_t* row = rows + places[t] * kGroup;
    const double weight = weights[t];
    ((sums[i] += weight * row[i]), ...);
  }
  ((totals[i] = sums[i]), ...);
}
POSTIL_WIDE void add_scores(const uint8_t* rows, const int32_t* places, const double* weights, int64_t count,
                            double* totals) {
  for (int64_t first = 0; first < kGroup; first += 8) {
    add_scores(rows + first, places, weights, count, totals + first, std::make_index_sequence<8>());
  }
}

// The most that each document of a group may reach; how many of them are above a limit.
POSTIL_WIDE int reach(const uint16_t* __restrict sums, const uint16_t* __restrict totals, const float* __restrict steps,
                      float step, const uint8_t* __restrict lengths, int64_t stride, const uint16_t* waiting, float limit,
                      float* __restrict most) {
  for (int64_t i = 0; i < kGroup; ++i) {
    most[i] = static_cast<float>(sums[i]) + static_cast<float>(totals[i]) * steps[i] * step;
  }
  for (int kind = 0; kind < kDense - 1; ++kind) {
    if (waiting[kind] == 0) continue;
    const float weight = static_cast<float>(waiting[kind]) / 256;
    for (int64_t i = 0; i < kGroup; ++i) most[i] += static_cast<float>(lengths[kind * stride + i]) * weight;
  }
  int above = 0;
  for (int64_t i = 0; i < kGroup; ++i) above += most[i] > limit;
  return above;
}

// Sorts word ids, byte by byte from the lowest; bytes that all have in common cost nothing.
void sort_ids(std::vector<int32_t>& ids, std::vector<int32_t>& spare) {
  if (ids.size() < 64) {
    std::sort(ids.begin(), ids.end());
    return;
  }
  spare.resize(ids.size());
  uint32_t differ = 0;
  for (const int32_t id : ids) differ |= static_cast<uint32_t>(id ^ ids.front());
  for (int shift = 0; shift < 32; shift += 8) {
    if (!(differ >> shift & 255)) continue;
    const auto digit = [shift](int32_t id) { return (static_cast<uint32_t>(id) ^ 0x80000000u) >> shift & 255; };
    uint32_t next[257] = {0};
    for (const int32_t id : ids) ++next[digit(id) + 1];
    for (int i = 0; i < 255; ++i) next[i + 1] += next[i];
    for (const int32_t id : ids) spare[next[digit(id)]++] = id;
    ids.swap(spare);
  }
}

// Calls found(term, times) for the terms of a text, rising. Times are at most what a count holds.
template <class Found>
void count_ids(const int32_t* ids, int64_t count, std::vector<int32_t>& sorted, std::vector<int32_t>& spare, Found found) {
  sorted.assign(ids, ids + count);
  sort_ids(sorted, spare);
  for (size_t i = 0; i < sorted.size();) {
    size_t end = i;
    while (end < sorted.size() && sorted[end] == sorted[i]) ++end;
    found(sorted[i], static_cast<uint16_t>(std::min<size_t>(end - i, UINT16_MAX)));
    i = end;
  }
}

// Turns sums into scores, and finds the best of each column where they stand in rows of so many columns.
POSTIL_WIDE void finish(double* __restrict sums, const double* __restrict factors, int64_t count, double* __restrict most,
                        int64_t columns) {
  if (factors != nullptr) {
    for (int64_t i = 0; i < count; ++i) sums[i] *= factors[i];
  }
  for (int64_t row = 0; row < count; row += columns) {
    const int64_t width = std::min(columns, count - row);
    for (int64_t i = 0; i < width; ++i) most[i] = most[i] < sums[row + i] ? sums[row + i] : most[i];
  }
}

inline double gain_of(Gain gain, double count, double factor) {
  return gain == Gain::kCosine ? count * factor : count / (count + factor);
}

void check(const ListsView& lists, Span<double> scales) {
  require(lists.starts.size > 0 && scales.size == lists.terms(), "expected a scale for each term");
  require(lists.documents.size == lists.counts.size, "expected a count of each document of a term");
}

}  // namespace

Counted count_terms(const Texts& texts, int jobs) {
  check_offsets(texts.offsets, texts.ids.size, "expected offsets of the words of texts");
  const int64_t blocks = block_count(texts.count());
  std::vector<Counted> parts(blocks);
  for_each_block(
      blocks, jobs, [] { return std::pair<std::vector<int32_t>, std::vector<int32_t>>(); },
      [&](std::pair<std::vector<int32_t>, std::vector<int32_t>>& buffers, int64_t block) {
        Counted& part = parts[block];
        for (int64_t t = block * kBlock; t < std::min(texts.count(), (block + 1) * kBlock); ++t) {
          count_ids(texts.ids.data + texts.begin(t), texts.length(t), buffers.first, buffers.second,
                    [&](int32_t term, uint16_t times) {
                      part.terms.push_back(term);
                      part.counts.push_back(times);
                    });
          part.starts.push_back(static_cast<int64_t>(part.terms.size()));
        }
      });
  Counted all;
  all.starts.push_back(0);
  for (Counted& part : parts) {
    const int64_t before = static_cast<int64_t>(all.terms.size());
    for (int64_t start : part.starts) all.starts.push_back(before + start);
    all.terms.insert(all.terms.end(), part.terms.begin(), part.terms.end());
    all.counts.insert(all.counts.end(), part.counts.begin(), part.counts.end());
    part = Counted();
  }
  return all;
}

Lists invert(const Rows& rows, int64_t terms) {
  require(rows.terms.size == rows.counts.size, "expected a count of each term of a document");
  require(rows.documents() <= INT32_MAX, "expected fewer than 2,147,483,648 documents");
  check_offsets(rows.starts, rows.terms.size, "expected offsets of the terms of documents");
  require(terms >= 0, "a term is out of range");
  check_places(rows.terms, terms, "a term is out of range");
  Lists lists;
  lists.starts.assign(terms + 1, 0);
  const int64_t total = rows.terms.size;
  for (int64_t i = 0; i < total; ++i) ++lists.starts[rows.terms.data[i] + 1];
  for (int64_t t = 0; t < terms; ++t) lists.starts[t + 1] += lists.starts[t];
  lists.documents.resize(total);
  lists.counts.resize(total);
  std::vector<int64_t> next(lists.starts.begin(), lists.starts.end() - 1);
  for (int64_t d = 0; d < rows.documents(); ++d) {
    for (int64_t i = rows.starts.data[d]; i < rows.starts.data[d + 1]; ++i) {
      const int64_t at = next[rows.terms.data[i]]++;
      lists.documents[at] = static_cast<int32_t>(d);
      lists.counts[at] = rows.counts.data[i];
    }
  }
  return lists;
}

Bounds bounds_of(const ListsView& lists, Span<double> factors_of, Gain gain, Span<double> scales_of) {
  check(lists, scales_of);
  check_offsets(lists.starts, lists.documents.size, "expected offsets of the documents of terms");
  check_places(lists.documents, factors_of.size, "expected a factor for each document");
  const double *factors = factors_of.data, *scales = scales_of.data;
  const int64_t documents = factors_of.size;
  const int64_t terms = lists.terms(), padded = groups_of(documents) * kGroup;
  Bounds bounds;
  bounds.highest.resize(terms);
  bounds.impacts.resize(lists.documents.size);
  std::vector<double> squares(kClasses * padded, 0.0);           // the first row is for all terms
  std::vector<double> highest(padded, 0.0), total(padded, 0.0);  // of dense terms
  for (int64_t t = 0; t < terms; ++t) {
    const int64_t begin = lists.starts.data[t], end = lists.starts.data[t + 1];
    if (begin == end) continue;
    int kind = class_of(end - begin, documents);
    if (kind >= kDense && static_cast<int64_t>(bounds.dense_terms.size()) == kMostDense) kind = kDense - 1;
    if (kind >= kDense) bounds.dense_terms.push_back(static_cast<int32_t>(t));
    const double scale = scales[t] > 0.0 ? scales[t] : 1.0;
    double most = 0.0;
    for (int64_t i = begin; i < end; ++i) {
      const int32_t d = lists.documents.data[i];
      const double gained = gain_of(gain, lists.counts.data[i], factors[d]), scaled = scale * gained;
      most = std::max(most, gained);
      squares[d] += scaled * scaled;
      if (kind > 0) squares[kind * padded + d] += scaled * scaled;
      if (kind < kDense) continue;
      highest[d] = std::max(highest[d], gained);
      total[d] += gained;
    }
    bounds.highest[t] = short_above(most);
    for (int64_t i = begin; i < end; ++i) {
      const double gained = gain_of(gain, lists.counts.data[i], factors[lists.documents.data[i]]);
      bounds.impacts[i] = static_cast<uint16_t>(parts_above(gained, bounds.highest[t], UINT16_MAX));
    }
  }
  bounds.lengths.resize((kClasses - 1) * padded);
  for (int kind = 0; kind < kClasses; ++kind) {
    const double* of_kind = squares.data() + kind * padded;
    bounds.longest.push_back(short_above(padded ? std::sqrt(*std::max_element(of_kind, of_kind + padded)) : 0.0));
    for (int64_t d = 0; kind > 0 && d < padded; ++d) {
      bounds.lengths[(kind - 1) * padded + d] =
          static_cast<uint8_t>(parts_above(std::sqrt(of_kind[d]), bounds.longest[kind], UINT8_MAX));
    }
  }
  for (int64_t d = 0; d < padded; ++d) {
    // For cosine a step is a count, unless the document is very long.
    const double count = gain == Gain::kCosine && d < documents ? factors[d] : 0.0;
    const double step = std::max({count, highest[d] / UINT8_MAX, total[d] / kRowSteps});
    bounds.steps.push_back(short_above(step));
  }
  const int64_t width = static_cast<int64_t>(bounds.dense_terms.size());
  bounds.dense.assign(padded * width, 0);
  std::vector<double> of_steps(padded, 0.0);
  for (int64_t place = 0; place < width; ++place) {
    const int32_t t = bounds.dense_terms[place];
    const double scale = scales[t] > 0.0 ? scales[t] : 1.0;
    for (int64_t i = lists.starts.data[t]; i < lists.starts.data[t + 1]; ++i) {
      const int32_t d = lists.documents.data[i];
      const double gained = gain_of(gain, lists.counts.data[i], factors[d]);
      const double steps = std::min(255.0, std::ceil(gained / bounds.steps[d])), scaled = scale * steps;
      bounds.dense[(d / kGroup * width + place) * kGroup + d % kGroup] = static_cast<uint8_t>(steps);
      of_steps[d] += scaled * scaled;
    }
  }
  bounds.most_steps.push_back(short_above(padded ? std::sqrt(*std::max_element(of_steps.begin(), of_steps.end())) : 0.0));
  return bounds;
}

Searcher::Searcher(const Rows& rows, const ListsView& lists, const BoundsView& bounds, Span<double> factors,
                   Span<double> scales, Gain gain)
    : rows_(rows), lists_(lists), bounds_(bounds), factors_(factors), scales_(scales), gain_(gain) {
  require(rows.starts.size > 0 && factors.size == rows.documents(), "expected a factor for each document");
  require(rows.documents() <= INT32_MAX, "expected fewer than 2,147,483,648 documents");
  require(rows.terms.size == rows.counts.size, "expected a count of each term of a document");
  check(lists, scales);
  const int64_t padded = groups_of(rows.documents()) * kGroup;
  require(bounds.highest.size == lists.terms() && bounds.impacts.size == lists.documents.size &&
              bounds.longest.size == kClasses && bounds.lengths.size == (kClasses - 1) * padded &&
              bounds.steps.size == padded && bounds.most_steps.size == 1 &&
              bounds.dense.size == padded * bounds.dense_terms.size,
          "expected the bounds of these lists");
  known_lists_ = std::make_unique<std::atomic<bool>[]>(lists.terms());
  known_rows_ = std::make_unique<std::atomic<bool>[]>(rows.documents());
}

std::pair<int64_t, int64_t> Searcher::list(int32_t term) const {
  const int64_t begin = lists_.starts.data[term], end = lists_.starts.data[term + 1];
  require(0 <= begin && begin <= end && end <= lists_.documents.size, "expected offsets of the documents of terms");
  return {begin, end};
}

void Searcher::check_factors() const {
  if (known_factors_.load(std::memory_order_acquire)) return;
  const std::lock_guard<std::mutex> hold(lock_);
  if (known_factors_.load(std::memory_order_relaxed)) return;
  uncounted_.clear();
  for (int64_t d = 0; d < factors_.size; ++d) {
    check_factor(d);
    // In steps that are hardly above the factor a count is itself, unless it has no place.
    if (factors_[d] > 0 && bounds_.steps[d] > factors_[d] * (1 + 1.0 / 512)) uncounted_.push_back(static_cast<int32_t>(d));
  }
  known_factors_.store(true, std::memory_order_release);
}

void Searcher::check_factor(int64_t document) const {
  require(factors_[document] >= 0 && std::isfinite(factors_[document]), "expected a finite factor of a document, from 0");
}

void Searcher::check_list(int32_t term) const {
  // Threads that look at one at the same time find the same.
  if (known_lists_[term].load(std::memory_order_relaxed)) return;
  const int64_t begin = lists_.starts[term], end = lists_.starts[term + 1];
  check_rising(lists_.documents.data + begin, end - begin, rows_.documents(),
               "expected rising documents of a term, below their number");
  require(bounds_.highest[term] >= 0 && std::isfinite(bounds_.highest[term]), "expected a finite bound of a term, from 0");
  known_lists_[term].store(true, std::memory_order_relaxed);
}

void Searcher::check_row(int32_t document) const {
  if (known_rows_[document].load(std::memory_order_relaxed)) return;
  const int64_t begin = rows_.starts[document], end = rows_.starts[document + 1];
  require(0 <= begin && begin <= end && end <= rows_.terms.size, "expected offsets of the terms of documents");
  check_rising(rows_.terms.data + begin, end - begin, lists_.terms(),
               "expected rising terms of a document, below their number");
  check_factor(document);
  known_rows_[document].store(true, std::memory_order_relaxed);
}

double Searcher::score(const Query& query, int32_t document) const {
  check_row(document);
  const int32_t* terms = rows_.terms.data;
  int64_t at = rows_.starts.data[document];
  const int64_t end = rows_.starts.data[document + 1];
  const size_t size = query.terms.size();
  const double factor = factors_.data[document];
  const bool jump = static_cast<int64_t>(size) * 8 < end - at;
  double sum = 0.0;
  for (size_t q = 0; q < size && at < end; ++q) {
    const int32_t term = query.terms[q];
    if (jump) {
      at = std::lower_bound(terms + at, terms + end, term) - terms;
    } else {
      while (at < end && terms[at] < term) ++at;
    }
    if (at < end && terms[at] == term) {
      const double count = rows_.counts.data[at];
      sum += query.weights[q] * (gain_ == Gain::kCosine ? count : count / (count + factor));
    }
  }
  return gain_ == Gain::kCosine ? sum * factor : sum;
}

// One query after another. Where there are few postings all are added up, which takes less time than to look for those
// that need not be. Else rare terms are added up from their lists, in whole units rounded up. What the frequent ones may
// add is bounded by the lengths of vectors (Cauchy and Schwarz); only documents that may still be among the best are
// looked at closer, with the table of dense terms, and only those that then may are scored.
struct Search {
  struct Term {
    int32_t number;
    int kind;
    double weight;  // a share of the greatest
    int64_t begin, end;
  };
  struct Candidate {
    float most;
    int32_t document;
    bool operator<(const Candidate& other) const { return most < other.most; }
    bool operator>(const Candidate& other) const { return most > other.most; }
  };
  using Scored = std::pair<double, int32_t>;

  const Searcher& index;
  const size_t k;
  const int64_t padded, width;
  Query query;
  std::vector<int32_t> sorted, spare;  // of `read`
  double top;                  // the greatest weight
  double units;                // in a score of top
  std::vector<uint16_t> sums;  // [padded]; 65,535 is that or more
  std::vector<Term> terms;
  uint16_t waiting[kClasses - 1];  // how much a vector of the greatest length adds, for each class from 1
  std::vector<int32_t> places;     // of the dense terms
  std::vector<uint16_t> weights;   // of the dense terms
  float step;                      // units in a weight of 1 times a step of 1
  std::vector<int32_t> groups;
  std::vector<Candidate> candidates;
  std::vector<uint8_t> scored;  // [padded]
  std::vector<int32_t> known;   // the documents that are scored
  std::vector<Scored> best;     // a heap, the worst first
  std::vector<double> totals, columns_best, row_weights;  // of `add_up`: [padded], [columns], of dense terms

  Search(const Searcher& index, size_t k)
      : index(index),
        k(k),
        padded(groups_of(index.rows_.documents()) * kGroup),
        width(index.bounds_.dense_terms.size),
        sums(padded),
        scored(padded) {}

  static bool better(const Scored& a, const Scored& b) {
    return a.first != b.first ? a.first > b.first : a.second < b.second;
  }

  // Weighs the terms of a query.
  void read(const int32_t* ids, int64_t count) {
    query.terms.clear();
    query.weights.clear();
    query.lists.clear();
    const double* scales = index.scales_.data;
    double squares = 0.0;
    count_ids(ids, count, sorted, spare, [&](int32_t term, uint16_t times) {
      if (term < 0 || term >= index.lists_.terms()) return;
      const double weight = times * scales[term];
      squares += weight * weight;
      query.terms.push_back(term);
      query.weights.push_back(weight);
    });
    const double length = squares > 0.0 ? std::sqrt(squares) : 1.0;
    size_t kept = 0;
    for (size_t q = 0; q < query.terms.size(); ++q) {
      const int32_t term = query.terms[q];
      const double weight = index.gain_ == Gain::kCosine ? query.weights[q] * scales[term] / length : query.weights[q];
      const auto list = index.list(term);
      if (!(weight > 0.0) || list.first == list.second) continue;
      query.terms[kept] = term;
      query.weights[kept++] = weight;
      query.lists.push_back(list);
    }
    query.terms.resize(kept);
    query.weights.resize(kept);
  }

  // Where in the table a term is; -1 if it is not.
  int32_t place_of(int32_t term) const {
    const int32_t *first = index.bounds_.dense_terms.data, *place = std::lower_bound(first, first + width, term);
    return place < first + width && *place == term ? static_cast<int32_t>(place - first) : -1;
  }

  void prepare() {
    const BoundsView& bounds = index.bounds_;
    terms.clear();
    places.clear();
    weights.clear();
    step = 0.0f;
    top = 0.0;
    double squares[kClasses] = {0.0}, dense = 0.0;  // the first is for all terms
    for (const double weight : query.weights) top = std::max(top, weight);
    for (size_t q = 0; q < query.terms.size(); ++q) {
      const int32_t t = query.terms[q];
      const auto [begin, end] = query.lists[q];
      const double weight = query.weights[q] / top;
      int kind = class_of(end - begin, index.rows_.documents());
      if (kind >= kDense) {
        const int32_t place = place_of(t);
        if (place >= 0) {
          places.push_back(place);
        } else {
          kind = kDense - 1;
        }
      }
      const double scale = index.scales_.data[t], scaled = weight / (scale > 0.0 ? scale : 1.0);
      const double square = std::max(scaled * scaled, 1e-300);  // above 0 also where the product is not
      squares[0] += square;
      if (kind > 0) squares[kind] += square;
      if (kind >= kDense) dense += square;
      terms.push_back({t, kind, weight, begin, end});
    }
    if (terms.empty()) return;
    units = kUnits / (std::sqrt(squares[0]) * bounds.longest.data[0]);
    for (int kind = 1; kind < kClasses; ++kind) {
      waiting[kind - 1] =
          capped<uint16_t>(std::ceil(std::sqrt(squares[kind]) * bounds.longest.data[kind] * units * kAbove * 256 / 255));
    }
    if (places.empty()) return;
    // No total of a row is above 50,000 and, for the weights are rounded up, a row's steps.
    const double weight = 50000 / (std::sqrt(dense) * bounds.most_steps.data[0]);
    step = static_cast<float>(units / weight * 1.00001);
    for (const Term& term : terms) {
      if (term.kind >= kDense) weights.push_back(capped<uint16_t>(std::ceil(term.weight * weight)));
    }
  }

  void add(const Term& term) {
    const double unit = term.weight * index.bounds_.highest.data[term.number] / UINT16_MAX * units;
    const uint64_t weight = capped<uint64_t>(std::ceil(unit * kAbove * 4294967296.0), kMostWeight);
    index.check_list(term.number);
    const int32_t* documents = index.lists_.documents.data;
    const uint16_t* impacts = index.bounds_.impacts.data;
    for (int64_t i = term.begin; i < term.end; ++i) {
      uint16_t& sum = sums[documents[i]];
      sum = static_cast<uint16_t>(std::min<uint64_t>(UINT16_MAX, sum + ((weight * impacts[i] + UINT32_MAX) >> 32)));
    }
  }

  void keep(int32_t document) {
    // Documents that fill the last group up have no row; bounds that are wrong may ask for one.
    if (scored[document] || document >= index.rows_.documents()) return;
    scored[document] = 1;
    known.push_back(document);
    const Scored found{index.score(query, document), document};
    if (found.first > 0.0) keep_best(found);
  }

  void keep_best(const Scored& found) {
    if (best.size() == k) {
      if (!better(found, best.front())) return;
      std::pop_heap(best.begin(), best.end(), better);
      best.pop_back();
    }
    best.push_back(found);
    std::push_heap(best.begin(), best.end(), better);
  }

  // How many postings could be added up in the time that it takes to score a document.
  int64_t score_cost() const { return std::min<int64_t>(2000, 50 * static_cast<int64_t>(terms.size())); }

  // The units below which a document is not among the best.
  uint16_t threshold() const {
    return best.size() < k ? 1 : std::max<uint16_t>(1, capped<uint16_t>(best.front().first / top * units / kAbove));
  }

  // Documents with the highest sums are scored, so that there is a threshold.
  void seed() {
    static const uint16_t none[kClasses - 1] = {0};
    candidates.clear();
    uint16_t least = 1;
    for (int64_t first = 0; first < padded; first += kGroup) {
      if (!count_reaching(&sums[first], index.bounds_.lengths.data + first, padded, none, least)) continue;
      for (int64_t d = first; d < first + kGroup; ++d) {
        if (sums[d] < least) continue;
        if (candidates.size() == k) {
          std::pop_heap(candidates.begin(), candidates.end(), std::greater<>());
          candidates.pop_back();
        }
        candidates.push_back({static_cast<float>(sums[d]), static_cast<int32_t>(d)});
        std::push_heap(candidates.begin(), candidates.end(), std::greater<>());
        if (candidates.size() == k) least = static_cast<uint16_t>(std::min(65535.0f, candidates.front().most + 1));
      }
    }
    for (const Candidate& candidate : candidates) keep(candidate.document);
  }

  // Finds the documents that may still be among the best. False if that costs more than `worth`.
  bool gather(int64_t worth) {
    const BoundsView& bounds = index.bounds_;
    const uint16_t least = threshold();
    const float below = static_cast<float>(least - 1);
    groups.clear();
    candidates.clear();
    for (int64_t first = 0; first < padded; first += kGroup) {
      if (!count_reaching(&sums[first], bounds.lengths.data + first, padded, waiting, least)) continue;
      groups.push_back(static_cast<int32_t>(first));
    }
    if (static_cast<int64_t>(groups.size() * (100 + 4 * places.size())) > worth) return false;
    float most[kGroup];
    for (size_t g = 0; g < groups.size(); ++g) {
      const int64_t first = groups[g];
      if (g + 2 < groups.size()) {
        const uint8_t* rows = bounds.dense.data + groups[g + 2] * width;
        for (int32_t place : places) POSTIL_PREFETCH(rows + place * kGroup);
      }
      uint16_t totals[kGroup] = {0};
      add_rows(bounds.dense.data + first * width, places.data(), weights.data(), static_cast<int64_t>(places.size()), totals);
      if (!reach(&sums[first], totals, bounds.steps.data + first, step, bounds.lengths.data + first, padded, waiting, below,
                 most))
        continue;
      for (int64_t i = 0; i < kGroup; ++i) {
        if (most[i] > below) candidates.push_back({most[i], static_cast<int32_t>(first + i)});
      }
      if (static_cast<int64_t>(candidates.size()) * score_cost() > worth) return false;
    }
    return true;
  }

  // Are all postings added up before bounds have found the best documents? As measured, the work of bounds grows with the
  // number of results, and about with the root of that of terms.
  bool is_small() const {
    const int64_t documents = index.rows_.documents();
    const int64_t most = index.gain_ == Gain::kCosine ? documents / 8 : documents;  // where there is a row for a list
    int64_t cost = documents;
    for (const auto& [begin, end] : query.lists) cost += std::min(end - begin, most);
    return static_cast<double>(cost) <= kFew * static_cast<double>(k) * std::sqrt(static_cast<double>(query.lists.size()));
  }

  // Adds the rows at the places, of dense terms that follow one another.
  void add_places() {
    if (places.empty()) return;
    const int64_t count = static_cast<int64_t>(places.size());
    for (int64_t first = 0; first < padded; first += kGroup) {
      add_scores(index.bounds_.dense.data + first * width, places.data(), row_weights.data(), count, &totals[first]);
    }
    places.clear();
    row_weights.clear();
  }

  // Scores every document: a sum has the terms in their order, as in Searcher::score, so the same bits. Where a row of the
  // table holds counts, it is added rather than a list; a count of 0 changes nothing.
  void add_up() {
    index.check_factors();
    const double* factors = index.factors_.data;
    const int64_t count = index.rows_.documents();
    const bool cosine = index.gain_ == Gain::kCosine;
    const bool counted = cosine && static_cast<int64_t>(index.uncounted_.size()) * 64 <= count;
    totals.assign(padded, 0.0);
    places.clear();
    row_weights.clear();
    for (size_t q = 0; q < query.terms.size(); ++q) {
      const int32_t term = query.terms[q];
      const double weight = query.weights[q];
      const auto [begin, end] = query.lists[q];
      if (counted && class_of(end - begin, count) >= kDense) {
        const int32_t place = place_of(term);
        if (place >= 0) {
          places.push_back(place);
          row_weights.push_back(weight);
          continue;
        }
      }
      add_places();
      index.check_list(term);
      const int32_t* documents = index.lists_.documents.data;
      const uint16_t* counts = index.lists_.counts.data;
      if (cosine) {
        for (int64_t i = begin; i < end; ++i) totals[documents[i]] += weight * counts[i];
      } else {
        for (int64_t i = begin; i < end; ++i) {
          const double times = counts[i];
          totals[documents[i]] += weight * (times / (times + factors[documents[i]]));
        }
      }
    }
    add_places();
    if (counted) {
      for (const int32_t document : index.uncounted_) totals[document] = 0.0;
    }
    const size_t columns = std::min<size_t>(count, 8 * k);
    columns_best.assign(columns, 0.0);
    finish(totals.data(), cosine ? factors : nullptr, count, columns_best.data(), columns);
    // A document of each of the k best columns has its best score, so that no lower score is among the k best.
    double least = 0.0;
    if (columns > k) {
      std::nth_element(columns_best.begin(), columns_best.begin() + (k - 1), columns_best.end(), std::greater<>());
      least = columns_best[k - 1];
    }
    for (int64_t d = 0; d < count; ++d) {
      if (totals[d] >= least && totals[d] > 0.0) keep_best({totals[d], static_cast<int32_t>(d)});
    }
    if (counted) {
      for (const int32_t document : index.uncounted_) keep(document);
    }
    for (const Scored& found : best) index.check_row(found.second);
  }

  void run(const int32_t* ids, int64_t count, int32_t* found, double* scores) {
    for (int32_t document : known) scored[document] = 0;
    known.clear();
    best.clear();
    read(ids, count);
    is_small() ? add_up() : prune();
    std::sort(best.begin(), best.end(), better);
    for (size_t i = 0; i < k; ++i) {
      found[i] = i < best.size() ? best[i].second : -1;
      scores[i] = i < best.size() ? best[i].first : 0.0;
    }
  }

  void prune() {
    prepare();
    std::fill(sums.begin(), sums.end(), 0);
    candidates.clear();
    int64_t left = 0;
    for (const Term& term : terms) left += term.kind < kDense ? term.end - term.begin : 0;
    for (int kind = 0; kind < kDense && !terms.empty(); ++kind) {
      for (const Term& term : terms) {
        if (term.kind != kind) continue;
        add(term);
        left -= term.end - term.begin;
      }
      if (kind > 0) waiting[kind - 1] = 0;
      // A look at all documents is worth it where it may spare more.
      if (left > 0 && left < padded / 2 + static_cast<int64_t>(k) * score_cost()) continue;
      seed();
      if (!gather(left > 0 ? 2 * left : INT64_MAX)) continue;
      break;
    }
    std::make_heap(candidates.begin(), candidates.end());
    while (!candidates.empty() && candidates.front().most > static_cast<float>(threshold() - 1)) {
      keep(candidates.front().document);
      std::pop_heap(candidates.begin(), candidates.end());
      candidates.pop_back();
    }
  }
};

void Searcher::search(const Texts& queries, int64_t k, int jobs, int32_t* documents, double* scores) const {
  check_offsets(queries.offsets, queries.ids.size, "expected offsets of the words of texts");
  for_each_block(
      queries.count(), jobs, [&] { return Search(*this, static_cast<size_t>(k)); },
      [&](Search& search, int64_t query) {
        search.run(queries.ids.data + queries.begin(query), queries.length(query), documents + query * k, scores + query * k);
      });
}

}  // namespace postil
