"""Topics of Discourse, as `/t/ID.json` gives them: the first post is the article, the others are the comments."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from postil.corpus.importers.article_builder import ArticleBuilder
from postil.corpus.importers.forum import EXPORTED
from postil.corpus.importers.import_report import ImportReport
from postil.corpus.importers.json_documents import json_objects
from postil.corpus.importers.threads import text_at
from postil.data.explain import shown
from postil.documents.markup import HtmlText
from postil.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from postil.data.parquet import Record
    from postil.data.row_files import FilePath
    from postil.data.rows import Article

__all__ = ["read_discourse"]

LIKE: Final = 2
"""Number of the action `like` in the summary of a post's actions."""
REGULAR: Final = 1
"""Type of the posts that people wrote; others are notes of moderators and of the system, and whispers."""


def read_discourse(
    paths: Sequence[FilePath], report: ImportReport | None = None, *, lang: str | None = None
) -> Iterator[Article]:
    """Read topics of Discourse.

    Likes are upvotes. Posts that are deleted or hidden, notes of moderators and whispers are left out; names are not
    read. Posts that a topic names and does not hold, since a page of it has 20, are counted.

    Args:
        paths: The files: a topic each, an array of topics, or a topic per line.
        report: Counts; what is broken is rejected, by default raised.
        lang: Language of the topics.

    Yields:
        The articles, in the order of the files.

    Raises:
        InvalidInput: Something in a file is broken; says where.
        MissingExtra: lxml is not installed.

    >>> import pathlib, tempfile
    >>> posts = '{"id": 1, "post_number": 1, "cooked": "<p>It will.</p>"}, {"id": 2, "post_number": 2, "cooked": "Oh"}'
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "7.json")
    ...     _ = path.write_text(f'{{"id": 7, "title": "Rain", "post_stream": {{"posts": [{posts}]}}}}')
    ...     [article] = read_discourse([path])
    >>> article.content, article.comments[0].text
    ('It will.', 'Oh')
    """
    report = report or ImportReport()
    builder = ArticleBuilder(EXPORTED.mapped(lang=lang), report)
    html = HtmlText()
    for path in paths:
        where = os.fspath(path)
        for line, topic in json_objects(path, report):
            try:
                row = _row(topic, html, report)
            except InvalidInput as error:
                report.refuse(InvalidInput(error.problem, where=where, line=line, field=error.field))
                continue
            article = builder.article(row, where, line)
            if article is not None:
                yield article


def _row(topic: Record, html: HtmlText, report: ImportReport) -> Record:
    stream = topic.get("post_stream")
    posts = stream.get("posts") if isinstance(stream, dict) else None
    if not isinstance(stream, dict) or not isinstance(posts, list) or not all(isinstance(post, dict) for post in posts):
        raise InvalidInput("expected a topic with an array of posts", field="post_stream.posts")
    named = stream.get("stream")
    held = {post.get("id") for post in posts if _is_id(post.get("id"))}
    report.absent += sum(_is_id(name) and name not in held for name in named) if isinstance(named, list) else 0
    ids = {post.get("post_number"): text_at(post, "id") for post in posts if _is_id(post.get("post_number"))}
    first = next((post for post in posts if post.get("post_number") == 1), None)
    answers = [post for post in posts if post is not first and _is_seen(post)]
    report.withheld += len(posts) - len(answers) - (first is not None)
    name = text_at(topic, "id")
    return {
        "id": name,
        "title": html.convert(text_at(topic, "title") or ""),
        "content": html.convert(text_at(first, "cooked", "raw") or "") or None if first and _is_seen(first) else None,
        "category": text_at(topic, "category_id"),
        "date": text_at(topic, "created_at"),
        "comments": [_comment(post, ids, html) for post in answers],
    }


def _comment(post: Record, ids: dict[object, str | None], html: HtmlText) -> Record:
    answered = post.get("reply_to_post_number")
    text = text_at(post, "cooked", "raw")
    if text is None:
        raise InvalidInput(f"missing in post {shown(post.get('id'))}", field="cooked")
    return {
        "id": text_at(post, "id"),
        "text": html.convert(text, quotes=False),
        "upvotes": _likes(post.get("actions_summary")),
        "date": text_at(post, "created_at"),
        "parent": ids.get(answered) if _is_id(answered) and answered != 1 else None,
    }


def _is_seen(post: Record) -> bool:
    unseen = post.get("hidden") or post.get("deleted_at") or post.get("user_deleted")
    return not unseen and post.get("post_type", REGULAR) == REGULAR


def _likes(actions: object) -> object:
    """Likes of a post; a summary leaves out what nobody did."""
    if not isinstance(actions, list):
        return None
    likes = (each.get("count") for each in actions if isinstance(each, dict) and each.get("id") == LIKE)
    return next(likes, None) or 0


def _is_id(value: object) -> bool:
    return isinstance(value, str | int)
