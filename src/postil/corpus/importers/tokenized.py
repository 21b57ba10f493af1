"""Tokenized copies of the Tencent corpus, with bodies.

JSON Lines, one article per line: ``id``, ``title``, ``body`` and ``comment: [[text, …], …]``. All texts are words
separated by single spaces. The meaning of a comment's second element is documented nowhere, so the caller gives it. The
layout is inferred from code that reads such files (Graph-to-seq-comment-generation); it looks at the first element
alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, TypeAlias, get_args

from postil.corpus.importers.article_builder import ArticleBuilder
from postil.corpus.importers.fields import Fields
from postil.corpus.importers.import_report import ImportReport, json_lines
from postil.errors import UnknownName

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from postil.data.row_files import FilePath
    from postil.data.rows import Article

__all__ = ["TOKENIZED", "Second", "read_tokenized"]

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
    report = report or ImportReport()
    names = {"votes": {"upvotes": "1"}, "grade": {"grade": "1"}, "none": {}}[second]
    builder = ArticleBuilder(TOKENIZED.mapped(comment=names, lang=lang), report)
    for path in paths:
        yield from builder.articles(path, json_lines(path, report))
