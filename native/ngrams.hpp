// Which n-grams of a candidate stand in a text. An n-gram is named by the place where the candidate first ends it.
#pragma once

#include "overlap.hpp"
#include "places.hpp"

namespace postil {

constexpr int kMaxOrder = 9;
constexpr int32_t kWordBits = 64;

// Of a candidate of at most 64 words, without hashing: an n-gram is the set of places where it ends, as bits.
// With the mask of places of each word, D_1 = mask and D_n = (D_{n-1} << 1) & mask over the words read; the lowest bit
// of D_n names the n-gram.
class ShortNgrams {
 public:
  using Ends = uint64_t;

  void set(const Candidate& candidate, int) {
    of_unit_.assign(candidate.unit_count, 0);
    for (int32_t i = 0; i < candidate.length; ++i) of_unit_[candidate.units[i]] |= 1ull << i;
  }
  Ends unit(int32_t unit) const { return of_unit_[unit]; }
  Ends longer(int, Ends before, int32_t unit) const { return before << 1 & of_unit_[unit]; }
  static bool none(Ends ends) { return ends == 0; }
  static int32_t place(Ends ends) { return __builtin_ctzll(ends); }

 private:
  std::vector<uint64_t> of_unit_;
};

// Of a candidate of any length: an n-gram is its first place.
class LongNgrams {
 public:
  using Ends = int32_t;

  void set(const Candidate& candidate, int order) {
    places_.set(candidate.units, candidate.length, order);
    of_unit_.clear();
    for (int32_t i = 0; i < candidate.length; ++i) {
      if (places_.of(1, i) == i) of_unit_.push_back(i);  // units are numbered as they come
    }
  }
  Ends unit(int32_t unit) const { return of_unit_[unit]; }
  Ends longer(int n, Ends before, int32_t unit) const { return places_.find(n, before, unit); }
  static bool none(Ends place) { return place < 0; }
  static int32_t place(Ends place) { return place; }

 private:
  FirstPlaces places_;
  std::vector<int32_t> of_unit_;
};

// Reads hits left to right; after read(), order_reached() says up to which n the words just read form an n-gram of the
// candidate, and place(n) where the candidate first ends it.
template <class Ngrams>
class NgramReader {
 public:
  NgramReader(const Ngrams& ngrams, int order) : ngrams_(ngrams), order_(order) {}

  void restart() { last_at_ = -2, reached_ = 0; }

  void read(const Hit& hit) {
    int reach = hit.at == last_at_ + 1 ? std::min(reached_ + 1, order_) : 1;
    for (int n = reach; n >= 2; --n) {  // the long ones first, as each goes on from the one a word shorter
      ends_[n] = ngrams_.longer(n, ends_[n - 1], hit.unit);
      if (Ngrams::none(ends_[n])) reach = n - 1;
    }
    ends_[1] = ngrams_.unit(hit.unit);
    last_at_ = hit.at;
    reached_ = reach;
  }

  int order_reached() const { return reached_; }
  int32_t place(int n) const { return Ngrams::place(ends_[n]); }

 private:
  const Ngrams& ngrams_;
  int order_;
  typename Ngrams::Ends ends_[kMaxOrder + 1];
  int32_t last_at_ = -2;
  int reached_ = 0;
};

// The distinct n-grams of a candidate: at each place where one first ends, how often it occurs; 0 elsewhere.
template <class Ngrams>
void count_own_ngrams(const Candidate& candidate, const Ngrams& ngrams, int order, std::vector<int32_t>& counts) {
  counts.assign(static_cast<size_t>(order) * candidate.length, 0);
  NgramReader<Ngrams> reader(ngrams, order);
  for (int32_t i = 0; i < candidate.length; ++i) {
    reader.read({i, candidate.units[i]});
    for (int n = 1; n <= reader.order_reached(); ++n) {
      ++counts[static_cast<size_t>(n - 1) * candidate.length + reader.place(n)];
    }
  }
}

// One for each thread.
class NgramsOfCandidate {
 public:
  // body(n-grams of the candidate), with the code for its length.
  template <class Body>
  void visit(const Candidate& candidate, int order, Body body) {
    if (candidate.length <= kWordBits) {
      short_.set(candidate, order);
      body(short_);
    } else {
      long_.set(candidate, order);
      body(long_);
    }
  }

 private:
  ShortNgrams short_;
  LongNgrams long_;
};

}  // namespace postil
