"""`postil comment`: articles in, suggestions out."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Final, TypeVar
from urllib.parse import urlsplit

import msgspec

from postil.comments.articles import MissingInput, checked_articles, open_articles
from postil.comments.call_options import DECODING, CommentOptions, PromptedCommentOptions
from postil.comments.commenter import load_commenter
from postil.comments.prompted_commenter import Prompt, PromptedCommenter
from postil.comments.reranker import SIGNATURE
from postil.comments.retrieval import Retriever
from postil.comments.selecting_commenter import SelectingCommenter, Selector, uncalibrated
from postil.comments.show_filter import DEPTH
from postil.data.progress import OnMessage, progress
from postil.encoders.endpoint_encoder import EncoderEndpoint
from postil.endpoint.asking import ask
from postil.endpoint.chat import AllCut
from postil.endpoint.dry_run import DryRunResult, dry_run
from postil.engine import ENGINES, elsewhere
from postil.errors import PostilError, UsageError
from postil.messages import Blank, Listed, Message, Setting
from postil.options import changed_settings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from postil.comments.neural_commenter import NeuralCommenter
    from postil.data.options import InputOptions
    from postil.data.suggestions import Suggestions
    from postil.endpoint.client import Client

__all__ = [
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
        encoder=_endpoint(options, on_message),
    )
    if isinstance(commenter, Retriever):
        _tell_order(commenter, on_message)
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
                yield msgspec.structs.replace(found, title=article.title)
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
    """Let a language model behind an endpoint comment on the articles of a file, or choose among suggestions for them.

    Args:
        articles: A file of article rows; ``-`` for standard input.
        model: The endpoint's name of the model; the folder of a retriever whose suggestions a selector chooses from.
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
    with _asking(model, options, prompted, len(everything), on_message) as (_, commenter):
        missing = MissingInput(commenter)
        if isinstance(commenter, SelectingCommenter):
            _tell_untested(options, prompted, on_message)
        try:
            for article, found in zip(everything, commenter.stream(everything, options.k), strict=True):
                missing.has_input(article)
                yield msgspec.structs.replace(found, title=article.title)
        except AllCut as error:
            raise PostilError("{problem}; {advice}", problem=error.message, advice=LENGTHEN) from None
        finally:
            if isinstance(commenter, SelectingCommenter):
                _tell_problems(commenter, on_message)
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
        model: See `prompted_comments`.
        options: Options of the filter; of decoding temperature and seed alone.
        prompted: Endpoint, examples and prompt.
        inputs: Options of reading the file.
        on_message: Callback for status messages.

    Raises:
        UsageError: An option does not go with a language model.
        InvalidInput: The file, the folder of examples or the cache is invalid.
    """
    rows = checked_articles(open_articles(articles, inputs, on_message))
    with _asking(model, options, prompted, None, on_message) as (client, commenter):
        return dry_run(client, commenter.requests(rows, options.k))


def _endpoint(options: CommentOptions, on_message: OnMessage, other: str | None = None) -> EncoderEndpoint | None:
    """The endpoint of the filter's encoder that the options name; the key of access is for another one, if there is."""
    if options.encoder is None:
        return None
    keyed = other is None or urlsplit(other).netloc == urlsplit(options.encoder).netloc
    return EncoderEndpoint(url=options.encoder, keyed=keyed, on_message=on_message)


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
def _asking(
    model: str, options: CommentOptions, prompted: PromptedCommentOptions, articles: int | None, on_message: OnMessage
) -> Iterator[tuple[Client, PromptedCommenter | SelectingCommenter]]:
    """The client and the commenter that asks it; `articles` is their number, if it is known."""
    if prompted.selector is None:
        with _prompted(model, options, prompted, articles, on_message) as found:
            yield found
    else:
        with _selecting(model, options, prompted, articles, on_message) as chosen:
            yield chosen


@contextmanager
def _prompted(
    model: str, options: CommentOptions, prompted: PromptedCommentOptions, articles: int | None, on_message: OnMessage
) -> Iterator[tuple[Client, PromptedCommenter]]:
    _check_decoding(options, "precision", "coverage", "reranker")
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
            "{endpoint} needs the folder of a model to take examples from: {examples}; or name the language model that "
            "chooses among suggestions of {model}: {selector}",
            endpoint=Setting("endpoint"),
            examples=Setting("examples", Blank("DIR")),
            model=Setting("model", Blank("DIR")),
            selector=Setting("selector", Blank("NAME")),
        )
    screen = options.candidate_filter()
    found = Retriever.open(
        prompted.examples,
        candidate_filter=screen,
        jobs=options.jobs,
        endpoint=_endpoint(options, on_message, prompted.endpoint),
    )
    shorten = Message(
        "show the model fewer words with {words}, or fewer examples with {shots}",
        words=Setting("article_words"),
        shots=Setting("shots"),
    )
    total = None if articles is None else articles * options.k
    with (
        prompted.client(shorten=shorten, on_message=on_message) as client,
        _spread(found, options, on_message) as retriever,
    ):
        yield client, PromptedCommenter(retriever, prompt, lambda asked: ask(client, asked, total), screen)


@contextmanager
def _selecting(
    model: str, options: CommentOptions, prompted: PromptedCommentOptions, articles: int | None, on_message: OnMessage
) -> Iterator[tuple[Client, SelectingCommenter]]:
    labeled = [Setting(each) for each in ("precision", "coverage") if getattr(options, each) is not None]
    if labeled:
        raise uncalibrated(labeled)
    _check_decoding(options)
    others = [Setting(each.name) for each in changed_settings(prompted) if each.name in {"examples", "shots"}]
    if others:
        raise UsageError(
            "{given}: only for a language model that writes, not with {selector}",
            given=Listed(others, last=", "),
            selector=Setting("selector"),
        )
    if not (prompted.selector or "").strip():
        problem = "expected the endpoint's name of a language model"
        raise UsageError("{selector}: {problem}", selector=Setting("selector"), problem=problem)
    selector = Selector(
        model=prompted.selector or "",
        template=prompted.template(),
        article_words=prompted.article_words,
        max_tokens=prompted.max_tokens,
        temperature=options.temperature or 0.0,
        seed=options.seed,
        extra=prompted.extra(),
    )
    found = Retriever.open(
        model,
        candidate_filter=options.candidate_filter(),
        jobs=options.jobs,
        reranker=options.reranker,
        endpoint=_endpoint(options, on_message, prompted.endpoint),
    )
    _tell_order(found, on_message)
    shorten = Message("show the model fewer words with {words}", words=Setting("article_words"))
    with (
        prompted.client(shorten=shorten, on_message=on_message) as client,
        _spread(found, options, on_message) as retriever,
    ):
        yield client, SelectingCommenter(retriever, selector, lambda asked: ask(client, asked, articles))


def _check_decoding(options: CommentOptions, *others: str) -> None:
    """Refuse options that no language model takes: those of decoding but temperature and seed, and others."""
    own = (*DECODING, *others)
    given = [name for name in own if name not in {"temperature", "seed"} and getattr(options, name) is not None]
    if given:
        raise UsageError(
            "{given}: only for models that postil train made, not with {endpoint}",
            given=Listed([Setting(name) for name in given], last=", "),
            endpoint=Setting("endpoint"),
        )


def _tell_order(commenter: Retriever, on_message: OnMessage) -> None:
    """Say that a model is used without the reranker that it was trained with."""
    if commenter.reranker is None and commenter.model.config.get(SIGNATURE):
        on_message(
            Message(
                "without {reranker} the order is the ranker's: the model was trained with a sentence encoder",
                reranker=Setting("reranker", Blank("DIR")),
            )
        )


def _tell_untested(options: CommentOptions, prompted: PromptedCommentOptions, on_message: OnMessage) -> None:
    on_message(
        Message(
            "{selector}: choices of a language model are untested, no figures have been measured for them; look at "
            "them before you rely on them",
            selector=Setting("selector", prompted.selector),
        )
    )
    if options.k > DEPTH:
        on_message(f"at most {DEPTH} per article: the language model chooses among as many first suggestions")


def _tell_problems(commenter: SelectingCommenter, on_message: OnMessage) -> None:
    """Say how many articles have the usual order, as the language model's answer could not be used."""
    if not commenter.problems:
        return
    reasons = ", ".join(f"{reason} {count:,}" for reason, count in commenter.problems.most_common())
    on_message(
        Message(
            "{count} article keeps the usual order, without a choice of the language model: {reasons}",
            "{count:,} articles keep the usual order, without a choice of the language model: {reasons}",
            count=commenter.problems.total(),
            reasons=reasons,
        )
    )
