"""Curves of nCG over k: which stand in one picture, and the picture. Reports and `postil passages` draw the same."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from postil.plots import curves
from postil.records.results import Gain

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["BASELINES", "BEST", "IN_ONE_PICTURE", "draw_together", "gather", "measure_family"]

BASELINES: Final = "baselines"
"""The family of measures that look at no reference."""

BEST: Final = "best"
"""The picture with the best of each family."""

IN_ONE_PICTURE: Final = 12


def measure_family(measure: str) -> str:
    """What measures have in common that differ in their units only.

    Args:
        measure: A spec, or what `Ranked.name` makes of it.

    >>> [measure_family(name) for name in ("w-f1-sk, without itself", "tf-idf-1", "cosine(vectors=a-b)", "length")]
    ['w-f1', 'tf-idf', 'cosine', 'baselines']
    """
    name = measure.partition(",")[0].partition("(")[0]
    if name in {"length", "random"}:
        return BASELINES
    stem = name.rpartition("-")[0]
    return name if stem in {"", "w"} else stem


def gather(first: Mapping[str, float]) -> dict[str, list[str]]:
    """Names of curves that stand in one picture, by the name of the picture.

    Each family has one, with the best baseline in it; another has the best of each family. Rankings without the
    passages themselves come last and count as families of their own.

    Args:
        first: nCG of each curve at the first cut, by the name of the curve (see `Ranked.name`).

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
