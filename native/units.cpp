#include "units.hpp"

#include <stdexcept>

#include "checks.hpp"

namespace postil {
namespace {

// Pairs (unit of one word less, next word) numbered by first sight, each with a place that its user keeps there.
class Numbers {
 public:
  struct Slot {
    uint64_t key;
    int32_t id;  // less than 0: free
    uint32_t place;
  };

  static uint64_t key_of(int32_t head, int32_t word) {
    return static_cast<uint64_t>(static_cast<uint32_t>(head)) << 32 | static_cast<uint32_t>(word);
  }

  void expect(size_t pairs) {
    while (slots_.size() < pairs) grow();
  }

  // Ask the memory for a pair that is looked up soon; a miss costs more than all else here.
  void soon(uint64_t key) const {
#if defined(__GNUC__)
    if (!slots_.empty()) __builtin_prefetch(&slots_[first(key)]);
#endif
  }

  Slot& of(uint64_t key) {
    if ((keys_.size() + 1) * 2 > slots_.size()) grow();
    for (size_t at = first(key);; at = (at + 1) & mask_) {
      Slot& slot = slots_[at];
      if (slot.id < 0) {
        if (keys_.size() >= INT32_MAX) throw std::length_error("more than 2,147,483,647 distinct units");
        slot = {key, static_cast<int32_t>(keys_.size()), UINT32_MAX};
        keys_.push_back(key);
        return slot;
      }
      if (slot.key == key) return slot;
    }
  }

  size_t size() const { return keys_.size(); }
  int32_t head(int32_t id) const { return static_cast<int32_t>(keys_[id] >> 32); }
  int32_t word(int32_t id) const { return static_cast<int32_t>(keys_[id]); }

 private:
  size_t first(uint64_t key) const { return (key * 0x9e3779b97f4a7c15ull >> 20) & mask_; }
  void grow() {
    std::vector<Slot> old(std::move(slots_));
    slots_.assign(old.empty() ? 1024 : old.size() * 4, Slot{0, -1, 0});
    mask_ = slots_.size() - 1;
    for (const Slot& slot : old) {
      if (slot.id < 0) continue;
      size_t at = first(slot.key);
      while (slots_[at].id >= 0) at = (at + 1) & mask_;
      slots_[at] = slot;
    }
  }

  std::vector<Slot> slots_;
  std::vector<uint64_t> keys_;
  size_t mask_ = 0;
};

constexpr size_t kAhead = 12;  // how many pairs the memory is asked for at a time

}  // namespace

Bags count_units(const Texts& texts, int order, int gap, bool up_to) {
  check_offsets(texts.offsets, texts.ids.size, "expected offsets of the words of texts");
  Bags out;
  out.offsets.push_back(0);
  std::vector<Numbers> levels(order);
  levels[order - 1].expect(static_cast<size_t>(texts.ids.size) / 2);
  std::vector<uint64_t> keys;  // of the text's units, in their order
  // Every unit that begins with the unit `head` of `level` words, whose last word is at `at`.
  const auto extend = [&](auto& self, uint64_t key, int level, const int32_t* at, const int32_t* end) -> void {
    if (level == order) return keys.push_back(key);
    const int32_t head = levels[level - 1].of(key).id;
    for (int skip = up_to ? 0 : gap; skip <= gap; ++skip) {
      if (end - at <= skip + 1) return;
      self(self, Numbers::key_of(head, at[skip + 1]), level + 1, at + skip + 1, end);
    }
  };
  for (int64_t text = 0; text < texts.count(); ++text) {
    const int32_t* end = texts.ids.data + texts.begin(text) + texts.length(text);
    keys.clear();
    for (const int32_t* at = end - texts.length(text); at < end; ++at) extend(extend, Numbers::key_of(0, *at), 1, at, end);
    Numbers& numbers = levels[order - 1];
    const size_t begin = out.units.size();
    if (begin + keys.size() >= UINT32_MAX) throw std::length_error("more than 4,294,967,294 units");
    for (size_t i = 0; i < keys.size(); ++i) {
      if (i + kAhead < keys.size()) numbers.soon(keys[i + kAhead]);
      Numbers::Slot& slot = numbers.of(keys[i]);
      if (slot.place == UINT32_MAX || slot.place < begin) {
        slot.place = static_cast<uint32_t>(out.units.size());
        out.units.push_back(slot.id);
        out.counts.push_back(0);
      }
      ++out.counts[slot.place];
    }
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
