"""Search finds what scikit-learn and the formulas find; and what must not change the answer does not."""

from __future__ import annotations

import pickle
from collections import Counter
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from exploration import examples
from postil import kernel
from postil.comments.index import Index, TopK, merge
from postil.comments.retrieval import Sharded
from postil.comments.text_arrays import StringArray
from postil.comments.weightings import IDF, WEIGHTINGS
from postil.data.arrays import Expected, open_array
from postil.engine import open_engine
from postil.errors import InvalidInput, UnknownName, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    Texts = tuple[NDArray[np.int32], NDArray[np.int64]]


FORMULAS = [("tf-idf", "plain"), ("tf-idf", "smooth"), ("bm25", "plain")]
formulas = pytest.mark.parametrize(("weighting", "idf"), FORMULAS, ids=["plain", "smooth", "bm25"])


def ragged(texts: Sequence[Sequence[int]]) -> Texts:
    ids = np.array([word for text in texts for word in text], dtype=np.int32)
    return ids, np.concatenate([[0], np.cumsum([len(text) for text in texts])]).astype(np.int64)


def zipf(seed: int, texts: int, words: int, mean: float) -> list[list[int]]:
    """Texts of frequent and rare words; some empty, some the same."""
    rng = np.random.default_rng(seed)
    share = np.cumsum(1 / np.arange(1, words + 1))
    made = [
        np.searchsorted(share / share[-1], rng.random(rng.poisson(mean) * (rng.random() > 0.03))).tolist()
        for _ in range(texts)
    ]
    for place in range(9, texts, 31):
        made[place] = made[place - 5]
    return made


def same(one: TopK, other: TopK) -> bool:
    """To the last bit."""
    return np.array_equal(one.documents, other.documents) and np.array_equal(one.scores, other.scores)


def check(found: TopK, scores: NDArray[np.float64], k: int) -> None:
    """Answers are those of a full table of scores: the k highest above 0, of equal ones the first.

    Scores that differ by rounding alone may stand either way; only then.
    """
    for documents, best, expected in zip(found.documents, found.scores, scores, strict=True):
        known = expected.round(12)
        order = np.lexsort((np.arange(len(known)), -known))
        order = order[known[order] > 0][:k]
        there = documents >= 0
        assert there.sum() == len(order)
        np.testing.assert_allclose(best[: len(order)], expected[order], rtol=0, atol=1e-12)
        np.testing.assert_allclose(best[there], expected[documents[there]], rtol=0, atol=1e-12)
        ties = best[: len(order) - 1] - best[1 : len(order)] if len(order) else np.zeros(0)
        assert (ties >= 0).all()
        assert (np.diff(documents[: len(order)])[ties == 0] > 0).all()
        assert not best[len(order) :].any()


def counted(texts: Sequence[Sequence[int]], words: int) -> NDArray[np.float64]:
    return np.array([np.bincount(text, minlength=words) for text in texts], dtype=float)


def bm25(documents: NDArray[np.float64], queries: NDArray[np.float64]) -> NDArray[np.float64]:
    df = (documents > 0).sum(0)
    idf = np.where(df > 0, np.log(1 + (len(documents) - df + 0.5) / (df + 0.5)), 0)
    lengths = documents.sum(1, keepdims=True)
    gains = documents / (documents + 1.5 * (1 - 0.75 + 0.75 * lengths / lengths.mean()))
    return np.asarray(queries @ (gains * idf).T)


def cosines(documents: NDArray[np.float64], queries: NDArray[np.float64], idf: NDArray[np.float64]) -> Any:
    normed = [
        weights / np.maximum(np.linalg.norm(weights, axis=1, keepdims=True), 1e-300)
        for weights in (documents * idf, queries * idf)
    ]
    return normed[1] @ normed[0].T


def expected(weighting: str, idf: str, texts: list[list[int]], asked: list[list[int]], words: int) -> Any:
    documents, queries = counted(texts, words), counted(asked, words)
    if weighting == "bm25":
        return bm25(documents, queries)
    df = (documents > 0).sum(0)
    if idf == "smooth":
        return cosines(documents, queries, np.where(df > 0, np.log((1 + len(texts)) / (1 + df)) + 1, 0))
    return cosines(documents, queries, np.log(len(texts) / np.maximum(df, 1)) * (df > 0))


def test_scores_worked_out_by_hand() -> None:
    """Three documents: rain rain coat, coat sun, sun; each word stands in 1, 2 and 2 of them.

    ln 3 = 1.0986 for rain, ln 1.5 = .4055 for the others. Asked for *rain coat*: (1.0986, .4055), norm 1.1711.
    The first document is (2.1972, .4055), norm 2.2343: (1.0986 * 2.1972 + .4055^2) / (1.1711 * 2.2343) = .9854.
    The second is (.4055, .4055), norm .5734: .4055^2 / (1.1711 * .5734) = .2448. The third shares no word.
    """
    index = Index.of(*ragged([[0, 0, 1], [1, 2], [2]]), words=3)
    found = index.search(*ragged([[0, 1]]), k=3)
    assert found.documents.tolist() == [[0, 1, -1]]
    assert found.scores.round(4).tolist() == [[0.9854, 0.2448, 0.0]]


def test_bm25_worked_out_by_hand() -> None:
    """The same documents, mean length 2. Rarity: rain ln(1 + 2.5/1.5) = .9808, coat ln(1 + 1.5/2.5) = .4700.

    First document, length 3: k = 1.5 (.25 + .75 * 1.5) = 2.0625. Rain 2 / (2 + 2.0625) = .4923, coat 1 / 3.0625 =
    .3265: .9808 * .4923 + .4700 * .3265 = .6363. Second, length 2: k = 1.5, coat 1 / 2.5: .4700 * .4 = .1880.
    """
    index = Index.of(*ragged([[0, 0, 1], [1, 2], [2]]), words=3, weighting="bm25")
    found = index.search(*ragged([[0, 1]]), k=2)
    assert found.documents.tolist() == [[0, 1]]
    assert found.scores.round(4).tolist() == [[0.6363, 0.1880]]


@formulas
def test_it_finds_what_the_formula_finds(weighting: Any, idf: Any) -> None:
    words = 400
    texts, asked = zipf(1, 500, words, 25), zipf(2, 300, words, 8)
    index = Index.of(*ragged(texts), words, weighting=weighting, idf=idf)
    for k in (1, 10, 700):
        check(index.search(*ragged(asked), k=k), expected(weighting, idf, texts, asked, words), k)


@pytest.mark.parity
def test_smooth_weights_are_those_of_scikit_learn() -> None:
    text = pytest.importorskip("sklearn.feature_extraction.text")
    words = 300
    texts, asked = zipf(5, 200, words, 20), zipf(6, 100, words, 6)
    asked[0] = [*asked[0], words + 5]  # unknown to both
    spoken = [[" ".join(f"w{word}" for word in one) for one in several] for several in (texts, asked)]
    vectorizer = text.TfidfVectorizer(token_pattern=r"\w+")  # noqa: S106 - no password
    documents = vectorizer.fit_transform(spoken[0])
    scores = (vectorizer.transform(spoken[1]) @ documents.T).toarray()
    index = Index.of(*ragged(texts), words, idf="smooth")
    check(index.search(*ragged(asked), k=200), scores, 200)
    for word, place in vectorizer.vocabulary_.items():
        assert index.idf_weights[int(word[1:])] == pytest.approx(vectorizer.idf_[place], abs=1e-15)


TEXTS = st.lists(st.lists(st.integers(0, 11), max_size=9), min_size=1, max_size=24)
laws = examples(40)


@laws
@given(TEXTS, st.lists(st.lists(st.integers(-2, 15), max_size=6), max_size=4), st.data())
def test_documents_may_come_in_parts(texts: list[list[int]], asked: list[list[int]], data: st.DataObject) -> None:
    weighting, idf = data.draw(st.sampled_from(FORMULAS))
    cuts = sorted(data.draw(st.lists(st.integers(0, len(texts)), max_size=3)))
    whole = Index.of(*ragged(texts), words=12, weighting=weighting, idf=idf)  # type: ignore[arg-type]
    first, *rest = pairwise([0, *cuts, len(texts)])
    parts = Index.of(*ragged(texts[slice(*first)]), words=12, weighting=weighting, idf=idf)  # type: ignore[arg-type]
    for cut in rest:
        parts = parts.add(*ragged(texts[slice(*cut)]), words=12)
    k = data.draw(st.integers(1, len(texts) + 3))
    assert len(parts) == len(whole) == len(texts)
    assert same(parts.search(*ragged(asked), k=k), whole.search(*ragged(asked), k=k))


@laws
@given(TEXTS, st.lists(st.lists(st.integers(-2, 15), max_size=6), max_size=4), st.data())
def test_shards_merged_are_the_whole(texts: list[list[int]], asked: list[list[int]], data: st.DataObject) -> None:
    weighting, idf = data.draw(st.sampled_from(FORMULAS))
    count, k = data.draw(st.integers(1, len(texts))), data.draw(st.integers(1, len(texts) + 3))
    cut = data.draw(st.integers(0, len(texts)))
    whole = Index.of(*ragged(texts[:cut]), words=12, weighting=weighting, idf=idf)  # type: ignore[arg-type]
    whole = whole.add(*ragged(texts[cut:]), words=12)
    shards = whole.shards(count)
    assert [len(shard) > 0 for shard in shards] == [True] * count
    with open_engine() as engine, Sharded(engine, shards) as sharded:
        assert same(sharded.search(*ragged(asked), k=k), whole.search(*ragged(asked), k=k))
    for shard in shards:  # and a shard can be cut again
        assert same(shard.shards(1)[0].search(*ragged(asked), k=k), shard.search(*ragged(asked), k=k))


@formulas
def test_jobs_do_not_matter(weighting: Any, idf: Any) -> None:
    texts, asked = ragged(zipf(7, 3000, 500, 12)), ragged(zipf(8, 90, 500, 6))
    one = Index.of(*texts, 500, weighting=weighting, idf=idf)
    four = Index.of(*texts, 500, weighting=weighting, idf=idf, jobs=4)
    assert same(one.search(*asked, k=7), four.search(*asked, k=7, jobs=3))
    kept = four.arrays()
    for name, values in one.arrays().items():
        assert np.array_equal(values, kept[name]), name


@pytest.mark.parametrize("documents", [0, 1, 7, 8, 20])
def test_an_engine_may_count(documents: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("postil.comments.index.DOCUMENTS", 4)
    texts = ragged(zipf(21, documents, 40, 6))
    with open_engine() as engine:
        there = Index.of(*texts, 40, engine=engine).arrays()
    for name, values in Index.of(*texts, 40).arrays().items():
        assert np.array_equal(values, there[name]), name
        assert values.dtype == there[name].dtype


@laws
@given(TEXTS, st.sampled_from(FORMULAS), st.data())
def test_cosines_are_those_of_the_search(texts: list[list[int]], formula: Any, data: st.DataObject) -> None:
    weighting, idf = formula
    asked = data.draw(st.lists(st.integers(-1, 13), max_size=6))
    whole = Index.of(*ragged(texts[:1]), words=12, weighting=weighting, idf=idf).add(*ragged(texts[1:]), words=12)
    every = np.arange(len(texts), dtype=np.int32)
    found = whole.cosines(np.array(asked, dtype=np.int32), every)
    there = {word for text in texts for word in text}
    queries = counted([[word for word in asked if word in there]], 12)
    strange = len(asked) - queries.sum()  # words that no document has are like rare ones here
    documents = np.pad(counted(texts, 12), ((0, 0), (0, int(strange))))
    queries = np.pad(queries, ((0, 0), (0, int(strange))), constant_values=1)
    idf_weights = np.pad(whole.idf_weights, (0, int(strange)), constant_values=whole.idf_weights.max())
    np.testing.assert_allclose(found, cosines(documents, queries, idf_weights)[0], rtol=0, atol=1e-12)


def test_unknown_words_are_passed_over() -> None:
    index = Index.of(*ragged([[0, 1], [2]]), words=4)
    alone, more = (index.search(*ragged([query]), k=2) for query in ([0], [-1, 0, 3, 4, 2**31 - 1]))
    assert same(alone, more)


@formulas
def test_nothing_finds_nothing(weighting: Any, idf: Any) -> None:
    index = Index.of(*ragged([[], [0, 1], [], [1, 2]]), words=5, weighting=weighting, idf=idf)
    found = index.search(*ragged([[], [4], [9]]), k=2)  # no words; one that no document has; one unknown
    assert found.documents.tolist() == [[-1, -1]] * 3
    assert found.scores.tolist() == [[0, 0]] * 3
    assert found.documents.dtype == np.int32
    assert index.search(*ragged([]), k=2).documents.shape == (0, 2)
    for empty in (ragged([]), ragged([[], []])):
        none = Index.of(*empty, words=2, weighting=weighting, idf=idf)
        assert none.search(*ragged([[0], []]), k=2).documents.tolist() == [[-1, -1]] * 2
        assert none.add(*ragged([[0], [1]]), words=2).search(*ragged([[1]]), k=1).documents.max() == 1 + len(none)


def test_a_word_in_all_documents_says_nothing_by_plain_idf() -> None:
    texts, asked = ragged([[0, 1], [0, 2], [0]]), ragged([[0]])
    assert Index.of(*texts, words=3).search(*asked, k=3).documents.tolist() == [[-1, -1, -1]]
    # By the others it says little, but something: the shorter a document, the more.
    assert Index.of(*texts, words=3, idf="smooth").search(*asked, k=3).documents.tolist() == [[2, 0, 1]]
    assert Index.of(*texts, words=3, weighting="bm25").search(*asked, k=3).documents.tolist() == [[2, 0, 1]]


@laws
@given(TEXTS, TEXTS, st.data())
def test_what_is_taken_is_an_index_of_its_own(
    texts: list[list[int]], asked: list[list[int]], data: st.DataObject
) -> None:
    weighting, idf = data.draw(st.sampled_from(FORMULAS))
    cut, kept = data.draw(st.integers(0, len(texts))), data.draw(st.sets(st.sampled_from(range(len(texts)))))
    whole = Index.of(*ragged(texts[:cut]), 12, weighting=weighting, idf=idf).add(*ragged(texts[cut:]), 12)  # type: ignore[arg-type]
    taken = whole.take(np.array(sorted(kept), dtype=np.int64))
    alone = Index.of(*ragged([texts[at] for at in sorted(kept)]), words=12, weighting=weighting, idf=idf)  # type: ignore[arg-type]
    assert len(taken) == len(kept)
    assert same(taken.search(*ragged(asked), k=5), alone.search(*ragged(asked), k=5))


@examples(20)
@given(st.lists(st.integers(0, 40), min_size=1, max_size=12))
def test_an_index_that_grows_daily_has_few_segments(days: list[int]) -> None:
    index = Index.of(*ragged([[0]] * days[0]), words=1)
    for day in days[1:]:
        index = index.add(*ragged([[0]] * day), words=1)
        sizes = [*map(len, index.segments)]
        assert all(one >= 2 * other for one, other in pairwise(sizes))
        assert len(sizes) <= np.log2(max(1, len(index))) + 1
    assert len(index) == sum(days)


@formulas
def test_equal_documents_stand_in_their_order_across_segments(weighting: Any, idf: Any) -> None:
    index = Index.of(*ragged([[0, 1], [2], [0, 1]]), words=3, weighting=weighting, idf=idf)
    index = index.add(*ragged([[2, 2], [0, 1]]), words=3).add(*ragged([[1, 0]]), words=3)
    found = index.search(*ragged([[1, 0]]), k=10)
    assert found.documents.tolist() == [[0, 2, 4, 5, -1, -1, -1, -1, -1, -1]]
    assert len(set(found.scores[0, :4].tolist())) == 1


def test_added_documents_may_have_new_words() -> None:
    index = Index.of(*ragged([[0], [1]]), words=2).add(*ragged([[3, 0]]), words=4)
    assert index.idf_weights.tolist() == [np.log(1.5), np.log(3), 0.0, np.log(3)]
    assert index.search(*ragged([[3]]), k=1).documents.tolist() == [[2]]
    assert index.collection.frequencies.tolist() == [2, 1, 0, 1]


def opened(folder: Path, name: str, expected: Expected) -> NDArray[Any]:
    return open_array(folder / f"{name}.npy", expected, remake="this test")


@formulas
def test_an_index_comes_back_from_files(weighting: Any, idf: Any, tmp_path: Path) -> None:
    index = Index.of(*ragged(zipf(9, 1500, 60, 30)), 60, weighting=weighting, idf=idf)
    index = index.add(*ragged(zipf(10, 40, 70, 9)), 70)
    names = index.arrays()
    for name, values in names.items():
        np.save(tmp_path / f"{name}.npy", values, allow_pickle=False)
    kept = Index.of_arrays(partial(opened, tmp_path), 2, weighting, idf, len(index.idf_weights))
    asked = ragged(zipf(11, 50, 70, 5))
    assert same(index.search(*asked, k=5), kept.search(*asked, k=5))
    assert kept.arrays().keys() == names.keys()
    assert isinstance(kept.arrays()["0.forward.1"], np.memmap)
    grown = kept.add(*ragged([[0, 69]]), 70)  # reads the files, and leaves them alone
    assert same(grown.search(*asked, k=5), index.add(*ragged([[0, 69]]), 70).search(*asked, k=5))


def filled(value: float) -> Callable[[NDArray[Any]], NDArray[Any]]:
    return lambda array: np.full_like(array, value)


@pytest.mark.parametrize(
    ("name", "change", "problem"),
    [
        ("0.forward.0", filled(2**40), "expected offsets of the terms of documents"),
        ("0.forward.1", filled(-5), "expected rising terms of a document, below their number"),
        ("0.forward.2", lambda array: array.astype(np.int64), r"expected uint16\[\d+\], got int64\["),
        ("0.postings.0", lambda array: np.append(0, array[:0:-1]), "expected int64.*, offsets that rise from 0 to"),
        ("0.postings.0", lambda array: array[:-1], r"expected int64\[401\], offsets that .*, got int64\[400\]"),
        ("0.postings.1", filled(2**31 - 5), "expected rising documents of a term, below their number"),
        ("0.postings.1", filled(-70_000), "expected rising documents of a term, below their number"),
        ("0.postings.1", lambda array: array[:-9], r"expected int32\[\d+\], got int32"),
        ("0.postings.2", lambda array: array.reshape(1, -1), r"expected uint16\[\d+\], got uint16\[1, "),
        ("0.normalization", filled(np.nan), "expected a finite factor of a document, from 0"),
        ("0.normalization", filled(-1.0), "expected a finite factor of a document, from 0"),
        ("0.bounds.0", filled(np.inf), "expected a finite bound of a term, from 0"),
        ("0.bounds.1", lambda array: array[:1], r"expected uint16\[\d+\], got uint16\[1\]"),
        ("0.bounds.2", lambda array: array.astype(">f4"), r"expected float32\[5\] .*, got float32 of the other byte"),
        ("0.bounds.3", lambda array: array[:3], r"expected uint8\[3840\], got uint8\[3\]"),
        ("0.bounds.4", filled(400), r"expected int32\[\d+\] from 0 to 399, got 400 to 400"),
        ("0.bounds.5", lambda array: array[:3], r"expected float32\[960\], got float32\[3\]"),
        ("0.bounds.6", filled(np.nan), r"expected float32\[1\] from 0, got nan"),
        ("0.bounds.7", lambda array: array[:3], r"expected uint8\[\d+\], got uint8\[3\]"),
    ],
)
@pytest.mark.skipif(kernel.NAME == "python", reason="the pure-Python kernel reads no rows")
def test_arrays_that_were_changed(name: str, change: Any, problem: str, tmp_path: Path) -> None:
    texts = zipf(9, 900, 400, 12)
    for each, values in Index.of(*ragged(texts), 400).arrays().items():
        np.save(tmp_path / f"{each}.npy", change(values) if each == name else values)
    with pytest.raises(InvalidInput, match=rf"{name}\.npy: {problem}.*; was the folder copied whole"):
        Index.of_arrays(partial(opened, tmp_path), 1, "tf-idf", "plain", 400).search(*ragged(texts[:50]), k=5)


@pytest.mark.parametrize(
    ("name", "change", "problem"),
    [
        ("0.forward.0", filled(2**40), "expected ascending offsets of documents"),
        ("0.forward.0", lambda array: -array, "expected ascending offsets of documents"),
        ("0.forward.0", lambda array: array[::-1].copy(), "expected ascending offsets of documents"),
        ("0.forward.1", filled(-5), "expected terms of a document below their number"),
        ("0.forward.1", filled(400), "expected terms of a document below their number"),
    ],
)
def test_cosines_with_arrays_that_were_changed(name: str, change: Any, problem: str, tmp_path: Path) -> None:
    texts = zipf(9, 90, 400, 12)
    for each, values in Index.of(*ragged(texts), 400).arrays().items():
        np.save(tmp_path / f"{each}.npy", change(values) if each == name else values)
    index = Index.of_arrays(partial(opened, tmp_path), 1, "tf-idf", "plain", 400)
    index.__dict__["collection"] = Index.of(*ragged(texts), 400).collection  # which reads the postings
    with pytest.raises(InvalidInput, match=rf"{name}\.npy: {problem}; was the folder copied whole"):
        index.cosines(np.array(texts[0], np.int32), np.arange(9, dtype=np.int32))


@formulas
def test_many_groups_of_documents(weighting: Any, idf: Any) -> None:
    """The compiled search skips groups of documents; what it skips is never an answer."""
    rng = np.random.default_rng(12)
    texts = [rng.integers(0, 30, 6).tolist() for _ in range(9000)]
    texts[8990] = [29, 28, 27, 31]
    index = Index.of(*ragged(texts), words=32, weighting=weighting, idf=idf)
    asked = [*zipf(13, 20, 30, 4), [31, 29], list(range(32)) * 2]
    check(index.search(*ragged(asked), k=15), expected(weighting, idf, texts, asked, 32), 15)


def test_merged_answers() -> None:
    def top(documents: list[int], scores: list[float]) -> TopK:
        return TopK(np.array([documents], dtype=np.int32), np.array([scores]))

    one, two = top([3, 1, -1], [0.9, 0.5, 0.0]), top([0, -1], [0.5, 0.0])
    assert merge([two, one], [0, 1], 2).documents.tolist() == [[4, 0]]
    assert merge([two, one], [0, 1], 7).documents.tolist() == [[4, 0, 2, -1, -1, -1, -1]]
    assert merge([two, one], [0, 1], 7).scores.tolist() == [[0.9, 0.5, 0.5, 0, 0, 0, 0]]


@pytest.mark.parametrize(
    ("act", "kind", "message"),
    [
        (lambda: Index((), weighting="tfidf"), UnknownName, "unknown weighting 'tfidf'; did you mean 'tf-idf'"),
        (lambda: Index((), idf="smoth"), UnknownName, "unknown idf 'smoth'; did you mean 'smooth'"),
        (lambda: small().search(*ragged([[0]]), k=0), UsageError, "at least one document per query, got 0"),
        (lambda: small().add(*ragged([[0]]), words=2), UsageError, "expected 3 words or more, got 2"),
        (lambda: small().shards(2)[0].add(*ragged([[0]]), words=3), UsageError, "cannot grow by itself"),
        (lambda: small().shards(2)[0].take(np.arange(1)), UsageError, "cannot shrink by itself"),
        (lambda: small().shards(0), UsageError, "expected 1 to 2 shards, got 0"),
        (lambda: small().shards(3), UsageError, "expected 1 to 2 shards, got 3"),
        (lambda: Index.of(*ragged([[3]]), words=3), ValueError, "out of range"),
        (lambda: Index.of(*ragged([[-1]]), words=3), ValueError, "out of range"),
    ],
)
def test_what_makes_no_sense_is_refused(act: Callable[[], object], kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message):
        act()


def small() -> Index:
    return Index.of(*ragged([[0, 1], [2]]), words=3)


def test_the_names_are_those_of_the_formulas() -> None:
    assert {weighting for weighting, _ in FORMULAS} == set(WEIGHTINGS)
    assert Counter(idf for weighting, idf in FORMULAS if weighting == "tf-idf") == dict.fromkeys(IDF, 1)


def test_an_index_lies_with_worker_processes() -> None:
    with open_engine("local", jobs=2) as engine:
        for weighting, idf in FORMULAS:
            index = Index.of(*ragged(zipf(14, 400, 90, 9)), 90, weighting=weighting, idf=idf)  # type: ignore[arg-type]
            with Sharded(engine, index.shards(3)) as sharded:
                for k in (1, 150, 500):
                    asked = ragged(zipf(k, 20, 95, 4))
                    assert same(sharded.search(*asked, k=k), index.search(*asked, k=k))
                with pytest.raises(UsageError, match="at least one document"):
                    sharded.search(*asked, k=0)


# Any code point, half a surrogate pair too: JSON may hold one.
STRINGS = st.lists(st.text(st.characters(codec=None), max_size=12), max_size=12)


@given(STRINGS)
def test_texts_come_back(texts: list[str]) -> None:
    strings = StringArray.of(texts)
    assert len(strings) == len(texts)
    assert [strings[place] for place in range(len(strings))] == texts
    assert (strings.data.dtype, strings.offsets.dtype) == (np.uint8, np.int64)


@given(STRINGS, st.data())
def test_texts_are_copied_and_joined(texts: list[str], data: st.DataObject) -> None:
    places = data.draw(st.lists(st.integers(0, len(texts) - 1), max_size=20)) if texts else []
    strings = StringArray.of(texts)
    taken = strings.take(np.array(places, np.int64))
    assert strings.texts(np.array(places, np.int64)) == [texts[place] for place in places]
    assert [taken[place] for place in range(len(taken))] == [texts[place] for place in places]
    both = StringArray.concatenate([strings, taken, StringArray.of([])])
    expected = StringArray.of([*texts, *(texts[place] for place in places)])
    assert both.offsets.tolist() == expected.offsets.tolist()
    assert both.data.tobytes() == expected.data.tobytes()


def test_a_damaged_text_is_named() -> None:
    strings = StringArray(np.frombuffer(b"ab\xff", np.uint8), np.array([0, 2, 3]), "texts.npy")
    assert strings.texts(np.array([0, 0])) == ["ab", "ab"]
    with pytest.raises(InvalidInput, match=r"^texts\.npy: text 1: expected UTF-8, got b'\\xff'"):
        strings.texts(np.array([0, 1]))


def test_texts_travel_between_processes() -> None:
    again = pickle.loads(pickle.dumps(StringArray.of(["rain", "雨"])))  # noqa: S301 - our own
    assert again[1] == "雨"
