// What the loops trust: numbers that come from outside are looked at once, in a pass that needs no branch, before anything
// is read by them. Each returns at once by an exception that Python sees as a ValueError.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <stdexcept>

#include "overlap.hpp"

namespace postil {

inline void require(bool right, const char* what) {
  if (!right) throw std::invalid_argument(what);
}

// Offsets begin with 0, do not fall and end with `end`.
inline void check_offsets(Span<int64_t> offsets, int64_t end, const char* what) {
  require(offsets.size > 0 && offsets[0] == 0 && offsets[offsets.size - 1] == end, what);
  uint64_t signs = 0;  // the highest bit: a negative offset, or one below that before it
  for (int64_t i = 1; i < offsets.size; ++i) {
    const uint64_t at = static_cast<uint64_t>(offsets[i]);
    signs |= at | (at - static_cast<uint64_t>(offsets[i - 1]));
  }
  require(signs >> 63 == 0, what);
}

// Places are from 0 to `end`, without it.
inline void check_places(const int32_t* places, int64_t count, int64_t end, const char* what) {
  const uint32_t last = static_cast<uint32_t>(std::min<int64_t>(end, int64_t{1} << 31) - 1);
  uint32_t signs = end > 0 || count == 0 ? 0 : ~0u;
  for (int64_t i = 0; i < count; ++i) signs |= static_cast<uint32_t>(places[i]) | (last - static_cast<uint32_t>(places[i]));
  require(signs >> 31 == 0, what);
}
inline void check_places(Span<int32_t> places, int64_t end, const char* what) {
  check_places(places.data, places.size, end, what);
}

// The same, and each is above that before it.
inline void check_rising(const int32_t* places, int64_t count, int64_t end, const char* what) {
  check_places(places, count, end, what);
  uint32_t signs = 0;
  for (int64_t i = 1; i < count; ++i) signs |= static_cast<uint32_t>(places[i]) - static_cast<uint32_t>(places[i - 1]) - 1;
  require(signs >> 31 == 0, what);
}

// Words are numbered from 0, and texts stand behind one another in `ids`.
inline void check_texts(const Texts& texts, const char* what) {
  check_offsets(texts.offsets, texts.ids.size, what);
  check_places(texts.ids, int64_t{1} << 31, what);
}

// A number as an integer type holds it; the highest that it holds where there is no such number.
template <class T>
T capped(double value, double most = static_cast<double>(std::numeric_limits<T>::max())) {
  return value < most ? static_cast<T>(std::max(value, 0.0)) : static_cast<T>(most);
}

}  // namespace postil
