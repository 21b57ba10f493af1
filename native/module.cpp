// The Python face of the kernels: arrays in, arrays out, the interpreter lock released in between.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>

#include "checks.hpp"
#include "intern.hpp"
#include "kernels.hpp"
#include "ngrams.hpp"
#include "scores.hpp"
#include "search.hpp"
#include "units.hpp"
#include "vectors.hpp"

namespace nb = nanobind;
using namespace postil;

namespace {

template <class T>
using In = nb::ndarray<const T, nb::numpy, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using In2 = nb::ndarray<const T, nb::numpy, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <class T>
using In3 = nb::ndarray<const T, nb::numpy, nb::ndim<3>, nb::c_contig, nb::device::cpu>;
template <class T>
using InOut2 = nb::ndarray<T, nb::numpy, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

template <class T>
Span<T> span(const In<T>& array) {
  return {array.data(), static_cast<int64_t>(array.shape(0))};
}

// A vector becomes an array without a copy.
template <class T, class Allocator>
nb::object array_of(std::vector<T, Allocator>&& values, std::vector<size_t> shape) {
  using Held = std::vector<T, Allocator>;
  auto* held = new Held(std::move(values));
  nb::capsule owner(held, [](void* p) noexcept { delete static_cast<Held*>(p); });
  return nb::cast(nb::ndarray<nb::numpy, T>(held->data(), shape.size(), shape.data(), owner));
}
template <class T, class Allocator>
nb::object array_of(std::vector<T, Allocator>&& values) {
  const size_t size = values.size();
  return array_of(std::move(values), {size});
}

nb::tuple ragged(Ragged&& out) { return nb::make_tuple(array_of(std::move(out.ids)), array_of(std::move(out.offsets))); }

void require_str(PyObject* item, Py_ssize_t index) {
  if (!PyUnicode_Check(item)) {
    throw nb::type_error(("text " + std::to_string(index) + ": expected str, got " + Py_TYPE(item)->tp_name).c_str());
  }
}

Splitting splitting_of(const std::string& name) {
  if (name == "space") return Splitting::kSpace;
  if (name == "words") return Splitting::kWords;
  if (name == "characters") return Splitting::kCharacters;
  if (name == "rouge") return Splitting::kRouge;
  if (name == "unspaced") return Splitting::kUnspaced;
  if (name == "every-character") return Splitting::kEveryCharacter;
  if (name == "marks") return Splitting::kMarks;
  throw nb::value_error("expected space, words, characters, rouge, unspaced, every-character or marks");
}

// False for the many characters that NFC neither changes nor joins with one before them: Latin, Cyrillic and Greek letters,
// punctuation, kana, Han, Hangul. No later version of Unicode may change that.
bool may_compose(uint32_t c) {
  return !(c < 0x300 || (c >= 0x388 && c <= 0x482) || (c >= 0x48A && c <= 0x52F) || (c >= 0x2002 && c <= 0x20CF) ||
           (c >= 0x3030 && c <= 0x3098) || (c >= 0x309B && c <= 0xA66E) || (c >= 0x3000 && c <= 0x3029) ||
           (c >= 0xAC00 && c <= 0xD7A3) || (c >= 0xFF00 && c <= 0xFF9D));
}
bool may_compose(PyObject* text) {
  const Py_ssize_t length = PyUnicode_GET_LENGTH(text);
  auto any = [length](const auto* chars) { return std::any_of(chars, chars + length, [](uint32_t c) { return may_compose(c); }); };
  switch (PyUnicode_KIND(text)) {
    case PyUnicode_1BYTE_KIND:
      return false;
    case PyUnicode_2BYTE_KIND:
      return any(PyUnicode_2BYTE_DATA(text));
    default:
      return any(PyUnicode_4BYTE_DATA(text));
  }
}

// A text as words splits it, see `fold_words` of the Python kernel.
nb::object folded(nb::handle text, nb::object& normalize) {
  nb::object out = nb::borrow(text);
  if (!PyUnicode_IS_ASCII(text.ptr()) && PyUnicode_FindChar(text.ptr(), 0xAD, 0, PyUnicode_GET_LENGTH(text.ptr()), 1) >= 0) {
    out = out.attr("replace")("\u00ad", "");
  }
  out = out.attr("lower")();
  if (!may_compose(out.ptr())) return out;
  if (!normalize.is_valid()) normalize = nb::module_::import_("postil.kernel.unicode_forms").attr("normalized");
  return normalize("NFC", out);
}

nb::tuple encode(Interner& interner, nb::handle texts, const std::string& splitting, int jobs) {
  if (interner.frozen()) throw nb::value_error("this vocabulary has branches and cannot grow");
  const Splitting how = splitting_of(splitting);
  nb::object sequence = nb::steal(PySequence_Fast(texts.ptr(), "expected a sequence of str"));
  if (!sequence.is_valid()) throw nb::python_error();
  const Py_ssize_t n = PySequence_Fast_GET_SIZE(sequence.ptr());
  bool beyond_latin1 = false;
  nb::object normalize;
  std::vector<nb::object> held(n);  // alive while the lock is released
  std::vector<PyObject*> raw(n);
  for (Py_ssize_t i = 0; i < n; ++i) {
    PyObject* item = PySequence_Fast_GET_ITEM(sequence.ptr(), i);
    require_str(item, i);
    held[i] = how == Splitting::kWords   ? folded(item, normalize)
              : how == Splitting::kRouge ? nb::borrow(item).attr("lower")()
                                         : nb::borrow(item);
    raw[i] = held[i].ptr();
    beyond_latin1 |= PyUnicode_KIND(raw[i]) != PyUnicode_1BYTE_KIND;
  }
  if (beyond_latin1 && (how == Splitting::kWords || how == Splitting::kUnspaced) && !has_marks()) {
    set_marks(nb::module_::import_("postil.kernel.python.interning").attr("marks")().ptr());
  }
  Ragged out;
  int64_t first_unspaced;
  {
    nb::gil_scoped_release release;
    first_unspaced = interner.encode(raw, how, jobs, out);
  }
  return nb::make_tuple(array_of(std::move(out.ids)), array_of(std::move(out.offsets)), first_unspaced);
}

nb::tuple encode_tokens(Interner& interner, nb::handle token_lists) {
  if (interner.frozen()) throw nb::value_error("this vocabulary has branches and cannot grow");
  nb::object sequence = nb::steal(PySequence_Fast(token_lists.ptr(), "expected a sequence of lists of str"));
  if (!sequence.is_valid()) throw nb::python_error();
  const Py_ssize_t n = PySequence_Fast_GET_SIZE(sequence.ptr());
  Ragged out;
  out.offsets.push_back(0);
  std::vector<PyObject*> raw;
  for (Py_ssize_t i = 0; i < n; ++i) {
    PyObject* item = PySequence_Fast_GET_ITEM(sequence.ptr(), i);
    if (PyUnicode_Check(item)) throw nb::type_error(("text " + std::to_string(i) + ": expected a list of str, got str").c_str());
    nb::object tokens = nb::steal(PySequence_Fast(item, "expected a list of str"));
    if (!tokens.is_valid()) throw nb::python_error();
    const Py_ssize_t count = PySequence_Fast_GET_SIZE(tokens.ptr());
    raw.clear();
    for (Py_ssize_t k = 0; k < count; ++k) {
      raw.push_back(PySequence_Fast_GET_ITEM(tokens.ptr(), k));
      require_str(raw.back(), i);
    }
    interner.encode_tokens(raw, out);
    out.offsets.push_back(static_cast<int64_t>(out.ids.size()));
  }
  return ragged(std::move(out));
}

nb::list words(const Interner& interner, int32_t start) {
  require(start >= 0, "expected a start from 0");
  nb::list out;
  for (int32_t id = start; id < interner.size(); ++id) out.append(nb::steal(interner.word(id)));
  return out;
}

Gain gain_of_name(const std::string& name) {
  if (name == "cosine") return Gain::kCosine;
  if (name == "bm25") return Gain::kBm25;
  throw std::invalid_argument("expected cosine or bm25");
}

// The arrays of a tuple, each of its type: converted ones would be copies of what may be large.
template <class... T>
std::tuple<In<T>...> arrays_of(const nb::tuple& given, const char* what) {
  std::tuple<In<T>...> arrays;
  bool right = given.size() == sizeof...(T);
  size_t place = 0;
  std::apply([&](In<T>&... array) { ((right = right && nb::try_cast(given[place++], array, false)), ...); }, arrays);
  if (!right) throw nb::type_error(what);
  return arrays;
}

using Counts = std::tuple<In<int64_t>, In<int32_t>, In<uint16_t>>;
using Skips = std::tuple<In<float>, In<uint16_t>, In<float>, In<uint8_t>, In<int32_t>, In<float>, In<float>, In<uint8_t>>;

Counts rows_of(const nb::tuple& given) {
  return arrays_of<int64_t, int32_t, uint16_t>(given, "expected rows as arrays of int64, int32 and uint16");
}
Counts lists_of(const nb::tuple& given) {
  return arrays_of<int64_t, int32_t, uint16_t>(given, "expected lists as arrays of int64, int32 and uint16");
}

// A view of arrays, in their order.
template <class View, class Arrays>
View view_of(const Arrays& arrays) {
  return std::apply([](const auto&... array) { return View{span(array)...}; }, arrays);
}

// A searcher and the arrays that it looks into.
struct HeldSearcher {
  Counts rows, lists;
  Skips bounds;
  In<double> factors, scales;
  std::unique_ptr<Searcher> searcher;
};

std::unique_ptr<HeldSearcher> make_searcher(nb::tuple rows, nb::tuple lists, nb::tuple bounds, In<double> factors,
                                            In<double> scales, const std::string& gain) {
  const Gain kind = gain_of_name(gain);
  auto held = std::make_unique<HeldSearcher>(HeldSearcher{
      rows_of(rows), lists_of(lists),
      arrays_of<float, uint16_t, float, uint8_t, int32_t, float, float, uint8_t>(bounds, "expected bounds of search_bounds"),
      factors, scales, nullptr});
  held->searcher =
      std::make_unique<Searcher>(view_of<Rows>(held->rows), view_of<ListsView>(held->lists),
                                 view_of<BoundsView>(held->bounds), span(factors), span(scales), kind);
  return held;
}

nb::tuple search(const HeldSearcher& held, In<int32_t> ids, In<int64_t> offsets, int64_t k, int jobs) {
  require(k >= 1, "expected k of at least 1");
  require(k <= INT32_MAX, "expected k below 2,147,483,648");
  require(offsets.shape(0) > 0, "expected offsets of the words of texts");
  const size_t queries = offsets.shape(0) - 1;
  std::vector<int32_t> documents(queries * k);
  std::vector<double> scores(queries * k);
  {
    nb::gil_scoped_release release;
    held.searcher->search({span(ids), span(offsets)}, k, jobs, documents.data(), scores.data());
  }
  const std::vector<size_t> shape{queries, static_cast<size_t>(k)};
  return nb::make_tuple(array_of(std::move(documents), shape), array_of(std::move(scores), shape));
}

// An overlap and the arrays that it looks into.
struct HeldOverlap {
  In<int32_t> candidate_ids;
  In<int64_t> candidate_offsets;
  In<int32_t> sets;
  In<int32_t> reference_ids;
  In<int64_t> reference_offsets, set_offsets;
  Overlap overlap;

  size_t count() const { return static_cast<size_t>(overlap.count()); }
};

std::unique_ptr<HeldOverlap> make_overlap(In<int32_t> candidate_ids, In<int64_t> candidate_offsets, In<int32_t> sets,
                                          In<int32_t> reference_ids, In<int64_t> reference_offsets,
                                          In<int64_t> set_offsets, int jobs) {
  auto held = std::make_unique<HeldOverlap>(
      HeldOverlap{candidate_ids, candidate_offsets, sets, reference_ids, reference_offsets, set_offsets, {}});
  Overlap& overlap = held->overlap;
  overlap.candidates = {span(candidate_ids), span(candidate_offsets)};
  overlap.references = {span(reference_ids), span(reference_offsets)};
  overlap.sets = span(sets);
  overlap.set_offsets = span(set_offsets);
  nb::gil_scoped_release release;
  overlap.build(jobs);
  return held;
}

void require_order(int order) {
  if (order < 1 || order > kMaxOrder) throw nb::value_error("expected an order from 1 to 9");
}

// Fill [pairs, columns] with the lock released.
template <class Fill>
nb::object pair_table(const HeldOverlap& held, size_t columns, Fill fill) {
  const size_t pairs = static_cast<size_t>(held.overlap.first_pairs().back());
  std::vector<int64_t> out(pairs * columns);
  {
    nb::gil_scoped_release release;
    fill(out.data());
  }
  return array_of(std::move(out), {pairs, columns});
}

void require_weights(const HeldOverlap& held, const In<double>& weights) {
  require(static_cast<int64_t>(weights.shape(0)) == held.overlap.references.count(), "expected a weight of every reference");
}

// Fill [rows, columns] with the lock released.
template <class Fill>
nb::object table(size_t rows, size_t columns, Fill fill) {
  std::vector<double> out(rows * columns);
  {
    nb::gil_scoped_release release;
    fill(out.data());
  }
  return columns == 1 ? array_of(std::move(out)) : array_of(std::move(out), {rows, columns});
}

Smoothing smoothing_of(const std::string& name) {
  if (name == "coco") return Smoothing::kCoco;
  if (name == "exp") return Smoothing::kExp;
  if (name == "floor") return Smoothing::kFloor;
  if (name == "add-k") return Smoothing::kAddK;
  if (name == "method0") return Smoothing::kMethod0;
  return Smoothing::kNone;
}

nb::object meteor_table(const HeldOverlap& held, In<double> weights, std::vector<double> parameters,
                        std::vector<double> stage_weights, int beam, In<int32_t> candidate_words,
                        In<int32_t> reference_words, In<uint8_t> function, std::optional<In<int64_t>> synset_offsets,
                        std::optional<In<int32_t>> synsets, int jobs, bool outside, bool crossings) {
  require_weights(held, weights);
  require(parameters.size() == 4 && stage_weights.size() == 3 && beam > 0, "expected 4 parameters, 3 weights and a beam");
  const char* const of_words = "expected a number of each word, and for each number whether it is a function word";
  const int64_t words_known = static_cast<int64_t>(function.shape(0));
  require(candidate_words.shape(0) == held.candidate_ids.shape(0), of_words);
  require(reference_words.shape(0) == held.reference_ids.shape(0), of_words);
  check_places(span(candidate_words), words_known, of_words);
  check_places(span(reference_words), words_known, of_words);
  require(std::all_of(function.data(), function.data() + words_known, [](uint8_t is) { return is < 2; }), of_words);
  require(!crossings || !synsets, "expected no synonyms with the fewest crossings");
  require(synset_offsets.has_value() == synsets.has_value(), "expected synsets and their offsets");
  if (synsets) {
    require(static_cast<int64_t>(synset_offsets->shape(0)) == words_known + 1, "expected synsets of each word");
    check_offsets(span(*synset_offsets), static_cast<int64_t>(synsets->shape(0)), "expected synsets of each word");
  }
  const MeteorParameters p{parameters[0], parameters[1], parameters[2], parameters[3],
                           {stage_weights[0], stage_weights[1], stage_weights[2]}, beam, outside, crossings};
  MeteorWords words{span(candidate_words), span(reference_words), span(function), {}, {}};
  if (synset_offsets) words.synset_offsets = span(*synset_offsets), words.synsets = span(*synsets);
  return table(held.count(), 9, [&](double* out) { meteor(held.overlap, weights.data(), p, words, jobs, out); });
}

nb::object rank_correlation_table(In2<int32_t> x, In<int32_t> y, In<int32_t> cluster, In2<int32_t> counts,
                                  const std::string& kind, int jobs) {
  const Ranked rows{x.data(), y.data(), cluster.data(), static_cast<int64_t>(x.shape(0)),
                    static_cast<int64_t>(x.shape(1)), static_cast<int64_t>(counts.shape(1))};
  if (y.shape(0) != x.shape(0) || cluster.shape(0) != x.shape(0)) {
    throw nb::value_error("expected as many y and clusters as rows of x");
  }
  if (kind != "spearman" && kind != "kendall-b" && kind != "kendall-c") {
    throw nb::value_error("expected spearman, kendall-b or kendall-c");
  }
  const RankCorrelation which = kind == "spearman"    ? RankCorrelation::kSpearman
                                : kind == "kendall-b" ? RankCorrelation::kKendallB
                                                      : RankCorrelation::kKendallC;
  std::vector<double> out(counts.shape(0) * x.shape(1));
  {
    nb::gil_scoped_release release;
    rank_correlations(rows, counts.data(), static_cast<int64_t>(counts.shape(0)), which, jobs, out.data());
  }
  return array_of(std::move(out), {counts.shape(0), x.shape(1)});
}

nb::object tree_sum_rows(In2<double> scores, nb::tuple nodes, In<int64_t> starts, double first) {
  const auto arrays = arrays_of<int32_t, double, int32_t, int32_t, double>(nodes, "expected nodes as five arrays");
  const Nodes all = view_of<Nodes>(arrays);
  for (const int64_t size : {all.thresholds.size, all.left.size, all.right.size, all.values.size}) {
    require(size == all.features.size, "expected the same number of values for each node");
  }
  return table(scores.shape(0), 1, [&](double* out) {
    tree_sums(all, span(starts), scores.data(), scores.shape(0), scores.shape(1), first, out);
  });
}

// Columns of scores and of their sizes, in groups of neighboring rows.
struct Paired {
  Groups groups;
  ScoreColumns columns;

  Paired(const In2<double>& scores, const In2<double>& sizes, const In<int64_t>& starts)
      : groups{span(starts), static_cast<int64_t>(scores.shape(0))},
        columns{scores.data(), sizes.data(), static_cast<int64_t>(scores.shape(1))} {
    if (sizes.shape(0) != scores.shape(0) || sizes.shape(1) != scores.shape(1)) {
      throw nb::value_error("expected a size for every score");
    }
  }
  void same_rows(size_t rows) const {
    if (static_cast<int64_t>(rows) != groups.n) throw nb::value_error("expected as many ranks and clusters as rows of scores");
  }
  void same_columns(size_t epsilons) const {
    if (static_cast<int64_t>(epsilons) != columns.columns) throw nb::value_error("expected an epsilon for every column");
  }
};

nb::tuple calibrated(In2<double> scores, In2<double> sizes, In2<int32_t> ranks, In<int64_t> starts, In<int64_t> weights,
                     In<int64_t> fixed, int64_t slack, int jobs) {
  const Paired given(scores, sizes, starts);
  given.same_rows(ranks.shape(0));
  const size_t m = scores.shape(1), lanes = ranks.shape(1) + (fixed.shape(0) > 0);
  std::vector<double> epsilons(m);
  std::vector<int64_t> plain(m), best(m * lanes);
  {
    nb::gil_scoped_release release;
    calibrate(given.groups, given.columns,
              {ranks.data(), static_cast<int64_t>(ranks.shape(1)), span(weights), span(fixed), slack}, jobs, epsilons.data(),
              plain.data(), best.data());
  }
  return nb::make_tuple(array_of(std::move(epsilons)), array_of(std::move(plain)), array_of(std::move(best), {m, lanes}));
}

nb::object right_pair_table(In2<double> scores, In<int32_t> ranks, In<int64_t> starts, In<int32_t> cluster,
                            In2<int32_t> counts, In<double> epsilons, int jobs) {
  const Paired given(scores, scores, starts);
  given.same_rows(ranks.shape(0));
  given.same_rows(cluster.shape(0));
  given.same_columns(epsilons.shape(0));
  const size_t resamples = counts.shape(0);
  std::vector<int64_t> out(resamples * starts.shape(0) * scores.shape(1));
  {
    nb::gil_scoped_release release;
    right_pairs(given.groups, given.columns, ranks.data(), cluster.data(), counts.data(), static_cast<int64_t>(resamples),
                static_cast<int64_t>(counts.shape(1)), epsilons.data(), jobs, out.data());
  }
  return array_of(std::move(out), {resamples, starts.shape(0), scores.shape(1)});
}

nb::object both_right_table(In2<double> scores, In<int32_t> ranks, In<int64_t> starts, In<int32_t> kind, int64_t kinds,
                            In<double> epsilons, int jobs) {
  const Paired given(scores, scores, starts);
  given.same_rows(ranks.shape(0));
  given.same_columns(epsilons.shape(0));
  if (kind.shape(0) != starts.shape(0)) throw nb::value_error("expected a kind for every group");
  if (kinds < 0) throw nb::value_error("expected kinds from 0 up");
  const size_t m = scores.shape(1);
  std::vector<int64_t> out(kinds * m * m);
  {
    nb::gil_scoped_release release;
    both_right(given.groups, given.columns, ranks.data(), kind.data(), kinds, epsilons.data(), jobs, out.data());
  }
  return array_of(std::move(out), {static_cast<size_t>(kinds), m, m});
}

nb::object order_count_table(In3<double> own, In3<double> other, In2<int32_t> together, In2<int32_t> pairs,
                             In2<double> slack, int jobs) {
  if (own.shape(1) != other.shape(1) || own.shape(2) != other.shape(2)) {
    throw nb::value_error("expected the same columns and patterns on both sides");
  }
  if (together.shape(1) != 2 || pairs.shape(1) != 2 || slack.shape(0) != together.shape(0) ||
      slack.shape(1) != pairs.shape(0)) {
    throw nb::value_error("expected a slack for each pair");
  }
  const auto size = [](size_t n) { return static_cast<int64_t>(n); };
  const Sums sums{own.data(),          other.data(),       size(own.shape(0)), size(other.shape(0)),
                  size(own.shape(1)), size(own.shape(2))};
  std::vector<int64_t> out(slack.size() * 2);
  {
    nb::gil_scoped_release release;
    order_counts(sums, together.data(), size(together.shape(0)), pairs.data(), size(pairs.shape(0)), slack.data(), jobs,
                 out.data());
  }
  return array_of(std::move(out), {together.shape(0), pairs.shape(0), 2});
}

Scores scores_of(const In2<float>& array) {
  return {array.data(), static_cast<int64_t>(array.shape(0)), static_cast<int64_t>(array.shape(1))};
}

nb::object log_sum_row(In2<float> scores) {
  std::vector<float> out(scores.shape(0));
  {
    nb::gil_scoped_release release;
    log_sums(scores_of(scores), out.data());
  }
  return array_of(std::move(out));
}

nb::tuple highest_table(In2<float> scores, int64_t k) {
  const Scores rows = scores_of(scores);
  if (k < 1 || k > rows.columns) throw nb::value_error("expected k from 1 to the number of columns");
  std::vector<int64_t> columns(rows.rows * k);
  std::vector<float> values(rows.rows * k);
  {
    nb::gil_scoped_release release;
    highest(rows, k, columns.data(), values.data());
  }
  const std::vector<size_t> shape{scores.shape(0), static_cast<size_t>(k)};
  return nb::make_tuple(array_of(std::move(columns), shape), array_of(std::move(values), shape));
}

using Places = std::pair<In<int64_t>, In<int32_t>>;

nb::object pooled_table(const std::tuple<In<int64_t>, In<int32_t>, In<int32_t>>& bags,
                        const std::tuple<In<int64_t>, In<int32_t>, In<double>>& references, const Places& texts,
                        const std::pair<In<int64_t>, In<int64_t>>& own,
                        const std::vector<std::pair<std::string, double>>& measures, In<double> share, In<double> idf,
                        int jobs) {
  const auto& [offsets, units, counts] = bags;
  const auto& [reference_offsets, reference_texts, weights] = references;
  if (units.shape(0) != counts.shape(0)) throw nb::value_error("expected a count of every unit");
  if (reference_texts.shape(0) != weights.shape(0)) throw nb::value_error("expected a weight of every reference");
  int32_t distinct = 0;
  for (size_t e = 0; e < units.shape(0); ++e) {
    require(units.data()[e] < INT32_MAX, "expected units below 2,147,483,647");
    distinct = std::max(distinct, units.data()[e] + 1);
  }
  const BagsView view{span(offsets), span(units), span(counts), distinct};
  const Pools pools{span(reference_offsets), span(reference_texts), span(weights), span(texts.first),
                    span(texts.second),      span(own.first),       span(own.second)};
  std::vector<PooledMeasure> wanted;
  for (const auto& [name, beta_squared] : measures) {
    const char* const names[] = {"f", "kl", "js", "logsim", "rouge", "tf-idf"};
    const auto* found = std::find(std::begin(names), std::end(names), name);
    if (found == std::end(names)) throw nb::value_error("expected f, kl, js, logsim, rouge or tf-idf");
    wanted.push_back({static_cast<Pooled>(found - names), beta_squared});
  }
  std::vector<double> out(wanted.size() * texts.second.shape(0));
  {
    nb::gil_scoped_release release;
    pooled_scores(view, pools, span(share), span(idf), wanted, jobs, out.data());
  }
  return array_of(std::move(out), {wanted.size(), texts.second.shape(0)});
}

using HeldUnits = std::tuple<In2<float>, In<int32_t>, In<int64_t>, In<double>>;

UnitTexts units_of(const HeldUnits& held) {
  const auto& [vectors, rows, offsets, weights] = held;
  return {vectors.data(), static_cast<int64_t>(vectors.shape(0)), static_cast<int64_t>(vectors.shape(1)), span(rows),
          span(offsets), span(weights)};
}

nb::object greedy_match_table(const HeldUnits& left, const HeldUnits& right,
                              const std::pair<In<int32_t>, In<int32_t>>& pairs, int jobs) {
  return table(pairs.first.shape(0), 2, [&](double* out) {
    greedy_matches(units_of(left), units_of(right), span(pairs.first), span(pairs.second), jobs, out);
  });
}

}  // namespace

NB_MODULE(_compiled, m) {
  m.doc() = "Compiled kernels; see postil.kernel.python for what each computes.";

  nb::class_<Interner>(m, "Interner")
      .def("__init__", [](Interner* self) { new (self) Interner(); })
      .def("__len__", &Interner::size)
      .def("branch",
           [](Interner& interner) {
             if (interner.is_branch()) throw nb::value_error("a branch has no branches of its own");
             return interner.branch();
           })
      .def("words", &words, nb::arg("start") = 0)
      .def(
          "flags",
          [](const Interner& interner, nb::handle words, int32_t start) {
            if (!PyAnySet_Check(words.ptr())) throw nb::type_error("expected a set of str");
            require(start >= 0, "expected a start from 0");
            std::vector<uint8_t> out;
            interner.flags(start, words.ptr(), out);
            return array_of(std::move(out));
          },
          nb::arg("lowered"), nb::arg("start") = 0)
      .def("encode", &encode, nb::arg("texts"), nb::arg("splitting"), nb::arg("jobs") = 1)
      .def("encode_tokens", &encode_tokens, nb::arg("token_lists"));

  nb::class_<HeldOverlap>(m, "Overlap").def("__len__", &HeldOverlap::count);
  m.def("overlap", &make_overlap, nb::arg("candidate_ids"), nb::arg("candidate_offsets"), nb::arg("sets"),
        nb::arg("reference_ids"), nb::arg("reference_offsets"), nb::arg("set_offsets"), nb::arg("jobs") = 1);

  m.def(
      "bleu_stats",
      [](const HeldOverlap& held, In2<double> weights, int order, bool delta, int jobs) {
        require_order(order);
        require(static_cast<int64_t>(weights.shape(1)) == held.overlap.references.count(),
                "expected a weight of every reference");
        return table(weights.shape(0) * held.count(), 2 * order + 2, [&](double* out) {
          (delta ? delta_bleu_stats : bleu_stats)(held.overlap, weights.data(), weights.shape(0), order, jobs, out);
        });
      },
      nb::arg("overlap"), nb::arg("weights"), nb::arg("order"), nb::arg("delta") = false, nb::arg("jobs") = 1);
  m.def(
      "bleu_score",
      [](In2<double> stats, const std::string& smooth, double k, bool effective) {
        const int order = static_cast<int>(stats.shape(1) / 2) - 1;
        require_order(order);
        return table(stats.shape(0), 1, [&](double* out) {
          bleu_score(stats.data(), static_cast<int64_t>(stats.shape(0)), order, smoothing_of(smooth), k, effective, out);
        });
      },
      nb::arg("stats"), nb::arg("smooth"), nb::arg("k"), nb::arg("effective"));
  m.def(
      "rouge_l",
      [](const HeldOverlap& held, In<double> weights, double beta_squared, bool united, int jobs) {
        require_weights(held, weights);
        return table(held.count(), 1, [&](double* out) {
          rouge_l(held.overlap, weights.data(), beta_squared, united, jobs, out);
        });
      },
      nb::arg("overlap"), nb::arg("weights"), nb::arg("beta_squared"), nb::arg("united"), nb::arg("jobs") = 1);
  m.def(
      "rouge_n",
      [](const HeldOverlap& held, In<double> weights, int order, int skip, int jobs) {
        require_order(order);
        require_weights(held, weights);
        return table(held.count(), 2, [&](double* out) { rouge_n(held.overlap, weights.data(), order, skip, jobs, out); });
      },
      nb::arg("overlap"), nb::arg("weights"), nb::arg("order"), nb::arg("skip") = -1, nb::arg("jobs") = 1);
  m.def(
      "ngram_matches",
      [](const HeldOverlap& held, int order, int skip, int jobs) {
        require_order(order);
        require(skip < 0 || order == 1, "expected skip-bigrams beside an order of 1");
        return pair_table(held, order, [&](int64_t* out) { ngram_matches(held.overlap, order, skip, jobs, out); });
      },
      nb::arg("overlap"), nb::arg("order"), nb::arg("skip") = -1, nb::arg("jobs") = 1);
  m.def(
      "lcs_lengths",
      [](const HeldOverlap& held, int jobs) {
        return pair_table(held, 1, [&](int64_t* out) { lcs_lengths(held.overlap, jobs, out); });
      },
      nb::arg("overlap"), nb::arg("jobs") = 1);
  m.def(
      "union_lcs",
      [](const HeldOverlap& held, In<int64_t> candidate_sentences, In<int64_t> reference_sentences, int jobs) {
        return pair_table(held, 1, [&](int64_t* out) {
          union_lcs(held.overlap, span(candidate_sentences), span(reference_sentences), jobs, out);
        });
      },
      nb::arg("overlap"), nb::arg("candidate_sentences"), nb::arg("reference_sentences"), nb::arg("jobs") = 1);
  m.def("meteor", &meteor_table, nb::arg("overlap"), nb::arg("weights"), nb::arg("parameters"), nb::arg("stage_weights"),
        nb::arg("beam"), nb::arg("candidate_words"), nb::arg("reference_words"), nb::arg("function"),
        nb::arg("synset_offsets").none(), nb::arg("synsets").none(), nb::arg("jobs") = 1, nb::arg("outside") = false,
        nb::arg("crossings") = false);

  nb::class_<Grams>(m, "Grams")
      .def_prop_ro("order", &Grams::order)
      .def_prop_ro("items", &Grams::items)
      .def(
          "norms",
          [](const Grams& grams, In<int32_t> ids, In<int64_t> offsets) {
            const Texts texts{span(ids), span(offsets)};
            check_offsets(texts.offsets, texts.ids.size, "expected offsets of the words of texts");
            const int order = grams.order();
            return table(texts.count(), order, [&](double* out) {
              Norms norms(grams);
              for (int64_t r = 0; r < texts.count(); ++r) {
                norms.of(texts.ids.data + texts.begin(r), texts.length(r), order, out + r * order);
              }
            });
          },
          nb::arg("ids"), nb::arg("offsets"))
      .def(
          "table",
          [](const Grams& grams, int n) {
            require(n >= 1 && n <= grams.order(), "expected an order that was counted");
            std::vector<int32_t> gram_words, df;
            grams.table(n, gram_words, df);
            const size_t rows = df.size();
            return nb::make_tuple(array_of(std::move(gram_words), {rows, static_cast<size_t>(n)}), array_of(std::move(df)));
          },
          nb::arg("n"));
  m.def(
      "count_grams",
      [](In<int32_t> ids, In<int64_t> offsets, In<int64_t> set_offsets, In<int32_t> groups, int order) {
        require_order(order);
        nb::gil_scoped_release release;
        return std::make_unique<Grams>(Texts{span(ids), span(offsets)}, span(set_offsets), span(groups), order);
      },
      nb::arg("ids"), nb::arg("offsets"), nb::arg("set_offsets"), nb::arg("groups"), nb::arg("order"));
  m.def(
      "load_grams",
      [](int64_t items, std::vector<In2<int32_t>> gram_words, std::vector<In<int32_t>> df) {
        require_order(static_cast<int>(gram_words.size()));
        require(gram_words.size() == df.size(), "expected a document frequency of each n-gram");
        std::vector<Span<int32_t>> words_of, df_of;
        for (const auto& array : gram_words) {
          require(array.shape(1) == words_of.size() + 1, "expected n-grams of 1 word, of 2, and so on");
          words_of.push_back({array.data(), static_cast<int64_t>(array.shape(0) * array.shape(1))});
        }
        for (const auto& array : df) df_of.push_back(span(array));
        return std::make_unique<Grams>(items, words_of, df_of);
      },
      nb::arg("items"), nb::arg("gram_words"), nb::arg("df"));
  m.def(
      "cider",
      [](const HeldOverlap& held, In<double> weights, const Grams& grams, InOut2<double> norms, double sigma, int jobs) {
        require_weights(held, weights);
        require(norms.shape(0) == weights.shape(0) && norms.shape(1) == static_cast<size_t>(grams.order()),
                "expected a norm of every reference in each order");
        return table(held.count(), grams.order(), [&](double* out) {
          cider(held.overlap, weights.data(), grams, norms.data(), sigma, jobs, out);
        });
      },
      nb::arg("overlap"), nb::arg("weights"), nb::arg("grams"), nb::arg("norms"), nb::arg("sigma"), nb::arg("jobs") = 1);

  m.def(
      "count_units",
      [](In<int32_t> ids, In<int64_t> offsets, int order, int gap, bool up_to) {
        require_order(order);
        if (gap < 0) throw std::invalid_argument("expected a gap of at least 0");
        Bags bags;
        {
          nb::gil_scoped_release release;
          bags = count_units(Texts{span(ids), span(offsets)}, order, gap, up_to);
        }
        const size_t distinct = bags.grams.size() / order;
        return nb::make_tuple(array_of(std::move(bags.grams), {distinct, static_cast<size_t>(order)}),
                              array_of(std::move(bags.offsets)), array_of(std::move(bags.units)),
                              array_of(std::move(bags.counts)));
      },
      nb::arg("ids"), nb::arg("offsets"), nb::arg("order"), nb::arg("gap") = 0, nb::arg("up_to") = false);
  m.def("log_sums", &log_sum_row, nb::arg("scores"));
  m.def("highest", &highest_table, nb::arg("scores"), nb::arg("k"));
  m.def("pooled_scores", &pooled_table, nb::arg("bags"), nb::arg("references"), nb::arg("texts"), nb::arg("own"),
        nb::arg("measures"), nb::arg("share"), nb::arg("idf"), nb::arg("jobs") = 1);
  m.def(
      "count_terms",
      [](In<int32_t> ids, In<int64_t> offsets, int jobs) {
        Counted rows;
        {
          nb::gil_scoped_release release;
          rows = count_terms(Texts{span(ids), span(offsets)}, jobs);
        }
        return nb::make_tuple(array_of(std::move(rows.starts)), array_of(std::move(rows.terms)),
                              array_of(std::move(rows.counts)));
      },
      nb::arg("ids"), nb::arg("offsets"), nb::arg("jobs") = 1);
  m.def(
      "invert",
      [](In<int64_t> starts, In<int32_t> terms, In<uint16_t> counts, int64_t vocabulary) {
        Lists lists;
        {
          nb::gil_scoped_release release;
          lists = invert({span(starts), span(terms), span(counts)}, vocabulary);
        }
        return nb::make_tuple(array_of(std::move(lists.starts)), array_of(std::move(lists.documents)),
                              array_of(std::move(lists.counts)));
      },
      nb::arg("starts"), nb::arg("terms"), nb::arg("counts"), nb::arg("vocabulary"));
  m.def(
      "search_bounds",
      [](nb::tuple lists, In<double> factors, In<double> scales, const std::string& gain) {
        const Counts of_terms = lists_of(lists);
        const Gain kind = gain_of_name(gain);
        Bounds bounds;
        {
          nb::gil_scoped_release release;
          bounds = bounds_of(view_of<ListsView>(of_terms), span(factors), kind, span(scales));
        }
        return nb::make_tuple(array_of(std::move(bounds.highest)), array_of(std::move(bounds.impacts)),
                              array_of(std::move(bounds.longest)), array_of(std::move(bounds.lengths)),
                              array_of(std::move(bounds.dense_terms)), array_of(std::move(bounds.steps)),
                              array_of(std::move(bounds.most_steps)), array_of(std::move(bounds.dense)));
      },
      nb::arg("lists"), nb::arg("factors"), nb::arg("scales"), nb::arg("gain"));
  nb::class_<HeldSearcher>(m, "Searcher")
      .def("search", &search, nb::arg("ids"), nb::arg("offsets"), nb::arg("k"), nb::arg("jobs") = 1);
  m.def("searcher", &make_searcher, nb::arg("rows"), nb::arg("lists"), nb::arg("bounds"), nb::arg("factors"),
        nb::arg("scales"), nb::arg("gain"));
  m.def("greedy_matches", &greedy_match_table, nb::arg("left"), nb::arg("right"), nb::arg("pairs"), nb::arg("jobs") = 1);
  m.def(
      "plain_objects", [](const nb::bytes& data) { return plain_objects(data.c_str(), static_cast<int64_t>(data.size())); },
      nb::arg("data"));
  m.def("calibrate", &calibrated, nb::arg("scores"), nb::arg("sizes"), nb::arg("ranks"), nb::arg("starts"),
        nb::arg("weights"), nb::arg("fixed"), nb::arg("slack") = 0, nb::arg("jobs") = 1);
  m.def("right_pairs", &right_pair_table, nb::arg("scores"), nb::arg("ranks"), nb::arg("starts"), nb::arg("cluster"),
        nb::arg("counts"), nb::arg("epsilons"), nb::arg("jobs") = 1);
  m.def("both_right", &both_right_table, nb::arg("scores"), nb::arg("ranks"), nb::arg("starts"), nb::arg("kind"),
        nb::arg("kinds"), nb::arg("epsilons"), nb::arg("jobs") = 1);
  m.def("order_counts", &order_count_table, nb::arg("own"), nb::arg("other"), nb::arg("together"), nb::arg("pairs"),
        nb::arg("slack"), nb::arg("jobs") = 1);
  m.def("tree_sums", &tree_sum_rows, nb::arg("scores"), nb::arg("nodes"), nb::arg("starts"), nb::arg("first"));
  m.def("rank_correlations", &rank_correlation_table, nb::arg("x"), nb::arg("y"), nb::arg("cluster"), nb::arg("counts"),
        nb::arg("kind"), nb::arg("jobs") = 1);
}
