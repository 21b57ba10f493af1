#include "intern.hpp"

#include <algorithm>
#include <array>

#include "parallel.hpp"

namespace postil {
namespace {

uint64_t mix(uint64_t x) {
  x *= 0x9E3779B97F4A7C15ull;
  return x ^ (x >> 32);
}

uint64_t hash_bytes(const uint8_t* bytes, uint32_t size) {
  uint64_t h = size;
  uint32_t i = 0;
  for (; i + 8 <= size; i += 8) {
    uint64_t block;
    std::memcpy(&block, bytes + i, 8);
    h = mix(h ^ block) + 0x632BE59BD9B4E019ull;
  }
  uint64_t last = 0;
  std::memcpy(&last, bytes + i, size - i);
  return mix(h ^ last);
}

// The first `size` of at most eight bytes; `room` says that eight can be read.
inline uint64_t load_short(const uint8_t* p, uint32_t size, bool room) {
  uint64_t x = 0;
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
  if (room && size > 0) {
    std::memcpy(&x, p, 8);
    return x << (64 - 8 * size) >> (64 - 8 * size);
  }
#endif
  std::memcpy(&x, p, size);
  return x;
}

inline Token make_token(const uint8_t* bytes, uint32_t size, uint32_t width_log, bool room) {
  return {bytes, size, size << 2 | width_log, size <= 8 ? load_short(bytes, size, room) : hash_bytes(bytes, size)};
}

// What Python's re and str say about the characters of the basic plane, asked once. Combining marks come from
// `set_marks`, before a text with any is split.
struct Characters {
  std::array<uint64_t, 1024> word{}, space{};
  std::vector<uint64_t> mark;  // a bit for each code point up to the last
  Characters() {
    for (uint32_t c = 0; c < 0x10000; ++c) {
      if (Py_UNICODE_ISALNUM(c) || c == '_') word[c >> 6] |= 1ull << (c & 63);
      if (Py_UNICODE_ISSPACE(c)) space[c >> 6] |= 1ull << (c & 63);
    }
  }
};
Characters& characters() {
  static Characters table;
  return table;
}
inline bool is_space(const Characters& table, uint32_t c) {
  if (c > 0x3000 || (c > 0x20 && c < 0x85)) return false;  // the last one is the ideographic space
  return table.space[c >> 6] >> (c & 63) & 1;
}
inline bool is_word(const Characters& table, uint32_t c) {
  return c < 0x10000 ? table.word[c >> 6] >> (c & 63) & 1 : Py_UNICODE_ISALNUM(c);
}
inline bool is_combining(const Characters& table, uint32_t c) {
  return (c >> 6) < table.mark.size() && (table.mark[c >> 6] >> (c & 63) & 1);
}
// Joiners of zero width, which stay between two parts of a word.
inline bool is_joiner(uint32_t c) { return c == 0x200C || c == 0x200D; }
// As Python's string.punctuation.
inline bool is_mark(uint32_t c) {
  return (c > 0x20 && c < '0') || (c > '9' && c < 'A') || (c > 'Z' && c < 'a') || (c > 'z' && c < 0x7F);
}
// Characters of the scripts without spaces, in the order of `SPACELESS` of the Python kernel, the frequent ones first.
inline bool is_unspaced(uint32_t c) {
  if (c < 0x0E00) return false;
  return (c >= 0x4E00 && c <= 0x9FFF) || (c >= 0x3040 && c <= 0x30FF) || (c >= 0x3400 && c <= 0x4DBF) ||
         (c >= 0xF900 && c <= 0xFAFF) || (c >= 0x20000 && c <= 0x3FFFF) || (c >= 0x31F0 && c <= 0x31FF) ||
         (c >= 0xFF66 && c <= 0xFF9F) || (c >= 0x1AFF0 && c <= 0x1B16F) ||  // kana
         c <= 0x109F ||                                                   // Thai, Lao, Tibetan, Burmese
         (c >= 0x1780 && c <= 0x17FF) ||                                  // Khmer
         (c >= 0xA980 && c <= 0xA9FF) || (c >= 0xAA60 && c <= 0xAA7F);    // Javanese, Burmese
}
template <Splitting kSplitting>
inline bool between(const Characters& table, uint32_t c) {  // tokens
  switch (kSplitting) {
    case Splitting::kWords:
      return !is_word(table, c);
    case Splitting::kRouge:
      return !((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'));
    case Splitting::kUnspaced:
      return !is_word(table, c) ? !(is_unspaced(c) && is_combining(table, c)) : c == '_';
    case Splitting::kEveryCharacter:
      return false;
    default:
      return is_space(table, c);
  }
}

// Narrow text[from, to) to the least width that holds it; `bits` is the "or" of its characters.
template <class Char>
inline Token narrow(const Char* text, int64_t length, int64_t from, int64_t to, uint32_t bits, std::vector<uint8_t>& buffer) {
  const uint32_t size = static_cast<uint32_t>(to - from);
  const uint32_t width_log = bits < 0x100 ? 0 : bits < 0x10000 ? 1 : 2;
  if (sizeof(Char) == 1u << width_log) {
    const bool room = (length - from) * static_cast<int64_t>(sizeof(Char)) >= 8;
    return make_token(reinterpret_cast<const uint8_t*>(text + from), size << width_log, width_log, room);
  }
  buffer.resize((static_cast<size_t>(size) << width_log) + 8);
  for (uint32_t i = 0; i < size; ++i) {
    const uint32_t c = text[from + i];
    if (width_log == 0) {
      buffer[i] = static_cast<uint8_t>(c);
    } else {
      const uint16_t narrowed = static_cast<uint16_t>(c);
      std::memcpy(buffer.data() + 2 * i, &narrowed, 2);
    }
  }
  return make_token(buffer.data(), size << width_log, width_log, true);
}

// Where the token of an ASCII text that begins at `from` ends at white space, eight characters at a time.
inline int64_t end_of_ascii_token(const Characters& table, const uint8_t* text, int64_t from, int64_t length) {
  int64_t i = from + 1;
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
  constexpr uint64_t kOnes = 0x0101010101010101ull;
  while (i + 8 <= length) {
    uint64_t lanes;
    std::memcpy(&lanes, text + i, 8);
    const uint64_t low = (lanes - 0x21 * kOnes) & 0x80 * kOnes;  // the lowest is right; those above it may have borrowed
    if (!low) {
      i += 8;
      continue;
    }
    i += __builtin_ctzll(low) / 8;
    if (is_space(table, text[i])) return i;
    ++i;
  }
#endif
  while (i < length && !is_space(table, text[i])) ++i;
  return i;
}

// Call emit(token) for every token. Returns whether this is a text in a script without spaces (asked only where
// `Splitting` is words).
template <Splitting kSplitting, class Char, class Emit>
bool split(const Characters& table, const Char* text, int64_t length, bool ascii, std::vector<uint8_t>& buffer, Emit emit) {
  constexpr bool kBySpace = kSplitting == Splitting::kSpace || kSplitting == Splitting::kMarks;
  int64_t unspaced = 0, other = 0;
  for (int64_t i = 0; i < length;) {
    uint32_t c = text[i];
    if (between<kSplitting>(table, c)) {
      ++i;
      continue;
    }
    const int64_t from = i;
    uint32_t bits = 0;
    if (kSplitting == Splitting::kCharacters || kSplitting == Splitting::kEveryCharacter) {
      bits = c;
      ++i;
    } else if (kSplitting == Splitting::kUnspaced) {
      do bits |= c;
      while (++i < length && !is_unspaced(c) && !is_unspaced(c = text[i]) &&
             (!between<kSplitting>(table, c) || (sizeof(Char) > 1 && is_combining(table, c))));
    } else if (kSplitting == Splitting::kRouge) {
      while (++i < length && !between<kSplitting>(table, text[i])) {
      }
    } else if (kBySpace) {
      if constexpr (sizeof(Char) == 1) {
        if (ascii) i = end_of_ascii_token(table, text, from, length);
      }
      if (i == from) {
        do bits |= c;
        while (++i < length && !is_space(table, c = text[i]));
      }
      const int64_t mark = kSplitting != Splitting::kMarks || i - from == 1 ? from
                           : is_mark(text[i - 1])                          ? i - 1
                           : is_mark(text[from])                           ? from + 1
                                                                           : from;
      if (mark > from) {  // each part as wide as it needs
        auto part = [&](int64_t begin, int64_t end) {
          uint32_t own = 0;
          for (int64_t k = begin; k < end; ++k) own |= text[k];
          emit(narrow(text, length, begin, end, own, buffer));
        };
        part(from, mark), part(mark, i);
        continue;
      }
    } else {
      if constexpr (sizeof(Char) == 1) {  // there is no mark in Latin-1
        while (++i < length && is_word(table, text[i])) {
        }
        ++other;
      } else {
        bool in_run = false;  // of word characters of scripts with spaces
        for (;;) {
          do {
            bits |= c;
            const bool here = is_unspaced(c);
            unspaced += here;
            other += !here && !in_run;
            in_run = !here;
          } while (++i < length && is_word(table, c = text[i]));
          if (i == length || c < 0x300) break;  // no mark and no joiner
          const int64_t end = i;
          int64_t next = i;
          for (; next < length && (is_combining(table, c = text[next]) || is_joiner(c)); ++next) {
            if (!is_joiner(c)) i = next + 1;  // a word may end in a mark
          }
          const bool goes_on = next < length && is_word(table, c = text[next]);
          if (goes_on) i = next;
          for (int64_t k = end; k < i; ++k) bits |= text[k];
          if (!goes_on) break;
        }
      }
    }
    emit(narrow(text, length, from, i, bits, buffer));
  }
  return unspaced > 0 && unspaced >= other;
}

template <class Emit>
bool split_any(Splitting splitting, PyObject* text, std::vector<uint8_t>& buffer, Emit emit) {
  const Characters& table = characters();
  const void* data = PyUnicode_DATA(text);
  const int64_t length = PyUnicode_GET_LENGTH(text);
  const bool ascii = PyUnicode_IS_ASCII(text);
  auto with = [&](const auto* chars) {
    switch (splitting) {
      case Splitting::kSpace:
        return split<Splitting::kSpace>(table, chars, length, ascii, buffer, emit);
      case Splitting::kWords:
        return split<Splitting::kWords>(table, chars, length, ascii, buffer, emit);
      case Splitting::kRouge:
        return split<Splitting::kRouge>(table, chars, length, ascii, buffer, emit);
      case Splitting::kUnspaced:
        return split<Splitting::kUnspaced>(table, chars, length, ascii, buffer, emit);
      case Splitting::kEveryCharacter:
        return split<Splitting::kEveryCharacter>(table, chars, length, ascii, buffer, emit);
      case Splitting::kMarks:
        return split<Splitting::kMarks>(table, chars, length, ascii, buffer, emit);
      default:
        return split<Splitting::kCharacters>(table, chars, length, ascii, buffer, emit);
    }
  };
  switch (PyUnicode_KIND(text)) {
    case PyUnicode_1BYTE_KIND:
      return with(static_cast<const uint8_t*>(data));
    case PyUnicode_2BYTE_KIND:
      return with(static_cast<const uint16_t*>(data));
    default:
      return with(static_cast<const uint32_t*>(data));
  }
}

}  // namespace

bool has_marks() { return !characters().mark.empty(); }

void set_marks(PyObject* marks) {
  std::vector<uint64_t> bits;
  for (Py_ssize_t i = 0; i < PyUnicode_GET_LENGTH(marks); ++i) {
    const uint32_t c = PyUnicode_READ_CHAR(marks, i);
    if (bits.size() <= (c >> 6)) bits.resize((c >> 6) + 1);
    bits[c >> 6] |= 1ull << (c & 63);
  }
  characters().mark = std::move(bits);
}

Table::Table() : slots_(1024, Slot{0, 0, -1}), mask_(1023) {}

size_t Table::home(const Token& token) const { return mix(token.head ^ token.meta) & mask_; }

bool Table::same(const Slot& slot, const Token& token) const {
  return slot.head == token.head && slot.meta == token.meta &&
         (token.size <= 8 || std::memcmp(arena_.data() + starts_[slot.id], token.bytes, token.size) == 0);
}

int32_t Table::find(const Token& token) const {
  for (size_t at = home(token);; at = (at + 1) & mask_) {
    const Slot& slot = slots_[at];
    if (slot.id < 0) return -1;
    if (same(slot, token)) return slot.id;
  }
}

int32_t Table::intern(const Token& token) {
  size_t at = home(token);
  for (; slots_[at].id >= 0; at = (at + 1) & mask_) {
    if (same(slots_[at], token)) return slots_[at].id;
  }
  const int32_t id = size();
  slots_[at] = {token.head, token.meta, id};
  starts_.push_back(arena_.size());
  metas_.push_back(token.meta);
  heads_.push_back(token.head);
  arena_.insert(arena_.end(), token.bytes, token.bytes + token.size);
  if (static_cast<size_t>(size()) * 2 > mask_) grow();
  return id;
}

void Table::grow() {
  mask_ = mask_ * 4 + 3;
  slots_.assign(mask_ + 1, Slot{0, 0, -1});
  for (int32_t id = 0; id < size(); ++id) {
    size_t at = mix(heads_[id] ^ metas_[id]) & mask_;
    while (slots_[at].id >= 0) at = (at + 1) & mask_;
    slots_[at] = {heads_[id], metas_[id], id};
  }
}

Token Table::token(int32_t id) const {
  return {arena_.data() + starts_[id], metas_[id] >> 2, metas_[id], heads_[id]};
}

PyObject* Table::word(int32_t id) const {
  const uint32_t width_log = metas_[id] & 3;
  return PyUnicode_FromKindAndData(1 << width_log, arena_.data() + starts_[id], (metas_[id] >> 2) >> width_log);
}

Interner::Interner(std::shared_ptr<const Table> base)
    : base_(std::move(base)), base_size_(base_ ? base_->size() : 0), own_(std::make_shared<Table>()) {}

Interner Interner::branch() {
  frozen_ = true;
  return Interner(own_);
}

PyObject* Interner::word(int32_t id) const {
  return id < base_size_ ? base_->word(id) : own_->word(id - base_size_);
}

int32_t Interner::intern(const Token& token) {
  if (base_) {
    const int32_t id = base_->find(token);
    if (id >= 0) return id;
  }
  return base_size_ + own_->intern(token);
}

namespace {

// Lower case within Latin-1, as Python has it.
inline uint8_t lower_latin1(uint8_t c) {
  const bool upper = (c >= 'A' && c <= 'Z') || (c >= 0xC0 && c <= 0xDE && c != 0xD7);
  return upper ? c + 32 : c;
}

// Whether a character beyond Latin-1 has a lower-case form in it: dotted I, Y with diaeresis, capital sharp s, the signs
// of kelvin and angstrom.
inline bool lowers_into_latin1(uint32_t c) {
  return c == 0x130 || c == 0x178 || c == 0x1E9E || c == 0x212A || c == 0x212B;
}

bool any_lowers_into_latin1(const Token& token) {
  const uint32_t width = 1u << (token.meta & 3);
  for (uint32_t i = 0; i < token.size; i += width) {
    uint32_t c = 0;
    if (width == 2) {
      uint16_t narrow_c;
      std::memcpy(&narrow_c, token.bytes + i, 2);
      c = narrow_c;
    } else {
      std::memcpy(&c, token.bytes + i, 4);
    }
    if (lowers_into_latin1(c)) return true;
  }
  return false;
}

}  // namespace

void Interner::flags(int32_t start, PyObject* set, std::vector<uint8_t>& out) const {
  // The words of the set that are Latin-1 go into a table; words beyond it are asked of Python, if the set has any such.
  Table latin1;
  uint32_t longest = 0;
  bool beyond = false;
  PyObject* iterator = PyObject_GetIter(set);
  if (!iterator) return;
  while (PyObject* word = PyIter_Next(iterator)) {
    if (!PyUnicode_Check(word)) {
      // No word lowers to it.
    } else if (PyUnicode_KIND(word) == PyUnicode_1BYTE_KIND) {
      const uint32_t size = static_cast<uint32_t>(PyUnicode_GET_LENGTH(word));
      latin1.intern(make_token(static_cast<const uint8_t*>(PyUnicode_DATA(word)), size, 0, false));
      longest = std::max(longest, size);
    } else {
      beyond = true;
    }
    Py_DECREF(word);
  }
  Py_DECREF(iterator);
  std::vector<uint8_t> lowered(longest + 8);
  for (int32_t id = start; id < size(); ++id) {
    const Token token = id < base_size_ ? base_->token(id) : own_->token(id - base_size_);
    bool found = false;
    if ((token.meta & 3) == 0) {
      if (token.size <= longest) {
        for (uint32_t i = 0; i < token.size; ++i) lowered[i] = lower_latin1(token.bytes[i]);
        found = latin1.find(make_token(lowered.data(), token.size, 0, true)) >= 0;
      }
    } else if (beyond || any_lowers_into_latin1(token)) {
      PyObject* original = word(id);
      PyObject* lower = PyObject_CallMethod(original, "lower", nullptr);
      found = PySet_Contains(set, lower) == 1;
      Py_DECREF(lower);
      Py_DECREF(original);
    }
    out.push_back(found);
  }
}

// One thread's share: texts in order, ids of its own that are merged afterwards in the order of the shares. First-seen
// order within a share and shares in order is first-seen order over all, so the ids do not depend on the threads.
struct Local {
  Local(const Interner& owner) : owner(owner) {}

  int32_t intern(const Token& token) {
    if (owner.base_) {
      const int32_t id = owner.base_->find(token);
      if (id >= 0) return id;
    }
    return owner.base_size_ + words.intern(token);
  }

  const Interner& owner;
  Table words;
  std::vector<int32_t> ids;
};

int64_t Interner::encode(const std::vector<PyObject*>& texts, Splitting splitting, int jobs, Ragged& out) {
  const int64_t n = static_cast<int64_t>(texts.size());
  out.offsets.assign(n + 1, 0);
  const int64_t shares = std::max<int64_t>(1, std::min<int64_t>(jobs, n / 1024));
  std::vector<int64_t> first_unspaced(shares, -1);
  auto run = [&](int64_t share, auto& ids, auto&& intern_one) {
    std::vector<uint8_t> buffer;
    size_t characters = 0;
    for (int64_t i = n * share / shares; i < n * (share + 1) / shares; ++i) characters += PyUnicode_GET_LENGTH(texts[i]);
    ids.reserve(characters / 2 + 16);
    for (int64_t i = n * share / shares; i < n * (share + 1) / shares; ++i) {
      const bool unspaced = split_any(splitting, texts[i], buffer, [&](const Token& token) { ids.push_back(intern_one(token)); });
      if (splitting == Splitting::kWords && unspaced && first_unspaced[share] < 0) first_unspaced[share] = i;
      out.offsets[i + 1] = static_cast<int64_t>(ids.size());
    }
  };
  if (shares == 1) {
    run(0, out.ids, [&](const Token& token) { return intern(token); });
    return first_unspaced[0];
  }
  std::vector<std::unique_ptr<Local>> locals;
  for (int64_t share = 0; share < shares; ++share) locals.push_back(std::make_unique<Local>(*this));
  for_each_block(
      shares, jobs, [] { return 0; },
      [&](int, int64_t share) {
        Local& local = *locals[share];
        run(share, local.ids, [&](const Token& token) { return local.intern(token); });
      });
  for (int64_t share = 0; share < shares; ++share) {
    Local& local = *locals[share];
    std::vector<int32_t> merged(local.words.size());
    for (int32_t id = 0; id < local.words.size(); ++id) merged[id] = intern(local.words.token(id));
    const int64_t before = static_cast<int64_t>(out.ids.size());
    for (int32_t id : local.ids) out.ids.push_back(id < base_size_ ? id : merged[id - base_size_]);
    for (int64_t i = n * share / shares; i < n * (share + 1) / shares; ++i) out.offsets[i + 1] += before;
  }
  for (int64_t first : first_unspaced) {
    if (first >= 0) return first;
  }
  return -1;
}

void Interner::encode_tokens(const std::vector<PyObject*>& tokens, Ragged& out) {
  std::vector<uint8_t> buffer;
  out.ids.reserve(tokens.size());
  for (PyObject* token : tokens) {
    const uint32_t width_log = PyUnicode_KIND(token) == 1 ? 0 : PyUnicode_KIND(token) == 2 ? 1 : 2;
    const uint32_t size = static_cast<uint32_t>(PyUnicode_GET_LENGTH(token)) << width_log;
    out.ids.push_back(intern(make_token(static_cast<const uint8_t*>(PyUnicode_DATA(token)), size, width_log, size == 8)));
  }
}

}  // namespace postil
