"""`postil comment`: articles in, suggestions out."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, TypeVar

from postil.comments.articles import MissingInput, checked_articles, open_articles
from postil.comments.commenter import load_commenter
from postil.comments.options import DecodingOptions
from postil.comments.prompted_commenter import Prompt, PromptedCommenter, default_template, read_template
from postil.comments.reranker import SIGNATURE
from postil.comments.retrieval import Retriever
from postil.comments.show_filter import Selection
from postil.data.options import EngineOptions, InputOptions
from postil.data.progress import OnMessage, progress
from postil.endpoint.chat import AllCut
from postil.endpoint.options import DryRunResult, EndpointOptions, ask, dry_run
from postil.engine import ENGINES, elsewhere
from postil.errors import InvalidInput, PostilError, UsageError
from postil.messages import Blank, Listed, Message, Setting
from postil.options import Flag, changed_settings, options
from postil.screening.filtering import CandidateFilter
from postil.screening.reasons import Blocklist, ProfanityFilter

if TYPE_CHECKING:
    from collections.abc import Iterator

    from postil.comments.neural_commenter import NeuralCommenter
    from postil.data.suggestions import Suggestions
    from postil.endpoint.client import Client
    from postil.endpoint.prompts import PromptTemplate

__all__ = [
    "CommentOptions",
    "PromptedCommentOptions",
    "comment_articles",
    "estimate_comments",
    "prompted_comments",
]

C = TypeVar("C", bound="Retriever | NeuralCommenter")
BATCH: Final = 64
"""Number of articles that are commented on together."""

LENGTHEN: Final = Message(
    "a model that thinks needs more: {tokens}, or fewer thoughts by {extra}",
    tokens=Setting("max_tokens", Blank("N")),
    extra=Setting("extra_body", Blank("JSON")),
)
"""Advice where answers are cut off."""

_DECODING: Final = (
    "strategy",
    "beam_size",
    "length_penalty",
    "no_repeat_ngram_size",
    "top_p",
    "temperature",
    "seed",
)
"""Options of `DecodingOptions` that have a flag."""


@options
class CommentOptions(EngineOptions):
    """Options of `postil comment`.

    Args:
        k: Maximum number of suggestions per article.
        min_words: Filter out comments of fewer words; three Han characters count as two.
        max_words: Filter out comments of more words.
        blocklist: Filter out comments with any of these words or phrases, one per line.
        allow: Accept comments of a kind: replies, quotations, edits, trackbacks, code, profanity, addresses, or all;
            repeatable.
        profanity: Filter of profanity and insults: list (of words), or model (the lists, and a probability of .5 or
            more by alt-profanity-check).
        repeat: Suggest a text for at most N of 100 successive articles; 0 for any number.
        precision: Suggest only what is probably worth showing, such that this share of the first suggestions is, by the
            labels that the model was calibrated by.
        coverage: Suggest only what is probably worth showing, such that this share of the articles gets a suggestion.
        reranker: The sentence encoder that the model was trained with, a folder: it reorders the fifty best candidates.
        strategy: Decoding of a generator: beam (default), greedy or nucleus sampling.
        beam_size: Number of hypotheses per beam, with beam (default 5).
        length_penalty: Length penalty exponent of a generator: a text's score is its log-probability divided by its
            number of tokens to this power (default 1: the mean per token; 0 favors short texts).
        no_repeat_ngram_size: No n-gram of this size occurs twice in a generated text (default 3); 0 allows repetition.
        top_p: Top-p threshold, with nucleus (default 0.9).
        temperature: Sampling temperature, with nucleus (default 1) or --endpoint (default 0.8); lower is more
            deterministic.
        seed: Seed of nucleus sampling, or of the first of an article's calls with --endpoint.
    """

    k: Annotated[int, Flag(short="k", min=1, metavar="K")] = 5
    min_words: Annotated[int, Flag(min=0)] = 4
    max_words: Annotated[int | None, Flag(min=1)] = None
    blocklist: Annotated[str | None, Flag(metavar="FILE")] = None
    allow: Annotated[tuple[str, ...], Flag(metavar="KIND")] = ()
    profanity: Annotated[ProfanityFilter, Flag(metavar="WHAT")] = "list"
    repeat: Annotated[int, Flag(min=0, metavar="N")] = 2
    precision: Annotated[float | None, Flag(metavar="SHARE", min=0, max=1)] = None
    coverage: Annotated[float | None, Flag(metavar="SHARE", min=0, max=1)] = None
    reranker: Annotated[str | None, Flag(metavar="DIR")] = None
    strategy: Annotated[str | None, Flag("decoding", metavar="NAME")] = None
    beam_size: Annotated[int | None, Flag(min=1)] = None
    length_penalty: Annotated[float | None, Flag(min=0)] = None
    no_repeat_ngram_size: Annotated[int | None, Flag("no-repeat-ngrams", min=0)] = None
    top_p: float | None = None
    temperature: float | None = None
    seed: Annotated[int | None, Flag(min=0)] = None

    def __post_init__(self) -> None:
        if self.temperature != 0:  # which an endpoint takes
            self.decoding()  # which checks the values
        self.selection()

    def selection(self) -> Selection | None:
        """The request to suggest only what is probably worth showing; None without one."""
        if self.precision is None and self.coverage is None:
            return None
        return Selection(self.precision, self.coverage)

    def candidate_filter(self) -> CandidateFilter:
        """The filter of suggestions."""
        return CandidateFilter(
            min_words=self.min_words,
            max_words=self.max_words,
            allow=self.allow,
            profanity=self.profanity,
            repeat=self.repeat,
            blocklist=Blocklist.read(self.blocklist) if self.blocklist else None,
        )

    def decoding(self) -> DecodingOptions | None:
        """The decoding options; None where none is given, as for a retriever."""
        given = {name: value for name in _DECODING if (value := getattr(self, name)) is not None}
        return DecodingOptions(**given) if given else None


@options
class PromptedCommentOptions(EndpointOptions):
    """Options of `postil comment` with a language model.

    Args:
        examples: A model that postil train ir-t or ir-tc made: it finds the readers' comments that the language model
            sees as examples, and ranks what that writes.
        shots: Number of examples per article.
        prompt: Template of the prompt, instead of the one that --show-prompt prints.
        article_words: Number of words of an article's content that the language model sees.
        max_tokens: Maximum number of tokens of a comment; one that reaches it is filtered out, and a model that thinks
            before it writes needs many more.
    """

    examples: Annotated[str | None, Flag(metavar="DIR")] = None
    shots: Annotated[int, Flag(min=0)] = 6
    prompt: Annotated[str | None, Flag(metavar="FILE")] = None
    article_words: Annotated[int, Flag(min=0)] = 400
    max_tokens: Annotated[int, Flag("max-tokens", other="answer-tokens", min=1)] = 200

    def check_unused(self) -> None:
        """Refuse options that need an endpoint.

        Raises:
            UsageError: One is given.
        """
        given = [Setting(each.name) for each in changed_settings(self)]
        if given:
            raise UsageError(
                "{given}: only with {endpoint}", given=Listed(given, last=", "), endpoint=Setting("endpoint")
            )

    def template(self) -> PromptTemplate:
        """The template of the prompt.

        Raises:
            InvalidInput: Its file cannot be read.
            UsageError: It is no template.
        """
        if self.prompt is None:
            return default_template()
        try:
            return read_template(Path(self.prompt).read_bytes(), self.prompt)
        except OSError as error:
            raise InvalidInput(f"cannot be read: {error.strerror or error}", where=self.prompt) from error


def comment_articles(
    articles: str,
    folder: str,
    options: CommentOptions,
    *,
    inputs: InputOptions | None = None,
    on_message: OnMessage = lambda _: None,
) -> Iterator[Suggestions]:
    """Suggest comments for the articles of a file.

    Args:
        articles: A file of article rows; ``-`` for standard input.
        folder: The model.
        options: Options of filter and decoding.
        inputs: Options of reading the file.
        on_message: Callback for status messages.

    Yields:
        The suggestions for each article, in order; none for an article without input.

    Raises:
        InvalidInput: The file or the model is invalid, or no article has input.
    """
    screen = options.candidate_filter()
    commenter = load_commenter(
        folder,
        candidate_filter=screen,
        decoding=options.decoding(),
        jobs=options.jobs,
        selection=options.selection(),
        reranker=options.reranker,
    )
    if isinstance(commenter, Retriever) and commenter.reranker is None and commenter.model.config.get(SIGNATURE):
        on_message(
            Message(
                "without {reranker} the order is the ranker's: the model was trained with a sentence encoder",
                reranker=Setting("reranker", Blank("DIR")),
            )
        )
    repeats = screen.repeats()
    learned = commenter.show_filter if isinstance(commenter, Retriever) and commenter.selection is not None else None
    if learned is not None and options.k > learned.depth:
        on_message(f"at most {learned.depth} per article: the model was calibrated on as many first suggestions")
    rows, missing = open_articles(articles, inputs, on_message), MissingInput(commenter)
    articles_read = checked_articles(rows, on_message=on_message)
    with _spread(commenter, options, on_message) as commenter, progress("articles", articles_read) as stream:
        while batch := list(islice(stream, BATCH)):
            for article, found in zip(batch, commenter.comment(batch, options.k, repeats=repeats), strict=True):
                missing.has_input(article, known=bool(found.suggestions or found.filtered))
                yield found
    missing.tell(rows.places.where, "no suggestions for", on_message)


def prompted_comments(
    articles: str,
    model: str,
    options: CommentOptions,
    prompted: PromptedCommentOptions,
    *,
    inputs: InputOptions | None = None,
    on_message: OnMessage = lambda _: None,
) -> Iterator[Suggestions]:
    """Let a language model behind an endpoint comment on the articles of a file.

    Args:
        articles: A file of article rows; ``-`` for standard input.
        model: The endpoint's name of the model.
        options: Options of the filter; of decoding temperature and seed alone.
        prompted: Endpoint, examples and prompt.
        inputs: Options of reading the file.
        on_message: Callback for status messages.

    Yields:
        The suggestions for each article, in order; none for an article without input.

    Raises:
        UsageError: An option does not go with a language model.
        InvalidInput: The file, the folder of examples or the cache is invalid, or no article has input.
        LimitReached: A limit allows no further call; the articles before have been yielded.
        PostilError: The endpoint refuses calls.
    """
    rows = open_articles(articles, inputs, on_message)
    everything = list(checked_articles(rows, on_message=on_message))  # before the first call is paid
    with _prompted(model, options, prompted, len(everything) * options.k, on_message) as (_, commenter):
        missing = MissingInput(commenter)
        try:
            for article, found in zip(everything, commenter.stream(everything, options.k), strict=True):
                missing.has_input(article)
                yield found
        except AllCut as error:
            raise PostilError("{problem}; {advice}", problem=error.message, advice=LENGTHEN) from None
        missing.tell(rows.places.where, "no suggestions for", on_message)


def estimate_comments(
    articles: str,
    model: str,
    options: CommentOptions,
    prompted: PromptedCommentOptions,
    *,
    inputs: InputOptions | None = None,
    on_message: OnMessage = lambda _: None,
) -> DryRunResult:
    """Estimate the work of `prompted_comments`; nothing is asked.

    Args:
        articles: A file of article rows; ``-`` for standard input.
        model: The endpoint's name of the model.
        options: Options of the filter; of decoding temperature and seed alone.
        prompted: Endpoint, examples and prompt.
        inputs: Options of reading the file.
        on_message: Callback for status messages.

    Raises:
        UsageError: An option does not go with a language model.
        InvalidInput: The file, the folder of examples or the cache is invalid.
    """
    rows = checked_articles(open_articles(articles, inputs, on_message))
    with _prompted(model, options, prompted, None, on_message) as (client, commenter):
        return dry_run(client, commenter.requests(rows, options.k))


@contextmanager
def _spread(commenter: C, options: CommentOptions, on_message: OnMessage) -> Iterator[C]:
    """The commenter, with its search on the engine of the options."""
    if options.engine in ENGINES and options.engine != "local" and not isinstance(commenter, Retriever):
        raise UsageError(
            "{engine}: only for models that search, ir-t and ir-tc, got {kind}",
            engine=Setting("engine", options.engine),
            kind=commenter.kind,
        )
    with elsewhere(options.engine, options.jobs, options.address, on_message) as engine:
        yield commenter if engine is None else replace(commenter, engine=engine)  # type: ignore[arg-type]  # see above


@contextmanager
def _prompted(
    model: str, options: CommentOptions, prompted: PromptedCommentOptions, total: int | None, on_message: OnMessage
) -> Iterator[tuple[Client, PromptedCommenter]]:
    own = (*_DECODING, "precision", "coverage", "reranker")
    given = [name for name in own if name not in {"temperature", "seed"} and getattr(options, name) is not None]
    if given:
        raise UsageError(
            "{given}: only for models that postil train made, not with {endpoint}",
            given=Listed([Setting(name) for name in given], last=", "),
            endpoint=Setting("endpoint"),
        )
    sampling = {name: value for name in ("temperature", "seed") if (value := getattr(options, name)) is not None}
    prompt = Prompt(
        model=model,
        template=prompted.template(),
        shots=prompted.shots,
        article_words=prompted.article_words,
        max_tokens=prompted.max_tokens,
        extra=prompted.extra(),
        **sampling,
    )
    if prompted.examples is None:
        raise UsageError(
            "{endpoint} needs the folder of a model to take examples from: {examples}",
            endpoint=Setting("endpoint"),
            examples=Setting("examples", Blank("DIR")),
        )
    screen = options.candidate_filter()
    found = Retriever.open(prompted.examples, candidate_filter=screen, jobs=options.jobs)
    shorten = Message(
        "show the model fewer words with {words}, or fewer examples with {shots}",
        words=Setting("article_words"),
        shots=Setting("shots"),
    )
    with (
        prompted.client(shorten=shorten, on_message=on_message) as client,
        _spread(found, options, on_message) as retriever,
    ):
        yield client, PromptedCommenter(retriever, prompt, lambda asked: ask(client, asked, total), screen)
