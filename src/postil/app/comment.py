"""`postil comment` and `postil rank-comments`: articles in, suggestions or ranked threads out."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Annotated, Final

from postil.app.options import InputOptions, ThreadOptions
from postil.app.progress import progress
from postil.commenters.decoding_options import DecodingOptions
from postil.commenters.filtering import Blocklist, CandidateFilter
from postil.commenters.loading import load_commenter
from postil.commenters.missing_input import MissingInput
from postil.commenters.retrieval import Retriever, rank_thread
from postil.options import Flag, options
from postil.records.results import RankedCommentsResult
from postil.records.row_files import read
from postil.records.rows import Article

if TYPE_CHECKING:
    from collections.abc import Iterator

    from postil.app.progress import OnMessage
    from postil.records.row_files import Rows
    from postil.records.suggestions import RankedComment, Suggestions

__all__ = ["CommentOptions", "comment_articles", "rank_articles"]

BATCH: Final = 64
"""Number of articles that are commented on together."""

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
class CommentOptions(ThreadOptions):
    """Options of `postil comment`.

    Args:
        k: Maximum number of suggestions per article.
        min_words: Filter out comments of fewer words.
        max_words: Filter out comments of more words.
        blocklist: Filter out comments with any of these words or phrases, one per line.
        allow_addresses: Accept comments with web and e-mail addresses or handles.
        strategy: Decoding of a generator: beam (default), greedy or nucleus sampling.
        beam_size: Number of hypotheses per beam, with beam (default 5).
        length_penalty: Length penalty exponent of a generator: a text's score is its log-probability divided by its
            number of tokens to this power (default 1: the mean per token; 0 favors short texts).
        no_repeat_ngram_size: No n-gram of this size occurs twice in a generated text (default 3); 0 allows repetition.
        top_p: Top-p threshold, with nucleus (default 0.9).
        temperature: Sampling temperature, with nucleus; lower is more deterministic (default 1).
        seed: Seed of nucleus sampling.
    """

    k: Annotated[int, Flag(("-k",), min=1, metavar="K")] = 5
    min_words: Annotated[int, Flag(min=0)] = 3
    max_words: Annotated[int | None, Flag(min=1)] = None
    blocklist: Annotated[str | None, Flag(metavar="FILE")] = None
    allow_addresses: bool = False
    strategy: Annotated[str | None, Flag(("--decoding",), metavar="NAME")] = None
    beam_size: Annotated[int | None, Flag(min=1)] = None
    length_penalty: Annotated[float | None, Flag(min=0)] = None
    no_repeat_ngram_size: Annotated[int | None, Flag(("--no-repeat-ngrams",), min=0)] = None
    top_p: float | None = None
    temperature: float | None = None
    seed: Annotated[int | None, Flag(min=0)] = None

    def __post_init__(self) -> None:
        self.decoding()  # which checks the values

    def candidate_filter(self) -> CandidateFilter:
        """The filter of suggestions."""
        return CandidateFilter(
            min_words=self.min_words,
            max_words=self.max_words,
            allow_addresses=self.allow_addresses,
            blocklist=Blocklist.read(self.blocklist) if self.blocklist else None,
        )

    def decoding(self) -> DecodingOptions | None:
        """The decoding options; None where none is given, as for a retriever."""
        given = {name: value for name in _DECODING if (value := getattr(self, name)) is not None}
        return DecodingOptions(**given) if given else None


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
    commenter = load_commenter(
        folder, candidate_filter=options.candidate_filter(), decoding=options.decoding(), jobs=options.jobs
    )
    rows, missing = _open(articles, inputs, on_message), MissingInput(commenter)
    with progress("articles", _checked(rows)) as stream:
        while batch := list(islice(stream, BATCH)):
            for article, found in zip(batch, commenter.comment(batch, options.k), strict=True):
                missing.has_input(article, known=bool(found.suggestions or found.filtered))
                yield found
    missing.tell(rows.places.where, "no suggestions for", on_message)


def rank_articles(
    articles: str,
    folder: str,
    options: ThreadOptions,
    *,
    inputs: InputOptions | None = None,
    on_message: OnMessage = lambda _: None,
) -> RankedCommentsResult:
    """Rank the comments of each article by relevance.

    Args:
        articles: A file of article rows with comments; ``-`` for standard input.
        folder: The model.
        options: Number of threads.
        inputs: Options of reading the file.
        on_message: Callback for status messages.

    Returns:
        The comments, article by article, most relevant first; those of articles without input are left out.

    Raises:
        InvalidInput: The file or the model is invalid, or no article has input.
    """
    retriever = Retriever.open(folder, jobs=options.jobs)
    rows, missing = _open(articles, inputs, on_message), MissingInput(retriever)
    ranked: list[RankedComment] = []
    with progress("articles", _checked(rows, comments=True)) as stream:
        while batch := list(islice(stream, BATCH)):
            for article, scores in zip(batch, retriever.rank(batch), strict=True):
                if missing.has_input(article):
                    ranked += rank_thread(article, scores)
    missing.tell(rows.places.where, "no ranks in", on_message)
    return RankedCommentsResult(comments=tuple(ranked))


def _open(articles: str, inputs: InputOptions | None, on_message: OnMessage) -> Rows[Article]:
    given = (inputs or InputOptions()).readings({"articles": Article}, on_message)
    return read(articles, Article, given["articles"])


def _checked(rows: Rows[Article], *, comments: bool = False) -> Iterator[Article]:
    """Articles with distinct ids, and on request with distinct ids of their comments."""
    seen: set[str] = set()
    for index, article in enumerate(rows):
        if article.id in seen:
            raise rows.places.error(index, "id", f"expected an id that no other article has, got '{article.id}' again")
        seen.add(article.id)
        if comments and len({comment.id for comment in article.comments}) < len(article.comments):
            raise rows.places.error(index, "comments", "expected an id for each comment, got one twice")
        yield article
