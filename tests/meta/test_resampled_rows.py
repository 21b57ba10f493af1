from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from exploration import examples
from postil.meta.resampling import RankedRows, bootstrap_counts

scipy_stats = pytest.importorskip("scipy.stats")

ROWS = st.lists(st.tuples(st.integers(0, 4), st.integers(1, 5), st.integers(1, 5)), min_size=2, max_size=30)


@pytest.mark.parametrize("coefficient", ["spearman", "kendall-b", "kendall-c"])
@given(rows=ROWS)
@examples(25)
def test_counted_pairs_of_ranks_have_the_coefficients_of_their_rows(
    coefficient: str, rows: list[tuple[int, int, int]]
) -> None:
    rows.sort()
    names, x, y = np.array(rows, float).T
    item = np.unique(names, return_inverse=True)[1].astype(np.int32)
    ranked = RankedRows(coefficient, x[:, None], y, item)  # type: ignore[arg-type]
    assert ranked.cells is not None
    of_item, first, second = ranked.cells
    assert of_item.sum() == len(rows)
    assert len(set(zip(first[:, 0].tolist(), second.tolist(), strict=True))) == len(second)
    counts = bootstrap_counts(int(item[-1]) + 1, 10, seed=len(rows))
    for found, drawn in zip(ranked(counts)[:, 0], counts, strict=True):
        again = np.repeat(np.arange(len(rows)), drawn[item])
        one, other = x[again], y[again]
        if not len(again) or np.ptp(one) == 0 or np.ptp(other) == 0:
            assert math.isnan(found)
        elif coefficient == "spearman":
            assert found == pytest.approx(scipy_stats.spearmanr(one, other).statistic, abs=1e-12)
        else:
            expected = scipy_stats.kendalltau(one, other, variant=coefficient[-1]).statistic
            assert found == pytest.approx(expected, abs=1e-12)


def test_many_pairs_of_ranks_and_several_columns_are_not_counted() -> None:
    x, y = np.array(list(itertools.product(range(9), repeat=2)), float).T
    item = np.arange(len(y), dtype=np.int32)
    assert RankedRows("spearman", x[:, None], y, item).cells is None
    assert RankedRows("spearman", np.column_stack([x, x])[:9], y[:9], item[:9]).cells is None
    assert RankedRows("spearman", x[:9, None], y[:9], item[:9]).cells is not None
