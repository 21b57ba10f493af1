"""Near duplicates: signatures of long texts, short texts by all pairs, and passages of a topic that are one."""

from __future__ import annotations

import random
from collections import defaultdict
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from exploration import examples
from postil.corpus.duplicates import (
    BINS,
    SHINGLE,
    jaccard_similarity,
    merge_duplicates,
    minhash_signatures,
    near_duplicates,
    signature_groups,
    similarity,
    word_hashes,
    words_of,
)
from postil.data.rows import Passage
from postil.errors import UsageError

if TYPE_CHECKING:
    from numpy.typing import NDArray

WORDS = [f"w{number}" for number in range(3_000)]
FREE = 2**32 - 1
HASHES = [13680520678302806356, 1690761661169379080, 8709516150594395909]
SKETCH = [323105776, 323065273, 323024770]


def signatures_of(texts: list[list[str]]) -> NDArray[np.uint32]:
    offsets = np.cumsum([0, *map(len, texts)])
    return minhash_signatures(word_hashes([word for text in texts for word in text]), offsets)


def jaccard(one: list[str], other: list[str]) -> float:
    sets = [{tuple(text[at : at + SHINGLE]) for at in range(max(1, len(text) - SHINGLE + 1))} for text in (one, other)]
    return len(sets[0] & sets[1]) / len(sets[0] | sets[1])


def changed(text: list[str], share: float, draw: random.Random) -> list[str]:
    return [draw.choice(WORDS) if draw.random() < share else word for word in text]


def test_a_signature_estimates_the_similarity() -> None:
    draw = random.Random(3)  # noqa: S311 - no secret
    errors = []
    for share in (0.0, 0.01, 0.02, 0.05, 0.1, 0.3):
        for _ in range(60):
            text = draw.choices(WORDS, k=draw.randint(120, 400))
            other = changed(text, share, draw)
            estimate = float(similarity(*(signatures_of([each]) for each in (text, other)))[0])
            truth = jaccard(text, other)
            errors.append(estimate - truth)
            assert abs(errors[-1]) <= 5 * (truth * (1 - truth) / BINS) ** 0.5 + 0.05
    assert abs(np.mean(errors)) < 0.01  # no bias: 360 errors of at most .0625 each give .0033
    assert np.std(errors) < 1 / 16


def test_texts_shorter_than_a_shingle() -> None:
    """Places that no shingle chose borrow; a like text borrows the same."""
    draw = random.Random(5)  # noqa: S311 - no secret
    errors = []
    for _ in range(200):
        text = draw.choices(WORDS, k=24)  # 20 shingles for 64 places
        other = [*text[:-1], "other"]  # 19 of 21 in common
        errors.append(float(similarity(signatures_of([text]), signatures_of([other]))[0]) - 19 / 21)
    assert abs(np.mean(errors)) < 0.02


@pytest.mark.parametrize("length", range(7))
def test_very_short_texts(length: int) -> None:
    text = WORDS[:length]
    found = signatures_of([text, text, [*text, "other"], ["other", *text]])
    same, longer, shifted = (float(similarity(found[:1], found[place : place + 1])[0]) for place in (1, 2, 3))
    assert same == (length > 0)  # a text without words is like no other, nor like itself
    assert longer < 1
    assert shifted < 1
    assert (found[0] == FREE).all() == (length == 0)


def test_a_signature_depends_on_its_text_alone() -> None:
    draw = random.Random(7)  # noqa: S311 - no secret
    texts = [draw.choices(WORDS, k=k) for k in (0, 1, 3, 4, 5, 6, 30, 0, 100, 2, 0)]
    together = signatures_of(texts)
    assert np.array_equal(together, np.concatenate([signatures_of([text]) for text in texts]))
    assert together.dtype == np.uint32
    assert together.shape == (11, BINS)
    assert signatures_of([]).shape == (0, BINS)


def test_signatures_are_the_same_everywhere() -> None:
    """A build that goes on, on another machine, must group alike."""
    assert word_hashes(["a", "Ünder", "\ud800"]).tolist() == HASHES
    found = signatures_of([["to", "be", "or", "not", "to", "be"]])
    assert [int(value) for value in found[0, :3]] == SKETCH


def test_words_have_numbers_of_their_own() -> None:
    draw = random.Random(13)  # noqa: S311 - no secret
    letters = "ab\u0101\u4e00\U00020000"
    words = sorted({"".join(draw.choices(letters, k=draw.randint(1, 12))) for _ in range(20_000)})
    hashes = word_hashes(words)
    assert len(set(hashes.tolist())) == len(words)
    assert word_hashes(words[::-1]).tolist() == hashes.tolist()[::-1]
    bits = np.unpackbits(hashes.view(np.uint8)).reshape(-1, 64).mean(axis=0)
    assert abs(bits - 0.5).max() < 0.03  # every bit is as often set as not: 5 times its deviation is .018
    assert word_hashes([]).tolist() == []


def partition(groups: NDArray[np.int64]) -> set[frozenset[int]]:
    found = defaultdict(set)
    for text, group in enumerate(groups.tolist()):
        found[group].add(text)
    assert all(group == min(texts) for group, texts in found.items())
    return {frozenset(texts) for texts in found.values()}


def brute(signatures: NDArray[np.uint32], threshold: float) -> set[frozenset[int]]:
    """All pairs compared, and the pairs joined."""
    groups = [{text} for text in range(len(signatures))]
    for one in range(len(signatures)):
        alike = similarity(np.broadcast_to(signatures[one], signatures.shape), signatures) >= threshold
        for other in alike.nonzero()[0].tolist():
            if groups[one] is not groups[other]:
                groups[one] |= groups[other]
                for text in groups[other]:
                    groups[text] = groups[one]
    return {frozenset(group) for group in groups}


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("threshold", [0.78, 0.8, 0.9, 1.0])
def test_near_duplicates_as_by_comparing_all(seed: int, threshold: float) -> None:
    """From a similarity above .75 on every pair has a band in common, whatever the luck."""
    draw = random.Random(seed)  # noqa: S311 - no secret
    texts = []
    for _ in range(60):
        text = draw.choices(WORDS, k=draw.randint(3, 150))
        texts += [changed(text, draw.choice([0, 0.005, 0.01, 0.02, 0.05]), draw) for _ in range(draw.randint(1, 8))]
    draw.shuffle(texts)
    found = signatures_of([*texts, [], []])
    assert partition(signature_groups(found, threshold)) == brute(found, threshold)


@examples(30)
@given(st.integers(0, 10**6))
def test_groups_do_not_depend_on_the_order(seed: int) -> None:
    draw = random.Random(seed)  # noqa: S311 - no secret
    texts = [changed(WORDS[place : place + 60], draw.choice([0, 0.01, 0.03]), draw) for place in range(0, 300, 30)] * 3
    order = list(range(len(texts)))
    draw.shuffle(order)
    groups = partition(signature_groups(signatures_of(texts), 0.8))
    other = partition(signature_groups(signatures_of([texts[place] for place in order]), 0.8))
    assert groups == {frozenset(order[place] for place in group) for group in other}


def test_what_only_shares_its_frame_is_no_duplicate() -> None:
    """A long notice under every article: similarity about .5; true duplicates far apart are still found."""
    draw = random.Random(11)  # noqa: S311 - no secret
    frame = draw.choices(WORDS, k=70)
    texts = [frame + draw.choices(WORDS, k=30) for _ in range(1_000)]
    texts.append(changed(texts[3], 0.01, draw))
    groups = partition(signature_groups(signatures_of(texts), 0.8))
    assert frozenset({3, 1_000}) in groups
    assert len(groups) == 1_000


def test_nothing_to_compare() -> None:
    assert signature_groups(np.zeros((0, BINS), dtype=np.uint32), 0.8).tolist() == []
    assert signature_groups(np.full((3, BINS), FREE, dtype=np.uint32), 0.8).tolist() == [0, 1, 2]


TEXTS = st.one_of(
    st.lists(st.sampled_from(["a", "A", "b", "c", "d"]), max_size=9).map(" ".join),
    st.sampled_from(["", " ", "…", "!?", "🎉🎉", "你好", "a, b."]),
)
THRESHOLDS = st.integers(1, 12).flatmap(lambda whole: st.integers(1, whole).map(lambda part: part / whole))
"""Fractions as similarities are, so that many are equal to the threshold."""


def first_alike(texts: list[str], order: list[int], threshold: float) -> list[int]:
    first, kept = list(range(len(texts))), list[int]()
    for text in order:
        found = [one for one in kept if jaccard_similarity(texts[one], texts[text]) >= threshold]
        if found:
            first[text] = found[0]
        else:
            kept.append(text)
    return first


@given(
    st.lists(TEXTS, max_size=12).flatmap(lambda texts: st.tuples(st.just(texts), st.permutations(range(len(texts))))),
    THRESHOLDS,
)
def test_as_by_comparing_all(given: tuple[list[str], list[int]], threshold: float) -> None:
    texts, order = given
    assert near_duplicates(texts, order, threshold).tolist() == first_alike(texts, order, threshold)


@pytest.mark.parametrize("threshold", [0.05, 0.3, 0.6, 0.7, 1])
def test_variants_of_long_texts(threshold: float) -> None:
    """Texts that share all but a few of their bigrams, frequent or rare."""
    rng = np.random.default_rng(7)
    texts = []
    for _ in range(12):
        words = rng.zipf(1.4, rng.integers(1, 60)).clip(max=500)
        for share in (0, 0.05, 0.1, 0.2, 0.3):
            changed = rng.random(len(words)) < share
            texts.append(" ".join(map(str, np.where(changed, rng.zipf(1.4, len(words)).clip(max=500), words).tolist())))
    order = rng.permutation(len(texts)).tolist()
    found = near_duplicates(texts, order, threshold).tolist()
    assert found == first_alike(texts, order, threshold)
    assert len({*found}) < len(texts)


@pytest.mark.parametrize("order", [[0, 1], [1, 0]])
def test_a_text_within_another(order: list[int]) -> None:
    """Their similarity is the threshold, whose product with the size of the larger is rounded up."""
    inner = "a b c d e f"
    texts = [inner, " ".join([inner, *map(str, range(17)), "f"])]
    assert jaccard_similarity(*texts) == 7 / 25
    assert 7 / 25 * 25 > 7
    assert near_duplicates(texts, order, 7 / 25).tolist() == [order[0]] * 2


def test_words_have_their_marks() -> None:
    assert words_of("वह दान, वे दिन") == ["वह", "दान", "वे", "दिन"]
    assert jaccard_similarity("वह दान", "वे दिन") == 0.0
    assert jaccard_similarity("re\u0301sume\u0301 cafe\u0301", "Résumé café") == 1.0
    assert words_of("น้ำ2 iPhone") == [*"น\u0e49\u0e4d\u0e32", "2", "iphone"]  # one by one; NFKC parts the last


HEAD, TAIL = "The quick brown fox jumps", "over a lazy dog by night."  # 25 characters each


def passage(text: str, grade: float | None = None, *, topic: str = "t", name: str = "p") -> Passage:
    return Passage(topic, name, text, grade=grade)


def test_the_best_stays_where_the_first_stood() -> None:
    rows = [
        passage(f"{HEAD} {TAIL}", 0.5, name="first"),
        passage("Another", 1, name="other"),
        passage(f"{HEAD} gladly {TAIL}", 2, name="best"),
        passage(f"{HEAD} sadly {TAIL}", 2, name="equal"),
        passage(f"{HEAD} never {TAIL}", name="ungraded"),
    ]
    merged = merge_duplicates(rows)
    assert [row.id for row in merged.passages] == ["best", "other"]
    assert (merged.groups, merged.dropped) == (1, 3)


@pytest.mark.parametrize(
    "other",
    [
        passage(f"{HEAD} {TAIL}", topic="u"),
        passage(f"the{HEAD[3:]} {TAIL}"),
        passage(f"{HEAD[:-1]}- {TAIL}"),
        passage(f"{HEAD} x{TAIL[1:]}"),
    ],
    ids=["another topic", "another case", "character 25", "character 25 from the end"],
)
def test_what_is_not_alike(other: Passage) -> None:
    assert merge_duplicates([passage(f"{HEAD} {TAIL}"), other]).dropped == 0
    assert merge_duplicates([passage(f"{HEAD}a{TAIL}"), passage(f"{HEAD}b{TAIL}")]).dropped == 1  # character 26
    assert [row.text for row in merge_duplicates(map(passage, ["", "a", "ab", "a", ""])).passages] == ["", "a", "ab"]
    with pytest.raises(UsageError, match="at least 1 character at either end, got 0"):
        merge_duplicates([], 0)


@given(st.lists(st.builds(passage, st.text("ab", max_size=6), st.sampled_from([None, 0.0, 1.0]))), st.integers(1, 4))
def test_against_a_plain_reading(rows: list[Passage], characters: int) -> None:
    merged = merge_duplicates(rows, characters)
    groups: dict[tuple[str, str], list[Passage]] = {}
    for row in rows:
        groups.setdefault((row.text[:characters], row.text[-characters:]), []).append(row)
    best = [max(group, key=lambda row: -1 if row.grade is None else row.grade) for group in groups.values()]
    assert merged.passages == best
    assert merged.dropped == len(rows) - len(best)
    assert merged.groups == sum(len(group) > 1 for group in groups.values())
    assert merge_duplicates(merged.passages, characters).dropped == 0
