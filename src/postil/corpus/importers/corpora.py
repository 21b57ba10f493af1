"""Corpora of automatic commenting as they are released: Tencent's, its tokenized copies, Yahoo's (DeepCom) and 163's.

Tencent's:

============================== ====================================================================================
``data.{train,dev,test}.json`` an object a line: ``{"channel": …, "comment": [["text", upvotes], …], "title": …,
                               "url": …}``; comments of the test set have a third element, the score that people
                               gave; its lines may have no url
contents                       not released. Files with them: JSON Lines ``{"url": …, "content": …}`` (or ``text``,
                               or ``body``), or lines of url, tab and content
============================== ====================================================================================

An article's id is its url, else file and line (``data.test:17``). Every file may be compressed with gzip.

Tokenized copies of it, with bodies: JSON Lines, one article per line: ``id``, ``title``, ``body`` and
``comment: [[text, …], …]``. All texts are words separated by single spaces. The meaning of a comment's second element
is documented nowhere, so the caller gives it. The layout is inferred from code that reads such files
(Graph-to-seq-comment-generation); it looks at the first element alone.

Yahoo (DeepCom) and 163: JSON Lines, one article per line: ``_id``, ``title``, the content as ``paras`` (a list of
paragraphs, Yahoo) or ``body`` (163), and ``cmts: [{"cmt": text}]``. The layout is inferred from code that reads such
files.
"""

from __future__ import annotations

import os
from functools import partial
from typing import TYPE_CHECKING, Annotated, Final, Literal, TypeAlias, get_args

from postil.corpus.importers.article_builder import Fields, read_articles
from postil.corpus.importers.import_report import ImportReport, Place, json_lines, json_object
from postil.corpus.importers.importer import (
    LINES,
    Importer,
    ImportOptions,
    LangOptions,
    Sign,
    articles_in,
    import_articles,
)
from postil.data.explain import shown
from postil.data.streams import BOM, FilePath, decoded, numbered_lines, opened
from postil.errors import InvalidInput, UnknownName
from postil.messages import Message, Setting
from postil.options import Flag, options

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from postil.data.parquet import Record
    from postil.data.progress import OnMessage
    from postil.data.rows import Article

__all__ = [
    "CONTENTS",
    "DEEPCOM",
    "IMPORTERS",
    "TENCENT",
    "TOKENIZED",
    "Second",
    "TencentOptions",
    "TokenizedOptions",
    "import_tencent",
    "import_tokenized",
    "range_seen",
    "read_contents",
    "read_deepcom",
    "read_tencent",
    "read_tokenized",
]

TENCENT: Final = Fields(
    {
        "id": ("id",),
        "title": ("title",),
        "content": ("content",),
        "category": ("channel",),
        "url": ("url",),
        "comments": ("comment",),
    },
    {"text": ("0",), "upvotes": ("1",), "grade": ("2",)},
    lang="zh",
)
"""The fields of the release; ``id`` and ``content`` are for copies that have them."""

CONTENTS: Final = ("content", "text", "body")
"""Field names of the content in a JSON line."""


def read_tencent(
    paths: Sequence[FilePath], report: ImportReport | None = None, *, contents: Sequence[FilePath] = ()
) -> Iterator[Article]:
    """Read articles of the release.

    Args:
        paths: Its files.
        report: Counts; what is broken is rejected, by default raised.
        contents: Files with the contents of the articles, by url. They are kept in memory until the end.

    Yields:
        The articles, in the order of the files.

    Raises:
        InvalidInput: Something in a file is broken; says where.

    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "data.test.json")
    ...     _ = path.write_text('{"channel": "nba", "comment": [["Well played", 9, 0.75]], "title": "Finals"}')
    ...     [article] = read_tencent([path])
    >>> article.id, article.category, article.comments[0].upvotes, article.comments[0].grade
    ('data.test:1', 'nba', 9, 0.75)
    """
    report = report or ImportReport()
    known = read_contents(contents, report)
    used: set[str] = set()
    yield from read_articles(paths, report, TENCENT, partial(_with_contents, known, used))
    report.unused = len(known) - len(used)


def _with_contents(
    contents: Mapping[str, str], used: set[str], path: FilePath, report: ImportReport
) -> Iterator[tuple[int, Record]]:
    for line, row in json_lines(path, report):
        url = row.get("url")
        if isinstance(url, str) and url in contents:
            used.add(url)
            if not row.get("content"):
                row["content"] = contents[url]
        yield line, row


def read_contents(paths: Sequence[FilePath], report: ImportReport | None = None) -> dict[str, str]:
    r"""Read the contents of articles.

    Args:
        paths: Files, TSV or JSON Lines; the first line of each says which.
        report: Counts; what is broken is rejected, by default raised.

    Returns:
        The contents by url; empty ones are not among them.

    Raises:
        InvalidInput: A line is broken, or a url has two different contents.

    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = (path := pathlib.Path(folder, "contents.tsv")).write_text("http://a/1\tRain tomorrow.\n")
    ...     read_contents([path])
    {'http://a/1': 'Rain tomorrow.'}
    """
    report = report or ImportReport()
    contents: dict[str, str] = {}
    places: dict[str, Place] = {}
    for path in paths:
        where = os.fspath(path)
        read: Callable[[bytes, int, str], tuple[str, str]] | None = None
        with opened(path) as stream:
            for number, raw in numbered_lines(stream, where, report.refuse):
                line = raw.removeprefix(BOM) if number == 1 else raw
                read = read or (_json_content if line.lstrip().startswith(b"{") else _tsv_content)
                try:
                    url, content = read(line, number, where)
                except InvalidInput as error:
                    report.refuse(InvalidInput(error.problem, where=where, line=number, field=error.field))
                    continue
                if content.strip() and contents.setdefault(url, content) != content:
                    there, before = places[url]
                    problem = f"{shown(url)} has another content in {there}:{before}; keep one of them"
                    report.refuse(InvalidInput(problem, where=where, line=number, field="url"))
                places.setdefault(url, (where, number))
    return contents


def _json_content(line: bytes, number: int, where: str) -> tuple[str, str]:
    row = json_object(line, where, number)
    field = next((name for name in CONTENTS if name in row), "")
    texts: list[str] = []
    for name in ("url", field):
        if name not in row:
            problem = f"missing; the line has: {', '.join(row) or 'no fields'}"
            raise InvalidInput(problem, field=name or " or ".join(CONTENTS))
        if not isinstance(text := row[name], str):
            raise InvalidInput(f"expected text, got {shown(text)}", field=name)
        texts.append(text)
    return texts[0], texts[1]


def _tsv_content(line: bytes, number: int, where: str) -> tuple[str, str]:
    url, tab, content = decoded(line, number, where).rstrip("\r\n").partition("\t")
    if not tab or not url.strip():
        raise InvalidInput("expected a url, a tab and a content")
    return url.strip(), content


def range_seen(low: float, high: float) -> str:
    """Describe the scale of the scores of a test set.

    Args:
        low: The lowest score.
        high: The highest score.

    >>> range_seen(0.0, 0.75)
    'from 0 to 0.75: on [0, 1], as the README of the release has them'
    """
    seen = f"from {low:g} to {high:g}: "
    if low == high == 1:
        return seen + "on [0, 1] or on 1 to 5, all are the same"
    if low >= 0 and high <= 1:
        return seen + "on [0, 1], as the README of the release has them"
    if low >= 1 and high <= 5:
        return seen + "on 1 to 5, as the paper has them"
    return Message(
        "{seen}neither on [0, 1] nor on 1 to 5; say the scale with {scale} when you score",
        seen=seen,
        scale=Setting("scale"),
    )


DEEPCOM: Final = Fields(
    {
        "id": ("_id", "id"),
        "title": ("title",),
        "content": ("paras", "body"),
        "category": ("category",),
        "lang": ("lang",),
        "url": ("url",),
        "comments": ("cmts",),
    },
    {"text": ("cmt",), "upvotes": ("upvotes",)},
)
"""The fields of both."""


def read_deepcom(
    paths: Sequence[FilePath], report: ImportReport | None = None, *, lang: str | None = None
) -> Iterator[Article]:
    r"""Read articles of Yahoo's or 163's shape.

    Args:
        paths: The files.
        report: Counts; what is broken is rejected, by default raised.
        lang: The language of the articles.

    Yields:
        The articles, in the order of the files.

    Raises:
        InvalidInput: Something in a file is broken; says where.

    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "yahoo.json")
    ...     _ = path.write_text('{"_id": "y1", "title": "Rain", "paras": ["Rain.", "Snow."], "cmts": [{"cmt": "Oh"}]}')
    ...     [article] = read_deepcom([path])
    >>> article.content, article.comments[0].text
    ('Rain.\nSnow.', 'Oh')
    """
    yield from read_articles(paths, report, DEEPCOM.mapped(lang=lang), json_lines)


Second: TypeAlias = Literal["none", "votes", "grade"]
"""Meaning of the second element of a comment."""

TOKENIZED: Final = Fields(
    {
        "id": ("id", "_id"),
        "title": ("title",),
        "content": ("body", "content"),
        "category": ("category", "channel"),
        "url": ("url",),
        "comments": ("comment", "comments"),
    },
    {"text": ("0",)},
    lang="zh",
)
"""The fields of such a copy."""


def read_tokenized(
    paths: Sequence[FilePath], report: ImportReport | None = None, *, second: Second = "none", lang: str | None = None
) -> Iterator[Article]:
    """Read articles whose texts are words separated by spaces; they stay so.

    Args:
        paths: The files.
        report: Counts; what is broken is rejected, by default raised.
        second: Meaning of the second element of a comment.
        lang: The language, if it is not Chinese.

    Yields:
        The articles, in the order of the files.

    Raises:
        UnknownName: ``second`` is none of the three.
        InvalidInput: Something in a file is broken; says where.

    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "data.train.json")
    ...     _ = path.write_text('{"id": 7, "title": "明天 有 雨", "body": "带 伞", "comment": [["好 的", 3]]}')
    ...     [article] = read_tokenized([path], second="votes")
    >>> article.title, article.comments[0].upvotes
    ('明天 有 雨', 3)
    """
    UnknownName.check("meaning of the second element", second, get_args(Second))
    names = {"votes": {"upvotes": "1"}, "grade": {"grade": "1"}, "none": {}}[second]
    yield from read_articles(paths, report, TOKENIZED.mapped(comment=names, lang=lang), json_lines)


@options
class TencentOptions(ImportOptions):
    """Options of `postil corpus import tencent`.

    Args:
        contents: Contents by url: JSON Lines with url and content, or lines of url, tab, content; repeatable.
    """

    contents: Annotated[tuple[str, ...], Flag(metavar="FILE")] = ()


@options
class TokenizedOptions(LangOptions):
    """Options of `postil corpus import tokenized`.

    Args:
        second: Meaning of the second element of a comment: votes, grade or none (not read).
    """

    second: Annotated[Second, Flag(metavar="MEANING")] = "none"
    lang: Annotated[str | None, Flag(metavar="TAG")] = "zh"


def import_tencent(files: Sequence[FilePath], out: str, options: TencentOptions, on_message: OnMessage) -> None:
    """Import the Tencent comment corpus.

    Args:
        files: The files of the release.
        out: The output file.
        options: Contents by url, error policy.
        on_message: Callback for status messages.

    Raises:
        UsageError: The request makes no sense, or would write over an input.
        InvalidInput: A file is broken, or there are no articles; nothing is written.
        PostilError: The operating system reports an error.
    """
    read = partial(read_tencent, files, contents=options.contents)

    def scores(report: ImportReport) -> str | None:
        return Message("human scores {range}", range=range_seen(report.low, report.high)) if report.graded else None

    import_articles(read, [*files, *options.contents], out, options, on_message, note=scores)


SPACED: Final = Message(
    "the texts are words separated by spaces; the tokenizer for them: {tokenizer}",
    tokenizer=Setting("tokenizer", "space"),
)


def import_tokenized(files: Sequence[FilePath], out: str, options: TokenizedOptions, on_message: OnMessage) -> None:
    """Import tokenized copies of the Tencent corpus; arguments and errors as of `import_tencent`."""
    read = partial(read_tokenized, files, second=options.second, lang=options.lang)
    import_articles(read, files, out, options, on_message, note=lambda _: SPACED)


def _is_tencent(row: Mapping[str, object]) -> bool:
    return isinstance(row.get("comment"), list) and "title" in row


IMPORTERS: Final = (
    Importer(
        "tencent",
        """The Tencent comment corpus, as released.

        Its files are data.train.json, data.dev.json and data.test.json; contents come by url from files of yours.

        Example: postil corpus import tencent data.test.json --contents contents.jsonl --out test.jsonl
        """,
        TencentOptions,
        import_tencent,
        LINES,
        sign=Sign(test=lambda row: _is_tencent(row) and "body" not in row),
        job="Published corpora",
    ),
    Importer(
        "tokenized",
        """Tokenized copies of the Tencent corpus, with bodies.

        All texts are words separated by spaces, and stay so.

        Example: postil corpus import tokenized data.train.json --second votes --out train.jsonl
        """,
        TokenizedOptions,
        import_tokenized,
        LINES,
        sign=Sign(test=lambda row: _is_tencent(row) and "body" in row),
        job="Published corpora",
    ),
    Importer(
        "deepcom",
        """The Yahoo (DeepCom) and 163 corpora.

        Their lines have _id, title, paras or body, and cmts.

        Example: postil corpus import deepcom yahoo.json --lang en --out yahoo.jsonl
        """,
        LangOptions,
        articles_in(read_deepcom),
        LINES,
        sign=Sign(fields=(frozenset(("cmts",)),)),
        job="Published corpora",
    ),
)
