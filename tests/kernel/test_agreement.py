"""The compiled kernel and the pure-Python kernel give the same numbers."""

from __future__ import annotations

import unicodedata

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from exploration import examples
from postil.kernel import python
from postil.kernel.python.interning import SPLIT

compiled = pytest.importorskip("postil.kernel._compiled", reason="the compiled kernel was not built")

TEXTS = st.text(st.characters(exclude_categories=[]), max_size=12)


def ragged(texts):
    offsets = np.zeros(len(texts) + 1, dtype=np.int64)
    np.cumsum([len(text) for text in texts], out=offsets[1:])
    return np.array([word for text in texts for word in text], dtype=np.int32), offsets


@st.composite
def problems(draw, longest=12):
    """Candidates, sets of references and weights over a small vocabulary, so that words repeat and chunks compete."""
    words = draw(st.integers(1, 6))
    text = st.lists(st.integers(0, words - 1), max_size=longest)
    sets = draw(st.lists(st.lists(text, min_size=1, max_size=4), min_size=1, max_size=4))
    candidates = draw(st.lists(text, min_size=1, max_size=5))
    of_row = np.array([draw(st.integers(0, len(sets) - 1)) for _ in candidates], dtype=np.int32)
    references = [text for texts in sets for text in texts]
    set_offsets = np.concatenate([[0], np.cumsum([len(texts) for texts in sets])]).astype(np.int64)
    weights = np.array([draw(st.sampled_from([0.0, 0.25, 0.5, 1.0, 0.3])) for _ in references])
    return ragged(candidates), of_row, ragged(references), set_offsets, weights, words


def long_problem(seed, lengths):
    """Texts of more than 64 words, where the compiled kernel takes its general path."""
    rng = np.random.default_rng(seed)
    words = 9
    candidates = [rng.integers(0, words, n).tolist() for n in lengths]
    references = [rng.integers(0, words, n).tolist() for n in rng.integers(40, 150, 9)]
    return (
        ragged(candidates),
        np.arange(3, dtype=np.int32),
        ragged(references),
        np.array([0, 3, 6, 9]),
        rng.random(9),
        words,
    )


def both(problem):
    candidates, of_row, references, set_offsets, _, _ = problem
    return [(kernel, kernel.overlap(*candidates, of_row, *references, set_offsets)) for kernel in (compiled, python)]


def agree(problem, call, *, exactly=False):
    first, second = (call(kernel, overlap) for kernel, overlap in both(problem))
    if exactly:
        np.testing.assert_array_equal(first, second)
    else:
        np.testing.assert_allclose(first, second, rtol=1e-12, atol=1e-12)
    return first


def check_all(problem):
    candidates, _, references, _, weights, words = problem
    ones = np.ones(len(weights))
    for delta in (False, True):
        agree(problem, lambda k, o, delta=delta: k.bleu_stats(o, ones[None], 4, delta), exactly=True)
        stats = agree(problem, lambda k, o, delta=delta: k.bleu_stats(o, np.stack([weights, weights[::-1]]), 4, delta))
        for smooth in ("coco", "none", "exp", "floor", "add-k", "method0"):
            for effective in (False, True):
                scores = [k.bleu_score(stats, smooth, 0.1, effective) for k in (compiled, python)]
                np.testing.assert_allclose(*scores, rtol=1e-12, atol=1e-300)
    for united in (False, True):
        agree(problem, lambda k, o, united=united: k.rouge_l(o, weights, 1.44, united))
    for order, skip in ((1, -1), (2, -1), (1, 4), (1, 0)):
        agree(problem, lambda k, o, unit=(order, skip): k.rouge_n(o, ones, *unit), exactly=True)
        agree(problem, lambda k, o, unit=(order, skip): k.rouge_n(o, weights, *unit))
        agree(problem, lambda k, o, unit=(order, skip): k.ngram_matches(o, *unit), exactly=True)
    agree(problem, lambda k, o: k.ngram_matches(o, 6), exactly=True)
    agree(problem, lambda k, o: k.lcs_lengths(o), exactly=True)
    for every in (1, 3, 100):  # sentences of so many words, and where a text ends
        cuts = [np.unique(np.append(np.arange(0, len(ids), every), len(ids))) for ids, _ in (candidates, references)]
        agree(problem, lambda k, o, cuts=cuts: k.union_lcs(o, *cuts), exactly=True)

    function = (np.arange(words) % 3 == 0).astype(np.uint8)
    for parameters in ([0.85, 0.2, 0.6, 0.75], [0.9, 3.0, 0.5, 0.5]):
        for beam in (1, 3, 40):
            args = (parameters, [1.0, 0.6, 0.8], beam, candidates[0], references[0], function, None, None)
            for outside in (False, True):
                agree(problem, lambda k, o, args=args, there=outside: k.meteor(o, weights, *args, outside=there))


def check_frequencies(problem):
    _, _, references, set_offsets, weights, _ = problem
    groups = np.arange(len(set_offsets) - 1, dtype=np.int32) // 2
    counted = {k: k.count_grams(*references, set_offsets, groups, 4) for k in (compiled, python)}
    norms = {k: counted[k].norms(*references) for k in (compiled, python)}
    np.testing.assert_allclose(norms[compiled], norms[python], rtol=1e-12)
    for n in range(1, 5):
        tables = []
        for kernel in (compiled, python):
            grams, df = counted[kernel].table(n)
            tables.append(sorted(zip(map(tuple, grams.tolist()), df.tolist(), strict=True)))
        assert tables[0] == tables[1]
    for sigma in (0.0, 6.0):
        agree(problem, lambda k, o, sigma=sigma: k.cider(o, weights, counted[k], norms[k], sigma))
        unknown = {k: np.full(norms[k].shape, -1.0) for k in (compiled, python)}
        agree(problem, lambda k, o, sigma=sigma, unknown=unknown: k.cider(o, weights, counted[k], unknown[k], sigma))
        for kernel in (compiled, python):
            found = unknown[kernel] >= 0.0
            np.testing.assert_array_equal(unknown[kernel][found], norms[kernel][found])
    parts = [counted[python].table(n) for n in range(1, 5)]
    for kernel in (compiled, python):
        loaded = kernel.load_grams(counted[python].items, [p[0] for p in parts], [p[1] for p in parts])
        np.testing.assert_allclose(loaded.norms(*references), norms[python], rtol=1e-12)


@examples(150)
@given(problems())
def test_all_kernels_agree(problem):
    check_all(problem)
    check_frequencies(problem)


@pytest.mark.parametrize("lengths", [(65, 64, 63), (128, 130, 1), (200, 70, 0), (260, 3, 2)])
def test_all_kernels_agree_on_long_texts(lengths):
    problem = long_problem(sum(lengths), lengths)
    check_all(problem)
    check_frequencies(problem)


def test_very_long_texts_agree():
    """Above 4,096 words ROUGE-L keeps masks of frequent words alone."""
    rng = np.random.default_rng(5)
    candidate = (rng.zipf(1.3, 4200) % 3000).astype(np.int32)
    parts = [candidate[a : a + 30] if a % 2 else rng.permutation(candidate)[:40] for a in (7, 90, 1001, 4150)]
    references = [np.concatenate(parts).tolist(), (rng.zipf(1.3, 70) % 3000).tolist()]
    problem = (ragged([candidate.tolist()]), np.zeros(1, np.int32), ragged(references), np.array([0, 2]), None, 3000)
    weights = np.array([0.7, 0.9])
    for yes in (False, True):
        agree(problem, lambda k, o, delta=yes: k.bleu_stats(o, weights[None], 9, delta))
        agree(problem, lambda k, o, united=yes: k.rouge_l(o, weights, 1.44, united))
    agree(problem, lambda k, o: k.rouge_n(o, weights, 2))
    agree(problem, lambda k, o: k.ngram_matches(o, 9), exactly=True)
    agree(problem, lambda k, o: k.lcs_lengths(o), exactly=True)
    agree(
        problem, lambda k, o: k.union_lcs(o, np.array([0, 4200]), np.array([0, 100, len(problem[2][0])])), exactly=True
    )


@pytest.mark.parametrize(
    ("words", "call"),
    [
        (200_000, lambda o, w, _: compiled.rouge_l(o, w, 1.44, True)),
        (200_000, lambda o, _, ids: compiled.union_lcs(o, np.array([0, len(ids)]), np.array([0, len(ids)]))),
        (20_000, lambda o, w, ids: compiled.meteor(o, w, [0.9, 3, 0.5, 0.5], [1, 1, 1], 40, ids, ids,
                                                   np.zeros(1, np.uint8), None, None)),
    ],
)  # fmt: skip
def test_what_would_not_fit_into_memory_is_refused(words, call):
    ids, offsets = np.zeros(words, np.int32), np.array([0, words])
    overlap = compiled.overlap(ids, offsets, np.zeros(1, np.int32), ids, offsets, np.array([0, 1]))
    with pytest.raises(OverflowError, match=f"a candidate of {words} words and a reference of {words}"):
        call(overlap, np.ones(1), ids)


@examples(150)
@given(problems(longest=7), st.data())
def test_meteor_with_stems_and_synonyms_agrees(problem, data):
    candidates, of_row, references, set_offsets, weights, words = problem
    stem_of = np.array([data.draw(st.integers(0, 2)) for _ in range(words)], dtype=np.int32)
    senses = [sorted(data.draw(st.sets(st.integers(0, 4), max_size=2))) for _ in range(words)]
    offsets = np.concatenate([[0], np.cumsum([len(s) for s in senses])]).astype(np.int64)
    synsets = np.array([s for sense in senses for s in sense], dtype=np.int32)
    function = np.zeros(words, dtype=np.uint8)
    for synonyms in ((None, None), (offsets, synsets)):
        results = []
        for kernel in (compiled, python):
            overlap = kernel.overlap(
                stem_of[candidates[0]], candidates[1], of_row, stem_of[references[0]], references[1], set_offsets
            )
            args = ([0.85, 0.2, 0.6, 0.75], [1.0, 0.6, 0.8], 5, candidates[0], references[0], function, *synonyms)
            results.append([kernel.meteor(overlap, weights, *args, outside=there) for there in (False, True)])
        np.testing.assert_allclose(*results, rtol=1e-12, atol=1e-12)


@given(st.lists(TEXTS, max_size=6), st.lists(TEXTS, max_size=3), st.sampled_from(sorted(SPLIT)))
def test_interning_agrees(texts, more, splitting):
    interners = [compiled.Interner(), python.Interner()]
    for a, b in zip(*(interner.encode(texts, splitting) for interner in interners), strict=True):
        np.testing.assert_array_equal(a, b)
    assert interners[0].words() == interners[1].words()
    branches = [interner.branch() for interner in interners]
    for a, b in zip(*(branch.encode(more, splitting) for branch in branches), strict=True):
        np.testing.assert_array_equal(a, b)
    assert branches[0].words(1) == branches[1].words(1)
    assert len(branches[0]) == len(branches[1])
    for interner in interners:
        with pytest.raises(ValueError, match="branches"):
            interner.encode(texts, splitting)


MARKS = st.sampled_from([*python.interning.marks()])
SIGNS = MARKS | st.sampled_from("\u200c\u200d\xad_ aé1中かก") | st.characters()


@examples(2000)
@given(st.text(SIGNS, max_size=12), st.sampled_from(["words", "unspaced"]))
def test_words_with_marks_agree(text, splitting):
    interners = [compiled.Interner(), python.Interner()]
    for a, b in zip(*(interner.encode([text], splitting) for interner in interners), strict=True):
        np.testing.assert_array_equal(a, b)
    assert interners[0].words() == interners[1].words()


def test_every_character_within_a_word():
    texts = [f"a{chr(code)}b" for code in range(0x110000)]
    words = []
    for kernel in (compiled, python):
        interner = kernel.Interner()
        ids, offsets, _ = interner.encode(texts, "words")
        known = interner.words()
        words.append((known, ids.tolist(), offsets.tolist()))
    assert words[0] == words[1]
    parts = np.diff(offsets) > 1
    for code in range(0x110000):
        one = chr(code).lower()
        inside = code in {0x5F, 0xAD, 0x200C, 0x200D} or one.isalnum() or unicodedata.category(one[-1])[0] == "M"
        assert parts[code] != inside, hex(code)


@given(st.lists(st.lists(TEXTS, max_size=5), max_size=5))
def test_interning_of_tokens_agrees(token_lists):
    interners = [compiled.Interner(), python.Interner()]
    for a, b in zip(*(interner.encode_tokens(token_lists) for interner in interners), strict=True):
        np.testing.assert_array_equal(a, b)
    assert interners[0].words() == interners[1].words()


@given(st.lists(TEXTS, max_size=8), st.sets(TEXTS, max_size=8), st.integers(0, 3))
def test_flags_agree(words, others, start):
    words = [*words, "THE", "Über", "\u212aelvin", "×", "ΣΑΣ", "İ"]
    lowered = frozenset([*others, *(word.lower() for word in words[::2])])
    flags = []
    for kernel in (compiled, python):
        interner = kernel.Interner()
        interner.encode_tokens([words])
        flags.append(interner.flags(lowered, start).tolist())
        assert len(flags[-1]) == len(interner) - start
    assert flags[0] == flags[1]


def test_a_long_word_is_one_word():
    texts = ["x" * n for n in (7, 8, 9, 15, 16, 17, 1000)] + ["é" * 9, "我" * 4, "我" * 5, "😀" * 2, "😀" * 3] * 2
    for kernel in (compiled, python):
        interner = kernel.Interner()
        ids, _, _ = interner.encode(texts, "space")
        assert interner.words() == list(dict.fromkeys(texts))
        assert ids.tolist()[-5:] == ids.tolist()[-10:-5]


def test_threads_change_no_id():
    """Nor any score: tests/law."""
    rng = np.random.default_rng(3)
    texts = [" ".join(map(str, rng.zipf(1.3, 9) % 500)) for _ in range(4000)]
    one, two = (compiled.Interner().encode(texts, "space", jobs) for jobs in (1, 3))
    for a, b in zip(one, two, strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("kernel", [compiled, python])
def test_what_the_kernel_refuses(kernel):
    interner = kernel.Interner()
    with pytest.raises(TypeError, match="str"):
        interner.encode_tokens(["ab"])
    with pytest.raises(TypeError, match="text 1"):
        interner.encode(["a", 1], "space")
    with pytest.raises(ValueError, match="expected space, words"):
        interner.encode(["a"], "letters")
    with pytest.raises(ValueError, match="branch"):
        interner.branch().branch()
