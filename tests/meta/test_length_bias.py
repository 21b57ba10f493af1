from __future__ import annotations

import numpy as np
import pytest

from postil.correlation.audit import length_bias
from postil.errors import UsageError
from postil.meta.resampling import Draws, bootstrap_counts
from postil.results.names import LENGTH
from rated_tables import rated_table
from table_p import table_p


def table(grades, *, items=None, lower_is_better=(), **columns):
    """A table of n texts with scores by metric; by default each text is an item of its own."""
    named = {name.replace("_", ":"): column for name, column in columns.items()}
    return rated_table(named, grades, items=items, systems=range(len(grades)), lower_is_better=lower_is_better)


def average_ranks(values):
    values = np.asarray(values)
    return ((values[:, None] > values).sum(axis=1) + (values[:, None] >= values).sum(axis=1) + 1) / 2


def correlation_of_residuals(scores, grades, length, coefficient):
    """The partial correlation by its definition: of what a line through the third variable leaves of the two."""
    columns = [np.asarray(each, np.float64) for each in (scores, grades, np.log(length))]
    if coefficient == "spearman":
        columns = list(map(average_ranks, columns))
    design = np.column_stack([np.ones(len(grades)), columns[2]])
    left = [each - design @ np.linalg.lstsq(design, each, rcond=None)[0] for each in columns[:2]]
    return np.corrcoef(*left)[0, 1]


def random_table(seed=1, n=60):
    """Three texts of an item, lengths and scores with ties, and a metric for which lower is better."""
    rng = np.random.default_rng(seed)
    length = rng.integers(1, 15, n)
    quality = rng.normal(0, 1, n)
    columns = {
        "m": np.round(quality + 0.1 * length + rng.normal(0, 1, n), 1),
        "edits": np.round(4 - quality + rng.normal(0, 1, n), 1),
        "control_length": length,
    }
    grades = np.clip(np.round(3 + quality + 0.05 * length), 1, 5)
    return table(grades, items=np.arange(n) // 3, lower_is_better=["edits"], **columns)


def test_worked_table():
    found = length_bias(table_p())
    assert (found.lengths, found.n, found.left_out) == ("control:length", 55, 0)
    assert [(row.metric, row.coefficient) for row in found.rows] == [
        (metric, coefficient) for coefficient in ("pearson", "spearman") for metric in ("m", "j")
    ]
    m, j = found.rows[:2]
    assert (m.plain, m.partial) == pytest.approx((0.814877, 0.441532), abs=5e-7)
    assert (j.plain, j.partial) == pytest.approx((0.888025, 0.586918), abs=5e-7)
    assert m.grades_with_length == j.grades_with_length == pytest.approx(0.886608, abs=5e-7)
    assert [each.n for each in m.quartiles] == [14, 16, 12, 13]
    assert [each.value for each in m.quartiles] == pytest.approx([0.4354, 0.3777, 0.5995, 0.6151], abs=5e-5)
    assert [each.value for each in j.quartiles] == pytest.approx([0.7433, 0.6750, 0.2711, 0.8548], abs=5e-5)
    assert [(each.start, each.to) for each in j.quartiles] == [(10, 22), (23, 28), (29, 34), (36, 46)]
    for row in found.rows:
        assert row.low < row.partial < row.high
    assert [(each.metric, each.reason) for each in found.absent] == [(LENGTH, "its scores are the lengths")]


@pytest.mark.parametrize("coefficient", ["pearson", "spearman"])
def test_partial_correlation_is_that_of_residuals(coefficient):
    given = random_table()
    found = length_bias(given, draws=Draws(resamples=40, seed=7))
    rows = [row for row in found.rows if row.coefficient == coefficient]
    assert [row.metric for row in rows] == ["m", "edits"]
    length = given.scores[:, 2]
    counts = bootstrap_counts(20, 40, 7)
    for row, scores in zip(rows, given.oriented.T[:2], strict=True):
        expected = correlation_of_residuals(scores, given.grades, length, coefficient)
        assert row.partial == pytest.approx(expected, abs=1e-12)
        assert row.plain > 0
        drawn = []
        for count in counts:
            texts = np.repeat(np.arange(len(given)), count[given.item])
            columns = scores[texts], given.grades[texts], length[texts]
            drawn.append(correlation_of_residuals(*columns, coefficient))
        assert (row.low, row.high) == pytest.approx(np.percentile(drawn, (2.5, 97.5)), abs=1e-12)


def test_quarters_have_ranks_of_their_own():
    given = random_table(seed=2)
    length = given.scores[:, 2]
    quarter = (length[:, None] > np.quantile(length, (0.25, 0.5, 0.75))).sum(axis=1)
    row = length_bias(given, draws=Draws(resamples=1)).rows[2]
    assert (row.metric, row.coefficient) == ("m", "spearman")
    for q, each in enumerate(row.quartiles):
        there = quarter == q
        ranks = average_ranks(given.oriented[there, 0]), average_ranks(given.grades[there])
        assert (each.n, each.start, each.to) == (there.sum(), length[there].min(), length[there].max())
        assert (each.value, each.reason) == (pytest.approx(np.corrcoef(*ranks)[0, 1], abs=1e-12), None)


def test_a_text_equal_to_a_cut_is_below_it():
    length = [1, 1, 1, 1, 0.1 + 0.2 + 0.7, 1, 1, 5]
    row = length_bias(
        table(range(8), m=[0, 2, 1, 3, 5, 4, 6, 7], control_length=length), draws=Draws(resamples=1)
    ).rows[0]
    assert [(each.n, each.start, each.to) for each in row.quartiles] == [
        (7, 1, 1),
        (0, None, None),
        (0, None, None),
        (1, 5, 5),
    ]
    assert [each.reason for each in row.quartiles] == [None, "no text", "no text", "only one text"]


def test_a_quarter_may_be_constant():
    grades, scores = [1, 1, 2, 3, 1, 2, 2, 3], [1, 2, 3, 3, 2, 4, 1, 5]
    row = length_bias(table(grades, m=scores, control_length=range(1, 9)), draws=Draws(resamples=1)).rows[0]
    assert [each.value is None for each in row.quartiles] == [True, True, False, False]
    assert [each.reason for each in row.quartiles] == ["every grade is 1", "every score is 3", None, None]


def test_texts_without_a_length_above_0_are_left_out():
    given = random_table(seed=3)
    length = given.scores[:, 2]
    length[[0, 1, 2, 7]], length[30] = 0, -1
    found = length_bias(given, draws=Draws(resamples=5))
    assert (found.n, found.left_out) == (55, 5)
    kept = length > 0
    expected = correlation_of_residuals(given.oriented[kept, 0], given.grades[kept], length[kept], "pearson")
    assert found.rows[0].partial == pytest.approx(expected, abs=1e-12)


def test_controls_have_rows_and_draws_of_random_ones_have_not():
    length = [3, 5, 2, 8, 6]
    draws = {f"control_shuffled(m,draw={d})": np.random.default_rng(d).random(5) for d in range(3)}
    columns = {"m": [1, 2, 4, 3, 5], "control_top(m)": [2, 1, 4, 3, 5], "control_length": length, **draws}
    found = length_bias(table([1, 2, 3, 4, 5], **columns), draws=Draws(resamples=2))
    assert [row.metric for row in found.rows] == ["m", "control:top(m)"] * 2


def test_other_lengths():
    found = length_bias(table([1, 2, 3, 4], m=[1, 3, 2, 4], words=[9, 4, 6, 5]), "words", draws=Draws(resamples=3))
    assert found.lengths == "words"
    assert [row.metric for row in found.rows] == ["m", "m"]
    assert [each.metric for each in found.absent] == ["words"]


def test_what_length_determines_has_no_partial_correlation():
    length = np.array([3, 5, 2, 8, 6, 4])
    given = table([1, 2, 3, 5, 2, 4], log=2 * np.log(length) - 1, square=length**2, control_length=length)
    rows = {(row.metric, row.coefficient): row for row in length_bias(given, draws=Draws(resamples=20)).rows}
    for key in (("log", "pearson"), ("log", "spearman"), ("square", "spearman")):
        assert (rows[key].partial, rows[key].low, rows[key].high) == (None, None, None)
        assert rows[key].with_length == pytest.approx(1)
    assert rows["square", "pearson"].partial is not None


def test_one_item_has_no_interval():
    row = length_bias(table([1, 2, 3, 4], items=[0] * 4, m=[1, 3, 2, 4], control_length=[1, 2, 8, 4])).rows[0]
    assert (row.partial is None, row.low, row.high) == (False, None, None)


@pytest.mark.parametrize(
    ("columns", "grades", "absent"),
    [
        ({"m": [1, 2, 3]}, [1, 2, 3], ("control:length", "no scores are named control:length: score with controls")),
        ({"m": [1, 2, 3], "control_length": [0, 0, -1]}, [1, 2, 3], (LENGTH, "no text has a length above 0")),
        ({"m": [1, 2, 3], "control_length": [7, 7, 7]}, [1, 2, 3], (LENGTH, "every text has the length 7")),
        ({"m": [1, 2, 3], "control_length": [0, 0, 7]}, [1, 2, 3], ("m", "only one text")),
        ({"m": [1, 2, 2], "control_length": [0, 2, 7]}, [1, 2, 3], ("m", "every score is 2")),
        ({"m": [1, 2, 3], "control_length": [1, 2, 7]}, [4, 4, 4], ("m", "every grade is 4")),
        ({"m": [1, 2, 7], "control_length": [1, 2, 7]}, [1, 2, 3], ("m", "its scores are the lengths")),
        ({"m": [-1, -2, -7], "control_length": [1, 2, 7]}, [1, 2, 3], ("m", "its scores are the lengths")),
    ],
)
def test_absent(columns, grades, absent):
    found = length_bias(table(grades, **columns), draws=Draws(resamples=2))
    assert found.rows == ()
    assert found.absent[0].metric == absent[0]
    assert found.absent[0].reason.startswith(absent[1])


def test_number_of_threads_and_resamples():
    given = random_table()
    assert length_bias(given, draws=Draws(resamples=30, jobs=2)) == length_bias(given, draws=Draws(resamples=30))
    with pytest.raises(UsageError, match="at least one resample"):
        length_bias(given, draws=Draws(resamples=0))
