// The beam of METEOR 1.5 where words have many partners, path for path that of `Meteor::search`, in the time of the words of
// the texts times the logarithm of their number. Of a word's partners each path proposes one after the other, the best
// first, as long as the beam takes them; places that a path used are a tree that shares its parts with those of others.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <tuple>
#include <utility>
#include <vector>

namespace postil {

// Sets of numbered slots with the sum of their places; a set is the root of a tree, and adding to it makes another one.
class SlotSets {
 public:
  struct Totals {
    int64_t count = 0, sum = 0;
    Totals operator-(const Totals& other) const { return {count - other.count, sum - other.sum}; }
  };

  void clear(int32_t slots) {
    size_ = 1;
    while (size_ < slots) size_ *= 2;
    nodes_.assign(1, Node());
  }

  int32_t add(int32_t root, int32_t slot, int32_t place) {
    const int32_t top = copy(root, place);
    int32_t node = top, low = 0;
    for (int32_t half = size_ / 2; half > 0; half /= 2) {
      const bool right = slot >= low + half;
      low += right ? half : 0;
      const int32_t child = copy(right ? nodes_[node].right : nodes_[node].left, place);
      (right ? nodes_[node].right : nodes_[node].left) = child;
      node = child;
    }
    return top;
  }

  Totals below(int32_t root, int32_t slot) const {  // of the members before a slot
    Totals found;
    if (slot >= size_) return {nodes_[root].count, nodes_[root].sum};
    int32_t low = 0;
    for (int32_t node = root, half = size_ / 2; node && half > 0; half /= 2) {
      if (slot >= low + half) {
        const Node& left = nodes_[nodes_[node].left];
        found.count += left.count, found.sum += left.sum;
        low += half;
        node = nodes_[node].right;
      } else {
        node = nodes_[node].left;
      }
    }
    return found;
  }

  int32_t first_free(int32_t root, int32_t from, int32_t end) const {  // the first slot without a member, or end
    const int32_t found = free_in(root, 0, size_, from, end);
    return found < 0 ? end : found;
  }

  bool is_large() const { return nodes_.size() > limit_; }

  // Keep the sets of some roots alone, whose numbers change.
  void collect(const std::vector<int32_t*>& roots) {
    std::vector<Node> kept(1);
    std::vector<int32_t> moved(nodes_.size(), -1);
    moved[0] = 0;
    for (int32_t* root : roots) *root = move(*root, kept, moved);
    nodes_.swap(kept);
    limit_ = std::max<size_t>(size_t{1} << 16, nodes_.size() * 4);
  }

 private:
  struct Node {
    int32_t left = 0, right = 0, count = 0;
    int64_t sum = 0;
  };

  int32_t copy(int32_t node, int32_t place) {
    Node made = nodes_[node];
    ++made.count;
    made.sum += place;
    nodes_.push_back(made);
    return static_cast<int32_t>(nodes_.size()) - 1;
  }
  int32_t free_in(int32_t node, int32_t low, int32_t size, int32_t from, int32_t end) const {
    if (low + size <= from || low >= end || nodes_[node].count == size) return -1;
    if (nodes_[node].count == 0) return std::max(low, from);
    const int32_t found = free_in(nodes_[node].left, low, size / 2, from, end);
    return found >= 0 ? found : free_in(nodes_[node].right, low + size / 2, size / 2, from, end);
  }
  int32_t move(int32_t node, std::vector<Node>& kept, std::vector<int32_t>& moved) const {  // as deep as the tree
    if (moved[node] >= 0) return moved[node];
    Node made = nodes_[node];
    made.left = move(made.left, kept, moved);
    made.right = move(made.right, kept, moved);
    kept.push_back(made);
    return moved[node] = static_cast<int32_t>(kept.size()) - 1;
  }

  std::vector<Node> nodes_;  // node 0 is the empty set of any size
  int32_t size_ = 1;
  size_t limit_ = size_t{1} << 16;
};

class RepeatedWords {
 public:
  static constexpr int kStages = 3;
  struct Range {
    int32_t begin, end;  // slots of a word of the candidate
  };
  struct Partners {  // of a word of the reference: by stage, the words of the candidate
    std::vector<Range> ranges[kStages];
    bool none() const { return ranges[0].empty() && ranges[1].empty() && ranges[2].empty(); }
  };
  struct Pair {
    int32_t at, place, stage;
  };

  // place_of: of each slot, words behind one another, each in order. rows: of each word of the reference its partners.
  // fixed: of each of them, true if its only partner has no other.
  void search(const std::vector<int32_t>& place_of, const std::vector<const Partners*>& rows, const std::vector<bool>& fixed,
              int beam, std::vector<Pair>& pairs) {
    place_of_ = &place_of;
    slot_of_.resize(place_of.size());
    sums_.assign(place_of.size() + 1, 0);
    for (size_t slot = 0; slot < place_of.size(); ++slot) {
      slot_of_[place_of[slot]] = static_cast<int32_t>(slot);
      sums_[slot + 1] = sums_[slot] + place_of[slot];
    }
    used_.clear(static_cast<int32_t>(place_of.size()));
    links_.clear();
    paths_.assign(1, Path());
    for (int32_t at = 0; at < static_cast<int32_t>(rows.size()); ++at) {
      propose_first(at, *rows[at], !fixed[at]);
      next_.clear();
      while (!heap_.empty() && static_cast<int>(next_.size()) < beam) take(at, *rows[at], !fixed[at]);
      heap_.clear();
      paths_.swap(next_);
      if (used_.is_large()) {
        std::vector<int32_t*> roots;
        for (Path& path : paths_) roots.push_back(&path.used);
        used_.collect(roots);
      }
    }
    const auto best = std::min_element(paths_.begin(), paths_.end(), [](const Path& a, const Path& b) {
      return std::make_tuple(-a.matches, a.chunks + (a.open_end >= 0), a.distance) <
             std::make_tuple(-b.matches, b.chunks + (b.open_end >= 0), b.distance);
    });
    pairs.clear();
    for (int32_t link = best->last_link; link >= 0; link = links_[link].before) pairs.push_back(links_[link].pair);
    std::reverse(pairs.begin(), pairs.end());
  }

 private:
  struct Path {
    int32_t matches = 0, chunks = 0;
    int64_t distance = 0;
    int32_t open_end = -1, last_link = -1, used = 0;
  };
  struct Link {
    Pair pair;
    int32_t before;
  };
  // A step of a path: with a place, or with none (-1). Others of its path may follow it: the next place of its stage.
  struct Step {
    int32_t matches, chunks;
    int64_t distance;
    int32_t path, order;  // of equal steps the first is better
    int32_t place, stage;
    bool goes_on;  // with the open chunk
    bool operator<(const Step& other) const {  // a heap has its greatest element, the best step, on top
      return std::make_tuple(-matches, chunks, distance, path, order) >
             std::make_tuple(-other.matches, other.chunks, other.distance, other.path, other.order);
    }
  };

  void push(const Step& step) {
    heap_.push_back(step);
    std::push_heap(heap_.begin(), heap_.end());
  }

  void propose_first(int32_t at, const Partners& row, bool may_skip) {
    for (int32_t p = 0; p < static_cast<int32_t>(paths_.size()); ++p) {
      propose_going_on(at, row, p, 0, paths_[p].distance);
      propose_from(at, row, p, 0, 0, paths_[p].distance, may_skip);
    }
  }

  // Propose to go on with the open chunk by a partner of a stage, before which a distance has come together.
  void propose_going_on(int32_t at, const Partners& row, int32_t p, int32_t stage, int64_t distance) {
    const Path& path = paths_[p];
    if (path.open_end < 0 || path.open_end >= static_cast<int32_t>(place_of_->size())) return;
    const int32_t slot = slot_of_[path.open_end];
    for (const Range& range : row.ranges[stage]) {
      if (slot < range.begin || slot >= range.end || used_.first_free(path.used, slot, slot + 1) != slot) continue;
      push({path.matches + (stage == 0), path.chunks, distance + free_distance(at, row.ranges[stage], path, path.open_end), p,
            stage, path.open_end, stage, true});
    }
  }

  // Propose the first free partner from a place of a stage on that does not go on with the chunk; where there is none, what
  // comes after.
  void propose_from(int32_t at, const Partners& row, int32_t p, int32_t stage, int32_t from, int64_t distance, bool may_skip) {
    const Path& path = paths_[p];
    const int32_t closes = path.open_end >= 0, length = static_cast<int32_t>(place_of_->size());
    for (; stage < kStages; ++stage, from = 0) {
      if (stage == 1 && from == 0) {
        propose_going_on(at, row, p, 1, distance);
        propose_going_on(at, row, p, 2, distance + free_distance(at, row.ranges[1], path, length));
      }
      for (int32_t place; (place = free_from(row.ranges[stage], path, from)) < length; from = place + 1) {
        if (place != path.open_end) {
          push({path.matches + (stage == 0), path.chunks + closes, distance, p, kStages + stage, place, stage, false});
          return;
        }
        distance += std::abs(at - place);  // that it is free counts for those after it
      }
    }
    if (may_skip) push({path.matches, path.chunks + closes, distance, p, 2 * kStages, -1, kStages, false});
  }

  void take(int32_t at, const Partners& row, bool may_skip) {
    std::pop_heap(heap_.begin(), heap_.end());
    const Step step = heap_.back();
    heap_.pop_back();
    const Path& path = paths_[step.path];
    Path made{step.matches, step.chunks, step.distance, -1, path.last_link, path.used};
    if (step.place >= 0) {
      made.open_end = step.place + 1;
      links_.push_back({{at, step.place, step.stage}, path.last_link});
      made.last_link = static_cast<int32_t>(links_.size()) - 1;
      made.used = used_.add(path.used, slot_of_[step.place], step.place);
    }
    next_.push_back(made);
    if (step.place >= 0 && !step.goes_on) {
      propose_from(at, row, step.path, step.stage, step.place + 1, step.distance + std::abs(at - step.place), may_skip);
    }
  }

  int32_t free_from(const std::vector<Range>& ranges, const Path& path, int32_t from) const {
    int32_t first = static_cast<int32_t>(place_of_->size());
    for (const Range& range : ranges) {
      const int32_t slot = used_.first_free(path.used, slot_from(range, from), range.end);
      if (slot < range.end) first = std::min(first, (*place_of_)[slot]);
    }
    return first;
  }

  // Sum of the distances of a word from the free places of a stage before a place.
  int64_t free_distance(int32_t at, const std::vector<Range>& ranges, const Path& path, int32_t end) const {
    int64_t sum = 0;
    for (const Range& range : ranges) {
      const int32_t to = slot_from(range, end), middle = std::min(to, slot_from(range, at));
      const SlotSets::Totals left = free_of(path, range.begin, middle), right = free_of(path, middle, to);
      sum += at * left.count - left.sum + right.sum - at * right.count;
    }
    return sum;
  }
  SlotSets::Totals free_of(const Path& path, int32_t begin, int32_t end) const {
    const SlotSets::Totals all{end - begin, sums_[end] - sums_[begin]};
    return all - (used_.below(path.used, end) - used_.below(path.used, begin));
  }
  int32_t slot_from(const Range& range, int32_t place) const {
    const auto begin = place_of_->begin();
    return static_cast<int32_t>(std::lower_bound(begin + range.begin, begin + range.end, place) - begin);
  }

  const std::vector<int32_t>* place_of_ = nullptr;
  std::vector<int32_t> slot_of_;
  std::vector<int64_t> sums_;  // of the places of the slots before each
  SlotSets used_;
  std::vector<Path> paths_, next_;
  std::vector<Link> links_;
  std::vector<Step> heap_;
};

}  // namespace postil
