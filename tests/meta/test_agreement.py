"""Agreement of annotators, and texts on which metrics disagree."""

from __future__ import annotations

from itertools import permutations
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from postil.correlation.calls import normalised, worst, worst_against_people
from postil.data.grades import Scale
from postil.data.parts import Estimate
from postil.data.row_locations import located
from postil.data.rows import Judgement, Score
from postil.errors import InvalidInput, Undefined, UnknownName, UsageError
from postil.meta import agreement as rating_pairs
from postil.meta.agreement import FEWEST, agreement, agreement_of_table
from postil.meta.parts import STATISTICS
from postil.meta.resampling import SEED, Draws, bootstrap_counts, interval
from postil.meta.table import Table, join
from rated_tables import rated_table

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from postil.meta.parts import Agreement


FEW = 50
"""Resamples, where the intervals do not matter."""


def judged(grades: Mapping[str, Sequence[float | None]], **more: Any) -> list[Judgement]:
    """Grades by annotator, one a text; None where there is none."""
    return [
        Judgement(text, "s", who, grade, **more)
        for who, row in grades.items()
        for text, grade in enumerate(row)
        if grade is not None
    ]


def values(found: Agreement) -> dict[str, float]:
    return {name: estimate.value for name, estimate in found.estimates.items()}


def test_few_items_have_a_note() -> None:
    def notes(items: int) -> list[str]:
        rows = [
            Judgement(str(i), s, who, (i + len(who)) % 3) for i in range(items) for s in "ab" for who in ("a", "bb")
        ]
        return [note for note in agreement(rows, fewest=FEWEST).notes if "items are few" in note]

    assert (notes(10), len(notes(9))) == ([], 1)
    assert notes(9)[0].startswith("9 items are few: intervals and tests that resample items cannot be trusted below 10")


def test_too_few_texts_tell_no_agreement_beyond_chance() -> None:
    grades = {"ann": [1, 2, 3, 3, None], "bob": [1, 2, 3, 2, 3], "cyd": [2, 1, None, None, None]}
    found = agreement(judged(grades), draws=Draws(resamples=FEW), fewest=5)
    assert list(found.estimates) == ["agreement", "within-1"]
    why = "too few texts with two grades to tell agreement from chance: 4, and it takes 5"
    assert found.absent == dict.fromkeys([name for name in STATISTICS if name not in found.estimates], why)
    assert [(pair.n, pair.quadratic, pair.reason.partition(":")[0]) for pair in found.pairs] == [
        (4, None, "too few shared texts to tell agreement from chance"),
        (2, None, "too few shared texts to tell agreement from chance"),
        (2, None, "too few shared texts to tell agreement from chance"),
    ]
    assert [note.partition(":")[0] for note in found.notes] == ["4 items are few"]
    enough = agreement(judged(grades), draws=Draws(resamples=FEW), fewest=4)
    assert values(enough) == values(
        agreement(judged(grades), draws=Draws(resamples=FEW))
    )  # pairs of few texts are in the means
    assert [pair.quadratic is None for pair in enough.pairs] == [False, True, True]
    assert enough.notes[-1] == "2 of 3 pairs of annotators have no kappas of their own: they share fewer than 4 texts"


# ---- golden ----------------------------------------------------------------------------------------------------------

FOUR = {"ann": [1, 2, 3, 3], "bob": [1, 2, 3, 2]}


def test_two_annotators() -> None:
    # ann has one 1, one 2, two 3; bob one 1, two 2, one 3; they differ once, by 1.
    # Kappa of the pair is 1 - 4 * observed / expected; expected, over ann's 1, 2, 3, 3 and all of bob's:
    #   unequal 3 + 2 + 3 + 3 = 11; |x - y| 4 + 2 + 4 + 4 = 14; squared 6 + 2 + 6 + 6 = 20.
    # Pooled, both orders: two 1, three 2, three 3, 8 in all, 2 differences. Expected, ordered:
    #   unequal 64 - 4 - 9 - 9 = 42; |x - y| 2 (2 * 3 + 2 * 3 * 2 + 3 * 3) = 54; squared 2 (6 + 6 * 4 + 9) = 78.
    #   Kappa 1 - 8 * 2 / expected, alpha 1 - 7 * 2 / expected.
    # Ordinal: middle ranks 1, 3.5, 6.5; differences 2.5, 5.5, 3: expected 2 (6 * 6.25 + 6 * 30.25 + 9 * 9) = 600,
    #   observed 2 * 9.
    found = agreement(judged(FOUR), draws=Draws(resamples=FEW))
    expected = {
        "agreement": 3 / 4,
        "within-1": 1,
        "kappa-unweighted-pairs": 1 - 4 / 11,
        "kappa-linear-pairs": 1 - 4 / 14,
        "kappa-quadratic-pairs": 1 - 4 / 20,
        "kappa-unweighted-pooled": 1 - 16 / 42,
        "kappa-linear-pooled": 1 - 16 / 54,
        "kappa-quadratic-pooled": 1 - 16 / 78,
        "alpha-nominal": 1 - 14 / 42,
        "alpha-ordinal": 1 - 7 * 18 / 600,
        "alpha-interval": 1 - 14 / 78,
    }
    assert values(found) == pytest.approx(expected, rel=1e-13)
    assert list(found.estimates) == list(STATISTICS)
    assert not found.absent
    pair = found.pairs[0]
    assert (pair.first, pair.second, pair.n, pair.agreement, pair.reason) == ("ann", "bob", 4, 3 / 4, "")
    assert (pair.unweighted, pair.linear, pair.quadratic) == pytest.approx((1 - 4 / 11, 1 - 4 / 14, 1 - 4 / 20))
    assert found.confusion == ((2, 0, 0), (0, 2, 1), (0, 1, 2))
    assert found.labels == (1, 2, 3)
    assert (found.texts, found.ratings) == (4, 8)


def test_missing_ratings() -> None:
    """The example of Krippendorff (2011): four observers, twelve units, of which one has a single rating."""
    found = agreement(
        judged(
            {
                "A": [1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None],
                "B": [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3],
                "C": [None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None],
                "D": [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None],
            }
        ),
        draws=Draws(resamples=FEW),
    )
    assert found.estimates["alpha-nominal"].value == pytest.approx(0.743, abs=5e-4)
    assert found.estimates["alpha-ordinal"].value == pytest.approx(0.815, abs=5e-4)
    assert found.estimates["alpha-interval"].value == pytest.approx(0.849, abs=5e-4)
    assert [str(left) for left in found.left_out] == ["graded by one annotator only, so in no pair: 1 (item 11 by s)"]
    assert (found.texts, found.ratings) == (12, 41)


def test_pairs_count_by_the_texts_that_they_share() -> None:
    grades = {"ann": [1, 2, 3, 3, 1, None], "bob": [1, 2, 3, 2, None, None], "cyd": [3, None, None, None, 1, 2]}
    found = agreement(judged(grades), draws=Draws(resamples=FEW))
    # ann and bob 7/11 over 4 texts, as above. ann and cyd (1, 3), (1, 1): observed 1 / 2, expected 2 / 4, kappa 0.
    # bob and cyd (1, 3): kappa 0.
    assert [(pair.first, pair.second, pair.n, pair.unweighted) for pair in found.pairs] == [
        ("ann", "bob", 4, pytest.approx(7 / 11)),
        ("ann", "cyd", 2, 0),
        ("bob", "cyd", 1, 0),
    ]
    assert found.estimates["kappa-unweighted-pairs"].value == pytest.approx(4 / 7 * 7 / 11)


def test_the_pooled_kappas_are_scott_s_pi() -> None:
    """And that of Fleiss, where every text has as many ratings; Cohen's is another number."""
    grades = {"ann": [1, 1, 2, 3, 2, 1], "bob": [1, 2, 3, 3, 3, 1], "cyd": [2, 3, 3, 3, 3, 2]}
    found = agreement(judged(grades), draws=Draws(resamples=FEW), labels=[1, 2, 3])
    table = np.array([[list(text).count(label) for label in (1, 2, 3)] for text in zip(*grades.values(), strict=True)])
    share = table.sum(0) / table.sum()
    equal = ((table**2).sum(1) - 3).mean() / (3 * 2)
    fleiss = (equal - (share**2).sum()) / (1 - (share**2).sum())
    assert found.estimates["kappa-unweighted-pooled"].value == pytest.approx(fleiss)
    assert found.estimates["kappa-unweighted-pairs"].value != pytest.approx(fleiss, abs=0.05)
    far = (np.subtract.outer([1, 2, 3], [1, 2, 3]) ** 2).astype(float)
    apart = np.mean(
        [far[a - 1, b - 1] for text in zip(*grades.values(), strict=True) for a, b in permutations(text, 2)]
    )
    assert found.estimates["kappa-quadratic-pooled"].value == pytest.approx(1 - apart / (share @ far @ share))
    for name, words in STATISTICS.items():
        assert ("Scott's pi" in words) == name.startswith("kappa-") * name.endswith("-pooled")
        assert ("Cohen's kappa" in words) == name.startswith("kappa-") * name.endswith("-pairs")


# ---- annotators ------------------------------------------------------------------------------------------------------


def test_annotators() -> None:
    grades = {"ann": [5, 5, 4, None], "bob": [4, 2, None, None], "cyd": [3, 5, 3, 1], "dan": [None, None, None, 1]}
    found = agreement(judged(grades), draws=Draws(resamples=FEW), labels=[1, 2, 3, 4, 5])
    assert [(rater.name, rater.n, rater.mean) for rater in found.raters] == [
        ("ann", 3, pytest.approx(14 / 3)),
        ("bob", 2, 3),
        ("cyd", 4, 3),
        ("dan", 1, 1),
    ]
    # Against the mean of the others: ann 5 - 3.5, 5 - 3.5, 4 - 3; bob 4 - 4, 2 - 5; cyd 3 - 4.5, 5 - 3.5, 3 - 4, 1 - 1.
    severity = [rater.severity.value for rater in found.raters if rater.severity]
    assert severity == pytest.approx([4 / 3, -1.5, -0.25, 0], abs=1e-15)
    assert [rater.histogram for rater in found.raters] == [
        (0, 0, 0, 1, 2),
        (0, 1, 0, 1, 0),
        (1, 0, 2, 0, 1),
        (1, 0, 0, 0, 0),
    ]
    assert [rater.note for rater in found.raters] == ["", "", "", "gave only the label 1"]


def test_the_severity_of_an_annotator_who_shares_no_text() -> None:
    found = agreement(judged({**FOUR, "cyd": [None, None, None, None, 2.5]}), draws=Draws(resamples=FEW))
    cyd = found.raters[2]
    assert (cyd.n, cyd.mean, cyd.severity, cyd.histogram) == (1, 2.5, None, (0, 0, 1, 0))
    assert found.labels == (1, 2, 2.5, 3)


def test_an_annotator_of_one_item_has_a_severity_without_an_interval() -> None:
    found = agreement(judged({**FOUR, "cyd": [3]}), draws=Draws(resamples=FEW))
    assert found.raters[2].severity == Estimate(value=2.0, low=None, high=None)


# ---- what does not exist ---------------------------------------------------------------------------------------------


def test_kappa_of_a_pair_that_gave_one_label() -> None:
    found = agreement(judged({"ann": [4, 4, 1], "bob": [4, 4, None], "cyd": [4, None, 2]}), draws=Draws(resamples=FEW))
    pair = found.pairs[0]
    assert (pair.unweighted, pair.linear, pair.quadratic) == (None, None, None)
    assert pair.reason == "ann and bob gave only the label 4"
    assert pair.agreement == 1
    assert found.pairs[1].reason == ""
    assert found.notes[0] == "no kappa, so not in the mean over pairs: 2 (ann and bob, bob and cyd)"
    assert "kappa-unweighted-pairs" in found.estimates


def test_one_label_in_all() -> None:
    found = agreement(judged({"ann": [4, 4, 1], "bob": [4, 4, None]}), draws=Draws(resamples=FEW))
    assert values(found) == {"agreement": 1, "within-1": 1}
    for name in STATISTICS:
        if name.endswith("pairs"):
            assert found.absent[name] == "every two annotators gave only one label to the texts that they share"
        elif name not in found.estimates:
            assert found.absent[name] == "all texts with two grades or more have only the label 4"
    assert found.raters[1].note == "gave only the label 4"


def test_no_pair_of_annotators_has_a_kappa_but_all_together_have() -> None:
    found = agreement(judged({"ann": [4, 2], "bob": [4, None], "cyd": [None, 2]}), draws=Draws(resamples=FEW))
    assert found.estimates["kappa-unweighted-pooled"].value == 1
    assert "only one label" in found.absent["kappa-unweighted-pairs"]


def test_a_pair_of_which_one_gave_one_label_has_a_kappa_of_chance() -> None:
    found = agreement(judged({"ann": [4, 4, 4], "bob": [4, 3, 2]}), draws=Draws(resamples=FEW))
    pair = found.pairs[0]
    assert (pair.unweighted, pair.linear, pair.quadratic) == (0, 0, 0)


def test_one_annotator() -> None:
    with pytest.raises(Undefined, match="needs two annotators, and all grades are by ann"):
        agreement(judged({"ann": [1, 2]}))


def test_no_text_with_two_grades() -> None:
    with pytest.raises(Undefined, match="every text has those of one"):
        agreement(judged({"ann": [1, None], "bob": [None, 2]}))


def test_one_item_has_values_without_intervals() -> None:
    rows = [Judgement("1", system, who, grade) for system, who, grade in (("a", "x", 1), ("a", "y", 2), ("b", "x", 2))]
    found = agreement([*rows, Judgement("1", "b", "y", 2)])
    assert found.texts == 2
    assert found.estimates["agreement"] == Estimate(value=0.5, low=None, high=None)
    assert all(estimate.low is None for estimate in found.estimates.values())


def sliders(*, step: float = 1.0, texts: int = 200, low: float = 0.0, high: float = 100.0) -> dict[str, list[float]]:
    """Grades of three annotators on a scale."""
    rng = np.random.default_rng(0)
    truth = rng.uniform(low, high, texts)
    noisy = np.clip(truth + rng.normal(0, 0.15 * (high - low), (3, texts)), low, high)
    return dict(zip(("ann", "bob", "cyd"), (np.rint(noisy / step) * step if step else noisy).tolist(), strict=True))


@pytest.mark.parametrize(
    ("step", "low", "high"), [(0.5, 0, 100), (0, 0, 100), (0.01, -3, 3), (0, 1, 5), (1, 0, 1000), (1, 1, 101)]
)
def test_kappas_of_many_distinct_grades_are_of_bins(step: float, low: float, high: float) -> None:
    grades = sliders(step=step, low=low, high=high, texts=400)
    scale = Scale(low, high)
    found = agreement(judged(grades), scale=scale, draws=Draws(resamples=FEW))
    distinct = len({grade for row in grades.values() for grade in row})
    assert distinct > 100
    edges = np.linspace(low, high, 11)
    bins = {
        who: [float(min(np.searchsorted(edges, grade + 1e-9, "right"), 10)) for grade in row]
        for who, row in grades.items()
    }
    of_bins = agreement(judged(bins), draws=Draws(resamples=FEW))
    assert list(found.estimates) == list(STATISTICS)
    for name in filter(lambda name: name.startswith("kappa"), STATISTICS):
        mine, theirs = found.estimates[name], of_bins.estimates[name]
        assert (mine.value, mine.low, mine.high) == pytest.approx((theirs.value, theirs.low, theirs.high))
    for one, other in zip(found.pairs, of_bins.pairs, strict=True):
        kappas = [(pair.unweighted, pair.linear, pair.quadratic) for pair in (one, other)]
        assert kappas[0] == pytest.approx(kappas[1])
        assert one.reason == ""
    assert found.bins == pytest.approx(edges)
    assert of_bins.bins == ()
    assert found.confusion is None
    assert found.raters[0].histogram is None
    bins_of = f"kappas and Scott's pi are of 10 bins of equal width from {low:g} to {high:g}"
    alphas = "Krippendorff's alphas are of the grades themselves"
    assert found.notes == (f"there are {distinct:,} distinct grades, so {bins_of}; {alphas}",)


def test_without_a_scale_bins_are_from_the_lowest_to_the_highest_grade() -> None:
    grades = sliders(step=0)
    every = [grade for row in grades.values() for grade in row]
    found = agreement(judged(grades), draws=Draws(resamples=FEW))
    assert (found.bins[0], found.bins[-1]) == (min(every), max(every))
    assert found == agreement(judged(grades), scale=Scale(min(every), max(every)), draws=Draws(resamples=FEW))


def test_a_table_of_scores_has_bins_of_its_scale() -> None:
    grades = judged(sliders(step=0))
    scores = [Score(str(item), "s", "m", 0.5, "") for item in range(200)]
    found = agreement_of_table(join(scores, grades, scale=Scale(-100, 200)), draws=Draws(resamples=FEW))
    assert (found.bins[0], found.bins[-1]) == (-100, 200)


def test_all_grades_in_one_bin_have_alphas_and_no_kappa() -> None:
    grades = sliders(step=0, low=90.5, high=99.5)
    found = agreement(judged(grades), scale=Scale(0, 100), draws=Draws(resamples=FEW))
    assert found.estimates["alpha-ordinal"].value > 0.5
    assert found.absent["kappa-unweighted-pooled"] == "all texts with two grades or more have only the label 90 to 100"
    assert found.pairs[0].reason == "ann and bob gave only the label 90 to 100"


# ---- intervals -------------------------------------------------------------------------------------------------------


def some_judgements(*, annotators: int = 3, items: int = 12, seed: int = 1) -> list[Judgement]:
    """Judgements of two systems per item, some ratings missing."""
    rng = np.random.default_rng(seed)
    return [
        Judgement(item, system, f"r{who}", float(np.clip(round(truth + rng.normal()), 1, 4)))
        for item in range(items)
        for system in "ab"
        for truth in [rng.normal(2.5, 1)]
        for who in range(annotators)
        if rng.random() < 0.8
    ]


@pytest.mark.parametrize("numbers", [rating_pairs.NUMBERS, 300])
def test_intervals_are_of_agreement_over_drawn_items(monkeypatch: pytest.MonkeyPatch, numbers: int) -> None:
    """The same as writing the judgements of each drawn item down as often as it was drawn."""
    monkeypatch.setattr(rating_pairs, "NUMBERS", numbers)  # few numbers: each pair's table for itself
    monkeypatch.setattr(rating_pairs, "EMPTY", 1000)
    monkeypatch.setattr("postil.meta.agreement.ENOUGH", 0)  # intervals for means over pairs, however few
    monkeypatch.setattr("postil.meta.resampling.CELLS", 200)  # blocks of resamples are stitched together
    rows, resamples = some_judgements(), 40
    found = agreement(rows, draws=Draws(resamples=resamples))
    items = sorted({row.item for row in rows})
    drawn: dict[str, list[float]] = {}
    for counts in bootstrap_counts(len(items), resamples, SEED):
        copies = dict(zip(items, counts.tolist(), strict=True))
        again = agreement(
            (
                Judgement(f"{row.item} {copy}", row.system, row.annotator, row.grade)
                for row in rows
                for copy in range(copies[row.item])
            ),
            draws=Draws(resamples=1),
        )
        for name, value in values(again).items():
            drawn.setdefault(name, []).append(value)
        for rater in again.raters:
            drawn.setdefault(rater.name, []).append(rater.severity.value if rater.severity else np.nan)
    severities = {rater.name: rater.severity for rater in found.raters if rater.severity}
    assert len(severities) == 3
    for name, estimate in {**found.estimates, **severities}.items():
        band = interval(np.array(drawn[name]))
        assert (estimate.low, estimate.high) == pytest.approx((band.low, band.high), rel=1e-10, abs=1e-12)
        assert band.low < estimate.value < band.high


def test_tables_are_split_where_they_are_many_and_full(monkeypatch: pytest.MonkeyPatch) -> None:
    labels = np.array([[0, 0, 1, 1, 2, 0], [0, 1, 1, 0, 2, 2]])
    group, item = np.array([0, 0, 1, 1, 2, 2]), np.array([0, 1, 0, 1, 0, 1])
    tables = rating_pairs.Tables(labels, group, item, np.arange(3.0))
    assert [each is tables for each in tables.parts(2)] == [True]
    assert tables.width(1000) == 1000  # a block of resamples has a number for each item
    monkeypatch.setattr(rating_pairs, "NUMBERS", 8)
    counts = np.array([[1, 1], [3, 1]], np.int32)
    parts = list(tables.parts(2))
    assert [len(part.group) for part in parts] == [4, 2]
    found = [part.kappas(part.counter(2)(counts))["linear"] for part in parts]
    assert np.concatenate(found, axis=1).tolist() == tables.kappas(tables.counter(2)(counts))["linear"].tolist()
    monkeypatch.setattr(rating_pairs, "EMPTY", 1)
    assert [each is tables for each in tables.parts(2)] == [True]


def test_no_interval_for_the_mean_over_pairs_that_share_few_texts() -> None:
    found = agreement(some_judgements(), draws=Draws(resamples=FEW))
    for name, estimate in found.estimates.items():
        assert (estimate.low is None) == name.endswith("pairs")
    assert found.notes[-1].startswith("two annotators share 14.7 texts on average; ")
    enough = agreement(some_judgements(items=20), draws=Draws(resamples=FEW))
    assert all(estimate.low is not None for estimate in enough.estimates.values())
    assert enough.notes == ()


def test_a_seed_gives_the_same_intervals() -> None:
    rows = some_judgements()
    assert (
        agreement(rows, draws=Draws(resamples=FEW)).estimates == agreement(rows, draws=Draws(resamples=FEW)).estimates
    )
    other = agreement(rows, draws=Draws(resamples=FEW, seed=1))
    assert values(other) == values(agreement(rows, draws=Draws(resamples=FEW)))
    assert other.estimates != agreement(rows, draws=Draws(resamples=FEW)).estimates


def test_the_order_of_the_rows_changes_nothing() -> None:
    rows = some_judgements()
    mixed = [rows[place] for place in np.random.default_rng(0).permutation(len(rows))]
    one, other = agreement(rows, draws=Draws(resamples=FEW)), agreement(mixed, draws=Draws(resamples=FEW))
    assert (one.estimates, one.pairs, one.raters) == (other.estimates, other.pairs, other.raters)


# ---- laws ------------------------------------------------------------------------------------------------------------

TABLES = st.lists(st.lists(st.sampled_from([1.0, 2.0, 2.5, 4.0, None]), min_size=3, max_size=3), min_size=1, max_size=8)


def some_agreement(rows: Iterable[Sequence[float | None]], **more: Any) -> Agreement | None:
    columns = list(zip(*rows, strict=True))
    try:
        return agreement(judged(dict(zip("abc", columns, strict=True))), draws=Draws(resamples=2), **more)
    except (Undefined, InvalidInput):
        return None


TEXTS = ("10", "9", "2")
RATED = st.tuples(st.sampled_from(TEXTS), st.sampled_from("ba"), st.sampled_from("zxy"), st.integers(1, 3))


@given(st.lists(RATED, min_size=1, max_size=40), st.permutations(TEXTS))
def test_of_a_table_are_those_of_its_judgements(grades: list[tuple[str, str, str, int]], items: list[str]) -> None:
    scores = [Score(item, system, "m", 0.5, "") for item in items[:2] for system in "ab"]
    judgements = [Judgement(*row) for row in grades]
    joined = [row for row in judgements if row.item in items[:2]]
    if not joined:
        return
    table = join(scores, judgements)
    try:
        expected = agreement(joined, draws=Draws(resamples=3))
    except Undefined as why:
        with pytest.raises(Undefined, match=str(why)):
            agreement_of_table(table, draws=Draws(resamples=3))
    else:
        assert agreement_of_table(table, draws=Draws(resamples=3)) == expected


@given(TABLES)
def test_ranges(rows: list[list[float | None]]) -> None:
    found = some_agreement(rows)
    if found is None:
        return
    assert set(found.estimates) | set(found.absent) == set(STATISTICS)
    assert not set(found.estimates) & set(found.absent)
    for estimate in found.estimates.values():
        assert -1 - 1e-9 <= estimate.value <= 1 + 1e-9
        assert estimate.low is None or not np.isnan(estimate.low)
    assert np.sum(found.confusion) == 2 * sum(pair.n for pair in found.pairs)
    assert (found.confusion == np.transpose(found.confusion)).all()
    equal = sum(pair.agreement * pair.n for pair in found.pairs) / sum(pair.n for pair in found.pairs)
    assert found.estimates["agreement"].value == pytest.approx(equal)
    assert sum(sum(rater.histogram or ()) for rater in found.raters) == found.ratings


@given(TABLES)
def test_agreement_is_perfect_if_all_say_the_same(rows: list[list[float | None]]) -> None:
    found = some_agreement([[next(filter(None, row), 1.0)] * 3 for row in rows])
    assert set(values(found).values()) == {1.0}
    assert {rater.severity.value for rater in found.raters if rater.severity} == {0.0}


@given(TABLES, st.sampled_from([0.25, 3.0, 10.0]), st.sampled_from([-5.0, 0.0, 100.0]))
def test_another_unit_changes_nothing_but_within_1(rows: list[list[float | None]], factor: float, shift: float) -> None:
    one = some_agreement(rows)
    other = some_agreement([[None if grade is None else factor * grade + shift for grade in row] for row in rows])
    assert (one is None) == (other is None)
    if one is not None and other is not None:
        found, again = values(one), values(other)
        found.pop("within-1")
        again.pop("within-1")
        assert found == pytest.approx(again, rel=1e-9, abs=1e-9)


@given(TABLES)
def test_labels_that_nobody_gave_change_nothing(rows: list[list[float | None]]) -> None:
    one, other = some_agreement(rows), some_agreement(rows, labels=[1, 2, 2.5, 3, 4, 9])
    assert (one is None) == (other is None)
    if one is not None and other is not None:
        assert values(one) == pytest.approx(values(other), rel=1e-12, abs=1e-12)
        assert other.labels == (1, 2, 2.5, 3, 4, 9)


# ---- input -----------------------------------------------------------------------------------------------------------


def test_several_grades_by_one_annotator_are_their_mean() -> None:
    repeated = Judgement(3, "s", "bob", 3)
    found = agreement([*judged(FOUR), repeated], draws=Draws(resamples=FEW), labels=[1, 2, 3])
    assert found.labels == (1, 2, 2.5, 3)
    assert [str(left) for left in found.left_out] == [
        "graded more than once by one annotator, the mean taken: 1 (item 3 by s)"
    ]
    assert found.raters[1].histogram == (1, 1, 1, 1)
    assert values(found) == values(agreement(judged({**FOUR, "bob": [1, 2, 3, 2.5]}), draws=Draws(resamples=FEW)))


def test_off_the_scale() -> None:
    assert agreement(judged(FOUR), scale=Scale(1, 3), draws=Draws(resamples=FEW)) == agreement(
        judged(FOUR), draws=Draws(resamples=FEW)
    )
    with pytest.raises(InvalidInput) as error:
        agreement(located(judged(FOUR), "j.jsonl"), scale=Scale(1, 2))
    assert str(error.value) == "j.jsonl:3: grade: expected a number from 1 to 2, got 3"


def test_not_a_label() -> None:
    with pytest.raises(InvalidInput) as error:
        agreement(judged(FOUR), labels=[2, 1])
    assert str(error.value) == "judgements:3: grade: expected one of the labels 1, 2, got 3"


def test_one_aspect_of_several() -> None:
    rows = [*judged(FOUR, aspect="wit"), *judged({"ann": [9, 9], "bob": [8, 9]}, aspect="truth")]
    found = agreement(rows, aspect="wit", labels=[1, 2, 3], draws=Draws(resamples=FEW))
    assert values(found) == values(agreement(judged(FOUR), draws=Draws(resamples=FEW)))
    with pytest.raises(InvalidInput, match=r"^j.jsonl:9: aspect: judgements of more than one aspect"):
        agreement(located(rows, "j.jsonl"))
    with pytest.raises(UnknownName, match="unknown aspect 'with'; did you mean 'wit'"):
        agreement(rows, aspect="with")


def test_no_rows() -> None:
    with pytest.raises(InvalidInput, match=r"^judgements: expected judgements, got no rows"):
        agreement([])


# ---- positions -------------------------------------------------------------------------------------------------------

OF_PAIRS = ("kappa-unweighted-pairs", "kappa-linear-pairs", "kappa-quadratic-pairs")


def of_five(*, numbered: bool, third: bool) -> list[Judgement]:
    """Texts with the ratings of two of five annotators, some of three, under their names or by position."""
    rows = []
    for text, chosen in enumerate(permutations(("ann", "bob", "cyd", "dan", "eve"), 3)):
        for place, who in enumerate(chosen[: 3 if third and not text % 4 else 2], 1):
            grade = 1 + (text // 3 + ("bob", "eve").count(who)) % 5
            rows.append(Judgement(str(text), "s", str(place) if numbered else who, grade))
    return rows


@pytest.mark.parametrize("table", [False, True])
def test_between_positions_there_is_no_kappa(table: bool) -> None:
    def found(rows: list[Judgement]) -> Agreement:
        texts = dict.fromkeys(row.item for row in rows)
        scores = [Score(text, "s", "m", 0.5 + 0.001 * n, "") for n, text in enumerate(texts)]
        return (
            agreement_of_table(join(scores, rows), draws=Draws(resamples=FEW))
            if table
            else agreement(rows, draws=Draws(resamples=FEW))
        )

    named, numbered = (found(of_five(numbered=numbered, third=True)) for numbered in (False, True))
    assert set(OF_PAIRS) <= named.estimates.keys()
    assert (len(named.raters), len(named.pairs)) == (5, 10)
    assert not set(OF_PAIRS) & numbered.estimates.keys()
    for name in OF_PAIRS:
        assert "numbered from 1, by position, so nobody can be told apart" in numbered.absent[name]
    assert (numbered.raters, numbered.pairs) == ((), ())
    same = {name: value for name, value in values(named).items() if name not in OF_PAIRS}
    assert values(numbered) == pytest.approx(same)  # what needs no names


def test_annotators_who_may_be_positions_have_a_note() -> None:
    rows = of_five(numbered=True, third=False)
    found = agreement(rows, draws=Draws(resamples=FEW))
    assert set(OF_PAIRS) <= found.estimates.keys()
    assert any("if these are positions and not people" in note for note in found.notes)
    sure = agreement(rows, draws=Draws(resamples=FEW), numbered=True)
    assert set(OF_PAIRS) <= sure.absent.keys()
    assert not agreement(of_five(numbered=False, third=False), draws=Draws(resamples=FEW), numbered=True).absent


def made(
    rows: list[tuple[str, str, float, float, float]], *, low: tuple[str, ...] = (), scale: Scale | None = None
) -> Table:
    """Item, system, two scores and a grade."""
    items, systems, x, y, grades = zip(*rows, strict=True)
    return rated_table({"x": x, "y": y}, grades, items=items, systems=systems, lower_is_better=low, scale=scale)


ROWS = [("1", "a", 0.0, 0.8, 1.0), ("2", "a", 0.2, 0.6, 2.0), ("3", "a", 0.4, 0.8, 4.0), ("4", "a", 0.6, 0.2, 5.0)]


def test_normalised_by_hand() -> None:
    # Grades 1 2 4 5: mean 3, variance (4 + 1 + 1 + 4) / 4 = 2.5. x: mean .3, variance .05, so sd(grades) / sd(x) is
    # sqrt(50) and x = 0 .2 .4 .6 becomes 3 -+ .3 sqrt(50), 3 -+ .1 sqrt(50) = .879, 2.293, 3.707, 5.121.
    wide = normalised(made(ROWS, scale=Scale(0, 6)), ["x"])[:, 0]
    assert wide == pytest.approx([3 - 0.3 * 50**0.5, 3 - 0.1 * 50**0.5, 3 + 0.1 * 50**0.5, 3 + 0.3 * 50**0.5])
    clipped = normalised(made(ROWS, scale=Scale(1, 5)), ["x"])[:, 0]
    assert clipped == pytest.approx([1, 3 - 0.1 * 50**0.5, 3 + 0.1 * 50**0.5, 5])
    assert normalised(made(ROWS), ["x"])[:, 0] == pytest.approx(clipped)
    # The grades with their sign turned are 6 minus the grade.
    turned = normalised(made([(i, s, g, 1 / g, g) for i, s, _, _, g in ROWS], low=("x",)), ["x"])[:, 0]
    assert turned == pytest.approx([5, 4, 2, 1])


@given(st.lists(st.tuples(st.integers(0, 20), st.integers(0, 20), st.integers(1, 5)), min_size=2, max_size=12))
def test_normalised_has_the_mean_and_variance_of_the_grades(rows: list[tuple[int, int, int]]) -> None:
    assume(all(len(set(column)) > 1 for column in zip(*rows, strict=True)))
    table = made([(str(i), "a", x, y, grade) for i, (x, y, grade) in enumerate(rows)], scale=Scale(-100, 100))
    values = normalised(table)
    np.testing.assert_allclose(values.mean(axis=0), table.grades.mean())
    np.testing.assert_allclose(values.std(axis=0), table.grades.std())
    assert (normalised(made([(str(i), "a", x, y, g) for i, (x, y, g) in enumerate(rows)])) >= 1).all()


def test_the_worst_come_first() -> None:
    table = made(ROWS, scale=Scale(1, 5))
    values = normalised(table)
    found = worst(table, "x", "y", k=3)
    apart = values[:, 0] - values[:, 1]
    assert [at.row for at in found] == np.argsort(-np.abs(apart)).tolist()[:3]
    first = found[0]
    assert (first.item, first.system, first.grade, first.scores) == ("4", "a", 5.0, (0.6, 0.2))
    assert first.normalised == tuple(values[3])
    assert first.difference == apart[3] == 4.0
    back = worst(table, "y", "x", k=3)
    assert [(at.row, at.difference) for at in back] == [(at.row, -at.difference) for at in found]


def test_the_worst_each_way() -> None:
    # Two large differences on one side, four small ones on the other.
    rows = [("1", "a", 9.0, 4.0, 9.0), ("2", "a", 9.5, 4.0, 9.5)]
    rows += [(f"{n}", "a", 7 + n / 100, 5.0, 7 + n / 100) for n in range(3, 7)]
    table = made(rows)
    both = worst(table, "x", "y", k=1, each_way=True)
    every = worst(table, "x", "y")
    first = [next(at for at in every if sign * at.difference > 0) for sign in (1, -1)]
    assert list(both) == sorted(first, key=every.index)
    assert list(both) != list(every[:2])
    assert worst(table, "x", "y", k=4, each_way=True) == every
    assert worst(table, "x", "y", k=0, each_way=True) == ()


def test_against_people() -> None:
    table = made(ROWS, scale=Scale(1, 5))
    found = worst_against_people(table, "y")
    assert len(found) == 4
    assert [at.row for at in found] == np.argsort(-np.abs(normalised(table, ["y"])[:, 0] - table.grades)).tolist()
    for at in found:
        assert at.scores == (table.scores[at.row, 1],)
        assert at.difference == at.normalised[0] - at.grade


def test_equal_differences_go_by_item_and_system() -> None:
    rows = [("b", "q", 0.0, 1.0, 1.0), ("b", "p", 1.0, 0.0, 5.0), ("a", "r", 0.0, 1.0, 1.0), ("c", "p", 1.0, 0.0, 5.0)]
    assert [(at.item, at.system) for at in worst(made(rows), "x", "y")] == [
        ("a", "r"),
        ("b", "p"),
        ("b", "q"),
        ("c", "p"),
    ]


def test_raw_scores_are_as_they_came() -> None:
    (first, *_) = worst(made(ROWS, low=("y",)), "x", "y", k=1)
    assert first.scores == (ROWS[first.row][2], ROWS[first.row][3])


def test_wrong_requests() -> None:
    flat = made([(item, system, 0.5, y, grade) for item, system, _, y, grade in ROWS])
    for call in (lambda: normalised(flat), lambda: worst(flat, "y", "x"), lambda: worst_against_people(flat, "x")):
        with pytest.raises(Undefined, match="x gives all 4 texts the same score"):
            call()
    assert normalised(flat, ["y"]).shape == (4, 1)
    assert len(worst_against_people(flat, "y", k=2)) == 2
    with pytest.raises(Undefined, match="all 4 grades are 3"):
        normalised(made([(item, system, x, y, 3.0) for item, system, x, y, _ in ROWS]))
    with pytest.raises(UnknownName, match="unknown metric 'z'"):
        worst(made(ROWS), "x", "z")
    with pytest.raises(UsageError, match="got -1"):
        worst(made(ROWS), "x", "y", k=-1)
    assert worst(made(ROWS), "x", "y", k=0) == ()


@pytest.mark.parametrize("size", [1e-200, 1e-13, 1e60])
def test_the_order_of_disagreements_does_not_depend_on_the_magnitude(size: float) -> None:
    usual = worst(made(ROWS), "x", "y")
    found = worst(made([(item, system, size * x, y, grade) for item, system, x, y, grade in ROWS]), "x", "y")
    assert [(row.item, row.system) for row in found] == [(row.item, row.system) for row in usual]
    assert [row.difference for row in found] == pytest.approx([row.difference for row in usual])


def test_equal_disagreements_come_in_the_order_of_their_names() -> None:
    # Normalized x is the grade itself but for 1 and 3, which swap theirs: differences of 2 and -2, up to rounding.
    rows = [("3", "a", 0.1 * 1, 0.0, 3.0), ("1", "a", 0.1 * 3, 0.0, 1.0), ("2", "a", 0.1 * 2, 1.0, 2.0)]
    found = worst_against_people(made(rows), "x")
    assert [row.item for row in found] == ["1", "3", "2"]
