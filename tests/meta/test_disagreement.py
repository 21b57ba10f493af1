from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from postil.correlation.calls import normalised, worst, worst_against_people
from postil.data.rows import Judgement, Score
from postil.data.scale import Scale
from postil.errors import Undefined, UnknownName, UsageError
from postil.meta.table import Table, join


def made(
    rows: list[tuple[str, str, float, float, float]], *, low: tuple[str, ...] = (), scale: Scale | None = None
) -> Table:
    """Item, system, two scores and a grade."""
    return join(
        [Score(item, system, "x", score, "") for item, system, score, _, _ in rows]
        + [Score(item, system, "y", score, "") for item, system, _, score, _ in rows],
        [Judgement(item, system, "ann", grade) for item, system, _, _, grade in rows],
        lower_is_better=low,
        scale=scale,
    )


ROWS = [
    ("1", "a", 0.0, 0.8, 1.0),
    ("2", "a", 0.2, 0.6, 2.0),
    ("3", "a", 0.4, 0.8, 4.0),
    ("4", "a", 0.6, 0.2, 5.0),
]


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
