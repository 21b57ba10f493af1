"""Bias controls of a judge: the same texts by changed prompts, and what the differences say."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np

from postil.data.ids import draw_key
from postil.judging.judge import Trial
from postil.judging.result import JudgeControl, LengthCorrelation, SelfPreference
from postil.meta.column_correlations import constant
from postil.meta.resampling import bootstrap_counts, estimate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from postil.judging.prompt import Case
    from postil.results.parts import Estimate

__all__ = ["MAIN", "ItemMeans", "control_of", "length_correlation", "self_preference", "trials_of"]

MAIN: Final = ""
"""Name of the judge's own grade among the controls."""

SAME: Final = 1e-9
"""Largest difference of two grades that are equal."""


def trials_of(case: Case, seed: int, *names: str) -> dict[str, Trial]:
    """The trials of a text by control; `MAIN` is the judge's own.

    A control that changes nothing, as where there are no anchors, is the same prompt again, which is asked once.

    Args:
        case: The text, its anchors in rising order.
        seed: Seed of the permuted grades.
        names: Item and system of the text.

    >>> from postil.judging.prompt import Anchor, Case
    >>> trials = trials_of(Case("a", anchors=(Anchor("b", 1.0), Anchor("c", 4.0))), 1, "item", "system")
    >>> {name: [anchor.grade for anchor in trial.case.anchors] for name, trial in trials.items()}
    {'': [1.0, 4.0], 'falling': [4.0, 1.0], 'shuffled': [4.0, 1.0], 'no-article': [1.0, 4.0], 'no-anchors': [], \
'repeat': [1.0, 4.0]}
    """
    grades = [anchor.grade for anchor in case.anchors]
    permuted = grades
    random = np.random.default_rng(draw_key(seed, "shuffled", *names))
    while permuted == grades and len(set(grades)) > 1:
        permuted = random.permutation(grades).tolist()
    shuffled = (replace(anchor, grade=grade) for anchor, grade in zip(case.anchors, permuted, strict=True))
    return {
        MAIN: Trial(case),
        "falling": Trial(replace(case, anchors=case.anchors[::-1])),
        "shuffled": Trial(replace(case, anchors=tuple(shuffled))),
        "no-article": Trial(replace(case, article=None)),
        "no-anchors": Trial(replace(case, anchors=())),
        "repeat": Trial(case, again=True),
    }


class ItemMeans:
    """Means with 95 % percentile bootstrap confidence intervals over items, all on the same resamples.

    Args:
        items: Item of each of n texts.
        seed: Seed of the resamples.

    >>> means = ItemMeans(["1", "1", "2"], 1)
    >>> means.of(np.array([1.0, 2.0, 6.0]), np.array([True, False, True])).value
    3.5
    """

    def __init__(self, items: Sequence[str], seed: int) -> None:
        self._item = np.unique(np.array(items, dtype=object), return_inverse=True)[1]
        clusters = int(self._item.max()) + 1
        self._counts = np.concatenate([np.ones((1, clusters), np.int32), bootstrap_counts(clusters, seed=seed)])

    def of(self, values: NDArray[np.float64], chosen: NDArray[np.bool_]) -> Estimate:
        """The mean of some texts.

        Args:
            values: float64[n].
            chosen: bool[n], at least one.
        """
        return estimate(self._means(values, chosen), len(np.unique(self._item[chosen])))

    def difference(self, values: NDArray[np.float64], chosen: NDArray[np.bool_], others: NDArray[np.bool_]) -> Estimate:
        """The difference of the means of two groups of texts.

        Args:
            values: float64[n].
            chosen: bool[n], the first group, at least one.
            others: bool[n], the second group, at least one.
        """
        items = len(np.unique(self._item[chosen | others]))
        return estimate(self._means(values, chosen) - self._means(values, others), items)

    def _means(self, values: NDArray[np.float64], chosen: NDArray[np.bool_]) -> NDArray[np.float64]:
        """float64[1 + R], NaN for resamples without any of the texts."""
        clusters = self._counts.shape[1]
        sums, sizes = (
            self._counts @ np.bincount(self._item[chosen], weights=of, minlength=clusters)
            for of in (values[chosen], None)
        )
        return np.asarray(np.divide(sums, sizes, out=np.full(len(sums), np.nan), where=sizes > 0))


def control_of(
    name: str, grades: NDArray[np.float64], controlled: NDArray[np.float64], means: ItemMeans
) -> JudgeControl:
    """Compare the grades of a control with the judge's.

    Args:
        name: The control.
        grades: float64[n], grades of the judge.
        controlled: float64[n], grades of the control, NaN where a text has none; at least one is there.
        means: Means over the n texts.
    """
    both = ~np.isnan(controlled)
    differences = controlled - grades
    return JudgeControl(
        control=name,
        n=int(both.sum()),
        mean=float(controlled[both].mean()),
        difference=means.of(differences, both),
        equal=float((np.abs(differences[both]) <= SAME).mean()),
    )


def length_correlation(
    grades: NDArray[np.float64], words: NDArray[np.float64], human: NDArray[np.float64]
) -> LengthCorrelation:
    """Correlate grades with the length of the texts, and with people's grades with and without it.

    Args:
        grades: float64[n], grades of the judge.
        words: float64[n], number of words.
        human: float64[n], mean human rating, NaN where there is none.

    >>> found = length_correlation(np.array([1.0, 2, 4]), np.array([1.0, 2, 3]), np.array([2.0, 2, 5]))
    >>> round(found.words, 4), round(found.human, 4), round(found.human_partial, 4)
    (0.982, 0.9449, 1.0)
    """
    rated = ~np.isnan(human)
    mine, theirs, length = grades[rated], human[rated], words[rated]
    return LengthCorrelation(
        n=len(grades),
        words=_pearson(grades, words),
        human_n=int(rated.sum()),
        human=_pearson(mine, theirs),
        human_partial=_pearson(_unexplained(mine, length), _unexplained(theirs, length)),
    )


def self_preference(
    systems: Sequence[str], own: Sequence[str], differences: NDArray[np.float64], means: ItemMeans
) -> SelfPreference | None:
    """Compare the judge with people on its own texts and on others.

    Args:
        systems: System of each of n texts.
        own: Names of the judge's model.
        differences: float64[n], judge minus people; NaN where there are no ratings.
        means: Means over the n texts.

    Returns:
        The comparison; None where no text of the model has ratings.
    """
    rated, names = ~np.isnan(differences), {name.casefold() for name in own}
    mine = np.array([system.casefold() in names for system in systems]) & rated
    if not mine.any():
        return None
    others = rated & ~mine
    return SelfPreference(
        system=systems[int(np.flatnonzero(mine)[0])],
        n=int(mine.sum()),
        own=means.of(differences, mine),
        others=means.of(differences, others) if others.any() else None,
        preference=means.difference(differences, mine, others) if others.any() else None,
    )


def _pearson(one: NDArray[np.float64], other: NDArray[np.float64]) -> float | None:
    """The Pearson correlation; None where it is undefined."""
    starts = np.zeros(1, np.int64)
    if len(one) < 2 or constant(one[:, None], starts).any() or constant(other[:, None], starts).any():
        return None
    return float(np.clip(np.corrcoef(one, other)[0, 1], -1.0, 1.0))


def _unexplained(values: NDArray[np.float64], words: NDArray[np.float64]) -> NDArray[np.float64]:
    """Residuals of the least-squares line of values on words; differences from the mean where all lengths are equal."""
    centered = words - words.mean() if len(words) else words
    spread = float(centered @ centered)
    values = values - values.mean() if len(values) else values
    left = values - centered * (float(centered @ values) / spread) if spread > 0 else values
    return left if float(left @ left) > SAME**2 * float(values @ values) else np.zeros_like(left)
