"""The journeys of `postil comment` and `postil rank-comments`: articles in, suggestions or ranked threads out."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from postil.app.progress import progress
from postil.commenters import neural_commenter
from postil.commenters.decoding_options import DecodingOptions
from postil.commenters.filtering import Blocklist, CandidateFilter
from postil.commenters.neural_commenter import NeuralCommenter
from postil.commenters.retrieval import KINDS, Retriever
from postil.commenters.store import Model
from postil.errors import InvalidInput, UsageError
from postil.records.arguments import check_arguments
from postil.records.ranking import best_first
from postil.records.row_files import read
from postil.records.rows import Article
from postil.records.suggestions import RankedComment

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from postil.app.progress import Say
    from postil.corpus.store import Corpus
    from postil.records.row_files import FilePath, Rows
    from postil.records.suggestions import Suggestions

__all__ = ["CommentOptions", "RankedComment", "check_tokenizer", "comment_files", "load_commenter", "rank_files"]

AT_ONCE: Final = 64
NAMED: Final = 5
"""Articles that a note names at most."""


@dataclass(frozen=True, kw_only=True)
class CommentOptions:
    """How comments are suggested.

    Args:
        k: How many an article, at most.
        min_words: How many words a suggestion has at least.
        max_words: How many at most; None for any number.
        blocklist: A file of words and phrases that no suggestion may hold.
        allow_addresses: Whether suggestions may hold addresses and handles.
        decoding: How a model that writes does so, by name; see `DecodingOptions`.
        jobs: Threads; the suggestions do not depend on it.
    """

    k: int = 5
    min_words: int = 3
    max_words: int | None = None
    blocklist: str | None = None
    allow_addresses: bool = False
    decoding: Mapping[str, Any] = field(default_factory=dict)
    jobs: int = 1

    def candidate_filter(self) -> CandidateFilter:
        """What may be suggested."""
        block = Blocklist.read(self.blocklist) if self.blocklist else None
        return CandidateFilter(
            min_words=self.min_words, max_words=self.max_words, allow_addresses=self.allow_addresses, blocklist=block
        )


def load_commenter(
    folder: FilePath,
    *,
    candidate_filter: CandidateFilter | None = None,
    decoding: DecodingOptions | None = None,
    jobs: int = 1,
) -> Retriever | NeuralCommenter:
    """Open a commenter that `postil train` made.

    Args:
        folder: Its folder.
        candidate_filter: What may be suggested.
        decoding: How a model that writes does so.
        jobs: Threads.

    Raises:
        InvalidInput: There is no such model, or it is damaged.
        UsageError: It does not write, and ``decoding`` says how to.
        MissingExtra: It needs torch, which is not installed.
    """
    check_arguments(load_commenter, locals())
    kind = Model.open(folder, (*KINDS, *neural_commenter.KINDS)).kind
    if kind in neural_commenter.KINDS:
        return NeuralCommenter.open(folder, candidate_filter=candidate_filter, decoding=decoding)
    if decoding is not None:
        raise UsageError(f"{folder}: {kind} finds comments and writes none; {_named(decoding)} is for models that do")
    return Retriever.open(folder, candidate_filter=candidate_filter, jobs=jobs)


def check_tokenizer(model: Model, corpus: Corpus, called: str = "") -> None:
    """See that a model was made for texts that are cut as the corpus's are.

    Args:
        model: The model.
        corpus: The corpus.
        called: What the message begins with.

    Raises:
        InvalidInput: It was not.
    """
    if (theirs := model.config.get("tokenizer", corpus.tokenizer)) != corpus.tokenizer:
        problem = f"{called}its tokenizer is {theirs}, that of {corpus.path} {corpus.tokenizer}"
        raise InvalidInput(f"{problem}; train it on a corpus cut the same way", where=str(model.path))


def _named(decoding: DecodingOptions) -> str:
    """The options that are not the usual ones."""
    usual = asdict(DecodingOptions())
    return ", ".join(name for name, value in asdict(decoding).items() if value != usual[name]) or "decoding"


def comment_files(
    articles: str, folder: str, options: CommentOptions, *, say: Say = lambda _: None
) -> Iterator[Suggestions]:
    """Suggest comments for the articles of a file.

    Args:
        articles: A file of article rows; ``-`` for standard input.
        folder: The model.
        options: How.
        say: Takes a note on articles of which the model reads nothing.

    Yields:
        The suggestions for each article, in order; none for an article without a word in what the model reads.

    Raises:
        InvalidInput: Something in the file or the model is wrong, or no article has a word in what the model reads;
            says where.
    """
    decoding = DecodingOptions(**options.decoding) if options.decoding else None
    commenter = load_commenter(
        folder, candidate_filter=options.candidate_filter(), decoding=decoding, jobs=options.jobs
    )
    found = read(articles, Article)
    silent = _Wordless(commenter)
    with progress("articles", _once(found)) as rows:
        while batch := list(islice(rows, AT_ONCE)):
            for article, row in zip(batch, commenter.comment(batch, options.k), strict=True):
                silent.look(article, sure=bool(row.suggestions or row.filtered))
                yield row
    silent.tell(found.places.where, "no suggestions for", say)


class _Wordless:
    """The articles without a word in what a model reads.

    Args:
        commenter: The model.
    """

    def __init__(self, commenter: Retriever | NeuralCommenter) -> None:
        self.commenter, self.articles, self.ids = commenter, 0, list[str]()

    def look(self, article: Article, *, sure: bool = False) -> bool:
        """Count an article.

        Args:
            article: The article.
            sure: Whether it is known to have a word.

        Returns:
            True if it has one.
        """
        self.articles += 1
        if sure or self.commenter.has_input(article):
            return True
        self.ids.append(article.id)
        return False

    def tell(self, where: str, without: str, say: Say) -> None:
        """Say which they are.

        Args:
            where: The file.
            without: What is missing for them.
            say: Takes the note.

        Raises:
            InvalidInput: They are all articles of the file.
        """
        if not self.ids:
            return
        kind, parts = self.commenter.model.kind, " or ".join(self.commenter.parts)
        other = "" if "content" in self.commenter.parts else "; a model that reads contents, such as ir-tc, may help"
        problem = f"has a word in its {parts}, and {kind} reads nothing else{other}"
        if len(self.ids) == self.articles:
            raise InvalidInput(f"no article {problem}", where=where)
        named = ", ".join(self.ids[:NAMED]) + (f" and {len(self.ids) - NAMED:,} more" if len(self.ids) > NAMED else "")
        say(f"{where}: {without} {len(self.ids):,} of {self.articles:,} articles ({named}): none of them {problem}")


def _once(rows: Rows[Article]) -> Iterator[Article]:
    """The articles; of one id there is one."""
    seen: set[str] = set()
    for place, article in enumerate(rows):
        if article.id in seen:
            raise rows.places.error(place, "id", f"expected an id that no other article has, got '{article.id}' again")
        seen.add(article.id)
        yield article


def rank_files(articles: str, folder: str, *, jobs: int = 1, say: Say = lambda _: None) -> Iterator[RankedComment]:
    """Sort the comments of each article by how relevant they are.

    Args:
        articles: A file of article rows with comments; ``-`` for standard input.
        folder: The model.
        jobs: Threads.
        say: Takes a note on articles of which the model reads nothing.

    Yields:
        The comments, article after article, the most relevant first; none of an article without a word in what the
        model reads, to which no comment can be relevant.

    Raises:
        InvalidInput: Something in the file or the model is wrong, or no article has a word in what the model reads;
            says where.
    """
    retriever = Retriever.open(folder, jobs=jobs)
    found = read(articles, Article)
    silent = _Wordless(retriever)
    done = 0
    with progress("articles", _once(found)) as rows:
        while batch := list(islice(rows, AT_ONCE)):
            for place, (article, scores) in enumerate(zip(batch, retriever.rank(batch), strict=True)):
                if not silent.look(article):
                    continue
                names = [comment.id for comment in article.comments]
                if len(set(names)) < len(names):
                    raise found.places.error(done + place, "comments", "expected an id for each comment, got one twice")
                for rank, position in enumerate(best_first(scores, keys=names).tolist(), 1):
                    comment = article.comments[position]
                    yield RankedComment(article.id, comment.id, rank, float(scores[position]), comment.text)
            done += len(batch)
    silent.tell(found.places.where, "no ranks in", say)
