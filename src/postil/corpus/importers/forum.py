"""Articles or posts as JSON, with comments inside and fields under names of their own.

Without a map the names are those of postil's article rows, and a comment's votes may be called ``votes`` too::

    {"id": …, "title": …, "content": …, "category": …, "lang": …, "url": …, "date": …,
     "comments": [{"id": …, "text": …, "votes": …, "grade": …, "user": …, "date": …, "parent": …, "replies": […]}, …]}
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from postil.corpus.importers.article_builder import ArticleBuilder
from postil.corpus.importers.fields import FIELDS, FIELDS_OF_COMMENTS, Fields
from postil.corpus.importers.import_report import ImportReport
from postil.corpus.importers.json_documents import json_objects

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from postil.data.row_files import FilePath
    from postil.data.rows import Article

__all__ = ["EXPORTED", "FORUM", "read_forum"]

FORUM: Final = Fields(
    {name: (name,) for name in FIELDS},
    {**{name: (name,) for name in FIELDS_OF_COMMENTS}, "upvotes": ("upvotes", "votes")},
)
"""The fields without a map."""

EXPORTED: Final = replace(FORUM, fixed=True)
"""The same, for readers that make objects with these names."""


def read_forum(
    paths: Sequence[FilePath],
    report: ImportReport | None = None,
    *,
    fields: Mapping[str, str] | None = None,
    comment_fields: Mapping[str, str] | None = None,
    lang: str | None = None,
) -> Iterator[Article]:
    """Read articles as JSON Lines, or as a JSON array of them.

    Args:
        paths: The files.
        report: Counts; what is broken is rejected, by default raised.
        fields: The names of `FIELDS` (of `Fields`) that differ; empty if there is no such field.
        comment_fields: The same for comments; in arrays the positions are called ``0``, ``1``, ….
        lang: Language of articles without one.

    Yields:
        The articles, in the order of the files.

    Raises:
        UnknownName: A map names a field that there is not.
        InvalidInput: Something in a file is broken; says where.

    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "posts.jsonl")
    ...     _ = path.write_text('{"id": 1, "title": "Rain", "body": "Tomorrow.", "comments": [["Oh", "ann"]]}')
    ...     [post] = read_forum([path], fields={"content": "body"}, comment_fields={"text": "0", "user": "1"})
    >>> post.content, post.comments[0].text, post.comments[0].user
    ('Tomorrow.', 'Oh', 'ann')
    """
    report = report or ImportReport()
    builder = ArticleBuilder(FORUM.mapped(fields, comment_fields, lang), report)
    for path in paths:
        yield from builder.articles(path, json_objects(path, report))
