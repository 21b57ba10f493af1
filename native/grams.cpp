#include "grams.hpp"

#include "memory.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace postil {
namespace {

inline uint64_t scramble(uint64_t key) {
  key ^= key >> 31;
  key *= 0x9E3779B97F4A7C15ull;
  return key ^ (key >> 29);
}
inline uint64_t key_of(int32_t first, int32_t last) {
  return static_cast<uint64_t>(static_cast<uint32_t>(first)) << 32 | static_cast<uint32_t>(last);
}

// A place where an n-gram ends that occurs at least twice. Only these are looked at again for the next order.
struct Live {
  uint32_t at;  // position of the word plus number of its text: places of two texts are never neighbours
  int32_t id;
  int32_t group;
  int32_t longer;  // the id of the n-gram one longer that ends here, or -1
};

// An n-gram by its last word; kept in lists, one for each (n-1)-gram that n-grams begin with.
struct Ending {
  uint32_t live;  // its number among the places of the order below
  int32_t word;
};

// What has been seen of the n-grams of one list, by their last word: the live place of the one that occurred once, or ~id.
struct Seen {
  int32_t begins_with = -1;
  int32_t place = 0;
};

// The n-grams that begin with some range of (n-1)-grams, numbered from 0.
struct Range {
  struct Gram {
    int32_t first, last, df, last_group;
  };
  std::vector<Gram> grams;

  // Number those in one list that occur at least twice, and note the numbers where they end.
  void add(int32_t begins_with, const Ending* begin, const Ending* end, Seen* seen, Live* live) {
    if (end - begin < 2) return;
    for (const Ending* e = begin; e != end; ++e) {
      Seen& before = seen[e->word];
      if (before.begins_with != begins_with) {
        before = {begins_with, static_cast<int32_t>(e->live)};
        continue;
      }
      if (before.place >= 0) {
        const int32_t id = static_cast<int32_t>(grams.size());
        Live& place = live[before.place];
        grams.push_back({begins_with, e->word, 1, place.group});
        place.longer = id;
        before.place = ~id;
      }
      Gram& gram = grams[~before.place];
      Live& place = live[e->live];
      gram.df += gram.last_group != place.group;
      gram.last_group = place.group;
      place.longer = ~before.place;
    }
  }
};

// Root of the sum of (tf idf)^2 over a text's distinct n-grams: an n-gram's k-th occurrence adds (2k - 1) idf^2. Those of df 1
// are only counted, whether they are live or not, so that the sum depends on nothing but tf and df.
class NormOfText {
 public:
  NormOfText(const std::vector<int32_t>& df, const std::vector<double>& idf_of_df) : grams_(df.size()) {
    for (size_t id = 0; id < df.size(); ++id) {
      grams_[id].rare = df[id] == 1;
      grams_[id].squared_idf = df[id] == 1 ? 0.0 : idf_of_df[df[id]] * idf_of_df[df[id]];
    }
    rare_ = idf_of_df[1] * idf_of_df[1];
  }

  double operator()(const Live* begin, const Live* end, int64_t grams, int32_t text) {
    double sum = 0.0;
    int64_t rare = grams - (end - begin);  // what is not live occurs once in all texts
    for (const Live* live = begin; live != end; ++live) {
      Gram& gram = grams_[live->id];
      gram.odd = gram.text == text ? gram.odd + 2 : 1;
      gram.text = text;
      sum += gram.odd * gram.squared_idf;
      rare += gram.odd * gram.rare;
    }
    return std::sqrt(sum + rare_ * static_cast<double>(rare));
  }

 private:
  struct Gram {
    double squared_idf = 0.0;
    int32_t text = -1, odd = 0, rare = 0;
  };
  Large<Gram> grams_;
  double rare_;
};

}  // namespace

void GramIndex::reserve(size_t entries) {
  size_t capacity = 16;
  while (capacity < entries * 2) capacity *= 2;
  slots_.assign(capacity, Slot{0, -1});
  mask_ = capacity - 1;
}

void GramIndex::insert(uint64_t key, int32_t id) {
  size_t at = scramble(key) & mask_;
  while (slots_[at].id >= 0) at = (at + 1) & mask_;
  slots_[at] = {key, id};
}

int32_t GramIndex::find(uint64_t key) const {
  for (size_t at = scramble(key) & mask_;; at = (at + 1) & mask_) {
    if (slots_[at].id < 0 || slots_[at].key == key) return slots_[at].id;
  }
}

void Grams::set_idf() {
  int32_t top = 1;
  for (const GramLevel& level : levels_) {
    for (int32_t df : level.df) top = std::max(top, df);
  }
  const double log_items = std::log(static_cast<double>(items_));
  idf_of_df_.resize(static_cast<size_t>(top) + 1);
  for (int32_t df = 0; df <= top; ++df) idf_of_df_[df] = log_items - std::log(std::max(1.0, static_cast<double>(df)));
}

double Grams::idf(int n, int32_t id) const { return id < 0 ? idf_of_df_[0] : idf_of_df_[levels_[n - 1].df[id]]; }

int32_t Grams::find(int n, int32_t first, int32_t word) const {
  if (n == 1) return word < static_cast<int32_t>(levels_[0].df.size()) && levels_[0].df[word] > 1 ? word : -1;
  return first < 0 ? -1 : levels_[n - 1].index.find(key_of(first, word));
}

Grams::Grams(const Texts& texts, Span<int64_t> set_offsets, Span<int32_t> group, int order, int jobs, double* norms)
    : items_(0), levels_(order) {
  const int64_t tokens = texts.ids.size, sets = set_offsets.size - 1;
  if (tokens + texts.count() > INT32_MAX) throw std::length_error("references of more than 2^31 words are not supported");
  for (int64_t s = 0; s < sets; ++s) items_ += s == 0 || group[s] != group[s - 1];

  // Order 1: the id of a word is its word id.
  int32_t words = 0;
  for (int64_t i = 0; i < tokens; ++i) words = std::max(words, texts.ids[i] + 1);
  struct Word {
    int32_t count = 0, df = 0, last_group = -1;
  };
  std::vector<Word> of_word(words);
  for (int64_t s = 0; s < sets; ++s) {
    for (int64_t t = texts.begin(set_offsets[s]); t < texts.begin(set_offsets[s + 1]); ++t) {
      Word& word = of_word[texts.ids[t]];
      ++word.count;
      word.df += word.last_group != group[s];
      word.last_group = group[s];
    }
  }
  for (const Word& word : of_word) levels_[0].df.push_back(word.df);
  set_idf();  // no longer n-gram has a higher df than a word

  // Write always, advance where the word stays: no branch to guess wrong.
  Large<Live> live(tokens + 1);
  Live* live_end = live.data();
  for (int64_t s = 0; s < sets; ++s) {
    for (int64_t r = set_offsets[s]; r < set_offsets[s + 1]; ++r) {
      for (int64_t t = texts.begin(r); t < texts.begin(r + 1); ++t) {
        *live_end = {static_cast<uint32_t>(t + r), texts.ids[t], group[s], -1};
        live_end += of_word[texts.ids[t]].count > 1;
      }
    }
  }
  auto fill_norms = [&](int n) {
    const std::vector<int32_t>& df = levels_[n - 1].df;
    auto before = [](const Live& place, int64_t at) { return place.at < at; };
    auto make = [&] { return NormOfText(df, idf_of_df_); };
    for_each_block(block_count(texts.count()), jobs, make, [&](NormOfText& norm, int64_t block) {
      int64_t r = block * kBlock;
      const Live* begin = std::lower_bound(live.data(), live_end, texts.begin(r) + r, before);
      for (; r < std::min(texts.count(), (block + 1) * kBlock); ++r) {
        const Live* end = begin;
        while (end != live_end && end->at < texts.begin(r + 1) + r) ++end;
        norms[r * order + n - 1] = norm(begin, end, std::max(0, texts.length(r) - n + 1), static_cast<int32_t>(r));
        begin = end;
      }
    });
  };
  fill_norms(1);

  Large<Ending> endings(live_end - live.data());
  Large<uint32_t> tails(live_end - live.data() + 1);
  size_t below = words;
  for (int n = 2; n <= order; ++n) {
    const size_t size = live_end - live.data();
    // An n-gram may occur twice where the (n-1)-grams at its head and at its tail do: two live places in a row.
    size_t pairs = 0;
    std::vector<uint32_t> list_begin(below + 1, 0);
    for (size_t i = 1; i < size; ++i) {
      const bool pair = live[i].at == live[i - 1].at + 1;
      tails[pairs] = static_cast<uint32_t>(i);
      pairs += pair;
      list_begin[live[i - 1].id + 1] += pair;
    }
    for (size_t first = 0; first < below; ++first) list_begin[first + 1] += list_begin[first];
    std::vector<uint32_t> list_end(list_begin.begin(), list_begin.end() - 1);
    int64_t r = 0;
    for (size_t k = 0; k < pairs; ++k) {
      const uint32_t i = tails[k];
      while (live[i].at >= texts.begin(r + 1) + r) ++r;
      if (k + 16 < pairs) __builtin_prefetch(&endings[list_end[live[tails[k + 16] - 1].id]], 1);
      endings[list_end[live[i - 1].id]++] = {i, texts.ids[live[i].at - r]};
    }

    // Number the n-grams that occur twice, ranges of lists side by side; ranges in order give the same ids as one range.
    const int64_t count = jobs == 1 ? 1 : 8 * jobs;
    std::vector<Range> ranges(count);
    auto first_of = [&](int64_t range) {
      const uint32_t at = static_cast<uint32_t>(static_cast<int64_t>(list_begin[below]) * range / count);
      return range == count ? below : std::lower_bound(list_begin.begin(), list_begin.end() - 1, at) - list_begin.begin();
    };
    auto make = [&] { return std::vector<Seen>(words); };
    for_each_block(count, jobs, make, [&](std::vector<Seen>& seen, int64_t number) {
      for (size_t first = first_of(number); first < static_cast<size_t>(first_of(number + 1)); ++first) {
        ranges[number].add(static_cast<int32_t>(first), endings.data() + list_begin[first], endings.data() + list_end[first],
                           seen.data(), live.data());
      }
    });
    GramLevel& level = levels_[n - 1];
    for (int64_t number = 0; number < count; ++number) {
      const Range& range = ranges[number];
      const int32_t before = static_cast<int32_t>(level.df.size());
      for (const Range::Gram& gram : range.grams) {
        level.first.push_back(gram.first);
        level.last.push_back(gram.last);
        level.df.push_back(gram.df);
      }
      if (before == 0) continue;
      for (uint32_t e = list_begin[first_of(number)]; e < list_begin[first_of(number + 1)]; ++e) {
        int32_t& id = live[endings[e].live].longer;
        if (id >= 0) id += before;
      }
    }
    live_end = live.data();
    for (size_t i = 0; i < size; ++i) {
      const int32_t id = live[i].longer;
      *live_end = {live[i].at, id, live[i].group, -1};
      live_end += id >= 0;
    }
    fill_norms(n);
    level.index.reserve(static_cast<size_t>(std::count_if(level.df.begin(), level.df.end(), [](int32_t d) { return d > 1; })));
    for (size_t id = 0; id < level.df.size(); ++id) {
      if (level.df[id] > 1) level.index.insert(key_of(level.first[id], level.last[id]), static_cast<int32_t>(id));
    }
    below = level.df.size();
  }
}

Grams::Grams(int64_t items, const std::vector<Span<int32_t>>& words, const std::vector<Span<int32_t>>& df)
    : items_(items), levels_(words.size()) {
  GramLevel& unigrams = levels_[0];
  for (int64_t i = 0; i < df[0].size; ++i) {
    const size_t word = static_cast<size_t>(words[0][i]);
    if (word >= unigrams.df.size()) unigrams.df.resize(word + 1, 0);
    unigrams.df[word] = df[0][i];
  }
  for (size_t n = 2; n <= words.size(); ++n) {
    GramLevel& level = levels_[n - 1];
    level.index.reserve(static_cast<size_t>(df[n - 1].size));
    for (int64_t i = 0; i < df[n - 1].size; ++i) {
      const int32_t* gram = words[n - 1].data + i * static_cast<int64_t>(n);
      int32_t first = gram[0];
      for (size_t k = 2; k < n; ++k) first = find(static_cast<int>(k), first, gram[k - 1]);
      level.index.insert(key_of(first, gram[n - 1]), static_cast<int32_t>(level.df.size()));
      level.first.push_back(first);
      level.last.push_back(gram[n - 1]);
      level.df.push_back(df[n - 1][i]);
    }
  }
  set_idf();
}

void Grams::norms(const Texts& texts, int jobs, double* out) const {
  struct Scratch {
    std::vector<int32_t> ids, distinct, count;
  };
  for_each_block(block_count(texts.count()), jobs, [] { return Scratch(); }, [&](Scratch& scratch, int64_t block) {
    for (int64_t r = block * kBlock; r < std::min(texts.count(), (block + 1) * kBlock); ++r) {
      const int32_t* words = texts.ids.data + texts.begin(r);
      const int32_t length = texts.length(r);
      // The n-grams of this text, numbered among themselves: distinct[i] is the first place of the one that ends at i.
      scratch.ids.assign(length, 0);
      scratch.distinct.assign(length, 0);
      for (int n = 1; n <= order(); ++n) {
        double sum = 0.0;
        scratch.count.assign(length, 0);
        for (int32_t i = length - 1; i >= n - 1; --i) {
          int32_t place = i;
          for (int32_t k = n - 1; k < i; ++k) {
            if (words[k] == words[i] && (n == 1 || scratch.distinct[k - 1] == scratch.distinct[i - 1])) {
              place = k;
              break;
            }
          }
          scratch.ids[i] = find(n, n == 1 ? -1 : scratch.ids[i - 1], words[i]);
          scratch.distinct[i] = place;
          ++scratch.count[place];
        }
        for (int32_t i = n - 1; i < length; ++i) {
          const double weight = scratch.count[i] * idf(n, scratch.ids[i]);
          sum += weight * weight;
        }
        out[r * order() + n - 1] = std::sqrt(sum);
      }
    }
  });
}

void Grams::table(int n, std::vector<int32_t>& words, std::vector<int32_t>& df) const {
  const GramLevel& level = levels_[n - 1];
  for (size_t id = 0; id < level.df.size(); ++id) {
    if (level.df[id] < 2) continue;
    const size_t row = words.size();
    words.resize(row + n);
    int32_t gram = static_cast<int32_t>(id);
    for (int k = n; k >= 2; --k) {
      words[row + k - 1] = levels_[k - 1].last[gram];
      gram = levels_[k - 1].first[gram];
    }
    words[row] = gram;
    df.push_back(level.df[id]);
  }
}

}  // namespace postil
