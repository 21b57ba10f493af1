#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "kernels.hpp"

namespace postil {
namespace {

constexpr size_t kFew = 16;  // so many keys are compared one by one; more are hashed

int hex(char c) { return c <= '9' ? c - '0' : (c | 32) - 'a' + 10; }

void put_utf8(std::string& out, unsigned code) {
  const auto put = [&](unsigned byte) { out.push_back(static_cast<char>(byte)); };
  if (code < 0x80) return put(code);
  if (code < 0x800) {
    put(0xC0 | code >> 6);
  } else {
    if (code < 0x10000) {
      put(0xE0 | code >> 12);
    } else {
      put(0xF0 | code >> 18), put(0x80 | (code >> 12 & 63));
    }
    put(0x80 | (code >> 6 & 63));
  }
  put(0x80 | (code & 63));
}

// What a string in JSON says, without its quotes; `raw` has a backslash in it.
std::string unescaped(std::string_view raw) {
  std::string out;
  const auto unit = [&](size_t at) {  // of a \u whose four digits begin there
    unsigned code = 0;
    for (size_t k = at; k < at + 4 && k < raw.size(); ++k) code = code << 4 | (hex(raw[k]) & 15);
    return code;
  };
  for (size_t i = 0; i < raw.size(); ++i) {
    if (raw[i] != '\\' || i + 1 == raw.size()) {
      out.push_back(raw[i]);
      continue;
    }
    const char kind = raw[++i];
    if (kind != 'u') {
      constexpr std::string_view from = "bfnrt", to = "\b\f\n\r\t";
      const size_t which = from.find(kind);
      out.push_back(which == from.npos ? kind : to[which]);
      continue;
    }
    unsigned code = unit(i + 1);
    i += 4;
    if (code >> 10 == 0xD800 >> 10 && raw.substr(std::min(i + 1, raw.size()), 2) == "\\u") {
      const unsigned low = unit(i + 3);
      if (low >> 10 == 0xDC00 >> 10) code = 0x10000 + ((code & 0x3FF) << 10 | (low & 0x3FF)), i += 6;
    }
    put_utf8(out, code);
  }
  return out;
}

// The keys of an object whose end has not come.
struct Open {
  std::vector<std::string_view> keys;
  std::unordered_set<std::string_view> many;
  uint64_t seen = 0;  // a bit for what a key looks like; where it is not set, the key is new

  void clear() {
    keys.clear(), seen = 0;
    if (!many.empty()) many.clear();
  }

  bool repeats(std::string_view key) {
    const auto at = [&](size_t k) { return static_cast<unsigned char>(key[k]); };
    const unsigned look = key.empty() ? 0 : static_cast<unsigned>(key.size()) * 7 + at(0) * 3 + at(key.size() - 1);
    const uint64_t bit = uint64_t{1} << (look & 63);
    if (keys.size() >= kFew) {
      if (many.empty()) many.insert(keys.begin(), keys.end());
      return !many.insert(key).second;
    }
    if (seen & bit) {
      for (std::string_view before : keys) {
        if (before == key) return true;
      }
    }
    seen |= bit;
    keys.push_back(key);
    return false;
  }
};

}  // namespace

bool plain_objects(const char* data, int64_t size) {
  std::vector<Open> objects;  // kept for the next lines, so that nothing is allocated for most of them
  size_t depth = 0, begun = 0;  // objects that are open; objects of this line
  std::vector<std::unique_ptr<std::string>> unescaped_keys;
  const char* const end = data + size;
  for (const char* p = data; p < end; ++p) {
    switch (*p) {
      case '"': {
        const char* const begin = p + 1;
        for (p = begin;; ++p) {
          p = static_cast<const char*>(std::memchr(p, '"', end - p));
          if (p == nullptr) return false;
          const char* back = p;
          while (back > begin && back[-1] == '\\') --back;
          if ((p - back) % 2 == 0) break;
        }
        const char* after = p + 1;
        while (after < end && (*after == ' ' || *after == '\t' || *after == '\r')) ++after;
        if (after == end || *after != ':' || depth == 0) break;
        std::string_view key(begin, p - begin);
        if (key.find('\\') != key.npos) key = *unescaped_keys.emplace_back(std::make_unique<std::string>(unescaped(key)));
        if (objects[depth - 1].repeats(key)) return false;
        p = after;
        break;
      }
      case '{':
        if (depth == 0 && ++begun > 1) return false;
        if (depth == objects.size()) objects.emplace_back();
        objects[depth++].clear();
        break;
      case '}':
        depth -= depth > 0;
        break;
      case '\n':
        if (depth > 0 || begun != 1) return false;
        begun = 0;
        unescaped_keys.clear();
        break;
      case '[':
        if (depth == 0) return false;
        break;
      default:
        break;
    }
  }
  return depth == 0 && begun == (size > 0 && end[-1] != '\n');
}

}  // namespace postil
