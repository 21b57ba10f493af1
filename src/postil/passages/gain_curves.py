"""Curves of nCG over k, grouped into figures; the page and `postil passages` draw the same."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

import numpy as np

from postil.passages.result import Gain
from postil.plots.lines import Curve, curves

if TYPE_CHECKING:
    from collections.abc import Mapping

    from postil.passages.result import GainCurvePoints

__all__ = ["BASELINES", "BEST", "IN_ONE_PICTURE", "curve", "draw_together", "gather", "measure_family"]

BASELINES: Final = "baselines"
"""Family of the measures that use no reference."""

BEST: Final = "best"
"""Title of the figure with the best of each family."""

IN_ONE_PICTURE: Final = 12
"""Largest number of curves of a figure."""


def measure_family(measure: str) -> str:
    """Family of a measure: its name without units and parameters.

    Args:
        measure: A spec, or the name of a ranking (see `postil.results.Gain.name`).

    >>> [measure_family(name) for name in ("w-f1-sk, without itself", "tf-idf-1", "cosine(vectors=a-b)", "length")]
    ['w-f1', 'tf-idf', 'cosine', 'baselines']
    """
    name = measure.partition(",")[0].partition("(")[0]
    if name in {"length", "random"}:
        return BASELINES
    stem = name.rpartition("-")[0]
    return name if stem in {"", "w"} else stem


def gather(first: Mapping[str, float]) -> dict[str, list[str]]:
    """Group curves into figures: names of curves by title.

    Each family has a figure, with the best baseline in it; another has the best of each family. Leave-one-out rankings
    come last and count as families of their own.

    Args:
        first: nCG of each curve at the first rank cutoff, by the name of the ranking.

    >>> gather({"f1-1": 0.5, "f1-2": 0.7, "length": 0.1, "f1-1, without itself": 0.4})["best"]
    ['f1-2', 'length', 'f1-1, without itself']
    >>> gather({"f1-1": 0.5, "length": 0.1, "f1-1, without itself": 0.4})["f1"]
    ['f1-1', 'length', 'f1-1, without itself']
    """
    groups: dict[tuple[str, bool], list[str]] = {}
    for name in first:
        groups.setdefault((measure_family(name), name.endswith(Gain.WITHOUT)), []).append(name)
    best = {group: max(names, key=lambda name: first[name]) for group, names in groups.items()}
    floor = [best[group] for group in best if group[0] == BASELINES]
    pictures: dict[str, list[str]] = {}
    for title, _ in groups:
        inside, outside = (groups.get((title, without), []) for without in (False, True))
        pictures[title] = [*inside, *(floor if title != BASELINES else ()), *outside]
    return {**pictures, BEST: [best[group] for group in sorted(best, key=lambda group: group[1])]}


draw_together: Final = partial(curves, xlabel="passages from the top, k", ylabel="nCG@k", log=True)
"""Draw at most `IN_ONE_PICTURE` curves of nCG over k; see `postil.plots.curves`."""


def curve(line: GainCurvePoints, name: str) -> Curve:
    """The nCG of a ranking at many rank cutoffs.

    Args:
        line: The numbers.
        name: Its label.
    """
    low, high = (None if values is None else np.asarray(values, np.float64) for values in (line.low, line.high))
    return Curve(name, np.asarray(line.k, np.float64), np.asarray(line.ncg, np.float64), low, high)
