"""The results of `postil compare`, of scores, of preferences and of interleaved suggestions, and their parts."""

from __future__ import annotations

from typing import ClassVar

from postil.data.parts import Estimate, Excluded, OptionalPart, Part, Ranged
from postil.results.base import Result

__all__ = [
    "Comparison",
    "ComparisonSettings",
    "InterleavedPair",
    "InterleavedRank",
    "InterleavingResult",
    "Preference",
    "PreferenceSettings",
    "PreferencesResult",
    "PreferredPair",
    "PreferredSystem",
    "SystemComparison",
]


class SystemComparison(Ranged, frozen=True, kw_only=True):
    """The score of one system by one metric, and its difference from the baseline's.

    Args:
        metric: The metric.
        system: The system.
        n: Number of items that the score is over.
        mean: Corpus score of a metric of `Comparison.summed`; of any other the mean of the item scores.
        low: Lower end of the 95 % confidence interval over resamples of the items.
        high: Upper end.
        difference: Score minus the baseline's; None, like all that follows, for the baseline itself.
        difference_low: Lower end of the difference's 95 % confidence interval, over the same resamples.
        difference_high: Upper end.
        p_bootstrap: Two-sided, by the same resamples.
        p_randomisation: Two-sided, by approximate randomization.
        p_holm: `p_randomisation` adjusted by Holm for the number of systems.
    """

    metric: str
    system: str
    n: int
    mean: float
    low: float | None
    high: float | None
    difference: float | None = None
    difference_low: float | None = None
    difference_high: float | None = None
    p_bootstrap: float | None = None
    p_randomisation: float | None = None
    p_holm: float | None = None


class ComparisonSettings(OptionalPart, frozen=True, kw_only=True):
    """Options of `postil compare`; see `CorrelationSettings`."""

    resamples: int
    permutations: int
    seed: int
    p_values: str = "postil"
    postil: str = ""
    command: str = ""


class Comparison(Result, frozen=True, kw_only=True, tag="compare"):
    """Systems against a baseline.

    Args:
        aggregation: ``corpus``: the corpus scores of `summed` metrics, the mean of the item scores by all others.
            ``item mean``: the mean of the item scores by every metric.
        baseline: The system that the others are compared with.
        items: Number of items that all systems share.
        systems: One row per metric and system.
        lower_is_better: Metrics for which lower is better; differences keep their sign for them.
        left_out: Items that not every system covers.
        notes: Notes, in words.
        settings: Options of the command.
        weights: Source of the references' weights, if known.
        summed: Metrics whose corpus scores, of summed item statistics, are compared.
        signatures: Signature of each metric, if known.
    """

    aggregation: str
    baseline: str
    items: int
    systems: tuple[SystemComparison, ...]
    lower_is_better: tuple[str, ...]
    left_out: tuple[Excluded, ...]
    notes: tuple[str, ...]
    settings: ComparisonSettings
    weights: str = ""
    summed: tuple[str, ...] = ()
    signatures: dict[str, str] = {}


class PreferredSystem(Ranged, frozen=True, kw_only=True):
    """A system by the preferences for its texts.

    Args:
        system: The system.
        n: Number of its preferences.
        wins: Number of those for it.
        ties: Number of ties.
        losses: Number of those for the other system.
        win_rate: Wins and half of the ties as a share of n.
        win_low: Lower end of its 95 % confidence interval over items; None where they are fewer than two.
        win_high: Upper end.
        strength: Strength in the Bradley-Terry model, a natural logarithm; the mean of all systems, or the strength of
            the baseline, is 0.
        low: Lower end of its 95 % confidence interval; None where there is none.
        high: Upper end.
        rank_low: Best rank that the significant differences leave, from 1.
        rank_high: Worst rank that they leave.
        letters: Compact letter display: two systems share a letter unless their difference is significant; empty
            where there are too many groups.
    """

    system: str
    n: int
    wins: int
    ties: int
    losses: int
    win_rate: float
    win_low: float | None
    win_high: float | None
    strength: float
    low: float | None
    high: float | None
    rank_low: int
    rank_high: int
    letters: str

    INTERVALS: ClassVar = (("win_low", "win_high"), ("low", "high"))


class PreferredPair(Ranged, frozen=True, kw_only=True):
    """Pair of systems: the preferences between them, and the difference of their strengths.

    Args:
        first: A system.
        second: Another, with a lower or equal strength.
        n: Number of preferences between the two.
        wins: Number of those for the first.
        ties: Number of ties.
        losses: Number of those for the second.
        win_rate: Wins and half of the ties as a share of n; None where the two were not compared.
        expected: The same share by the model.
        p_fit: p-value of no difference between the two shares; None where there is none.
        difference: Strength of the first minus that of the second.
        low: Lower end of its 95 % confidence interval; None where there is none.
        high: Upper end.
        p: Two-sided p-value of no difference of strength; None where there is none.
        p_holm: The same adjusted by Holm for the number of pairs.
    """

    first: str
    second: str
    n: int
    wins: int
    ties: int
    losses: int
    win_rate: float | None
    expected: float
    p_fit: float | None
    difference: float
    low: float | None
    high: float | None
    p: float | None
    p_holm: float | None


class PreferenceSettings(OptionalPart, frozen=True, kw_only=True):
    """Options of `postil compare --interleaved` and `--preferences`; see `CorrelationSettings`."""

    resamples: int
    seed: int
    postil: str = ""
    command: str = ""


class PreferencesResult(Result, frozen=True, kw_only=True, tag="preferences"):
    """Systems compared by paired preferences, in the model of Bradley and Terry with the ties of Davidson.

    Args:
        preferences: Number of preferences.
        items: Number of items.
        annotators: Number of annotators.
        systems: The systems, the strongest first.
        pairs: All pairs of systems, the stronger one first.
        tie_parameter: nu of the model: the odds of a tie of two equal systems against either of them are nu to 1; None
            where there is no tie.
        left: Share of the preferences with a winner that are for the text on the left; None where no side is known.
        separated: True if the likelihood has no finite maximum, so that half a preference each way was added to each
            pair that was compared.
        baseline: The system whose strength is 0; None where the mean strength is 0.
        notes: Notes, in words.
        settings: Options of the command.
    """

    preferences: int
    items: int
    annotators: int
    systems: tuple[PreferredSystem, ...]
    pairs: tuple[PreferredPair, ...]
    tie_parameter: float | None
    left: Estimate | None
    separated: bool
    baseline: str | None
    notes: tuple[str, ...]
    settings: PreferenceSettings


class InterleavedPair(Part, frozen=True, kw_only=True):
    """Pair of models whose suggestions were interleaved.

    Args:
        model: The model that is compared.
        baseline: The one that it is compared with.
        impressions: Number of impressions.
        shown: Number of them that were displayed.
        outcomes: Number of those with an event at a suggestion of either model.
        articles: Number of articles of the impressions that were displayed.
        needed: Number of impressions to display so that a preference of `detectable` is found with power .8 at the
            level .05, where outcomes, ties and articles are as they are here; None where no impression has a winner.
        detectable: That preference.
        balanced: False if no fair coin puts the models at the ranks as often as they are there.
    """

    model: str
    baseline: str
    impressions: int
    shown: int
    outcomes: int
    articles: int
    needed: int | None
    detectable: float
    balanced: bool


class Preference(Ranged, frozen=True, kw_only=True):
    """Preference of readers for one of two models.

    Args:
        model: The model that is compared.
        baseline: The one that it is compared with.
        measure: ``credit``: suggestions clicked plus suggestions answered less suggestions hidden. ``clicked``,
            ``answered``, ``hidden``: these events alone, where fewer hidden ones are better.
        model_events: Number of the events at suggestions of the model; of credit the sum.
        baseline_events: The same of the baseline.
        impressions: Number of impressions with such an event.
        wins: Number of those in which the model has more credit.
        ties: Number of those in which both have the same.
        losses: Number of those in which the baseline has more.
        preference: Wins and half of the ties as a share of the impressions, less .5; above 0 the model is preferred.
        low: Lower end of its 95 % confidence interval over articles; None where they are fewer than two.
        high: Upper end.
        share: Share of the wins in the impressions with a winner; None where none has one.
        p_sign: p-value of the sign test, which takes impressions for independent; None as of the share.
        p_articles: p-value of the sign-flip test with articles as clusters.
        p_holm: `p_articles` after Holm's correction for the pairs of models.
    """

    model: str
    baseline: str
    measure: str
    model_events: int
    baseline_events: int
    impressions: int
    wins: int
    ties: int
    losses: int
    preference: float
    low: float | None
    high: float | None
    share: float | None
    p_sign: float | None
    p_articles: float | None
    p_holm: float | None

    @property
    def significant(self) -> bool:
        """True if p after Holm's correction is below .05 and the interval excludes 0."""
        return self.excludes_zero and self.p_holm is not None and self.p_holm < 0.05


class InterleavedRank(Part, frozen=True, kw_only=True):
    """Suggestions at one rank: those of either model, and events at them.

    Args:
        model: The model that is compared.
        baseline: The one that it is compared with.
        rank: The rank, from 1.
        of_model: Number of impressions that displayed a suggestion of the model there.
        of_baseline: The same of the baseline.
        p_balance: p-value of the sign-flip test, with articles as clusters, that both are there equally often, as a
            fair coin has it.
        model_clicked: Number of the model's suggestions that were clicked there.
        baseline_clicked: The same of the baseline.
        model_answered: Number of the model's suggestions that were answered there.
        baseline_answered: The same of the baseline.
        model_hidden: Number of the model's suggestions that were hidden there.
        baseline_hidden: The same of the baseline.
    """

    model: str
    baseline: str
    rank: int
    of_model: int
    of_baseline: int
    p_balance: float
    model_clicked: int
    baseline_clicked: int
    model_answered: int
    baseline_answered: int
    model_hidden: int
    baseline_hidden: int


class InterleavingResult(Result, frozen=True, kw_only=True, tag="interleaving"):
    """Models compared by what readers did with their interleaved suggestions.

    Args:
        baseline: The model that the others are compared with.
        impressions: Number of impressions.
        pairs: Numbers of impressions of each pair of models.
        rows: Preferences, one row per pair and measure.
        ranks: Suggestions and events, one row per pair and rank.
        left_out: Impressions that are not compared.
        notes: Notes, in words.
        settings: Options of the command.
    """

    baseline: str
    impressions: int
    pairs: tuple[InterleavedPair, ...]
    rows: tuple[Preference, ...]
    ranks: tuple[InterleavedRank, ...]
    left_out: tuple[Excluded, ...]
    notes: tuple[str, ...]
    settings: PreferenceSettings
