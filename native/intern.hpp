// Words become numbers: a hash table from the characters of a token to its id.
#pragma once

#include <Python.h>

#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "memory.hpp"

namespace postil {

// A token in its narrowest form: 1, 2 or 4 bytes a character, as Python itself stores text.
// Tokens of at most eight bytes live in `head`; of longer ones `head` is the hash.
struct Token {
  const uint8_t* bytes;
  uint32_t size;  // in bytes
  uint32_t meta;  // size * 4 + log2(width): together with head tells almost all tokens apart
  uint64_t head;
};

class Table {
 public:
  Table();
  int32_t find(const Token& token) const;  // id, or -1
  int32_t intern(const Token& token);      // id, new if need be
  int32_t size() const { return static_cast<int32_t>(metas_.size()); }
  Token token(int32_t id) const;
  PyObject* word(int32_t id) const;  // new reference

 private:
  struct Slot {
    uint64_t head;
    uint32_t meta;
    int32_t id;
  };
  size_t home(const Token& token) const;
  bool same(const Slot& slot, const Token& token) const;
  void grow();

  Large<Slot> slots_;
  size_t mask_;
  std::vector<uint8_t> arena_;
  std::vector<uint64_t> starts_;
  std::vector<uint32_t> metas_;
  std::vector<uint64_t> heads_;
};

// kWords: runs of letters, digits and _, which combining marks go on with. kRouge: runs of a to z and digits. kUnspaced:
// characters of scripts without spaces (Han, kana, Thai) one by one, and runs of other letters and digits with marks.
// kEveryCharacter: white space too. kMarks: at white space, and a punctuation mark at the end of a word, else at its begin,
// is a token of its own.
enum class Splitting { kSpace, kWords, kCharacters, kRouge, kUnspaced, kEveryCharacter, kMarks };

// The combining marks, a str, which kWords and kUnspaced need for texts beyond Latin-1. Needs the lock, while nothing is
// being split.
bool has_marks();
void set_marks(PyObject* marks);

// Ragged ids: text i is ids[offsets[i] .. offsets[i + 1]].
struct Ragged {
  Large<int32_t> ids;
  std::vector<int64_t> offsets;
};

// An interner, or a branch of one: a branch sees the words of its base and adds its own behind them, and can be
// thrown away. So a stream of candidates never makes the table of the references grow.
class Interner {
 public:
  explicit Interner(std::shared_ptr<const Table> base = nullptr);

  int32_t size() const { return base_size_ + own_->size(); }
  bool frozen() const { return frozen_; }
  bool is_branch() const { return base_ != nullptr; }
  Interner branch();
  PyObject* word(int32_t id) const;

  // For each word from id `start` on whether its lower-case form is in `set`, a Python set of str. Needs the lock.
  void flags(int32_t start, PyObject* set, std::vector<uint8_t>& out) const;

  // Text of one kind of splitting. Returns the index of the first text in a script without spaces where words were asked,
  // or -1.
  int64_t encode(const std::vector<PyObject*>& texts, Splitting splitting, int jobs, Ragged& out);
  // Texts that are already lists of tokens.
  void encode_tokens(const std::vector<PyObject*>& tokens, Ragged& out);

 private:
  friend struct Local;
  int32_t intern(const Token& token);

  std::shared_ptr<const Table> base_;
  int32_t base_size_;
  std::shared_ptr<Table> own_;
  bool frozen_ = false;
};

}  // namespace postil
