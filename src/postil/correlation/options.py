"""Options of `postil correlate`, apart from what correlates so that help does without it."""

from __future__ import annotations

from typing import Annotated

from postil.data.arguments import check_fields
from postil.data.grades import Scale
from postil.data.options import EngineOptions, ResamplingOptions
from postil.errors import UnknownName, UsageError, check_least
from postil.meta.choices import RULES, Rule
from postil.meta.coefficients import CHOICES, LEVELS, By, Measure, check_names, known
from postil.options import Flag, options
from postil.results.names import LENGTH

__all__ = ["CorrelateOptions"]


@options
class CorrelateOptions(ResamplingOptions, EngineOptions):
    """Options of `postil correlate`.

    Args:
        coefficients: Coefficient; repeatable. By default the first three.
        by: Aggregation level: pool (all texts), item (mean over items), system (means of systems) or within-system
            (texts of each system, mean over systems).
        metrics: Metric to keep; repeatable. By default all.
        lower_is_better: Metric for which lower is better; repeatable.
        aspect: Aspect to keep, where judgements have more than one: of the column aspect, or else a column or
            sheet of that name.
        scale: Scale of the ratings, to check them by: HIGH or LOW:HIGH.
        severity: Severities of annotators in the ratings that metrics are correlated with: keep, remove, or auto
            (remove them where they are significant). Human reference points are without significant ones.
        human_as_given: Leave severities in the ratings of human reference points too.
        disagree: Two metrics whose largest disagreements are listed; by default the first w- metric and its unweighted
            form, else the first two.
        baseline: Metric to compare the others with: the difference of each, its interval and p.
        worst: Number of texts per pair of metrics that disagree.
        audit: Audit the metrics: alternative annotator test, calibration, length bias, variances of raters.
        alt_epsilon: Advantage that an annotator gets in the alternative annotator test, from 0 to 1: .2 for experts,
            .15 for trained annotators, .1 for a crowd.
        lengths: Scores that are lengths of the texts, for the audit.
        folds: Number of folds of items to fit scores to the scale of the ratings, for the audit.
        resamples: Number of resamples of the items, for confidence intervals; Kendall's coefficients take 200 at most.
    """

    coefficients: Annotated[
        tuple[Measure, ...], Flag("coefficient", short="c", metavar="NAME", names=CHOICES, first=True)
    ] = (
        "pearson",
        "spearman",
        "kendall-b",
    )
    by: Annotated[By, Flag(metavar="LEVEL")] = "pool"
    metrics: Annotated[tuple[str, ...], Flag("metric", short="m", metavar="NAME", group="Metrics")] = ()
    lower_is_better: Annotated[tuple[str, ...], Flag(metavar="NAME", group="Metrics")] = ()
    aspect: Annotated[str | None, Flag(metavar="NAME")] = None
    scale: Annotated[Scale | None, Flag(metavar="SCALE", first=True)] = None
    severity: Annotated[Rule, Flag(metavar="RULE", group="Ratings")] = "keep"
    human_as_given: Annotated[bool, Flag(group="Ratings")] = False
    disagree: Annotated[tuple[str, str] | None, Flag(metavar="NAME NAME", group="Disagreements")] = None
    baseline: Annotated[str | None, Flag(metavar="METRIC", group="Metrics")] = None
    worst: Annotated[int, Flag(min=0, group="Disagreements")] = 10
    audit: Annotated[bool, Flag(first=True)] = False
    alt_epsilon: Annotated[float, Flag(min=0, max=1, group="Audit")] = 0.2
    lengths: Annotated[str, Flag(metavar="NAME", group="Audit")] = LENGTH
    folds: Annotated[int, Flag(min=2, group="Audit")] = 5

    def __post_init__(self) -> None:
        for several in ("coefficients", "metrics", "lower_is_better"):
            if isinstance(given := getattr(self, several), str):
                object.__setattr__(self, several, (given,))
        check_fields(self)
        for several in ("coefficients", "metrics", "lower_is_better"):
            object.__setattr__(self, several, tuple(dict.fromkeys(getattr(self, several))))
        check_names(self.coefficients)
        for kind, name, names in (("level", self.by, LEVELS), ("rule of severities", self.severity, RULES)):
            UnknownName.check(kind, name, names)
        for coefficient in self.coefficients:
            known(coefficient).check(self.by)
        if not 0 <= self.alt_epsilon <= 1:
            raise UsageError(f"alt_epsilon: expected a number from 0 to 1, got {self.alt_epsilon:g}")
        check_least(2, folds=self.folds)
        if self.disagree is not None and len(set(self.disagree)) != 2:
            raise UsageError(f"disagree: expected two different metrics, got {' and '.join(self.disagree)}")
