"""Choice among retrieved comments by a language model behind an endpoint.

The model sees an article and the first suggestions for it, and names those worth showing by the rubric of labels. Its
choices are not calibrated: nothing says which share of them an editor would show.
"""

from __future__ import annotations

from collections import Counter, deque
from dataclasses import asdict, dataclass, field
from functools import partial
from importlib.resources import files
from itertools import islice
from typing import TYPE_CHECKING, Final

import msgspec

from postil.comments.prompted_commenter import BATCH, article_part, lost, without_fence
from postil.comments.show_filter import DEPTH
from postil.data.fields import draw_key
from postil.data.suggestions import Filtered, Selecting, Suggestion, Suggestions
from postil.endpoint.chat import UNREADABLE, Answer, CutWatch, Failed, Request
from postil.endpoint.prompts import PromptTemplate, first_words, marked
from postil.errors import InvalidInput, UsageError
from postil.messages import Listed, Message, Note, Setting
from postil.screening.filtering import RepeatLimit
from postil.screening.reasons import because

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from postil.comments.retrieval import Retriever
    from postil.data.rows import Article

__all__ = [
    "FIELDS",
    "SelectingCommenter",
    "Selector",
    "default_template",
    "read_choice",
    "read_template",
    "uncalibrated",
]

FIELDS: Final = ("article", "comments")
"""Fields of the prompt's template."""

LONGEST: Final = 200
"""Maximum number of words of a comment in the prompt."""

SHOWN: Final = 60
"""Number of characters of an unreadable answer that are shown."""


def read_template(data: bytes, where: str) -> PromptTemplate:
    """Read the template of a prompt.

    Args:
        data: Bytes of its file.
        where: The file.

    Raises:
        UsageError: It is not UTF-8, or no template with the field ``{comments}``.
        UnknownName: It has another field than `FIELDS`.
    """
    return PromptTemplate.read(data, FIELDS, "comments", where)


def default_template() -> PromptTemplate:
    """Read the template of the package."""
    return read_template(files("postil.comments").joinpath("select.txt").read_bytes(), "select.txt")


class _Choice(msgspec.Struct, forbid_unknown_fields=True):
    show: tuple[int, ...]


def read_choice(said: str, comments: int) -> tuple[int, ...] | None:
    """Read the numbers of an answer: distinct ones of comments that were shown, in JSON and nothing else.

    Args:
        said: The answer.
        comments: Number of comments, which are numbered from 1.

    Returns:
        The numbers, the best first; none for none worth showing, None for an answer of another form.

    >>> [read_choice(said, 3) for said in ('{"show": [3, 1]}', '{"show": []}', '{"show": [4]}', "Show 3.")]
    [(3, 1), (), None, None]
    """
    try:
        numbers = msgspec.json.decode(without_fence(said), type=_Choice).show
    except (*UNREADABLE, UnicodeEncodeError):
        return None
    distinct = len(set(numbers)) == len(numbers)
    return numbers if distinct and all(1 <= number <= comments for number in numbers) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Selector:
    """The request to choose, but for article and comments.

    Args:
        model: The endpoint's name of the model.
        template: Template of the prompt.
        article_words: Maximum number of words of an article's content.
        max_tokens: Maximum number of tokens of an answer, thoughts included.
        temperature: Sampling temperature; 0 takes the most probable token.
        seed: Seed of sampling; None leaves it to the endpoint.
        extra: Further fields of all requests; see `postil.endpoint.chat.Request`.

    Raises:
        UsageError: A number is out of range.
    """

    model: str
    template: PromptTemplate = field(default_factory=default_template)
    article_words: int = 400
    max_tokens: int = 200
    temperature: float = 0.0
    seed: int | None = None
    extra: str = ""

    def __post_init__(self) -> None:
        for name, low in (("article_words", 0), ("max_tokens", 1), ("temperature", 0), ("seed", 0)):
            if (value := getattr(self, name)) is not None and not low <= value < float("inf"):
                raise UsageError(f"{name}: expected {low} or more, got {value}")

    def request(self, article: Article, comments: Sequence[str]) -> Request:
        """The request for an article.

        Args:
            article: The article.
            comments: The comments in the order of their numbers.
        """
        texts = (first_words(text, LONGEST)[0] for text in comments)
        parts = [marked("comment", text, f' number="{number}"') for number, text in enumerate(texts, 1)]
        fields = {
            "article": article_part(article, self.article_words),
            "comments": "Comments of readers on other articles:\n" + "\n".join(parts),
        }
        return Request(
            model=self.model,
            messages=self.template.messages(fields),
            max_tokens=self.max_tokens,
            temperature=self.temperature,
            seed=self.seed,
            extra=self.extra,
        )


def uncalibrated(given: Iterable[Setting]) -> UsageError:
    """The error for a selection by labels together with one by a language model.

    Args:
        given: Settings of the former.
    """
    return UsageError(
        "{given}: not together with a language model that chooses: its choices are not calibrated, so which share of "
        "them is worth showing is unknown",
        given=Listed(list(given), last=", "),
    )


@dataclass(frozen=True, slots=True)
class _Asked:
    """An article's first suggestions, and the request to choose among them, numbered in an order of their own."""

    found: Suggestions
    numbered: tuple[Suggestion, ...] = ()
    request: Request | None = None


@dataclass(frozen=True, eq=False)
class SelectingCommenter:
    """A retriever of whose first suggestions for an article a language model chooses those worth showing.

    One call per article. The comments are numbered in an order that depends on their texts and the article's alone,
    since models favor places. An answer that is no choice among them leaves the article's suggestions in their order,
    and their provenance says so. The repeat limit counts what is chosen.

    Args:
        retriever: Finds the comments.
        selector: The request.
        ask: Function that answers requests in their order, such as `postil.endpoint.client.Client.answers`.
        problems: Number of articles without a choice so far, by reason.

    Raises:
        UsageError: The retriever has a selection by precision or coverage.
    """

    retriever: Retriever
    selector: Selector
    ask: Callable[[Iterable[Request]], Iterator[Answer | Failed]]
    problems: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        if self.retriever.selection is not None:
            given = asdict(self.retriever.selection)
            raise uncalibrated(Setting(name) for name, value in given.items() if value is not None)

    @property
    def kind(self) -> str:
        """The kind of the retriever, such as ``ir-tc``."""
        return self.retriever.kind

    @property
    def parts(self) -> tuple[str, ...]:
        """Fields of an article that are searched by."""
        return self.retriever.parts

    def has_input(self, article: Article) -> bool:
        """See `postil.comments.retrieval.Retriever.has_input`.

        Args:
            article: The article.
        """
        return self.retriever.has_input(article)

    def comment(self, articles: Sequence[Article], k: int) -> list[Suggestions]:
        """Suggest comments that a language model chose.

        Args:
            articles: The articles.
            k: Maximum number of suggestions per article; there are at most `postil.comments.show_filter.DEPTH`.

        Returns:
            The suggestions for each article, in the model's order.

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
            k: Maximum number of suggestions per article.

        Yields:
            The suggestions for each article, as soon as they are there.

        Raises:
            AllCut: The first answers are all cut off.
        """
        pending: deque[_Asked] = deque()

        def requests() -> Iterator[Request]:
            # No request waits for what is shown for the articles before, so repeats are filtered out of the choices.
            for asked in self._prepare(articles, k, partial(self.retriever.comment, k=DEPTH, repeats=RepeatLimit(0))):
                pending.append(asked)
                if asked.request is not None:
                    yield asked.request

        repeats = self.retriever.candidate_filter.repeats()
        watch = CutWatch(self.selector.max_tokens)
        for answer in self.ask(requests()):
            while pending[0].request is None:
                repeats.add(())
                yield pending.popleft().found
            asked = pending.popleft()
            chosen, selecting = self._read(asked, answer)
            if isinstance(answer, Answer):
                watch.see(answer, useful=selecting.problem is None)
            yield _suggested(asked.found, chosen, selecting, k, repeats)
        for asked in pending:
            yield asked.found

    def requests(self, articles: Iterable[Article], k: int) -> Iterator[Request]:
        """Requests to choose, without the work of a filter from labels, which orders the same suggestions.

        Args:
            articles: The articles.
            k: Maximum number of suggestions per article, on which no request depends.
        """

        def first(batch: Sequence[Article]) -> list[Suggestions]:
            return [found for found, _ in self.retriever.first(batch, DEPTH)]

        for asked in self._prepare(articles, k, first):
            if asked.request is not None:
                yield asked.request

    def _prepare(
        self, articles: Iterable[Article], k: int, suggest: Callable[[Sequence[Article]], list[Suggestions]]
    ) -> Iterator[_Asked]:
        if k < 1:
            raise UsageError(f"expected at least one comment per article, got {k}")
        rest = iter(articles)
        while batch := list(islice(rest, BATCH)):
            for article, each in zip(batch, suggest(batch), strict=True):
                numbered = _numbered(article, each.suggestions)
                texts = [one.text for one in numbered]
                yield _Asked(each, numbered, self.selector.request(article, texts)) if numbered else _Asked(each)

    def _read(self, asked: _Asked, answer: Answer | Failed) -> tuple[Sequence[Suggestion], Selecting]:
        """The suggestions that an answer chooses, the best first; all of them in their order where it chooses none."""
        said, served = ("", "") if isinstance(answer, Failed) else (answer.said, answer.model)
        name, template = served or self.selector.model, self.selector.template.fingerprint
        problem, numbers = next(lost(answer, said), None), read_choice(said, len(asked.numbered))
        if problem is None and numbers is not None:
            return [asked.numbered[number - 1] for number in numbers], Selecting(name, template)
        if problem is None:
            line = " ".join(said.split())
            problem = because("unreadable answer", f"'{line if len(line) <= SHOWN else f'{line[:SHOWN]} …'}'")
        self.problems[problem.code if isinstance(problem, Note) else problem] += 1
        return asked.found.suggestions, Selecting(name, template, problem)


def _suggested(
    found: Suggestions, chosen: Sequence[Suggestion], selecting: Selecting, k: int, repeats: RepeatLimit
) -> Suggestions:
    """An article's suggestions after a choice among them."""
    kept: list[Suggestion] = []
    dropped: list[Filtered] = []
    for one in chosen:
        if (reason := repeats.reason(one.text)) is not None:
            dropped.append(_filtered(one, reason))
        elif len(kept) < k:
            origin = one.provenance.selected(selecting)
            kept.append(msgspec.structs.replace(one, rank=len(kept) + 1, provenance=origin))
    repeats.add(one.text for one in kept)
    name, texts = selecting.model, {one.text for one in chosen}
    others = [one for one in found.suggestions if one.text not in texts]
    dropped += [_filtered(one, because("not chosen by the language model", name)) for one in others]
    nothing: str | None = None
    if not chosen:
        nothing = Message("nothing is worth showing by the choice of the language model {name}", name=name)
    elif not kept:
        nothing = f"all that was to be shown is filtered out, the first with the reason: {dropped[0].reason}"
    filtered = (*found.filtered, *dropped)
    return msgspec.structs.replace(found, suggestions=tuple(kept), filtered=filtered, reason=nothing)


def _numbered(article: Article, found: Sequence[Suggestion]) -> tuple[Suggestion, ...]:
    """Suggestions in an order that depends on the texts alone and says nothing of their rank."""
    place = partial(draw_key, 0, article.title, article.content or "")
    return tuple(sorted(found, key=lambda one: place(one.text)))


def _filtered(one: Suggestion, reason: str) -> Filtered:
    return Filtered(one.text, reason, next(iter(one.provenance.sources), None))
