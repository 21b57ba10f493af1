from __future__ import annotations

import csv
import itertools
import math
import os
from pathlib import Path

import numpy as np
import pytest

from postil.errors import Undefined, UnknownName, UsageError
from postil.meta.coefficients import TABLE
from postil.meta.correlation import correlations
from postil.meta.parts import CEILING, HALVES, ONE
from postil.meta.reliability import SPLITS, MultipleRatings, ceiling, human_agreement
from postil.meta.resampling import Draws, bootstrap_counts
from rated_tables import rated_table

COEFFICIENTS = [name for name, each in TABLE.items() if not each.accuracy]
DATA = Path(os.environ.get("POSTIL_DATA", Path(__file__).parents[3] / "shared" / "data"))


def table(ratings, *, scores=None, **of):
    """A table of n texts, each with grades by annotator; by default each is an item of its own."""
    return rated_table({"x": scores or range(len(ratings))}, ratings, **of)


def pair(anns, bobs, **options):
    return table([{"ann": a, "bob": b} for a, b in zip(anns, bobs, strict=True)], **options)


def simulated(n, sizes, noise, *, systems=1, seed=1):
    """Grades are a text's worth plus noise, by whoever came along; the scores are the worth."""
    rng = np.random.default_rng(seed)
    worth = rng.normal(0, 1, n) + 0.5 * (np.arange(n) % systems)
    ratings = [
        {f"{rng.integers(10**9)}": each + noise * rng.normal() for _ in range(rng.choice(sizes))} for each in worth
    ]
    names = (np.arange(n) // systems).tolist(), (np.arange(n) % systems).tolist()
    return table(ratings, items=names[0], systems=names[1], scores=worth.tolist())


def human(*given, as_given=False, splits=SPLITS, by="pool", **drawn):
    """The reference points without the undefined ones."""
    table, coefficients, by = (*given, *(["pearson", "spearman", "kendall-b"], by)[len(given) - 1 :])
    return human_agreement(table, coefficients, by, Draws(**drawn), as_given=as_given, splits=splits)[0]


ANN = [1, 2, 2, 3, 4, 4, 5, 1, 2, 3]
BOB = [2, 2, 3, 3, 3, 5, 4, 1, 1, 4]


def test_two_annotators():
    found, absent = human_agreement(pair(ANN, BOB), draws=Draws(resamples=50))
    r = np.corrcoef(ANN, BOB)[0, 1]
    assert found.reliability == pytest.approx(r, abs=1e-15)
    assert found.ceiling == pytest.approx(math.sqrt(2 * r / (1 + r)))
    assert (found.rule, found.pairs, found.k, found.n, found.left_out) == ("annotators", 1, 2.0, 10, 0)
    assert absent == ()
    assert [(row.metric, row.coefficient, row.by) for row in found.rows] == [
        (name, coefficient, "pool") for name in (HALVES, ONE) for coefficient in ("pearson", "spearman", "kendall-b")
    ]
    # With two annotators, one against the other either way.
    one = found.rows[3]
    assert one.value == pytest.approx(r, abs=1e-12)
    assert one.n == 10
    assert [(row.annotator, row.n) for row in found.annotators[:2]] == [("ann", 10), ("bob", 10)]


def test_one_annotator_against_the_others():
    """Ratings as given: of each annotator with two texts, against the mean of the others, weighted by their texts."""
    ratings = [{"a": 1, "b": 2, "c": 4}, {"a": 3, "d": 5}, {"b": 2, "d": 2, "e": 3, "f": 1}, {"a": 5}, {"a": 2, "d": 1}]
    found = human(table(ratings), ["pearson"], resamples=50, as_given=True)
    points = {"a": [(1, 3), (3, 5), (2, 1)], "b": [(2, 2.5), (2, 2)], "d": [(5, 3), (2, 2), (1, 2)]}
    each = {name: np.corrcoef(*zip(*points[name], strict=True))[0, 1] for name in "ad"}
    assert {row.annotator: row.n for row in found.annotators} == {"a": 3, "b": 2, "c": 1, "d": 3, "e": 1, "f": 1}
    values = {row.annotator: row.value for row in found.annotators if row.value is not None}
    assert values == pytest.approx(each, abs=1e-12)  # b gave one grade
    assert found.rows[1].value == pytest.approx((each["a"] + each["d"]) / 2, abs=1e-12)
    assert (found.n, found.left_out, found.varying, found.adjusted) == (4, 1, True, False)
    assert found.k == pytest.approx(5 / (1 / 3 + 1 / 2 + 1 / 4 + 1 + 1 / 2))


def complete(seed, *, items=20, systems=4, biases=(0.0, 0.0, 0.0)):
    """Ratings of every text by every annotator, each with a bias."""
    rng = np.random.default_rng(seed)
    worth = rng.normal(3, 1, items * systems)
    ratings = [{f"r{a}": float(each + bias + rng.normal()) for a, bias in enumerate(biases)} for each in worth.tolist()]
    names = np.repeat(np.arange(items), systems).tolist(), np.tile(np.arange(systems), items).tolist()
    return table(ratings, items=names[0], systems=names[1])


@pytest.mark.parametrize("by", ["pool", "item", "system", "within-system"])
def test_one_annotator_on_a_complete_table(by):
    """The mean of the annotators' own correlations with the mean of the rest, at the level."""
    given = complete(3, biases=(0.0, 1.5, -0.5))
    found = human(given, ["pearson"], by, splits=5, resamples=20)
    grades = given.ratings.grades.reshape(-1, 3)
    rests = (grades.sum(axis=1, keepdims=True) - grades) / 2

    def at(x, y):
        if by == "system":
            x, y = (each.reshape(-1, 4).mean(axis=0) for each in (x, y))
        groups = {"item": given.item, "within-system": given.system}.get(by, np.zeros(len(x), int))
        rows = [groups == number for number in range(int(groups.max()) + 1)]
        return np.mean([np.corrcoef(x[row], y[row])[0, 1] for row in rows])

    each = [at(grades[:, a], rests[:, a]) for a in range(3)]
    assert [row.value for row in found.annotators] == pytest.approx(each, abs=1e-12)
    row = found.rows[1]
    assert (row.metric, row.by) == (ONE, by)
    assert row.value == pytest.approx(np.mean(each), abs=1e-12)
    assert row.low < row.value < row.high


@pytest.mark.parametrize("by", ["pool", "item", "system", "within-system"])
@pytest.mark.parametrize("coefficient", ["pearson", "spearman", "kendall-b"])
def test_a_constant_of_an_annotator_is_no_disagreement(coefficient, by):
    quality = np.random.default_rng(4).integers(1, 6, 48).tolist()
    ratings = [{"ann": q, "bob": q + 2, "dan": q + 4} for q in quality]
    for short, lacking in zip(ratings[::3], ("ann", "bob", "dan") * 6, strict=False):
        del short[lacking]
    names = np.repeat(np.arange(12), 4).tolist(), np.tile(np.arange(4), 12).tolist()
    given = table(ratings, items=names[0], systems=names[1])
    found = human(given, [coefficient], by, splits=8, resamples=20)
    halves, one = found.rows
    assert (halves.value, one.value) == pytest.approx((1, 1), abs=1e-12)
    assert found.adjusted


def test_constants_change_no_human_row():
    before, after = (human(complete(5, biases=(b, 0.0, -b)), splits=10, resamples=40) for b in (1.25, 2.5))
    assert before.adjusted
    for one, other in zip(before.rows, after.rows, strict=True):
        assert (one.value, one.low, one.high) == pytest.approx((other.value, other.low, other.high), abs=1e-9)
    assert before.ceiling == pytest.approx(after.ceiling, abs=1e-12)


@pytest.mark.parametrize("holes", [False, True])
def test_names_of_annotators_change_no_human_row(holes):
    """Halves are drawn by annotator where severities are taken out: by what was rated, not by names."""
    given = complete(5, biases=(1.5, 0.0, -1.5))
    grades = given.ratings.grades.reshape(-1, 3)
    rows = []
    for names in ("abc", "cab", "zyx"):
        ratings = [dict(zip(names, row, strict=True)) for row in grades.tolist()]
        for number in range(0, len(ratings) * holes, 4):
            del ratings[number][names[number // 4 % 3]]
        several = table(ratings, items=given.item.tolist(), systems=given.system.tolist())
        found = human(several, splits=10, resamples=40)
        assert found.adjusted
        rows.append([number for row in found.rows for number in (row.value, row.low, row.high)])
    assert rows[1] == pytest.approx(rows[0], abs=1e-12)
    assert rows[2] == pytest.approx(rows[0], abs=1e-12)


def test_severities_that_may_be_chance_stay_and_break_no_ties():
    rng = np.random.default_rng(8)
    worth = rng.integers(1, 6, 60)
    ratings = [{name: int(np.clip(each + rng.integers(-1, 2), 1, 5)) for name in "ab"} for each in worth.tolist()]
    found = human(table(ratings), ["kendall-b"], splits=10, resamples=20)
    assert not found.adjusted
    assert found == human(table(ratings), ["kendall-b"], splits=10, resamples=20, as_given=True)


def test_annotators_with_a_few_ratings_each_keep_their_severities():
    """Else adjusted ratings would agree too well: here everything that raters differ by would be severity."""
    found = human(simulated(200, [2], noise=1.0), ["pearson"], splits=10, resamples=20)
    assert not found.adjusted
    assert found.rows[0].value == pytest.approx(0.5, abs=0.15)


def test_the_ceiling_where_annotators_vary():
    given = simulated(60, [2, 3], noise=1.0)
    ratings = complete(6, biases=(0.0, 2.0, -2.0))
    some = [
        {name: grade for name, grade in zip(("r0", "r1", "r2"), row, strict=True) if (number + int(name[1])) % 3}
        for number, row in enumerate(ratings.ratings.grades.reshape(-1, 3).tolist())
    ]
    names = ratings.item.tolist(), ratings.system.tolist()
    found = human(table(some, items=names[0], systems=names[1]), ["pearson"], splits=5, resamples=20)
    assert found.varying
    assert found.adjusted_ceiling == pytest.approx(found.ceiling, abs=1e-9)  # over pairs no constant counts
    assert human(ratings, ["pearson"], splits=5, resamples=20).adjusted_ceiling is None
    assert human(given, ["pearson"], splits=5, resamples=20).adjusted_ceiling is None


@pytest.mark.parametrize(
    "ratings",
    [[[1, 2, 5], [3, 7, 4], [2, 6, 6.5], [1, 9, 1]], [[1, 2, 5, 7], [3, 7], [4], [2, 6, 6.5, 8], [1, 9, 1, 0, 6]]],
)
def test_halves_differ_by_one_at_most(ratings):
    def splits(grades):
        """Every way to take half of the grades, rounded down or up."""
        for size in {len(grades) // 2, (len(grades) + 1) // 2}:
            for chosen in itertools.combinations(range(len(grades)), size):
                side = np.isin(range(len(grades)), chosen)
                yield np.mean(np.array(grades)[side]), np.mean(np.array(grades)[~side])

    ways = itertools.product(*(splits(grades) for grades in ratings if len(grades) > 1))
    possible = {round(np.corrcoef(*zip(*way, strict=True))[0, 1], 9) for way in ways}
    given = table([dict(zip("abcde", grades, strict=False)) for grades in ratings])
    asked = {"splits": 1, "resamples": 20, "as_given": True}
    found = {round(human(given, ["pearson"], **asked, seed=seed).rows[0].value, 9) for seed in range(60)}
    assert found <= possible
    assert len(found) > 40


def test_pairs_of_annotators_count_by_what_they_share():
    rng = np.random.default_rng(4)
    ann, bob, cid = rng.integers(1, 6, (3, 40)).tolist()
    ratings = [{"ann": a, "bob": b} for a, b in zip(ann, bob, strict=True)]
    for i in range(15):
        ratings[i]["cid"] = cid[i]  # shares 15 texts with either
    for i in range(20, 29):
        ratings[i]["dan"] = 3 + i % 2  # nine are too few
    for i in range(30, 40):
        ratings[i]["eve"] = 3  # ten, but always the same grade
    found = human(table(ratings), ["pearson"], resamples=20)
    r = [np.corrcoef(*sides)[0, 1] for sides in ((ann, bob), (ann[:15], cid[:15]), (bob[:15], cid[:15]))]
    assert found.reliability == pytest.approx(np.average(r, weights=[40, 15, 15]), abs=1e-15)
    assert (found.rule, found.pairs) == ("annotators", 3)


def test_two_ratings_of_each_text_where_nobody_shares_enough():
    anns, bobs = ANN[:9], BOB[:9]
    found = human(pair(anns, bobs), ["pearson"], splits=300, resamples=300)
    assert (found.rule, found.pairs) == ("ratings", 300)
    # Either annotator may come first in each text.
    turns = np.array(list(itertools.product([0, 1], repeat=9)))
    either = [np.corrcoef(np.where(turn, anns, bobs), np.where(turn, bobs, anns))[0, 1] for turn in turns]
    assert found.reliability == pytest.approx(np.mean(either), abs=0.01)


@pytest.mark.parametrize("sizes", [[2], [3], [1, 2, 5]])
def test_nothing_correlates_better_than_the_ceiling(sizes):
    given = simulated(4000, sizes, noise=1.0)
    found = human(given, ["pearson"], splits=20, resamples=40)
    assert found.reliability == pytest.approx(0.5, abs=0.03)  # variances 1 and 1
    (truth,) = correlations(given, ["pearson"], draws=Draws(resamples=40)).rows
    assert found.ceiling == pytest.approx(truth.value, abs=0.02)
    (halves,) = found.rows  # nobody has two texts
    assert halves.low < halves.value < halves.high < truth.value
    if sizes == [2]:
        assert halves.value == pytest.approx(found.reliability, abs=0.01)
    if sizes == [3]:
        # One rating with the mean of two: covariance 1, variances 2 and 1.5.
        assert halves.value == pytest.approx(1 / math.sqrt(2 * 1.5), abs=0.03)


@pytest.mark.parametrize("coefficient", COEFFICIENTS)
def test_levels(coefficient):
    given = simulated(600, [2, 3], noise=1.0, systems=6)
    found = {by: human(given, [coefficient], by, splits=20, resamples=60) for by in ("pool", "item", "system")}
    value = {by: each.rows[0].value for by, each in found.items()}
    assert value["system"] > value["pool"]
    assert value["item"] < value["system"]
    assert [each.rows[0].n for each in found.values()] == [600, 100, 6]
    assert len({each.ceiling for each in found.values()}) == 1


def test_annotators_who_always_agree():
    halves, one = human(pair(ANN, ANN), ["spearman"], resamples=50).rows
    assert (halves.value, halves.low, halves.high, halves.sd) == (1.0, 1.0, 1.0, 0.0)
    assert (one.value, one.low, one.high, one.sd) == (1.0, 1.0, 1.0, None)


@pytest.mark.parametrize("sizes", [[2], [2, 3, 6]])
def test_splits_take_every_second_rating_in_random_order(sizes):
    rated, rng = MultipleRatings.of(simulated(40, sizes, noise=1.0)), np.random.default_rng(5)
    orders = [rated.shuffled(rng) for _ in range(4)]
    splits = rated.splits(4, 5)
    assert len(splits) == 4
    for order, (one, other) in zip(orders, splits, strict=True):
        texts = np.split(order, rated.starts[1:])
        coins = rng.integers(0, 2, len(texts))
        for half, first in ((one, 1 - coins), (other, coins)):
            expected = [text[at::2].mean() for text, at in zip(texts, first, strict=True)]
            np.testing.assert_allclose(half, expected, rtol=0, atol=1e-14)


@pytest.mark.parametrize("resamples", [3, 40])
def test_every_resample_of_items_takes_one_of_the_splits(resamples):
    given = simulated(60, [2, 3], noise=1.0, systems=3)
    found = human(given, ["pearson"], splits=7, resamples=resamples, seed=5).rows[0]
    halves = list(MultipleRatings.of(given).splits(7, 5))
    times = bootstrap_counts(20, resamples, 5)[:, given.item]
    samples = [np.corrcoef(*(np.repeat(half, each) for half in halves[i % 7]))[0, 1] for i, each in enumerate(times)]
    assert (found.low, found.high) == pytest.approx(tuple(np.percentile(samples, (2.5, 97.5))), abs=1e-12)
    each = [np.corrcoef(*half)[0, 1] for half in halves]
    assert (found.value, found.sd) == pytest.approx((np.mean(each), np.std(each, ddof=1)), abs=1e-12)


@pytest.mark.parametrize(
    ("ratings", "message"),
    [
        ([{"ann": 1}, {"ann": 2}], "the only annotator is ann"),
        ([{"ann": 1}, {"bob": 2}], "no text has ratings by two annotators"),
    ],
)
def test_nobody_to_agree_with(ratings, message):
    with pytest.raises(Undefined, match=message):
        human(table(ratings))


@pytest.mark.parametrize(
    ("given", "by", "reason"),
    [
        (pair([1, 2, 3], [4, 4, 4]), "system", "only one system"),
        (pair([1, 2, 3], [4, 2, 4]), "item", "no item has two texts with two ratings"),
        (pair([1, 2, 3], [4, 2, 4], systems="abc"), "within-system", "no system has two texts with two ratings"),
        (
            pair([1, 2, 3], [4, 2, 4], items="ppp", systems="abc"),
            "pool",
            "only one item, so there is no interval over items",
        ),
        (pair([1], [2]), "pool", "only one text has two ratings"),
        (pair([3, 3, 3], [3, 3, 3]), "pool", "the grades of one side are all the same"),
    ],
)
def test_why_there_is_none(given, by, reason):
    found, absent = human_agreement(given, ["spearman"], by, splits=5, draws=Draws(resamples=20))
    assert (HALVES, reason) in [(each.metric, each.reason) for each in absent]
    assert all(each.metric != HALVES for each in found.rows)


@pytest.mark.parametrize(
    ("bobs", "reason"),
    [
        ([-each for each in ANN], "two ratings of a text correlate -1.000, and a ceiling needs more than 0"),
        ([3] * 10, None),
        (ANN, None),
    ],
)
def test_the_ceiling_may_not_exist(bobs, reason):
    found, absent = human_agreement(pair(ANN, bobs), ["pearson"], draws=Draws(resamples=20))
    reasons = [each.reason for each in absent if each.metric == CEILING]
    assert reasons == ([reason] if reason else [])
    assert (found.ceiling is None) == bool(reason)
    assert (ONE in {each.metric for each in found.rows}) == (bobs != [3] * 10)


def test_the_ceiling_without_any_correlation():
    found, absent = human_agreement(pair([3] * 4, [3] * 4), ["pearson"], splits=3, draws=Draws(resamples=5))
    assert found.reliability is None
    assert found.pairs == 0
    assert [(each.metric, each.reason[:40]) for each in absent][-1] == (
        CEILING,
        "two ratings of a text have no correlatio",
    )


def test_the_formula_of_the_ceiling():
    assert ceiling(1.0, 1) == 1.0
    assert ceiling(0.36, 1) == pytest.approx(0.6)
    assert ceiling(0.5, 3) == pytest.approx(math.sqrt(0.75))
    with pytest.raises(Undefined, match=r"0\.000"):
        ceiling(0.0, 2)


def test_what_is_asked_wrongly():
    given = pair(ANN, BOB)
    with pytest.raises(UsageError, match="at least one split"):
        human(given, splits=0)
    with pytest.raises(UnknownName, match="spearman"):
        human(given, ["spearmann"])
    with pytest.raises(UnknownName, match="pool, item, system"):
        human(given, by="items")


def test_graded_answers_of_students():
    """The published ceiling of 2,273 short answers: r = .597, so .865 with two annotators."""
    file = DATA / "judged" / "mohler" / "mohler_dataset.csv"
    if not file.is_file():
        pytest.skip(f"no data in {DATA}; POSTIL_DATA names the folder")
    with file.open(encoding="utf-8", newline="") as rows:
        answers = list(csv.DictReader(rows))
    ratings = [{"me": float(row["score_me"]), "other": float(row["score_other"])} for row in answers]
    given = table(ratings, items=[row["id"] for row in answers], systems=list(range(len(answers))))
    found = human(given, ["pearson"], splits=10, resamples=50)
    assert (found.n, found.left_out, found.k, found.rule) == (2273, 0, 2.0, "annotators")
    assert found.reliability == pytest.approx(0.597, abs=0.0005)
    assert found.ceiling == pytest.approx(0.865, abs=0.0005)
