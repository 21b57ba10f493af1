#include <algorithm>
#include <vector>

#include "checks.hpp"
#include "kernels.hpp"
#include "parallel.hpp"
#include "wide.hpp"

namespace postil {
namespace {

constexpr int64_t kTile = 256;  // patterns whose differences, of every metric, stay in the cache

POSTIL_WIDE void count(const double* own, const double* other, int64_t n, double slack, int64_t* out) {
  int64_t not_above = 0, not_below = 0;
  for (int64_t k = 0; k < n; ++k) {
    const double apart = own[k] + other[k];
    not_above += apart <= slack;
    not_below += apart >= -slack;
  }
  out[0] += not_above;
  out[1] += not_below;
}

void differences(const double* sums, int64_t rows, const Sums& shape, const int32_t* pair, int64_t from, int64_t size,
                 double* out) {
  for (int64_t row = 0; row < rows; ++row, out += kTile) {
    const double* a = sums + (row * shape.columns + pair[0]) * shape.patterns + from;
    const double* b = sums + (row * shape.columns + pair[1]) * shape.patterns + from;
    for (int64_t k = 0; k < size; ++k) out[k] = a[k] - b[k];
  }
}

}  // namespace

void order_counts(const Sums& sums, const int32_t* together, int64_t combinations, const int32_t* pairs, int64_t count_of_pairs,
                  const double* slack, int jobs, int64_t* out) {
  for (int64_t q = 0; q < combinations; ++q) {
    check_places(together + 2 * q, 1, sums.rows, "expected sums of each pair");
    check_places(together + 2 * q + 1, 1, sums.other_rows, "expected sums of each pair");
  }
  check_places(pairs, 2 * count_of_pairs, sums.columns, "expected sums of each pair");
  std::fill(out, out + combinations * count_of_pairs * 2, 0);
  const auto scratch = [&] { return std::vector<double>((sums.rows + sums.other_rows) * kTile); };
  for_each_block(count_of_pairs, jobs, scratch, [&](std::vector<double>& own, int64_t p) {
    double* other = own.data() + sums.rows * kTile;
    for (int64_t from = 0; from < sums.patterns; from += kTile) {
      const int64_t size = std::min(kTile, sums.patterns - from);
      differences(sums.own, sums.rows, sums, pairs + 2 * p, from, size, own.data());
      differences(sums.other, sums.other_rows, sums, pairs + 2 * p, from, size, other);
      for (int64_t q = 0; q < combinations; ++q) {
        count(own.data() + together[2 * q] * kTile, other + together[2 * q + 1] * kTile, size,
              slack[q * count_of_pairs + p], out + 2 * (q * count_of_pairs + p));
      }
    }
  });
}

}  // namespace postil
