"""Bodies of requests and of responses: structs of JSON, each field with its limits and its words."""

from __future__ import annotations

import json
from functools import cache
from hashlib import blake2b
from typing import Annotated, Final, Literal, TypeAlias, TypeVar

import msgspec

from postil.data.explain import NotJson, Problem, RepeatedKey, explain, load_json
from postil.data.fields import coerce_date
from postil.data.jsonl import FAILURES
from postil.data.rows import Article, Comment, Date, Id, Reference, Votes
from postil.data.suggestions import Filtered, RankedComment, Suggestion
from postil.documents.markup import HtmlCleaner
from postil.documents.options import PassageSplit  # noqa: TC001 - the same
from postil.errors import InvalidInput, UnknownName
from postil.interest.options import Goal  # noqa: TC001 - the same
from postil.kernel import plain_objects
from postil.metrics.result import SystemScore  # noqa: TC001 - msgspec reads annotations
from postil.passages.result import UnitContribution  # noqa: TC001 - the same
from postil.results.result_json import invalid
from postil.screening.reasons import ProfanityFilter  # noqa: TC001 - msgspec reads annotations
from postil.threads.options import ORDERS

__all__ = [
    "ArticleRequest",
    "ArticleResponse",
    "Calibrated",
    "DigestPassage",
    "DigestResponse",
    "InterestingRequest",
    "InterestingResponse",
    "ModelsResponse",
    "RankRequest",
    "RankResponse",
    "Request",
    "ScoreRequest",
    "ScoreResponse",
    "ScoredItem",
    "ScreenRequest",
    "ScreenResponse",
    "SentArticle",
    "SentCandidate",
    "SentComment",
    "ServedModel",
    "ServedPassage",
    "ServedSuggestion",
    "SuggestRequest",
    "SuggestResponse",
    "decoded",
]

R = TypeVar("R", bound=msgspec.Struct)
Count: TypeAlias = Annotated[int, msgspec.Meta(ge=1, le=100)]
Share: TypeAlias = Annotated[float, msgspec.Meta(gt=0, le=1)]
Weight: TypeAlias = Annotated[float, msgspec.Meta(gt=0)]
LONGEST_THREAD: Final = 2000
"""Largest number of comments that are ranked."""


class Request(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """Base of all requests; unknown fields are ignored."""


class SentComment(Request, frozen=True, kw_only=True, gc=False):
    """A reader's comment on the article of a request.

    Args:
        text: Its text; of HTML the text is read.
        id: Identifier within its article; by default ``#`` and its number among the comments, from 1.
        upvotes: Upvotes, minus downvotes where a site counts those too.
        date: Its date: ISO 8601, day.month.year, or Unix time in seconds or milliseconds.
        parent: Identifier of the comment that it replies to.
    """

    text: str
    id: Id | None = None
    upvotes: Votes | None = None
    date: Date | None = None
    parent: Id | None = None

    def __post_init__(self) -> None:
        if self.date is not None:
            coerce_date(self)


class SentArticle(Request, frozen=True, kw_only=True, gc=False):
    """The article of a request.

    Args:
        title: Its headline; of HTML the text is read, here and in the other texts.
        id: Its identifier; a training article with the same one is not used. By default it is made of the texts, so
            that the same article has the same one.
        content: Its text.
        lang: Its language, as a BCP 47 tag such as ``en``; comments of articles in other languages are not suggested.
        category: The section it was published in.
        url: Its address.
        date: Its date: ISO 8601, day.month.year, or Unix time in seconds or milliseconds.
        comments: Comments that readers wrote under it.
    """

    title: str
    id: Id | None = None
    content: str | None = None
    lang: str | None = None
    category: str | None = None
    url: str | None = None
    date: Date | None = None
    comments: tuple[SentComment, ...] | None = ()

    def __post_init__(self) -> None:
        if self.date is not None:
            coerce_date(self)

    def article(self, *, comments: bool = False) -> Article:
        """The article as a row.

        Args:
            comments: True to take its comments along, which need distinct ids then.

        Raises:
            InvalidInput: Two comments have one id, or a text is HTML of more than 4 Mi characters.
            MissingExtra: A text is HTML, and lxml is not installed.
        """
        clean = HtmlCleaner()
        said = [
            Comment(
                f"#{number}" if one.id is None else one.id,
                clean(one.text, quotes=False),
                upvotes=one.upvotes,
                date=one.date,
                parent=one.parent,
            )
            for number, one in enumerate((self.comments or ()) if comments else (), 1)
        ]
        if len({one.id for one in said}) < len(said):
            raise InvalidInput("expected an id for each comment, got one twice", field="article.comments")
        return Article(
            self._made_up_id() if self.id is None else self.id,
            clean(self.title),
            tuple(said),
            content=None if self.content is None else clean(self.content),
            category=self.category,
            lang=self.lang,
            url=self.url,
            date=self.date,
        )

    def _made_up_id(self) -> str:
        texts = msgspec.json.encode((self.title, self.content))
        return f"made-up-{blake2b(texts, digest_size=8).hexdigest()}"


class SuggestRequest(Request, frozen=True, kw_only=True, gc=False):
    """Request for comments that suit an article.

    Args:
        article: The article; its own comments are not read.
        model: Name of the model; by default the first one.
        k: Maximum number of suggestions, from 1 to 100.
        precision: Suggest only what is probably worth showing, such that this share of the first suggestions is, by the
            labels that the model was calibrated by.
        coverage: Suggest only what is probably worth showing, such that this share of the articles gets a suggestion.
        interleave: Names of two models whose suggestions take turns; see ``team``.
    """

    article: SentArticle
    model: str | None = None
    k: Count = 5
    precision: Share | None = None
    coverage: Share | None = None
    interleave: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        if self.interleave is not None:
            if len(set(self.interleave)) != 2 or len(self.interleave) != 2:
                problem = f"expected the names of two models, got {', '.join(self.interleave) or 'none'}"
                raise InvalidInput(problem, field="interleave")
            if self.model is not None:
                raise InvalidInput("expected either model or interleave, got both", field="model")


class RankRequest(Request, frozen=True, kw_only=True, gc=False):
    """Request for an order of the comments under an article.

    Args:
        article: The article with its comments.
        model: Name of the model of the order ``relevance``; by default the first one that retrieves.
        quality: Name of the model of the order ``quality``; by default the first one.
        by: Weight of each order: relevance, quality, votes, oldest, newest or length. Each gives a comment the share of
            the others that come after it, and their weighted mean decides. By default quality where its model is
            named, else relevance where its is; of none named the first of both that the service has.
        diversity: Weight from 0 to 1 of the difference from the comments above, against repetition.
    """

    article: SentArticle
    model: str | None = None
    quality: str | None = None
    by: dict[str, Weight] | None = None
    diversity: Annotated[float, msgspec.Meta(ge=0, le=1)] = 0.0

    def __post_init__(self) -> None:
        for name in self.by or ():
            if name not in ORDERS:
                raise InvalidInput(str(UnknownName("order", name, ORDERS)), field="by")
        if self.by == {}:
            raise InvalidInput(f"expected at least one of {', '.join(ORDERS)}, got none", field="by")
        for name, field in (("relevance", "model"), ("quality", "quality")):
            if self.by is not None and name not in self.by and getattr(self, field) is not None:
                raise InvalidInput(f"expected the order {name} in by, which alone reads this model", field=field)
        if not self.article.comments:
            raise InvalidInput("expected at least one comment, got none", field="article.comments")
        _check_thread(self.article)


class ScreenRequest(Request, frozen=True, kw_only=True, gc=False):
    """Request for a decision about a comment that a reader posts.

    Args:
        text: The comment.
        article: The article, with the comments that are there already: of these the comment may be a near copy.
        quality: Name of a model of quality, to compare the comment with those of the article.
        profanity: Filter of profanity: list or model; by default that of the service.
        screen: Name of a screen; by default the first one that has learned from comments in its language.
    """

    text: str
    article: SentArticle | None = None
    quality: str | None = None
    profanity: ProfanityFilter | None = None
    screen: str | None = None

    def __post_init__(self) -> None:
        if self.article is not None:
            _check_thread(self.article)


class ArticleRequest(Request, frozen=True, kw_only=True, gc=False):
    """Request for the article of a page: its title and text, without what stands around them.

    Args:
        url: Address of the page, which is fetched unless ``html`` or ``text`` is given.
        html: The page.
        text: A page of plain text, whose first line is the title.
    """

    url: str | None = None
    html: str | None = None
    text: str | None = None

    def __post_init__(self) -> None:
        if self.html is not None and self.text is not None:
            raise InvalidInput("expected either html or text, got both", field="text")
        if self.url is None and self.html is None and self.text is None:
            raise InvalidInput("expected url, html or text, got none", field="url")


class SentCandidate(Request, frozen=True, kw_only=True, gc=False):
    """A text to be scored.

    Args:
        item: The item that it was written for.
        text: The text.
        system: The system that wrote it; by default all are of one.
    """

    item: Id
    text: str
    system: Id | None = None


class ScoreRequest(Request, frozen=True, kw_only=True, gc=False):
    """Request for scores of texts against graded references.

    Args:
        candidates: The texts.
        references: The references of their items.
        metrics: Specs, such as meteor or w-rouge-l(reading=union). By default bleu-4, meteor, rouge-l and cider-d, and
            their w- forms where the references have weights.
        tokenizer: Name of the tokenizer: space, words, characters, 13a, ptb, rouge, jieba or rjieba.
        scale: Scale of the references' grades: HIGH (from 0) or LOW:HIGH.
        weights: Method of the weights: score, minmax, item-max or signed (of grades), votes, consensus or given. By
            default score where there is a scale, and given where all references have a weight.
        ungraded: Handling of references without what their weights are made of: error, or drop, which excludes them,
            and with their candidates the items that have no others.
        items: True for the scores of each candidate as well.
    """

    candidates: tuple[SentCandidate, ...]
    references: tuple[Reference, ...]
    metrics: tuple[str, ...] | None = None
    tokenizer: str = "words"
    scale: str | None = None
    weights: str | None = None
    ungraded: Literal["error", "drop"] = "error"
    items: bool = False


class InterestingRequest(Request, frozen=True, kw_only=True, gc=False):
    """Request for the passages of a text that readers should see first.

    Args:
        text: The text, without mark-up.
        k: Maximum number of passages, from 1 to 100.
        goal: interest, what people find interesting, in English; or topic, what the text is about. By default interest,
            and topic in other languages.
        split: Unit of the text that is a passage: sentences, paragraphs or lines.
        measure: Spec of a measure over units, such as logsim-1, f1-2 or tf-idf-1, instead of a goal.
        lang: Its language, such as en; by default detected.
        tokenizer: Name of the tokenizer of the topic or the measure; by default words, and characters for Chinese and
            Japanese.
    """

    text: str
    k: Count = 5
    goal: Goal | None = None
    split: PassageSplit = "sentences"
    measure: str | None = None
    lang: str | None = None
    tokenizer: str | None = None


def _check_thread(article: SentArticle) -> None:
    """Refuse more comments than can be compared with one another in a few seconds."""
    if len(article.comments or ()) > LONGEST_THREAD:
        problem = f"expected at most {LONGEST_THREAD:,} comments, got {len(article.comments or ()):,}"
        raise InvalidInput(problem, field="article.comments")


@cache
def _decoder(kind: type[R]) -> msgspec.json.Decoder[R]:
    return msgspec.json.Decoder(kind)


def decoded(body: bytes, kind: type[R]) -> R:
    """Decode a request.

    Args:
        body: JSON in UTF-8.
        kind: Its struct.

    Raises:
        InvalidInput: It is not JSON, an object repeats a key, or a field is missing or of another type; says which,
            what was expected and what was found.

    >>> decoded(b'{"article": {"title": "Rain"}, "k": "5"}', SuggestRequest)
    Traceback (most recent call last):
    ...
    postil.errors.InvalidInput: k: expected an integer from 1 to 100, got "5"; write it without quotes
    """
    try:
        found: R = _decoder(kind).decode(body)
        if not plain_objects(body.replace(b"\n", b" ")):
            load_json(body)
    except (*FAILURES, ValueError) as error:
        field, problem = _problem(body, kind, error)
        raise InvalidInput(problem, field=field) from None
    return found


def _problem(body: bytes, kind: type[msgspec.Struct], error: Exception) -> Problem:
    if isinstance(error, RepeatedKey):
        return error.key, str(error)
    try:
        value = json.loads(body.decode(), parse_constant=NotJson)
        found = explain(value, kind)
    except UnicodeDecodeError as broken:
        return "", f"expected JSON in UTF-8, got byte 0x{body[broken.start]:02x} at offset {broken.start}"
    except json.JSONDecodeError as broken:
        return "", f"expected JSON, got something else at line {broken.lineno}, column {broken.colno}: {broken.msg}"
    except RecursionError:
        return "", "the JSON is nested too deeply"
    except ValueError:  # more digits than Python reads
        return "", "a number has thousands of digits"
    if found is None and isinstance(error, msgspec.ValidationError):
        error = invalid(error, "", kind)
    return found or (getattr(error, "field", ""), getattr(error, "message", str(error)))


class ServedSuggestion(Suggestion, frozen=True, omit_defaults=False, gc=False):
    """A suggested comment; see `postil.data.suggestions.Suggestion`.

    Args:
        team: With ``interleave`` the model that it is from: 0 is the first one, 1 the second.
    """

    team: int | msgspec.UnsetType = msgspec.UNSET


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
    models: tuple[str, ...] | msgspec.UnsetType = msgspec.UNSET
    model_hashes: tuple[str, ...] | msgspec.UnsetType = msgspec.UNSET
    impression: str | msgspec.UnsetType = msgspec.UNSET


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
        probability: Probability that the site's moderators hold it, by a screen; left out without one.
        screened: The decision of the screen alone: ``keep``, or ``hold`` where the probability reaches its threshold.
        screen_reasons: Probability of each reason that the screen knows.
        model_hash: Hash of the screen's folder.
    """

    decision: Literal["accept", "hold"]
    reasons: tuple[str, ...]
    quality: float | None
    empty: bool = False
    profanity: bool = False
    probability: float | None = None
    screened: Literal["keep", "hold"] | None = None
    screen_reasons: dict[str, float] = {}
    model_hash: str | None = None


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


class ExpectedPrecision(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """Precision that a calibrated model is expected to have.

    Args:
        coverage: Share of the articles that get a suggestion, the surest ones.
        precision: Share of these whose first suggestion an editor would show.
        low: Lower end of its 95 % confidence interval; null for a model of an earlier version.
        high: Upper end.
    """

    coverage: float
    precision: float
    low: float | None
    high: float | None


class Calibrated(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """Calibration of a model by labels, which ``precision`` and ``coverage`` of suggestions need.

    Args:
        labels: Number of labels.
        depth: Largest number of suggestions with ``precision`` or ``coverage``.
        precision: Highest precision that can be asked for.
        expected: Precision of the surest three tenths of the articles.
    """

    labels: int
    depth: int
    precision: float
    expected: ExpectedPrecision


class ServedModel(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A model of the service.

    Args:
        name: Its name in requests.
        kind: Its kind, such as ``ir-tc`` or ``quality``.
        hash: The hash of its folder.
        operations: The routes that take it: ``suggest``, ``rank``, ``screen``, ``analyze``.
        default: True if it is used where a request names none.
        calibrated: Its calibration; null without one.
        attributes: Attributes of Perspective that a screen answers.
        languages: Languages that a screen learned from.
        threshold: Probability from which on a screen holds a comment.
        reasons: Reasons that a screen has a probability for.
    """

    name: str
    kind: str
    hash: str
    operations: tuple[str, ...]
    default: bool
    calibrated: Calibrated | None = None
    attributes: tuple[str, ...] | msgspec.UnsetType = msgspec.UNSET
    languages: tuple[str, ...] | msgspec.UnsetType = msgspec.UNSET
    threshold: float | msgspec.UnsetType = msgspec.UNSET
    reasons: tuple[str, ...] | msgspec.UnsetType = msgspec.UNSET


class ModelsResponse(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The models of the service.

    Args:
        models: The models, those that suggest comments first.
        version: Version of postil.
    """

    models: tuple[ServedModel, ...]
    version: str
