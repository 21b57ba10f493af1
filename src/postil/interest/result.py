"""Parts of the results of `postil interesting`."""

from __future__ import annotations

from typing import Literal

from postil.data.parts import OptionalPart, Part
from postil.documents.document import Document, FailedPage
from postil.interest.options import Goal
from postil.passages.result import Gain, GainByLength, GainDifference, PassageData, RankedPassage
from postil.results.base import Result

__all__ = [
    "InterestSettings",
    "InterestTrainingResult",
    "InterestWeight",
    "InterestingPagesResult",
    "InterestingResult",
    "PageSummary",
]


class PageSummary(OptionalPart, frozen=True, kw_only=True):
    """The best passages of one page of several.

    Args:
        source: Name of its file, or the address it was read from.
        passages: Its best passages.
        title: Its title; empty without one.
        url: The address under which a reader finds it; None if there is none.
        date: The date that it was published, ``YYYY-MM-DD``; None if it does not say.
        lang: Its language, a BCP 47 tag; None where it is not known.
        file: Name of the highlighted page, relative to the index page; None where none was written.
        notes: Notes on its ranking.
    """

    source: str
    passages: tuple[RankedPassage, ...]
    title: str = ""
    url: str | None = None
    date: str | None = None
    lang: str | None = None
    file: str | None = None
    notes: tuple[str, ...] = ()


class InterestWeight(Part, frozen=True, kw_only=True):
    """A weight of a model of interest.

    Args:
        kind: ``feature``, ``word`` or ``pair``.
        unit: The feature, the word, or the pair of words.
        weight: Grades per standard deviation within a page of a feature; grades of a word or pair that a passage has.
    """

    kind: Literal["feature", "word", "pair"]
    unit: str
    weight: float


class InterestSettings(Part, frozen=True, kw_only=True):
    """Options of a training of a model of interest; see `postil.interest.training_options.InterestTrainOptions`."""

    penalty: float
    min_count: int
    min_pages: int = 1
    cues: float = 0.0
    folds: int
    seed: int
    resamples: int
    postil: str


class InterestingResult(Result, frozen=True, kw_only=True, tag="interesting"):
    """The passages of a page, the most interesting first.

    Args:
        measure: Spec of the measure that ranks them.
        passages: The passages.
        goal: The goal of the ranking; None of a measure without one.
        lang: Language of the page, a BCP 47 tag; None where it is not known.
        signature: Signature of the ranking; empty without one.
        document: The document that the passages are of; None of rows of passages.
        notes: Notes on the ranking.
    """

    measure: str
    passages: tuple[RankedPassage, ...]
    goal: Goal | None = None
    lang: str | None = None
    signature: str = ""
    document: Document | None = None
    notes: tuple[str, ...] = ()


class InterestingPagesResult(Result, frozen=True, kw_only=True, tag="interesting-pages"):
    """The best passages of each page of a folder or a feed.

    Args:
        measure: Spec of the measure that ranks the passages of a page.
        pages: The pages, in the order of the folder or feed.
        failed: The pages that could not be read or ranked.
        goal: The goal of the ranking; None of a measure without one.
        signature: Signature of the ranking; empty without one.
        notes: Notes on all pages.
    """

    measure: str
    pages: tuple[PageSummary, ...]
    failed: tuple[FailedPage, ...] = ()
    goal: Goal | None = None
    signature: str = ""
    notes: tuple[str, ...] = ()


class InterestTrainingResult(Result, frozen=True, kw_only=True, tag="interest-training"):
    """A model of interest, trained on ratings, and rankings of its pages by fits that have not seen them.

    Args:
        model: Hash of the weights.
        gains: One row per ranking and rank cutoff, over pages.
        differences: The trained ranking minus each other one, one row per rank cutoff.
        weights: The weights of the features, and the largest and smallest ones of words and pairs.
        words: Number of words and pairs with a weight.
        data: The rated passages.
        settings: Options of the command.
        notes: Notes on the numbers.
        by_length: One row per ranking: nCG among passages of similar length, rank correlations with and given length.
    """

    model: str
    gains: tuple[Gain, ...]
    differences: tuple[GainDifference, ...]
    weights: tuple[InterestWeight, ...]
    words: int
    data: PassageData
    settings: InterestSettings
    notes: tuple[str, ...]
    by_length: tuple[GainByLength, ...] = ()
