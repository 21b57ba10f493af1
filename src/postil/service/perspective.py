"""Perspective's form of screening (Comment Analyzer API, v1alpha1): comments scored by attribute, and decisions.

Its clients then change an address and a key. What no screen answers is refused by name. The beginning of a message and
the ``errorType`` of its details are those that the documentation of the original names, as clients look for them.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_left
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Annotated, Final, Literal, NoReturn, Self, TypeAlias
from urllib.parse import parse_qsl, urlencode, urlsplit

import msgspec

from postil.data.rows import Decision
from postil.documents.markup import HtmlCleaner
from postil.errors import PostilError
from postil.service.bodies import Request
from postil.text.languages import detect_language, primary_language
from postil.text.sentences import sentence_bounds

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from postil.screening.model import Screened
    from postil.service.screens import OpenScreen, Screens

__all__ = [
    "ATTRIBUTES",
    "LONGEST",
    "AnalyzeRequest",
    "AnalyzeResponse",
    "Refused",
    "SuggestScoreRequest",
    "SuggestScoreResponse",
    "Suggested",
    "analyze",
    "analyze_all",
    "suggested",
]

LONGEST: Final = 20_480
"""Largest size of a text, in bytes of UTF-8."""

ATTRIBUTES: Final = frozenset(
    (
        *("TOXICITY", "SEVERE_TOXICITY", "IDENTITY_ATTACK", "INSULT", "PROFANITY", "THREAT"),
        *("TOXICITY_EXPERIMENTAL", "SEVERE_TOXICITY_EXPERIMENTAL", "IDENTITY_ATTACK_EXPERIMENTAL"),
        *("INSULT_EXPERIMENTAL", "PROFANITY_EXPERIMENTAL", "THREAT_EXPERIMENTAL"),
        *("SEXUALLY_EXPLICIT", "FLIRTATION", "OBSCENE", "SPAM", "INCOHERENT", "INFLAMMATORY", "UNSUBSTANTIAL"),
        *("LIKELY_TO_REJECT", "ATTACK_ON_AUTHOR", "ATTACK_ON_COMMENTER"),
        *("AFFINITY_EXPERIMENTAL", "COMPASSION_EXPERIMENTAL", "CURIOSITY_EXPERIMENTAL", "NUANCE_EXPERIMENTAL"),
        *("PERSONAL_STORY_EXPERIMENTAL", "REASONING_EXPERIMENTAL", "RESPECT_EXPERIMENTAL"),
        *("ALIENATION_EXPERIMENTAL", "FEARMONGERING_EXPERIMENTAL", "GENERALIZATION_EXPERIMENTAL"),
        *("MORAL_OUTRAGE_EXPERIMENTAL", "POWER_APPEAL_EXPERIMENTAL", "SCAPEGOATING_EXPERIMENTAL"),
    )
)
"""Attributes of the original; one that no screen answers is one without a language, and not an unknown name."""

PUBLISHED: Final[Mapping[str, Literal["keep", "hold"]]] = {"APPROVED": "keep", "HIGHLIGHTED": "keep", "DELETED": "hold"}
"""Decisions that Coral sends in place of attributes."""

HELD: Final = 0.5
"""Value from which on a suggested score says that a comment has the attribute."""

UNKNOWN: Final = "und"
"""BCP 47 tag of a language that is not known."""

ERROR: Final = "type.googleapis.com/google.commentanalyzer.v1alpha1.Error"

Detail: TypeAlias = "dict[str, object]"
TextType: TypeAlias = Literal["TEXT_TYPE_UNSPECIFIED", "PLAIN_TEXT", "HTML"]
Threshold: TypeAlias = Annotated[float, msgspec.Meta(ge=0, le=1)]


class Refused(PostilError):  # noqa: N818 - says what has happened
    """A request that is refused in the original's form.

    Args:
        message: The reason.
        details: Details for programs.
        code: HTTP status.
    """

    def __init__(self, message: str, *details: Detail, code: int = 400) -> None:
        self.details, self.code = details, code
        super().__init__(message)


class TextEntry(Request, frozen=True, kw_only=True, gc=False):
    """A text.

    Args:
        text: The text, at most 20,480 bytes.
        type: PLAIN_TEXT (default) or HTML, of which the text is read.
    """

    text: str | None = None
    type: str | None = None


class ArticleAndParentComment(Request, frozen=True, kw_only=True, gc=False, rename="camel"):
    """The article and the comment that a comment answers.

    Args:
        article: The article.
        parent_comment: The comment that it replies to.
    """

    article: TextEntry | None = None
    parent_comment: TextEntry | None = None


class CommentContext(Request, frozen=True, kw_only=True, gc=False, rename="camel"):
    """Texts around a comment; scores do not depend on them.

    Args:
        entries: Texts. That of a suggested score may be an object of JSON with the article's ``url`` and the comment's
            ``Coral_comment_id``, or with ``article`` and ``id``.
        article_and_parent_comment: The article, and the comment that is answered; not together with ``entries``.
    """

    entries: tuple[TextEntry, ...] | None = None
    article_and_parent_comment: ArticleAndParentComment | None = None


class AttributeParameters(Request, frozen=True, kw_only=True, gc=False, rename="camel"):
    """The score that is wanted of an attribute.

    Args:
        score_type: PROBABILITY (default).
        score_threshold: Scores below it are left out.
    """

    score_type: str | None = None
    score_threshold: float | None = None


class AnalyzeRequest(Request, frozen=True, kw_only=True, gc=False, rename="camel"):
    """Request for scores of a comment, in Perspective's form.

    Args:
        comment: The comment.
        requested_attributes: Attributes by name, such as TOXICITY; ``GET /v1/models`` lists those that are answered.
        languages: Languages of the comment, as BCP 47 tags; by default detected.
        span_annotations: True for a score of each sentence by itself.
        do_not_store: Nothing of a request for scores is ever stored.
        drop_unsupported_attributes: True to leave attributes out that are not answered, in place of a refusal.
        client_token: A text that the response repeats.
        community_id: Not read.
        session_id: Not read.
        context: Not read.
    """

    comment: TextEntry | None = None
    requested_attributes: dict[str, AttributeParameters | None] | None = None
    languages: tuple[str, ...] | None = None
    span_annotations: bool | None = None
    do_not_store: bool | None = None
    drop_unsupported_attributes: bool | None = None
    client_token: str | None = None
    community_id: str | None = None
    session_id: str | None = None
    context: CommentContext | None = None


class AttributeScore(msgspec.Struct, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """A score.

    Args:
        value: A probability, from 0 to 1.
        type: ``PROBABILITY``.
    """

    value: float
    type: str | msgspec.UnsetType = msgspec.UNSET


class SpanScore(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The score of a part of a text.

    Args:
        begin: Index of its first UTF-16 code unit, as of a string of JavaScript.
        end: Index after its last one.
        score: The score.
    """

    begin: int | None = None
    end: int | None = None
    score: AttributeScore | None = None


class AttributeScores(msgspec.Struct, frozen=True, kw_only=True, gc=False, omit_defaults=True, rename="camel"):
    """Scores of an attribute.

    Args:
        span_scores: Scores of parts: of each sentence where they were asked for, else of the whole text.
        summary_score: Score of the whole text.
    """

    span_scores: tuple[SpanScore, ...] = ()
    summary_score: AttributeScore | None = None


class AnalyzeResponse(msgspec.Struct, frozen=True, kw_only=True, gc=False, omit_defaults=True, rename="camel"):
    """Scores of a comment, in Perspective's form.

    Args:
        attribute_scores: Scores by attribute; one whose scores are all below its threshold is left out.
        languages: The languages that were sent; else the one that was detected, if one was.
        detected_languages: The language that was detected, where none was sent.
        client_token: That of the request.
    """

    attribute_scores: dict[str, AttributeScores]
    languages: tuple[str, ...]
    detected_languages: tuple[str, ...] = ()
    client_token: str | None = None


class SuggestScoreRequest(Request, frozen=True, kw_only=True, gc=False, rename="camel"):
    """The decision of a moderator on a comment, in Perspective's form.

    Args:
        comment: The comment.
        attribute_scores: Scores that it should have, by attribute: from .5 on it should be held. APPROVED and DELETED,
            as Coral sends them, are decisions by themselves.
        languages: Its languages; repeated.
        context: The article and the comment's id; see there.
        do_not_store: True to keep nothing of it.
        client_token: A text that the response repeats.
        community_id: Not read.
        session_id: Not read.
    """

    comment: TextEntry | None = None
    attribute_scores: dict[str, AttributeScores | None] | None = None
    languages: tuple[str, ...] | None = None
    context: CommentContext | None = None
    do_not_store: bool | None = None
    client_token: str | None = None
    community_id: str | None = None
    session_id: str | None = None


class SuggestScoreResponse(msgspec.Struct, frozen=True, kw_only=True, gc=False, omit_defaults=True, rename="camel"):
    """The decision was stored.

    Args:
        client_token: That of the request.
        requested_languages: The languages that were sent.
        detected_languages: The language that was detected, if one was.
    """

    client_token: str | None = None
    requested_languages: tuple[str, ...] = ()
    detected_languages: tuple[str, ...] = ()


class Suggested(msgspec.Struct, frozen=True, gc=False):
    """The decision that a suggested score is.

    Args:
        decision: The row to store; None where nothing is to be kept.
        response: The response.
    """

    decision: Decision | None
    response: SuggestScoreResponse


def analyze(screens: Screens, request: AnalyzeRequest) -> AnalyzeResponse:
    """Score a comment.

    Args:
        screens: The screens. Each attribute is answered by the first one that knows it and the language.
        request: The request.

    Raises:
        Refused: There is no screen, no text or too long a one, or an attribute that is not answered.
        InvalidInput: The text is HTML of more than 4 Mi characters.
        MissingExtra: The text is HTML, and lxml is not installed.
    """
    (found,) = analyze_all(screens, [request])
    if isinstance(found, PostilError):
        raise found
    return found


def analyze_all(screens: Screens, requests: Sequence[AnalyzeRequest]) -> list[AnalyzeResponse | PostilError]:
    """Score several comments, whose texts each screen reads at once: many cost little more than one.

    Args:
        screens: The screens.
        requests: The requests.

    Returns:
        The response to each request, or the error that `analyze` raises.

    Raises:
        PostilError: A screen is damaged, or the endpoint of its sentence encoder gives no vectors.
    """
    begun: list[_Analysis | PostilError] = []
    for request in requests:
        try:
            begun.append(_Analysis.of(screens, request))
        except PostilError as error:
            begun.append(error)
    analyses = [one for one in begun if isinstance(one, _Analysis)]
    judged: dict[str, Iterator[Screened]] = {}
    for name, screen in {each.name: each for one in analyses for each in one.screens.values()}.items():
        texts = [text for one in analyses if name in one.names for text in one.texts]
        judged[name] = iter(screen.judge(texts, screens.jobs))
    return [one if isinstance(one, PostilError) else one.response(judged) for one in begun]


@dataclass(frozen=True, slots=True)
class _Analysis:
    """A request for scores that is answered once screens have read its texts.

    Args:
        request: The request.
        screens: The screen that answers each attribute.
        texts: The whole text, then its sentences where these are several and asked for.
        spans: Bounds of the parts that get scores, in UTF-16 code units of the text that was sent.
        detected: The language that was detected, where none was sent.
    """

    request: AnalyzeRequest
    screens: Mapping[str, OpenScreen]
    texts: Sequence[str]
    spans: Sequence[tuple[int, int]]
    detected: tuple[str, ...]

    @classmethod
    def of(cls, screens: Screens, request: AnalyzeRequest) -> Self:
        """Check a request; see `analyze`."""
        if not screens.known:
            problem = "this service has no screen; whoever runs it can start it with postil serve --screen"
            raise Refused(problem, code=501)
        sent, text = _text(request.comment)
        _check_context(request.context)
        detected = _detected(text) if not request.languages and screens.tells_languages else ()
        asked = _asked(screens, request, request.languages or detected)
        if request.span_annotations and text is sent:
            languages = request.languages or detected
            bounds = sentence_bounds(text, primary_language(languages[0]) if languages else None)
            parts = [text[begin:end] for begin, end in bounds]
            return cls(request, asked, [text, *parts], [*_in_units(text, bounds)], detected)
        return cls(request, asked, [text], [(0, _units(sent))], detected)

    @property
    def names(self) -> set[str]:
        """Names of the screens."""
        return {one.name for one in self.screens.values()}

    def response(self, judged: Mapping[str, Iterator[Screened]]) -> AnalyzeResponse:
        """The response.

        Args:
            judged: By screen, what it says of the texts of this request and of those after it.
        """
        mine = {name: [*islice(judged[name], len(self.texts))] for name in self.names}
        found: dict[str, AttributeScores] = {}
        for attribute, one in self.screens.items():
            wanted = (self.request.requested_attributes or {})[attribute]
            scores = _scores(attribute, mine[one.name], self.spans, wanted)
            if scores is not None:
                found[attribute] = scores
        return AnalyzeResponse(
            attribute_scores=found,
            languages=self.request.languages or self.detected,
            detected_languages=self.detected,
            client_token=self.request.client_token,
        )


def _text(entry: TextEntry | None) -> tuple[str, str]:
    """The text that was sent, and the same without mark-up."""
    sent = (entry and entry.text) or ""
    kind = (entry and entry.type) or "PLAIN_TEXT"
    if kind not in ("TEXT_TYPE_UNSPECIFIED", "PLAIN_TEXT", "HTML"):
        raise Refused(f"Unknown text type: {kind}; expected PLAIN_TEXT or HTML")
    size = len(sent.encode())
    if size > LONGEST:
        raise _error(
            "COMMENT_TOO_LONG", f"Comment text too long: expected at most {LONGEST:,} bytes of UTF-8, got {size:,}"
        )
    text = HtmlCleaner()(sent) if kind == "HTML" else sent
    if not text.strip():
        raise _error("COMMENT_EMPTY", "Comment must be non-empty; expected a text in comment.text")
    return sent, text


def _check_context(context: CommentContext | None) -> None:
    if context is not None and context.entries and context.article_and_parent_comment is not None:
        raise Refused("Context can have either entries or articleAndParentComment, got both")


def _detected(text: str) -> tuple[str, ...]:
    found = detect_language(text)
    return () if found is None else (found,)


def _asked(screens: Screens, request: AnalyzeRequest, languages: Sequence[str]) -> dict[str, OpenScreen]:
    """The screen that answers each attribute."""
    if not request.requested_attributes:
        raise Refused("Missing requested_attributes: expected one of " + ", ".join(screens.attributes))
    asked: dict[str, OpenScreen] = {}
    unsupported: list[str] = []
    for attribute, wanted in request.requested_attributes.items():
        kind = (wanted and wanted.score_type) or "PROBABILITY"
        if kind not in ("PROBABILITY", "SCORE_TYPE_UNSPECIFIED"):
            raise Refused(
                f"Requested score type {kind} is not supported by attribute {attribute}; expected PROBABILITY"
            )
        one = screens.answering(attribute, languages)
        if one is not None:
            asked[attribute] = one
        elif attribute in ATTRIBUTES or attribute in screens.attributes:
            unsupported.append(attribute)
        elif not request.drop_unsupported_attributes:
            _unknown(screens, attribute)
    if unsupported and not request.drop_unsupported_attributes:
        raise _unsupported(screens, unsupported, languages, sent=bool(request.languages))
    return asked


def _unknown(screens: Screens, attribute: str) -> NoReturn:
    answered = ", ".join(screens.attributes) or "none"
    raise Refused(f"Unknown requested attribute: {attribute}; this service answers {answered}")


def _unsupported(screens: Screens, attributes: Sequence[str], languages: Sequence[str], *, sent: bool) -> Refused:
    """Refusal of attributes that no screen answers in a language; each has details of its own."""
    tags = ", ".join(languages) or UNKNOWN
    first = attributes[0]
    if first in screens.attributes:
        learned = sorted({each for one in screens.known.values() for each in one.screen.languages})
        why = f"the screens of this service learned from {', '.join(learned)}"
    else:
        why = f"this service answers {', '.join(screens.attributes) or 'none'}"
    field = "requestedLanguages" if sent else "detectedLanguages"
    details: list[Detail] = [
        {
            "@type": ERROR,
            "errorType": "LANGUAGE_NOT_SUPPORTED_BY_ATTRIBUTE",
            "languageNotSupportedByAttributeError": {field: [*languages], "attribute": each},
        }
        for each in attributes
    ]
    return Refused(f"Attribute {first} does not support request languages: {tags}; {why}", *details)


def _error(kind: str, message: str) -> Refused:
    return Refused(message, {"@type": ERROR, "errorType": kind})


def _scores(
    attribute: str,
    judged: Sequence[Screened],
    spans: Sequence[tuple[int, int]],
    wanted: AttributeParameters | None,
) -> AttributeScores | None:
    """Scores of an attribute: of the whole text first, then of its parts if there are several; None if all are low."""
    least = (wanted.score_threshold if wanted is not None else None) or 0.0
    values = [each.attributes[attribute] for each in judged]
    parts = values[1:] or values
    found = AttributeScores(
        span_scores=tuple(
            SpanScore(begin=begin, end=end, score=_probability(value))
            for (begin, end), value in zip(spans, parts, strict=True)
            if value >= least
        ),
        summary_score=_probability(values[0]) if values[0] >= least else None,
    )
    return found if found.span_scores or found.summary_score is not None else None


def _probability(value: float) -> AttributeScore:
    return AttributeScore(value=value, type="PROBABILITY")


def _units(text: str) -> int:
    """Number of UTF-16 code units of a text."""
    return len(text.encode("utf-16-le")) // 2


_ASTRAL: Final = re.compile("[\U00010000-\U0010ffff]")


def _in_units(text: str, bounds: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Bounds of parts of a text, counted in UTF-16 code units."""
    pairs = [found.start() for found in _ASTRAL.finditer(text)]
    for begin, end in bounds:
        yield begin + bisect_left(pairs, begin), end + bisect_left(pairs, end)


def suggested(screens: Screens, request: SuggestScoreRequest) -> Suggested:
    """Read the decision of a moderator.

    Args:
        screens: The screens, which tell the reason of an attribute.
        request: The request.

    Raises:
        Refused: There is no text, too long a one, no score, or no attribute that is known.
        InvalidInput: The text is HTML of more than 4 Mi characters.
        MissingExtra: The text is HTML, and lxml is not installed.
    """
    _, text = _text(request.comment)
    _check_context(request.context)
    decision, reason = _decision(screens, _values(request.attribute_scores or {}))
    detected = _detected(text)
    article, comment = _ids(request.context)
    row = Decision(text, decision, reason, article=article, id=comment, lang=detected[0] if detected else None)
    return Suggested(
        None if request.do_not_store else row,
        SuggestScoreResponse(
            client_token=request.client_token,
            requested_languages=request.languages or (),
            detected_languages=detected,
        ),
    )


def _values(sent: Mapping[str, AttributeScores | None]) -> dict[str, float]:
    """The score of each attribute: that of the whole, or the highest of its parts."""
    if not sent:
        raise Refused("Missing attribute_scores: expected the score of an attribute, or APPROVED or DELETED")
    values: dict[str, float] = {}
    for attribute, scores in sent.items():
        whole = scores.summary_score if scores is not None else None
        parts = [one.score.value for one in scores.span_scores if one.score is not None] if scores is not None else []
        found = [whole.value] if whole is not None else parts
        if not found:
            raise Refused(f"attributeScores.{attribute}: expected a summaryScore or spanScores, got none")
        if not 0 <= max(found) <= 1:
            raise Refused(f"attributeScores.{attribute}: expected a value from 0 to 1, got {max(found):g}")
        values[attribute] = max(found)
    return values


def _decision(screens: Screens, values: Mapping[str, float]) -> tuple[Literal["keep", "hold"], str | None]:
    """The decision, and its reason where one is known."""
    reasons: dict[str, str | None] = {} if screens.known else {"TOXICITY": None}
    for one in screens.known.values():
        reasons = one.reasons | reasons
    held = sorted(
        (one for one, value in values.items() if one in reasons and value >= HELD), key=lambda one: -values[one]
    )
    reason = next((why for one in held if (why := reasons[one]) is not None), None)
    for attribute, value in values.items():
        if attribute in PUBLISHED:
            approved = (PUBLISHED[attribute] == "keep") == (value >= HELD)
            return ("keep", None) if approved else ("hold", reason)
    if reasons.keys().isdisjoint(values):
        attribute = next(iter(values))
        if attribute in ATTRIBUTES:
            raise _unsupported(screens, [*values], (), sent=False)
        _unknown(screens, attribute)
    return ("hold", reason) if held else ("keep", None)


def _ids(context: CommentContext | None) -> tuple[str | None, str | None]:
    """Ids of article and comment, as an object of JSON in the context has them."""
    for entry in (context.entries or ()) if context is not None else ():
        try:
            found = json.loads(entry.text or "")
        except (ValueError, RecursionError):
            continue
        if isinstance(found, dict):
            article, comment = (_first(found, *names) for names in (("article", "url"), ("id", "Coral_comment_id")))
            if article is not None or comment is not None:
                return (None if article is None else _address(article)), comment
    return None, None


def _first(found: Mapping[str, object], *names: str) -> str | None:
    values = (found.get(name) for name in names)
    return next((f"{value}" for value in values if isinstance(value, str | int) and f"{value}".strip()), None)


def _address(article: str) -> str:
    """An address without the comment that Coral adds to it; other ids stay as they are."""
    try:
        parts = urlsplit(article)
        pairs = parse_qsl(parts.query, keep_blank_values=True)
    except ValueError:
        return article
    left = [(name, value) for name, value in pairs if name != "commentID"]
    return article if len(left) == len(pairs) else parts._replace(query=urlencode(left)).geturl()
