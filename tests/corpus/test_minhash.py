from __future__ import annotations

import random
from collections import defaultdict
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from exploration import examples
from postil.corpus.duplicates import BINS, SHINGLE, minhash_signatures, signature_groups, similarity, word_hashes

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
