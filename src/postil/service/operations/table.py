"""The operations of a worker by name: JSON in, JSON out."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

import msgspec

from postil.data.ids import plain_id
from postil.errors import PostilError, UnknownName
from postil.messages import FACE, Json
from postil.service.models import OpenModels
from postil.service.operations.page_reading import read_page
from postil.service.operations.passages import digest, interesting
from postil.service.operations.ranking import rank
from postil.service.operations.requests import (
    ArticleRequest,
    InterestingRequest,
    RankRequest,
    Request,
    ScoreRequest,
    ScreenRequest,
    SentArticle,
    SuggestRequest,
    decoded,
)
from postil.service.operations.responses import (
    ArticleResponse,
    DigestResponse,
    InterestingResponse,
    ModelsResponse,
    RankResponse,
    ScoreResponse,
    ScreenResponse,
    SuggestResponse,
)
from postil.service.operations.scoring import score
from postil.service.operations.screening import screen
from postil.service.operations.suggesting import suggest

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any, Self

    from postil.service.config import ServiceConfig

__all__ = ["OPERATIONS", "Operation", "ServiceModels"]


@dataclass(frozen=True, slots=True)
class Operation:
    """An operation of a worker.

    Args:
        request: Struct of the request.
        response: Struct of the response.
        run: The operation, of the models and a request.
    """

    request: type[Request]
    response: type[msgspec.Struct]
    run: Callable[[OpenModels, Any], msgspec.Struct]

    @property
    def face(self) -> Json:
        """The words of those who send requests: settings are fields of theirs."""
        return Json(frozenset(self.request.__struct_fields__))


OPERATIONS: Final[Mapping[str, Operation]] = MappingProxyType(
    {
        "suggest": Operation(SuggestRequest, SuggestResponse, suggest),
        "rank": Operation(RankRequest, RankResponse, rank),
        "screen": Operation(ScreenRequest, ScreenResponse, screen),
        "score": Operation(ScoreRequest, ScoreResponse, score),
        "interesting": Operation(InterestingRequest, InterestingResponse, interesting),
        "article": Operation(ArticleRequest, ArticleResponse, read_page),
        "digest": Operation(SentArticle, DigestResponse, digest),
        "models": Operation(Request, ModelsResponse, lambda models, _: models.listed()),
    }
)
"""The operations by name."""


class ServiceModels:
    """The models of a worker, which answer requests one after the other; `open` them.

    Args:
        models: The models.
    """

    def __init__(self, models: OpenModels) -> None:
        self._models = models
        self._encoder = msgspec.json.Encoder(enc_hook=plain_id)

    @classmethod
    def open(cls, config: ServiceConfig) -> Self:
        """Open all models; see `OpenModels.open`.

        Args:
            config: The configuration.

        Raises:
            PostilError: A model cannot be opened, or a setting is wrong.
        """
        return cls(OpenModels.open(config))

    def call(self, name: str, request: bytes) -> bytes:
        """Answer a request.

        Args:
            name: A name in `OPERATIONS`.
            request: The request, JSON in UTF-8.

        Returns:
            The response, JSON in UTF-8.

        Raises:
            UnknownName: There is no such operation, or no such name of something in the request.
            InvalidInput: The request is not as expected; `field` says where.
            UsageError: It asks for something that the models cannot do.
            Undefined: The number asked for does not exist for this request.
            PostilError: A model is damaged.
        """
        operation = OPERATIONS.get(name)
        if operation is None:
            raise UnknownName("operation", name, OPERATIONS)
        face = operation.face
        spoken_before = FACE.set(face)
        try:
            return self._encoder.encode(operation.run(self._models, decoded(request, operation.request)))
        except PostilError as error:
            error.freeze(face)
            raise
        finally:
            FACE.reset(spoken_before)
