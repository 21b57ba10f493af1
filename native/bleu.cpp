#include <algorithm>
#include <cfloat>
#include <cmath>

#include "kernels.hpp"
#include "ngrams.hpp"

namespace postil {
namespace {

// How often reference j holds an n-gram of the candidate.
struct Shared {
  int32_t gram, j, count;
};

struct Scratch {
  NgramsOfCandidate ngrams;
  std::vector<int32_t> own;           // [order, length]: how often the candidate holds the n-gram that first ends here
  std::vector<double> best;           // [order, length]: best weighted count over the references
  std::vector<int32_t> in_reference;  // [order, length]
  std::vector<int32_t> touched;
  std::vector<Shared> shared;
  std::vector<uint64_t> present;      // [order, length] bits: whether some reference holds the n-gram
};

// each(n-gram of the candidate, reference j, j's count of it), over the references that hold it.
template <class Ngrams, class Each>
void count_shared(const Candidate& candidate, int order, const Ngrams& ngrams, Scratch& scratch, Each each) {
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
      each(gram, j, scratch.in_reference[gram]);
      scratch.in_reference[gram] = 0;
    }
  }
}

// The first columns: for each n-gram the best of gain(weight, count, own count), at least `least`; then the sum of
// term(best, own count). finish(stats, candidate, its weights) fills the next ones. n-grams are counted once for all draws.
template <class Gain, class Term, class Finish>
void for_each_row(const Overlap& overlap, const double* weights, int64_t draws, int order, int jobs, double* out,
                  double least, Gain gain, Term term, Finish finish) {
  const int columns = 2 * order + 2;
  overlap.for_each(jobs, [] { return Scratch(); }, [&](Scratch& scratch, const Candidate& candidate) {
    const int32_t length = candidate.length, closest = closest_length(overlap, candidate);
    const size_t grams = static_cast<size_t>(order) * length;
    scratch.best.assign(grams, least);
    auto meet = [&](const double* weight, int32_t gram, int32_t j, int32_t count) {
      const double here = gain(weight[j], count, scratch.own[gram]);
      if (here > scratch.best[gram]) scratch.best[gram] = here;
    };
    const double* weight = weights + candidate.first_reference;
    scratch.ngrams.visit(candidate, order, [&](const auto& ngrams) {
      if (draws == 1) {
        count_shared(candidate, order, ngrams, scratch,
                     [&](int32_t gram, int32_t j, int32_t count) { meet(weight, gram, j, count); });
        return;
      }
      scratch.shared.clear();
      scratch.present.assign((grams + 63) / 64, 0);
      count_shared(candidate, order, ngrams, scratch, [&](int32_t gram, int32_t j, int32_t count) {
        scratch.shared.push_back({gram, j, count});
        scratch.present[gram / 64] |= 1ull << (gram % 64);
      });
    });
    double* stats = out + candidate.row * columns;
    for (int64_t draw = 0; draw < draws; ++draw) {
      std::fill(stats, stats + columns, 0.0);
      if (draws == 1) {
        for (int n = 0; n < order; ++n) {
          const size_t row = static_cast<size_t>(n) * length;
          for (size_t gram = row; gram < row + length; ++gram) stats[n] += term(scratch.best[gram], scratch.own[gram]);
        }
      } else {
        for (const Shared& entry : scratch.shared) meet(weight, entry.gram, entry.j, entry.count);
        size_t n = 0;
        for (size_t w = 0; w < scratch.present.size(); ++w) {
          for (uint64_t left = scratch.present[w]; left; left &= left - 1) {  // in order of place
            const size_t gram = w * 64 + __builtin_ctzll(left);
            while (gram >= (n + 1) * length) ++n;
            stats[n] += term(scratch.best[gram], scratch.own[gram]);
            scratch.best[gram] = least;  // for the next draw
          }
        }
      }
      stats[2 * order] = length;
      stats[2 * order + 1] = closest;
      finish(stats + order, candidate, weight);
      weight += overlap.references.count();
      stats += overlap.count() * columns;
    }
  });
}

}  // namespace

void bleu_stats(const Overlap& overlap, const double* weights, int64_t draws, int order, int jobs, double* out) {
  for_each_row(
      overlap, weights, draws, order, jobs, out, 0.0, [](double weight, int32_t count, int32_t) { return weight * count; },
      [](double best, int32_t own) { return std::min(static_cast<double>(own), best); },
      [order](double* grams, const Candidate& candidate, const double*) {
        for (int n = 0; n < order; ++n) grams[n] = std::max(0, candidate.length - n);
      });
}

void delta_bleu_stats(const Overlap& overlap, const double* weights, int64_t draws, int order, int jobs, double* out) {
  const double absent = -HUGE_VAL;
  for_each_row(
      overlap, weights, draws, order, jobs, out, absent,
      [](double weight, int32_t count, int32_t own) { return weight * std::min(count, own); },
      [absent](double best, int32_t) { return best == absent ? 0.0 : best; },
      [order](double* grams, const Candidate& candidate, const double* weight) {
        const double best_weight = *std::max_element(weight, weight + candidate.references);
        for (int n = 0; n < order; ++n) grams[n] = best_weight * std::max(0, candidate.length - n);
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
