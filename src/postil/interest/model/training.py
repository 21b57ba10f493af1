"""Models of interest fitted to ratings of passages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from postil.errors import Undefined
from postil.interest.model.features import FEATURES, InterestPage
from postil.interest.model.model_files import named
from postil.interest.page_scores import standard
from postil.learners.sparse_ridge import GroupedColumns, grouped_ridge
from postil.text.tokenizers import tokenizer
from postil.text.tokens import Vocabulary
from postil.text.units import ngram_units

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from postil.interest.model.model import InterestModel

__all__ = ["RatedPages"]

_DECIMALS: Final = 6
"""Decimals of the weights, in which their table is read."""


@dataclass(frozen=True, slots=True, eq=False)
class RatedPages:
    """n rated passages of several pages, as columns of a fit.

    Args:
        page: int64[n], number of each passage's page.
        grades: float64[n].
        words: int64[n], number of words of each passage.
        features: float64[n, features], by `FEATURES`, in standard deviations from the mean of the page.
        units: Words and pairs of the passages.
        columns: int64[E], the unit of each entry, distinct in a passage.
        rows: int64[E], its passage.
    """

    page: NDArray[np.int64]
    grades: NDArray[np.float64]
    words: NDArray[np.int64]
    features: NDArray[np.float64]
    units: tuple[str, ...]
    columns: NDArray[np.int64]
    rows: NDArray[np.int64]

    @classmethod
    def of(
        cls, texts: Sequence[str], grades: NDArray[np.float64], page: NDArray[np.int64], jobs: int = 1
    ) -> RatedPages:
        """Read rated passages.

        Args:
            texts: n passages, in English.
            grades: float64[n], higher is more interesting.
            page: int64[n], number of each passage's page, from 0.
            jobs: Number of threads; the result does not depend on it.
        """
        features = np.zeros((len(texts), len(FEATURES)))
        for number in np.unique(page).tolist():
            here = np.flatnonzero(page == number)
            one = InterestPage.of([texts[row] for row in here.tolist()], jobs)
            for column, values in enumerate(one.features.values.T):
                mean, scale = standard(values, one.tokens.lengths > 0)
                features[here, column] = (values - mean) * scale
        tokens = Vocabulary().encode(texts, tokenizer("words"), jobs, allow_han=True)
        known = tokens.vocabulary.words()
        units: list[str] = []
        columns, rows = [], []
        for size in (1, 2):
            found = ngram_units(tokens, size)
            columns.append(found.units.astype(np.int64) + len(units))
            rows.append(np.repeat(np.arange(len(texts)), found.types))
            units += [" ".join(known[word] for word in gram) for gram in found.grams.tolist()]
        return cls(page, grades, tokens.lengths, features, tuple(units), np.concatenate(columns), np.concatenate(rows))

    def fit(
        self,
        penalty: float,
        min_count: int,
        without: NDArray[np.bool_] | None = None,
        min_pages: int = 1,
        cues: float = 0.0,
    ) -> InterestModel:
        """Fit grades within pages by ridge regression on words and pairs (1 if a passage has it) and on the features.

        It minimizes ``sum (y - Xw)² + penalty |w|²``.

        Args:
            penalty: Ridge penalty, above 0, for columns of 0 and 1 and for features in standard deviations.
            min_count: Smallest number of passages of words and pairs that have a weight.
            without: bool[n], True for passages that the fit does not see; by default it sees all.
            min_pages: Smallest number of pages of words and pairs that have a weight.
            cues: Number that is added to the weight of cues after the fit, in grades.

        Raises:
            Undefined: No page has passages of different grades.
        """
        seen = np.ones(len(self.page), bool) if without is None else ~without
        page = np.unique(self.page[seen], return_inverse=True)[1]
        number = np.cumsum(seen) - 1
        inside = seen[self.rows]
        counts = np.bincount(self.columns[inside], minlength=len(self.units))
        known = np.unique(self.columns[inside] * (int(self.page.max()) + 1) + self.page[self.rows[inside]])
        pages = np.bincount(known // (int(self.page.max()) + 1), minlength=len(self.units))
        kept = np.flatnonzero((counts >= min_count) & (pages >= min_pages))
        column = np.full(len(self.units), -1, np.int64)
        column[kept] = np.arange(len(kept))
        entries = inside & (column[self.columns] >= 0)
        columns = GroupedColumns(
            number[self.rows[entries]], column[self.columns[entries]], len(kept), self.features[seen], page
        )
        if not np.any(columns.centered(self.grades[seen])):
            raise Undefined("no page has passages of different grades, so there is nothing to learn")
        found = grouped_ridge(columns, self.grades[seen], penalty)
        found[len(kept) + list(FEATURES).index("cues")] += cues
        weights = np.round(found, _DECIMALS).tolist()
        words = {self.units[unit]: weight for unit, weight in zip(kept.tolist(), weights, strict=False) if weight}
        return named(dict(zip(FEATURES, weights[len(kept) :], strict=True)), words)

    def predicted(self, model: InterestModel, rows: NDArray[np.bool_]) -> NDArray[np.float64]:
        """Scores of passages up to a constant of the page; see `postil.interest.model.model.page_scores`.

        Args:
            model: The model.
            rows: bool[n], True for the passages.

        Returns:
            float64[n]; of other passages 0.
        """
        weights = np.array([model.words.get(unit, 0.0) for unit in self.units])
        of_words = np.bincount(self.rows, weights[self.columns], len(self.page))
        return np.where(rows, of_words + self.features @ _weights(model), 0.0)

    def cross_fitted(
        self, folds: NDArray[np.int32], penalty: float, min_count: int, min_pages: int = 1, cues: float = 0.0
    ) -> NDArray[np.float64]:
        """Score each page by a model that was fitted on the pages of the other folds.

        Args:
            folds: int32[pages], fold of each page.
            penalty: As of `fit`.
            min_count: As of `fit`.
            min_pages: As of `fit`.
            cues: As of `fit`.

        Returns:
            float64[n].

        Raises:
            Undefined: All pages with passages of different grades are in one fold.
        """
        out = np.zeros(len(self.page))
        fold = folds[self.page]
        for number in np.unique(fold).tolist():
            here = fold == number
            out += self.predicted(self.fit(penalty, min_count, here, min_pages, cues), here)
        return out


def _weights(model: InterestModel) -> NDArray[np.float64]:
    """Weights of the features, float64[features]."""
    return np.array([model.features.get(name, 0.0) for name in FEATURES])
