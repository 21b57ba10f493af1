// Greedy matches between texts whose units have vectors: of each unit the highest dot product with a unit of the other
// text, without the matrix of products ever being stored.
#pragma once

#include "overlap.hpp"

namespace postil {

// Texts as units: unit u has the vector rows[u] of `vectors` [k, d], and a weight.
struct UnitTexts {
  const float* vectors;
  int64_t k, d;
  Span<int32_t> rows;
  Span<int64_t> offsets;
  Span<double> weights;

  int64_t count() const { return offsets.size - 1; }
  int64_t begin(int64_t text) const { return offsets[text]; }
  int64_t length(int64_t text) const { return offsets[text + 1] - offsets[text]; }
  const float* vector(int64_t unit) const { return vectors + rows[unit] * d; }
};

// Pairs of a left and a right text -> out [pairs, 2]: weighted mean of the left units' maxima, and of the right units'; 0
// where the weights of a side add up to 0 or a text is empty. Products are sums in single precision, in the order of the
// dimensions, so they have the same bits whatever is computed beside them and on whatever vector unit with fused
// multiply-add.
void greedy_matches(const UnitTexts& left, const UnitTexts& right, Span<int32_t> lefts, Span<int32_t> rights, int jobs,
                    double* out);

}  // namespace postil
