from __future__ import annotations

from itertools import combinations

import pytest

from postil.meta.multiple_tests import significance_clusters
from postil.meta.parts import Difference


def ranks(p: dict[str, float | None]) -> list[int]:
    """Ranks of metrics a, b, … of falling correlation, of two-sided p-values by pair."""
    names = sorted({*"".join(p)})
    rows = [
        Difference(
            first=second,
            second=first,
            coefficient="pearson",
            by="pool",
            value=-0.1,
            low=None,
            high=None,
            n=9,
            p=p[first + second],
        )
        for first, second in combinations(names, 2)
        if first + second in p
    ]
    values = {name: 1 - place / 10 for place, name in enumerate(names)}
    found = significance_clusters(dict(reversed(values.items())), rows)
    assert list(found) == names
    return list(found.values())


@pytest.mark.parametrize(
    ("p", "expected"),
    [
        ({"ab": 1.0, "ac": 1.0, "bc": 1.0}, [1, 1, 1]),
        ({"ab": 0.1, "ac": 0.0, "bc": 0.0}, [1, 2, 3]),  # one-sided, .05
        ({"ab": 0.11, "ac": 0.0, "bc": 1.0}, [1, 1, 2]),
        ({"ab": 1.0, "ac": 0.0, "ad": 1.0, "bc": 1.0, "bd": 1.0, "cd": 1.0}, [1, 1, 2, 2]),
        ({"ab": 1.0, "ac": 0.0, "ad": 0.0, "bc": 0.0, "bd": 1.0, "cd": 0.0}, [1, 1, 2, 3]),
        ({"ab": 0.0, "ac": 1.0, "bc": 1.0}, [1, 2, 2]),  # c is not compared with the cluster of a any more
        ({"ab": None, "ac": None}, [1, 1, 1]),  # no test
    ],
)
def test_ranks_of_the_metrics_task(p: dict[str, float | None], expected: list[int]) -> None:
    assert ranks(p) == expected


def test_without_a_permutation_test_the_bootstrap_counts() -> None:
    kind = {"coefficient": "kendall-b", "by": "pool", "value": 0.1, "low": 0.0, "high": 0.2, "n": 9}
    row = Difference(first="a", second="b", **kind, p_bootstrap=0.04)
    assert significance_clusters({"a": 0.5, "b": 0.4}, [row]) == {"a": 1, "b": 2}
