"""Stories and comments of Coral (Talk 5 and later), as mongoexport writes its collections `stories` and `comments`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from postil.corpus.importers.import_report import ImportReport
from postil.corpus.importers.threads import read_threads, text_at
from postil.documents.markup import HtmlText
from postil.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from postil.corpus.importers.threads import Threads
    from postil.data.parquet import Record
    from postil.data.row_files import FilePath
    from postil.data.rows import Article

__all__ = ["read_coral"]

SEEN: Final = ("NONE", "APPROVED")
"""Statuses of comments that readers see."""


def read_coral(
    paths: Sequence[FilePath], report: ImportReport | None = None, *, lang: str | None = None
) -> Iterator[Article]:
    r"""Read stories and comments of Coral.

    Stories have a title and an address, but no content. Reactions are upvotes, and the last revision of a comment is
    its text. Comments that are neither approved nor without a status are left out; people's ids are not read.

    Args:
        paths: The files, of stories, of comments or of both, in any order.
        report: Counts; what is broken is rejected, by default raised.
        lang: Language of the stories.

    Yields:
        The articles, in the order of the stories.

    Raises:
        InvalidInput: Something in a file is broken; says where.
        MissingExtra: lxml is not installed.
        PostilError: There is no room for the temporary file.

    >>> import pathlib, tempfile
    >>> story = '{"id": "s", "url": "https://site.org/rain", "metadata": {"title": "Rain"}}'
    >>> comment = '{"id": "c", "storyID": "s", "status": "NONE", "revisions": [{"body": "<div>Oh</div>"}]}'
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = (path := pathlib.Path(folder, "coral.json")).write_text(f"{story}\n{comment}")
    ...     [article] = read_coral([path])
    >>> article.title, article.comments[0].text
    ('Rain', 'Oh')
    """
    html = HtmlText()

    def add(row: Record, where: str, line: int, threads: Threads) -> None:
        name = text_at(row, "id", "_id")
        if name is None:
            raise InvalidInput("missing", field="id")
        article = text_at(row, "storyID")
        if article is None:
            threads.add_article(_story(row, name, html), where, line)
        elif row.get("status", SEEN[0]) not in SEEN or row.get("deletedAt"):
            threads.report.withheld += 1
        else:
            parent = text_at(row, "parentID")
            fields = _comment(row, name, parent, html)
            threads.add_comment(fields, where, line, name=name, above=parent, article=article)

    yield from read_threads(paths, report or ImportReport(), lang, add)


def _story(row: Record, name: str, html: HtmlText) -> Record:
    said = row.get("metadata")
    metadata: Record = said if isinstance(said, dict) else {}
    return {
        "id": name,
        "title": html.convert(text_at(metadata, "title") or ""),
        "category": text_at(metadata, "section"),
        "url": text_at(row, "url"),
        "date": _plain(metadata.get("publishedAt")) or _plain(row.get("createdAt")),
    }


def _comment(row: Record, name: str, parent: str | None, html: HtmlText) -> Record:
    revisions = row.get("revisions")
    last = revisions[-1] if isinstance(revisions, list) and revisions else None
    body = text_at(last, "body") if isinstance(last, dict) else None
    if body is None:
        raise InvalidInput("expected an array with the text of the comment", field="revisions[-1].body")
    counts = row.get("actionCounts")
    upvotes = _plain(counts.get("REACTION", 0)) if isinstance(counts, dict) else None
    return {
        "id": name,
        "text": html.convert(body, quotes=False),
        "upvotes": upvotes,
        "date": _plain(row.get("createdAt")),
        "parent": parent,
    }


def _plain(value: object) -> object:
    """A date or number that MongoDB wraps in an object: `{"$date": {"$numberLong": "1584772021000"}}`."""
    while isinstance(value, dict) and len(value) == 1 and next(iter(value)).startswith("$"):
        [value] = value.values()
    return int(value) if isinstance(value, str) and value.isdecimal() and len(value) < 20 else value
