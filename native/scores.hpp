// What a softmax over words needs to know of its scores. On one thread: those of the network wait actively, and two kinds
// of threads would stand in each other's way.
#pragma once

#include <cstdint>

namespace postil {

// scores [rows, columns], one row behind the other.
struct Scores {
  const float* data;
  int64_t rows, columns;
};

// out [rows]: log of the sum of e^score over a row; -inf where all scores are.
void log_sums(const Scores&, float* out);
// columns and values [rows, k]: the k highest scores of a row, highest first, among equal ones the first column first.
void highest(const Scores&, int64_t k, int64_t* columns, float* values);

}  // namespace postil
