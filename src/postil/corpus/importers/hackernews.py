"""Stories and comments of Hacker News: items of its API and of BigQuery, and those of Algolia, also as trees."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from postil.corpus.importers.import_report import ImportReport
from postil.corpus.importers.reddit import without_quotes
from postil.corpus.importers.threads import read_threads, text_at
from postil.data.explain import shown
from postil.documents.markup import HtmlText
from postil.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from postil.corpus.importers.threads import Threads
    from postil.data.parquet import Record
    from postil.data.row_files import FilePath
    from postil.data.rows import Article

__all__ = ["read_hackernews"]

SITE: Final = "https://news.ycombinator.com/item?id="
ARTICLES: Final = ("story", "job", "poll")


def read_hackernews(
    paths: Sequence[FilePath], report: ImportReport | None = None, *, lang: str | None = None
) -> Iterator[Article]:
    r"""Read stories and comments of Hacker News.

    A comment belongs to the story that its answers lead up to. Comments have no votes. Items that are deleted or dead
    are left out, as are lines that quote (`>`) and items that are null; names are not read.

    Args:
        paths: The files, with an item per line or an array of items, in any order.
        report: Counts; what is broken is rejected, by default raised.
        lang: Language of the stories.

    Yields:
        The articles, in the order of the stories.

    Raises:
        InvalidInput: Something in a file is broken; says where.
        MissingExtra: lxml is not installed.
        PostilError: There is no room for the temporary file.

    >>> import pathlib, tempfile
    >>> items = ['{"id": 3, "type": "comment", "parent": 2, "text": "Yes"}', '{"id": 2, "type": "comment", "parent": 1,'
    ...     '"text": "Oh<p>no"}', '{"id": 1, "type": "story", "title": "Rain"}']
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = (path := pathlib.Path(folder, "items.jsonl")).write_text("\n".join(items))
    ...     [story] = read_hackernews([path])
    >>> [(comment.text, comment.parent) for comment in story.comments]
    [('Yes', '2'), ('Oh\nno', None)]
    """
    html = HtmlText()

    def add(item: Record, where: str, line: int, threads: Threads) -> None:
        waiting = [item]
        while waiting:
            one = waiting.pop()
            try:
                _add(one, where, line, threads, html)
            except InvalidInput as error:
                if error.where:  # whoever takes what is broken has stopped
                    raise
                threads.report.refuse(InvalidInput(error.problem, where=where, line=line, field=error.field))
            children = one.get("children")
            if isinstance(children, list):  # Algolia's lists of hits have numbers there
                waiting += [child for child in reversed(children) if isinstance(child, dict)]

    yield from read_threads(paths, report or ImportReport(), lang, add)


def _add(item: Record, where: str, line: int, threads: Threads, html: HtmlText) -> None:
    name = text_at(item, "id", "objectID")
    if name is None:
        raise InvalidInput("missing", field="id or objectID")
    hidden = bool(item.get("deleted") or item.get("dead"))
    above, kind = text_at(item, "parent", "parent_id"), text_at(item, "type")
    date = text_at(item, "created_at_i", "time", "created_at")
    if kind is None:
        kind = "story" if above is None else "comment"
    if kind in ARTICLES:
        if hidden:
            threads.report.unpublished += 1
            return
        row = {
            "id": name,
            "title": html.convert(text_at(item, "title") or ""),
            "content": html.convert(text_at(item, "text", "story_text") or "") or None,
            "category": None if kind == "story" else kind,
            "url": text_at(item, "url") or f"{SITE}{name}",
            "date": date,
        }
        threads.add_article(row, where, line)
    elif kind != "comment":
        threads.report.unpublished += 1
    elif above is None:
        raise InvalidInput(f"missing in comment {shown(name)}; what does it answer?", field="parent")
    else:
        threads.report.withheld += hidden
        article = text_at(item, "story_id")
        text = without_quotes(html.convert(text_at(item, "text", "comment_text") or "", quotes=False))
        fields = {"id": name, "text": text, "upvotes": item.get("points"), "date": date}
        fields["parent"] = None if above == article else above
        threads.add_comment(None if hidden else fields, where, line, name=name, above=above, article=article)
