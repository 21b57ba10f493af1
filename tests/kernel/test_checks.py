"""Numbers and lines that cannot be are refused by both kernels, in the same words, before anything is read by them."""

from __future__ import annotations

import gc
import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernels import KERNELS, compiled, each_kernel, needs_both
from postil.kernel import python

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType


FAR = 2**40
WORDS = 200


def i32(*values: int) -> Any:
    return np.array(values, dtype=np.int32)


def i64(*values: int) -> Any:
    return np.array(values, dtype=np.int64)


def parts() -> dict[str, Any]:
    """The arrays of an index of 400 documents; no word is in so many of them that its list is not read."""
    ids = np.random.default_rng(0).permuted(np.tile(np.arange(WORDS, dtype=np.int32), (20, 1)), axis=1).ravel()
    rows = python.count_terms(ids, np.arange(0, len(ids) + 1, 10))
    lists = python.invert(*rows, WORDS)
    factors, scales = np.ones(400), np.ones(WORDS)
    bounds = python.search_bounds(lists, factors, scales, "cosine")
    return {"rows": rows, "lists": lists, "bounds": bounds, "factors": factors, "scales": scales, "gain": "cosine"}


def with_part(name: str, place: int, change: Callable[[Any], Any]) -> dict[str, Any]:
    index = parts()
    arrays = list(index[name])
    arrays[place] = change(arrays[place].copy())
    return index | {name: tuple(arrays)}


def search(kernel: ModuleType, index: dict[str, Any], starts: Any = None, k: int = 5) -> Any:
    starts = i64(0, 3) if starts is None else starts
    return kernel.searcher(**index).search(i32(1, 2, 3), starts, k)


def set_at(place: int, value: int) -> Callable[[Any], Any]:
    def change(array: Any) -> Any:
        array[place] = value
        return array

    return change


def filled(value: int) -> Callable[[Any], Any]:
    return lambda array: np.full_like(array, value)


def overlap(kernel: ModuleType, **given: Any) -> Any:
    arrays = {
        "candidate_ids": i32(1),
        "candidate_offsets": i64(0, 1),
        "sets": i32(0),
        "reference_ids": i32(1),
        "reference_offsets": i64(0, 1),
        "set_offsets": i64(0, 1),
    }
    return kernel.overlap(**arrays | given)


def meteor(
    kernel: ModuleType, *, words: Any = (1,), function: int = 2, senses: Any = (None, None), beam: int = 40
) -> Any:
    more = ([0.9, 3.0, 0.5, 0.5], [1.0, 1.0, 1.0], beam, i32(*words), i32(1), np.zeros(function, np.uint8), *senses)
    return kernel.meteor(overlap(kernel), np.ones(1), *more)


def pooled(kernel: ModuleType, *, counts: Any = (1,), weight: float = 1.0, units: Any = (0,)) -> Any:
    bags = i64(0, 1), i32(*units), i32(*counts)
    references = i64(0, 1), i32(0), np.array([weight])
    own = i64(0, 0), i64()
    return kernel.pooled_scores(bags, references, (i64(0, 1), i32(0)), own, [("rouge", 1.0)], np.ones(1), np.ones(1))


def index_with(name: str, place: int, change: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A search in an index one array of which is changed."""
    return lambda kernel: search(kernel, with_part(name, place, change))


def load(kernel: ModuleType, *grams: tuple[int, ...], df: tuple[int, ...] = (2,), items: int = 3) -> Any:
    """Document frequencies of one n-gram of each order."""
    arrays = [i32(*gram).reshape(1, len(gram)) for gram in grams]
    return kernel.load_grams(items, arrays, [i32(*df)] * len(arrays))


def one_list(documents: int = 0, *, end: int = 1) -> Any:
    return i64(0, end), i32(documents), np.ones(1, np.uint16)


def bounds_of(kernel: ModuleType, lists: Any) -> Any:
    return kernel.search_bounds(lists, np.ones(1), np.ones(1), "cosine")


def other_function_word(kernel: ModuleType) -> Any:
    numbers = [0.9, 3, 0.5, 0.5], [1, 1, 1], 9, i32(1), i32(1)
    return kernel.meteor(overlap(kernel), np.ones(1), *numbers, np.full(2, 3, np.uint8), None, None)


def norms_of_another_shape(kernel: ModuleType) -> Any:
    return kernel.cider(overlap(kernel), np.ones(1), load(kernel, (0,)), np.ones((1, 2)), 0.0)


def shorter(array: Any) -> Any:
    return np.append(array, array[:1]) if len(array) < 2 else array[:-1]


def wide(array: Any) -> Any:
    return array.astype(np.int64)


NO_RISE, TEXTS, SETS = (
    "expected rising documents of a term",
    "expected offsets of the words",
    "expected offsets of the set",
)
LISTS, ROWS = (
    "expected lists as arrays of int64, int32 and uint16",
    "expected rows as arrays of int64, int32 and uint16",
)
WEIGHTS, SENTENCES, EACH_WORD = (
    "expected a weight of every reference",
    "expected offsets of the se",
    "a number of each word",
)
FREQUENCIES, FACTOR = "expected document frequencies", "expected a finite factor of a document, from 0"

CALLS: dict[str, tuple[Callable[[Any], Any], str]] = {
    "documents above": (index_with("lists", 1, filled(2**31 - 5)), NO_RISE),
    "documents below 0": (index_with("lists", 1, filled(-70_000)), NO_RISE),
    "documents twice": (index_with("lists", 1, filled(3)), NO_RISE),
    "lists beyond": (index_with("lists", 0, lambda a: a * FAR), "expected offsets of the doc"),
    "lists of a type": (index_with("lists", 2, wide), LISTS),
    "rows of a type": (index_with("rows", 1, wide), ROWS),
    "rows in two dimensions": (index_with("rows", 1, lambda a: a.reshape(-1, 1)), ROWS),
    "few rows": (index_with("rows", 0, lambda a: a[:-1]), "expected a factor for each document"),
    "few counts": (index_with("rows", 2, lambda a: a[:-1]), "expected a count of each term"),
    **{
        f"short bounds {place}": (index_with("bounds", place, shorter), "expected the bounds of these lists")
        for place in (0, 1, 2, 3, 5, 6)
    },
    "a factor that is no number": (lambda k: search(k, parts() | {"factors": np.full(400, np.nan)}), FACTOR),
    "a factor below 0": (lambda k: search(k, parts() | {"factors": np.full(400, -1.0)}), FACTOR),
    "bounds of a type": (index_with("bounds", 0, np.float64), "expected bounds of search_bounds"),
    "queries beyond": (lambda k: search(k, parts(), i64(0, FAR)), TEXTS),
    "queries that fall": (lambda k: search(k, parts(), i64(0, 3, -5, 3)), TEXTS),
    "no queries": (lambda k: search(k, parts(), i64()), TEXTS),
    "a large k": (lambda k: search(k, parts(), i64(0, 1, 2, 3, 3), 2**62), "expected k below 2,147,483,648"),
    "bounds of far lists": (lambda k: bounds_of(k, one_list(end=FAR)), "expected offsets of the documents of terms"),
    "bounds of far documents": (lambda k: bounds_of(k, one_list(2**30)), "expected a factor for each document"),
    "terms beyond": (lambda k: k.count_terms(i32(1), i64(0, FAR)), TEXTS),
    "rows to invert": (lambda k: k.invert(*one_list(1, end=FAR), 4), "expected offsets of the terms"),
    "a negative term": (lambda k: k.invert(*one_list(-1), 4), "a term is out of range"),
    "no vocabulary": (lambda k: k.invert(*one_list(), -4), "a term is out of range"),
    "units beyond": (lambda k: k.count_units(i32(1), i64(0, FAR), 1), TEXTS),
    "a negative candidate": (lambda k: overlap(k, candidate_ids=i32(-(2**28))), "expected candidates as words from 0"),
    "a negative reference": (lambda k: overlap(k, reference_ids=i32(-1)), "expected references as words from 0"),
    "candidates beyond": (lambda k: overlap(k, candidate_offsets=i64(0, FAR)), "expected candidates as words from 0"),
    "a set beyond": (lambda k: overlap(k, sets=i32(2**28)), "expected sets of references that there are"),
    "sets beyond": (lambda k: overlap(k, set_offsets=i64(0, FAR)), SETS),
    "an empty set": (lambda k: overlap(k, set_offsets=i64(0, 0, 1)), "expected a reference in each set"),
    "few sets": (lambda k: overlap(k, sets=i32()), "expected a set of references for each candidate"),
    "BLEU's weights": (lambda k: k.bleu_stats(overlap(k), np.ones((1, 0)), 4), WEIGHTS),
    "ROUGE-L's weights": (lambda k: k.rouge_l(overlap(k), np.ones(0), 1.0, True), WEIGHTS),
    "ROUGE-N's weights": (lambda k: k.rouge_n(overlap(k), np.ones(2), 1), WEIGHTS),
    "n-grams of ten words": (lambda k: k.ngram_matches(overlap(k), 10), "expected an order from 1 to 9"),
    "skip-bigrams beside bigrams": (
        lambda k: k.ngram_matches(overlap(k), 2, 4),
        "expected skip-bigrams beside an order",
    ),
    "sentences beyond": (lambda k: k.union_lcs(overlap(k), i64(0, FAR), i64(0, 1)), SENTENCES),
    "sentences that fall": (lambda k: k.union_lcs(overlap(k), i64(0, 1), i64(0, 5, -3, 1)), SENTENCES),
    "no sentences": (lambda k: k.union_lcs(overlap(k), i64(), i64(0, 1)), SENTENCES),
    "few words of METEOR": (lambda k: meteor(k, words=()), EACH_WORD),
    "words of METEOR beyond": (lambda k: meteor(k, words=(2**28,)), EACH_WORD),
    "few function words": (lambda k: meteor(k, function=1), EACH_WORD),
    "a function word of another kind": (other_function_word, EACH_WORD),
    "no beam": (lambda k: meteor(k, beam=0), "expected 4 parameters, 3 weights and a beam"),
    "synsets beyond": (lambda k: meteor(k, senses=(i64(0, 0, FAR), i32(1))), "expected synsets of each word"),
    "few synsets": (lambda k: meteor(k, senses=(i64(0), i32())), "expected synsets of each word"),
    "items beyond": (lambda k: k.count_grams(i32(1), i64(0, 1), i64(0, FAR), i32(0), 2), SETS),
    "few items": (lambda k: k.count_grams(i32(1), i64(0, 1), i64(0, 1), i32(), 2), "expected an item for each set"),
    "a negative frequency": (lambda k: load(k, (0,), df=(-(2**30),)), FREQUENCIES),
    "a frequency of 0": (lambda k: load(k, (0,), df=(0,)), FREQUENCIES),
    "a frequency above the items": (lambda k: load(k, (0,), df=(4,)), FREQUENCIES),
    "few frequencies": (lambda k: load(k, (0,), df=()), "expected a document frequency of each"),
    "a negative word": (lambda k: load(k, (-3,)), "expected words from 0"),
    "an n-gram that begins nowhere": (lambda k: load(k, (1,), (0, 1)), "expected the first words of each n-gram among"),
    "norms of another shape": (norms_of_another_shape, "expected a norm of every reference in each order"),
    "a table that was not counted": (lambda k: load(k, (0,)).table(2), "expected an order that was counted"),
    "words before the first": (lambda k: k.Interner().words(-1), "expected a start from 0"),
    "a count of 0": (lambda k: pooled(k, counts=(0,)), "expected counts from 1 up"),
    "a weight that is no number": (lambda k: pooled(k, weight=float("nan")), "expected weights that are finite"),
    "a unit beyond": (lambda k: pooled(k, units=(2**31 - 1,)), "expected units"),
}


@each_kernel
@pytest.mark.parametrize("name", CALLS)
def test_numbers_that_cannot_be(kernel: ModuleType, name: str) -> None:
    call, problem = CALLS[name]
    with pytest.raises((TypeError, ValueError), match=problem):
        call(kernel)


@each_kernel
def test_a_searcher_keeps_what_it_looks_into(kernel: ModuleType) -> None:
    index = parts()
    expected = search(kernel, index)
    searcher = kernel.searcher(**index | {"factors": index["factors"].astype(np.float32)})  # which has to be converted
    index.clear()
    gc.collect()
    _ = [np.full(4000, 7) for _ in range(50)]
    found = searcher.search(i32(1, 2, 3), i64(0, 3), 5)
    assert [each.tolist() for each in found] == [each.tolist() for each in expected]


@needs_both
def test_rows_are_looked_at_too() -> None:
    """The compiled kernel scores by the rows, which the definition does not read."""
    for change in (filled(2**31 - 5), filled(-1), lambda array: array[::-1].copy()):
        with pytest.raises(ValueError, match="expected rising terms of a document, below their number"):
            search(compiled, with_part("rows", 1, change))
    with pytest.raises(ValueError, match="expected offsets of the terms of documents"):
        search(compiled, with_part("rows", 0, lambda array: array * FAR))


@needs_both
@pytest.mark.parametrize("place", range(8))
@pytest.mark.parametrize("value", [0, 255, -1, float("nan"), float("inf")])
def test_wrong_bounds_end_in_no_crash(place: int, value: float) -> None:
    """Documents may be missing from the answer; those that it has are documents."""
    with np.errstate(invalid="ignore"):
        changed = with_part("bounds", place, lambda array: np.full(len(array), value).astype(array.dtype))
    if place == 0 and not 0 <= value < np.inf:
        with pytest.raises(ValueError, match="expected a finite bound of a term, from 0"):
            search(compiled, changed)
        return
    documents, scores = search(compiled, changed)
    assert ((documents >= -1) & (documents < 400)).all()
    assert np.isfinite(scores).all()


@pytest.fixture(params=KERNELS, scope="module")
def plain_objects(request):
    return request.param.plain_objects


KEYS = st.one_of(st.sampled_from(["a", "b", "", 'q"', "\\", "é", "𝄞", "\x7f", "\n"]), st.text(max_size=2)).filter(
    lambda key: not any("\ud800" <= character <= "\udfff" for character in key)
)
VALUES = st.recursive(
    st.one_of(st.none(), st.integers(), st.sampled_from(['"', '":', "{", '\\"a\\":', "}"])),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.lists(st.tuples(KEYS, inner), max_size=20).map(tuple)),
    max_leaves=12,
)


def written(value, draw):
    """A value as JSON, objects as tuples of pairs; keys escaped or not, with blanks or without."""
    if isinstance(value, list):
        return f"[{','.join(written(inner, draw) for inner in value)}]"
    if isinstance(value, tuple):
        pairs = (
            f"{json.dumps(key, ensure_ascii=draw(st.booleans()))}{draw(st.sampled_from(['', ' ', '  ']))}:"
            f"{written(inner, draw)}"
            for key, inner in value
        )
        return f"{{{','.join(pairs)}}}"
    return json.dumps(value)


def is_plain(text):
    """Return True if a line is one object in which no key is repeated, by Python's parser."""
    twice = []

    def of_pairs(pairs):
        twice.append(len(dict(pairs)) < len(pairs))
        return dict(pairs)

    return isinstance(json.loads(text, object_pairs_hook=of_pairs), dict) and not any(twice)


@given(st.lists(VALUES, max_size=3), st.data())
def test_what_is_plain(plain_objects, values, data):
    lines = [written(value, data.draw) for value in values]
    assert plain_objects("\n".join(lines).encode()) == all(map(is_plain, lines))


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{}",
        b'{"a":1}\r\n {"a":1} \n',
        b'{"a":{"a":[{"a":1}]},"b":"a","c":"\\"a\\":"}',
        b'{"a\\\\":1,"a\\\\\\"":1}',
        b"{" + b",".join(b'"k%d":1' % n for n in range(100)) + b"}",
    ],
)
def test_plain_objects(plain_objects, data):
    assert plain_objects(data)


@pytest.mark.parametrize(
    "data",
    [
        b'{"a":1,"a":1}',
        b'{"a":1}\n{"b":1,"b":2}\n{"a":1}',
        b'{"text":1,"te\\u0078t" :1}',
        b'{"\\ud834\\udd1e":1,"\xf0\x9d\x84\x9e":1}',
        b'{"\\n":1,"\\u000a":1}',
        b'{"a\\\\":1,"a\\\\\\"":1,"a\\\\":2}',
        b"{" + b",".join(b'"k%d":1' % n for n in range(100)) + b',"k50":2}',
        b"{}{}",
        b"{}\n\n{}{}",
        b"{}\n{}{}\n\n",
        b'{"a":[\n{}]}{}',
        b'{"a":\n1}{}',
        b"[{}]",
        b"5",
        b"\n",
        b'{"a":1}\n{"b":1,"b',
    ],
)
def test_what_is_not_plain(plain_objects, data):
    assert not plain_objects(data)
