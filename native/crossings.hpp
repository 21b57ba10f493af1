// METEOR's first alignment (Banerjee and Lavie 2005): of those with most matches the one with the fewest crossings, and of
// these with the fewest chunks. The search is that of kernel/python/meteor.py, step for step.
#pragma once

#include <algorithm>
#include <cstdint>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "fenwick.hpp"

namespace postil {

class FewestCrossings {
 public:
  static constexpr size_t kStates = 1000, kNarrow = 16;  // states after a word; of the first, quick search
  static constexpr int64_t kSteps = int64_t{1} << 22;    // in all, or one for each word

  // One stage. classes[t], places[i]: the class of each word of the reference and of the candidate, or -1; aligned[t]: the
  // place of each word that was aligned before, or -1. Afterwards aligned has all pairs. Returns true if states were dropped.
  bool stage(const std::vector<int32_t>& classes, const std::vector<int32_t>& places, std::vector<int32_t>& aligned) {
    prepare(classes, places, aligned);
    if (choices_.empty()) {
      aligned = forced_;
      return false;
    }
    bool cut = search(kNarrow, -1);
    const State narrow = best_;
    aligned = aligned_by(narrow);
    if (cut) {
      cut = search(kStates, narrow.crossings);
      if (std::tie(best_.crossings, best_.chunks) < std::tie(narrow.crossings, narrow.chunks)) aligned = aligned_by(best_);
    }
    return cut;
  }

 private:
  struct Choice {
    int32_t at, klass;
    int32_t first, count;  // places of its class that it may have
    bool must;             // has one of them, as its class has more places than words; else the first free one, or none
    int32_t left;          // words of its class behind it
  };
  struct State {
    int64_t crossings = 0;
    int32_t chunks = 0, open_end = -1, last_link = -1;
    uint64_t hash = 0;
  };
  struct Link {
    int32_t at, place, before;
  };
  struct Step {
    int64_t crossings;
    int32_t chunks, number, parent, place;  // place -1 for none
    bool operator<(const Step& other) const {
      return std::tie(crossings, chunks, number) < std::tie(other.crossings, other.chunks, other.number);
    }
  };

  std::vector<int32_t> aligned_by(const State& state) const {
    std::vector<int32_t> aligned = forced_;
    for (int32_t link = state.last_link; link >= 0; link = links_[link].before) aligned[links_[link].at] = links_[link].place;
    return aligned;
  }

  void prepare(const std::vector<int32_t>& classes, const std::vector<int32_t>& places, const std::vector<int32_t>& aligned) {
    const int32_t count = static_cast<int32_t>(classes.size()), length = static_cast<int32_t>(places.size());
    int32_t kinds = 0;
    for (int32_t c : classes) kinds = std::max(kinds, c + 1);
    for (int32_t c : places) kinds = std::max(kinds, c + 1);
    begin_.assign(kinds + 1, 0);
    std::vector<int32_t> theirs(kinds, 0), seen(kinds, 0);
    for (int32_t c : places) if (c >= 0) ++begin_[c + 1];
    for (int32_t c = 0; c < kinds; ++c) begin_[c + 1] += begin_[c];
    places_.resize(begin_[kinds]);
    std::vector<int32_t> end(begin_.begin(), begin_.end() - 1);
    for (int32_t i = 0; i < length; ++i) if (places[i] >= 0) places_[end[places[i]]++] = i;
    for (int32_t c : classes) if (c >= 0) ++theirs[c];
    forced_ = aligned;
    choices_.clear();
    for (int32_t t = 0; t < count; ++t) {
      const int32_t c = classes[t];
      if (c < 0 || begin_[c] == begin_[c + 1]) continue;
      const int32_t own = begin_[c + 1] - begin_[c], number = seen[c]++;
      if (own == theirs[c]) {
        forced_[t] = places_[begin_[c] + number];
      } else {
        const int32_t spare = own - theirs[c];
        const int32_t first = std::max(0, number + std::min(spare, 0)), last = std::min(own - 1, number + std::max(spare, 0));
        choices_.push_back({t, c, begin_[c] + first, last + 1 - first, spare > 0, theirs[c] - number - 1});
      }
    }
    length_ = length;
    count_costs();
  }

  // Crossings of each choice with the pairs that are forced: of the places it may have, or of all of its class.
  void count_costs() {
    Below before, after;
    before.clear(length_), after.clear(length_);
    int64_t pairs_before = 0;
    for (int32_t place : forced_) if (place >= 0) after.add(place, 1);
    cost_begin_.assign(choices_.size() + 1, 0);
    costs_.clear();
    size_t next = 0;
    for (int32_t t = 0; t < static_cast<int32_t>(forced_.size()); ++t) {
      if (forced_[t] >= 0) {
        after.add(forced_[t], -1);
        before.add(forced_[t], 1);
        ++pairs_before;
      } else if (next < choices_.size() && choices_[next].at == t) {
        const Choice& choice = choices_[next];
        for (int32_t k = choice.first; k < choice.first + choice.count; ++k) {
          costs_.push_back(static_cast<int32_t>(pairs_before - before.sum(places_[k]) + after.sum(places_[k])));
        }
        cost_begin_[++next] = static_cast<int64_t>(costs_.size());
      }
    }
    least_.assign(choices_.size() + 1, 0);
    for (size_t c = choices_.size(); c-- > 0;) {
      least_[c] = least_[c + 1];
      if (choices_[c].must) least_[c] += *std::min_element(costs_.begin() + cost_begin_[c], costs_.begin() + cost_begin_[c + 1]);
    }
  }

  bool search(size_t most_states, int64_t most_crossings) {
    const size_t words = static_cast<size_t>(length_ + 63) / 64;
    std::vector<State> states(1), next;
    std::vector<uint64_t> used(words, 0), next_used;
    links_.clear();
    bool cut = false;
    size_t c = 0;
    for (int32_t t = 0; t < static_cast<int32_t>(forced_.size()); ++t) {
      if (c < choices_.size() && choices_[c].at == t) {
        cut |= advance(c, most_states, most_crossings, words, states, used, next, next_used);
        ++c;
        continue;
      }
      for (State& state : states) {
        state.chunks += state.open_end >= 0 && state.open_end != forced_[t];
        state.open_end = forced_[t] >= 0 ? forced_[t] + 1 : -1;
      }
    }
    for (State& state : states) state.chunks += state.open_end >= 0;
    best_ = State();
    best_.crossings = INT64_MAX;  // if none was left
    for (const State& state : states) {
      if (std::tie(state.crossings, state.chunks) < std::tie(best_.crossings, best_.chunks)) best_ = state;
    }
    return cut;
  }

  bool advance(size_t c, size_t most_states, int64_t most_crossings, size_t words, std::vector<State>& states,
               std::vector<uint64_t>& used, std::vector<State>& next, std::vector<uint64_t>& next_used) {
    const Choice& choice = choices_[c];
    const int32_t begin = begin_[choice.klass], end = begin_[choice.klass + 1];
    const int32_t most_places = static_cast<int32_t>(std::max<int64_t>(1, kSteps / static_cast<int64_t>(choices_.size())));
    bool cut = false;
    steps_.clear();
    for (size_t s = 0; s < states.size(); ++s) {
      const State& state = states[s];
      const uint64_t* mine = used.data() + s * words;
      const auto is_used = [&](int32_t place) { return mine[place / 64] >> (place % 64) & 1; };
      const auto take = [&](int32_t k, int64_t cost) {
        const int32_t place = places_[k];
        propose({state.crossings + cost + above(mine, words, place),
                 state.chunks + (state.open_end >= 0 && state.open_end != place), 0, static_cast<int32_t>(s), place},
                most_crossings, c);
      };
      if (choice.must) {
        int32_t k = choice.first + choice.count;  // equal words keep their order: behind the last one that is used
        while (k > choice.first && !is_used(places_[k - 1])) --k;
        const int32_t last = std::min(choice.first + choice.count, k + most_places);
        cut |= last < choice.first + choice.count;
        for (; k < last; ++k) take(k, costs_[cost_begin_[c] + k - choice.first]);
        continue;
      }
      // Its used places are the first ones.
      const auto free = std::partition_point(places_.begin() + begin, places_.begin() + end, is_used);
      const int32_t k = static_cast<int32_t>(free - places_.begin());
      if (k < end) take(k, costs_[cost_begin_[c] + k - choice.first]);
      if (end - k <= choice.left) {
        propose({state.crossings, state.chunks + (state.open_end >= 0), 0, static_cast<int32_t>(s), -1}, most_crossings, c);
      }
    }
    std::sort(steps_.begin(), steps_.end());
    return cut | keep(std::min(most_states, states_after(c)), choice.at, words, states, used, next, next_used);
  }

  void propose(Step step, int64_t most_crossings, size_t c) {
    if (most_crossings >= 0 && step.crossings + least_[c + 1] > most_crossings) return;
    step.number = static_cast<int32_t>(steps_.size());
    steps_.push_back(step);
  }

  // The first steps of distinct sets of used places and ends of the open chunk become states. True if there are more.
  bool keep(size_t most, int32_t at, size_t words, std::vector<State>& states, std::vector<uint64_t>& used,
            std::vector<State>& next, std::vector<uint64_t>& next_used) {
    next.clear();
    next_used.clear();
    std::unordered_multimap<uint64_t, size_t> known;
    for (const Step& step : steps_) {
      const State& parent = states[step.parent];
      const size_t from = next_used.size();
      next_used.insert(next_used.end(), used.begin() + step.parent * words, used.begin() + (step.parent + 1) * words);
      State state{step.crossings, step.chunks, -1, parent.last_link, parent.hash};
      if (step.place >= 0) {
        next_used[from + step.place / 64] |= uint64_t{1} << (step.place % 64);
        state.open_end = step.place + 1;
        state.hash += mixed(static_cast<uint64_t>(step.place));
      }
      const auto [first, last] = known.equal_range(state.hash);
      const bool there = std::any_of(first, last, [&](const auto& entry) {
        return next[entry.second].open_end == state.open_end &&
               std::equal(next_used.begin() + from, next_used.end(), next_used.begin() + entry.second * words);
      });
      if (there || next.size() == most) {
        next_used.resize(from);
        if (there) continue;
        states.swap(next), used.swap(next_used);
        return true;
      }
      if (step.place >= 0) {
        links_.push_back({at, step.place, parent.last_link});
        state.last_link = static_cast<int32_t>(links_.size()) - 1;
      }
      known.emplace(state.hash, next.size());
      next.push_back(state);
    }
    states.swap(next), used.swap(next_used);
    return false;
  }

  // States that the next word with a choice may have.
  size_t states_after(size_t c) const {
    if (c + 1 == choices_.size()) return kStates;
    const int64_t steps = choices_[c + 1].must ? choices_[c + 1].count : 2;
    const int64_t some = kSteps / (steps * static_cast<int64_t>(choices_.size()));
    return static_cast<size_t>(std::max<int64_t>(1, std::min<int64_t>(kStates, some)));
  }

  static int64_t above(const uint64_t* used, size_t words, int32_t place) {
    int64_t count = __builtin_popcountll(used[place / 64] >> (place % 64) >> 1);
    for (size_t w = static_cast<size_t>(place) / 64 + 1; w < words; ++w) count += __builtin_popcountll(used[w]);
    return count;
  }
  static uint64_t mixed(uint64_t x) {  // SplitMix64
    x += 0x9E3779B97F4A7C15ull;
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9ull;
    x = (x ^ x >> 27) * 0x94D049BB133111EBull;
    return x ^ x >> 31;
  }

  int32_t length_ = 0;
  std::vector<int32_t> begin_, places_;  // of each class its places, in order
  std::vector<int32_t> forced_;          // of each word of the reference the place that it has without a choice, or -1
  std::vector<Choice> choices_;
  std::vector<int64_t> cost_begin_, least_;
  std::vector<int32_t> costs_;
  std::vector<Step> steps_;
  std::vector<Link> links_;
  State best_;
};

}  // namespace postil
