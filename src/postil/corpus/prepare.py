"""The first pass of a build: a block of rows becomes a table of the articles that stay, with their words numbered.

A prepared table is an Arrow file with a row an article:

- the fields of `postil.records.rows.Article`; each of its comments has its ``tokens`` beside its text,
- ``title_tokens`` and ``content_tokens``; numbers are places in the block's own list of words,
- ``line``, where the article stands; ``key``, which puts articles in a seeded order; ``sketch``, for near duplicates;
  ``test``, which conditions of the test set it meets,

and, in the schema's metadata, the block's ``words`` and ``report``.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import msgspec
import numpy as np

from postil.corpus.privacy import hashed, masking
from postil.corpus.rejected import Rejected
from postil.corpus.sketch import PLACES, sketches, word_hashes
from postil.corpus.split import draw_key
from postil.errors import InvalidInput
from postil.records.jsonl import FAILURES, reread
from postil.records.parquet import arrow
from postil.records.rows import Article
from postil.text.han import SHARE
from postil.text.tokenizers import is_han_text, tokenizer
from postil.text.tokens import Vocabulary

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from postil.corpus.blocks import Block
    from postil.corpus.options import BuildOptions
    from postil.records.rows import Comment
    from postil.text.tokens import Tokens

__all__ = [
    "ENOUGH_COMMENTS",
    "ENOUGH_UPVOTES",
    "Prepare",
    "Report",
    "check_han",
    "open_prepared",
    "report_in",
    "words_in",
]

ENOUGH_COMMENTS: Final = 1
ENOUGH_UPVOTES: Final = 2
_MANY: Final = 1_000
_HAN: Final = re.compile("[\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
_CONTROLS: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_MAY_BE_CONTROLS: Final = (rb"\u00", rb"\b", rb"\f", b"\x7f")
"""How control characters are written in JSON."""


class Report(msgspec.Struct):
    """What was met in a block.

    Args:
        seen: Numbers of articles and comments, by what became of them.
        rejected: Rows that could not be read.
        texts: Number of texts that were read.
        han: Number of those in Han characters that were cut at spaces and punctuation.
    """

    seen: dict[str, int]
    rejected: list[Rejected]
    texts: int = 0
    han: int = 0


@dataclass(frozen=True)
class Prepare:
    """Prepares blocks; it can be sent to another process.

    Args:
        options: What the corpus is built by.
    """

    options: BuildOptions

    def __call__(self, block: Block) -> bytes:
        """Prepare a block.

        Args:
            block: The block.

        Returns:
            The prepared table, as an Arrow file.

        Raises:
            InvalidInput: A row is wrong and the options do not say to leave such rows out.
            MissingExtra: pyarrow or the tokenizer is not installed.
        """
        met = _Met()
        articles = list(self._articles(block, met))
        tokens = self._encode(block, articles, met)
        if _is_given(block):
            options = replace(self.options, content_words=0, long_comments="keep")
            chosen = _choose(articles, tokens, options, met)
        else:
            chosen = _choose(articles, tokens, self.options, met)
        return _written(articles, tokens, chosen, self.options, met)

    @cached_property
    def _mask(self) -> Callable[[str], str]:
        return masking(self.options.mask)

    def _articles(self, block: Block, met: _Met) -> Iterator[_Read]:
        """The articles of a block that have comments enough, cleaned."""
        least = 1 if _is_given(block) else self.options.comments
        decode = msgspec.json.Decoder(Article).decode
        plain = not self.options.mask and not any(mark in block.data for mark in _MAY_BE_CONTROLS)
        text = str.strip if plain else self._text
        for line, data in enumerate(block.data.split(b"\n"), block.first):
            try:
                try:
                    row = decode(data)
                except FAILURES as error:
                    again = reread(data, line, Article, block.where, error)
                    if again is None:
                        continue
                    row = again
                _check_ids(row, line, block.where)
            except InvalidInput as error:
                if not self.options.skip_bad:
                    raise
                met.rejected.append(Rejected.of(error))
                continue
            read = self._clean(row, line, text)
            met.seen["comments without text"] += len(row.comments) - len(read.comments)
            met.seen["comments: held out before"] += len(row.held_out or ())
            if len(read.comments) >= least:
                yield read
            else:
                met.leave_out("fewer comments" if read.comments else "no comments", read)

    @staticmethod
    def _clean(row: Article, line: int, text: Callable[[str], str]) -> _Read:
        texts = [text(comment.text) for comment in row.comments]
        some = [number for number, said in enumerate(texts) if said]
        content = None if row.content is None else text(row.content) or None
        return _Read(row, line, text(row.title), content, [row.comments[i] for i in some], [texts[i] for i in some])

    def _text(self, text: str) -> str:
        if _CONTROLS.search(text) is not None:
            text = _CONTROLS.sub(" ", text)
        return self._mask(text.strip())

    def _encode(self, block: Block, articles: Sequence[_Read], met: _Met) -> Tokens:
        """Number the words of all titles, then all contents, then all comments."""
        texts = [article.title for article in articles]
        texts += [article.content or "" for article in articles]
        for article in articles:
            texts += article.texts
        tokens = Vocabulary().encode(texts, tokenizer(self.options.tokenizer), allow_han=True)
        met.texts = len(texts)
        if self.options.tokenizer == "words" and _HAN.search("".join(tokens.vocabulary.words())) is not None:
            met.han = sum(_HAN.search(text) is not None and is_han_text(text) for text in texts)
            check_han(met.han, max(len(texts), _MANY), block.where)  # soon, where a block says enough
        return tokens


def _check_ids(row: Article, line: int, where: str) -> None:
    ids = [comment.id for comment in row.comments]
    if len(set(ids)) < len(ids):
        twice = next(number for number, name in enumerate(ids) if name in ids[:number])
        problem = f"expected an id that no other comment of the article has, got '{ids[twice]}' again"
        raise InvalidInput(problem, where=where, line=line, field=f"comments[{twice}].id")


def check_han(han: int, texts: int, where: str) -> None:
    """See that a tokenizer that cuts at spaces has not met a corpus of Chinese.

    Args:
        han: How many texts it cannot cut well.
        texts: Of how many.
        where: Their file.

    Raises:
        InvalidInput: More than a tenth.
    """
    if han > SHARE * texts:
        problem = f"{han:,} of {texts:,} texts are in Han characters; expected --tokenizer jieba or rjieba"
        raise InvalidInput(problem, where=where)


def open_prepared(data: Any) -> Any:
    """Open a prepared table.

    Args:
        data: The Arrow file, as bytes or as a buffer of pyarrow.

    Returns:
        The pyarrow table.
    """
    return arrow().ipc.open_file(data).read_all()


def words_in(table: Any) -> list[str]:
    """The words of the block that a table was prepared from.

    Args:
        table: The table.
    """
    words: str = table.schema.metadata[b"words"].decode("utf-8", "surrogatepass")
    return words.split("\n") if words else []


def report_in(table: Any) -> Report:
    """What was met in the block that a table was prepared from.

    Args:
        table: The table.
    """
    return msgspec.json.decode(table.schema.metadata[b"report"], type=Report)


@dataclass(slots=True)
class _Read:
    """An article as it was read, and its cleaned texts."""

    row: Article
    line: int
    title: str
    content: str | None
    comments: list[Comment]
    texts: list[str]


@dataclass
class _Met:
    seen: Counter[str] = field(default_factory=Counter)
    rejected: list[Rejected] = field(default_factory=list)
    texts: int = 0
    han: int = 0

    def leave_out(self, why: str, article: _Read) -> None:
        self.seen[f"articles: {why}"] += 1
        self.seen["comments of articles left out"] += len(article.comments)


@dataclass(frozen=True, eq=False, slots=True)
class _Chosen:
    """What meets the thresholds.

    Args:
        articles: Their places among the articles that were read, rising.
        comments: Their places among all comments of the articles that were read, rising.
        starts: Where the comments of each article begin among those chosen, int32[articles + 1].
    """

    articles: NDArray[np.int64]
    comments: NDArray[np.int64]
    starts: NDArray[np.int32]


def _is_given(block: Block) -> bool:
    """Whether the block is of a dev or test set that was chosen before: it stays as it is, if it has comments."""
    return block.split in {"dev", "test"}


def _choose(articles: Sequence[_Read], tokens: Tokens, options: BuildOptions, met: _Met) -> _Chosen:
    count = len(articles)
    owner = np.repeat(np.arange(count), [len(article.texts) for article in articles])
    fit = np.ones(len(owner), dtype=bool)
    if options.long_comments == "drop":
        fit = tokens.lengths[2 * count :] <= options.comment_words
    some = np.bincount(owner[fit], minlength=count) > 0
    enough = tokens.lengths[count : 2 * count] >= options.content_words
    for place in (~(some & enough)).nonzero()[0].tolist():
        short = "no content" if articles[place].content is None else "content too short"
        met.leave_out("only long comments" if enough[place] else short, articles[place])
    chosen = some & enough
    met.seen["comments: too long"] += int((chosen[owner] & ~fit).sum())
    comments = (fit & chosen[owner]).nonzero()[0]
    sizes = np.bincount(owner[comments], minlength=count)[chosen]
    return _Chosen(chosen.nonzero()[0], comments, np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32))


def _written(articles: Sequence[_Read], tokens: Tokens, chosen: _Chosen, options: BuildOptions, met: _Met) -> bytes:
    """The prepared table as an Arrow file."""
    pa = arrow()
    read = [articles[place] for place in chosen.articles.tolist()]
    rows = [article.row for article in read]
    table = pa.table(
        {
            "id": pa.array([row.id for row in rows], pa.string()),
            "title": pa.array([article.title for article in read], pa.string()),
            "comments": _comment_column(articles, tokens, chosen, options, pa),
            "content": pa.array([article.content for article in read], pa.string()),
            "category": pa.array([row.category for row in rows], pa.string()),
            "lang": pa.array([row.lang for row in rows], pa.string()),
            "url": pa.array([row.url for row in rows], pa.string()),
            "title_tokens": _token_lists(tokens, chosen.articles, pa),
            "content_tokens": _token_lists(tokens, len(articles) + chosen.articles, pa),
            "line": pa.array([article.line for article in read], pa.int64()),
            "key": pa.array([draw_key(options.seed, row.id) for row in rows], pa.uint64()),
            "sketch": _sketch_column(tokens, chosen.articles, len(articles), pa),
            "test": pa.array(_conditions(articles, tokens, chosen, options), pa.uint8()),
        }
    )
    report = Report(
        {what: number for what, number in sorted(met.seen.items()) if number}, met.rejected, met.texts, met.han
    )
    metadata = {
        "words": "\n".join(tokens.vocabulary.words()).encode("utf-8", "surrogatepass"),
        "report": msgspec.json.encode(report),
    }
    table = table.replace_schema_metadata(metadata)
    out = pa.BufferOutputStream()
    with pa.ipc.new_file(out, table.schema) as file:
        file.write_table(table)
    return out.getvalue().to_pybytes()  # type: ignore[no-any-return]  # pyarrow has no types


def _comment_column(articles: Sequence[_Read], tokens: Tokens, chosen: _Chosen, options: BuildOptions, pa: Any) -> Any:
    every = [comment for article in articles for comment in article.comments]
    texts = [text for article in articles for text in article.texts]
    comments = [every[place] for place in chosen.comments.tolist()]
    at_most = options.comment_words if options.long_comments == "cut" else None
    columns = {
        "id": pa.array([comment.id for comment in comments], pa.string()),
        "text": pa.array([texts[place] for place in chosen.comments.tolist()], pa.string()),
        "upvotes": pa.array([comment.upvotes for comment in comments], pa.int64()),
        "grade": pa.array([comment.grade for comment in comments], pa.float64()),
        "ratings": _rating_column(comments, options, pa),
        "user": pa.array([_person(comment.user, options) for comment in comments], pa.string()),
        "tokens": _token_lists(tokens, 2 * len(articles) + chosen.comments, pa, at_most),
    }
    return pa.ListArray.from_arrays(
        pa.array(chosen.starts), pa.StructArray.from_arrays(list(columns.values()), list(columns))
    )


def _rating_column(comments: Sequence[Comment], options: BuildOptions, pa: Any) -> Any:
    ratings = [rating for comment in comments for rating in comment.ratings]
    sizes = [len(comment.ratings) for comment in comments]
    starts = np.concatenate([[0], np.cumsum(sizes, dtype=np.int32)]).astype(np.int32)
    people: list[str | None] = [_person(rating.annotator, options) for rating in ratings]
    if options.users == "drop":  # a rating is somebody's; without names it is the first, the second … of its comment
        people = [str(number) for size in sizes for number in range(1, size + 1)]
    columns = {
        "annotator": pa.array(people, pa.string()),
        "grade": pa.array([rating.grade for rating in ratings], pa.float64()),
    }
    return pa.ListArray.from_arrays(pa.array(starts), pa.StructArray.from_arrays(list(columns.values()), list(columns)))


def _person(name: str | None, options: BuildOptions) -> str | None:
    if name is None or options.users == "drop":
        return None
    return hashed(name, options.salt) if options.users == "hash" else name


def _gathered(
    tokens: Tokens, places: NDArray[np.int64], at_most: int | None = None
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """The ids and offsets of some texts, in order."""
    lengths = tokens.lengths[places]
    if at_most is not None:
        lengths = np.minimum(lengths, at_most)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    within = np.arange(offsets[-1]) - np.repeat(offsets[:-1], lengths)
    return tokens.ids[np.repeat(tokens.offsets[places], lengths) + within], offsets


def _token_lists(tokens: Tokens, places: NDArray[np.int64], pa: Any, at_most: int | None = None) -> Any:
    ids, offsets = _gathered(tokens, places, at_most)
    return pa.ListArray.from_arrays(pa.array(offsets.astype(np.int32)), pa.array(ids))


def _sketch_column(tokens: Tokens, places: NDArray[np.int64], count: int, pa: Any) -> Any:
    """Sketches of titles and contents."""
    both = np.stack([places, count + places], axis=1).ravel()
    ids, offsets = _gathered(tokens, both)
    hashes = word_hashes(tokens.vocabulary.words())
    found = sketches(hashes[ids] if len(hashes) else np.zeros(0, dtype=np.uint64), offsets[::2])
    kind = pa.binary(PLACES * 4)
    return pa.FixedSizeBinaryArray.from_buffers(kind, len(found), [None, pa.py_buffer(found.astype("<u4").tobytes())])


def _conditions(articles: Sequence[_Read], tokens: Tokens, chosen: _Chosen, options: BuildOptions) -> NDArray[np.uint8]:
    """Which conditions of the test set each article meets."""
    long = tokens.lengths[2 * len(articles) + chosen.comments] >= options.test_words
    every = [comment.upvotes or 0 for article in articles for comment in article.comments]
    votes = np.array(every, dtype=np.float64)[chosen.comments]
    owners = np.repeat(np.arange(len(chosen.articles)), np.diff(chosen.starts))
    comments, upvotes = (np.bincount(owners, values, len(chosen.articles)) for values in (long, votes))
    enough = (upvotes >= options.test_upvotes) | (options.test_upvotes == 0)
    met = np.where(comments >= options.test_comments, ENOUGH_COMMENTS, 0) | np.where(enough, ENOUGH_UPVOTES, 0)
    return met.astype(np.uint8)
