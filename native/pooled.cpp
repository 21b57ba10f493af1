// Measures of texts against pooled references. A pool is added up once; a text's own references are subtracted while it is
// scored, so leaving them out costs no more, and the work is linear in the units of all texts.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>

#include "checks.hpp"
#include "units.hpp"

namespace postil {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
const double kLn2 = std::log(2.0);

// A sum that keeps what rounding takes from it (Neumaier 1974).
class Sum {
 public:
  void operator+=(double x) {
    const double next = sum_ + x;
    lost_ += std::abs(sum_) >= std::abs(x) ? (sum_ - next) + x : (x - next) + sum_;
    sum_ = next;
  }
  double value() const { return sum_ + lost_; }

 private:
  double sum_ = 0, lost_ = 0;
};

// What all pools share.
struct Setting {
  BagsView bags;
  Span<double> share;                  // P(unit | all texts)
  std::vector<double> log_share;
  std::vector<double> squared_idf;
  std::vector<int64_t> level_offsets;  // the most often that a text holds each unit, summed up
  bool kl = false, tf_idf = false, rouge = false, best = false;

  int64_t begin(int32_t text) const { return bags.offsets[text]; }
  int64_t end(int32_t text) const { return bags.offsets[text + 1]; }
};

// The texts of a reference taken together.
struct Pool {
  explicit Pool(const Setting& setting)
      : setting(setting),
        of(setting.bags.distinct),
        matched(setting.rouge ? setting.level_offsets.back() : 0),
        begins(setting.best ? setting.bags.distinct : 0) {}
  // A pool that is always a part of another one, which outlives it.
  Pool(const Setting& setting, const Pool& whole) : setting(setting), whole(&whole), of(whole.of), matched(whole.matched) {}

  const Setting& setting;
  const Pool* whole = nullptr;
  struct Held {
    double count = 0;     // times weights
    int32_t holders = 0;  // how many texts hold it
  };
  std::vector<Held> of;  // of each unit
  std::vector<int32_t> touched;
  int64_t types = 0;             // how many units there are
  Sum total;                     // of count
  int64_t tokens = 0;            // without weights
  Sum entropy;                   // sum of c ln c - c ln share
  Sum squares;                   // sum of (c idf)^2
  std::vector<double> matched;   // of each unit and k = 1, 2, ...: sum over texts of weight min(k, count)
  std::vector<int64_t> begins;   // of each unit, where its holders' weights begin, falling
  std::vector<double> falling;

  void set(const int32_t* texts, const double* weights, int64_t n) {
    for (const int32_t unit : touched) {
      of[unit] = Held();
      for (int64_t level = begin_level(unit); level < begin_level(unit + 1); ++level) matched[level] = 0;
    }
    touched.clear();
    total = entropy = squares = Sum();
    tokens = 0;
    for (int64_t j = 0; j < n; ++j) {
      for (int64_t e = setting.begin(texts[j]); e < setting.end(texts[j]); ++e) {
        const int32_t unit = setting.bags.units[e], k = setting.bags.counts[e];
        if (of[unit].holders++ == 0) touched.push_back(unit);
        of[unit].count += weights[j] * k;
        tokens += k;
        if (setting.rouge) matched[setting.level_offsets[unit] + k - 1] += weights[j];
      }
    }
    types = static_cast<int64_t>(touched.size());
    for (const int32_t unit : touched) {
      const double c = of[unit].count;
      total += c;
      if (setting.kl) entropy += surprise(unit, c);
      if (setting.tf_idf) squares += c * c * setting.squared_idf[unit];
      if (setting.rouge) add_up(unit);
    }
    if (setting.best) sort_weights(texts, weights, n);
  }

  // The whole without some of its texts; no more work than they hold.
  void set_without(const std::vector<int32_t>& texts, const std::vector<double>& weights) {
    for (const int32_t unit : touched) {
      of[unit] = whole->of[unit];
      for (int64_t level = begin_level(unit); level < begin_level(unit + 1); ++level) matched[level] = whole->matched[level];
    }
    touched.clear();
    total = whole->total;
    tokens = whole->tokens;
    types = whole->types;
    entropy = whole->entropy;
    squares = whole->squares;
    for (size_t j = 0; j < texts.size(); ++j) {
      for (int64_t e = setting.begin(texts[j]); e < setting.end(texts[j]); ++e) {
        const int32_t unit = setting.bags.units[e], k = setting.bags.counts[e];
        if (of[unit].holders == whole->of[unit].holders) touched.push_back(unit);
        of[unit].count -= weights[j] * k;
        types -= --of[unit].holders == 0;
        total += -weights[j] * k;
        tokens -= k;
        for (int64_t level = begin_level(unit), n = 1; level < begin_level(unit + 1); ++level, ++n) {
          matched[level] -= weights[j] * static_cast<double>(std::min<int64_t>(n, k));
        }
      }
    }
    for (const int32_t unit : touched) {
      const double before = whole->of[unit].count, c = of[unit].holders > 0 ? of[unit].count : 0.0;
      if (setting.kl) entropy += surprise(unit, c) - surprise(unit, before);
      if (setting.tf_idf) squares += (c * c - before * before) * setting.squared_idf[unit];
    }
  }

  double surprise(int32_t unit, double c) const { return c > 0 ? c * (std::log(c) - setting.log_share[unit]) : 0.0; }

  double best(int32_t unit, const std::vector<double>& own) const {  // own: falling, among the holders' weights
    const double* at = falling.data() + begins[unit];
    for (const double weight : own) {
      if (*at != weight) break;
      ++at;
    }
    return *at;
  }

 private:
  int64_t begin_level(int32_t unit) const { return setting.rouge ? setting.level_offsets[unit] : 0; }

  void add_up(int32_t unit) {
    double* level = matched.data() + setting.level_offsets[unit];
    const int64_t most = setting.level_offsets[unit + 1] - setting.level_offsets[unit];
    double at_least = 0;
    for (int64_t k = most; k-- > 0;) level[k] = at_least += level[k];
    for (int64_t k = 1; k < most; ++k) level[k] += level[k - 1];
  }

  void sort_weights(const int32_t* texts, const double* weights, int64_t n) {
    int64_t end = 0;
    for (const int32_t unit : touched) {
      begins[unit] = end;
      end += of[unit].holders;
    }
    falling.resize(end);
    std::vector<int64_t> order(n);
    std::iota(order.begin(), order.end(), int64_t{0});
    std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return weights[a] > weights[b]; });
    for (const int64_t j : order) {
      for (int64_t e = setting.begin(texts[j]); e < setting.end(texts[j]); ++e) {
        falling[begins[setting.bags.units[e]]++] = weights[j];
      }
    }
    for (const int32_t unit : touched) begins[unit] -= of[unit].holders;
  }
};

// A text, and what is left of the pool for it.
struct Left {
  const Pool& pool;
  int64_t begin, end;
  int64_t length = 0;          // units with repeats
  std::vector<double>& own;    // weights of its own references, falling
  double weight = 0;           // their sum
  int32_t several;             // their number
  double total;
  int64_t types;

  Left(const Pool& pool, int32_t text, std::vector<double>& own)
      : pool(pool),
        begin(pool.setting.begin(text)),
        end(pool.setting.end(text)),
        own(own),
        several(static_cast<int32_t>(own.size())),
        types(pool.types) {
    for (const double each : own) weight += each;
    for (int64_t e = begin; e < end; ++e) {
      length += counts()[e];
      if (several > 0 && pool.of[units()[e]].holders == several) --types;
    }
    total = several > 0 ? pool.total.value() - weight * static_cast<double>(length) : pool.total.value();
  }

  const int32_t* units() const { return pool.setting.bags.units.data; }
  const int32_t* counts() const { return pool.setting.bags.counts.data; }
  bool holds(int32_t unit) const { return pool.of[unit].holders > several; }
  double count(int32_t unit, double k) const {
    return !holds(unit) ? 0.0 : several > 0 ? pool.of[unit].count - weight * k : pool.of[unit].count;
  }

  // visit(unit, how often the text holds it, what is left of it in the pool) for what both hold
  template <class Visit>
  void shared(Visit visit) const {
    for (int64_t e = begin; e < end; ++e) {
      const int32_t unit = units()[e];
      if (holds(unit)) visit(unit, static_cast<double>(counts()[e]), count(unit, counts()[e]));
    }
  }
};

double f(const Left& left, double beta_squared) {
  double shared = 0;
  left.shared([&](int32_t unit, double, double) { shared += left.pool.setting.best ? left.pool.best(unit, left.own) : 1.0; });
  const double types = static_cast<double>(left.end - left.begin);
  return (1 + beta_squared) * shared / (beta_squared * static_cast<double>(left.types) + types);
}

double kl(const Left& left) {
  if (left.length == 0) return kInfinity;
  const Setting& setting = left.pool.setting;
  double entropy = left.pool.entropy.value(), covered = 0;
  if (left.several > 0) {
    for (int64_t e = left.begin; e < left.end; ++e) {
      const int32_t unit = left.units()[e];
      if (left.pool.of[unit].holders == 0) continue;
      entropy -= left.pool.surprise(unit, left.pool.of[unit].count);
      entropy += left.pool.surprise(unit, left.count(unit, left.counts()[e]));
    }
  }
  left.shared([&](int32_t unit, double k, double c) {
    covered += c * (std::log(k + setting.share[unit]) - setting.log_share[unit]);
  });
  return (entropy - covered) / left.total - std::log(left.total) + std::log1p(static_cast<double>(left.length));
}

double js(const Left& left) {
  if (left.length == 0) return kInfinity;
  double of_text = 0, of_pool = 0, covered = 0;
  const double length = static_cast<double>(left.length);
  double alone = 1;
  left.shared([&](int32_t, double k, double c) {
    const double p = k / length, q = c / left.total;
    of_text += p * std::log(2 * p / (p + q));
    of_pool += q > 0 ? q * std::log(2 * q / (p + q)) : 0.0;
    alone -= p;
    covered += q;
  });
  return (of_text + alone * kLn2 + of_pool + (1 - covered) * kLn2) / 2;
}

double log_sim(const Left& left) {
  double sum = 0;
  const double scale = left.total / static_cast<double>(left.length), once = std::log1p(scale);
  left.shared([&](int32_t, double k, double c) {
    const double of_text = k == 1 ? once : std::log1p(k * scale), of_pool = std::log1p(c);
    if (c > 0) sum += c * (of_text < of_pool ? of_text / of_pool : of_pool / of_text);
  });
  return sum / left.total;
}

double rouge(const Left& left) {
  double matched = 0;
  left.shared([&](int32_t unit, double k, double) {
    matched += left.pool.matched[left.pool.setting.level_offsets[unit] + static_cast<int64_t>(k) - 1] - left.weight * k;
  });
  return matched / static_cast<double>(left.pool.tokens - left.several * left.length);
}

double tf_idf(const Left& left) {
  const auto& squared = left.pool.setting.squared_idf;
  double product = 0, of_text = 0, of_pool = left.pool.squares.value();
  for (int64_t e = left.begin; e < left.end; ++e) {
    const int32_t unit = left.units()[e];
    const double k = left.counts()[e], c = left.count(unit, k), before = left.pool.of[unit].count;
    of_text += k * k * squared[unit];
    product += k * c * squared[unit];
    if (left.several > 0) of_pool -= (before * before - c * c) * squared[unit];
  }
  return product > 0 ? std::min(1.0, product / std::sqrt(of_text * of_pool)) : 0.0;
}

double score(const Left& left, const PooledMeasure& measure) {
  if (left.types == 0 || !(left.total > 0)) return std::numeric_limits<double>::quiet_NaN();
  switch (measure.kind) {
    case Pooled::kF: return f(left, measure.beta_squared);
    case Pooled::kKl: return kl(left);
    case Pooled::kJs: return js(left);
    case Pooled::kLogSim: return log_sim(left);
    case Pooled::kRouge: return rouge(left);
    case Pooled::kTfIdf: return tf_idf(left);
  }
  return 0.0;
}

void check(const BagsView& bags, const Pools& pools) {
  check_offsets(bags.offsets, bags.units.size, "expected offsets of the units of texts");
  check_offsets(pools.reference_offsets, pools.references.size, "expected offsets of references");
  check_offsets(pools.text_offsets, pools.texts.size, "expected offsets of texts");
  check_offsets(pools.own_offsets, pools.own.size, "expected offsets of own references");
  check_places(bags.units, bags.distinct, "expected units from 0 to the number of distinct ones");
  require(std::all_of(bags.counts.data, bags.counts.data + bags.counts.size, [](int32_t k) { return k > 0; }),
          "expected counts from 1 up");
  require(std::all_of(pools.weights.data, pools.weights.data + pools.weights.size, [](double w) { return std::isfinite(w); }),
          "expected weights that are finite");
  check_places(pools.references, bags.offsets.size - 1, "expected references among the texts");
  check_places(pools.texts, bags.offsets.size - 1, "expected texts to score among the texts");
  if (pools.own_offsets.size != pools.texts.size + 1) throw std::invalid_argument("expected own references of every text");
  if (pools.text_offsets.size != pools.reference_offsets.size) throw std::invalid_argument("expected texts of every pool");
  for (int64_t p = 0; p + 1 < pools.text_offsets.size; ++p) {
    for (int64_t t = pools.text_offsets[p]; t < pools.text_offsets[p + 1]; ++t) {
      for (int64_t o = pools.own_offsets[t]; o < pools.own_offsets[t + 1]; ++o) {
        if (pools.own[o] < pools.reference_offsets[p] || pools.own[o] >= pools.reference_offsets[p + 1]) {
          throw std::invalid_argument("expected a text's own references in its pool");
        }
      }
    }
  }
}

// Where most pools hold most of the same texts, each is quicker to make from all of them than from nothing. Not for F with
// weights, which wants to know the best holder of each unit.
struct Union {
  std::vector<int32_t> texts;
  std::vector<double> weights;
  bool useful = false;

  Union(const BagsView& bags, const Pools& pools, const Setting& setting) {
    if (setting.best) return;
    std::vector<double> weight_of(bags.offsets.size - 1, -1.0);
    std::vector<int64_t> last(bags.offsets.size - 1, -1);
    for (int64_t p = 0; p + 1 < pools.reference_offsets.size; ++p) {
      for (int64_t r = pools.reference_offsets[p]; r < pools.reference_offsets[p + 1]; ++r) {
        const int32_t text = pools.references[r];
        if (last[text] < 0) {
          texts.push_back(text);
          weights.push_back(pools.weights[r]);
          weight_of[text] = pools.weights[r];
        }
        if (last[text] == p || weight_of[text] != pools.weights[r]) return;
        last[text] = p;
      }
    }
    useful = pools.references.size > 2 * static_cast<int64_t>(texts.size());
  }
};

}  // namespace

void pooled_scores(const BagsView& bags, const Pools& pools, Span<double> share, Span<double> idf,
                   const std::vector<PooledMeasure>& measures, int jobs, double* out) {
  check(bags, pools);
  Setting setting;
  setting.bags = bags;
  for (const auto& measure : measures) {
    setting.kl |= measure.kind == Pooled::kKl;
    setting.tf_idf |= measure.kind == Pooled::kTfIdf;
    setting.rouge |= measure.kind == Pooled::kRouge;
    setting.best |= measure.kind == Pooled::kF;
  }
  setting.best &= std::any_of(pools.weights.data, pools.weights.data + pools.weights.size, [](double w) { return w != 1; });
  if (setting.kl) {
    if (share.size != bags.distinct) throw std::invalid_argument("expected a share of every unit");
    setting.share = share;
    for (int64_t u = 0; u < share.size; ++u) setting.log_share.push_back(std::log(share[u]));
  }
  if (setting.tf_idf) {
    if (idf.size != bags.distinct) throw std::invalid_argument("expected an idf of every unit");
    for (int64_t u = 0; u < idf.size; ++u) setting.squared_idf.push_back(idf[u] * idf[u]);
  }
  if (setting.rouge) {
    setting.level_offsets.assign(bags.distinct + 1, 0);
    for (int64_t e = 0; e < bags.units.size; ++e) {
      int64_t& most = setting.level_offsets[bags.units[e] + 1];
      most = std::max<int64_t>(most, bags.counts[e]);
    }
    std::partial_sum(setting.level_offsets.begin(), setting.level_offsets.end(), setting.level_offsets.begin());
  }
  const int64_t texts = pools.texts.size;
  const Union all(bags, pools, setting);
  Pool whole(setting);
  if (all.useful) whole.set(all.texts.data(), all.weights.data(), static_cast<int64_t>(all.texts.size()));
  const auto make = [&] { return all.useful ? Pool(setting, whole) : Pool(setting); };
  for_each_block(pools.text_offsets.size - 1, jobs, make, [&](Pool& pool, int64_t p) {
    const int64_t begin = pools.reference_offsets[p], end = pools.reference_offsets[p + 1];
    if (all.useful) {
      std::vector<char> held(bags.offsets.size - 1);
      for (int64_t r = begin; r < end; ++r) held[pools.references[r]] = 1;
      std::vector<int32_t> leaving;
      std::vector<double> weights;
      for (size_t j = 0; j < all.texts.size(); ++j) {
        if (held[all.texts[j]]) continue;
        leaving.push_back(all.texts[j]);
        weights.push_back(all.weights[j]);
      }
      pool.set_without(leaving, weights);
    } else {
      pool.set(pools.references.data + begin, pools.weights.data + begin, end - begin);
    }
    std::vector<double> own;
    for (int64_t t = pools.text_offsets[p]; t < pools.text_offsets[p + 1]; ++t) {
      own.clear();
      for (int64_t o = pools.own_offsets[t]; o < pools.own_offsets[t + 1]; ++o) own.push_back(pools.weights[pools.own[o]]);
      std::sort(own.rbegin(), own.rend());
      const Left left(pool, pools.texts[t], own);
      for (size_t m = 0; m < measures.size(); ++m) out[m * texts + t] = score(left, measures[m]);
    }
  });
}

}  // namespace postil
