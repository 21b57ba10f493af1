#include <algorithm>
#include <vector>

#include "checks.hpp"
#include "kernels.hpp"
#include "wide.hpp"

namespace postil {
namespace {

constexpr int64_t kRows = 64;    // that go through a tree together
constexpr int64_t kLeaves = 64;  // the most of a tree

// A row that is not at most the threshold is in none of the leaves on the left; `rest` has a bit for each other leaf.
struct Split {
  int32_t feature;
  double threshold;
  uint64_t rest;
};

// A tree as splits, and leaves from the left (Lucchese et al. 2015, QuickScorer): the leaf of a row is the first that no
// split rules out.
struct Leaves {
  std::vector<Split> splits;
  std::vector<double> values;

  Leaves(const Nodes& nodes, int64_t begin, int64_t end, int64_t columns) {
    require(begin < end, "expected a node of each tree");
    for (int64_t node = begin; node < end; ++node) {
      const int32_t feature = nodes.features[node];
      const int64_t below = std::min(nodes.left[node], nodes.right[node]);
      const int64_t last = std::max(nodes.left[node], nodes.right[node]);
      require(feature == -1 || (0 <= feature && feature < columns && node - begin < below && last < end - begin),
              "expected columns of scores, and nodes before those below them");
    }
    add(nodes, begin, 0, 0);
  }

  uint64_t add(const Nodes& nodes, int64_t begin, int32_t node, int64_t depth) {
    const int32_t feature = nodes.features[begin + node];
    const int64_t leaf = static_cast<int64_t>(values.size());
    require(leaf < kLeaves && depth < kLeaves, "expected trees of at most 64 leaves");
    if (feature < 0) {
      values.push_back(nodes.values[begin + node]);
      return uint64_t{1} << leaf;
    }
    const uint64_t left = add(nodes, begin, nodes.left[begin + node], depth + 1);
    splits.push_back({feature, nodes.thresholds[begin + node], ~left});
    return left | add(nodes, begin, nodes.right[begin + node], depth + 1);
  }
};

// The leaves that are left for each row; columns are of kRows scores.
POSTIL_WIDE void rule_out(const std::vector<Split>& splits, const double* __restrict columns, uint64_t* __restrict leaves) {
  std::fill(leaves, leaves + kRows, ~uint64_t{0});
  for (const Split& split : splits) {
    const double *scores = columns + split.feature * kRows, threshold = split.threshold;
    const uint64_t rest = split.rest;
    for (int64_t row = 0; row < kRows; ++row) leaves[row] &= scores[row] <= threshold ? ~uint64_t{0} : rest;
  }
}

inline int lowest(uint64_t bits) {
#if defined(__GNUC__)
  return __builtin_ctzll(bits);
#else
  int place = 0;
  while (!(bits >> place & 1)) ++place;
  return place;
#endif
}

}  // namespace

void tree_sums(const Nodes& nodes, Span<int64_t> starts, const double* scores, int64_t n, int64_t columns, double first,
               double* out) {
  check_offsets(starts, nodes.features.size, "expected where the nodes of each tree begin");
  std::vector<Leaves> trees;
  for (int64_t t = 0; t + 1 < starts.size; ++t) trees.emplace_back(nodes, starts[t], starts[t + 1], columns);
  std::fill(out, out + n, first);
  std::vector<double> turned(columns * kRows);
  uint64_t leaves[kRows];
  for (int64_t begin = 0; begin < n; begin += kRows) {
    const int64_t rows = std::min(n - begin, kRows);
    for (int64_t row = 0; row < rows; ++row) {
      for (int64_t c = 0; c < columns; ++c) turned[c * kRows + row] = scores[(begin + row) * columns + c];
    }
    for (const Leaves& tree : trees) {
      rule_out(tree.splits, turned.data(), leaves);
      for (int64_t row = 0; row < rows; ++row) out[begin + row] += tree.values[lowest(leaves[row])];
    }
  }
}

}  // namespace postil
