"""Pooled references of passages, and the texts that leave them while a passage is scored."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from postil.errors import Undefined, UnknownName, UsageError
from postil.metrics.passage_pools import FOLDS, Pools, folds_of, informativeness, interestingness, one_pool

SEED = 20181


def read(pools: Pools) -> dict[int, tuple[set[int], set[int]]]:
    """For each scored passage: the passages of its reference, and those of them that leave it."""
    found = {}
    for pool in range(len(pools)):
        begin, end = pools.reference_offsets[pool], pools.reference_offsets[pool + 1]
        inside = pools.references[begin:end].tolist()
        assert len(set(inside)) == len(inside)
        for at in range(pools.text_offsets[pool], pools.text_offsets[pool + 1]):
            own = pools.own_of(at)
            assert ((begin <= own) & (own < end)).all(), "own references are of the passage's pool"
            assert int(pools.texts[at]) not in found, "a passage is scored once"
            found[int(pools.texts[at])] = set(inside), set(pools.references[own].tolist())
    return found


def weights_of(pools: Pools) -> dict[int, float]:
    return dict(zip(pools.references.tolist(), pools.weights.tolist(), strict=True))


# Informativeness: rows 0 1 3 are of topic 0, rows 2 4 of topic 1, row 5 of topic 2, where nothing is informative
TOPICS = [0, 0, 1, 0, 1, 2]
WEIGHTS = [1.0, 0.0, 0.25, 0.5, 0.0, 0.0]


def test_what_is_informative_for_a_topic_is_its_reference_and_leaves_it_alone() -> None:
    pools = informativeness(TOPICS, WEIGHTS)
    assert read(pools) == {0: ({0, 3}, {0}), 1: ({0, 3}, set()), 3: ({0, 3}, {3}), 2: ({2}, {2}), 4: ({2}, set())}
    assert weights_of(pools) == {0: 1.0, 3: 0.5, 2: 0.25}


def test_a_topic_without_informative_passages_is_not_scored() -> None:
    pools = informativeness(TOPICS, WEIGHTS)
    assert len(pools) == 2
    assert 5 not in pools.texts


def test_nothing_informative_at_all() -> None:
    with pytest.raises(Undefined, match="no passage has a grade above 0"):
        informativeness([0, 1], [0.0, 0.0])
    with pytest.raises(Undefined, match="no passage has a grade above 0"):
        interestingness([0, 1], [0.0, 0.0], [0, 1], [0, 1])


def test_everything_inside_is_the_same_without_anyone_leaving() -> None:
    pools = informativeness(TOPICS, WEIGHTS)
    inside = pools.all_inside()
    assert [leaving for _, leaving in read(inside).values()] == [set()] * 5
    for name in ("reference_offsets", "references", "weights", "text_offsets", "texts"):
        np.testing.assert_array_equal(getattr(inside, name), getattr(pools, name))


def test_even_pools_have_the_same_passages_with_weight_1() -> None:
    pools = informativeness(TOPICS, WEIGHTS)
    assert read(pools.unweighted()) == read(pools)
    assert pools.unweighted().weights.tolist() == [1.0, 1.0, 1.0]
    assert pools.weights.tolist() != [1.0, 1.0, 1.0], "the pools themselves stay as they are"


def test_numbers_of_the_kernel() -> None:
    pools = informativeness(TOPICS, WEIGHTS)
    assert (pools.references.dtype, pools.texts.dtype, pools.weights.dtype) == (np.int32, np.int32, np.float64)
    for name in ("reference_offsets", "text_offsets", "own", "own_begins", "own_ends"):
        assert getattr(pools, name).dtype == np.int64, name


# Interestingness: three topics, a fold each; rows 0 3 4 say the same, and so do 1 5


def others() -> Pools:
    topics = [0, 0, 1, 1, 2, 2]
    weights = [1.0, 0.0, 0.5, 0.25, 0.75, 1.0]
    return interestingness(topics, weights, [7, 8, 9, 7, 7, 8], [0, 1, 2])


def test_the_reference_is_what_is_informative_in_other_folds_without_equal_texts() -> None:
    assert read(others()) == {
        0: ({2, 3, 4, 5}, {3, 4}),
        1: ({2, 3, 4, 5}, {5}),
        2: ({0, 4, 5}, set()),
        3: ({0, 4, 5}, {0, 4}),
        4: ({0, 2, 3}, {0, 3}),
        5: ({0, 2, 3}, set()),  # row 1 says the same and is not informative
    }


def test_weights_are_those_of_the_topic_that_a_passage_was_graded_for() -> None:
    pools = others()
    assert sorted(zip(pools.references.tolist(), pools.weights.tolist(), strict=True)) == sorted(
        2 * [(0, 1.0), (2, 0.5), (3, 0.25), (4, 0.75), (5, 1.0)]  # each is in the pools of the two other folds
    )


def test_a_text_of_several_topics_is_pooled_once_on_demand() -> None:
    topics = [0, 0, 1, 1, 2, 2]
    weights = [1.0, 0.0, 0.5, 0.25, 0.75, 1.0]
    pools = interestingness(topics, weights, [7, 8, 9, 7, 7, 8], [0, 1, 2], once=True)
    assert read(pools) == {
        0: ({2, 4, 5}, {4}),  # rows 3 and 4 say the same; the grade of 4 is higher
        1: ({2, 4, 5}, {5}),
        2: ({0, 5}, set()),  # as 0 and 4 do
        3: ({0, 5}, {0}),
        4: ({0, 2}, {0}),
        5: ({0, 2}, set()),
    }
    assert pools.weights.tolist() == [0.5, 0.75, 1.0, 1.0, 1.0, 1.0, 0.5]
    assert [leaving for _, leaving in read(pools.all_inside()).values()] == [set()] * 6


def test_texts_pooled_once_against_a_plain_reading() -> None:
    rng = np.random.default_rng(4)
    topics, same = rng.integers(0, 9, 200), rng.integers(0, 60, 200)
    weights = np.where(rng.random(200) < 0.5, rng.integers(1, 4, 200) / 3, 0.0)
    folds = folds_of(9, 4, seed=SEED)
    expected = {}
    for passage in range(200):
        inside = [r for r in range(200) if weights[r] > 0 and folds[topics[r]] != folds[topics[passage]]]
        best = {text: max(weights[r] for r in inside if same[r] == text) for text in {same[r] for r in inside}}
        first = {text: next(r for r in inside if same[r] == text and weights[r] == best[text]) for text in best}
        expected[passage] = set(first.values()), {r for r in first.values() if same[r] == same[passage]}
    assert read(interestingness(topics, weights, same, folds, once=True)) == expected


def test_many_passages_against_a_plain_reading() -> None:
    rng = np.random.default_rng(3)
    topics, same = rng.integers(0, 9, 300), rng.integers(0, 120, 300)
    weights = np.where(rng.random(300) < 0.4, rng.random(300), 0.0)
    folds = folds_of(9, 4, seed=SEED)
    expected = {}
    for passage in range(300):
        inside = {r for r in range(300) if weights[r] > 0 and folds[topics[r]] != folds[topics[passage]]}
        expected[passage] = inside, {r for r in inside if same[r] == same[passage]}
    assert read(interestingness(topics, weights, same, folds)) == expected


@pytest.mark.parametrize("folds", [[0, 0], [0]])
def test_one_fold_has_no_others(folds: list[int]) -> None:
    topics = list(range(len(folds)))
    with pytest.raises(Undefined, match="two topics at least, and there is one"):
        interestingness(topics, [1.0] * len(topics), topics, folds)


def test_all_that_is_informative_in_one_fold() -> None:
    with pytest.raises(Undefined, match='in the fold of "bread", so its passages have no reference'):
        interestingness([0, 1], [0.0, 1.0], [0, 1], [0, 1], names=["ducks", "bread"])
    with pytest.raises(Undefined, match="every informative passage is in one fold"):
        interestingness([0, 1], [0.0, 1.0], [0, 1], [0, 1])


# Folds


def test_copies_of_a_text_take_no_more_than_their_places() -> None:
    n = 3000
    topics, ones = np.arange(n) % 6, np.ones(n)
    pools = interestingness(topics, ones, np.zeros(n), np.arange(6))
    assert len(pools.own_of(0)) == n * 5 // 6, "all of the other topics leave"
    assert len(pools.own) == len(pools.references) == 5 * n
    fewer, same = pools.distinct()
    assert (len(fewer.texts), len(fewer.own_lists()[1])) == (6, 5 * n)
    assert (fewer.texts[same] == pools.texts % 6).all()
    assert fewer.text_offsets.tolist() == [0, 1, 2, 3, 4, 5, 6]


def test_passages_without_a_run_stay_as_they_are() -> None:
    pools = one_pool([0, 0, 1, 2, 1], references=[2], weights=[0.5], texts=[0, 1, 2, 3, 4])
    fewer, same = pools.distinct()
    assert (fewer.texts.tolist(), same.tolist()) == ([0, 1, 2, 3], [0, 1, 2, 3, 2])
    assert [fewer.own_of(place).tolist() for place in range(4)] == [[], [], [0], []]
    assert others().distinct()[0].texts.tolist() == others().texts.tolist()


@pytest.mark.parametrize("by", ["seed", "order", "consecutive"])
@pytest.mark.parametrize(("topics", "folds"), [(2, 12), (12, 12), (63, 12), (43, 12), (5, 2), (1, 12), (0, 12)])
def test_folds_differ_by_one_topic_at_most(by: str, topics: int, folds: int) -> None:
    found = folds_of(topics, folds, by=by, seed=SEED)  # type: ignore[arg-type]
    assert (len(found), found.dtype) == (topics, np.int32)
    sizes = Counter(found.tolist())
    assert sorted(sizes) == list(range(min(folds, topics)))
    assert not sizes or max(sizes.values()) - min(sizes.values()) <= 1


def test_folds_by_order() -> None:
    assert folds_of(7, 3, by="order", seed=1).tolist() == [0, 1, 2, 0, 1, 2, 0]
    assert folds_of(7, 3, by="order", seed=2).tolist() == folds_of(7, 3, by="order", seed=1).tolist()


def test_folds_that_are_runs() -> None:
    assert folds_of(7, 3, by="consecutive", seed=1).tolist() == [0, 0, 0, 1, 1, 2, 2]
    assert folds_of(63, by="consecutive", seed=1).tolist() == sorted(folds_of(63, by="order", seed=1).tolist())


def test_folds_by_seed() -> None:
    one, again, other = (folds_of(63, seed=seed).tolist() for seed in (SEED, SEED, SEED + 1))
    assert one == again
    assert one != other
    assert one != folds_of(63, by="order", seed=SEED).tolist()
    assert max(one) == FOLDS - 1 == 11


def test_folds_that_cannot_be() -> None:
    with pytest.raises(UsageError, match="folds: expected at least 2, got 1"):
        folds_of(5, 1, seed=SEED)
    with pytest.raises(UnknownName, match="unknown way to make folds 'ordr'; did you mean 'order'"):
        folds_of(5, by="ordr", seed=SEED)  # type: ignore[arg-type]
