// Where a text first ends each of its n-grams, in time that grows with its length.
//
// The place names the n-gram. Where the words before the last first end at p, the n-gram is looked for at p + 1 first, and
// has an entry in a table only if it does not stand there; so what occurs once needs none.
#pragma once

#include <cstdint>
#include <vector>

namespace postil {

class FirstPlaces {
 public:
  // Orders 1 to `order` of a text, which must stay where it is.
  void set(const int32_t* words, int32_t length, int order) {
    words_ = words;
    length_ = length;
    places_.resize(static_cast<size_t>(order) * length);
    entries_ = 0;
    size_t capacity = 16;
    while (capacity < static_cast<size_t>(length) * 2) capacity *= 2;
    slots_.assign(capacity, Slot());
    for (int n = 1; n <= order; ++n) {
      int32_t* places = places_.data() + static_cast<size_t>(n - 1) * length;
      const int32_t* heads = n == 1 ? nullptr : places - length;
      for (int32_t i = n - 1; i < length; ++i) {
        const int32_t head = n == 1 ? -1 : heads[i - 1];
        places[i] = head == i - 1 ? i : first(n, head, words[i], i);  // behind a head that is new all is new
      }
    }
  }

  // Of the n-gram that ends at i.
  int32_t of(int n, int32_t i) const { return places_[static_cast<size_t>(n - 1) * length_ + i]; }

  // Of the n-gram that ends with `word` behind the n - 1 words that first end at `head` (-1 for n = 1); or -1.
  int32_t find(int n, int32_t head, int32_t word) const {
    if (head + 1 < length_ && words_[head + 1] == word) return head + 1;
    return slots_[slot_of(n, head, word)].place;
  }

 private:
  struct Slot {
    int32_t n = 0, head = 0, word = 0;
    int32_t place = -1;  // -1: free
  };

  size_t slot_of(int n, int32_t head, int32_t word) const {  // where it stands or would
    uint64_t hash = static_cast<uint64_t>(static_cast<uint32_t>(head)) << 32 | static_cast<uint32_t>(word);
    hash = (hash ^ hash >> 31) * 0x9E3779B97F4A7C15ull + static_cast<uint64_t>(n);
    hash *= 0x9E3779B97F4A7C15ull;
    const size_t mask = slots_.size() - 1;
    for (size_t at = hash >> 32 & mask;; at = (at + 1) & mask) {
      const Slot& slot = slots_[at];
      if (slot.place < 0 || (slot.head == head && slot.word == word && slot.n == n)) return at;
    }
  }

  int32_t first(int n, int32_t head, int32_t word, int32_t here) {
    if (words_[head + 1] == word) return head + 1;
    Slot& slot = slots_[slot_of(n, head, word)];
    if (slot.place >= 0) return slot.place;
    slot = {n, head, word, here};
    if (++entries_ * 2 > slots_.size()) grow();
    return here;
  }

  void grow() {
    std::vector<Slot> old(slots_.size() * 2);
    old.swap(slots_);
    for (const Slot& slot : old) {
      if (slot.place >= 0) slots_[slot_of(slot.n, slot.head, slot.word)] = slot;
    }
  }

  const int32_t* words_ = nullptr;
  int32_t length_ = 0;
  std::vector<int32_t> places_;  // [order, length]
  std::vector<Slot> slots_;
  size_t entries_ = 0;
};

}  // namespace postil
