#include "search.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <stdexcept>

#include "parallel.hpp"

// The loop over counts of very frequent terms is worth a version for wider registers. Lanes do not meet, so the numbers
// are the same.
#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && defined(__linux__)
#define POSTIL_WIDE __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define POSTIL_WIDE
#endif

namespace postil {

namespace {

constexpr int64_t kFrequent = 1024;   // documents from which on a term has rows in the tables
constexpr int64_t kQueriesAtOnce = 16;  // queries that go through the blocks together, so that a block stays in the cache
constexpr int64_t kLong = 48;         // terms from which on a query is long

inline int64_t blocks_of(int64_t documents) { return (documents + kSearchBlock - 1) / kSearchBlock; }

POSTIL_WIDE void add_counts(float weight, const uint8_t* counts, float* sums) {
  for (int64_t i = 0; i < kSearchBlock; ++i) sums[i] += weight * static_cast<float>(counts[i]);
}

POSTIL_WIDE void add_shares(float weight, const uint8_t* counts, const float* factors, float* sums) {
  for (int64_t i = 0; i < kSearchBlock; ++i) {
    const float count = static_cast<float>(counts[i]);
    sums[i] += weight * (count / (count + factors[i]));
  }
}

POSTIL_WIDE void scale(const float* factors, float* sums) {
  for (int64_t i = 0; i < kSearchBlock; ++i) sums[i] *= factors[i];
}

// How many of 64 sums are above.
POSTIL_WIDE int count_above(const float* sums, float threshold) {
  int above = 0;
  for (int i = 0; i < 64; ++i) above += sums[i] > threshold;
  return above;
}

inline double gain_of(Gain gain, double count, double factor) {
  return gain == Gain::kCosine ? count * factor : count / (count + factor);
}

}  // namespace

Counted count_terms(const Texts& texts, int jobs) {
  const int64_t blocks = block_count(texts.count());
  std::vector<Counted> parts(blocks);
  for_each_block(
      blocks, jobs, [] { return std::vector<int32_t>(); },
      [&](std::vector<int32_t>& sorted, int64_t block) {
        Counted& part = parts[block];
        for (int64_t t = block * kBlock; t < std::min(texts.count(), (block + 1) * kBlock); ++t) {
          const int32_t* ids = texts.ids.data + texts.begin(t);
          sorted.assign(ids, ids + texts.length(t));
          std::sort(sorted.begin(), sorted.end());
          for (size_t i = 0; i < sorted.size();) {
            size_t end = i;
            while (end < sorted.size() && sorted[end] == sorted[i]) ++end;
            part.terms.push_back(sorted[i]);
            part.counts.push_back(static_cast<uint16_t>(std::min<size_t>(end - i, UINT16_MAX)));
            i = end;
          }
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
  Lists lists;
  lists.starts.assign(terms + 1, 0);
  const int64_t total = rows.terms.size;
  for (int64_t i = 0; i < total; ++i) {
    if (rows.terms.data[i] < 0 || rows.terms.data[i] >= terms) throw std::invalid_argument("a term is out of range");
    ++lists.starts[rows.terms.data[i] + 1];
  }
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

Bounds bounds_of(const ListsView& lists, const double* factors, int64_t documents, Gain gain) {
  const int64_t terms = lists.terms(), blocks = blocks_of(documents);
  Bounds bounds;
  bounds.highest.assign(terms, 0.0f);
  bounds.row.assign(terms, -1);
  bounds.dense_row.assign(terms, -1);
  for (int64_t t = 0; t < terms; ++t) {
    const int64_t begin = lists.starts.data[t], end = lists.starts.data[t + 1];
    const bool frequent = end - begin >= kFrequent;
    float* block_highest = nullptr;
    int64_t* block_starts = nullptr;
    if (frequent) {
      bounds.row[t] = static_cast<int32_t>(bounds.block_highest.size() / blocks);
      bounds.block_highest.resize(bounds.block_highest.size() + blocks, 0.0f);
      bounds.block_starts.resize(bounds.block_starts.size() + blocks + 1, end);
      block_highest = &bounds.block_highest[bounds.row[t] * blocks];
      block_starts = &bounds.block_starts[bounds.row[t] * (blocks + 1)];
    }
    double highest = 0.0;
    uint16_t most = 0;
    int64_t filled = 0;  // blocks whose start is known
    for (int64_t i = begin; i < end; ++i) {
      const int32_t d = lists.documents.data[i];
      const double gained = gain_of(gain, lists.counts.data[i], factors[d]);
      highest = std::max(highest, gained);
      most = std::max(most, lists.counts.data[i]);
      if (frequent) {
        const int64_t block = d / kSearchBlock;
        while (filled <= block) block_starts[filled++] = i;
        // Rounded up, so that it is a bound.
        const float above = std::nextafter(static_cast<float>(gained), std::numeric_limits<float>::infinity());
        block_highest[block] = std::max(block_highest[block], above);
      }
    }
    bounds.highest[t] = std::nextafter(static_cast<float>(highest), std::numeric_limits<float>::infinity());
    if (frequent && (end - begin) * 8 >= documents && most <= UINT8_MAX) {
      bounds.dense_row[t] = static_cast<int32_t>(bounds.dense.size() / (blocks * kSearchBlock));
      bounds.dense.resize(bounds.dense.size() + blocks * kSearchBlock, 0);
      uint8_t* dense = &bounds.dense[bounds.dense.size() - blocks * kSearchBlock];
      for (int64_t i = begin; i < end; ++i) dense[lists.documents.data[i]] = static_cast<uint8_t>(lists.counts.data[i]);
    }
  }
  return bounds;
}

Searcher::Searcher(const Rows& rows, const ListsView& lists, const BoundsView& bounds, Span<double> factors, Gain gain)
    : rows_(rows), lists_(lists), bounds_(bounds), factors_(factors), gain_(gain) {
  short_factors_.assign(blocks_of(rows.documents()) * kSearchBlock, gain == Gain::kCosine ? 0.0f : 1.0f);
  for (int64_t d = 0; d < rows.documents(); ++d) short_factors_[d] = static_cast<float>(factors.data[d]);
}

double Searcher::score(const Queries& queries, int64_t query, int64_t document) const {
  const int32_t* terms = rows_.terms.data;
  int64_t at = rows_.starts.data[document];
  const int64_t end = rows_.starts.data[document + 1];
  const int64_t begin = queries.starts.data[query], stop = queries.starts.data[query + 1];
  const double factor = factors_.data[document];
  const bool jump = (stop - begin) * 8 < end - at;
  double sum = 0.0;
  for (int64_t q = begin; q < stop && at < end; ++q) {
    const int32_t term = queries.terms.data[q];
    if (jump) {
      at = std::lower_bound(terms + at, terms + end, term) - terms;
    } else {
      while (at < end && terms[at] < term) ++at;
    }
    if (at < end && terms[at] == term) {
      const double count = rows_.counts.data[at];
      sum += queries.weights.data[q] * (gain_ == Gain::kCosine ? count : count / (count + factor));
    }
  }
  return gain_ == Gain::kCosine ? sum * factor : sum;
}

namespace {

struct Found {
  float score;
  int32_t document;
};

// A term of a query, on its way through the blocks.
struct Term {
  float weight;
  float highest;              // weight times the most that the term adds to any document
  int64_t at, stop, end;      // its documents of this block, and the end of all
  float bound;                // the most that it adds to a document of this block
  const int64_t* block_starts;
  const float* block_highest;
  const uint8_t* dense;
};

struct Progress {
  std::vector<Term> terms;  // those that add little first
  std::vector<float> heap;  // the k highest scores so far, the lowest first
  std::vector<Found> candidates;
  float margin;     // scores in short numbers are off by less than this share
  float threshold;  // a document with less is not among the k

  void keep(float score, int32_t document, size_t k) {
    if (heap.size() < k) {
      heap.push_back(score);
      std::push_heap(heap.begin(), heap.end(), std::greater<>());
    } else if (score > heap.front()) {
      std::pop_heap(heap.begin(), heap.end(), std::greater<>());
      heap.back() = score;
      std::push_heap(heap.begin(), heap.end(), std::greater<>());
    }
    if (heap.size() == k) threshold = heap.front() * (1.0f - margin);
    candidates.push_back({score, document});
    if (candidates.size() > 4 * k + 1024) drop();
  }
  void drop() {
    const float least = threshold;
    candidates.erase(std::remove_if(candidates.begin(), candidates.end(),
                                    [least](const Found& c) { return c.score < least; }),
                     candidates.end());
  }
};

}  // namespace

struct BlockSearch {
  const Searcher& index;
  const Queries& queries;
  const size_t k;
  std::vector<float> sums;

  BlockSearch(const Searcher& index, const Queries& queries, size_t k)
      : index(index), queries(queries), k(k), sums(kSearchBlock, 0.0f) {}

  Progress begin(int64_t query) const {
    const int64_t blocks = blocks_of(index.rows_.documents());
    Progress progress;
    const int64_t begin = queries.starts.data[query], end = queries.starts.data[query + 1];
    for (int64_t q = begin; q < end; ++q) {
      const int32_t t = queries.terms.data[q];
      if (t < 0 || t >= index.lists_.terms() || !(queries.weights.data[q] > 0.0)) continue;
      const int64_t first = index.lists_.starts.data[t], last = index.lists_.starts.data[t + 1];
      if (first == last) continue;
      Term term{};
      term.weight = static_cast<float>(queries.weights.data[q]);
      term.highest = term.weight * index.bounds_.highest.data[t];
      term.at = term.stop = first;
      term.end = last;
      if (const int32_t row = index.bounds_.row.data[t]; row >= 0) {
        term.block_starts = index.bounds_.block_starts.data + row * (blocks + 1);
        term.block_highest = index.bounds_.block_highest.data + row * blocks;
      }
      if (const int32_t row = index.bounds_.dense_row.data[t]; row >= 0) {
        term.dense = index.bounds_.dense.data + row * blocks * kSearchBlock;
      }
      progress.terms.push_back(term);
    }
    std::stable_sort(progress.terms.begin(), progress.terms.end(),
                     [](const Term& a, const Term& b) { return a.highest < b.highest; });
    // Each product and each sum of positive numbers in short form is off by at most 2^-24 of itself.
    progress.margin = 4.0f * static_cast<float>(progress.terms.size() + 8) * 5.9604645e-8f;
    progress.threshold = -1.0f;
    return progress;
  }

  // Where the documents of a block stand in the lists of the terms, and what the terms may add there.
  float place(Progress& progress, int64_t block) const {
    const int32_t* documents = index.lists_.documents.data;
    const int32_t next = static_cast<int32_t>((block + 1) * kSearchBlock);
    float total = 0.0f;
    for (Term& term : progress.terms) {
      if (term.block_starts) {
        term.at = term.block_starts[block];
        term.stop = term.block_starts[block + 1];
        term.bound = term.weight * term.block_highest[block];
      } else {
        term.at = term.stop;
        while (term.stop < term.end && documents[term.stop] < next) ++term.stop;
        term.bound = term.stop > term.at ? term.highest : 0.0f;
      }
      total += term.bound;
    }
    return total;
  }

  void add(const Term& term, int64_t block) {
    const int64_t base = block * kSearchBlock;
    const float* factors = index.short_factors_.data() + base;
    const bool cosine = index.gain_ == Gain::kCosine;
    if (term.dense) {
      if (cosine) {
        add_counts(term.weight, term.dense + base, sums.data());
      } else {
        add_shares(term.weight, term.dense + base, factors, sums.data());
      }
      return;
    }
    const int32_t* documents = index.lists_.documents.data;
    const uint16_t* counts = index.lists_.counts.data;
    float* const shifted = sums.data() - base;
    if (cosine) {
      for (int64_t i = term.at; i < term.stop; ++i) shifted[documents[i]] += term.weight * static_cast<float>(counts[i]);
    } else {
      for (int64_t i = term.at; i < term.stop; ++i) {
        const float count = static_cast<float>(counts[i]);
        shifted[documents[i]] += term.weight * (count / (count + factors[documents[i] - base]));
      }
    }
  }

  void go(Progress& progress, int64_t query, int64_t block) {
    const float most = place(progress, block) * (1.0f + progress.margin);
    if (most < progress.threshold) return;
    // Terms that together cannot lift a document over the threshold wait: only documents that others bring near it are
    // looked up. In a long query the lookups would cost more than the terms.
    const bool is_long = static_cast<int64_t>(progress.terms.size()) >= kLong;
    const float limit = progress.threshold * (is_long ? 0.05f : 0.6f);
    float waiting = 0.0f;
    size_t first = 0;
    while (first < progress.terms.size()) {
      const float with = waiting + progress.terms[first].bound * (1.0f + progress.margin);
      if (with > limit) break;
      waiting = with;
      ++first;
    }
    const bool all = waiting == 0.0f;
    std::fill(sums.begin(), sums.end(), 0.0f);
    for (size_t i = first; i < progress.terms.size(); ++i) {
      if (progress.terms[i].stop > progress.terms[i].at) add(progress.terms[i], block);
    }
    const int64_t base = block * kSearchBlock;
    if (index.gain_ == Gain::kCosine) scale(index.short_factors_.data() + base, sums.data());
    for (int64_t part = 0; part < kSearchBlock; part += 64) {
      float least = std::max(progress.threshold - waiting * (1.0f + progress.margin), 0.0f);
      if (!count_above(sums.data() + part, least * (1.0f - progress.margin))) continue;
      for (int64_t i = part; i < part + 64; ++i) {
        least = std::max(progress.threshold - waiting * (1.0f + progress.margin), 0.0f) * (1.0f - progress.margin);
        if (!(sums[i] > least)) continue;
        const int32_t document = static_cast<int32_t>(base + i);
        const float score = all ? sums[i] : static_cast<float>(index.score(queries, query, document));
        if (score >= progress.threshold) progress.keep(score, document, k);
      }
    }
  }

  void finish(Progress& progress, int64_t query, int32_t* documents, double* scores) const {
    progress.drop();
    std::vector<std::pair<double, int32_t>> found;
    for (const Found& candidate : progress.candidates) {
      found.emplace_back(index.score(queries, query, candidate.document), candidate.document);
    }
    std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) {
      return a.first != b.first ? a.first > b.first : a.second < b.second;
    });
    for (size_t i = 0; i < k; ++i) {
      const bool is = i < found.size();
      documents[i] = is ? found[i].second : -1;
      scores[i] = is ? found[i].first : 0.0;
    }
  }
};

void Searcher::search(const Queries& queries, int64_t k, int jobs, int32_t* documents, double* scores) const {
  const int64_t count = queries.starts.size - 1, blocks = blocks_of(rows_.documents());
  const int64_t at_once = std::max<int64_t>(1, std::min(kQueriesAtOnce, (count + jobs - 1) / jobs));
  for_each_block(
      (count + at_once - 1) / at_once, jobs,
      [&] { return BlockSearch(*this, queries, static_cast<size_t>(k)); },
      [&](BlockSearch& search, int64_t batch) {
        const int64_t begin = batch * at_once, end = std::min(count, begin + at_once);
        std::vector<Progress> progress;
        for (int64_t query = begin; query < end; ++query) progress.push_back(search.begin(query));
        for (int64_t block = 0; block < blocks; ++block) {
          for (int64_t query = begin; query < end; ++query) search.go(progress[query - begin], query, block);
        }
        for (int64_t query = begin; query < end; ++query) {
          search.finish(progress[query - begin], query, documents + query * k, scores + query * k);
        }
      });
}

}  // namespace postil
