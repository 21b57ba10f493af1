"""Copies of the Tencent corpus that went round with bodies, already cut into words.

JSON Lines, one article a line: ``id``, ``title``, ``body`` and ``comment: [[text, …], …]``. All texts are words apart
by single spaces. What the second element of a comment means is written nowhere, so the caller says it. The layout is
inferred from code that reads such files (Graph-to-seq-comment-generation); it looks at the first element alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, TypeAlias, get_args

from postil.corpus.formats.article_builder import Maker
from postil.corpus.formats.fields import Fields
from postil.corpus.formats.import_report import Met, json_lines
from postil.errors import UnknownName

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from postil.records.row_files import FilePath
    from postil.records.rows import Article

__all__ = ["TOKENISED", "Second", "read_tokenised"]

Second: TypeAlias = Literal["none", "votes", "grade"]
"""What the second element of a comment is."""

TOKENISED: Final = Fields(
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


def read_tokenised(
    paths: Sequence[FilePath], met: Met | None = None, *, second: Second = "none", lang: str | None = None
) -> Iterator[Article]:
    """Read articles whose texts are words apart by spaces; they stay so.

    Args:
        paths: The files.
        met: Takes counts, and what is broken; by default that is raised.
        second: What the second element of a comment is.
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
    ...     [article] = read_tokenised([path], second="votes")
    >>> article.title, article.comments[0].upvotes
    ('明天 有 雨', 3)
    """
    if second not in get_args(Second):
        raise UnknownName("meaning of the second element", second, get_args(Second))
    met = met or Met()
    names = {"votes": {"upvotes": "1"}, "grade": {"grade": "1"}, "none": {}}[second]
    maker = Maker(TOKENISED.mapped(comment=names, lang=lang), met)
    for path in paths:
        yield from maker.articles(path, json_lines(path, met))
