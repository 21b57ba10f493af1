"""The result of `postil compare --interleaved`, and its parts."""

from __future__ import annotations

from postil.comparison.preferences_result import PreferenceSettings
from postil.results.base import Result
from postil.results.parts import Excluded, Part, Ranged

__all__ = ["InterleavedPair", "InterleavedRank", "InterleavingResult", "Preference"]


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
