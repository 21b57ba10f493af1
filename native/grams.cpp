#include "grams.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>

#include "checks.hpp"

namespace postil {
namespace {

constexpr const char* kOfItems = "expected document frequencies from 1 to the number of items";
constexpr int32_t kTabled = 1 << 20;  // document frequencies whose idf is in a table
constexpr int32_t kShort = 64;  // words of a text whose pairs are all compared

// A place where an n-gram ends that may occur twice. Only these are looked at again for the next order.
struct Live {
  uint32_t at;  // position of the word plus number of its text: places of two texts are never neighbours
  int32_t id;   // number of the n-gram
  int32_t word;
  int32_t item;
};

// Which of many hashes came at least twice, nearly: what comes twice is always told, of what comes once a part is told too.
class Twice {
 public:
  explicit Twice(size_t keys) {
    size_t bits = 64;
    while (bits < keys * 2) bits *= 2;
    once_.assign(bits / 64, 0);
    again_.assign(bits / 64, 0);
    mask_ = bits - 1;
  }
  bool see(uint64_t hash) {  // whether this is the second
    const uint64_t bit = 1ull << (hash & 63);
    uint64_t& once = once_[(hash & mask_) / 64];
    uint64_t& again = again_[(hash & mask_) / 64];
    const bool second = (once & ~again & bit) != 0;
    again |= once & bit;
    once |= bit;
    return second;
  }
  bool told(uint64_t hash) const { return again_[(hash & mask_) / 64] >> (hash & 63) & 1; }

 private:
  std::vector<uint64_t> once_, again_;
  size_t mask_;
};

// Number the n-grams of a level and note where they end. pairs(visit) calls visit(at, first, word, item) for each n-gram in
// the order of the text; it may read what `out` overwrites, which stays behind it.
template <class Pairs>
Live* count_level(GramLevel& level, size_t count, Pairs pairs, Live* out) {
  Twice twice(count);
  size_t repeated = 0;
  pairs([&](uint32_t, int32_t first, int32_t word, int32_t) { repeated += twice.see(GramLevel::hash_of(first, word)); });
  level.reserve(repeated * 2);

  struct Pair {
    uint32_t at;
    int32_t first, word, item;
    uint64_t hash;
  };
  std::array<Pair, 32> waiting;  // while their slots come from memory
  size_t waits = 0;
  auto settle = [&] {
    for (size_t k = 0; k < waits; ++k) level.prefetch_gram(waiting[k].hash);
    for (size_t k = 0; k < waits; ++k) {
      const Pair& pair = waiting[k];
      *out++ = {pair.at, level.add(pair.first, pair.word, pair.item), pair.word, pair.item};
    }
    waits = 0;
  };
  pairs([&](uint32_t at, int32_t first, int32_t word, int32_t item) {
    const uint64_t hash = GramLevel::hash_of(first, word);
    waiting[waits] = {at, first, word, item, hash};  // write always, advance where it is told: no branch to guess wrong
    level.prefetch(hash);
    waits += twice.told(hash);
    if (waits == waiting.size()) settle();
  });
  settle();
  return out;
}

}  // namespace

void GramLevel::reserve(size_t grams) {
  size_t capacity = 16;
  while (capacity < grams * 2) capacity *= 2;
  slots_.assign(capacity, Slot{0, -1});
  mask_ = capacity - 1;
  for (size_t id = 0; id < grams_.size(); ++id) {
    const uint64_t hash = hash_of(grams_[id].first, grams_[id].last);
    slots_[place_of(hash, grams_[id].first, grams_[id].last)] = {tag_of(hash), static_cast<int32_t>(id)};
  }
}

size_t GramLevel::place_of(uint64_t hash, int32_t first, int32_t last) const {
  for (size_t at = hash & mask_;; at = (at + 1) & mask_) {
    const Slot& slot = slots_[at];
    if (slot.id < 0) return at;
    if (slot.tag == tag_of(hash) && grams_[slot.id].first == first && grams_[slot.id].last == last) return at;
  }
}

int32_t GramLevel::find(int32_t first, int32_t last) const { return slots_[place_of(hash_of(first, last), first, last)].id; }

int32_t GramLevel::add(int32_t first, int32_t last, int32_t item) {
  const uint64_t hash = hash_of(first, last);
  Slot& slot = slots_[place_of(hash, first, last)];
  if (slot.id >= 0) {
    Gram& gram = grams_[slot.id];
    gram.df += gram.last_item != item;
    gram.last_item = item;
    return slot.id;
  }
  const int32_t id = static_cast<int32_t>(grams_.size());
  slot = {tag_of(hash), id};
  grams_.push_back({first, last, 1, item});
  if (grams_.size() * 2 > slots_.size()) reserve(grams_.size() * 2);
  return id;
}

Grams::Grams(const Texts& texts, Span<int64_t> set_offsets, Span<int32_t> item, int order) : items_(0), levels_(order - 1) {
  const int64_t tokens = texts.ids.size, sets = set_offsets.size - 1;
  if (tokens + texts.count() > INT32_MAX) throw std::length_error("references of more than 2^31 words are not supported");
  check_texts(texts, "expected references as words from 0 and offsets of texts");
  check_offsets(set_offsets, texts.count(), "expected offsets of the sets of references");
  require(item.size == sets, "expected an item for each set of references");

  // Order 1: the number of a word is its id.
  int64_t words = 0;
  for (int64_t i = 0; i < tokens; ++i) words = std::max(words, int64_t{texts.ids[i]} + 1);
  struct Word {
    int32_t df = 0, last_item = -1;
  };
  std::vector<Word> of_word(words);
  for (int64_t s = 0; s < sets; ++s) {
    items_ += s == 0 || item[s] != item[s - 1];
    for (int64_t t = texts.begin(set_offsets[s]); t < texts.begin(set_offsets[s + 1]); ++t) {
      Word& word = of_word[texts.ids[t]];
      word.df += word.last_item != item[s];
      word.last_item = item[s];
    }
  }
  word_df_.reserve(words);
  for (const Word& word : of_word) word_df_.push_back(word.df);
  set_idf();  // no longer n-gram has a higher df than a word

  // An n-gram may occur twice where the (n-1)-grams at its head and at its tail do.
  Large<Live> live(tokens);
  size_t size = tokens;
  for (int n = 2; n <= order; ++n) {
    auto words_in_a_row = [&](auto visit) {
      for (int64_t s = 0; s < sets; ++s) {
        for (int64_t r = set_offsets[s]; r < set_offsets[s + 1]; ++r) {
          for (int64_t t = texts.begin(r) + 1; t < texts.begin(r + 1); ++t) {
            visit(static_cast<uint32_t>(t + r), texts.ids[t - 1], texts.ids[t], item[s]);
          }
        }
      }
    };
    auto places_in_a_row = [&](auto visit) {
      for (size_t i = 1; i < size; ++i) {
        const Live head = live[i - 1], tail = live[i];
        if (tail.at == head.at + 1) visit(tail.at, head.id, tail.word, tail.item);
      }
    };
    GramLevel& level = levels_[n - 2];
    Live* end = n == 2 ? count_level(level, size, words_in_a_row, live.data())
                       : count_level(level, size, places_in_a_row, live.data());
    size = end - live.data();
  }
}

Grams::Grams(int64_t items, const std::vector<Span<int32_t>>& words, const std::vector<Span<int32_t>>& df)
    : items_(items), levels_(words.size() - 1) {
  require(items > 0, "expected at least one item");
  for (size_t n = 1; n <= words.size(); ++n) {
    require(words[n - 1].size == df[n - 1].size * static_cast<int64_t>(n), "expected a document frequency of each n-gram");
    check_places(words[n - 1], int64_t{1} << 31, "expected words from 0");
    check_places(df[n - 1], std::min<int64_t>(items, INT32_MAX) + 1, kOfItems);
    require(std::find(df[n - 1].data, df[n - 1].data + df[n - 1].size, 0) == df[n - 1].data + df[n - 1].size, kOfItems);
  }
  for (int64_t i = 0; i < df[0].size; ++i) {
    const size_t word = static_cast<size_t>(words[0][i]);
    if (word >= word_df_.size()) word_df_.resize(word + 1, 0);
    word_df_[word] = df[0][i];
  }
  for (size_t n = 2; n <= words.size(); ++n) {
    levels_[n - 2].reserve(static_cast<size_t>(df[n - 1].size));
    for (int64_t i = 0; i < df[n - 1].size; ++i) {
      const int32_t* gram = words[n - 1].data + i * static_cast<int64_t>(n);
      int32_t first = gram[0];
      for (size_t k = 2; k < n; ++k) first = find(static_cast<int>(k), first, gram[k - 1]);
      require(first >= 0 && static_cast<size_t>(gram[0]) < word_df_.size() && word_df_[gram[0]] > 0,
              "expected the first words of each n-gram among the n-grams");
      levels_[n - 2].set(first, gram[n - 1], df[n - 1][i]);
    }
  }
  set_idf();
}

void Grams::set_idf() {
  int32_t top = 1;
  for (int32_t df : word_df_) top = std::max(top, df);
  for (const GramLevel& level : levels_) {
    for (const GramLevel::Gram& gram : level.grams()) top = std::max(top, gram.df);
  }
  log_items_ = std::log(static_cast<double>(items_));
  idf_of_df_.resize(std::min(static_cast<size_t>(top) + 1, static_cast<size_t>(kTabled)));
  for (size_t df = 0; df < idf_of_df_.size(); ++df) idf_of_df_[df] = log_items_ - std::log(std::max(1.0, static_cast<double>(df)));
}

void Grams::table(int n, std::vector<int32_t>& words, std::vector<int32_t>& df) const {
  const size_t size = n == 1 ? word_df_.size() : levels_[n - 2].grams().size();
  for (size_t id = 0; id < size; ++id) {
    const int32_t items = n == 1 ? word_df_[id] : levels_[n - 2].grams()[id].df;
    if (items < 2) continue;
    const size_t row = words.size();
    words.resize(row + n);
    int32_t gram = static_cast<int32_t>(id);
    for (int k = n; k >= 2; --k) {
      words[row + k - 1] = levels_[k - 2].grams()[gram].last;
      gram = levels_[k - 2].grams()[gram].first;
    }
    words[row] = gram;
    df.push_back(items);
  }
}

void Norms::of(const int32_t* words, int32_t length, int top, double* out) {
  places_.resize(length);
  if (length <= kShort) {
    for (int32_t i = 0; i < length; ++i) {
      bool again = false;
      for (int32_t k = 0; k < i; ++k) again |= words[k] == words[i];
      const int32_t first = again ? static_cast<int32_t>(std::find(words, words + i, words[i]) - words) : i;
      places_[i] = {grams_.find(1, -1, words[i]), first, 0};
    }
  } else {
    first_.set(words, length, top);
    for (int32_t i = 0; i < length; ++i) places_[i] = {grams_.find(1, -1, words[i]), first_.of(1, i), 0};
  }
  for (int n = 1; n <= top; ++n) {
    // From right to left, so that the place before still stands for the (n-1)-gram.
    for (int32_t i = length - 1; n > 1 && i >= n - 1; --i) {
      const Place& head = places_[i - 1];
      int32_t first = i;
      if (length > kShort) {
        first = first_.of(n, i);
      } else if (head.first != i - 1) {  // else what it begins with has not been there before
        for (int32_t k = head.first + 1; k < i; ++k) {
          if (words[k] == words[i] && places_[k - 1].first == head.first) {
            first = k;
            break;
          }
        }
      }
      places_[i] = {grams_.find(n, head.id, words[i]), first, 0};
    }
    for (int32_t i = n - 1; i < length; ++i) ++places_[places_[i].first].count;
    double sum = 0.0;
    for (int32_t i = n - 1; i < length; ++i) {
      const double weight = places_[i].count * grams_.idf(n, places_[i].id);
      sum += weight * weight;
      places_[i].count = 0;
    }
    out[n - 1] = std::sqrt(sum);
  }
}

}  // namespace postil
