"""Comments by a language model behind an endpoint, with readers' comments on similar articles as examples.

In-context learning after Brown et al. (2020), "Language Models are Few-Shot Learners", with the examples retrieved for
each article (Liu et al. 2022, "What Makes Good In-Context Examples for GPT-3?").
"""

from __future__ import annotations

import re
from collections import deque
from contextlib import suppress
from dataclasses import dataclass, field, replace
from importlib.resources import files
from itertools import islice
from typing import TYPE_CHECKING, Final

import msgspec
import numpy as np

from postil.comments.text_arrays import SpanIndex
from postil.corpus.duplicates import normalize_text
from postil.data.rows import Article, Comment
from postil.data.suggestions import Filtered, Overlap, Prompting, Provenance, Source, Suggestion, Suggestions
from postil.documents.markup import plain_text
from postil.endpoint.chat import UNREADABLE, Answer, CutWatch, Failed, Request
from postil.endpoint.prompts import MARKS, PromptTemplate, first_words, marked
from postil.errors import InvalidInput, UsageError
from postil.screening.filtering import CandidateFilter, RepeatLimit
from postil.screening.reasons import because
from postil.text.tokenizers import stored_tokenizer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from postil.comments.retrieval import Retriever

__all__ = [
    "BATCH",
    "FIELDS",
    "Prompt",
    "PromptedCommenter",
    "article_part",
    "default_template",
    "lost",
    "read_template",
    "refusal",
    "without_fence",
]

FIELDS: Final = ("examples", "article")
"""Fields of the prompt's template."""

DECLINED: Final = 8
"""Number of words of a model's reason for declining that are shown."""

COPIED: Final = 8
"""Number of words in sequence from which on a comment counts as copied from an example."""

BATCH: Final = 16
"""Number of articles whose examples are retrieved together."""

_MARK: Final = re.compile(rf"</?(?:{'|'.join(MARKS)})\b", re.IGNORECASE)
_MARKED: Final = re.compile(r"<comment>([^<]*)</comment>", re.IGNORECASE)
_FENCED: Final = re.compile(r"```\w{0,20}[ \t]*\n(.*)```", re.DOTALL)
_QUOTED: Final = re.compile(r'"([^"]*)"|“([^“”]*)”|「([^「」]*)」')
_UNABLE: Final = r"i(?: cannot| can ?not| can['’]t| won['’]t| will not|(?: am|['’]m) (?:not able|unable) to)"
_TASKS: Final = (
    "answer assist comment complete comply compose continue create do engage fulfill generate help offer produce "
    "provide respond share support write"
)
_REFUSAL: Final = re.compile(
    rf"(?:(?:i['’]m |i am )?(?:very )?sorry|i apologi[sz]e|unfortunately)[,.]? *(?:but )?{_UNABLE}\b"
    rf"|{_UNABLE} (?:\w+ly )?(?:{'|'.join(_TASKS.split())})\b"
    r"|as an ai\b|as a (?:large )?language model\b"
    r"|(?:很?抱歉|对不起|很遗憾).{0,6}(?:无法|不能)|我(?:无法|不能)(?:提供|撰?写|生成|完成|回答|评论)"
    r"|作为.{0,6}(?:人工智能|语言模型|ai)",
    re.IGNORECASE,
)


def read_template(data: bytes, where: str) -> PromptTemplate:
    """Read the template of a prompt.

    Args:
        data: Bytes of its file.
        where: The file.

    Raises:
        UsageError: It is not UTF-8, or no template with the field ``{article}``.
        UnknownName: It has another field than `FIELDS`.
    """
    return PromptTemplate.read(data, FIELDS, "article", where)


def default_template() -> PromptTemplate:
    """Read the template of the package."""
    return read_template(files("postil.comments").joinpath("prompt.txt").read_bytes(), "prompt.txt")


def refusal(text: str) -> str | None:
    """Beginning of a text that declines to comment; None if it does not.

    Args:
        text: The text.

    >>> refusal("I cannot write comments on this."), refusal("I cannot believe they closed it!")
    ('I cannot write', None)
    """
    found = _REFUSAL.match(text)
    return found[0] if found else None


def article_part(article: Article, words: int) -> str:
    """The part of a prompt that is the article.

    Args:
        article: The article.
        words: Maximum number of words of its content.
    """
    content, _ = first_words(article.content or "", words)
    return "The article:\n" + marked("article", f"{article.title.strip()}\n\n{content.strip()}")


def without_fence(said: str) -> str:
    r"""An answer without a fence of Markdown around it.

    Args:
        said: The answer.

    >>> without_fence("```json\n{}\n```"), without_fence("{} ")
    ('{}', '{}')
    """
    found = said.strip()
    return fenced[1].strip() if (fenced := _FENCED.fullmatch(found)) else found


def lost(answer: Answer | Failed, text: str) -> Iterator[str]:
    """Reasons why an answer is of no use, whatever its text says.

    Args:
        answer: The answer.
        text: Its text, as far as it is one.
    """
    if isinstance(answer, Failed):
        yield because("no answer", answer.reason)
    elif answer.cut:
        yield "cut off at the maximum number of tokens" + (", in thoughts" if answer.thought and not text else "")
    elif answer.filtered:
        yield "stopped by the endpoint's filter of contents"
    elif answer.refusal:
        yield because("declined by the model", f"'{first_words(answer.refusal, DECLINED)[0]} …'")
    if not text:
        yield "empty but for thoughts" if isinstance(answer, Answer) and answer.thought else "empty"


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """The request for comments, but for the article.

    Args:
        model: The endpoint's name of the model.
        template: Template of the prompt.
        shots: Number of examples.
        article_words: Maximum number of words of an article's content.
        max_tokens: Maximum number of tokens of a comment.
        temperature: Sampling temperature.
        seed: Seed of an article's first comment; the others follow.
        extra: Further fields of all requests; see `postil.endpoint.chat.Request`.

    Raises:
        UsageError: A number is out of range.
    """

    model: str
    template: PromptTemplate = field(default_factory=default_template)
    shots: int = 6
    article_words: int = 400
    max_tokens: int = 200
    temperature: float = 0.8
    seed: int = 20181
    extra: str = ""

    def __post_init__(self) -> None:
        for name, low in (("shots", 0), ("article_words", 0), ("max_tokens", 1), ("temperature", 0), ("seed", 0)):
            if not low <= getattr(self, name) < float("inf"):
                raise UsageError(f"{name}: expected {low} or more, got {getattr(self, name)}")


@dataclass(frozen=True, slots=True)
class _Asked:
    """An article and the requests for its comments; none for an article without words."""

    article: Article
    examples: tuple[tuple[Source, str], ...] = ()
    requests: tuple[Request, ...] = ()


@dataclass(frozen=True, eq=False)
class PromptedCommenter:
    """A commenter that asks a language model.

    One call per comment, each with its seed. The comments that come back pass the filter as those of other commenters,
    and are ranked by the retriever's relevance to the article. Refusals, empty and truncated answers and comments that
    share `COPIED` words in sequence with an example are filtered out.

    Args:
        retriever: Finds the examples: readers' comments on similar articles, without the article itself and its copies.
        prompt: The request.
        ask: Function that answers requests in their order, such as `postil.endpoint.client.Client.answers`.
        candidate_filter: Filter of suggestions.
    """

    retriever: Retriever
    prompt: Prompt
    ask: Callable[[Iterable[Request]], Iterator[Answer | Failed]]
    candidate_filter: CandidateFilter = field(default_factory=CandidateFilter)

    kind = "llm"
    parts = ("title", "content")

    def has_input(self, article: Article) -> bool:
        """True if an article has a title or a content.

        Args:
            article: The article.
        """
        return bool(article.title.strip() or (article.content or "").strip())

    def comment(self, articles: Sequence[Article], k: int) -> list[Suggestions]:
        """Ask for comments.

        Args:
            articles: The articles.
            k: Number of calls per article, and so the maximum number of suggestions.

        Returns:
            The suggestions for each article, the most relevant first; none for an article with `has_input` false.

        Raises:
            UsageError: k is below 1.
            InvalidInput: Two articles have one id, or an article has a text that cannot be tokenized.
            LimitReached: A limit of the client allows no further call.
            PostilError: The endpoint refuses calls.
        """
        if len({article.id for article in articles}) < len(articles):
            raise InvalidInput("expected an id that no other article has", where="articles", field="id")
        return list(self.stream(articles, k))

    def stream(self, articles: Iterable[Article], k: int) -> Iterator[Suggestions]:
        """`comment` for a stream of articles with distinct ids.

        Args:
            articles: The articles.
            k: Number of calls per article.

        Yields:
            The suggestions for each article, as soon as they are there.

        Raises:
            AllCut: The first answers are all cut off.
        """
        pending: deque[_Asked] = deque()

        def requests() -> Iterator[Request]:
            for asked in self._prepare(articles, k):
                pending.append(asked)
                yield from asked.requests

        answers: list[Answer | Failed] = []
        repeats = self.candidate_filter.repeats()
        watch = CutWatch(self.prompt.max_tokens)
        for answer in self.ask(requests()):
            if isinstance(answer, Answer):
                watch.see(answer, useful=False)
            while not pending[0].requests:
                yield Suggestions(pending.popleft().article.id, ())
            answers.append(answer)
            if len(answers) == k:
                yield self._suggest(pending.popleft(), answers, k, repeats)
                answers = []
        for asked in pending:
            yield Suggestions(asked.article.id, ())

    def requests(self, articles: Iterable[Article], k: int) -> Iterator[Request]:
        """Requests for comments.

        Args:
            articles: The articles.
            k: Number of requests per article.
        """
        for asked in self._prepare(articles, k):
            yield from asked.requests

    def _prepare(self, articles: Iterable[Article], k: int) -> Iterator[_Asked]:
        if k < 1:
            raise UsageError(f"expected at least one comment per article, got {k}")
        rest = iter(articles)
        while batch := list(islice(rest, BATCH)):
            shots = self.prompt.shots
            # An example is no suggestion, so it may be shown as often as it is similar.
            found = (
                self.retriever.comment(batch, shots, repeats=RepeatLimit(0))
                if shots
                else [Suggestions(each.id, ()) for each in batch]
            )
            for article, similar in zip(batch, found, strict=True):
                examples = tuple((one.provenance.sources[0], one.text) for one in similar.suggestions)
                asked = _Asked(article, examples)
                yield replace(asked, requests=self._requests(asked, k)) if self.has_input(article) else asked

    def _requests(self, asked: _Asked, k: int) -> tuple[Request, ...]:
        prompt = self.prompt
        examples = "\n".join(marked("comment", text) for _, text in asked.examples)
        messages = prompt.template.messages(
            {
                "examples": f"Comments of readers on other articles:\n{examples}" if examples else "",
                "article": article_part(asked.article, prompt.article_words),
            }
        )
        return tuple(
            Request(
                model=prompt.model,
                messages=messages,
                max_tokens=prompt.max_tokens,
                temperature=prompt.temperature,
                seed=prompt.seed + number,
                sample=number,
                extra=prompt.extra,
            )
            for number in range(k)
        )

    def _suggest(self, asked: _Asked, answers: Sequence[Answer | Failed], k: int, repeats: RepeatLimit) -> Suggestions:
        texts = ["" if isinstance(answer, Failed) else _comment(answer.said) for answer in answers]
        overlaps = self._overlaps(asked, texts)
        reasons = {
            position: reason
            for position, answer in enumerate(answers)
            if (reason := next(_reasons(answer, texts[position], overlaps[position]), None))
        }
        scores = self._relevance(asked.article, texts)
        result = self.candidate_filter.apply(texts, scores, k=k, reasons=reasons, repeats=repeats)

        def provenance(position: int) -> Provenance:
            answer = answers[position]
            served, not_sent = ("", ()) if isinstance(answer, Failed) else (answer.model, answer.not_sent)
            sent = asked.requests[position].options().difference(not_sent)
            prompting = Prompting(
                self.prompt.template.fingerprint,
                tuple(source for source, _ in asked.examples),
                self.prompt.seed + position if "seed" in sent else None,
                self.prompt.temperature if "temperature" in sent else None,
            )
            return Provenance.prompted(
                served or self.prompt.model, self.retriever.model.hash, prompting, overlaps[position]
            )

        suggestions = tuple(
            Suggestion(texts[one.position], float(scores[one.position]), rank, provenance(one.position))
            for rank, one in enumerate(result.accepted, 1)
        )
        repeats.add(one.text for one in suggestions)
        filtered = tuple(
            Filtered(texts[position], reason, overlap=overlaps[position]) for position, reason in result.filtered
        )
        return Suggestions(asked.article.id, suggestions, filtered, result.nothing)

    def _relevance(self, article: Article, texts: Sequence[str]) -> NDArray[np.float64]:
        """Relevance of each text to an article; 0 for one in which the retriever reads no word."""
        if not self.retriever.has_input(article):
            return np.zeros(len(texts))
        comments = tuple(Comment(str(position), text) for position, text in enumerate(texts))
        return self.retriever.rank([msgspec.structs.replace(article, comments=comments)])[0]

    def _overlaps(self, asked: _Asked, texts: Sequence[str]) -> list[Overlap | None]:
        """The longest word sequence that each text shares with an example."""
        split = stored_tokenizer(self.retriever.model.setting("tokenizer", str)).split
        numbers: dict[str, int] = {}

        def words(text: str) -> list[str]:
            return [word for word in split(normalize_text(text)) if re.search(r"\w", word)]

        def ids(found: Sequence[str]) -> list[int]:
            return [numbers.setdefault(word, len(numbers)) for word in found]

        examples = [ids(words(text)) for _, text in asked.examples]
        spans = SpanIndex.of(
            np.array([word for found in examples for word in found], np.int64),
            np.cumsum([0, *map(len, examples)]),
        )
        overlaps: list[Overlap | None] = []
        for text in texts:
            found = words(text)
            span = spans.longest(ids(found)) if examples else None
            overlaps.append(
                Overlap(" ".join(found[span.begin : span.begin + span.words]), span.words, asked.examples[span.text][0])
                if span
                else None
            )
        return overlaps


def _comment(text: str) -> str:
    """The comment of an answer: without a fence, an object of JSON, marks or quotation marks around it."""
    found = without_fence(text)
    if found.startswith("{"):
        with suppress(*UNREADABLE, ValueError):
            [only] = msgspec.json.decode(found, type=dict[str, str]).values()
            found = only.strip()
    if within := _MARKED.fullmatch(found):
        found = within[1].strip()
    quoted = _QUOTED.fullmatch(found)
    return plain_text(next(filter(None, quoted.groups()), "").strip() if quoted else found).text


def _reasons(answer: Answer | Failed, text: str, overlap: Overlap | None) -> Iterator[str]:
    """Reasons to filter an answer out, before the filter looks at its text."""
    yield from lost(answer, text)
    if begins := refusal(text):
        yield because("a refusal", f"'{begins} …'")
    if _MARK.search(text):
        yield "repeats marks of the prompt"
    if overlap and overlap.words >= COPIED:
        yield f"shares {overlap.words} words with an example"
