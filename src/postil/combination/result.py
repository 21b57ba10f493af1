"""The result of `postil combine fit`, and its parts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from postil.data.parts import Excluded
from postil.data.rows import Score
from postil.results.base import Result

if TYPE_CHECKING:
    from collections.abc import Iterator

from postil.data.parts import Estimate, OptionalPart, Part

__all__ = [
    "CombinationColumn",
    "CombinationDifference",
    "CombinationFit",
    "CombinationResult",
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
        shares: True if ratings and grades are shares of the maximum of their item.
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
    shares: bool = False
    command: str = ""


class CombinationResult(Result, frozen=True, kw_only=True, tag="combine"):
    """A learned combination of scores, with its agreement with human ratings on items that a fit has not seen.

    Args:
        metric: Name of its scores, ``combine(HASH)``: 12 hexadecimal digits of the model.
        signature: All that the out-of-fold grades depend on.
        items: Number of items.
        systems: Number of systems.
        combination: Agreement of its out-of-fold grades with the ratings.
        controls: That of a combination of the controls alone; None without any.
        difference: Difference of the two; None without controls.
        columns: The columns, sorted by name.
        texts: Out-of-fold grades.
        excluded: Texts that are not in the numbers, or not as they came.
        notes: Notes on the numbers.
        settings: Options of the command.
    """

    metric: str
    signature: str
    items: int
    systems: int
    combination: CombinationFit
    controls: CombinationFit | None
    difference: CombinationDifference | None
    columns: tuple[CombinationColumn, ...]
    texts: CombinationTexts
    excluded: tuple[Excluded, ...]
    notes: tuple[str, ...]
    settings: CombinationSettings

    def score_rows(self) -> Iterator[Score]:
        """The out-of-fold grades as rows, as ``--items`` writes them, with those of the controls alone as a control."""
        alone = f"control:controls-only({self.metric})"
        names = {self.metric: (self.signature, self.texts.grades)}
        if self.texts.controls:
            names[alone] = f"{self.signature}|control:controls-only", self.texts.controls
        for row, (item, system) in enumerate(zip(self.texts.items, self.texts.systems, strict=True)):
            for name, (signature, grades) in names.items():
                yield Score(item, system, name, grades[row], signature)
