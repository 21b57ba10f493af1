"""Parts of the results of `postil passages`."""

from __future__ import annotations

from itertools import pairwise
from typing import ClassVar, Final, Literal

from msgspec.structs import replace

from postil.data.parts import Estimate, Excluded, OptionalPart, Part, Ranged
from postil.meta.parts import Correlation
from postil.results.base import Result

__all__ = [
    "FLIPS",
    "Gain",
    "GainByLength",
    "GainCurvePoints",
    "GainDifference",
    "LengthThird",
    "ListCorrelation",
    "NcgResult",
    "PassageData",
    "PassageSettings",
    "RankedPassage",
    "SummaryData",
    "SummaryResult",
    "SummaryScore",
    "SummarySettings",
    "UnitContribution",
    "ranking",
    "smallest_p",
]


class ListCorrelation(Ranged, frozen=True, kw_only=True, omit_defaults=True):
    """A rank correlation within lists of passages, the mean over the lists.

    Args:
        value: The mean; None where no list has a coefficient.
        low: Lower end of its 95 % confidence interval; None where there is none.
        high: Upper end.
        lists: Number of lists that have a coefficient.
        reason: The reason why no list has one, in words.
    """

    value: float | None = None
    low: float | None = None
    high: float | None = None
    lists: int
    reason: str | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if (self.value is None) != (self.lists == 0):
            raise ValueError(f"expected a value where lists have one, got {self.value} of {self.lists} lists")


class LengthThird(Part, frozen=True, kw_only=True):
    """A third of the passages of each list, by their number of words.

    Args:
        ncg: nCG within it, the mean over the lists; None where it has no grade above 0 in any list.
        n: Number of passages, of all lists together.
        shortest: Smallest number of words of one of them; None where there is none.
        longest: Largest number of words.
    """

    ncg: float | None
    n: int
    shortest: int | None
    longest: int | None


class GainByLength(Part, frozen=True, kw_only=True):
    """A passage ranking and the length of the passages: nCG among passages of similar length, rank correlations.

    Args:
        measure: The measure.
        leave_one_out: True if each passage left its reference.
        k: The rank cutoff within thirds.
        ncg: Length-stratified nCG at k: the mean over the thirds of a list that have a grade above 0, then over lists.
        thirds: The short, the middle and the long third.
        spearman: Spearman correlation of scores and grades.
        partial: The same with the number of words partialled out.
        with_length: Spearman correlation of scores and numbers of words.
    """

    measure: str
    leave_one_out: bool
    k: int
    ncg: Estimate
    thirds: tuple[LengthThird, LengthThird, LengthThird]
    spearman: ListCorrelation
    partial: ListCorrelation
    with_length: ListCorrelation

    THIRDS: ClassVar = ("short", "middle", "long")
    """Names of the thirds."""

    @property
    def name(self) -> str:
        """Name of the ranking, as `Gain.name`."""
        return ranking(self.measure, self.leave_one_out)


class Gain(Ranged, frozen=True, kw_only=True):
    """Normalized cumulative gain of one measure at one rank cutoff.

    Args:
        measure: The measure.
        k: The rank cutoff.
        ncg: nCG, from 0 to 1; higher is better.
        low: Lower end of its 95 % confidence interval; None with a single topic.
        high: Upper end.
        reference: ``topic`` or ``others``.
        pool: ``all`` or ``topic``.
        leave_one_out: True if each passage left its reference.
        signature: All that the number depends on.
    """

    measure: str
    k: int
    ncg: float
    low: float | None
    high: float | None
    reference: str
    pool: str
    leave_one_out: bool
    signature: str

    WITHOUT: ClassVar = ", without itself"
    """Ending of the names of leave-one-out rankings; part of the JSON."""

    @property
    def name(self) -> str:
        """Name of the ranking in differences and lines."""
        return ranking(self.measure, self.leave_one_out)


class GainDifference(Ranged, frozen=True, kw_only=True):
    """The difference of two rankings in nCG at one rank cutoff.

    Args:
        first: A ranking.
        second: Another.
        k: The rank cutoff.
        value: nCG of the first minus nCG of the second.
        low: Lower end of the 95 % confidence interval over resamples of the topics, the same for both.
        high: Upper end.
        p: Two-sided p-value.
        p_holm: `p` adjusted by Holm for the number of pairs at this cutoff.
        test: ``sign-flip`` over topics, or ``bootstrap`` where all rows are in one list.
    """

    first: str
    second: str
    k: int
    value: float
    low: float | None
    high: float | None
    p: float
    p_holm: float
    test: str

    def reversed(self) -> GainDifference:
        """The same difference as the second ranking minus the first."""
        return replace(
            self,
            first=self.second,
            second=self.first,
            value=0.0 - self.value,
            low=None if self.high is None else 0.0 - self.high,
            high=None if self.low is None else 0.0 - self.low,
        )


FLIPS: Final = 10_000
"""Number of sign patterns that a sign-flip test draws where there are too many to enumerate."""


def smallest_p(topics: int, resamples: int | None) -> float:
    """Smallest p-value that the test of a difference in nCG can have, before any correction.

    Args:
        topics: Number of topics.
        resamples: Number of resamples of a bootstrap; None for a sign-flip test, which enumerates at most `FLIPS`
            patterns.

    >>> [smallest_p(topics, None) for topics in (5, 6)], round(1 / smallest_p(43, None))
    ([0.0625, 0.03125], 10001)
    """
    if resamples is not None:
        return 2 / (resamples + 1)
    return 2 / 2**topics if topics < FLIPS.bit_length() else 1 / (FLIPS + 1)


class GainCurvePoints(Part, frozen=True, kw_only=True):
    """nCG of a ranking at many rank cutoffs, for a picture.

    Args:
        measure: Name of the ranking.
        k: Rank cutoffs, ascending.
        ncg: nCG at each.
        low: Lower ends of their 95 % confidence intervals, if there are any.
        high: Upper ends.
    """

    measure: str
    k: tuple[int, ...]
    ncg: tuple[float, ...]
    low: tuple[float, ...] | None = None
    high: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        if not self.k or self.k[0] < 1 or any(a >= b for a, b in pairwise(self.k)):
            raise ValueError("expected ascending rank cutoffs of at least 1")
        if (self.low is None) != (self.high is None):
            raise ValueError("expected a band with two edges")
        if any(len(ys) != len(self.k) for ys in (self.ncg, self.low, self.high) if ys is not None):
            raise ValueError(f"expected a number for each of {len(self.k)} rank cutoffs")


class PassageData(Part, frozen=True, kw_only=True):
    """The passages that gains are over.

    Args:
        passages: Number of passages.
        topics: Number of topics.
        informative: Number of passages with a grade above 0.
        scale: Scale of the grades.
        left_out: Excluded passages.
    """

    passages: int
    topics: int
    informative: int
    scale: str
    left_out: tuple[Excluded, ...] = ()


class PassageSettings(OptionalPart, frozen=True, kw_only=True):
    """Options of a run of `postil passages`; see `postil.passages.options.PassagesOptions`."""

    reference: Literal["topic", "others"]
    pool: Literal["all", "topic"]
    leave_one_out: bool
    folds: int
    folds_by: str
    tokenizer: str
    stem: str
    stop: str
    anchors: bool
    resamples: int
    line_resamples: int
    seed: int
    postil: str
    command: str = ""
    strata_k: int = 5
    repeated_texts: Literal["each", "once"] = "each"
    equal_texts: Literal["leave", "stay"] = "leave"


class SummaryScore(Ranged, frozen=True, kw_only=True, omit_defaults=True):
    """The mean score of a system's summaries by one measure.

    Args:
        system: The system.
        measure: The measure.
        reference: ``passages``: the informative passages of each topic; ``articles``: its article.
        mean: Mean over the topics.
        low: Lower end of the 95 % confidence interval over topics; None of one topic.
        high: Upper end.
        n: Number of topics.
        better: ``high`` if higher is better.
        signature: All that the number depends on.
    """

    system: str
    measure: str
    reference: Literal["passages", "articles"]
    mean: float
    low: float | None
    high: float | None
    n: int
    better: Literal["high", "low"]
    signature: str


class SummaryData(Part, frozen=True, kw_only=True):
    """The summaries that scores are over.

    Args:
        systems: Number of systems.
        topics: Number of topics with a reference.
        summaries: Number of their summaries.
        cut: Number of texts that were longer than the limit.
        left_out: Excluded topics, and missing summaries.
    """

    systems: int
    topics: int
    summaries: int
    cut: int
    left_out: tuple[Excluded, ...] = ()


class SummarySettings(OptionalPart, frozen=True, kw_only=True):
    """Options of scoring summaries; see `postil.passages.summaries.SummariesOptions`."""

    tokenizer: str
    stem: str
    stop: str
    max_words: int
    resamples: int
    seed: int
    postil: str
    command: str = ""


class NcgResult(Result, frozen=True, kw_only=True, tag="passages"):
    """Rankings of passages by measures, compared by normalized cumulative gain (nCG; no discount, so not nDCG).

    Args:
        gains: One row per ranking and rank cutoff.
        differences: One row per pair of rankings and rank cutoff.
        lines: The curves over rank cutoffs.
        data: The passages that all is over.
        notes: Notes on the numbers.
        settings: Options of the command.
        by_length: One row per ranking: nCG among passages of similar length, rank correlations with and given length.
    """

    gains: tuple[Gain, ...]
    differences: tuple[GainDifference, ...]
    lines: tuple[GainCurvePoints, ...]
    data: PassageData
    notes: tuple[str, ...]
    settings: PassageSettings
    by_length: tuple[GainByLength, ...] = ()


class SummaryResult(Result, frozen=True, kw_only=True, tag="summaries"):
    """Systems' summaries of topics, scored against pooled references.

    Args:
        scores: One row per reference, measure and system.
        agreement: By measure, the correlations over systems of the mean scores by passages and by articles; empty
            without articles.
        data: The summaries that all is over.
        notes: Notes on the numbers.
        settings: Options of the command.
    """

    scores: tuple[SummaryScore, ...]
    agreement: tuple[Correlation, ...] = ()
    data: SummaryData
    notes: tuple[str, ...]
    settings: SummarySettings


class UnitContribution(Part, frozen=True, kw_only=True):
    """Contribution of a unit that a passage shares with its reference to its score.

    Args:
        unit: The unit's words.
        part: Its contribution; for KL what it takes from the divergence.
    """

    unit: str
    part: float

    def __str__(self) -> str:
        return self.unit


class RankedPassage(OptionalPart, frozen=True, kw_only=True):
    """A passage of a page, with the units that make its score.

    Args:
        rank: Its rank, from 1.
        index: Its index on the page, from 0.
        text: Its text.
        score: The measure, higher is better (of divergences the negative); None for a passage without units, or with
            nothing left to be compared with.
        reasons: The units with the largest contributions.
        start: Index of its first character in the text of the document; None in rows of passages.
        end: Index after its last character; None as `start`.
        page: Number of the page it begins on, from 1; None in documents without pages.
        link: Address of the passage in the original: a text fragment, or a page of a PDF; None without an address.
    """

    rank: int
    index: int
    text: str
    score: float | None
    reasons: tuple[UnitContribution, ...]
    start: int | None = None
    end: int | None = None
    page: int | None = None
    link: str | None = None


def ranking(measure: str, leave_one_out: bool) -> str:  # noqa: FBT001
    """Name of a ranking of passages.

    Args:
        measure: The measure.
        leave_one_out: True if each passage left its reference while it was scored.

    >>> ranking("f1-1", False), ranking("f1-1", True)
    ('f1-1', 'f1-1, without itself')
    """
    return measure + Gain.WITHOUT if leave_one_out else measure
