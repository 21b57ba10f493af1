// METEOR: the alignment of a candidate with each of its references, and the score of the best one. An upper bound of each
// reference's score orders them, so that one or two alignments usually settle which is the best.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <tuple>
#include <unordered_map>

#include "crossings.hpp"
#include "kernels.hpp"
#include "repeats.hpp"

namespace postil {
namespace {

enum Stage : int32_t { kExact = 0, kStem = 1, kSynonym = 2 };

// A word of the candidate that word `at` of the reference could be aligned with.
struct Edge {
  int32_t at;
  int32_t place;
  int32_t stage;
};

// A word that one path aligned: the list of a path's words is a chain through `before`.
struct Link {
  Edge edge;
  int32_t before;
};

struct Path {
  int32_t matches = 0;  // exact ones; the others count for nothing here, whatever their weight
  int32_t chunks = 0;   // closed ones
  int64_t distance = 0;
  int32_t open_end = -1;  // where in the candidate the open chunk would go on, or -1
  int32_t last_link = -1;
};

// A path and one word more, or none: an edge, or -1.
struct Step {
  int32_t path, edge, matches, chunks;
  int64_t distance;
};

// The rank of a step as one number, small for good: many matches, few chunks, a short distance, and of equals the one that
// was there first. Up to 255 words on both sides 64 bits hold it.
struct NarrowRank {
  static constexpr int32_t kLongest = 255;
  using Key = uint64_t;
  static Key of(const Step& s, uint64_t number) {
    return static_cast<uint64_t>(kLongest - s.matches) << 55 | static_cast<uint64_t>(s.chunks) << 46 |
           static_cast<uint64_t>(s.distance) << 20 | number;
  }
  static size_t number(Key key) { return key & 0xFFFFF; }
};
struct WideRank {
  using Key = std::tuple<uint64_t, int64_t, uint64_t>;
  static Key of(const Step& s, uint64_t number) {
    return {static_cast<uint64_t>(INT32_MAX - s.matches) << 32 | static_cast<uint32_t>(s.chunks), s.distance, number};
  }
  static size_t number(const Key& key) { return std::get<2>(key); }
};

struct Scratch {
  std::vector<int32_t> first_place, next_place;     // of each unit, of each place: the unit's places as chains
  std::vector<Edge> edges;                          // by `at`, then stage, then place
  std::vector<int32_t> partners;                    // of each place: edges that end there
  std::vector<Path> paths, next;                    // the beam, best first
  std::vector<uint64_t> used, next_used;            // [paths, words]
  std::vector<Step> steps;
  std::vector<NarrowRank::Key> narrow_keys;
  std::vector<WideRank::Key> wide_keys;
  std::vector<NarrowRank::Key>& keys(NarrowRank) { return narrow_keys; }
  std::vector<WideRank::Key>& keys(WideRank) { return wide_keys; }
  std::vector<Link> links;
  std::vector<Edge> aligned;
  std::vector<std::pair<int32_t, int32_t>> senses;  // (synset, place) of the candidate, sorted
  int64_t senses_of = -1;
  std::vector<double> most;                         // of each reference: what it could score at most; 0 once tried
  std::vector<int32_t> first_same;                  // of each place: the first one of the same word
  FewestCrossings crossings;
  RepeatedWords repeated;
};

struct Sums {
  double candidate = 0.0, reference = 0.0;  // weighted matches
  int32_t matches = 0, chunks = 0;
};

struct Lengths {
  double weighted;
  int32_t words;
};

constexpr int64_t kMostEdges = int64_t{1} << 28;  // 3 GiB
constexpr int64_t kManyEdges = int64_t{1} << 16;  // of many words with kManyPartners on average, edges are not listed
constexpr int64_t kManyPartners = 64;
constexpr int kRuns = 64;     // more are not looked at one by one
constexpr int kTabled = 48;  // penalties of so few matches are looked up

class Meteor {
 public:
  Meteor(const Overlap& overlap, const double* weights, const MeteorParameters& p, const MeteorWords& words)
      : overlap_(overlap), weights_(weights), p_(p), words_(words), penalties_(kTabled * kTabled) {
    for (int matches = 1; matches < kTabled; ++matches) {
      for (int chunks = 1; chunks <= matches; ++chunks) penalties_[chunks * kTabled + matches] = penalty_of(chunks, matches);
    }
  }

  void row(Scratch& scratch, const Candidate& candidate, double* out) const;

 private:
  double weigh(int32_t content, int32_t function) const { return p_.delta * content + (1.0 - p_.delta) * function; }
  Lengths lengths(const int32_t* words, int32_t count) const {
    int32_t function = 0;
    for (int32_t i = 0; i < count; ++i) function += words_.function[words[i]];
    return {weigh(count - function, function), count};
  }
  const int32_t* candidate_words(const Candidate& candidate) const {
    return words_.candidates.data + overlap_.candidates.begin(candidate.row);
  }
  const int32_t* reference_words(int64_t r) const { return words_.references.data + overlap_.references.begin(r); }

  double most(const Candidate&, int32_t j, Lengths mine) const;
  int64_t edges_at_most(const Candidate&, int32_t j) const;
  void find_edges(Scratch&, const Candidate&, int32_t j) const;
  void find_synonyms(Scratch&, const Candidate&, int32_t j) const;
  bool align(Scratch&, const Candidate&, int32_t j) const;
  bool align_by_crossings(Scratch&, const Candidate&, int32_t j) const;
  void align_repeated(Scratch&, const Candidate&, int32_t j) const;
  void find_first_same(Scratch&, const Candidate&) const;
  bool share_synset(int32_t word, int32_t other) const;
  bool align_plainly(Scratch&) const;
  template <class Rank>
  void search(Scratch&, int32_t length) const;
  template <class Rank>
  void advance(Scratch&, int32_t from, int32_t to, bool may_skip) const;
  Sums add_up(const Scratch&, const Candidate&, int32_t j) const;
  double score(double candidate, double reference, int32_t chunks, int32_t matches, Lengths mine, Lengths theirs) const {
    if (candidate <= 0.0 || reference <= 0.0) return 0.0;
    const double precision = candidate / mine.weighted, recall = reference / theirs.weighted;
    const double f_mean = 1.0 / ((1.0 - p_.alpha) / precision + p_.alpha / recall);
    return f_mean * (1.0 - penalty(chunks, matches));
  }
  double penalty_of(double chunks, double matches) const { return p_.gamma * std::pow(chunks / matches, p_.beta); }
  double penalty(int32_t chunks, int32_t matches) const {
    if (chunks == 0) return 0.0;
    return matches < kTabled ? penalties_[chunks * kTabled + matches] : penalty_of(chunks, matches);
  }

  const Overlap& overlap_;
  const double* weights_;
  const MeteorParameters& p_;
  const MeteorWords& words_;
  std::vector<double> penalties_;  // [chunks, matches]
};

// No alignment with reference j can score more than this. Words of the reference that candidate words could match stand in
// runs; k chunks cover at most the words of the k longest runs, and the more words in k chunks the better.
double Meteor::most(const Candidate& candidate, int32_t j, Lengths mine) const {
  if (words_.synset_offsets.size > 0) return 1.0;
  const Hit *begin = candidate.begin(j), *end = candidate.end(j);
  const int64_t r = candidate.first_reference + j;
  if (begin == end || weights_[r] <= 0.0) return 0.0;
  const int32_t* words = reference_words(r);
  const Lengths theirs = lengths(words, overlap_.references.length(r));
  int32_t function = 0, runs[kRuns], run_count = 0;
  for (const Hit* hit = begin; hit != end; ++hit) {
    function += words_.function[words[hit->at]];
    const bool goes_on = hit != begin && hit->at == hit[-1].at + 1;
    run_count += !goes_on;
    if (run_count > kRuns) return weights_[r];
    runs[run_count - 1] = goes_on ? runs[run_count - 1] + 1 : 1;
  }
  std::sort(runs, runs + run_count, std::greater<int32_t>());
  const double weight = std::max({p_.stage_weights[kExact], p_.stage_weights[kStem], p_.stage_weights[kSynonym]});
  const double all = weigh(static_cast<int32_t>(end - begin) - function, function);
  const double heaviest = std::max(p_.delta, 1.0 - p_.delta);
  const bool same_words = words_.candidates.data == overlap_.candidates.ids.data;  // then both sides weigh the same
  double best = 0.0;
  for (int32_t k = 1, matches = 0; k <= run_count && matches < mine.words; ++k) {
    matches = std::min(matches + runs[k - 1], mine.words);
    const double theirs_matched = weight * std::min(all, heaviest * matches);
    const double mine_matched = weight * std::min(same_words ? all : heaviest * matches, heaviest * matches);
    const bool perfect = k == 1 && matches == mine.words && matches == theirs.words && !p_.crossings;
    best = std::max(best, score(std::min(mine_matched, weight * mine.weighted), theirs_matched,
                                perfect || p_.outside ? 0 : k, matches, mine, theirs));
  }
  return weights_[r] * best;
}

// Number of edges without synonyms; where there are few, the number of all pairs.
int64_t Meteor::edges_at_most(const Candidate& candidate, int32_t j) const {
  const int64_t pairs = (candidate.end(j) - candidate.begin(j)) * int64_t{candidate.length};
  if (pairs <= kManyEdges) return pairs;
  std::vector<int64_t> places(candidate.unit_count, 0);
  for (int32_t i = 0; i < candidate.length; ++i) ++places[candidate.units[i]];
  int64_t edges = 0;
  for (const Hit* hit = candidate.begin(j); hit != candidate.end(j); ++hit) edges += places[hit->unit];
  if (edges > kMostEdges) refuse(candidate, overlap_, j);
  return edges;
}

void Meteor::find_edges(Scratch& scratch, const Candidate& candidate, int32_t j) const {
  scratch.edges.clear();
  const int32_t* mine = candidate_words(candidate);
  const int32_t* theirs = reference_words(candidate.first_reference + j);
  for (const Hit* hit = candidate.begin(j); hit != candidate.end(j); ++hit) {
    bool stems = false;
    for (int32_t i = scratch.first_place[hit->unit]; i >= 0; i = scratch.next_place[i]) {
      if (mine[i] == theirs[hit->at]) {
        scratch.edges.push_back({hit->at, i, kExact});
      } else {
        stems = true;
      }
    }
    for (int32_t i = scratch.first_place[hit->unit]; stems && i >= 0; i = scratch.next_place[i]) {
      if (mine[i] != theirs[hit->at]) scratch.edges.push_back({hit->at, i, kStem});
    }
  }
  if (words_.synset_offsets.size > 0) find_synonyms(scratch, candidate, j);
}

// Add the pairs of different words with a synset in common.
void Meteor::find_synonyms(Scratch& scratch, const Candidate& candidate, int32_t j) const {
  const int32_t* mine = candidate_words(candidate);
  const int64_t r = candidate.first_reference + j;
  const int32_t* theirs = reference_words(r);
  const auto synsets = [&](int32_t word, auto body) {
    for (int64_t k = words_.synset_offsets[word]; k < words_.synset_offsets[word + 1]; ++k) body(words_.synsets[k]);
  };
  if (scratch.senses_of != candidate.row) {
    scratch.senses_of = candidate.row;
    scratch.senses.clear();
    for (int32_t i = 0; i < candidate.length; ++i) {
      synsets(mine[i], [&](int32_t synset) { scratch.senses.push_back({synset, i}); });
    }
    std::sort(scratch.senses.begin(), scratch.senses.end());
  }
  std::vector<int32_t> places;
  for (int32_t t = 0; t < overlap_.references.length(r); ++t) {
    places.clear();
    synsets(theirs[t], [&](int32_t synset) {
      auto sense = std::lower_bound(scratch.senses.begin(), scratch.senses.end(), std::make_pair(synset, 0));
      for (; sense != scratch.senses.end() && sense->first == synset; ++sense) {
        if (mine[sense->second] != theirs[t]) places.push_back(sense->second);
      }
    });
    std::sort(places.begin(), places.end());
    places.erase(std::unique(places.begin(), places.end()), places.end());
    for (int32_t i : places) scratch.edges.push_back({t, i, kSynonym});
  }
  std::stable_sort(scratch.edges.begin(), scratch.edges.end(), [](const Edge& a, const Edge& b) {
    return a.at != b.at ? a.at < b.at : a.stage < b.stage;
  });
}

// Every word of both sides with at most one partner: nothing to choose.
bool Meteor::align_plainly(Scratch& scratch) const {
  for (size_t e = 0; e < scratch.edges.size(); ++e) {
    if (e > 0 && scratch.edges[e].at == scratch.edges[e - 1].at) return false;
    if (scratch.partners[scratch.edges[e].place] != 1) return false;
  }
  scratch.aligned.swap(scratch.edges);
  return true;
}

// True if the search left alignments out that it should have looked at.
bool Meteor::align(Scratch& scratch, const Candidate& candidate, int32_t j) const {
  const int64_t edges = edges_at_most(candidate, j);
  if (p_.crossings) return align_by_crossings(scratch, candidate, j);
  if (edges > kManyEdges && edges > kManyPartners * (candidate.end(j) - candidate.begin(j))) {
    align_repeated(scratch, candidate, j);
    return false;
  }
  find_edges(scratch, candidate, j);
  scratch.partners.assign(candidate.length, 0);
  for (const Edge& edge : scratch.edges) ++scratch.partners[edge.place];
  if (align_plainly(scratch)) return false;
  const int32_t longest = std::max(candidate.length, overlap_.references.length(candidate.first_reference + j));
  if (longest <= NarrowRank::kLongest) {
    search<NarrowRank>(scratch, candidate.length);
  } else {
    search<WideRank>(scratch, candidate.length);
  }
  return false;
}

// Of each place the first one of its word: in the order of the units, and of the words of a unit.
void Meteor::find_first_same(Scratch& scratch, const Candidate& candidate) const {
  const int32_t* mine = candidate_words(candidate);
  std::unordered_map<int32_t, int32_t> first;
  scratch.first_same.resize(candidate.length);
  for (int32_t i = 0; i < candidate.length; ++i) scratch.first_same[i] = first.try_emplace(mine[i], i).first->second;
}

bool Meteor::align_by_crossings(Scratch& scratch, const Candidate& candidate, int32_t j) const {
  const int64_t r = candidate.first_reference + j;
  const int32_t *mine = candidate_words(candidate), *theirs = reference_words(r), count = overlap_.references.length(r);
  std::vector<int32_t> classes(count, -1), places(scratch.first_same), aligned(count, -1), exact;
  for (const Hit* hit = candidate.begin(j); hit != candidate.end(j); ++hit) {
    int32_t i = scratch.first_place[hit->unit];
    while (i >= 0 && mine[i] != theirs[hit->at]) i = scratch.next_place[i];
    classes[hit->at] = i;
  }
  bool cut = scratch.crossings.stage(classes, places, aligned);
  exact = aligned;
  std::copy_n(candidate.units, candidate.length, places.begin());
  std::fill(classes.begin(), classes.end(), -1);
  for (const Hit* hit = candidate.begin(j); hit != candidate.end(j); ++hit) {
    if (exact[hit->at] >= 0) {
      places[exact[hit->at]] = -1;
    } else {
      classes[hit->at] = hit->unit;
    }
  }
  cut |= scratch.crossings.stage(classes, places, aligned);
  scratch.aligned.clear();
  for (int32_t t = 0; t < count; ++t) {
    if (aligned[t] >= 0) scratch.aligned.push_back({t, aligned[t], exact[t] >= 0 ? kExact : kStem});
  }
  return cut;
}

// As `search`, where the edges would take memory and time with the square of the words.
void Meteor::align_repeated(Scratch& scratch, const Candidate& candidate, int32_t j) const {
  using Range = RepeatedWords::Range;
  const int64_t r = candidate.first_reference + j;
  const int32_t *mine = candidate_words(candidate), *theirs = reference_words(r), count = overlap_.references.length(r);
  std::vector<int32_t> place_of(candidate.length);
  for (int32_t i = 0; i < candidate.length; ++i) place_of[i] = i;
  std::sort(place_of.begin(), place_of.end(), [&](int32_t a, int32_t b) {
    return std::make_tuple(candidate.units[a], scratch.first_same[a], a) <
           std::make_tuple(candidate.units[b], scratch.first_same[b], b);
  });
  std::vector<Range> words;  // those of a unit behind one another
  std::vector<int32_t> first_word(candidate.unit_count + 1, 0);
  for (int32_t slot = 0; slot < candidate.length; ++slot) {
    const int32_t i = place_of[slot];
    if (slot == 0 || scratch.first_same[i] != scratch.first_same[place_of[slot - 1]]) {
      words.push_back({slot, slot});
      first_word[candidate.units[i] + 1] = static_cast<int32_t>(words.size());
    }
    words.back().end = slot + 1;
  }
  std::vector<int32_t> unit_of(count, -1);
  for (const Hit* hit = candidate.begin(j); hit != candidate.end(j); ++hit) unit_of[hit->at] = hit->unit;

  std::unordered_map<int32_t, RepeatedWords::Partners> known;
  std::unordered_map<int32_t, int64_t> times;  // of each word of the reference
  std::vector<const RepeatedWords::Partners*> rows(count);
  for (int32_t t = 0; t < count; ++t) {
    const auto [entry, is_new] = known.try_emplace(theirs[t]);
    rows[t] = &entry->second;
    ++times[theirs[t]];
    if (!is_new) continue;
    for (int32_t w = unit_of[t] < 0 ? 0 : first_word[unit_of[t]]; unit_of[t] >= 0 && w < first_word[unit_of[t] + 1]; ++w) {
      entry->second.ranges[mine[place_of[words[w].begin]] == theirs[t] ? kExact : kStem].push_back(words[w]);
    }
    if (words_.synset_offsets.size > 0) {
      for (const Range& word : words) {
        const int32_t other = mine[place_of[word.begin]];
        if (other != theirs[t] && share_synset(other, theirs[t])) entry->second.ranges[kSynonym].push_back(word);
      }
    }
  }
  std::vector<int64_t> edges(candidate.length, 0);  // of each slot that begins a word: edges of each of its places
  for (const auto& [word, partners] : known) {
    for (const auto& ranges : partners.ranges) {
      for (const Range& range : ranges) edges[range.begin] += times[word];
    }
  }
  std::vector<bool> fixed(count, false);
  for (int32_t t = 0; t < count; ++t) {
    int64_t partners = 0;
    int32_t begin = 0;
    for (const auto& ranges : rows[t]->ranges) {
      for (const Range& range : ranges) partners += range.end - range.begin, begin = range.begin;
    }
    fixed[t] = partners == 1 && edges[begin] == 1;
  }
  std::vector<RepeatedWords::Pair> pairs;
  scratch.repeated.search(place_of, rows, fixed, p_.beam, pairs);
  scratch.aligned.clear();
  for (const auto& pair : pairs) scratch.aligned.push_back({pair.at, pair.place, pair.stage});
}

bool Meteor::share_synset(int32_t word, int32_t other) const {
  const int64_t *offsets = words_.synset_offsets.data;
  int64_t a = offsets[word], b = offsets[other];
  while (a < offsets[word + 1] && b < offsets[other + 1]) {
    if (words_.synsets[a] == words_.synsets[b]) return true;
    ++(words_.synsets[a] < words_.synsets[b] ? a : b);
  }
  return false;
}

// The beam of METEOR 1.5. The reference is read from left to right; each path takes each free partner of the word or
// none; after each word the paths are sorted, stably, by exact matches, closed chunks and distance, and the first `beam`
// kept. A word whose only partner has no other is always taken. Words without partner only close the open chunks.
template <class Rank>
void Meteor::search(Scratch& scratch, int32_t length) const {
  scratch.links.clear();
  scratch.paths.assign(1, Path());
  scratch.used.assign(static_cast<size_t>(length + 63) / 64, 0);
  const std::vector<Edge>& edges = scratch.edges;
  const int32_t count = static_cast<int32_t>(edges.size());
  int32_t expected = 0;
  for (int32_t from = 0, to; from < count; from = to) {
    to = from + 1;
    while (to < count && edges[to].at == edges[from].at) ++to;
    if (edges[from].at != expected) advance<Rank>(scratch, from, from, true);
    expected = edges[from].at + 1;
    const bool fixed = to == from + 1 && scratch.partners[edges[from].place] == 1;
    advance<Rank>(scratch, from, to, !fixed);
  }
  advance<Rank>(scratch, count, count, true);
  scratch.aligned.clear();
  for (int32_t link = scratch.paths[0].last_link; link >= 0; link = scratch.links[link].before) {
    scratch.aligned.push_back(scratch.links[link].edge);
  }
  std::reverse(scratch.aligned.begin(), scratch.aligned.end());
}

// Move the beam over one word of the reference, whose partners are edges [from, to).
template <class Rank>
void Meteor::advance(Scratch& scratch, int32_t from, int32_t to, bool may_skip) const {
  std::vector<Path>& paths = scratch.paths;
  const size_t words = scratch.used.size() / paths.size(), most = paths.size() * (to - from + 1);
  std::vector<typename Rank::Key>& keys = scratch.keys(Rank());
  if (scratch.steps.size() < most) scratch.steps.resize(most);
  if (keys.size() < most) keys.resize(most);
  Step* const steps = scratch.steps.data();
  size_t count = 0;
  auto propose = [&](const Step& step) {
    steps[count] = step;
    keys[count] = Rank::of(step, count);
    ++count;
  };
  for (int32_t p = 0; p < static_cast<int32_t>(paths.size()); ++p) {
    const Path& path = paths[p];
    const uint64_t* used = scratch.used.data() + p * words;
    int64_t distance = path.distance;
    for (int32_t e = from; e < to; ++e) {
      const Edge& edge = scratch.edges[e];
      if (used[edge.place / 64] >> (edge.place % 64) & 1) continue;
      const bool breaks = path.open_end != -1 && path.open_end != edge.place;
      propose({p, e, path.matches + (edge.stage == kExact), path.chunks + breaks, distance});
      distance += std::abs(edge.at - edge.place);  // borne by those that come after, not by this one
    }
    if (may_skip) propose({p, -1, path.matches, path.chunks + (path.open_end != -1), distance});
  }
  auto end = keys.begin() + count;
  if (count > static_cast<size_t>(p_.beam)) {
    std::nth_element(keys.begin(), keys.begin() + p_.beam, end);
    end = keys.begin() + p_.beam;
  }
  std::sort(keys.begin(), end);
  scratch.next.resize(end - keys.begin());
  scratch.next_used.resize(scratch.next.size() * words);
  uint64_t* used = scratch.next_used.data();
  auto key = keys.begin();
  for (Path& path : scratch.next) {
    const Step& step = steps[Rank::number(*key++)];
    std::copy_n(scratch.used.data() + step.path * words, words, used);
    path = {step.matches, step.chunks, step.distance, -1, paths[step.path].last_link};
    if (step.edge >= 0) {
      const Edge& edge = scratch.edges[step.edge];
      used[edge.place / 64] |= 1ull << (edge.place % 64);
      path.open_end = edge.place + 1;
      scratch.links.push_back({edge, path.last_link});
      path.last_link = static_cast<int32_t>(scratch.links.size()) - 1;
    }
    used += words;
  }
  paths.swap(scratch.next);
  scratch.used.swap(scratch.next_used);
}

Sums Meteor::add_up(const Scratch& scratch, const Candidate& candidate, int32_t j) const {
  const int32_t* mine = candidate_words(candidate);
  const int32_t* theirs = reference_words(candidate.first_reference + j);
  int32_t counts[3][2][2] = {};  // stage, side, function word
  Sums sums;
  const Edge* before = nullptr;
  for (const Edge& edge : scratch.aligned) {
    ++counts[edge.stage][0][words_.function[mine[edge.place]]];
    ++counts[edge.stage][1][words_.function[theirs[edge.at]]];
    ++sums.matches;
    sums.chunks += !before || before->at + 1 != edge.at || before->place + 1 != edge.place;
    before = &edge;
  }
  for (int stage = 0; stage < 3; ++stage) {
    sums.candidate += p_.stage_weights[stage] * weigh(counts[stage][0][0], counts[stage][0][1]);
    sums.reference += p_.stage_weights[stage] * weigh(counts[stage][1][0], counts[stage][1][1]);
  }
  return sums;
}

// The first of the references with the best score; if the penalty is outside the maximum, of those with the best score
// without it, so that the order of references changes no score. They are tried in the order of what each could reach at most, until no
// other can reach the best found; usually that is after one or two.
void Meteor::row(Scratch& scratch, const Candidate& candidate, double* out) const {
  scratch.first_place.assign(candidate.unit_count, -1);
  scratch.next_place.resize(candidate.length);
  for (int32_t i = candidate.length - 1; i >= 0; --i) {
    scratch.next_place[i] = scratch.first_place[candidate.units[i]];
    scratch.first_place[candidate.units[i]] = i;
  }
  if (p_.crossings || candidate.length > kManyPartners) find_first_same(scratch, candidate);
  const Lengths mine = lengths(candidate_words(candidate), candidate.length);
  scratch.most.resize(candidate.references);
  for (int32_t j = 0; j < candidate.references; ++j) scratch.most[j] = most(candidate, j, mine);

  int32_t chosen = -1;
  double best = 0.0;
  auto attempt = [&](int32_t j) {
    const int64_t r = candidate.first_reference + j;
    const Lengths theirs = lengths(reference_words(r), overlap_.references.length(r));
    const bool cut = align(scratch, candidate, j);
    Sums sums = add_up(scratch, candidate, j);
    const bool same = sums.matches == mine.words && sums.matches == theirs.words && sums.chunks == 1;
    if (same && !p_.crossings) sums.chunks = 0;
    const double here = weights_[r] * score(sums.candidate, sums.reference, sums.chunks, sums.matches, mine, theirs);
    const double without =
        p_.outside ? weights_[r] * score(sums.candidate, sums.reference, 0, sums.matches, mine, theirs) : here;
    if (chosen >= 0 && std::tie(without, here, chosen) < std::tie(best, out[0], j)) return;
    const double values[9] = {here, sums.candidate, sums.reference, mine.weighted, theirs.weighted,
                              static_cast<double>(sums.chunks), static_cast<double>(sums.matches), weights_[r], static_cast<double>(cut)};
    std::copy_n(values, 9, out);
    chosen = j;
    best = without;
  };
  for (;;) {
    const auto next = std::max_element(scratch.most.begin(), scratch.most.end());
    if (*next <= 0.0 || (chosen >= 0 && *next * (1.0 + 1e-9) < best)) break;
    *next = 0.0;
    attempt(static_cast<int32_t>(next - scratch.most.begin()));
  }
  if (chosen != 0 && (chosen < 0 || best == 0.0)) attempt(0);  // where nothing scores, the first stands for all
}

}  // namespace

void meteor(const Overlap& overlap, const double* weights, const MeteorParameters& parameters, const MeteorWords& words,
            int jobs, double* out) {
  const Meteor meteor(overlap, weights, parameters, words);
  overlap.for_each(jobs, [] { return Scratch(); }, [&](Scratch& scratch, const Candidate& candidate) {
    meteor.row(scratch, candidate, out + candidate.row * 9);
  });
}

}  // namespace postil
