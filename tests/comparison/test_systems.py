from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from postil.comparison.baseline import compare as compare_systems
from postil.data.row_locations import located
from postil.data.rows import Judgement, Score
from postil.errors import InvalidInput, Undefined, UnknownName, UsageError
from postil.meta.correlation import system_means
from postil.meta.resampling import Draws, bootstrap_counts
from postil.meta.significance import holm
from postil.meta.table import Scored, join

if TYPE_CHECKING:
    from collections.abc import Iterable

    from postil.comparison.result import Comparison


def scores_of(values: dict[str, list[float]], metric: str = "meteor") -> list[Score]:
    return [Score(str(i), system, metric, score, "") for system, row in values.items() for i, score in enumerate(row)]


def compare(rows: Iterable[Score], baseline: str | None = None, **options: Any) -> Comparison:
    return compare_systems(Scored(rows), baseline, **options)


BASE = [0.1, 0.4, 0.2, 0.5, 0.3, 0.9]
BETTER = [0.2, 0.6, 0.3, 0.9, 0.4, 1.0]
MIXED = [0.3, 0.3, 0.3, 0.3, 0.3, 0.8]


def test_means_and_differences_by_hand() -> None:
    found = compare(scores_of({"base": BASE, "better": BETTER, "mixed": MIXED}))
    base, better, mixed = found.systems
    assert (found.baseline, found.items) == ("base", 6)
    assert [(row.system, row.metric) for row in found.systems] == [
        ("base", "meteor"),
        ("better", "meteor"),
        ("mixed", "meteor"),
    ]
    assert base.mean == pytest.approx(2.4 / 6)
    assert base.difference is base.difference_low is base.p_bootstrap is base.p_randomisation is base.p_holm is None
    assert better.difference == pytest.approx(1.0 / 6)
    assert mixed.difference == pytest.approx(-0.1 / 6)
    assert better.n == 6
    assert found.notes == ()
    # All six differences are above 0, so no resample is at or below it.
    assert better.p_bootstrap == pytest.approx(2 / 1001)


@pytest.mark.parametrize(("system", "row"), [("better", BETTER), ("mixed", MIXED)])
def test_randomisation_is_brute_force_over_all_signs(system: str, row: list[float]) -> None:
    apart = np.array(row) - BASE
    sums = [abs(apart @ signs) for signs in itertools.product((1, -1), repeat=6)]
    exact = np.mean(np.array(sums) >= abs(apart.sum()) - 1e-12)
    found = compare(scores_of({"base": BASE, system: row}), draws=Draws(permutations=20_000)).systems[1]
    assert found.p_randomisation == pytest.approx(exact, abs=4 * (exact * (1 - exact) / 20_000) ** 0.5)


def test_intervals_are_of_the_paired_resamples() -> None:
    found = compare(scores_of({"base": BASE, "better": BETTER}), draws=Draws(resamples=200, seed=3))
    of_base, of_better = [], []
    for counts in bootstrap_counts(6, 200, seed=3):
        drawn = np.repeat(np.arange(6), counts)
        of_base.append(np.array(BASE)[drawn].mean())
        of_better.append(np.array(BETTER)[drawn].mean())
    base, better = found.systems
    assert (base.low, base.high) == pytest.approx(tuple(np.percentile(of_base, (2.5, 97.5))))
    apart = np.subtract(of_better, of_base)
    assert (better.difference_low, better.difference_high) == pytest.approx(tuple(np.percentile(apart, (2.5, 97.5))))


def test_the_baseline_can_be_named() -> None:
    rows = scores_of({"base": BASE, "better": BETTER})
    forth, back = compare(rows).systems[1], compare(rows, "better").systems[0]
    assert back.difference == -forth.difference
    assert (back.p_bootstrap, back.p_randomisation) == (forth.p_bootstrap, forth.p_randomisation)


def test_a_copy_of_the_baseline_does_not_differ() -> None:
    (_, copy, _) = compare(scores_of({"base": BASE, "copy": BASE, "better": BETTER})).systems
    assert (copy.difference, copy.difference_low, copy.difference_high) == (0.0, 0.0, 0.0)
    assert (copy.p_bootstrap, copy.p_randomisation, copy.p_holm) == (1.0, 1.0, 1.0)


def test_holm_is_over_the_systems_of_a_metric() -> None:
    values = {"base": BASE, "better": BETTER, "mixed": MIXED}
    rows = [*scores_of(values), *scores_of({name: row[::-1] for name, row in values.items()}, "bleu-4")]
    found = compare(rows)
    assert [(row.metric, row.system) for row in found.systems] == list(itertools.product(("meteor", "bleu-4"), values))
    for metric in ("meteor", "bleu-4"):
        others = [row for row in found.systems if row.metric == metric and row.p_holm is not None]
        assert [row.p_holm for row in others] == holm([row.p_randomisation or 0 for row in others]).tolist()
        assert len(others) == 2


def test_systems_with_different_items_are_refused_by_name() -> None:
    rows = [*scores_of({"base": BASE, "better": BETTER}), Score("extra", "better", "meteor", 0.5, "")]
    rows += [Score(str(i), "short", "meteor", 0.1, "") for i in range(3)]
    with pytest.raises(InvalidInput) as write_error:
        compare(located(rows, "scores.jsonl"))
    assert str(write_error.value) == (
        "scores.jsonl: systems cover different items; items that base lacks: 1 (extra); items that short lacks: 4 "
        "(3, 4, 5, extra); give all systems the same items, or compare on those that they share: intersect=True"
    )
    found = compare(rows, intersect=True)
    assert found.items == 3
    assert [row.mean for row in found.systems] == pytest.approx([0.7 / 3, 1.1 / 3, 0.1])
    assert [str(left) for left in found.left_out] == [
        "items that base lacks: 1 (extra)",
        "items that short lacks: 4 (3, 4, 5, extra)",
    ]


def test_an_item_without_one_of_the_metrics_is_lacking() -> None:
    rows = [*scores_of({"a": BASE, "b": BETTER}), *scores_of({"a": BASE, "b": BETTER[:-1]}, "bleu-4")]
    with pytest.raises(InvalidInput, match=r"items of b without a score by bleu-4: 1 \(5\)"):
        compare(rows)


def test_a_system_without_one_of_the_metrics_is_told_from_one_without_items() -> None:
    rows = [*scores_of({"a": BASE, "b": BETTER}), *scores_of({"a": BASE}, "bleu-4")]
    with pytest.raises(Undefined) as write_error:
        compare(rows, intersect=True)
    assert str(write_error.value) == (
        "systems share no item, and no interval can be had from fewer than two: items of b without a score by bleu-4: "
        "6 (0, 1, 2, 3, 4 and 1 more)"
    )


def test_too_few_items_in_common() -> None:
    rows = [Score("1", "a", "meteor", 0.5, ""), Score("1", "b", "meteor", 0.6, ""), Score("2", "b", "meteor", 0.6, "")]
    with pytest.raises(Undefined, match=r"share one item.*items that a lacks: 1 \(2\)"):
        compare(rows, intersect=True)
    with pytest.raises(Undefined, match="share one item, and no interval"):
        compare(rows[:2])


def test_ignored_rows_are_noted() -> None:
    rows = scores_of({"only": BASE})
    rows += scores_of({"only": BASE}, "control:shuffled(meteor,draw=0)")
    rows.append(Score(None, "only", "meteor", 0.123, ""))
    found = compare(rows)
    (row,) = found.systems
    assert (row.metric, row.system, row.difference) == ("meteor", "only", None)
    assert row.mean == pytest.approx(0.4)
    corpus, draws, alone = found.notes
    assert corpus.startswith("corpus scores ignored: 1;")
    assert draws == "single draws of random controls passed over: 1"
    assert alone.startswith("only is the only system")


def test_wrong_requests() -> None:
    rows = scores_of({"base": BASE, "better": BETTER})
    with pytest.raises(UnknownName, match="unknown system 'bass'; did you mean 'base'"):
        compare(rows, "bass")
    with pytest.raises(UnknownName, match="unknown metric 'meter'; did you mean 'meteor'"):
        compare(rows, lower_is_better=["meter"])
    with pytest.raises(UsageError, match="at least one permutation"):
        compare(rows, draws=Draws(permutations=0))
    with pytest.raises(InvalidInput, match=r"scores\.jsonl:13: metric: a second score"):
        compare(located([*rows, rows[0]], "scores.jsonl"))
    with pytest.raises(InvalidInput, match="expected item scores"):
        compare([])


def test_system_means_by_hand() -> None:
    # Two texts a system, one grade each.       meteor        errors      grades
    texts = {"a": ((0.2, 9, 1), (0.4, 7, 2)), "b": ((0.5, 8, 3), (0.5, 8, 3)), "c": ((0.5, 1, 5), (0.5, 2, 4))}
    rows = [
        Score(str(item), system, metric, row[column], "")
        for system, of_system in texts.items()
        for item, row in enumerate(of_system)
        for column, metric in enumerate(("meteor", "errors"))
    ]
    judgements = [
        Judgement(str(item), system, "ann", row[2])
        for system, of_system in texts.items()
        for item, row in enumerate(of_system)
    ]
    found = system_means(join(rows, judgements, lower_is_better=["errors"]))
    assert [(row.system, row.n) for row in found.rows] == [("a", 2), ("b", 2), ("c", 2)]
    assert [row.means["meteor"] for row in found.rows] == pytest.approx([0.3, 0.5, 0.5])
    assert [row.means["errors"] for row in found.rows] == [8, 8, 1.5]
    assert [(row.grade, row.rank) for row in found.rows] == [(1.5, 3), (3, 2), (4.5, 1)]
    assert [row.ranks for row in found.rows] == [
        {"meteor": 3, "errors": 2},
        {"meteor": 1, "errors": 2},
        {"meteor": 1, "errors": 1},
    ]
    # Two of three pairs agree and one is tied in the metric: 2 / sqrt(2 * 3).
    assert found.orders == pytest.approx({"meteor": 2 / 6**0.5, "errors": 2 / 6**0.5})
    assert found.absent == ()


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        ([("a", 0.2, 3)], "there is only one system"),
        ([("a", 0.2, 3), ("b", 0.2, 4)], "meteor gives all systems the same mean"),
        ([("a", 0.2, 3), ("b", 0.4, 3)], "people give all systems the same mean grade"),
    ],
)
def test_an_order_that_does_not_exist_is_absent(rows: list[tuple[str, float, float]], reason: str) -> None:
    table = join(
        [Score("1", system, "meteor", score, "") for system, score, _ in rows],
        [Judgement("1", system, "ann", grade) for system, _, grade in rows],
    )
    found = system_means(table)
    assert found.orders == {"meteor": None}
    assert [absent.reason for absent in found.absent] == [reason]


@pytest.mark.parametrize("size", [1e-100, 1e-13, 1e60])
def test_scores_of_any_magnitude_are_compared_alike(size: float) -> None:
    systems = {"base": BASE, "better": BETTER, "mixed": MIXED}
    usual = compare(scores_of(systems), draws=Draws(permutations=500)).systems
    found = compare(
        scores_of({name: [size * x for x in row] for name, row in systems.items()}), draws=Draws(permutations=500)
    )
    for row, other in zip(found.systems, usual, strict=True):
        assert (row.p_bootstrap, row.p_randomisation, row.p_holm) == (
            other.p_bootstrap,
            other.p_randomisation,
            other.p_holm,
        )
        assert row.mean == pytest.approx(size * other.mean, rel=1e-12, abs=0)


def test_small_differences_count_beside_large_scores() -> None:
    # Smoothed BLEU-4 looks like this: one item with a match, five without. Only all or no signs turned reach the sum.
    systems = {"base": [1e-12] * 5 + [0.2], "better": [1e-11] * 5 + [0.7]}
    found = compare(scores_of(systems), draws=Draws(permutations=20_000)).systems[1]
    assert found.p_randomisation == pytest.approx(2 / 2**6, abs=0.006)


def test_scores_that_differ_by_rounding_noise_do_not_differ() -> None:
    noise = [0.1 + 0.2, 0.7 + 1e-16, 0.5 - 1e-16, 0.1 + 0.7, 0.6]
    found = compare(scores_of({"base": [0.3, 0.7, 0.5, 0.8, 0.6], "noise": noise})).systems[1]
    assert (found.difference, found.difference_low, found.difference_high) == (0.0, 0.0, 0.0)
    assert (found.p_bootstrap, found.p_randomisation) == (1.0, 1.0)


@pytest.mark.parametrize("size", [1e-100, 1e-13, 1.0, 1e60])
def test_ranks_of_systems_do_not_depend_on_the_magnitude(size: float) -> None:
    texts = {"a": [0.1, 0.2, 0.0], "b": [0.3, 0.0, 0.0], "c": [0.0, 0.0, 0.1], "d": [-0.1, 0.3, -0.2], "e": [0.0] * 3}
    scores = [Score(str(i), name, "m", size * x, "") for name, row in texts.items() for i, x in enumerate(row)]
    grades = [Judgement(str(i), name, "ann", 1) for name in texts for i in range(3)]
    found = system_means(join(scores, grades))
    assert [row.ranks["m"] for row in found.rows] == [1, 1, 3, 4, 4]  # a and b tie at .1, d and e at 0, up to rounding
