#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>

#include "checks.hpp"
#include "fenwick.hpp"
#include "kernels.hpp"
#include "parallel.hpp"

namespace postil {
namespace {

constexpr int64_t kMostRows = int64_t{1} << 21;  // the sum of N products of two ranks stays below 2^63

// The rows in the order of one column. What a row weighs and where it stands in y is then read without jumping about.
struct Column {
  std::vector<int32_t> cluster, y;
  std::vector<int32_t> ends;  // where each group of ties ends
};

Column sorted_column(const Ranked& rows, int64_t column) {
  const auto rank = [&](int64_t row) { return rows.x[row * rows.columns + column]; };
  std::vector<int32_t> order(rows.n);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int32_t a, int32_t b) { return rank(a) < rank(b); });
  Column out;
  for (int64_t k = 0; k < rows.n; ++k) {
    out.cluster.push_back(rows.cluster[order[k]]);
    out.y.push_back(rows.y[order[k]]);
    if (k + 1 == rows.n || rank(order[k]) != rank(order[k + 1])) out.ends.push_back(static_cast<int32_t>(k + 1));
  }
  return out;
}

// y in one resample. Distances from the middle rank are doubled, so that they are integers.
struct Side {
  int64_t total = 0;
  std::vector<int64_t> weight, distance;  // of each rank
  int64_t squares = 0;                    // sum of the squared distances
  int64_t tied_pairs = 0, groups = 0;

  void set(const Ranked& rows, const int32_t* count, int32_t ranks) {
    weight.assign(ranks, 0);
    distance.resize(ranks);
    total = squares = tied_pairs = groups = 0;
    for (int64_t row = 0; row < rows.n; ++row) weight[rows.y[row]] += count[rows.cluster[row]];
    for (int64_t w : weight) total += w;
    int64_t before = 0;
    for (int32_t rank = 0; rank < ranks; ++rank) {
      const int64_t w = weight[rank];
      distance[rank] = 2 * before + w - total;
      squares += w * distance[rank] * distance[rank];
      tied_pairs += w * (w - 1) / 2;
      groups += w > 0;
      before += w;
    }
  }
};

double ratio(int64_t numerator, int64_t a, int64_t b) {
  return a > 0 && b > 0 ? numerator / std::sqrt(static_cast<double>(a) * static_cast<double>(b))
                        : std::numeric_limits<double>::quiet_NaN();
}

double spearman(const Column& x, const Side& y, const int32_t* count) {
  int64_t before = 0, squares = 0, products = 0;
  size_t row = 0;
  for (const int32_t end : x.ends) {
    int64_t w = 0, of_y = 0;
    for (; row < static_cast<size_t>(end); ++row) {
      const int64_t of_row = count[x.cluster[row]];
      w += of_row;
      of_y += of_row * y.distance[x.y[row]];
    }
    const int64_t distance = 2 * before + w - y.total;
    squares += w * distance * distance;
    products += of_y * distance;
    before += w;
  }
  return ratio(products, squares, y.squares);
}

struct Scratch {
  Side y;
  Below below;
  std::vector<int64_t> seen;  // weight of each rank of y among smaller x
};

double kendall(const Column& x, const int32_t* count, bool c, Scratch& scratch) {
  const Side& y = scratch.y;
  scratch.below.clear(y.weight.size());
  scratch.seen.assign(y.weight.size(), 0);
  int64_t seen = 0, concordant_less_discordant = 0, tied_pairs = 0, groups = 0;
  size_t begin = 0;
  for (const int32_t last : x.ends) {
    const size_t end = static_cast<size_t>(last);
    int64_t of_group = 0;
    for (size_t row = begin; row < end; ++row) {
      const int64_t w = count[x.cluster[row]];
      if (w == 0) continue;
      const int64_t below = scratch.below.sum(x.y[row]), above = seen - below - scratch.seen[x.y[row]];
      concordant_less_discordant += w * (below - above);
      of_group += w;
    }
    for (size_t row = begin; row < end; ++row) {
      const int64_t w = count[x.cluster[row]];
      if (w == 0) continue;
      scratch.seen[x.y[row]] += w;
      scratch.below.add(x.y[row], w);
    }
    seen += of_group;
    tied_pairs += of_group * (of_group - 1) / 2;
    groups += of_group > 0;
    begin = end;
  }
  const int64_t pairs = y.total * (y.total - 1) / 2;
  if (!c) return ratio(concordant_less_discordant, pairs - tied_pairs, pairs - y.tied_pairs);
  const double k = static_cast<double>(std::min(groups, y.groups)), n = static_cast<double>(y.total);
  return k < 2 ? std::numeric_limits<double>::quiet_NaN() : 2.0 * concordant_less_discordant / (n * n * (k - 1) / k);
}

void check(const Ranked& rows, const int32_t* counts, int64_t resamples) {
  check_places(rows.x, rows.n * rows.columns, rows.n, "expected ranks from 0 to n - 1");
  check_places(rows.y, rows.n, rows.n, "expected ranks from 0 to n - 1");
  check_places(rows.cluster, rows.n, rows.clusters, "expected a count for every cluster");
  std::vector<int64_t> sizes(rows.clusters);
  for (int64_t row = 0; row < rows.n; ++row) ++sizes[rows.cluster[row]];
  for (int64_t r = 0; r < resamples; ++r) {
    int64_t total = 0;
    for (int64_t c = 0; c < rows.clusters; ++c, ++counts) {
      if (*counts < 0) throw std::invalid_argument("expected counts from 0 up");
      total += *counts * sizes[c];
    }
    if (total >= kMostRows) throw std::invalid_argument("expected fewer than 2,097,152 rows in a resample");
  }
}

}  // namespace

void rank_correlations(const Ranked& rows, const int32_t* counts, int64_t resamples, RankCorrelation kind, int jobs,
                       double* out) {
  check(rows, counts, resamples);
  std::vector<Column> columns;
  for (int64_t column = 0; column < rows.columns; ++column) columns.push_back(sorted_column(rows, column));
  const int32_t ranks = rows.n > 0 ? *std::max_element(rows.y, rows.y + rows.n) + 1 : 0;
  for_each_block(resamples, jobs, [] { return Scratch(); }, [&](Scratch& scratch, int64_t resample) {
    const int32_t* count = counts + resample * rows.clusters;
    scratch.y.set(rows, count, ranks);
    for (int64_t column = 0; column < rows.columns; ++column) {
      out[resample * rows.columns + column] =
          kind == RankCorrelation::kSpearman
              ? spearman(columns[column], scratch.y, count)
              : kendall(columns[column], count, kind == RankCorrelation::kKendallC, scratch);
    }
  });
}

}  // namespace postil
