// Pairwise accuracy with ties: its best threshold, its resamples, and what two metrics both have right.
//
// By pool there are n^2 / 2 pairs, too many to sort or to keep. So the pairs are counted in bins of their difference first;
// a threshold in a bin is at most as good as what is right below it and every tie of people's in it. Only the pairs of bins
// that may still hold the best threshold are gathered and sorted. All sums are integers, so no order changes them.
// Random orders permute the grades and leave the scores, so several of them share one walk over the differences.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <mutex>
#include <numeric>

#include "checks.hpp"
#include "fenwick.hpp"
#include "kernels.hpp"
#include "parallel.hpp"

namespace postil {
namespace {

constexpr double kTolerance = 1e-12;  // TOLERANCE of postil.data.ranking
constexpr size_t kMerge = size_t{1} << 19;  // gathered differences before equal ones are merged for the first time

// Differences by their leading bits: 2^bits bins to an octave, 64 octaves below the largest difference, all below in one. Bin
// 0 is for differences of 0, which come without a difference.
class Bins {
 public:
  Bins(double largest, int bits)
      : shift_(52 - bits), base_(std::max<int64_t>(0, (bits_of(largest) >> shift_) - (int64_t{64} << bits))),
        size((bits_of(largest) >> shift_) - base_ + 2) {}
  size_t operator()(double difference) const {
    return static_cast<size_t>(std::max<int64_t>(0, (bits_of(difference) >> shift_) - base_) + 1);
  }

 private:
  static int64_t bits_of(double value) {
    int64_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    return bits;
  }
  int shift_;
  int64_t base_;

 public:
  int64_t size;
};

// The rows of one column, each group ascending by score.
struct SortedRows {
  std::vector<int32_t> order;
  std::vector<double> score, size;
  std::vector<int32_t> run;  // first row of the same group and score
  double largest_difference = 0, largest_size = 0;
  int64_t pairs = 0;

  SortedRows(const Groups& groups, const ScoreColumns& rows, int64_t column) : order(groups.n) {
    std::iota(order.begin(), order.end(), 0);
    const auto score_of = [&](int32_t row) { return rows.scores[row * rows.columns + column]; };
    for (int64_t g = 0; g < groups.starts.size; ++g) {
      const int64_t begin = groups.starts[g], end = groups.end(g);
      std::stable_sort(order.begin() + begin, order.begin() + end,
                       [&](int32_t a, int32_t b) { return score_of(a) < score_of(b); });
      for (int64_t i = begin; i < end; ++i) {
        score.push_back(score_of(order[i]));
        size.push_back(rows.sizes[order[i] * rows.columns + column]);
        run.push_back(i > begin && score[i] == score[i - 1] ? run[i - 1] : static_cast<int32_t>(i));
        largest_size = std::max(largest_size, size[i]);
      }
      largest_difference = std::max(largest_difference, score[end - 1] - score[begin]);
      pairs += (end - begin) * (end - begin - 1) / 2;
    }
  }
};

// Of each bin the least and the greatest difference; least > greatest where it is empty.
struct Edges {
  std::vector<double> least, greatest;
  std::vector<int64_t> filled;  // bins with a difference, ascending

  Edges(const Groups& groups, const SortedRows& rows, const Bins& bins)
      : least(bins.size, INFINITY), greatest(bins.size, -INFINITY) {
    for (int64_t g = 0; g < groups.starts.size; ++g) {
      for (int64_t i = groups.starts[g]; i < groups.end(g); ++i) {
        for (int64_t j = groups.starts[g]; j < rows.run[i]; ++j) {
          const double difference = rows.score[i] - rows.score[j];
          const size_t bin = bins(difference);
          least[bin] = std::min(least[bin], difference);
          greatest[bin] = std::max(greatest[bin], difference);
        }
      }
    }
    for (int64_t bin = 1; bin < bins.size; ++bin) {
      if (least[bin] <= greatest[bin]) filled.push_back(bin);
    }
  }
};

// Some orders of the grades side by side: ranks and weights of L lanes. The lane of `fixed` has ranks that make each pair
// count as a tie of people's, or where it is a loss as one in the right order.
template <int L>
struct Lanes {
  std::vector<int32_t> ranks;    // [n, L], by the order of the scores
  std::vector<int64_t> weights;  // [groups, L]
  int fixed = -1;

  Lanes(const Groups& groups, const SortedRows& rows, const Calibrated& given, int64_t first, int64_t count)
      : ranks(groups.n * L), weights(groups.starts.size * L) {
    for (int64_t g = 0; g < groups.starts.size; ++g) {
      for (int lane = 0; lane < count; ++lane) {
        const bool is_fixed = first + lane == given.orders;
        if (is_fixed) fixed = lane;
        weights[g * L + lane] = is_fixed ? std::abs(given.fixed[g]) : given.weights[g];
        for (int64_t i = groups.starts[g]; i < groups.end(g); ++i) {
          ranks[i * L + lane] = is_fixed ? (given.fixed[g] < 0 ? static_cast<int32_t>(i) : 0)
                                         : given.ranks[rows.order[i] * given.orders + first + lane];
        }
      }
    }
  }
};

// Weights of pairs in L lanes: those that people tie, and those that the metric has in the right order.
template <int L>
struct Sums {
  int64_t tied[L] = {}, ordered[L] = {};

  void add(const int32_t* upper, const int32_t* lower, const int64_t* weights) {
    for (int lane = 0; lane < L; ++lane) {
      tied[lane] += -static_cast<int64_t>(upper[lane] == lower[lane]) & weights[lane];
      ordered[lane] += -static_cast<int64_t>(upper[lane] > lower[lane]) & weights[lane];
    }
  }
  void add(const Sums& other) {
    for (int lane = 0; lane < L; ++lane) tied[lane] += other.tied[lane], ordered[lane] += other.ordered[lane];
  }
  int64_t gain(int lane) const { return tied[lane] - ordered[lane]; }
};

template <int L>
struct Difference {
  double value, size;
  Sums<L> sums;
};

// Equal differences become one, which changes no sum.
template <int L>
void merge(std::vector<Difference<L>>& found) {
  std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.value < b.value; });
  size_t last = 0;
  for (size_t i = 1; i < found.size(); ++i) {
    if (found[i].value != found[last].value) {
      found[++last] = found[i];
      continue;
    }
    found[last].size = std::max(found[last].size, found[i].size);
    found[last].sums.add(found[i].sums);
  }
  found.resize(std::min(found.size(), last + 1));
}

template <int L>
class Search {
 public:
  Search(const Groups& groups, const SortedRows& rows, const Bins& bins, const Edges& edges, const Lanes<L>& lanes,
         int64_t slack)
      : groups_(groups), rows_(rows), bins_(bins), edges_(edges), lanes_(lanes), slack_(slack), sums_(bins.size) {
    count();
    begin_at_zero();
    bound();
    gather();
    scan([&](const Difference<L>&, const int64_t* right) {
      for (int lane = 0; lane < L; ++lane) best[lane] = std::max(best[lane], right[lane]);
      return false;
    });
  }

  int64_t start[L], best[L];

  // The smallest threshold of the first lane that is as good as the best.
  double epsilon() const {
    if (start[0] >= best[0] - slack_) return 0.0;
    double found = 0.0;
    scan([&](const Difference<L>& difference, const int64_t* right) {
      found = difference.value;
      return right[0] >= best[0] - slack_;
    });
    return found;
  }

 private:
  template <class Body>
  void each_row(Body body) const {
    for (int64_t g = 0; g < groups_.starts.size; ++g) {
      for (int64_t i = groups_.starts[g] + 1; i < groups_.end(g); ++i) body(groups_.starts[g], i, &lanes_.weights[g * L]);
    }
  }

  void count() {
    const int32_t* ranks = lanes_.ranks.data();
    each_row([&](int64_t begin, int64_t i, const int64_t* weights) {
      for (int64_t j = begin; j < rows_.run[i]; ++j) {
        sums_[bins_(rows_.score[i] - rows_.score[j])].add(ranks + i * L, ranks + j * L, weights);
      }
      for (int64_t j = rows_.run[i]; j < i; ++j) sums_[0].add(ranks + i * L, ranks + j * L, weights);
    });
  }

  // Right at epsilon 0: all pairs in the right order, and ties of both. What is fixed counts ties of the metric alone.
  void begin_at_zero() {
    for (int lane = 0; lane < L; ++lane) {
      start[lane] = lane == lanes_.fixed ? sums_[0].gain(lane) : sums_[0].tied[lane];
      for (const int64_t bin : edges_.filled) start[lane] += lane == lanes_.fixed ? 0 : sums_[bin].ordered[lane];
      best[lane] = start[lane];
    }
  }

  // True if no chain of equal differences crosses the end of a bin, whatever the sizes.
  bool apart(size_t at) const {
    if (at + 1 == edges_.filled.size()) return true;
    return edges_.least[edges_.filled[at + 1]] - edges_.greatest[edges_.filled[at]] > kTolerance * rows_.largest_size;
  }

  // Keep the bins that may hold a better threshold than the best end of a bin, and the bin after, if a chain may end there.
  void bound() {
    int64_t right[L];
    int64_t at_best = -1;
    std::copy(start, start + L, right);
    for (size_t at = 0; at < edges_.filled.size(); ++at) {
      for (int lane = 0; lane < L; ++lane) {
        right[lane] += sums_[edges_.filled[at]].gain(lane);
        if (right[lane] <= best[lane] || !apart(at)) continue;
        best[lane] = right[lane];
        if (lane == 0) at_best = static_cast<int64_t>(at);
      }
    }
    kept_.assign(bins_.size, 0);
    std::copy(start, start + L, right);
    for (size_t at = 0; at < edges_.filled.size(); ++at) {
      const Sums<L>& sums = sums_[edges_.filled[at]];
      bool keep = static_cast<int64_t>(at) <= at_best && right[0] + sums.tied[0] >= best[0] - slack_;
      for (int lane = 0; lane < L; ++lane) {
        keep = keep || right[lane] + sums.tied[lane] > best[lane];
        right[lane] += sums.gain(lane);
      }
      if (!keep) continue;
      kept_[edges_.filled[at]] = 1;
      if (!apart(at)) kept_[edges_.filled[at + 1]] = 1;
    }
  }

  void gather() {
    if (std::find(kept_.begin(), kept_.end(), 1) == kept_.end()) return;
    size_t limit = kMerge;
    const int32_t* ranks = lanes_.ranks.data();
    each_row([&](int64_t begin, int64_t i, const int64_t* weights) {
      for (int64_t j = begin; j < rows_.run[i];) {
        const double difference = rows_.score[i] - rows_.score[j];
        const int64_t run = j;
        if (!kept_[bins_(difference)]) {
          ++j;
          continue;
        }
        found_.push_back({difference, 0.0, {}});
        Difference<L>& last = found_.back();
        for (; j < rows_.run[i] && rows_.run[j] == rows_.run[run]; ++j) {
          last.size = std::max(last.size, std::max(rows_.size[i], rows_.size[j]));
          last.sums.add(ranks + i * L, ranks + j * L, weights);
        }
      }
      if (found_.size() < limit) return;
      merge(found_);
      limit = std::max(limit, 2 * found_.size());
    });
    merge(found_);
  }

  // body(difference, right) at the end of each gathered chain, until it returns true.
  template <class Body>
  void scan(Body body) const {
    int64_t before[L], right[L];
    std::copy(start, start + L, before);
    std::copy(start, start + L, right);
    size_t at = 0, bin = 0;
    for (size_t i = 0; i < found_.size(); ++i) {
      for (bin = bins_(found_[i].value); static_cast<size_t>(edges_.filled[at]) < bin; ++at) {
        for (int lane = 0; lane < L; ++lane) before[lane] += sums_[edges_.filled[at]].gain(lane);
        std::copy(before, before + L, right);
      }
      for (int lane = 0; lane < L; ++lane) right[lane] += found_[i].sums.gain(lane);
      if (i + 1 < found_.size() && found_[i + 1].value - found_[i].value <=
                                       kTolerance * std::max(found_[i].size, found_[i + 1].size)) {
        continue;
      }
      if (body(found_[i], right)) return;
    }
  }

  const Groups& groups_;
  const SortedRows& rows_;
  const Bins& bins_;
  const Edges& edges_;
  const Lanes<L>& lanes_;
  int64_t slack_;
  std::vector<Sums<L>> sums_;
  std::vector<uint8_t> kept_;
  std::vector<Difference<L>> found_;
};

struct Outcome {
  double* epsilon;
  int64_t *plain, *best;
};

template <int L>
void search_lanes(const Groups& groups, const SortedRows& rows, const Bins& bins, const Edges& edges,
                  const Calibrated& given, int64_t first, int64_t count, Outcome out) {
  const Lanes<L> lanes(groups, rows, given, first, count);
  const Search<L> search(groups, rows, bins, edges, lanes, given.slack);
  std::copy(search.best, search.best + count, out.best + first);
  if (first > 0) return;
  *out.epsilon = search.epsilon();
  *out.plain = search.start[0];
}

// Rows of one column, groups ascending by score, for the walk of right_pairs.
struct Walked {
  std::vector<double> score;
  std::vector<int32_t> rank, cluster;
};

struct WalkScratch {
  Below below;
  std::vector<int64_t> near;  // weight of each rank among the rows less than epsilon below
};

// Pairs in the right order that are more than epsilon apart, and people's ties among the others.
int64_t right_of_group(const Walked& rows, int64_t begin, int64_t end, const int32_t* count, double epsilon,
                       WalkScratch& scratch) {
  const size_t ranks = *std::max_element(rows.rank.begin() + begin, rows.rank.begin() + end) + 1;
  scratch.below.clear(ranks);
  scratch.near.assign(ranks, 0);
  int64_t right = 0, low = begin;
  for (int64_t i = begin; i < end; ++i) {
    const int64_t weight = count[rows.cluster[i]];
    if (weight == 0) continue;
    for (; low < i && rows.score[i] - rows.score[low] > epsilon; ++low) {
      const int64_t of_low = count[rows.cluster[low]];
      if (of_low == 0) continue;
      scratch.near[rows.rank[low]] -= of_low;
      scratch.below.add(rows.rank[low], of_low);
    }
    right += weight * (scratch.below.sum(rows.rank[i]) + scratch.near[rows.rank[i]]);
    scratch.near[rows.rank[i]] += weight;
  }
  return right;
}

// Rows of some group, as one block of work.
struct Block {
  int64_t group, begin, end;
};

std::vector<Block> blocks_of(const Groups& groups) {
  std::vector<Block> out;
  for (int64_t g = 0; g < groups.starts.size; ++g) {
    for (int64_t at = groups.starts[g]; at < groups.end(g); at += kBlock) {
      out.push_back({g, at, std::min(groups.end(g), at + kBlock)});
    }
  }
  return out;
}

void check(const Groups& groups, const ScoreColumns& scores) {
  for (int64_t i = 0; i < groups.n * scores.columns; ++i) {
    require(std::isfinite(scores.scores[i]), "expected finite scores");  // a difference of infinities is in no bin
  }
  int64_t before = 0;
  for (int64_t g = 0; g < groups.starts.size; ++g) {
    require(groups.starts[g] == 0 || g > 0, "expected groups from the first row on");
    require(g == 0 || groups.starts[g] > before, "expected ascending starts of groups");
    before = groups.starts[g];
  }
  require(groups.starts.size > 0 ? before < groups.n : groups.n == 0, "expected groups that cover the rows");
}

}  // namespace

void calibrate(const Groups& groups, const ScoreColumns& scores, const Calibrated& given, int jobs, double* epsilons,
               int64_t* plain, int64_t* best) {
  check(groups, scores);
  require(given.orders > 0, "expected ranks of grades");
  require(given.weights.size == groups.starts.size, "expected a weight for each group");
  require(given.fixed.size == 0 || given.fixed.size == groups.starts.size, "expected a gain for each group");
  const int64_t lanes = given.orders + (given.fixed.size > 0);
  for_each_block(scores.columns, jobs, [] { return 0; }, [&](int, int64_t column) {
    const SortedRows rows(groups, scores, column);
    // About a thousand pairs a bin, in a table that stays in the cache.
    const int bits = std::clamp(std::ilogb(static_cast<double>(rows.pairs + 1)) - 14, 2, 9);
    const Bins bins(rows.largest_difference, bits);
    const Edges edges(groups, rows, bins);
    const Outcome out{epsilons + column, plain + column, best + column * lanes};
    for (int64_t first = 0; first < lanes;) {
      const int64_t count = std::min<int64_t>(lanes - first, 8);
      if (count == 1) {
        search_lanes<1>(groups, rows, bins, edges, given, first, count, out);
      } else {
        search_lanes<8>(groups, rows, bins, edges, given, first, count, out);
      }
      first += count;
    }
  });
}

void right_pairs(const Groups& groups, const ScoreColumns& scores, const int32_t* ranks, const int32_t* cluster,
                 const int32_t* counts, int64_t resamples, int64_t clusters, const double* epsilons, int jobs,
                 int64_t* out) {
  check(groups, scores);
  check_places(ranks, groups.n, groups.n, "expected ranks from 0 to n - 1");
  check_places(cluster, groups.n, clusters, "expected a count for every cluster");
  std::vector<Walked> columns(scores.columns);
  for (int64_t column = 0; column < scores.columns; ++column) {
    SortedRows rows(groups, scores, column);
    for (const int32_t row : rows.order) {
      columns[column].rank.push_back(ranks[row]);
      columns[column].cluster.push_back(cluster[row]);
    }
    columns[column].score = std::move(rows.score);
  }
  const int64_t size = groups.starts.size;
  for_each_block(resamples * scores.columns, jobs, [] { return WalkScratch(); }, [&](WalkScratch& scratch, int64_t block) {
    const int64_t resample = block / scores.columns, column = block % scores.columns;
    for (int64_t g = 0; g < size; ++g) {
      out[(resample * size + g) * scores.columns + column] = right_of_group(
          columns[column], groups.starts[g], groups.end(g), counts + resample * clusters, epsilons[column], scratch);
    }
  });
}

void both_right(const Groups& groups, const ScoreColumns& scores, const int32_t* ranks, const int32_t* kind, int64_t kinds,
                const double* epsilons, int jobs, int64_t* out) {
  check(groups, scores);
  check_places(kind, groups.starts.size, kinds, "expected a kind for every group");
  const int64_t m = scores.columns, n = groups.n;
  std::vector<double> columns(m * n);
  for (int64_t row = 0; row < n; ++row) {
    for (int64_t column = 0; column < m; ++column) columns[column * n + row] = scores.scores[row * m + column];
  }
  const std::vector<Block> blocks = blocks_of(groups);
  std::mutex lock;
  std::fill(out, out + kinds * m * m, 0);
  for_each_block(static_cast<int64_t>(blocks.size()), jobs, [&] { return std::vector<uint64_t>(m); },
                 [&](std::vector<uint64_t>& right, int64_t block) {
    const Block at = blocks[block];
    std::vector<int64_t> found(m * m);
    for (int64_t i = at.begin; i < at.end; ++i) {
      for (int64_t first = groups.starts[at.group]; first < i; first += 64) {
        const int64_t last = std::min(first + 64, i);
        for (int64_t column = 0; column < m; ++column) {
          const double* of = columns.data() + column * n;
          uint64_t word = 0;
          for (int64_t j = first; j < last; ++j) {
            const double difference = of[i] - of[j];
            const int says = (difference > epsilons[column]) - (-difference > epsilons[column]);
            const int people = (ranks[i] > ranks[j]) - (ranks[i] < ranks[j]);
            word |= static_cast<uint64_t>(says == people) << (j - first);
          }
          right[column] = word;
          for (int64_t other = 0; other <= column; ++other) {
            found[column * m + other] += __builtin_popcountll(word & right[other]);
          }
        }
      }
    }
    const std::lock_guard<std::mutex> hold(lock);
    int64_t* of_kind = out + kind[at.group] * m * m;
    for (int64_t a = 0; a < m; ++a) {
      for (int64_t b = 0; b <= a; ++b) {
        of_kind[a * m + b] += found[a * m + b];
        if (a != b) of_kind[b * m + a] += found[a * m + b];
      }
    }
  });
}

}  // namespace postil
