#include "scores.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>

#include "wide.hpp"

namespace postil {

namespace {

constexpr int kLanes = 64;          // scores that are calculated with together
constexpr int64_t kStretch = 4096;  // scores whose powers are summed in single precision
constexpr float kLowest = -std::numeric_limits<float>::infinity();

// The highest score of each lane: of those that are a multiple of kLanes columns apart.
POSTIL_IN_WIDE void highest_by_lane(const float* __restrict scores, int64_t count, float* __restrict lanes) {
  for (int j = 0; j < kLanes; ++j) lanes[j] = kLowest;
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (int j = 0; j < kLanes; ++j) lanes[j] = scores[i + j] > lanes[j] ? scores[i + j] : lanes[j];
  }
  for (int j = 0; i + j < count; ++j) lanes[j] = scores[i + j] > lanes[j] ? scores[i + j] : lanes[j];
}

POSTIL_IN_WIDE float highest_of(const float* scores, int64_t count) {
  float lanes[kLanes];
  highest_by_lane(scores, count, lanes);
  for (int half = kLanes / 2; half > 0; half /= 2) {
    for (int j = 0; j < half; ++j) lanes[j] = lanes[j + half] > lanes[j] ? lanes[j + half] : lanes[j];
  }
  return lanes[0];
}

// sums += e^(score - top), none of them above 1. e^x = 2^n e^r with r at most ln 2 / 2 from 0, e^r by its series.
POSTIL_IN_WIDE void add_powers(const float* __restrict scores, float top, float* __restrict sums) {
  constexpr float kRound = 12582912.0f;  // 1.5 * 2^23: what is added to it loses its fraction
  float x[kLanes], r[kLanes], n[kLanes], power[kLanes];
  int32_t bits[kLanes];
  for (int j = 0; j < kLanes; ++j) x[j] = scores[j] - top;
  for (int j = 0; j < kLanes; ++j) x[j] = x[j] > -87.0f ? x[j] : -87.0f;
  for (int j = 0; j < kLanes; ++j) {
    n[j] = x[j] * 1.44269504f + kRound;
    const float whole = n[j] - kRound;
    r[j] = (x[j] - whole * 0.693359375f) + whole * 2.12194440e-4f;  // ln 2 in two parts
  }
  std::memcpy(bits, n, sizeof n);
  for (int j = 0; j < kLanes; ++j) bits[j] = static_cast<int32_t>(static_cast<uint32_t>(bits[j] - 0x4B400000 + 127) << 23);
  std::memcpy(power, bits, sizeof bits);  // 2^n
  for (int j = 0; j < kLanes; ++j) {
    const float tail = 1.0f / 24 + r[j] * (1.0f / 120 + r[j] * (1.0f / 720));
    sums[j] += power[j] * (1 + r[j] * (1 + r[j] * (1.0f / 2 + r[j] * (1.0f / 6 + r[j] * tail))));
  }
}

POSTIL_WIDE float log_sum(const float* scores, int64_t count) {
  const float top = highest_of(scores, count);
  if (top == kLowest) return kLowest;
  double total = 0.0;
  for (int64_t begin = 0; begin < count; begin += kStretch) {
    const int64_t end = std::min(count, begin + kStretch);
    float sums[kLanes] = {0.0f};
    int64_t i = begin;
    for (; i + kLanes <= end; i += kLanes) add_powers(scores + i, top, sums);
    if (i < end) {
      float last[kLanes];
      std::fill(last, last + kLanes, kLowest);
      std::copy(scores + i, scores + end, last);
      add_powers(last, top, sums);
    }
    for (float sum : sums) total += sum;
  }
  return top + static_cast<float>(std::log(total));
}

POSTIL_WIDE void take_highest(const float* scores, int64_t count, int64_t k, int64_t* columns, float* values) {
  float limit = kLowest;  // at least k scores reach it
  if (k <= kLanes) {
    float lanes[kLanes];
    highest_by_lane(scores, count, lanes);
    std::nth_element(lanes, lanes + k - 1, lanes + kLanes, std::greater<float>());
    limit = lanes[k - 1];
  }
  int64_t found = 0;
  for (int64_t begin = 0; begin < count; begin += kLanes) {
    const int64_t end = std::min(count, begin + kLanes);
    int reach = end - begin < kLanes;
    if (!reach) {
      for (int j = 0; j < kLanes; ++j) reach |= scores[begin + j] >= limit;
    }
    if (!reach) continue;
    for (int64_t i = begin; i < end; ++i) {
      if (!(scores[i] >= limit) || (found == k && !(scores[i] > values[k - 1]))) continue;
      int64_t place = found < k ? found++ : k - 1;
      for (; place > 0 && scores[i] > values[place - 1]; --place) {
        values[place] = values[place - 1];
        columns[place] = columns[place - 1];
      }
      values[place] = scores[i];
      columns[place] = i;
    }
  }
}

}  // namespace

void log_sums(const Scores& scores, float* out) {
  for (int64_t row = 0; row < scores.rows; ++row) {
    out[row] = log_sum(scores.data + row * scores.columns, scores.columns);
  }
}

void highest(const Scores& scores, int64_t k, int64_t* columns, float* values) {
  for (int64_t row = 0; row < scores.rows; ++row) {
    take_highest(scores.data + row * scores.columns, scores.columns, k, columns + row * k, values + row * k);
  }
}

}  // namespace postil
