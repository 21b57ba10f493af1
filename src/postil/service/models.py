"""The models of a worker, open and ready."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from postil.comments.commenter import load_commenter
from postil.comments.retrieval import Retriever
from postil.comments.store import Model
from postil.data.rows import Article
from postil.errors import InvalidInput, PostilError, UnknownName, UsageError
from postil.messages import INTERFACE, spoken
from postil.service.bodies import Calibrated, ModelsResponse, ServedModel
from postil.threads.quality import KIND, Quality
from postil.version import VERSION

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Self

    from postil.comments.neural_commenter import NeuralCommenter
    from postil.screening.filtering import CandidateFilter
    from postil.service.options import ServiceConfig

__all__ = ["OpenModel", "OpenModels", "OpenQuality"]

T = TypeVar("T", bound="OpenModel | OpenQuality")


@dataclass(frozen=True)
class OpenModel:
    """A model that suggests comments.

    Args:
        name: Its name in requests.
        commenter: The model.
    """

    name: str
    commenter: Retriever | NeuralCommenter

    @property
    def hash(self) -> str:
        """The hash of its folder."""
        return self.commenter.model.hash

    @contextmanager
    def in_use(self) -> Iterator[None]:
        """Name the model in errors, in place of its folder; damage to it is no fault of the request.

        Raises:
            PostilError: The model is damaged.
            UsageError: The request asks what the model cannot do.
        """
        path = str(self.commenter.model.path)
        try:
            yield
        except UsageError as error:
            if type(error) is not UsageError:
                raise
            raise UsageError(spoken(error.message).replace(path, f"model {self.name}")) from None
        except InvalidInput as error:
            raise PostilError(f"model {self.name}: {error.words(INTERFACE.get()).replace(path, '')}") from error


@dataclass(frozen=True)
class OpenQuality:
    """A model of the quality of comments.

    Args:
        name: Its name in requests.
        quality: The model.
        hash: The hash of its folder.
    """

    name: str
    quality: Quality
    hash: str


@dataclass(frozen=True)
class OpenModels:
    """All models of a worker, with what they share.

    Args:
        commenters: Models that suggest comments, by name; the first one is the default.
        qualities: Models of quality, by name; the first one is the default.
        candidate_filter: Filter of suggestions.
        jobs: Number of threads per request.
        metrics: Specs of metrics that read files, which a request may ask for.
    """

    commenters: Mapping[str, OpenModel]
    qualities: Mapping[str, OpenQuality]
    candidate_filter: CandidateFilter
    jobs: int
    metrics: tuple[str, ...]

    @classmethod
    def open(cls, config: ServiceConfig) -> Self:
        """Open the models, and answer a request with each, so that the first one of a client is not slower.

        Args:
            config: The configuration.

        Raises:
            InvalidInput: There is no such model, or it is damaged.
            MissingExtra: A model needs what is not installed.
            UsageError: A setting is out of range.
        """
        candidate_filter = config.candidate_filter()
        commenters = {}
        for name, folder in config.models.items():
            commenter = load_commenter(folder, candidate_filter=candidate_filter, jobs=config.jobs)
            _warm_up(commenter)
            commenters[name] = OpenModel(name, commenter)
        qualities = {
            name: OpenQuality(name, Quality.open(folder), Model.open(folder, {KIND}).hash)
            for name, folder in config.quality.items()
        }
        return cls(commenters, qualities, candidate_filter, config.jobs, config.metrics)

    @property
    def ranks(self) -> bool:
        """True if there is a model that ranks comments by relevance."""
        return any(isinstance(one.commenter, Retriever) for one in self.commenters.values())

    def commenter(self, name: str | None) -> OpenModel:
        """A model that suggests comments.

        Args:
            name: Its name; None for the default.

        Raises:
            UnknownName: There is none of this name.
            UsageError: There is none at all.
        """
        return _named(self.commenters, name, "model")

    def retriever(self, name: str | None) -> tuple[OpenModel, Retriever]:
        """A model that ranks comments.

        Args:
            name: Its name; None for the first one that can.

        Raises:
            UnknownName: There is none of this name.
            UsageError: It generates comments, or there is none at all.
        """
        known = self.commenters
        if name is None:
            known = {name: one for name, one in known.items() if isinstance(one.commenter, Retriever)}
        model = _named(known, name, "model")
        if isinstance(model.commenter, Retriever):
            return model, model.commenter
        raise UsageError(f"model {model.name}: {model.commenter.kind} generates comments; expected ir-t or ir-tc")

    def quality(self, name: str | None) -> OpenQuality:
        """A model of quality.

        Args:
            name: Its name; None for the default.

        Raises:
            UnknownName: There is none of this name.
            UsageError: There is none at all.
        """
        return _named(self.qualities, name, "quality")

    def listed(self) -> ModelsResponse:
        """Names, kinds and hashes of the models, and what each can do."""
        served = [
            ServedModel(
                name=name,
                kind=one.commenter.kind,
                hash=one.hash,
                operations=("suggest", "rank") if isinstance(one.commenter, Retriever) else ("suggest",),
                default=number == 0,
                calibrated=_calibrated(one.commenter),
            )
            for number, (name, one) in enumerate(self.commenters.items())
        ]
        served += [
            ServedModel(name=name, kind=KIND, hash=one.hash, operations=("rank", "screen"), default=number == 0)
            for number, (name, one) in enumerate(self.qualities.items())
        ]
        return ModelsResponse(models=tuple(served), version=VERSION)


def _warm_up(commenter: Retriever | NeuralCommenter) -> None:
    title = "comment"
    if isinstance(commenter, Retriever):
        commenter.prepare()
        if len(commenter.pool.titles):
            title = commenter.pool.titles[0]
    commenter.comment([Article("", title, (), content=title)], 1)


def _calibrated(commenter: Retriever | NeuralCommenter) -> Calibrated | None:
    learned = commenter.show_filter if isinstance(commenter, Retriever) else None
    if learned is None:
        return None
    precision = max(point.precision for point in learned.thresholds)
    return Calibrated(labels=learned.labels, depth=learned.depth, precision=precision)


def _named(known: Mapping[str, T], name: str | None, field: str) -> T:
    if not known:
        raise UsageError(f"{field}: this service has no such model; see GET /v1/models")
    if name is None:
        return next(iter(known.values()))
    UnknownName.check(field, name, known)
    return known[name]
