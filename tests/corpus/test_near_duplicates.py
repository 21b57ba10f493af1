"""Near duplicates, as by comparing every two texts, and passages of a topic that are one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from postil.corpus.duplicates import jaccard_similarity, merge_duplicates, near_duplicates, words_of
from postil.data.rows import Passage
from postil.errors import UsageError

TEXTS = st.one_of(
    st.lists(st.sampled_from(["a", "A", "b", "c", "d"]), max_size=9).map(" ".join),
    st.sampled_from(["", " ", "…", "!?", "🎉🎉", "你好", "a, b."]),
)
THRESHOLDS = st.integers(1, 12).flatmap(lambda whole: st.integers(1, whole).map(lambda part: part / whole))
"""Fractions as similarities are, so that many are equal to the threshold."""


def brute(texts: list[str], order: list[int], threshold: float) -> list[int]:
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
    assert near_duplicates(texts, order, threshold).tolist() == brute(texts, order, threshold)


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
    assert found == brute(texts, order, threshold)
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
