#include "units.hpp"

#include <stdexcept>

namespace postil {
namespace {

// Pairs (unit of one word less, next word) numbered by first sight.
class Numbers {
 public:
  int32_t of(int32_t head, int32_t word) {
    if ((keys_.size() + 1) * 2 > slots_.size()) grow();
    const uint64_t key = static_cast<uint64_t>(static_cast<uint32_t>(head)) << 32 | static_cast<uint32_t>(word);
    for (size_t at = place(key);; at = (at + 1) & mask_) {
      if (slots_[at] < 0) {
        if (keys_.size() >= INT32_MAX) throw std::length_error("more than 2,147,483,647 distinct units");
        slots_[at] = static_cast<int32_t>(keys_.size());
        keys_.push_back(key);
        return slots_[at];
      }
      if (keys_[slots_[at]] == key) return slots_[at];
    }
  }
  size_t size() const { return keys_.size(); }
  int32_t head(int32_t id) const { return static_cast<int32_t>(keys_[id] >> 32); }
  int32_t word(int32_t id) const { return static_cast<int32_t>(keys_[id]); }

 private:
  size_t place(uint64_t key) const { return (key * 0x9e3779b97f4a7c15ull >> 20) & mask_; }
  void grow() {
    slots_.assign(slots_.empty() ? 1024 : slots_.size() * 4, -1);
    mask_ = slots_.size() - 1;
    for (size_t id = 0; id < keys_.size(); ++id) {
      size_t at = place(keys_[id]);
      while (slots_[at] >= 0) at = (at + 1) & mask_;
      slots_[at] = static_cast<int32_t>(id);
    }
  }

  std::vector<int32_t> slots_;
  std::vector<uint64_t> keys_;
  size_t mask_ = 0;
};

}  // namespace

Bags count_units(const Texts& texts, int order, int gap, bool up_to) {
  Bags out;
  out.offsets.push_back(0);
  std::vector<Numbers> levels(order);
  std::vector<int64_t> entry;  // of each unit, its latest entry
  const auto add = [&](int32_t unit) {
    if (static_cast<size_t>(unit) == entry.size()) entry.push_back(-1);
    if (entry[unit] < out.offsets.back()) {
      entry[unit] = static_cast<int64_t>(out.units.size());
      out.units.push_back(unit);
      out.counts.push_back(0);
    }
    ++out.counts[entry[unit]];
  };
  // Every unit that begins with the unit `head` of `level` words, whose last word is at `at`.
  const auto extend = [&](auto& self, int32_t head, int level, const int32_t* at, const int32_t* end) -> void {
    if (level == order) return add(head);
    for (int skip = up_to ? 0 : gap; skip <= gap; ++skip) {
      if (end - at <= skip + 1) return;
      self(self, levels[level].of(head, at[skip + 1]), level + 1, at + skip + 1, end);
    }
  };
  for (int64_t text = 0; text < texts.count(); ++text) {
    const int32_t* end = texts.ids.data + texts.begin(text) + texts.length(text);
    for (const int32_t* at = end - texts.length(text); at < end; ++at) extend(extend, levels[0].of(0, *at), 1, at, end);
    out.offsets.push_back(static_cast<int64_t>(out.units.size()));
  }
  const size_t distinct = levels[order - 1].size();
  out.grams.resize(distinct * order);
  for (size_t unit = 0; unit < distinct; ++unit) {
    int32_t id = static_cast<int32_t>(unit);
    for (int level = order - 1; level >= 0; id = levels[level].head(id), --level) {
      out.grams[unit * order + level] = levels[level].word(id);
    }
  }
  return out;
}

}  // namespace postil
