#include <algorithm>
#include <cfloat>
#include <cmath>

#include "kernels.hpp"
#include "ngrams.hpp"

namespace postil {
namespace {

struct Scratch {
  NgramsOfCandidate ngrams;
  std::vector<int32_t> own;           // [order, length]: how often the candidate holds the n-gram that first ends here
  std::vector<double> best;           // [order, length]: best weighted count over the references
  std::vector<int32_t> in_reference;  // [order, length]
  std::vector<int32_t> touched;
};

// For each n-gram of the candidate: best(old best, reference j's count of it), over the references that hold it.
template <class Ngrams, class Best>
void best_counts(const Candidate& candidate, int order, const Ngrams& ngrams, Scratch& scratch, Best best) {
  const int32_t length = candidate.length;
  count_own_ngrams(candidate, ngrams, order, scratch.own);
  scratch.in_reference.assign(static_cast<size_t>(order) * length, 0);
  NgramReader<Ngrams> reader(ngrams, order);
  for (int32_t j = 0; j < candidate.references; ++j) {
    reader.restart();
    scratch.touched.clear();
    for (const Hit* hit = candidate.begin(j); hit != candidate.end(j); ++hit) {
      reader.read(*hit);
      for (int n = 1; n <= reader.order_reached(); ++n) {
        const int32_t gram = (n - 1) * length + reader.place(n);
        if (scratch.in_reference[gram]++ == 0) scratch.touched.push_back(gram);
      }
    }
    for (int32_t gram : scratch.touched) {
      best(gram, j, scratch.in_reference[gram]);
      scratch.in_reference[gram] = 0;
    }
  }
}

template <class Row>
void for_each_row(const Overlap& overlap, int order, int jobs, double* out, Row row) {
  const int columns = 2 * order + 2;
  overlap.for_each(jobs, [] { return Scratch(); }, [&](Scratch& scratch, const Candidate& candidate) {
    double* stats = out + candidate.row * columns;
    std::fill(stats, stats + columns, 0.0);
    stats[2 * order] = candidate.length;
    stats[2 * order + 1] = closest_length(overlap, candidate);
    scratch.ngrams.visit(candidate, order, [&](const auto& ngrams) { row(scratch, candidate, ngrams, stats); });
  });
}

}  // namespace

void bleu_stats(const Overlap& overlap, const double* weights, int order, int jobs, double* out) {
  for_each_row(overlap, order, jobs, out, [&](Scratch& scratch, const Candidate& candidate, const auto& ngrams, double* stats) {
    scratch.best.assign(static_cast<size_t>(order) * candidate.length, 0.0);
    best_counts(candidate, order, ngrams, scratch, [&](int32_t gram, int32_t j, int32_t count) {
      const double weighted = weights[candidate.first_reference + j] * count;
      if (weighted > scratch.best[gram]) scratch.best[gram] = weighted;
    });
    for (int n = 0; n < order; ++n) {
      const size_t row = static_cast<size_t>(n) * candidate.length;
      for (int32_t i = 0; i < candidate.length; ++i) {
        stats[n] += std::min(static_cast<double>(scratch.own[row + i]), scratch.best[row + i]);
      }
      stats[order + n] = std::max(0, candidate.length - n);
    }
  });
}

void delta_bleu_stats(const Overlap& overlap, const double* weights, int order, int jobs, double* out) {
  for_each_row(overlap, order, jobs, out, [&](Scratch& scratch, const Candidate& candidate, const auto& ngrams, double* stats) {
    const double absent = -HUGE_VAL;
    scratch.best.assign(static_cast<size_t>(order) * candidate.length, absent);
    best_counts(candidate, order, ngrams, scratch, [&](int32_t gram, int32_t j, int32_t count) {
      const double gain = weights[candidate.first_reference + j] * std::min(count, scratch.own[gram]);
      if (gain > scratch.best[gram]) scratch.best[gram] = gain;
    });
    const double* weight = weights + candidate.first_reference;
    const double best_weight = *std::max_element(weight, weight + candidate.references);
    for (int n = 0; n < order; ++n) {
      const size_t row = static_cast<size_t>(n) * candidate.length;
      for (int32_t i = 0; i < candidate.length; ++i) {
        if (scratch.best[row + i] != absent) stats[n] += scratch.best[row + i];
      }
      stats[order + n] = best_weight * std::max(0, candidate.length - n);
    }
  });
}

// The two epsilons of the COCO caption evaluation: no order is ever exactly 0 or 1.
static double coco(const double* matches, const double* grams, int order, double length, double reference) {
  const double tiny = 1e-15, small = 1e-9;
  double product = 1.0;
  for (int n = 0; n < order; ++n) product *= (matches[n] + tiny) / (grams[n] + small);
  double score = std::pow(product, 1.0 / order);
  const double ratio = (length + tiny) / (reference + small);
  if (ratio < 1.0) score *= std::exp(1.0 - 1.0 / ratio);
  return score;
}

static double smoothed(const double* matches, const double* grams, int order, double length, double reference,
                       Smoothing smoothing, double k, bool effective) {
  if (length == 0.0) return 0.0;
  if (std::all_of(matches, matches + order, [](double m) { return m <= 0.0; })) return 0.0;
  double sum = 0.0, pseudo = 1.0;
  int orders = order;
  for (int n = 0; n < order; ++n) {
    double m = matches[n], g = grams[n];
    if (smoothing == Smoothing::kAddK && n > 0) m += k, g += k;
    if (g <= 0.0) {
      if (!effective) return 0.0;
      orders = n;
      break;
    }
    if (smoothing == Smoothing::kExp && m < pseudo / 2) m = pseudo /= 2;
    if (smoothing == Smoothing::kFloor) m = std::max(m, k);
    double precision = m / g;
    if (smoothing == Smoothing::kMethod0) precision = std::max(precision, DBL_MIN);  // NLTK's stand-in for 0
    if (precision <= 0.0) return 0.0;
    sum += std::log(precision);
  }
  if (orders == 0) return 0.0;
  const double brevity = length < reference ? std::exp(1.0 - reference / length) : 1.0;
  return brevity * std::exp(sum / orders);
}

void bleu_score(const double* stats, int64_t n, int order, Smoothing smoothing, double k, bool effective, double* out) {
  for (int64_t row = 0; row < n; ++row, stats += 2 * order + 2) {
    const double *matches = stats, *grams = stats + order;
    const double length = stats[2 * order], reference = stats[2 * order + 1];
    out[row] = smoothing == Smoothing::kCoco
                   ? coco(matches, grams, order, length, reference)
                   : smoothed(matches, grams, order, length, reference, smoothing, k, effective);
  }
}

}  // namespace postil
