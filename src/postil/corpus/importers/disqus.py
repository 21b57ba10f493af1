"""Exports of Disqus: threads, which are the articles, and posts, which are the comments, in one XML file."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from postil.corpus.importers.import_report import ImportReport
from postil.corpus.importers.threads import TABLES, Threads, database
from postil.documents.markup import HtmlText
from postil.documents.xml import elements
from postil.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from postil.data.row_files import FilePath
    from postil.data.rows import Article
    from postil.documents.xml import Element

__all__ = ["read_disqus"]

ID: Final = "dsq:id"


def read_disqus(
    paths: Sequence[FilePath], report: ImportReport | None = None, *, lang: str | None = None
) -> Iterator[Article]:
    """Read exports of Disqus.

    They hold titles and addresses of articles, but not their contents, and no votes. Posts that are deleted or spam are
    left out; names, addresses and IPs are not read.

    Args:
        paths: The files.
        report: Counts; what is broken is rejected, by default raised.
        lang: Language of the articles.

    Yields:
        The articles, in the order of the files.

    Raises:
        InvalidInput: Something in a file is broken; says where.
        MissingExtra: lxml is not installed.
        PostilError: There is no room for the temporary file.

    >>> import pathlib, tempfile
    >>> export = '''<disqus><thread dsq:id="1"><link>https://site.org/rain</link><title>Rain</title></thread>
    ... <post dsq:id="5"><message>&lt;p&gt;Oh&lt;/p&gt;</message>
    ... <thread dsq:id="1"/><parent dsq:id="4"/></post></disqus>'''
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = (path := pathlib.Path(folder, "disqus.xml")).write_text(export)
    ...     [article] = read_disqus([path])
    >>> article.title, article.comments[0].text, article.comments[0].parent
    ('Rain', 'Oh', '4')
    """
    report = report or ImportReport()
    html = HtmlText()
    with database(TABLES) as rows:
        threads = Threads(rows, report, lang)
        for path in paths:
            where = os.fspath(path)
            for element in elements(path, report, "disqus", {"thread", "post"}):
                try:
                    _add(element, where, threads, html)
                except InvalidInput as error:
                    if error.where:  # whoever takes what is broken has stopped
                        raise
                    report.refuse(InvalidInput(error.problem, where=where, line=element.line, field=error.field))
        yield from threads.articles()


def _add(element: Element, where: str, threads: Threads, html: HtmlText) -> None:
    name = element.attributes.get(ID, "")
    if not name:
        raise InvalidInput(f"expected the id of a {element.name}, got none", field=ID)
    hidden = "true" in {element.said("isDeleted"), element.said("isSpam")}
    if hidden:
        threads.report.unpublished += element.name == "thread"
        threads.report.withheld += element.name == "post"
    elif element.name == "thread":
        row = {
            "id": name,
            "title": html.convert(element.said("title")),
            "content": html.convert(element.said("message")) or None,
            "url": element.said("link") or None,
            "date": element.said("createdAt"),
        }
        threads.add_article(row, where, element.line)
    else:
        article, parent = _reference(element, "thread"), _reference(element, "parent")
        if article is None:
            raise InvalidInput("expected the id of the post's thread, got none", field=f"thread.{ID}")
        text = html.convert(element.said("message"), quotes=False)
        row = {"id": name, "text": text, "date": element.said("createdAt"), "parent": parent}
        threads.add_comment(row, where, element.line, name=name, above=parent, article=article)


def _reference(element: Element, name: str) -> str | None:
    child = element.first(name)
    return child.attributes.get(ID) or None if child else None
