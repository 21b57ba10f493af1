// Exact top-k over an inverted index: TF-IDF cosine and BM25.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "memory.hpp"
#include "overlap.hpp"

namespace postil {

// Documents over terms, a row a document; terms rise within a row.
struct Rows {
  Span<int64_t> starts;  // [documents + 1]
  Span<int32_t> terms;
  Span<uint16_t> counts;

  int64_t documents() const { return starts.size - 1; }
};

// How often each term comes in each text. Owns what Rows looks into.
struct Counted {
  std::vector<int64_t> starts;
  std::vector<int32_t> terms;
  std::vector<uint16_t> counts;  // at most 65,535
};
Counted count_terms(const Texts&, int jobs);

// The same, a list a term; documents rise within a list.
struct Lists {
  std::vector<int64_t> starts;  // [terms + 1]
  std::vector<int32_t> documents;
  std::vector<uint16_t> counts;
};
Lists invert(const Rows&, int64_t terms);

// How much a term that comes `count` times adds to a document's score, less the query's weight.
enum class Gain {
  kCosine,  // count * factor: the factor is 1 / the document's norm
  kBm25,    // count / (count + factor): the factor is what the document's length makes of k1
};

struct ListsView {
  Span<int64_t> starts;
  Span<int32_t> documents;
  Span<uint16_t> counts;

  int64_t terms() const { return starts.size - 1; }
};

// What a search may skip by, always rounded up. Terms stand in classes by how frequent they are: 0 is below 1/128 of the
// documents, then come 1/128, 1/32, 1/8 and 1/2. Those from 1/8 on are dense: they have a table. A document's vector has
// scale * gain for each term. Documents stand in groups; what is kept for documents is filled up with 0 to whole groups.
constexpr int kClasses = 5;
constexpr int kDense = 3;  // the first dense class
constexpr int64_t kGroup = 64;
struct Bounds {
  std::vector<float> highest;        // [terms] the most that a term adds to any document
  std::vector<uint16_t> impacts;     // [as Lists] what it adds to each, in 65,535ths of that
  std::vector<float> longest;        // [kClasses] the greatest length of a vector: of all terms, then of each class from 1
  std::vector<uint8_t> lengths;      // [kClasses - 1, documents] the length of each vector, in 255ths of that
  std::vector<int32_t> dense_terms;  // rising
  std::vector<float> steps;          // [documents] what a document's row counts in
  std::vector<float> most_steps;     // [1] the greatest length of a vector of scale * steps
  std::vector<uint8_t> dense;        // [groups, dense terms, kGroup] how many steps each adds
};
// scales [terms]: any numbers above 0 are right, rarity is fast; others are taken as 1.
Bounds bounds_of(const ListsView&, Span<double> factors, Gain, Span<double> scales);

struct BoundsView {
  Span<float> highest;
  Span<uint16_t> impacts;
  Span<float> longest;
  Span<uint8_t> lengths;
  Span<int32_t> dense_terms;
  Span<float> steps, most_steps;
  Span<uint8_t> dense;
};

// The terms of a query that documents have, and what one occurrence of each in a document is worth.
struct Query {
  std::vector<int32_t> terms;                      // rising
  std::vector<double> weights;                     // above 0
  std::vector<std::pair<int64_t, int64_t>> lists;  // where the documents of each begin and end
};

class Searcher {
 public:
  // scales [terms] as in bounds_of. Arrays may lie in files: their sizes are looked at here, and what a list or a row holds
  // when it is first read, since a look at all of it would take far longer than a query.
  Searcher(const Rows& rows, const ListsView& lists, const BoundsView& bounds, Span<double> factors, Span<double> scales, Gain gain);

  // The k documents with the highest scores above 0, best first, the lower number first where scores are equal. A query is
  // a text: each of its terms weighs how often it comes times its scale. For cosine the vector of these weights has length
  // 1, and the scale comes in once more, since documents are scaled too. Terms of no document, or with weights that are not
  // above 0, are passed over. documents, scores [queries, k]; -1 and 0 where there are fewer.
  void search(const Texts& queries, int64_t k, int jobs, int32_t* documents, double* scores) const;

  // The score of one document, added up in the order of terms.
  double score(const Query&, int32_t document) const;

 private:
  friend struct Search;
  std::pair<int64_t, int64_t> list(int32_t term) const;  // where the documents of a term begin and end
  void check_list(int32_t term) const;
  void check_factor(int64_t document) const;
  void check_factors() const;
  void check_row(int32_t document) const;

  Rows rows_;
  ListsView lists_;
  BoundsView bounds_;
  Span<double> factors_, scales_;
  Gain gain_;
  std::unique_ptr<std::atomic<bool>[]> known_lists_, known_rows_;  // [terms], [documents]: looked at, and right
  mutable std::atomic<bool> known_factors_{false};
  mutable std::mutex lock_;
  mutable std::vector<int32_t> uncounted_;  // documents whose rows of the table of dense terms do not hold counts
};

}  // namespace postil
