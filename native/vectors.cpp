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

constexpr int kLanes = 16;         // units of a panel, whose vectors are stored dimension by dimension
constexpr int64_t kPairs = 1024;   // most pairs of one block of work, which packs its text once
constexpr int64_t kPacking = 20;   // packing a unit takes about as long as its products with so many units
constexpr float kLowest = -std::numeric_limits<float>::infinity();

// The products of some rows with one panel or two neighbors: of each row and of each lane the highest, if it is above
// what is there. `rows` are pointers to vectors.
using Tile = void (*)(const float* const* rows, const float* panels, int64_t d, float* of_rows, float* of_lanes);
struct Tiles {
  int rows, few;  // of a tile, and of one for the last rows
  Tile one, two, few_one, few_two;
};

// One accumulator for each product, so that its terms are added in the order of the dimensions.
template <int R, int P>
void portable(const float* const* rows, const float* panels, int64_t d, float* of_rows, float* of_lanes) {
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
    for (int r = 0; r < R; ++r) {
      for (int lane = 0; lane < kLanes; ++lane) {
        of_rows[r] = std::max(of_rows[r], sums[r][lane]);
        of_lanes[p * kLanes + lane] = std::max(of_lanes[p * kLanes + lane], sums[r][lane]);
      }
    }
  }
}

#ifdef POSTIL_X86
template <int R, int P>
__attribute__((target("avx512f"))) void avx512(const float* const* rows, const float* panels, int64_t d, float* of_rows,
                                               float* of_lanes) {
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
    __m512 best = _mm512_loadu_ps(of_lanes + p * kLanes);
    for (int r = 0; r < R; ++r) best = _mm512_max_ps(best, sums[r][p]);
    _mm512_storeu_ps(of_lanes + p * kLanes, best);
  }
  for (int r = 0; r < R; ++r) {
    __m512 best = sums[r][0];
    for (int p = 1; p < P; ++p) best = _mm512_max_ps(best, sums[r][p]);
    of_rows[r] = std::max(of_rows[r], _mm512_reduce_max_ps(best));
  }
}

template <int R, int P>
__attribute__((target("avx2,fma"))) void avx2(const float* const* rows, const float* panels, int64_t d, float* of_rows,
                                              float* of_lanes) {
  for (int panel = 0; panel < P; ++panel) {
    __m256 low[R], high[R];
    for (int r = 0; r < R; ++r) low[r] = high[r] = _mm256_setzero_ps();
    const float* row[R];
    for (int r = 0; r < R; ++r) row[r] = rows[r];
    const float* at = panels + panel * d * kLanes;
    for (int64_t k = 0; k < d; ++k, at += kLanes) {
      const __m256 first = _mm256_loadu_ps(at), second = _mm256_loadu_ps(at + 8);
      for (int r = 0; r < R; ++r) {
        const __m256 x = _mm256_broadcast_ss(row[r] + k);
        low[r] = _mm256_fmadd_ps(x, first, low[r]);
        high[r] = _mm256_fmadd_ps(x, second, high[r]);
      }
    }
    float* lanes = of_lanes + panel * kLanes;
    __m256 best_low = _mm256_loadu_ps(lanes), best_high = _mm256_loadu_ps(lanes + 8);
    for (int r = 0; r < R; ++r) {
      best_low = _mm256_max_ps(best_low, low[r]);
      best_high = _mm256_max_ps(best_high, high[r]);
      float each[8];
      _mm256_storeu_ps(each, _mm256_max_ps(low[r], high[r]));
      for (const float value : each) of_rows[r] = std::max(of_rows[r], value);
    }
    _mm256_storeu_ps(lanes, best_low);
    _mm256_storeu_ps(lanes + 8, best_high);
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

int64_t in_lanes(int64_t units) { return (units + kLanes - 1) / kLanes * kLanes; }

// The vectors of a text's units in panels [lanes / 16][d][16]. The last panel is filled up with the last unit, which
// changes no maximum.
void pack(const UnitTexts& texts, int64_t text, std::vector<float>& panels) {
  const int64_t n = texts.length(text), d = texts.d, lanes = in_lanes(n);
  panels.resize(static_cast<size_t>(lanes * d));
  const float* rows[kLanes];
  for (int64_t first = 0; first < lanes; first += kLanes) {
    for (int64_t lane = 0; lane < kLanes; ++lane) {
      rows[lane] = texts.vector(texts.begin(text) + std::min(first + lane, n - 1));
    }
    float* at = panels.data() + first * d;
    int64_t k = 0;
#ifdef POSTIL_X86
    for (; k + 4 <= d; k += 4) {
      for (int lane = 0; lane < kLanes; lane += 4) {
        __m128 a = _mm_loadu_ps(rows[lane] + k), b = _mm_loadu_ps(rows[lane + 1] + k);
        __m128 c = _mm_loadu_ps(rows[lane + 2] + k), e = _mm_loadu_ps(rows[lane + 3] + k);
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
      for (int lane = 0; lane < kLanes; ++lane) at[k * kLanes + lane] = rows[lane][k];
    }
  }
}

double weighted_mean(const float* values, Span<double> weights, int64_t begin, int64_t n) {
  double sum = 0, total = 0;
  for (int64_t i = 0; i < n; ++i) {
    sum += weights[begin + i] * static_cast<double>(values[i]);
    total += weights[begin + i];
  }
  return total > 0 ? sum / total : 0.0;
}

// One thread's memory.
class Matcher {
 public:
  Matcher(const UnitTexts& packed, const UnitTexts& other, const Tiles& tiles)
      : packed_(packed), other_(other), tiles_(tiles) {}

  void take(int64_t text) {
    text_ = text;
    units_ = packed_.length(text);
    pack(packed_, text, panels_);
  }
  // The means of the packed text that was taken, and of another.
  std::pair<double, double> match(int64_t with) {
    const int64_t n = other_.length(with), d = other_.d, lanes = in_lanes(units_);
    if (n == 0 || units_ == 0) return {0.0, 0.0};
    const int64_t most = n + tiles_.rows;
    rows_.resize(static_cast<size_t>(most));
    for (int64_t i = 0; i < most; ++i) rows_[i] = other_.vector(other_.begin(with) + std::min(i, n - 1));
    of_rows_.assign(static_cast<size_t>(most), kLowest);
    of_lanes_.assign(static_cast<size_t>(lanes), kLowest);
    for (int64_t first = 0; first < lanes;) {
      const bool two = first + 2 * kLanes <= lanes;
      const float* const panels = panels_.data() + first * d;
      for (int64_t i = 0; i < n;) {
        const bool few = n - i <= tiles_.few;
        const Tile tile = few ? (two ? tiles_.few_two : tiles_.few_one) : (two ? tiles_.two : tiles_.one);
        tile(rows_.data() + i, panels, d, of_rows_.data() + i, of_lanes_.data() + first);
        i += few ? tiles_.few : tiles_.rows;
      }
      first += two ? 2 * kLanes : kLanes;
    }
    return {weighted_mean(of_lanes_.data(), packed_.weights, packed_.begin(text_), units_),
            weighted_mean(of_rows_.data(), other_.weights, other_.begin(with), n)};
  }

 private:
  const UnitTexts& packed_;
  const UnitTexts& other_;
  const Tiles& tiles_;
  int64_t text_ = 0, units_ = 0;
  std::vector<float> panels_, of_rows_, of_lanes_;
  std::vector<const float*> rows_;
};

// The cost of all pairs if the texts of one side are packed.
int64_t cost(const UnitTexts& packed, const UnitTexts& other, Span<int32_t> of_packed, Span<int32_t> of_other) {
  int64_t sum = 0;
  std::vector<bool> met(static_cast<size_t>(packed.count()));
  for (int64_t pair = 0; pair < of_packed.size; ++pair) {
    const int64_t text = of_packed[pair], lanes = in_lanes(packed.length(text));
    sum += lanes * (other.length(of_other[pair]) + (met[text] ? 0 : kPacking));
    met[text] = true;
  }
  return sum;
}

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
  // Pairs by packed text, in blocks of work.
  std::vector<int64_t> ends(static_cast<size_t>(packed.count() + 1)), order(static_cast<size_t>(lefts.size)), starts;
  for (int64_t pair = 0; pair < lefts.size; ++pair) ++ends[of_packed[pair] + 1];
  for (int64_t text = 0; text < packed.count(); ++text) {
    for (int64_t done = 0; done < ends[text + 1]; done += kPairs) starts.push_back(ends[text] + done);
    ends[text + 1] += ends[text];
  }
  starts.push_back(lefts.size);
  std::vector<int64_t> next(ends.begin(), ends.end() - 1);
  for (int64_t pair = 0; pair < lefts.size; ++pair) order[next[of_packed[pair]]++] = pair;
  static const Tiles tiles = fastest_tiles();
  for_each_block(
      static_cast<int64_t>(starts.size()) - 1, jobs, [&] { return Matcher(packed, other, tiles); },
      [&](Matcher& matcher, int64_t block) {
        matcher.take(of_packed[order[starts[block]]]);
        for (int64_t place = starts[block]; place < starts[block + 1]; ++place) {
          const auto [of_text, of_with] = matcher.match(of_other[order[place]]);
          out[2 * order[place]] = swapped ? of_text : of_with;
          out[2 * order[place] + 1] = swapped ? of_with : of_text;
        }
      });
}

}  // namespace postil
