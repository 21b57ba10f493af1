from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from postil.corpus.options import Share
from postil.corpus.splits import EXCLUDED, LATER, UNASSIGNED, split_articles, split_by_date
from postil.data.fields import draw_key
from postil.errors import UsageError
from refusals import refused

TRAIN, DEV, TEST = range(3)


@pytest.mark.parametrize(
    ("text", "size"), [("0", 0), ("7", 7), ("0.05", 50), ("0.0005", 0), ("0.0015", 2), ("0.", 0), (".5", 500)]
)
def test_sizes_and_fractions(text: str, size: int) -> None:
    assert Share.parse(text).of(1000) == size
    assert [str(Share.parse(each)) for each in ("5000", "0.05", "0")] == ["5000", "0.05", "0"]


@pytest.mark.parametrize("text", ["", "-1", "1.0", "1.5", "-0.1", "nan", "inf", "1e3", "5%", "many"])
def test_what_is_neither(text: str) -> None:
    said = refused(UsageError, Share.parse, text)
    assert said == f"expected a number of articles such as 5000, or a fraction such as 0.05, got '{text}'"


@st.composite
def requests(draw: st.DrawFn) -> tuple[list[int], list[int], list[int], list[bool]]:
    count = draw(st.integers(1, 30))
    several = {"min_size": count, "max_size": count}
    return (
        draw(st.permutations(range(count))),
        draw(st.lists(st.integers(0, 12), **several)),
        draw(st.lists(st.sampled_from([UNASSIGNED, UNASSIGNED, UNASSIGNED, TRAIN, DEV, TEST, EXCLUDED]), **several)),
        draw(st.lists(st.booleans(), **several)),
    )


@given(requests(), st.integers(0, 8), st.integers(0, 8))
def test_laws(request: tuple[list[int], list[int], list[int], list[bool]], dev: int, test: int) -> None:
    keys, groups, told = (np.array(values) for values in request[:3])
    able = np.array(request[3])
    taken = set(groups[told >= 0].tolist())
    free = {group for group, can, given in zip(groups, able, told, strict=True) if can and given == UNASSIGNED} - taken
    arguments = keys.astype(np.uint64), groups, told.astype(np.int8), able
    if test > len(free):
        with pytest.raises(UsageError, match=f"test: expected {test} eligible articles, got {len(free)}"):
            split_articles(*arguments, dev=dev, test=test)
        return
    split = split_articles(*arguments, dev=dev, test=test)
    codes = split.codes
    assert not (codes == UNASSIGNED).any()
    for group in set(groups.tolist()):  # no group straddles
        assert len(set(codes[(groups == group) & (codes != EXCLUDED)].tolist())) <= 1
    drawn = (told == UNASSIGNED) & (codes == TEST)
    assert drawn.sum() == test
    assert able[drawn].all()
    assert len(set(groups[drawn].tolist())) == test  # one of a group
    assert ((told == UNASSIGNED) & (codes == DEV)).sum() <= dev
    assert (codes[told == TEST] == TEST).all()  # what is given stays, unless it is like what is given for a later split
    assert np.isin(codes[told == DEV], [DEV, EXCLUDED]).all()
    assert (codes[told == EXCLUDED] == EXCLUDED).all()
    assert sum(split.excluded.values()) == (codes == EXCLUDED).sum() - (told == EXCLUDED).sum()


@given(st.permutations(range(20)), st.integers(0, 5), st.integers(0, 5), st.integers(0, 19))
def test_an_article_more_moves_at_most_one_a_set(keys: list[int], dev: int, test: int, new: int) -> None:
    """Without near duplicates one leaves test, for dev or train; one leaves dev, for train."""

    def drawn(articles: list[int]) -> list[set[int]]:
        count = len(articles)
        codes = split_articles(
            np.array([keys[article] for article in articles], dtype=np.uint64), np.arange(count),
            np.full(count, UNASSIGNED, dtype=np.int8), np.ones(count, dtype=bool), dev=dev, test=test,
        ).codes  # fmt: skip
        return [{article for article, code in zip(articles, codes, strict=True) if code == split} for split in range(3)]

    few, many = drawn([article for article in range(20) if article != new]), drawn(list(range(20)))
    for split in (TEST, DEV):
        assert len(few[split] - many[split]) <= 1
    assert few[TRAIN] <= many[TRAIN]


@given(st.integers(0, 10**6))
def test_the_order_of_the_input_does_not_matter(seed: int) -> None:
    random = np.random.default_rng(seed)
    count = 40
    keys = random.permutation(count).astype(np.uint64)
    groups, able = random.integers(0, 25, count), random.random(count) < 0.5
    told = np.full(count, UNASSIGNED, dtype=np.int8)
    order = random.permutation(count)
    one = split_articles(keys, groups, told, able, dev=6, test=3).codes
    other = split_articles(keys[order], groups[order], told, able[order], dev=6, test=3).codes
    assert other.tolist() == one[order].tolist()
    names = ("a",), ("b",), ("a", "b"), ("ab",), ("\ud800",)
    drawn = [draw_key(key, *name) for key in (1, 2) for name in names]
    assert len(set(drawn)) == len(drawn)
    assert all(0 <= key < 2**64 for key in drawn)


@given(requests(), st.lists(st.integers(0, 9), min_size=30, max_size=30), st.integers(0, 8), st.integers(0, 8))
def test_laws_of_a_split_by_date(
    request: tuple[list[int], list[int], list[int], list[bool]], days: list[int], dev: int, test: int
) -> None:
    keys, groups, told = (np.array(values) for values in request[:3])
    able, times = np.array(request[3]), np.array(days[: len(keys)])
    told = np.where(told == EXCLUDED, EXCLUDED, UNASSIGNED).astype(np.int8)
    test = min(test, len(set(groups[able & (told == UNASSIGNED)].tolist())))
    found = split_by_date(times, keys.astype(np.uint64), groups, told, able, dev=dev, test=test)
    codes = found.codes
    at = {split: times[codes == split] for split in (TRAIN, DEV, TEST)}
    for older, newer in ((TRAIN, DEV), (TRAIN, TEST), (DEV, TEST)):
        if len(at[older]) and len(at[newer]):
            assert at[older].max() <= at[newer].min()
        assert not set(groups[codes == older]) & set(groups[codes == newer])
    assert len(at[TEST]) == test
    assert len(set(groups[codes == TEST].tolist())) == test
    assert able[codes == TEST].all()
    assert len(at[DEV]) == dev or not len(at[TRAIN])
    assert (codes[told == EXCLUDED] == EXCLUDED).all()
    assert sum(found.excluded.values()) == ((codes == EXCLUDED) & (told == UNASSIGNED)).sum()
    if test:  # what is eligible and no near duplicate is never left out for its date
        later = (codes == EXCLUDED) & (told == UNASSIGNED) & (times > at[TEST].min())
        assert found.excluded.get(LATER, 0) <= (later & ~able).sum()


DATED = [
    # ties go by key; the newest are test
    (
        [3, 1, 2, 3, 2, 1],
        [9, 8, 7, 6, 5, 4],
        [0, 1, 2, 3, 4, 5],
        [1] * 6,
        (2, 1),
        [DEV, TRAIN, TRAIN, TEST, DEV, TRAIN],
    ),
    # a group has the date of its newest article
    ([6, 5, 4, 3, 2, 1], range(6), [0, 1, 1, 0, 2, 1], [1] * 6, (2, 1), [TEST, DEV, DEV, EXCLUDED, TRAIN, EXCLUDED]),
    # what may not be test is no train article of its time
    ([6, 5, 4, 4, 2, 1], range(6), range(6), [0, 1, 0, 1, 0, 1], (1, 2), [EXCLUDED, TEST, DEV, TEST, TRAIN, TRAIN]),
]
REASONS: list[dict[str, int]] = [
    {}, {"near duplicates of test articles": 1, "near duplicates of dev articles": 1}, {LATER: 1}
]  # fmt: skip


@pytest.mark.parametrize("case", range(3), ids=["ties", "groups", "not eligible"])
def test_splits_by_date(case: int) -> None:
    times, keys, groups, able, (dev, test), codes = DATED[case]
    arrays = np.array(times), np.array(keys, np.uint64), np.array(groups), np.full(6, UNASSIGNED, np.int8)
    found = split_by_date(*arrays, np.array(able, bool), dev=dev, test=test)
    assert (found.codes.tolist(), found.excluded) == (codes, REASONS[case])
