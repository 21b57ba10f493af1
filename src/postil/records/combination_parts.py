"""The parts of the result of `postil combine fit`."""

from __future__ import annotations

from postil.records.parts import Estimate, OptionalPart, Part

__all__ = [
    "CombinationColumn",
    "CombinationDifference",
    "CombinationFit",
    "CombinationSettings",
    "CombinationTexts",
]


class CombinationFit(Part, frozen=True, kw_only=True):
    """Agreement of out-of-fold grades with the mean ratings.

    Args:
        columns: The columns that were combined.
        pool: Pearson correlation over all texts; None where the grades or the ratings are constant.
        item: Mean over items of the Pearson correlation within an item; None where no item has one.
        rmse: Root mean squared error, in grades.
    """

    columns: tuple[str, ...]
    pool: Estimate | None
    item: Estimate | None
    rmse: float


class CombinationDifference(Part, frozen=True, kw_only=True):
    """Correlations of the combination less those of the controls, on the same resamples of the items.

    Args:
        pool: Difference over all texts; None where one side has no correlation.
        item: Difference within items; None likewise.
    """

    pool: Estimate | None
    item: Estimate | None


class CombinationColumn(OptionalPart, frozen=True, kw_only=True):
    """A column of a combination, fitted on all texts.

    Args:
        metric: Name of the metric.
        signature: All that its scores depend on.
        pool: Pearson correlation of the column alone over all texts; None where it is constant.
        item: That within items; None likewise.
        weight: Ridge weight in grades per standard deviation of the column; with boosting the weight of the ridge
            regression beside it; None for isotonic regression.
        gain: Share of the column in the reduction of the squared error by boosted trees.
        transform: ``log1p`` where ln(1 + score) is combined in place of the score.
    """

    metric: str
    signature: str
    pool: Estimate | None
    item: Estimate | None
    weight: float | None = None
    gain: float | None = None
    transform: str = ""

    @property
    def sign(self) -> str:
        """``+`` or ``-`` of the weight; empty without one, or where it is 0."""
        return "" if not self.weight else "+" if self.weight > 0 else "-"


class CombinationTexts(Part, frozen=True, kw_only=True):
    """Out-of-fold grades of n texts, sorted by item and system.

    Args:
        items: Item of each text.
        systems: System of each text.
        ratings: Mean rating of each text.
        grades: Grade of each text by a fit on other items.
        controls: Grade of each text by a fit of the controls on other items; empty without controls.
    """

    items: tuple[str, ...]
    systems: tuple[str, ...]
    ratings: tuple[float, ...]
    grades: tuple[float, ...]
    controls: tuple[float, ...]

    def __post_init__(self) -> None:
        n = len(self.items)
        columns = self.systems, self.ratings, self.grades, self.controls or self.grades
        if any(len(column) != n for column in columns):
            raise ValueError("expected columns of one length")


class CombinationSettings(OptionalPart, frozen=True, kw_only=True):
    """Options of `postil combine fit`.

    Args:
        method: Learner.
        folds: Number of folds of items.
        resamples: Number of resamples of the items.
        seed: Seed of them.
        data: Hash of scores and ratings, 12 hexadecimal digits.
        postil: The version that made the result.
        penalty: Ridge penalty; None for isotonic regression.
        monotone: True if no column that depends on weights of references counts against its direction.
        lower_is_better: Metrics for which lower is better.
        aspect: Aspect that was kept.
        scale: Scale of the ratings, where it was given.
        command: The command line, if there was one.
    """

    method: str
    folds: int
    resamples: int
    seed: int
    data: str
    postil: str
    penalty: float | None = None
    monotone: bool = False
    lower_is_better: tuple[str, ...] = ()
    aspect: str | None = None
    scale: str | None = None
    command: str = ""
