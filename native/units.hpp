// Texts as bags of units, and how close each comes to what other texts hold together.
#pragma once

#include "overlap.hpp"

namespace postil {

// The distinct units of each text with their counts, row by row.
struct Bags {
  std::vector<int32_t> grams;    // [distinct, order] words of each unit, units numbered by first sight
  std::vector<int64_t> offsets;  // text i has the entries offsets[i] .. offsets[i + 1]
  std::vector<int32_t> units, counts;
};

// Units of `order` words. Between one word and the next `gap` words are left out, or with `up_to` 0 .. gap of them.
Bags count_units(const Texts&, int order, int gap, bool up_to);

// The same read from outside.
struct BagsView {
  Span<int64_t> offsets;
  Span<int32_t> units, counts;
  int32_t distinct;
};

// Pooled references, each with the texts that are scored against it. A text's own references (`own`, places in
// `references`) leave the pool while it is scored; they must hold the same units as the text.
struct Pools {
  Span<int64_t> reference_offsets;
  Span<int32_t> references;
  Span<double> weights;
  Span<int64_t> text_offsets;
  Span<int32_t> texts;
  Span<int64_t> own_offsets;
  Span<int64_t> own;
};

enum class Pooled { kF, kKl, kJs, kLogSim, kRouge, kTfIdf };
struct PooledMeasure {
  Pooled kind;
  double beta_squared;  // of kF
};

// share [distinct]: P(unit | all texts), for kKl. idf [distinct], for kTfIdf. out [measures, texts]; NaN where nothing is
// left in the pool.
void pooled_scores(const BagsView&, const Pools&, Span<double> share, Span<double> idf,
                   const std::vector<PooledMeasure>&, int jobs, double* out);

}  // namespace postil
