"""The corpora of automatic commenting beside Tencent's: Yahoo (DeepCom) and 163.

JSON Lines, one article per line: ``_id``, ``title``, the content as ``paras`` (a list of paragraphs, Yahoo) or ``body``
(163), and ``cmts: [{"cmt": text}]``. The layout is inferred from code that reads such files.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from postil.corpus.importers.article_builder import ArticleBuilder
from postil.corpus.importers.fields import Fields
from postil.corpus.importers.import_report import ImportReport, json_lines

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from postil.data.row_files import FilePath
    from postil.data.rows import Article

__all__ = ["DEEPCOM", "read_deepcom"]

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
    report = report or ImportReport()
    builder = ArticleBuilder(DEEPCOM.mapped(lang=lang), report)
    for path in paths:
        yield from builder.articles(path, json_lines(path, report))
