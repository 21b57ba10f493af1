"""The service without HTTP: the table of operations, the open models they use, and the process that answers them."""

from __future__ import annotations

import gc
import re
import warnings
from contextlib import contextmanager
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, Generic, Self, TypeVar

import msgspec

from postil.comments.commenter import load_commenter, team_draft
from postil.comments.retrieval import Retriever, needs_endpoint
from postil.comments.show_filter import COVERAGE, Selection
from postil.data.fields import plain_id
from postil.data.frames import SYSTEM
from postil.data.grades import Scale
from postil.data.model_folders import Model
from postil.data.rows import Article, Candidate, Comment
from postil.documents.markup import HtmlCleaner, plain_text
from postil.documents.readers.html import read_article
from postil.documents.readers.text import read_plain
from postil.encoders.endpoint_encoder import EncoderEndpoint, EncoderFailed
from postil.errors import InvalidInput, PostilError, Undefined, UnknownName, UsageError
from postil.interest.options import AUTO, InterestingOptions
from postil.interest.ranking import Page, Ranker
from postil.messages import INTERFACE, Json, Note, spoken
from postil.results.result_json import SCHEMA
from postil.scoring.calls import score as score_rows
from postil.screening.filtering import NO_TEXT, CandidateFilter, reasons_to_hold
from postil.screening.model import KIND as SCREEN
from postil.screening.reasons import PROFANITY
from postil.service.bodies import (
    ArticleRequest,
    ArticleResponse,
    Calibrated,
    DigestPassage,
    DigestResponse,
    ExpectedPrecision,
    InterestingRequest,
    InterestingResponse,
    ModelsResponse,
    RankRequest,
    RankResponse,
    Request,
    ScoredItem,
    ScoreRequest,
    ScoreResponse,
    ScreenRequest,
    ScreenResponse,
    SentArticle,
    SentComment,
    ServedModel,
    ServedPassage,
    ServedSuggestion,
    SuggestRequest,
    SuggestResponse,
    decoded,
)
from postil.service.encoding import no_vectors
from postil.service.perspective import (
    AnalyzeRequest,
    AnalyzeResponse,
    Suggested,
    SuggestScoreRequest,
    analyze,
    analyze_all,
    suggested,
)
from postil.service.screens import Screens
from postil.service.worker import for_clients
from postil.text.languages import detect_language
from postil.threads.orders import ranked_thread, screened_thread
from postil.threads.quality import KIND, Quality
from postil.threads.thread import Thread
from postil.version import VERSION

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from postil.comments.neural_commenter import NeuralCommenter
    from postil.data.suggestions import Suggestion, Suggestions
    from postil.metrics.result import ScoreResult
    from postil.service.config import ServiceConfig
    from postil.service.options import ServiceOptions
    from postil.service.screens import OpenScreen

__all__ = [
    "FILE_PARAMETERS",
    "OPERATIONS",
    "OpenModel",
    "OpenModels",
    "Operation",
    "digest",
    "interesting",
    "rank",
    "read_page",
    "score",
    "screen",
    "suggest",
]

T = TypeVar("T", bound="OpenModel | Quality")
R = TypeVar("R", bound=Request)
NO_SCREENS: Final = Screens({})


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
            Problem: The endpoint of its sentence encoder gives no vectors.
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
        except EncoderFailed as error:  # without it nothing is known of what is worth showing
            raise no_vectors(f"model {self.name}", error) from error


@dataclass(frozen=True)
class OpenModels:
    """All models of a worker, with what they share.

    Args:
        commenters: Models that suggest comments, by name; the first one is the default.
        qualities: Models of quality, by name; the first one is the default.
        candidate_filter: Filter of suggestions.
        jobs: Number of threads per request.
        metrics: Specs of metrics that read files, which a request may ask for.
        screens: Screens of comments.
    """

    commenters: Mapping[str, OpenModel]
    qualities: Mapping[str, Quality]
    candidate_filter: CandidateFilter
    jobs: int
    metrics: tuple[str, ...]
    screens: Screens = NO_SCREENS

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
        options, candidate_filter = config.options, config.candidate_filter()
        commenters = {}
        for name, folder in config.models.items():
            encoder = _endpoint(options) if needs_endpoint(Model.open(folder)) else None
            commenter = load_commenter(folder, candidate_filter=candidate_filter, jobs=options.jobs, encoder=encoder)
            _warm_up(commenter)
            commenters[name] = OpenModel(name, commenter)
        qualities = {name: Quality.open(folder) for name, folder in config.quality.items()}
        screens = Screens.open(
            config.screens,
            any_language=options.any_language,
            jobs=options.jobs,
            endpoint=_endpoint(options),
            threshold=options.threshold,
        )
        return cls(commenters, qualities, candidate_filter, options.jobs, options.metrics, screens)

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

    def quality(self, name: str | None) -> Quality:
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
        served += [
            ServedModel(
                name=name,
                kind=SCREEN,
                hash=one.screen.hash,
                operations=("screen", "analyze"),
                default=number == 0,
                attributes=tuple(one.screen.attributes),
                languages=tuple(one.screen.languages),
                threshold=one.screen.threshold,
                reasons=tuple(one.screen.reasons),
            )
            for number, (name, one) in enumerate(self.screens.known.items())
        ]
        return ModelsResponse(models=tuple(served), version=VERSION)

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
        with _spoken(operation.interface):
            return _ENCODER.encode(operation.run(self, decoded(request, operation.request)))

    def call_all(self, name: str, requests: Sequence[bytes]) -> list[bytes | PostilError]:
        """Answer several requests at once.

        Args:
            name: Name of an operation that has `Operation.run_all`.
            requests: The requests, JSON in UTF-8.

        Returns:
            The response to each, or its error; see `call`.

        Raises:
            UnknownName: There is no such operation.
            PostilError: A model is damaged.
        """
        operation = OPERATIONS.get(name)
        if operation is None or operation.run_all is None:
            raise UnknownName("operation", name, TOGETHER)
        found: dict[int, bytes | PostilError] = {}
        sent: dict[int, Request] = {}
        for at, request in enumerate(requests):
            try:
                with _spoken(operation.interface):
                    sent[at] = decoded(request, operation.request)
            except PostilError as error:
                found[at] = error
        with _spoken(operation.interface):
            for at, answer in zip(sent, operation.run_all(self, [*sent.values()]), strict=True):
                if isinstance(answer, PostilError):
                    answer.freeze(operation.interface)
                found[at] = answer if isinstance(answer, PostilError) else _ENCODER.encode(answer)
        return [found[at] for at in range(len(requests))]


@contextmanager
def _spoken(interface: Json) -> Iterator[None]:
    """Put errors into the words of an interface."""
    before = INTERFACE.set(interface)
    try:
        yield
    except PostilError as error:
        error.freeze(interface)
        raise
    finally:
        INTERFACE.reset(before)


ENDPOINT_SHARE: Final = 0.5
"""Share of the time that a request may take that the endpoint of an encoder may take of it."""
_ENCODER: Final = msgspec.json.Encoder(enc_hook=plain_id)


def _endpoint(options: ServiceOptions) -> EncoderEndpoint | None:
    """The endpoint of encoders; it is asked once, so that a request is answered before its worker is ended."""
    if options.encoder is None:
        return None
    return EncoderEndpoint(url=options.encoder, retries=0, timeout=options.timeout * ENDPOINT_SHARE)


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
    point = learned.reaching(COVERAGE)
    return Calibrated(
        labels=learned.labels,
        depth=learned.depth,
        precision=max(each.precision for each in learned.thresholds),
        expected=ExpectedPrecision(
            coverage=point.coverage,
            precision=point.precision if point.measured is None else point.measured,
            low=point.low,
            high=point.high,
        ),
    )


def _named(known: Mapping[str, T], name: str | None, field: str) -> T:
    if not known:
        raise UsageError(f"{field}: this service has no such model; see GET /v1/models")
    if name is None:
        return next(iter(known.values()))
    UnknownName.check(field, name, known)
    return known[name]


def suggest(models: OpenModels, request: SuggestRequest) -> SuggestResponse:
    """Suggest comments for an article.

    Args:
        models: The models.
        request: The request.

    Raises:
        UnknownName, InvalidInput: There is no such model.
        UsageError: The model was never calibrated, and precision or coverage are given, or both are.
        PostilError: The model is damaged.
    """
    article = request.article.article()
    selection = None
    if request.precision is not None or request.coverage is not None:
        selection = Selection(request.precision, request.coverage)
    if request.interleave is not None:
        try:
            teams = [models.commenter(name) for name in request.interleave]
        except UnknownName as error:
            raise InvalidInput(str(error), field="interleave") from None
        return _interleaved(article, teams, selection, request.k)
    model = models.commenter(request.model)
    found = _suggested(article, model, selection, request.k)
    return SuggestResponse(
        article=article.id,
        model=model.name,
        model_hash=model.hash,
        suggestions=tuple(_served(one, one.rank) for one in found.suggestions),
        filtered=found.filtered,
        reason=found.reason,
    )


def _suggested(article: Article, model: OpenModel, selection: Selection | None, k: int) -> Suggestions:
    commenter = model.commenter
    with model.in_use():
        if selection is not None:
            if not isinstance(commenter, Retriever):
                problem = f"{commenter.kind} generates comments, and only models that retrieve them can be calibrated"
                raise UsageError(f"model {model.name}: {problem}; leave precision and coverage out")
            commenter = commenter.selecting(selection)
        (found,) = commenter.comment([article], k)
        if found.suggestions or found.reason is not None:
            return found
        return msgspec.structs.replace(found, reason=_nothing(article, commenter))


def _nothing(article: Article, commenter: Retriever | NeuralCommenter) -> str:
    """The reason why a model has no suggestion."""
    parts = " or ".join(commenter.parts)
    if not commenter.has_input(article):
        return f"the article has no word in its {parts}, and {commenter.kind} reads nothing else"
    return f"no training article with comments shares a word with the {parts} of this one"


def _interleaved(article: Article, teams: list[OpenModel], selection: Selection | None, k: int) -> SuggestResponse:
    lists = [_suggested(article, model, selection, k) for model in teams]
    first, second = ([one.text for one in found.suggestions] for found in lists)
    hashes = tuple(model.hash for model in teams)
    # The same article always has the same list, however often a page asks for it.
    seed = "\0".join((article.id, *hashes)).encode("utf-8", "surrogatepass")
    drawn = team_draft(first, second, k, seed)
    reason = None
    if not drawn:
        lacking = [(model.name, found.reason) for model, found in zip(teams, lists, strict=True) if found.reason]
        reason = "; ".join(f"{name}: {why}" for name, why in lacking)
    return SuggestResponse(
        article=article.id,
        model=None,
        model_hash=None,
        models=tuple(model.name for model in teams),
        model_hashes=hashes,
        suggestions=tuple(_served(lists[team].suggestions[at], rank, team) for rank, (team, at) in enumerate(drawn, 1)),
        filtered=tuple(dict.fromkeys((*lists[0].filtered, *lists[1].filtered))),
        reason=reason,
    )


def _served(one: Suggestion, rank: int, team: int | msgspec.UnsetType = msgspec.UNSET) -> ServedSuggestion:
    return ServedSuggestion(one.text, one.score, rank, one.provenance, one.probability, team)


def rank(models: OpenModels, request: RankRequest) -> RankResponse:
    """Rank the comments of an article.

    Args:
        models: The models.
        request: The request.

    Raises:
        UnknownName: There is no such model.
        UsageError: There is no model for an order, or no order at all.
        InvalidInput: Two comments have one id.
        Undefined: A comment lacks what an order reads.
        PostilError: A model is damaged.
    """
    weights = request.by or _usual(models, request)
    relevance, tokenizer = None, None
    article = request.article.article(comments=True)
    quality = models.quality(request.quality) if "quality" in weights else None
    if quality is not None:
        tokenizer = quality.tokenizer
    if "relevance" in weights:
        model, retriever = models.retriever(request.model)
        relevance = _relevance(model, retriever, article)
        tokenizer = retriever.model.setting("tokenizer", str)
    try:
        found = ranked_thread(
            Thread.of(article, tokenizer), weights, relevance=relevance, quality=quality, diversity=request.diversity
        )
    except Undefined as error:
        raise Undefined("by: {problem}; leave the order out", problem=error.message) from None
    screen = models.screens.named(None, [article.lang] if article.lang else ())
    if screen is not None:
        found = screened_thread(found, lambda texts: screen.judge(texts, models.screens.jobs))
    return RankResponse(article=article.id, comments=tuple(found))


def _usual(models: OpenModels, request: RankRequest) -> dict[str, float]:
    """The order by quality alone where there is a model of it, else by relevance; of those that are named if any is."""
    named = {"quality": request.quality is not None, "relevance": request.model is not None}
    there = {"quality": bool(models.qualities), "relevance": models.ranks}
    for name, one in (named if any(named.values()) else there).items():
        if one:
            return {name: 1.0}
    raise UsageError("by: this service has no model that ranks; expected an order, such as votes or length")


def _relevance(model: OpenModel, retriever: Retriever, article: Article) -> NDArray[np.float64]:
    with model.in_use():
        if not retriever.has_input(article):
            parts = " or ".join(retriever.parts)
            problem = f"it has no word in its {parts}, and {retriever.kind} reads nothing else; choose another order"
            raise UsageError(f"article: {problem}")
        return retriever.rank([article])[0]


def screen(models: OpenModels, request: ScreenRequest) -> ScreenResponse:
    """Decide whether a comment may be published at once.

    Args:
        models: The models, and the settings of the filter.
        request: The request.

    Raises:
        UnknownName: There is no such model of quality, or no such screen.
        UsageError: There is none at all.
        InvalidInput: A quality is asked for, and there is no comment to compare with.
        MissingExtra: The model of profanity is asked for and not installed.
    """
    reasons = reasons_to_hold(request.text, models.candidate_filter, _others(request), profanity=request.profanity)
    quality = None if request.quality is None else _quality(models, request)
    profane = any(isinstance(one, Note) and one.code == PROFANITY for one in reasons)
    found = ScreenResponse(
        decision="hold" if reasons else "accept",
        reasons=reasons,
        quality=quality,
        empty=NO_TEXT in reasons,
        profanity=profane,
    )
    one = models.screens.named(request.screen, _languages(models.screens, request))
    return found if one is None or found.empty else _screened(found, one, request.text, models.jobs)


def _languages(screens: Screens, request: ScreenRequest) -> tuple[str, ...]:
    """The language of a comment: that of its article, else the one that is detected; empty where none is known."""
    if not screens.tells_languages or request.screen is not None:
        return ()
    said = request.article.lang if request.article is not None else None
    found = said or detect_language(request.text)
    return () if found is None else (found,)


def _screened(found: ScreenResponse, one: OpenScreen, text: str, jobs: int) -> ScreenResponse:
    """The decision with what a screen says, which holds a comment as well."""
    plain = plain_text(text)
    # Nobody gets past a screen by a mark of quotation.
    views = [plain.text, text] if plain.quoted else [plain.text]
    screened = max(one.judge(views, jobs), key=lambda each: each.probability)
    held = screened.decision == "hold"
    reason = f"moderators would probably hold it: {screened.probability:.0%}"
    return msgspec.structs.replace(
        found,
        decision="hold" if held else found.decision,
        reasons=(*found.reasons, reason) if held else found.reasons,
        probability=screened.probability,
        screened=screened.decision,
        screen_reasons=dict(screened.reasons),
        model_hash=one.screen.hash,
    )


def _others(request: ScreenRequest) -> Iterator[Comment]:
    """The comments under the article already."""
    if request.article is not None and request.article.comments:
        yield from request.article.article(comments=True).comments


def _quality(models: OpenModels, request: ScreenRequest) -> float:
    """The quality of the comment among those under the article."""
    model = models.quality(request.quality)
    sent = request.article
    if sent is None or not sent.comments:
        problem = "expected an article with comments, which the comment is compared with, got none"
        raise InvalidInput(problem, field="quality")
    whole = msgspec.structs.replace(sent, comments=(*sent.comments, SentComment(text=request.text)))
    return float(model.scores(Thread.of(whole.article(comments=True), model.tokenizer))[-1])


FILE_PARAMETERS: Final = ("model", "vectors", "function_words", "wordnet")
"""Parameters of metrics that name a file or folder, which only the configuration may do."""
_NAMES_FILE: Final = re.compile(rf"\b(?:{'|'.join(FILE_PARAMETERS)})\s*=")
_CONSENSUS: Final = re.compile(r"\s*consensus\s*\((.*)\)\s*", re.DOTALL)


def score(models: OpenModels, request: ScoreRequest) -> ScoreResponse:
    """Score candidates against references, as `postil score` does.

    Args:
        models: The models, with the metrics that may read files.
        request: The request.

    Raises:
        UnknownName: A metric, tokenizer or weights method does not exist.
        UsageError: Metrics, weights and scale do not go together.
        InvalidInput: An item has no references, or a system answers one twice; or a metric names a file.
        Undefined: CIDEr of a single item.
    """
    for spec in request.metrics or ():
        _check_files(spec, models.metrics, "metrics")
    method = _CONSENSUS.fullmatch(request.weights or "")
    if method is not None:
        _check_files(method[1], models.metrics, "weights")
    if not request.candidates or not request.references:
        raise InvalidInput(
            "expected at least one, got none", field="references" if request.candidates else "candidates"
        )
    rows = [Candidate(one.item, SYSTEM if one.system is None else one.system, one.text) for one in request.candidates]
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        try:
            found = score_rows(
                rows,
                list(request.references),
                metrics=request.metrics,
                tokenizer=request.tokenizer,
                weights=request.weights,
                scale=None if request.scale is None else Scale.parse(request.scale),
                ungraded=request.ungraded,
                jobs=models.jobs,
            )
        except InvalidInput as error:
            raise _at_field(error) from None
    items = tuple(_items(found)) if request.items else None
    remarks = tuple(one.message.args[0] for one in said if isinstance(one.message, Warning))
    return ScoreResponse(schema=SCHEMA, scores=found.scores, items=items, remarks=remarks)


def _check_files(spec: str, allowed: tuple[str, ...], field: str) -> None:
    if _NAMES_FILE.search(spec) and _unweighted(spec) not in set(map(_unweighted, allowed)):
        expected = f"one of {', '.join(allowed)}" if allowed else "one that reads no file of the server"
        raise InvalidInput(f"expected a metric without {' or '.join(FILE_PARAMETERS)}, or {expected}", field=field)


def _unweighted(spec: str) -> str:
    return "".join(spec.split()).removeprefix("w-")


def _at_field(error: InvalidInput) -> InvalidInput:
    """The error of a row with the place of its field in the request."""
    place = error.where if error.line is None else f"{error.where}[{error.line - 1}]"
    return InvalidInput(error.message, field=".".join(filter(None, (place, error.field))))


def _items(found: ScoreResult) -> Iterator[ScoredItem]:
    metrics = list(found.items)
    columns = [found.items[name].tolist() for name in metrics]
    for item, system, *values in zip(found.item_names, found.system_names, *columns, strict=True):
        yield ScoredItem(item=item, system=system, scores=dict(zip(metrics, values, strict=True)))


MOST: Final = 5
"""Largest number of suggestions, and of passages."""


def interesting(models: OpenModels, request: InterestingRequest) -> InterestingResponse:
    """Find the passages of a text that readers should see first.

    Args:
        models: The settings.
        request: The request.

    Raises:
        UnknownName: The goal, the measure or the tokenizer does not exist.
        UsageError: The measure has no units, or reads weights; or there are a goal and a measure.
        InvalidInput: The text has no passage.
    """
    if not request.text.strip():
        raise InvalidInput("expected a text with passages, got an empty one", field="text")
    options = InterestingOptions(
        k=request.k,
        goal=request.goal,
        measure=request.measure,
        split=request.split,
        lang=request.lang,
        tokenizer=request.tokenizer or AUTO,
        jobs=models.jobs,
    )
    found = Ranker.open(options).rank(Page.of_document(read_plain(request.text, "text"), options))
    return InterestingResponse(
        goal=found.goal,
        lang=found.lang,
        measure=found.measure,
        notes=found.notes,
        passages=tuple(
            ServedPassage(
                rank=one.rank,
                text=one.text,
                start=one.start or 0,
                end=one.end or 0,
                score=one.score,
                reasons=one.reasons,
            )
            for one in found.passages
        ),
    )


def digest(models: OpenModels, article: SentArticle) -> DigestResponse:
    """Suggest comments for an article by the first model, and find its interesting passages.

    Args:
        models: The models.
        article: The article.

    Raises:
        UsageError: No model suggests comments.
        PostilError: The model is damaged.
    """
    found = suggest(models, SuggestRequest(article=article, k=MOST))
    return DigestResponse(
        article=found.article,
        url=article.url,
        model=found.model,
        model_hash=found.model_hash,
        suggestions=found.suggestions,
        reason=found.reason,
        passages=_passages(models, article),
    )


def _passages(models: OpenModels, article: SentArticle) -> tuple[DigestPassage, ...]:
    clean = HtmlCleaner()
    text = clean(article.content or "")
    if not text.strip():
        return ()
    request = InterestingRequest(text=text, k=MOST, lang=article.lang)
    return tuple(
        msgspec.convert(one, DigestPassage, from_attributes=True) for one in interesting(models, request).passages
    )


LONGEST_TITLE: Final = 300
"""Largest number of characters of a first line that is a title."""


def read_page(models: OpenModels, request: ArticleRequest) -> ArticleResponse:  # noqa: ARG001
    """Read the article of a page.

    Args:
        models: Not used.
        request: The request, with the page.

    Raises:
        InvalidInput: The page is not there, is too large, or has no text of an article.
        MissingExtra: It is HTML, and trafilatura is not installed.
    """
    if request.text is not None:
        title, content = _titled(request.text)
        return ArticleResponse(title=title, content=content, lang=None, date=None, url=request.url)
    if request.html is None:
        raise InvalidInput("expected html or text, got none", field="html")
    found = read_article(request.html)
    return ArticleResponse(title=found.title, content=found.content, lang=found.lang, date=found.date, url=request.url)


def _titled(text: str) -> tuple[str, str]:
    """Title and text of a page of plain text; without a title where the first line is too long for one."""
    whole = text.strip()
    first, _, rest = whole.partition("\n")
    if not whole:
        raise InvalidInput("expected a page with a text, got an empty one", field="text")
    return (first.strip(), rest.strip()) if rest and len(first) <= LONGEST_TITLE else ("", whole)


@dataclass(frozen=True, slots=True)
class Operation(Generic[R]):
    """An operation of a worker.

    Args:
        request: Struct of the request.
        response: Struct of the response.
        run: The operation, of the models and a request.
        summary: Purpose of its route; none where clients do not ask for it by its name.
        scope: Right that its route asks for; its name by default.
        run_all: The operation of several requests, each with its response or its error, where that is faster.
    """

    request: type[R]
    response: type[msgspec.Struct]
    run: Callable[[OpenModels, R], msgspec.Struct]
    summary: str = ""
    scope: str = ""
    run_all: Callable[[OpenModels, Sequence[R]], Sequence[msgspec.Struct | PostilError]] | None = None

    @property
    def interface(self) -> Json:
        """The words of those who send requests: settings are fields of theirs."""
        return Json(frozenset(self.request.__struct_fields__))


OPERATIONS: Final[Mapping[str, Operation[Any]]] = MappingProxyType(
    {
        "suggest": Operation(SuggestRequest, SuggestResponse, suggest, "Suggest comments for an article"),
        "rank": Operation(RankRequest, RankResponse, rank, "Sort the comments of an article"),
        "screen": Operation(ScreenRequest, ScreenResponse, screen, "Tell if a comment should wait for a moderator"),
        "score": Operation(ScoreRequest, ScoreResponse, score, "Score texts against references"),
        "interesting": Operation(
            InterestingRequest, InterestingResponse, interesting, "Find the most interesting passages of a text"
        ),
        "analyze": Operation(
            AnalyzeRequest,
            AnalyzeResponse,
            lambda models, request: analyze(models.screens, request),
            run_all=lambda models, requests: analyze_all(models.screens, requests),
        ),
        "suggestscore": Operation(
            SuggestScoreRequest, Suggested, lambda models, request: suggested(models.screens, request)
        ),
        "article": Operation(ArticleRequest, ArticleResponse, read_page),
        "digest": Operation(SentArticle, DigestResponse, digest),
        "models": Operation(Request, ModelsResponse, lambda models, _: models.listed()),
    }
)
"""The operations by name."""


TOGETHER: Final = frozenset(name for name, operation in OPERATIONS.items() if operation.run_all is not None)
"""Operations that answer several requests at once."""


def open_models(config: ServiceConfig) -> OpenModels:
    """Open the models in a process that answers requests.

    Args:
        config: The configuration.
    """
    with for_clients():
        models = OpenModels.open(config)
    gc.collect()
    gc.freeze()  # models stay for good, and no collection needs to look at them
    return models


def answer(models: OpenModels, request: tuple[str, bytes]) -> bytes:
    """Answer a request in such a process; see `OpenModels.call`.

    Args:
        models: The models.
        request: Name of the operation, and JSON.
    """
    with for_clients():
        return models.call(*request)


def answer_all(models: OpenModels, request: tuple[str, Sequence[bytes]]) -> list[bytes | PostilError]:
    """Answer several requests in such a process; see `OpenModels.call_all`.

    Args:
        models: The models.
        request: Name of the operation, and the JSON of each.
    """
    with for_clients():
        return models.call_all(*request)
