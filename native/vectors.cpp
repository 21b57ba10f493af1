#include "vectors.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "checks.hpp"

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#define POSTIL_X86 1
#endif

namespace postil {
namespace {

constexpr int kLanes = 16;           // units of a panel, whose vectors are stored dimension by dimension
constexpr int64_t kPacked = 1 << 18;  // numbers that are packed together, unless one text has more: they fit in the cache
constexpr int64_t kPairs = 1024;     // most pairs of one block of work, which packs its texts once
constexpr int64_t kPacking = 20;     // packing a unit takes about as long as its products with so many units
constexpr float kLowest = -std::numeric_limits<float>::infinity();
constexpr float kSame = 1.0f - 2e-6f;  // from here on a product is that of a vector with itself, less rounding

// Lanes [first, last) of a panel that hold units of one of the texts that are packed together.
struct Segment {
  int64_t text;
  int first, last;
};

// Where a tile puts the highest product of each row with each text, and of each lane.
struct Best {
  float* rows;     // of text t and row r: rows[t * stride + r]
  int64_t stride;
  float* lanes;
};

// The products of some rows with one panel or two neighbors: maxima that are above what is there. `rows` are pointers to
// vectors; the segments of panel p are segments[ends[p] .. ends[p + 1]].
using Tile = void (*)(const float* const* rows, const float* panels, int64_t d, const Segment* segments,
                      const int64_t* ends, const Best& best);
struct Tiles {
  int rows, few;  // of a tile, and of one for the last rows
  Tile one, two, few_one, few_two;
};

// Maxima of the sums of a row and a panel.
inline void reduce(const float* sums, int row, int panel, const Segment* segments, const int64_t* ends, const Best& best) {
  for (int lane = 0; lane < kLanes; ++lane) {
    float& of_lane = best.lanes[panel * kLanes + lane];
    of_lane = std::max(of_lane, sums[lane]);
  }
  for (int64_t s = ends[panel]; s < ends[panel + 1]; ++s) {
    float& of_row = best.rows[segments[s].text * best.stride + row];
    for (int lane = segments[s].first; lane < segments[s].last; ++lane) of_row = std::max(of_row, sums[lane]);
  }
}

// One accumulator for each product, so that its terms are added in the order of the dimensions.
template <int R, int P>
void portable(const float* const* rows, const float* panels, int64_t d, const Segment* segments, const int64_t* ends,
              const Best& best) {
  for (int p = 0; p < P; ++p) {
    float sums[R][kLanes] = {};
    const float* at = panels + p * d * kLanes;
    for (int64_t k = 0; k < d; ++k, at += kLanes) {
      for (int r = 0; r < R; ++r) {
        const float x = rows[r][k];
#ifdef __FP_FAST_FMAF
        for (int lane = 0; lane < kLanes; ++lane) sums[r][lane] = std::fma(x, at[lane], sums[r][lane]);
#else
        for (int lane = 0; lane < kLanes; ++lane) sums[r][lane] += x * at[lane];
#endif
      }
    }
    for (int r = 0; r < R; ++r) reduce(sums[r], r, p, segments, ends, best);
  }
}

#ifdef POSTIL_X86
template <int R, int P>
__attribute__((target("avx512f"))) void avx512(const float* const* rows, const float* panels, int64_t d,
                                               const Segment* segments, const int64_t* ends, const Best& best) {
  __m512 sums[R][P];
  for (int r = 0; r < R; ++r) {
    for (int p = 0; p < P; ++p) sums[r][p] = _mm512_setzero_ps();
  }
  const float* row[R];
  for (int r = 0; r < R; ++r) row[r] = rows[r];
  const float* at = panels;
  const int64_t next = d * kLanes;
  for (int64_t k = 0; k < d; ++k, at += kLanes) {
    __m512 panel[P];
    for (int p = 0; p < P; ++p) panel[p] = _mm512_loadu_ps(at + p * next);
    for (int r = 0; r < R; ++r) {
      const __m512 x = _mm512_set1_ps(row[r][k]);
      for (int p = 0; p < P; ++p) sums[r][p] = _mm512_fmadd_ps(x, panel[p], sums[r][p]);
    }
  }
  for (int p = 0; p < P; ++p) {
    __m512 highest = _mm512_loadu_ps(best.lanes + p * kLanes);
    for (int r = 0; r < R; ++r) highest = _mm512_max_ps(highest, sums[r][p]);
    _mm512_storeu_ps(best.lanes + p * kLanes, highest);
    for (int64_t s = ends[p]; s < ends[p + 1]; ++s) {
      const __mmask16 lanes = static_cast<__mmask16>((1u << segments[s].last) - (1u << segments[s].first));
      float* of_rows = best.rows + segments[s].text * best.stride;
      for (int r = 0; r < R; ++r) of_rows[r] = std::max(of_rows[r], _mm512_mask_reduce_max_ps(lanes, sums[r][p]));
    }
  }
}

template <int R, int P>
__attribute__((target("avx2,fma"))) void avx2(const float* const* rows, const float* panels, int64_t d,
                                              const Segment* segments, const int64_t* ends, const Best& best) {
  for (int p = 0; p < P; ++p) {
    __m256 low[R], high[R];
    for (int r = 0; r < R; ++r) low[r] = high[r] = _mm256_setzero_ps();
    const float* row[R];
    for (int r = 0; r < R; ++r) row[r] = rows[r];
    const float* at = panels + p * d * kLanes;
    for (int64_t k = 0; k < d; ++k, at += kLanes) {
      const __m256 first = _mm256_loadu_ps(at), second = _mm256_loadu_ps(at + 8);
      for (int r = 0; r < R; ++r) {
        const __m256 x = _mm256_broadcast_ss(row[r] + k);
        low[r] = _mm256_fmadd_ps(x, first, low[r]);
        high[r] = _mm256_fmadd_ps(x, second, high[r]);
      }
    }
    for (int r = 0; r < R; ++r) {
      float sums[kLanes];
      _mm256_storeu_ps(sums, low[r]);
      _mm256_storeu_ps(sums + 8, high[r]);
      reduce(sums, r, p, segments, ends, best);
    }
  }
}
#endif

Tiles fastest_tiles() {
#ifdef POSTIL_X86
  if (__builtin_cpu_supports("avx512f")) return {8, 4, avx512<8, 1>, avx512<8, 2>, avx512<4, 1>, avx512<4, 2>};
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    return {6, 3, avx2<6, 1>, avx2<6, 2>, avx2<3, 1>, avx2<3, 2>};
  }
#endif
  return {4, 2, portable<4, 1>, portable<4, 2>, portable<2, 1>, portable<2, 2>};
}

// Texts whose units stand side by side in panels [lanes / 16][d][16]. The last panel is filled up with the last unit.
struct Panels {
  std::vector<float> values;
  std::vector<int64_t> begins;  // the lane of each text's first unit, and one more
  std::vector<Segment> segments;
  std::vector<int64_t> ends;    // of the segments of each panel, after a 0

  void pack(const UnitTexts& texts, const int32_t* chosen, int64_t count) {
    const int64_t d = texts.d;
    begins.assign(1, 0);
    segments.clear();
    ends.assign(1, 0);
    units_.clear();
    for (int64_t t = 0; t < count; ++t) {
      for (int64_t u = 0; u < texts.length(chosen[t]); ++u) {
        const int lane = static_cast<int>(units_.size() % kLanes);
        if (lane == 0) ends.push_back(ends.back());
        if (lane == 0 || u == 0) {
          segments.push_back({t, lane, lane});
          ++ends.back();
        }
        ++segments.back().last;
        units_.push_back(texts.vector(texts.begin(chosen[t]) + u));
      }
      begins.push_back(static_cast<int64_t>(units_.size()));
    }
    while (units_.size() % kLanes != 0) units_.push_back(units_.back());
    values.resize(units_.size() * static_cast<size_t>(d));
    for (size_t first = 0; first < units_.size(); first += kLanes) pack_panel(units_.data() + first, d, first);
  }
  int64_t lanes() const { return static_cast<int64_t>(units_.size()); }

 private:
  void pack_panel(const float* const* units, int64_t d, size_t first) {
    float* at = values.data() + first * static_cast<size_t>(d);
    int64_t k = 0;
#ifdef POSTIL_X86
    for (; k + 4 <= d; k += 4) {
      for (int lane = 0; lane < kLanes; lane += 4) {
        __m128 a = _mm_loadu_ps(units[lane] + k), b = _mm_loadu_ps(units[lane + 1] + k);
        __m128 c = _mm_loadu_ps(units[lane + 2] + k), e = _mm_loadu_ps(units[lane + 3] + k);
        _MM_TRANSPOSE4_PS(a, b, c, e);
        float* to = at + k * kLanes + lane;
        _mm_storeu_ps(to, a);
        _mm_storeu_ps(to + kLanes, b);
        _mm_storeu_ps(to + 2 * kLanes, c);
        _mm_storeu_ps(to + 3 * kLanes, e);
      }
    }
#endif
    for (; k < d; ++k) {
      for (int lane = 0; lane < kLanes; ++lane) at[k * kLanes + lane] = units[lane][k];
    }
  }

  std::vector<const float*> units_;
};

double weighted_mean(const float* values, Span<double> weights, int64_t begin, int64_t n) {
  double sum = 0, total = 0;
  for (int64_t i = 0; i < n; ++i) {
    sum += weights[begin + i] * (values[i] >= kSame ? 1.0 : static_cast<double>(values[i]));
    total += weights[begin + i];
  }
  return total > 0 ? sum / total : 0.0;
}

// One thread's memory.
class Matcher {
 public:
  Matcher(const UnitTexts& packed, const UnitTexts& other, const Tiles& tiles)
      : packed_(packed), other_(other), tiles_(tiles) {}

  void take(const int32_t* texts, int64_t count) {
    texts_ = texts;
    count_ = count;
    panels_.pack(packed_, texts, count);
  }
  // write(t, mean of the packed text t, mean of the other) for each text that was taken.
  template <class Write>
  void match(int64_t with, Write write) {
    const int64_t n = other_.length(with), d = other_.d, lanes = panels_.lanes();
    const int64_t stride = n + tiles_.rows;
    rows_.resize(static_cast<size_t>(stride));
    for (int64_t i = 0; n > 0 && i < stride; ++i) rows_[i] = other_.vector(other_.begin(with) + std::min(i, n - 1));
    of_rows_.assign(static_cast<size_t>(stride * count_), kLowest);
    of_lanes_.assign(static_cast<size_t>(lanes), kLowest);
    for (int64_t first = 0; first < lanes;) {
      const bool two = first + 2 * kLanes <= lanes;
      const int64_t* const ends = panels_.ends.data() + first / kLanes;
      for (int64_t i = 0; i < n;) {
        const bool few = n - i <= tiles_.few;
        const Tile tile = few ? (two ? tiles_.few_two : tiles_.few_one) : (two ? tiles_.two : tiles_.one);
        tile(rows_.data() + i, panels_.values.data() + first * d, d, panels_.segments.data(), ends,
             {of_rows_.data() + i, stride, of_lanes_.data() + first});
        i += few ? tiles_.few : tiles_.rows;
      }
      first += two ? 2 * kLanes : kLanes;
    }
    for (int64_t t = 0; t < count_; ++t) {
      const int64_t units = packed_.length(texts_[t]);
      if (n == 0 || units == 0) {
        write(t, 0.0, 0.0);
        continue;
      }
      write(t, weighted_mean(of_lanes_.data() + panels_.begins[t], packed_.weights, packed_.begin(texts_[t]), units),
            weighted_mean(of_rows_.data() + t * stride, other_.weights, other_.begin(with), n));
    }
  }

 private:
  const UnitTexts& packed_;
  const UnitTexts& other_;
  const Tiles& tiles_;
  const int32_t* texts_ = nullptr;
  int64_t count_ = 0;
  Panels panels_;
  std::vector<float> of_rows_, of_lanes_;
  std::vector<const float*> rows_;
};

// The cost of all pairs if the texts of one side are packed: a tile takes rows by fours.
int64_t cost(const UnitTexts& packed, const UnitTexts& other, Span<int32_t> of_packed, Span<int32_t> of_other) {
  int64_t sum = 0;
  std::vector<bool> met(static_cast<size_t>(packed.count()));
  for (int64_t pair = 0; pair < of_packed.size; ++pair) {
    const int64_t text = of_packed[pair], rows = (other.length(of_other[pair]) + 3) / 4 * 4;
    sum += packed.length(text) * (rows + (met[text] ? 0 : kPacking));
    met[text] = true;
  }
  return sum;
}

// Packed texts, those with the same other texts together, and their pairs.
struct Work {
  std::vector<int64_t> ends, order;  // pairs of each text: order[ends[text] .. ends[text + 1]]
  std::vector<int32_t> texts;        // those with pairs, in groups
  struct Block {
    int64_t first, count;  // texts
    int64_t begin, end;    // the pairs of each of them
  };
  std::vector<Block> blocks;

  Work(const UnitTexts& packed, Span<int32_t> of_packed, Span<int32_t> of_other)
      : ends(static_cast<size_t>(packed.count() + 1)), order(static_cast<size_t>(of_packed.size)) {
    for (int64_t pair = 0; pair < of_packed.size; ++pair) ++ends[of_packed[pair] + 1];
    for (int64_t text = 0; text < packed.count(); ++text) {
      if (ends[text + 1] > 0) texts.push_back(static_cast<int32_t>(text));
      ends[text + 1] += ends[text];
    }
    std::vector<int64_t> next(ends.begin(), ends.end() - 1);
    for (int64_t pair = 0; pair < of_packed.size; ++pair) order[next[of_packed[pair]]++] = pair;
    const auto other = [&](int32_t text, int64_t place) { return of_other[order[ends[text] + place]]; };
    std::stable_sort(texts.begin(), texts.end(), [&](int32_t a, int32_t b) { return other(a, 0) < other(b, 0); });
    const auto alike = [&](int32_t a, int32_t b) {
      const int64_t n = pairs(a);
      if (pairs(b) != n) return false;
      for (int64_t place = 0; place < n; ++place) {
        if (other(a, place) != other(b, place)) return false;
      }
      return true;
    };
    const int64_t count = static_cast<int64_t>(texts.size()), most = kPacked / std::max<int64_t>(packed.d, 1);
    for (int64_t first = 0, last; first < count; first = last) {
      int64_t units = packed.length(texts[first]);
      for (last = first + 1; last < count && alike(texts[first], texts[last]); ++last) {
        if ((units += packed.length(texts[last])) > most || last - first >= kPairs) break;
      }
      const int64_t n = pairs(texts[first]), step = std::max<int64_t>(1, kPairs / (last - first));
      for (int64_t begin = 0; begin < n; begin += step) {
        blocks.push_back({first, last - first, begin, std::min(begin + step, n)});
      }
    }
  }
  int64_t pairs(int32_t text) const { return ends[text + 1] - ends[text]; }
};

void check(const UnitTexts& texts, Span<int32_t> of_pairs) {
  const char* const what = "expected a row and a weight of each unit, and offsets of the units of texts";
  require(texts.rows.size == texts.weights.size, what);
  check_offsets(texts.offsets, texts.rows.size, what);
  check_places(texts.rows, texts.k, what);
  check_places(of_pairs, texts.count(), "expected pairs of texts");
}

}  // namespace

void greedy_matches(const UnitTexts& left, const UnitTexts& right, Span<int32_t> lefts, Span<int32_t> rights, int jobs,
                    double* out) {
  require(left.d == right.d, "expected vectors of the same length on both sides");
  require(lefts.size == rights.size, "expected pairs of texts");
  check(left, lefts);
  check(right, rights);
  const bool swapped = cost(left, right, lefts, rights) < cost(right, left, rights, lefts);
  const UnitTexts &packed = swapped ? left : right, &other = swapped ? right : left;
  const Span<int32_t> of_packed = swapped ? lefts : rights, of_other = swapped ? rights : lefts;
  const Work work(packed, of_packed, of_other);
  static const Tiles tiles = fastest_tiles();
  for_each_block(
      static_cast<int64_t>(work.blocks.size()), jobs, [&] { return Matcher(packed, other, tiles); },
      [&](Matcher& matcher, int64_t number) {
        const Work::Block& block = work.blocks[number];
        const int32_t* const texts = work.texts.data() + block.first;
        matcher.take(texts, block.count);
        for (int64_t place = block.begin; place < block.end; ++place) {
          matcher.match(of_other[work.order[work.ends[texts[0]] + place]], [&](int64_t t, double of_text, double of_with) {
            double* const row = out + 2 * work.order[work.ends[texts[t]] + place];
            row[0] = swapped ? of_text : of_with;
            row[1] = swapped ? of_with : of_text;
          });
        }
      });
}

}  // namespace postil
