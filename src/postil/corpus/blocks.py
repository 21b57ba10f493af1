"""Input files as blocks of whole rows, the units of parallel work, and the table that a build makes of each block."""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import msgspec
import numpy as np

from postil.corpus.duplicates import BINS, minhash_signatures, word_hashes
from postil.corpus.options import TRUNCATE_TRAIN, BuildOptions
from postil.corpus.privacy import HashKey, hash_user
from postil.corpus.result import Rejected  # noqa: TC001 - msgspec looks it up
from postil.data import parquet
from postil.data.fields import draw_key, plain_id
from postil.data.parquet import Arrow, arrow
from postil.data.row_files import PLAIN, format_of, open_bytes, read
from postil.data.rows import Article, Comment
from postil.data.streams import DAMAGE, FilePath, damaged, whole_lines
from postil.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from postil.data.reading import Reading
    from postil.text.tokens import Tokens

__all__ = [
    "BLOCK_BYTES",
    "TABLES",
    "Block",
    "Read",
    "Report",
    "Selection",
    "annotator_id",
    "blocks",
    "open_block_table",
    "report_in",
    "words_in",
    "write_block_table",
]

BLOCK_BYTES: Final = 8 << 20
"""Approximate size of a block in bytes of JSON. The files of a corpus depend on it, the articles in them do not."""
PARQUET_ROWS: Final = 1024


@dataclass(frozen=True, slots=True)
class Block:
    """Some rows of a file, as JSON Lines.

    Args:
        where: The file.
        first: The line of the first row, counted from 1.
        data: The lines.
        split: The split that the rows of this file belong to, if the file says so: ``train``, ``dev`` or ``test``.
    """

    where: str
    first: int
    data: bytes
    split: str | None = None


def blocks(
    path: FilePath, split: str | None = None, size: int = BLOCK_BYTES, reading: Reading = PLAIN
) -> Iterator[Block]:
    r"""Read a file in blocks, in bounded memory.

    In Parquet, NaN stands for a value that is missing, as other tools write it.

    Args:
        path: A table of article rows, or ``-`` for standard input.
        split: The split that its rows belong to, if that is known.
        size: Approximate number of bytes per block; a longer line makes a longer block.
        reading: Options of reading the file. JSON Lines and Parquet with columns by their own names are passed on as
            they are; the rows of other tables are read here.

    Yields:
        The blocks, in order.

    Raises:
        InvalidInput: The file is missing or damaged, or a line is too long to be one.
        UsageError: The file is of an unknown kind.

    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = (path := pathlib.Path(folder, "a.jsonl")).write_text('{"id": 1}\n{"id": 2}\n{"id": 3}')
    ...     [(block.first, block.data) for block in blocks(path, size=12)]
    [(1, b'{"id": 1}\n'), (2, b'{"id": 2}\n'), (3, b'{"id": 3}\n')]
    """
    where = "stdin" if os.fspath(path) == "-" else os.fspath(path)
    first, form = 1, format_of(path, reading)
    if reading.columns or form not in {"jsonl", "parquet"}:
        pieces = _of_rows(read(path, Article, reading), size)
    elif form == "parquet":
        pieces = _of_rows(parquet.read_objects(where, PARQUET_ROWS), size)
    else:
        pieces = _of_lines(path, where, size)
    for data in pieces:
        yield Block(where, first, data, split)
        first += data.count(b"\n")


def _of_lines(path: FilePath, where: str, size: int) -> Iterator[bytes]:
    done = 0
    with open_bytes(path) as stream:
        try:
            for data in whole_lines(stream.read, where, size):
                yield data if data.endswith(b"\n") else data + b"\n"
                done += max(1, data.count(b"\n"))
        except DAMAGE as error:
            raise damaged(error, where, done) from error
    if not done:
        raise InvalidInput("the file holds no rows", where=where)


def _of_rows(rows: Iterable[object], size: int) -> Iterator[bytes]:
    lines = bytearray()
    encode = msgspec.json.Encoder(enc_hook=str).encode_into  # str: the timestamps of pandas
    for row in rows:
        encode(row, lines, -1)
        lines += b"\n"
        if len(lines) >= size:
            yield bytes(lines)
            lines.clear()
    if lines:
        yield bytes(lines)


TABLES: Final = 6
"""Version of block tables, which an interrupted build resumes from."""
_UNNAMED: Final = HashKey(b"postil")
"""Key of the names of annotators while a build that drops them runs, so that no name is in its files."""


class Report(msgspec.Struct):
    """Counts of a block, or of several.

    Args:
        seen: Number of excluded or changed texts and comments, by reason.
        rejected: Rows that could not be read.
        texts: Number of texts that were read.
        spaceless: Number of those that were split at spaces although their script has none between words, by script.
        composed: Number of those that are not in the Unicode form NFC, in which they were split.
        rated: Number of comments whose ratings are those of another file.
        left_out: Number of excluded articles, by reason.
    """

    seen: Counter[str] = msgspec.field(default_factory=Counter)
    rejected: list[Rejected] = []
    texts: int = 0
    spaceless: Counter[str] = msgspec.field(default_factory=Counter)
    composed: int = 0
    rated: int = 0
    left_out: Counter[str] = msgspec.field(default_factory=Counter)

    def leave_out(self, why: str, article: Read) -> None:
        """Count an article that is excluded, and its comments."""
        self.left_out[why] += 1
        self.seen["comments of articles left out"] += len(article.comments)

    def add(self, block: Report) -> None:
        """Add the counts of a block."""
        self.seen += block.seen
        self.left_out.update(dict(sorted(block.left_out.items())))
        self.spaceless.update(block.spaceless)
        self.rejected += block.rejected
        self.texts += block.texts
        self.composed += block.composed
        self.rated += block.rated


@dataclass(slots=True)
class Read:
    """An article as it was read, and its cleaned texts.

    Args:
        row: The article.
        line: Its line.
        title: Its title.
        content: Its content; None without.
        comments: Its comments that have a text.
        texts: Their texts.
    """

    row: Article
    line: int
    title: str
    content: str | None
    comments: list[Comment]
    texts: list[str]


@dataclass(frozen=True, eq=False, slots=True)
class Selection:
    """Articles and comments that meet the thresholds.

    Args:
        articles: int64, indices into the articles that were read, ascending.
        comments: int64, indices into all comments of the articles that were read, ascending.
        starts: int32[articles + 1], offsets of the comments of each selected article.
    """

    articles: NDArray[np.int64]
    comments: NDArray[np.int64]
    starts: NDArray[np.int32]

    @property
    def owners(self) -> NDArray[np.int64]:
        """Index of the article of each comment, among the selected articles."""
        return np.repeat(np.arange(len(self.articles)), np.diff(self.starts))


def write_block_table(
    articles: Sequence[Read], tokens: Tokens, chosen: Selection, options: BuildOptions, report: Report
) -> bytes:
    """Serialize the table of a block as an Arrow file.

    Args:
        articles: The articles that were read.
        tokens: Tokens of all their titles, then all contents, then all comments.
        chosen: Those that meet the thresholds.
        options: Options of the build.
        report: Counts of the block.
    """
    pa = arrow()
    read = [articles[place] for place in chosen.articles.tolist()]
    rows = [article.row for article in read]
    lengths = tokens.lengths[2 * len(articles) + chosen.comments]
    long = (lengths > options.max_comment_words) & (options.long_comments == TRUNCATE_TRAIN)
    table = pa.table(
        {
            "id": pa.array([row.id for row in rows], pa.string()),
            "title": pa.array([article.title for article in read], pa.string()),
            "comments": _comment_column(articles, tokens, chosen, long, options),
            "content": pa.array([article.content for article in read], pa.string()),
            "category": pa.array([row.category for row in rows], pa.string()),
            "lang": pa.array([row.lang for row in rows], pa.string()),
            "url": pa.array([row.url for row in rows], pa.string()),
            "date": pa.array([row.date for row in rows], pa.string()),
            "title_tokens": _token_lists(tokens, chosen.articles, pa),
            "content_tokens": _token_lists(tokens, len(articles) + chosen.articles, pa),
            "long": pa.array(np.bincount(chosen.owners[long], minlength=len(read)), pa.int64()),
            "line": pa.array([article.line for article in read], pa.int64()),
            "key": pa.array([draw_key(options.seed, row.id) for row in rows], pa.uint64()),
            "signature": _signature_column(tokens, chosen.articles, len(articles), pa),
            "with_text": pa.array([len(article.texts) for article in read], pa.int64()),
            "too_long": pa.array([len(article.texts) for article in read] - np.diff(chosen.starts), pa.int64()),
            "words": pa.array(tokens.lengths[len(articles) + chosen.articles], pa.int64()),
            **_of_test(articles, lengths, long, chosen, options),
            "dated": pa.array([_dated(article) for article in read], pa.bool_()),
        }
    )
    metadata = {
        "words": "\n".join(tokens.vocabulary.words()).encode("utf-8", "surrogatepass"),
        "report": msgspec.json.encode(report, enc_hook=plain_id),
    }
    table = table.replace_schema_metadata(metadata)
    out = pa.BufferOutputStream()
    with pa.ipc.new_file(out, table.schema) as file:
        file.write_table(table)
    return out.getvalue().to_pybytes()  # type: ignore[no-any-return]  # pyarrow has no types


def open_block_table(data: Arrow) -> Arrow:
    """Open the table of a block.

    Args:
        data: The Arrow file, as bytes or as a buffer of pyarrow.

    Returns:
        The pyarrow table.
    """
    return arrow().ipc.open_file(data).read_all()


def words_in(table: Arrow) -> list[str]:
    """Read the words of a block, by block-local token id.

    Args:
        table: The table.
    """
    words: str = table.schema.metadata[b"words"].decode("utf-8", "surrogatepass")
    return words.split("\n") if words else []


def report_in(table: Arrow) -> Report:
    """Read the counts of a block.

    Args:
        table: The table.
    """
    return msgspec.json.decode(
        table.schema.metadata[b"report"], type=Report, dec_hook=lambda kind, counts: kind(counts)
    )


def _comment_column(
    articles: Sequence[Read],
    tokens: Tokens,
    chosen: Selection,
    long: NDArray[np.bool_],
    options: BuildOptions,
) -> Arrow:
    pa = arrow()
    every = [comment for article in articles for comment in article.comments]
    texts = [text for article in articles for text in article.texts]
    comments = [every[place] for place in chosen.comments.tolist()]
    at_most = options.max_comment_words if options.long_comments in {"truncate", TRUNCATE_TRAIN} else None
    columns = {
        "id": pa.array([comment.id for comment in comments], pa.string()),
        "text": pa.array([texts[place] for place in chosen.comments.tolist()], pa.string()),
        "upvotes": pa.array([comment.upvotes for comment in comments], pa.int64()),
        "grade": pa.array([comment.grade for comment in comments], pa.float64()),
        "ratings": _rating_column(comments, options, pa),
        "user": pa.array([_person(comment.user, options) for comment in comments], pa.string()),
        "date": pa.array([comment.date for comment in comments], pa.string()),
        "parent": pa.array([comment.parent for comment in comments], pa.string()),
        "tokens": _token_lists(tokens, 2 * len(articles) + chosen.comments, pa, at_most),
        "long": pa.array(long),
    }
    return pa.ListArray.from_arrays(
        pa.array(chosen.starts), pa.StructArray.from_arrays(list(columns.values()), list(columns))
    )


def _rating_column(comments: Sequence[Comment], options: BuildOptions, pa: Arrow) -> Arrow:
    ratings = [rating for comment in comments for rating in comment.ratings]
    sizes = [len(comment.ratings) for comment in comments]
    starts = np.concatenate([[0], np.cumsum(sizes, dtype=np.int32)]).astype(np.int32)
    columns = {
        "annotator": pa.array([annotator_id(rating.annotator, options) for rating in ratings], pa.string()),
        "grade": pa.array([rating.grade for rating in ratings], pa.float64()),
    }
    return pa.ListArray.from_arrays(pa.array(starts), pa.StructArray.from_arrays(list(columns.values()), list(columns)))


def _person(name: str | None, options: BuildOptions) -> str | None:
    if name is None or options.user_ids == "drop":
        return None
    return name if options.hash_key is None else hash_user(name, options.hash_key)


def annotator_id(name: str, options: BuildOptions) -> str:
    """Name of an annotator in block tables.

    Args:
        name: Their name.
        options: Options of the build.
    """
    return hash_user(name, _UNNAMED) if options.user_ids == "drop" else _person(name, options) or name


def _gathered(
    tokens: Tokens, places: NDArray[np.int64], at_most: int | None = None
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Token ids and offsets of some texts, truncated to `at_most` tokens each."""
    lengths = tokens.lengths[places]
    if at_most is not None:
        lengths = np.minimum(lengths, at_most)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    within = np.arange(offsets[-1]) - np.repeat(offsets[:-1], lengths)
    return tokens.ids[np.repeat(tokens.offsets[places], lengths) + within], offsets


def _token_lists(tokens: Tokens, places: NDArray[np.int64], pa: Arrow, at_most: int | None = None) -> Arrow:
    ids, offsets = _gathered(tokens, places, at_most)
    return pa.ListArray.from_arrays(pa.array(offsets.astype(np.int32)), pa.array(ids))


def _signature_column(tokens: Tokens, places: NDArray[np.int64], count: int, pa: Arrow) -> Arrow:
    """MinHash signatures of titles and contents."""
    both = np.stack([places, count + places], axis=1).ravel()
    ids, offsets = _gathered(tokens, both)
    hashes = word_hashes(tokens.vocabulary.words())
    found = minhash_signatures(hashes[ids] if len(hashes) else np.zeros(0, dtype=np.uint64), offsets[::2])
    kind = pa.binary(BINS * 4)
    return pa.FixedSizeBinaryArray.from_buffers(kind, len(found), [None, pa.py_buffer(found.astype("<u4").tobytes())])


def _of_test(
    articles: Sequence[Read],
    lengths: NDArray[np.int64],
    dropped: NDArray[np.bool_],
    chosen: Selection,
    options: BuildOptions,
) -> dict[str, Arrow]:
    """The columns that the conditions of the test set compare, without the comments that a test set drops."""
    pa = arrow()
    every = [comment.upvotes or 0 for article in articles for comment in article.comments]
    votes = np.where(dropped, 0, np.array(every, dtype=np.float64)[chosen.comments])
    said = ~dropped & (lengths >= options.test_min_words)
    count = len(chosen.articles)
    return {
        "left": pa.array(np.bincount(chosen.owners[~dropped], minlength=count), pa.int64()),
        "said": pa.array(np.bincount(chosen.owners[said], minlength=count), pa.int64()),
        "upvotes": pa.array(np.bincount(chosen.owners, votes, count), pa.float64()),
    }


def _dated(article: Read) -> bool:
    return bool(article.row.date) or any(comment.date or comment.parent for comment in article.comments)
