"""Parts of the result of `postil calibrate`."""

from __future__ import annotations

from postil.records.parts import Estimate, Part

__all__ = ["CoveragePoint", "FilterComparison", "ShowColumn"]


class CoveragePoint(Part, frozen=True, kw_only=True):
    """A threshold of the probability of being worth showing.

    Args:
        coverage: Share of the articles with a suggestion above it.
        threshold: The threshold.
        precision: Share of these articles whose first suggestion an editor would show.
        low: Lower end of its 95 % confidence interval (Wilson's; each article counts once).
        high: Upper end.
        pooled: The precision by an isotonic regression on the probability, which does not rise with coverage.
        articles: Number of the articles.
    """

    coverage: float
    threshold: float
    precision: float
    low: float
    high: float
    pooled: float
    articles: int


class ShowColumn(Part, frozen=True, kw_only=True):
    """A column of the filter learned from labels.

    Args:
        name: Its name.
        weight: Change of the logit per standard deviation.
    """

    name: str
    weight: float


class FilterComparison(Part, frozen=True, kw_only=True):
    """The filter over all columns against the ranker's score, on articles that neither has seen.

    Args:
        measure: ``auc``, or ``precision``: that of the first suggestions of the most probable three tenths of the
            articles.
        learned: The filter over all columns.
        score: The ranker's score.
        difference: `learned` less `score`, paired on the same resamples of the articles.
    """

    measure: str
    learned: Estimate
    score: Estimate
    difference: Estimate
