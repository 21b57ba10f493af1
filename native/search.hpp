// Exact top-k over an inverted index: TF-IDF cosine and BM25.
#pragma once

#include <cstdint>
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

// What a search may skip by. Documents stand in blocks of kSearchBlock.
constexpr int64_t kSearchBlock = 4096;
struct Bounds {
  std::vector<float> highest;         // [terms] the most that a term adds to any document
  std::vector<int32_t> row;           // [terms] the row of a frequent term in the tables below, else -1
  std::vector<int64_t> block_starts;  // [frequent, blocks + 1] where its documents of each block begin
  std::vector<float> block_highest;   // [frequent, blocks]
  std::vector<int32_t> dense_row;     // [terms] the row of a very frequent term in the table of counts, else -1
  std::vector<uint8_t> dense;         // [very frequent, blocks * kSearchBlock]
};
Bounds bounds_of(const ListsView&, const double* factors, int64_t documents, Gain);

struct BoundsView {
  Span<float> highest;
  Span<int32_t> row;
  Span<int64_t> block_starts;
  Span<float> block_highest;
  Span<int32_t> dense_row;
  Span<uint8_t> dense;
};

struct Queries {
  Span<int64_t> starts;  // [queries + 1]
  Span<int32_t> terms;   // rising within a query
  Span<double> weights;  // 0 or more
};

class Searcher {
 public:
  Searcher(const Rows& rows, const ListsView& lists, const BoundsView& bounds, Span<double> factors, Gain gain);

  // The k documents with the highest scores above 0, best first, the lower number first where scores are equal.
  // documents, scores [queries, k]; -1 and 0 where there are fewer.
  void search(const Queries&, int64_t k, int jobs, int32_t* documents, double* scores) const;

  // The score of one document, added up in the order of terms.
  double score(const Queries&, int64_t query, int64_t document) const;

 private:
  friend struct BlockSearch;

  Rows rows_;
  ListsView lists_;
  BoundsView bounds_;
  Span<double> factors_;
  std::vector<float> short_factors_;
  Gain gain_;
};

}  // namespace postil
