"""Responses of the service."""

from __future__ import annotations

from typing import Literal

import msgspec
from msgspec import UNSET, UnsetType

from postil.data.suggestions import Filtered, RankedComment, Suggestion
from postil.interest.result import Goal, UnitContribution  # noqa: TC001 - msgspec reads annotations
from postil.scoring.result import SystemScore  # noqa: TC001 - msgspec reads annotations

__all__ = [
    "ArticleResponse",
    "Calibrated",
    "DigestPassage",
    "DigestResponse",
    "InterestingResponse",
    "ModelsResponse",
    "RankResponse",
    "ScoreResponse",
    "ScoredItem",
    "ScreenResponse",
    "ServedModel",
    "ServedPassage",
    "ServedSuggestion",
    "SuggestResponse",
]


class ServedSuggestion(Suggestion, frozen=True, omit_defaults=False, gc=False):
    """A suggested comment; see `postil.data.suggestions.Suggestion`.

    Args:
        team: With ``interleave`` the model that it is from: 0 is the first one, 1 the second.
    """

    team: int | UnsetType = UNSET


class SuggestResponse(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """Suggestions for an article.

    Args:
        article: The id of the article.
        model: Name of the model; null with ``interleave``.
        model_hash: Hash of its folder; null with ``interleave``.
        models: With ``interleave`` the names of the two models, by team.
        model_hashes: With ``interleave`` the hashes of their folders.
        suggestions: The suggestions, best first.
        filtered: Candidates that were filtered out, best first.
        reason: The reason why there is no suggestion.
        impression: With ``interleave`` the id by which clicks are reported.
    """

    article: str
    model: str | None
    model_hash: str | None
    suggestions: tuple[ServedSuggestion, ...]
    filtered: tuple[Filtered, ...]
    reason: str | None
    models: tuple[str, ...] | UnsetType = UNSET
    model_hashes: tuple[str, ...] | UnsetType = UNSET
    impression: str | UnsetType = UNSET


class RankResponse(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The comments of an article in order.

    Args:
        article: The id of the article.
        comments: The comments, best first.
    """

    article: str
    comments: tuple[RankedComment, ...]


class ScreenResponse(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """Decision about a comment that a reader posts.

    Args:
        decision: ``accept``, or ``hold`` until a person has looked at it; no comment is ever refused here.
        reasons: The reasons to hold it, in words.
        quality: Its quality by the model that was named; about .5 for a usual comment of the thread, higher is better.
        empty: True if it has no text; left out otherwise.
        profanity: True if one of the reasons is profanity or an insult; left out otherwise.
    """

    decision: Literal["accept", "hold"]
    reasons: tuple[str, ...]
    quality: float | None
    empty: bool = False
    profanity: bool = False


class ScoredItem(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """Scores of a candidate.

    Args:
        item: Its item.
        system: Its system.
        scores: Its score by metric.
    """

    item: str
    system: str
    scores: dict[str, float]


class ScoreResponse(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """Scores of systems.

    Args:
        schema: Version of this form, 1.
        scores: One row per system and metric.
        items: Scores of each candidate, in their order; null unless they are asked for.
        remarks: Remarks on the data, such as items without a candidate.
    """

    schema: int
    scores: tuple[SystemScore, ...]
    items: tuple[ScoredItem, ...] | None
    remarks: tuple[str, ...]


class ServedPassage(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A passage of a text, with the units that make its score.

    Args:
        rank: Its rank, from 1.
        text: The passage, with single spaces.
        start: Index of its first character in the text that was sent, in Unicode code points, from 0.
        end: Index after its last character.
        score: The measure, higher is better; null for a passage without words, or with nothing to be compared with.
        reasons: The units with the largest contributions.
    """

    rank: int
    text: str
    start: int
    end: int
    score: float | None
    reasons: tuple[UnitContribution, ...]


class InterestingResponse(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The passages of a text, the most interesting first.

    Args:
        goal: interest or topic; null for a measure.
        lang: Language of the text, as it was said or detected; null where it is not known.
        measure: The measure, with what it depends on.
        notes: Notes on the ranking.
        passages: The passages.
    """

    goal: Goal | None
    lang: str | None
    measure: str
    notes: tuple[str, ...]
    passages: tuple[ServedPassage, ...]


class ArticleResponse(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The article of a page.

    Args:
        title: Its headline; empty where the page has none.
        content: Its text; blank lines stand between paragraphs.
        lang: Its language, as the page says.
        date: The date that it was published, as the page says.
        url: Address of the page, after redirects.
        notes: Remarks on the encoding of a page that was fetched.
    """

    title: str
    content: str
    lang: str | None
    date: str | None
    url: str | None
    notes: tuple[str, ...] = ()


class DigestPassage(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """An interesting passage of an article; see `ServedPassage`.

    Args:
        rank: Its rank, from 1.
        text: The passage, with single spaces.
        score: The measure, higher is better.
        reasons: The units with the largest contributions.
    """

    rank: int
    text: str
    score: float | None
    reasons: tuple[UnitContribution, ...]


class DigestResponse(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """Suggestions for an article, and its interesting passages.

    Args:
        article: The id of the article.
        url: Its address.
        model: Name of the model.
        model_hash: Hash of its folder.
        suggestions: The suggestions, best first.
        reason: The reason why there is no suggestion.
        passages: The passages, the most interesting first.
    """

    article: str
    url: str | None
    model: str | None
    model_hash: str | None
    suggestions: tuple[ServedSuggestion, ...]
    reason: str | None
    passages: tuple[DigestPassage, ...]


class Calibrated(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """Calibration of a model by labels, which ``precision`` and ``coverage`` of suggestions need.

    Args:
        labels: Number of labels.
        depth: Largest number of suggestions with ``precision`` or ``coverage``.
        precision: Highest precision that can be asked for.
    """

    labels: int
    depth: int
    precision: float


class ServedModel(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A model of the service.

    Args:
        name: Its name in requests.
        kind: Its kind, such as ``ir-tc`` or ``quality``.
        hash: The hash of its folder.
        operations: The routes that take it: ``suggest``, ``rank``, ``screen``.
        default: True if it is used where a request names none.
        calibrated: Its calibration; null without one.
    """

    name: str
    kind: str
    hash: str
    operations: tuple[str, ...]
    default: bool
    calibrated: Calibrated | None = None


class ModelsResponse(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The models of the service.

    Args:
        models: The models, those that suggest comments first.
        version: Version of postil.
    """

    models: tuple[ServedModel, ...]
    version: str
