// CIDEr: cosines of the tf-idf vectors of n-grams. An n-gram of one item has the idf of an unknown one, so frequencies are
// looked up only of those that are known; the norm of a reference is computed when it is first needed, and kept.
#include <cmath>

#include "kernels.hpp"
#include "ngrams.hpp"

namespace postil {
namespace {

struct Scratch {
  explicit Scratch(const Grams& grams) : norms(grams) {}
  Norms norms;
  NgramsOfCandidate ngrams;
  std::vector<int32_t> own;           // [order, length]: tf of the n-gram that first ends here
  std::vector<int32_t> ids;           // [length]: of the n-gram of this order that ends here
  std::vector<double> idf;            // [order, length]
  std::vector<int32_t> in_reference;  // [order, length]
  std::vector<std::vector<uint64_t>> touched;
};

// idf of the candidate's n-grams and the length of its vector in each order.
void weigh_own(const Overlap& overlap, const Candidate& candidate, const Grams& grams, Scratch& scratch, double* norm) {
  const int32_t length = candidate.length;
  const int32_t* words = overlap.candidates.ids.data + overlap.candidates.begin(candidate.row);
  scratch.ids.assign(length, -1);
  scratch.idf.resize(static_cast<size_t>(grams.order()) * length);
  for (int n = 1; n <= grams.order(); ++n) {
    double sum = 0.0;
    for (int32_t i = length - 1; i >= n - 1; --i) {
      scratch.ids[i] = grams.find(n, n == 1 ? -1 : scratch.ids[i - 1], words[i]);
    }
    for (int32_t i = n - 1; i < length; ++i) {
      const size_t gram = static_cast<size_t>(n - 1) * length + i;
      scratch.idf[gram] = grams.idf(n, scratch.ids[i]);
      const double weight = scratch.own[gram] * scratch.idf[gram];
      sum += weight * weight;
    }
    norm[n - 1] = std::sqrt(sum);
  }
}

// The norms of a reference in orders 1 to top, found where they are not known yet. Threads that find one at the same time find
// the same number.
void norms_of(const Texts& references, int64_t r, int top, Norms& find, double* known, double* here) {
  bool all = true;
  for (int n = 0; n < top; ++n) {
    __atomic_load(&known[n], &here[n], __ATOMIC_RELAXED);
    all &= here[n] >= 0.0;
  }
  if (all) return;
  find.of(references.ids.data + references.begin(r), references.length(r), top, here);
  for (int n = 0; n < top; ++n) __atomic_store(&known[n], &here[n], __ATOMIC_RELAXED);
}

}  // namespace

void cider(const Overlap& overlap, const double* weights, const Grams& grams, double* norms, double sigma, int jobs,
           double* out) {
  const int order = grams.order();
  const bool clipped = sigma > 0.0;
  overlap.for_each(jobs, [&] { return Scratch(grams); }, [&](Scratch& scratch, const Candidate& candidate) {
    const int32_t length = candidate.length;
    double total[kMaxOrder] = {}, own_norm[kMaxOrder] = {}, norm_of[kMaxOrder];
    scratch.ngrams.visit(candidate, order, [&](const auto& ngrams) {
      count_own_ngrams(candidate, ngrams, order, scratch.own);
      weigh_own(overlap, candidate, grams, scratch, own_norm);
      scratch.in_reference.assign(static_cast<size_t>(order) * length, 0);
      const size_t words = static_cast<size_t>((length + 63) / 64);
      scratch.touched.assign(order, std::vector<uint64_t>(words, 0));
      NgramReader reader(ngrams, order);
      for (int32_t j = 0; j < candidate.references; ++j) {
        if (candidate.begin(j) == candidate.end(j)) continue;
        const int64_t r = candidate.first_reference + j;
        reader.restart();
        int top = 0;
        for (const Hit* hit = candidate.begin(j); hit != candidate.end(j); ++hit) {
          reader.read(*hit);
          top = std::max(top, reader.order_reached());
          for (int n = 1; n <= reader.order_reached(); ++n) {
            const int32_t place = reader.place(n);
            ++scratch.in_reference[static_cast<size_t>(n - 1) * length + place];
            scratch.touched[n - 1][place / 64] |= 1ull << (place % 64);
          }
        }
        norms_of(overlap.references, r, top, scratch.norms, norms + r * order, norm_of);
        const double gap = std::max(0, length - 1) - std::max(0, overlap.references.length(r) - 1);
        const double nearness = clipped ? std::exp(-(gap * gap) / (2 * sigma * sigma)) : 1.0;
        for (int n = 1; n <= top; ++n) {
          double dot = 0.0;
          const size_t row = static_cast<size_t>(n - 1) * length;
          for (size_t w = 0; w < words; ++w) {
            for (uint64_t left = scratch.touched[n - 1][w]; left; left &= left - 1) {  // in order of place
              const size_t gram = row + w * 64 + __builtin_ctzll(left);
              const double mine = scratch.own[gram] * scratch.idf[gram];
              const double theirs = scratch.in_reference[gram] * scratch.idf[gram];
              dot += (clipped ? std::min(mine, theirs) : mine) * theirs;
              scratch.in_reference[gram] = 0;
            }
            scratch.touched[n - 1][w] = 0;
          }
          const double norm = own_norm[n - 1] * norm_of[n - 1];
          if (norm != 0.0) total[n - 1] += weights[r] * (dot / norm * nearness);
        }
      }
    });
    std::copy_n(total, order, out + candidate.row * order);
  });
}

}  // namespace postil
