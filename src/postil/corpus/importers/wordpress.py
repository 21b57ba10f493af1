"""Exports of WordPress: WXR, which is RSS with posts as items and their comments inside."""

from __future__ import annotations

import os
import re
from functools import partial
from typing import TYPE_CHECKING, Final

from postil.corpus.importers.article_builder import ArticleBuilder
from postil.corpus.importers.forum import EXPORTED
from postil.corpus.importers.import_report import ImportReport
from postil.documents.markup import HtmlText
from postil.documents.xml import elements
from postil.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from postil.data.parquet import Record
    from postil.data.row_files import FilePath
    from postil.data.rows import Article
    from postil.documents.xml import Element

__all__ = ["read_wordpress", "without_shortcodes"]

NO_DATE: Final = "0000-00-00 00:00:00"
MEDIA: Final = re.compile(r"(?<!\[)\[(embed|audio|video)\b[^\[\]]*\][^\[\]]{0,2000}\[/\1\]")
"""Shortcodes around an address, which is no text."""
SHORTCODE: Final = re.compile(r"""(?<!\[)\[(/?)([a-zA-Z][\w-]*)((?:[\s=][^\[\]]*)?)\](?![\](])""")
MARKED: Final = re.compile(r"""=["']|\bid=\d+|/\s*$""")
"""Marks of the attributes of a shortcode: quotes, a number as ``id``, or a slash at the end."""
KNOWN: Final = frozenset(("audio", "caption", "embed", "gallery", "playlist", "video", "wp_caption"))
"""Shortcodes of WordPress itself."""


def read_wordpress(
    paths: Sequence[FilePath], report: ImportReport | None = None, *, lang: str | None = None
) -> Iterator[Article]:
    """Read exports of WordPress.

    Posts that are published are articles, and so are pages and others with comments. Comments that wait, are spam or in
    the trash, and pingbacks are left out; names, addresses and IPs are not read.

    Args:
        paths: The files.
        report: Counts; what is broken is rejected, by default raised.
        lang: Language of the articles; by default that of the site.

    Yields:
        The articles, in the order of the files.

    Raises:
        InvalidInput: Something in a file is broken; says where.
        MissingExtra: lxml is not installed.

    >>> import pathlib, tempfile
    >>> export = '''<rss><channel><language>en-US</language><item><title>Rain</title><wp:post_id>7</wp:post_id>
    ... <wp:comment><wp:comment_id>1</wp:comment_id><wp:comment_content>Oh &amp;lt;3</wp:comment_content>
    ... <wp:comment_approved>1</wp:comment_approved></wp:comment></item></channel></rss>'''
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = (path := pathlib.Path(folder, "site.xml")).write_text(export)
    ...     [article] = read_wordpress([path])
    >>> article.id, article.lang, article.comments[0].text
    ('7', 'en-US', 'Oh <3')
    """
    report = report or ImportReport()
    builder = ArticleBuilder(EXPORTED, report)
    html = HtmlText()
    for path in paths:
        where, site_lang = os.fspath(path), lang
        for element in elements(path, report, "rss", {"item", "language"}):
            if element.name == "language":
                site_lang = lang or element.text.strip() or None
                continue
            comments = [one for one in element.all("wp:comment") if _approved(one)]
            report.withheld += sum(1 for _ in element.all("wp:comment")) - len(comments)
            if not _published(element, comments):
                report.unpublished += 1
                continue
            try:
                row = _row(element, comments, html, site_lang)
            except InvalidInput as error:
                report.refuse(InvalidInput(error.problem, where=where, line=element.line, field=error.field))
                continue
            article = builder.article(row, where, element.line)
            if article is not None:
                yield article


def without_shortcodes(html: str) -> str:
    """The content of a post without its shortcodes; what a shortcode such as `caption` encloses stays.

    A shortcode is one of WordPress, has an attribute in quotes or a number as `id`, ends with a slash, or is closed.
    Other words in brackets are text.

    Args:
        html: The content.

    >>> without_shortcodes('[caption id="a" width="9"]<img src="a.jpg"> A duck[/caption] Oh [sic]![gallery ids="1,2"]')
    '<img src="a.jpg"> A duck Oh [sic]!'
    >>> without_shortcodes("Ducks [table id=4 /] and [poll id=7] geese [and so on / etc.]")
    'Ducks  and  geese [and so on / etc.]'
    """
    if "[" not in html:
        return html
    html = MEDIA.sub("", html)
    closed = {name for slash, name, _ in SHORTCODE.findall(html) if slash}

    def text(found: re.Match[str]) -> str:
        slash, name, attributes = found.groups()
        known = slash or name in KNOWN or name in closed or MARKED.search(attributes) is not None
        return "" if known else found.group()

    return SHORTCODE.sub(text, html)


def _approved(comment: Element) -> bool:
    return comment.said("wp:comment_approved") == "1" and comment.said("wp:comment_type") in {"", "comment"}


def _published(item: Element, comments: Sequence[Element]) -> bool:
    return (
        item.said("wp:status") in {"", "publish"}
        and not item.said("wp:post_password")
        and (item.said("wp:post_type") in {"", "post"} or bool(comments))
    )


def _row(item: Element, comments: Sequence[Element], html: HtmlText, lang: str | None) -> Record:
    categories = (each.text.strip() for each in item.all("category") if each.attributes.get("domain") == "category")
    return {
        "id": item.said("wp:post_id") or None,
        "title": html.convert(item.said("title")),
        "content": html.convert(without_shortcodes(item.said("content:encoded")), lines=True) or None,
        "category": next(categories, None),
        "lang": lang,
        "url": item.said("link") or None,
        "date": _date(item.said("wp:post_date_gmt")),
        "comments": list(map(partial(_comment, html), comments)),
    }


def _comment(html: HtmlText, comment: Element) -> Record:
    parent = comment.said("wp:comment_parent")
    return {
        "id": comment.said("wp:comment_id") or None,
        "text": html.convert(comment.said("wp:comment_content"), quotes=False, lines=True),
        "date": _date(comment.said("wp:comment_date_gmt")),
        "parent": None if parent == "0" else parent or None,
    }


def _date(text: str) -> str | None:
    return None if text == NO_DATE else text
