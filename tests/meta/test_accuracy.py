"""Pairwise accuracy with ties: the threshold, the resamples, chance and the paired test, by their definitions."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from exploration import examples
from postil.data.rows import Judgement, Score
from postil.meta.coefficient_kinds import kind_of
from postil.meta.coefficients import LEVELS
from postil.meta.column_correlations import Texts
from postil.meta.correlation import correlations, differences
from postil.meta.parts import HALVES
from postil.meta.reliability import human_agreement
from postil.meta.resampling import Draws, bootstrap_counts
from postil.meta.table import join
from postil.meta.text_accuracy import AccuracyResampling, Pairs, group_sizes, swapping_pairs, with_thresholds
from rated_tables import rated_table
from table_p import table_p


def table(scores, grades, items, systems=None):
    return rated_table({"x": scores}, grades, items=items, systems=[0] * len(items) if systems is None else systems)


def row_of(found, by="pool"):
    (row,) = correlations(found, ["acc-eq"], by).rows
    return row


def points_of(scores, grades, item, system, by):
    """Lists of (score, grade) by group, of a level; systems by their means."""
    if by == "system":
        return [[(scores[system == each].mean(), grades[system == each].mean()) for each in np.unique(system)]]
    group = {"item": item, "within-system": system, "pool": np.zeros(len(item))}[by]
    return [list(zip(scores[group == each], grades[group == each], strict=True)) for each in np.unique(group)]


def accuracy(groups, epsilon, alike=lambda _one, _other: False):
    """By the definition; pairs that are alike do not count."""
    found = []
    for points in groups:
        pairs = [
            (0 if abs(a - b) <= epsilon + 1e-12 else np.sign(a - b), np.sign(g - h))
            for (i, (a, g)), (j, (b, h)) in itertools.combinations(enumerate(points), 2)
            if not alike(i, j)
        ]
        found += [np.mean([one == other for one, other in pairs])] if pairs else []
    return np.mean(found) if found else np.nan


def every_epsilon(groups):
    return sorted({0.0, *(abs(a - b) for points in groups for (a, _), (b, _) in itertools.combinations(points, 2))})


@pytest.fixture(params=range(6))
def holes(request):
    """Scores of two metrics, grades, items and systems of texts with holes, ties and constant items."""
    rng = np.random.default_rng(request.param)
    cells = [(i, s) for i in range(6) for s in range(5) if rng.random() < 0.7]
    item, system = np.array(cells, np.int32).T
    item = np.unique(item, return_inverse=True)[1].astype(np.int32)
    scores = rng.integers(0, 9, (len(item), 2)) / 4
    grades = rng.integers(1, 5, len(item)) / 1.0
    scores[item == 1] = 0.5
    grades[item == 2] = 3.0
    return scores, grades, item, system


def test_the_example_of_five_texts():
    row = row_of(table([0.125, 0, 0.5, 1, 1.5], [1, 1, 2, 4, 4], range(5)))
    assert (row.value, row.plain, row.epsilon, row.ties, row.pairs, row.n) == (0.9, 0.8, 0.125, 0.2, 10, 5)
    assert row.chance_fixed == pytest.approx(0.4, abs=1e-12)


@pytest.mark.parametrize(
    ("by", "metric", "pairs", "ties", "value", "fixed"),
    [
        ("item", "m", 100, 0.013889, 0.772222, 0.448611),
        ("item", "j", 100, 0.013889, 0.763889, 0.420139),
        ("within-system", "m", 275, 0.025455, 0.756364, 0.431537),
        ("within-system", "j", 275, 0.025455, 0.741818, 0.368198),
        ("pool", "m", 1485, 0.065320, 0.754882, 0.431876),
        ("pool", "j", 1485, 0.065320, 0.743434, 0.382334),
    ],
)
def test_table_p(by, metric, pairs, ties, value, fixed):  # noqa: PLR0917 - the columns of the table
    row = row_of(table_p().only([metric]), by)
    assert (row.pairs, row.epsilon, row.draws, row.dropped) == (pairs, 0.0, 100, 0)
    np.testing.assert_allclose((row.ties, row.value, row.chance_fixed), (ties, value, fixed), rtol=0, atol=5e-7)
    assert row.plain == pytest.approx(value, abs=5e-7)
    assert row.p == 1 / 101


def test_chance_of_table_p():
    for metric, mean, sd in (("m", 0.450, 0.063), ("j", 0.421, 0.061)):
        row = row_of(table_p().only([metric]), "item")
        assert row.chance == pytest.approx(mean, abs=4 * sd / 10)
        assert row.chance_high - row.chance_low == pytest.approx(4 * sd, rel=0.3)


@pytest.mark.parametrize("by", LEVELS)
def test_the_threshold_is_the_smallest_of_the_best(holes, by):
    scores, grades, item, system = holes
    work = AccuracyResampling.of(Texts(*holes), by)
    found = work(np.ones((1, item.max() + 1), np.int32))[0]
    for column, epsilon in enumerate(work.epsilons):
        groups = points_of(scores[:, column], grades, item, system, by)
        of = {each: accuracy(groups, each) for each in every_epsilon(groups)}
        assert found[column] == pytest.approx(max(of.values()), abs=1e-12)
        smallest = min(each for each, value in of.items() if value > max(of.values()) - 1e-12)
        assert epsilon == pytest.approx(smallest, abs=1e-12)


def resampled_accuracy(texts, by, epsilon, count):
    """By the definition: texts that occur as often as their item, of which copies are no pair."""
    scores, grades, item, system = texts
    weight = count[item]
    if by == "system":
        here = [system == each for each in np.unique(system[weight > 0])]
        points = [[np.average(side[rows], weights=weight[rows]) for side in (scores, grades)] for rows in here]
        return accuracy([points], epsilon)
    of_group, groups = [], {"item": item, "within-system": system, "pool": np.zeros(len(item))}[by]
    for group in np.unique(groups):
        rows = np.flatnonzero(groups == group)
        pairs = list(itertools.combinations(rows, 2))
        times = [weight[i] * weight[j] for i, j in pairs]
        if not sum(times):
            continue
        right = [accuracy([[(scores[k], grades[k]) for k in pair]], epsilon) for pair in pairs]
        of_group.append((np.average(right, weights=times), count[group] if by == "item" else 1))
    return sum(a * b for a, b in of_group) / sum(b for _, b in of_group) if of_group else np.nan


@pytest.mark.parametrize("by", LEVELS)
def test_resamples_keep_the_threshold_and_have_no_pairs_of_copies(holes, by):
    scores, *others = holes
    counts = bootstrap_counts(int(others[1].max()) + 1, 6, 3)
    work = AccuracyResampling.of(Texts(*holes), by)
    found = work(counts)
    np.testing.assert_array_equal(found, work(counts, jobs=2))
    for column, epsilon in enumerate(work.epsilons):
        expected = [resampled_accuracy((scores[:, column], *others), by, epsilon, count) for count in counts]
        np.testing.assert_allclose(found[:, column], expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("by", LEVELS)
def test_a_row_has_the_fields_that_are_its_own(holes, by):
    scores, grades, item, system = holes
    row = row_of(table(scores[:, 0], grades, item, system), by)
    groups = [each for each in points_of(scores[:, 0], grades, item, system, by) if len(each) > 1]
    assert row.pairs == sum(len(each) * (len(each) - 1) // 2 for each in groups)
    assert row.plain == pytest.approx(accuracy(groups, 0.0), abs=1e-12)
    assert row.ties == pytest.approx(accuracy([[(0, grade) for _, grade in each] for each in groups], 0.0), abs=1e-12)
    assert row.value >= max(row.plain, row.ties) - 1e-12
    assert row.chance_low <= row.chance <= row.chance_high
    assert row.chance_fixed >= row.ties - 1e-12
    assert row.chance >= row.chance_fixed - 0.1
    size = {"item": len(groups), "within-system": len(groups), "pool": len(item), "system": len(set(system))}[by]
    assert (row.n, row.dropped) == (size, int((group_sizes(item, system, by) < 2).sum()))


def test_chance_at_a_fixed_threshold_is_the_mean_over_all_orders():
    scores, grades = [[0.0, 0.5, 0.5, 2.0], [1.0, 1.25, 3.0]], [[1, 1, 2, 3], [2, 2, 2]]
    items = [0] * 4 + [1] * 3
    row = row_of(table(np.concatenate(scores), np.concatenate(grades), items, [0, 1, 2, 3, 0, 1, 2]), "item")
    every = every_epsilon([list(zip(*each, strict=True)) for each in zip(scores, grades, strict=True)])
    best = max(
        np.mean(
            [
                np.mean([accuracy([list(zip(order, g, strict=True))], e) for order in itertools.permutations(s)])
                for s, g in zip(scores, grades, strict=True)
            ]
        )
        for e in every
    )
    assert row.chance_fixed == pytest.approx(best, abs=1e-12)


def test_differences_that_are_equal_but_for_rounding_are_one_threshold():
    # .3 - .1 < .4 - .2 in floating point; the first is of grades that tie, the second is in the right order.
    assert 0.3 - 0.1 < 0.4 - 0.2
    row = row_of(table([0.1, 0.3, 0.2, 0.4], [1, 1, 1, 2], [0, 0, 1, 1], [0, 1, 0, 1]), "item")
    assert (row.value, row.epsilon) == (0.5, 0.0)
    row = row_of(table([0.1, 0.3, 0.2, 0.4], [1, 1, 1, 1], [0, 0, 1, 1], [0, 1, 0, 1]), "item")
    assert (row.value, row.epsilon) == (1.0, 0.4 - 0.2)


def test_scores_near_zero_are_no_ties():
    row = row_of(table([1e-13, 2e-13, 3e-13, 1.0], [1, 2, 3, 4], range(4)))
    assert (row.value, row.epsilon, row.plain) == (1.0, 0.0, 1.0)


@pytest.mark.parametrize("by", LEVELS)
def test_the_largest_numbers_do_not_overflow(by):
    scores, cells = [-1.5e308, 1.5e308, 1e308, 1.7e308], ([0, 0, 1, 1], [0, 1, 0, 1])
    row = row_of(table(scores, [1e308, 1.5e308, 1.6e308, 1.7e308], *cells), by)
    assert (row.value, row.epsilon) == (5 / 6 if by == "pool" else 1.0, 0.0)
    row = row_of(table(scores, [2, 2, 2, 2], *cells), by)
    assert row.value == 1.0
    assert 1e306 < row.epsilon <= np.finfo(float).max


def test_constants_have_an_accuracy():
    tied = row_of(table([0.5] * 4, [3] * 4, range(4)))
    assert (tied.value, tied.plain, tied.chance, tied.chance_fixed, tied.ties, tied.p) == (1, 1, 1, 1, 1, 1)
    constant = row_of(table([0.5] * 4, [1, 1, 2, 3], range(4)))
    assert (constant.value, constant.ties, constant.chance) == pytest.approx((1 / 6,) * 3)


@pytest.mark.parametrize(
    ("items", "systems", "by", "reason"),
    [
        ([0], [0], "pool", "only one text"),
        ([0, 1], [0, 0], "item", "no item has two texts"),
        ([0, 0], [0, 1], "within-system", "no system has two texts"),
        ([0, 1], [0, 0], "system", "only one system"),
    ],
)
def test_what_has_no_accuracy(items, systems, by, reason):
    found = correlations(table([1] * len(items), [1] * len(items), items, systems), ["acc-eq"], by)
    assert not found.rows
    assert [each.reason for each in found.absent] == [reason]


@pytest.mark.parametrize("by", ["pool", "item", "system"])
def test_one_item_has_an_accuracy_without_an_interval(by):
    one = table([0.125, 0, 0.5, 1, 1.5], [1, 1, 2, 4, 4], [0] * 5, range(5))
    row = row_of(one, by)
    assert (row.value, row.low, row.high) == (pytest.approx(0.9), None, None)
    assert (row.epsilon, row.plain, row.chance_fixed) == pytest.approx((0.125, 0.8, 0.4))
    assert row.p < 0.1


def test_groups_of_one_text_are_counted():
    row = row_of(table([1, 2, 3], [1, 2, 3], [0, 0, 1], [0, 1, 0]), "item")
    assert (row.n, row.dropped, row.value) == (1, 1, 1.0)


tables = st.integers(0, 2**32).map(
    lambda seed: (
        np.random.default_rng(seed).integers(0, 6, 12) / 4,
        np.random.default_rng(seed + 1).integers(1, 4, 12).astype(float),
    )
)


@examples(25)
@given(tables, st.permutations(range(12)), st.sampled_from([0.25, 2.0, 1024.0]), st.sampled_from(LEVELS))
def test_order_of_rows_scale_and_shift_change_nothing(columns, order, factor, by):
    scores, grades = columns
    item, system = np.arange(12, dtype=np.int32) // 3, np.arange(12, dtype=np.int32) % 3
    once = np.ones((1, 4), np.int32)

    def found(rows, scores):
        work = AccuracyResampling.of(Texts(scores[rows, None], grades[rows], item[rows], system[rows]), by)
        return work(once)[0, 0], work.epsilons[0]

    value, epsilon = found(np.arange(12), scores)
    assert found(np.array(order), scores) == (value, epsilon)
    assert found(np.arange(12), scores * factor + 8) == pytest.approx((value, epsilon * factor), abs=1e-12)


def test_groups_weigh_the_same():
    pairs = Pairs.of(Texts(np.zeros((9, 1)), np.zeros(9), np.repeat([0, 1, 2], [2, 3, 4]), np.zeros(9, int)), "item")
    assert (pairs.weights.tolist(), pairs.scale) == ([6, 2, 1], 18)
    many = np.repeat(np.arange(400), np.arange(2, 402))
    pairs = Pairs.of(Texts(np.zeros((len(many), 1)), np.zeros(len(many)), many, many), "item")
    np.testing.assert_allclose(pairs.weights * pairs.numbers / pairs.scale, 1 / 400, rtol=1e-9)


def test_swapping_pairs_is_the_share_of_sign_patterns():
    rng = np.random.default_rng(4)
    item, system = np.array([0, 0, 0, 1, 1, 2, 2], np.int32), np.array([0, 1, 2, 0, 1, 0, 1], np.int32)
    scores, grades = rng.integers(0, 9, (7, 2)) / 4, rng.integers(1, 4, 7) / 1.0
    texts = Texts(scores, grades, item, system)
    work = AccuracyResampling.of(texts, "item")
    terms = []
    for each in range(3):
        rows = np.flatnonzero(item == each)
        pairs = list(itertools.combinations(rows, 2))
        for i, j in pairs:
            one, other = (
                accuracy([[(scores[i, m], grades[i]), (scores[j, m], grades[j])]], work.epsilons[m]) for m in (0, 1)
            )
            terms.append((one - other) / len(pairs) / 3)
    signs = np.array(list(itertools.product((-1, 1), repeat=len(terms))))
    expected = (np.abs(signs @ terms) >= abs(sum(terms)) - 1e-12).mean()
    (p,) = swapping_pairs(texts, "item", np.array([[0], [1]]), Draws(permutations=20_000, seed=1))
    assert p == pytest.approx(expected, abs=0.015)


def test_differences_have_the_test_of_pairs():
    found = differences(table_p().only(["m", "j"]), "acc-eq", "item")
    (row,) = found.rows
    assert row.value == pytest.approx(0.008333, abs=5e-7)
    assert row.p_both == row.p == row.p_holm == pytest.approx(0.91, abs=0.01)
    assert (row.p_permutation, row.p_williams, found.notes) == (None, None, ())
    assert row.low < row.value < row.high


def test_a_random_control_is_calibrated_in_each_draw():
    rng = np.random.default_rng(0)
    texts, draws = range(20), 3
    grades = rng.integers(1, 6, 20)
    scores = [Score(str(i), "a", "m", float(grades[i]), "") for i in texts]
    scores += [
        Score(str(i), "a", f"control:shuffled(m,draw={d})", float(rng.integers(0, 5)), "")
        for d in range(draws)
        for i in texts
    ]
    found = correlations(join(scores, [Judgement(str(i), "a", "ann", float(grades[i])) for i in texts]), ["acc-eq"])
    metric, control = found.rows
    assert metric.epsilon is not None
    assert (control.epsilon, control.plain, control.chance, control.draws) == (None,) * 4
    assert (control.pairs, metric.pairs) == (190, 190)
    assert metric.p == 1 / 101 < control.p


@pytest.mark.parametrize("by", LEVELS)
def test_people_have_split_halves_alone(by):
    found, absent = human_agreement(table_p(), ["acc-eq"], by, splits=10, draws=Draws(resamples=50))
    (row,) = found.rows
    assert (row.metric, row.coefficient, row.by) == (HALVES, "acc-eq", by)
    assert 0.4 < row.value <= 1
    assert (row.epsilon, row.chance, row.draws) == (None, None, None)
    assert row.pairs
    assert row.p < 0.2
    assert not absent


def test_the_number_of_threads_changes_nothing():
    found = table_p()
    for by in LEVELS:
        assert (
            correlations(found, ["acc-eq"], by, draws=Draws(jobs=1)).rows
            == correlations(found, ["acc-eq"], by, draws=Draws(jobs=3)).rows
        )


def test_pools_are_resampled_two_hundred_times():
    counts = bootstrap_counts(12, 300, 1)
    found = table_p()
    texts = found.texts(found.oriented)
    assert {by: len(kind_of("acc-eq").resampled(texts, counts, by).samples) for by in LEVELS} == {
        "pool": 200,
        "item": 300,
        "system": 300,
        "within-system": 300,
    }


def test_undefined_rows_stay_as_they_are():
    found = table([1.0, 2.0], [1, 2], [0, 1])
    absent = correlations(found, ["acc-eq"], "item").absent
    columns = {"x": found.oriented}
    assert with_thresholds(absent, columns, found.texts(found.oriented), "item") == list(absent)
    assert kind_of("acc-eq").why_undefined(found, found.scores[:, 0], "item") == "no item has two texts"


@pytest.mark.parametrize("by", ["pool", "item", "within-system"])
def test_a_threshold_that_ties_every_pair_is_said(by):
    """People tie nearly all pairs, so the best that noise can do is to tie them all."""
    random = np.random.default_rng(3)
    item, system = np.repeat(np.arange(6), 5), np.tile(np.arange(5), 6)
    scores, grades = random.normal(size=30), np.where(np.arange(30) % 11 == 10, 2, 1)
    row = row_of(table(scores, grades, item, system), by)
    assert row.all_tied
    assert row.value == pytest.approx(row.ties)
    better = row_of(table(grades + 0.1 * scores, grades, item, system), by)
    assert better.all_tied is None
    assert better.value > better.ties
    assert row_of(table([0.5] * 30, grades, item, system), by).all_tied
