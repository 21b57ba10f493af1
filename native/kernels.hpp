// The loops that the Python side calls. Every `out` is filled row by row, a row a candidate.
#pragma once

#include "grams.hpp"
#include "overlap.hpp"

namespace postil {

enum class Smoothing { kCoco, kNone, kExp, kFloor, kAddK, kMethod0 };

// weights [draws, m] -> out [draws, n, 2 order + 2]: matches of orders 1..N, n-grams of orders 1..N, candidate length,
// reference length.
void bleu_stats(const Overlap&, const double* weights, int64_t draws, int order, int jobs, double* out);
// The same columns for delta-BLEU: matches may be negative, n-grams are scaled by the best weight.
void delta_bleu_stats(const Overlap&, const double* weights, int64_t draws, int order, int jobs, double* out);
// stats [n, 2 order + 2] -> out [n].
void bleu_score(const double* stats, int64_t n, int order, Smoothing, double k, bool effective, double* out);

// out [n].
void rouge_l(const Overlap&, const double* weights, double beta_squared, bool united, int jobs, double* out);

// out [n, 2]: weighted matches, units of all references. skip < 0: n-grams of `order`; else skip-bigrams with at most
// `skip` words between, and unigrams.
void rouge_n(const Overlap&, const double* weights, int order, int skip, int jobs, double* out);

// out [pairs, order]: of each pair the n-grams of each order that both hold, as often as both hold them. skip >= 0 goes
// with order 1, and adds their skip-bigrams.
void ngram_matches(const Overlap&, int order, int skip, int jobs, int64_t* out);
// out [pairs]: length of the longest common subsequence.
void lcs_lengths(const Overlap&, int jobs, int64_t* out);
// out [pairs]: words of the reference in the union of the longest common subsequences of its sentences with those of the
// candidate, each at most as often as the candidate holds it. Offsets of sentences go through all texts.
void union_lcs(const Overlap&, Span<int64_t> candidate_sentences, Span<int64_t> reference_sentences, int jobs,
               int64_t* out);

struct MeteorParameters {
  double alpha, beta, gamma, delta;
  double stage_weights[3];  // exact, stem, synonym
  int beam;
  bool outside;  // choose the reference by weight times F alone; of equal ones the least penalty
  bool crossings;  // align with the fewest crossings, and take no penalty from equal texts
};
struct MeteorWords {
  Span<int32_t> candidates;     // word ids, where the overlap was found over stems
  Span<int32_t> references;
  Span<uint8_t> function;       // of each word id: 1 for a function word
  Span<int64_t> synset_offsets;  // of each word id; empty without the synonym stage
  Span<int32_t> synsets;
};
// out [n, 9]: score, and of the chosen reference: weighted matches of the candidate and of the reference, weighted
// lengths of both, chunks (0 where the texts are the same), matches, the reference's weight, and 1 if
// the search for its alignment was cut short.
void meteor(const Overlap&, const double* weights, const MeteorParameters&, const MeteorWords&, int jobs, double* out);

// out [n, order]: sums over the references. sigma = 0: the original CIDEr; else CIDEr-D. norms [references, order] are filled in where they are needed and
// negative.
void cider(const Overlap&, const double* weights, const Grams&, double* norms, double sigma, int jobs, double* out);

enum class RankCorrelation { kSpearman, kKendallB, kKendallC };
// Ranks from 0 that rise with what is ranked, ties alike; `columns` of them in every row of x.
struct Ranked {
  const int32_t *x, *y, *cluster;
  int64_t n, columns, clusters;
};
// counts [resamples, clusters] -> out [resamples, columns]; NaN where a side is constant.
void rank_correlations(const Ranked&, const int32_t* counts, int64_t resamples, RankCorrelation, int jobs, double* out);

// Rows in groups of neighbors. A group's first row is where the one before it ends.
struct Groups {
  Span<int64_t> starts;
  int64_t n;

  int64_t end(int64_t group) const { return group + 1 < starts.size ? starts[group + 1] : n; }
};
// Columns of scores, ties being equal numbers, with the sizes of the numbers that decide which differences are equal.
struct ScoreColumns {
  const double *scores, *sizes;
  int64_t columns;
};
// `orders` columns of ranks of grades. A pair weighs `weights` of its group; `fixed` is empty or what each tie of the metric
// adds, whatever the grades. A mean is as good as another that is higher by `slack`.
struct Calibrated {
  const int32_t* ranks;
  int64_t orders;
  Span<int64_t> weights, fixed;
  int64_t slack;
};
// epsilons [columns], of the first order; plain [columns], what is right of it at epsilon 0; best [columns, orders], and a
// last column where there is `fixed`: the highest that is right at any epsilon.
void calibrate(const Groups&, const ScoreColumns&, const Calibrated&, int jobs, double* epsilons, int64_t* plain,
               int64_t* best);
// counts [resamples, clusters] -> out [resamples, groups, columns]: pairs that are right, each column at its own epsilon.
void right_pairs(const Groups&, const ScoreColumns&, const int32_t* ranks, const int32_t* cluster, const int32_t* counts,
                 int64_t resamples, int64_t clusters, const double* epsilons, int jobs, int64_t* out);
// out [kinds, columns, columns]: pairs of the groups of each kind that both columns have right.
void both_right(const Groups&, const ScoreColumns&, const int32_t* ranks, const int32_t* kind, int64_t kinds,
                const double* epsilons, int jobs, int64_t* out);

// Sums by sign pattern: own [rows, columns, patterns], other [other_rows, columns, patterns].
struct Sums {
  const double *own, *other;
  int64_t rows, other_rows, columns, patterns;
};
// together [combinations, 2]: rows of own and of other that are added; pairs [pairs, 2]: columns to subtract; slack
// [combinations, pairs] -> out [combinations, pairs, 2]: patterns in which the difference is at most slack, and at least
// -slack.
void order_counts(const Sums&, const int32_t* together, int64_t combinations, const int32_t* pairs, int64_t count_of_pairs,
                  const double* slack, int jobs, int64_t* out);

// Nodes of regression trees, tree by tree, the root first. Left and right are numbers within the tree, above the node's own.
struct Nodes {
  Span<int32_t> features;  // the column that a node compares; -1 for a leaf
  Span<double> thresholds;  // at most which a row goes left
  Span<int32_t> left, right;
  Span<double> values;  // of leaves
};
// starts [trees + 1]; scores [n, columns] -> out [n]: `first`, and the leaf of each tree in their order.
void tree_sums(const Nodes&, Span<int64_t> starts, const double* scores, int64_t n, int64_t columns, double first,
               double* out);

// Whether every line of JSON holds one object, and no object has a key twice.
bool plain_objects(const char* data, int64_t size);

}  // namespace postil
