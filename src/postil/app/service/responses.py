"""Responses of the service."""

from __future__ import annotations

import msgspec
from msgspec import UNSET, UnsetType

from postil.records.suggestions import Filtered, Suggestion

__all__ = ["Calibrated", "ModelsResponse", "ServedModel", "ServedSuggestion", "SuggestResponse"]


class ServedSuggestion(Suggestion, frozen=True, omit_defaults=False, gc=False):
    """A suggested comment; see `postil.records.suggestions.Suggestion`.

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
