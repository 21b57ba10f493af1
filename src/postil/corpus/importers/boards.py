"""Boards of links and their discussions: Reddit and Hacker News.

Reddit: submissions and comments, in dumps of Pushshift and its successors, and listings of its API. Hacker News: items
of its API and of BigQuery, and those of Algolia, also as trees.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from postil.corpus.importers.import_report import ImportReport
from postil.corpus.importers.threads import read_threads, text_at
from postil.data.explain import shown
from postil.data.fields import is_integer
from postil.documents.markup import HtmlText, unescaped
from postil.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from postil.corpus.importers.threads import Threads
    from postil.data.parquet import Record
    from postil.data.rows import Article
    from postil.data.streams import FilePath

__all__ = ["read_hackernews", "read_reddit", "without_quotes"]

REDDIT: Final = "https://www.reddit.com"
GONE: Final = ("[deleted]", "[removed]")
"""Texts of what its author or a moderator took away."""
AUTOMATIC: Final = "AutoModerator"
LISTING: Final = "Listing"
OF_COMMENTS, OF_SUBMISSIONS = "t1_", "t3_"
"""Prefixes of ids."""


def read_reddit(
    paths: Sequence[FilePath], report: ImportReport | None = None, *, lang: str | None = None
) -> Iterator[Article]:
    r"""Read submissions and comments of Reddit.

    The score is the upvotes, and the subreddit the category. Comments that were deleted or removed are left out, as are
    those of moderators as such (distinguished, pinned, AutoModerator) and lines that quote (`>`); names are not kept.
    Other Markdown stays.

    A listing is what an address that ends in ``.json`` gives: posts, or a post and its comments, with the replies
    inside. Comments that it names but does not hold are counted.

    Args:
        paths: The files, of submissions, of comments or of both, in any order; they may be compressed with Zstandard.
        report: Counts; what is broken is rejected, by default raised.
        lang: Language of the submissions.

    Yields:
        The articles, in the order of the submissions.

    Raises:
        InvalidInput: Something in a file is broken; says where.
        MissingExtra: A file is compressed with Zstandard, which is not installed.
        PostilError: There is no room for the temporary file.

    >>> import pathlib, tempfile
    >>> post = '{"id": "a1", "title": "Rain", "selftext": "", "subreddit": "weather"}'
    >>> comment = '{"id": "c1", "body": "&gt; Rain\\n\\nOh", "link_id": "t3_a1", "parent_id": "t3_a1", "score": 3}'
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = (path := pathlib.Path(folder, "reddit.jsonl")).write_text(f"{post}\n{comment}")
    ...     [article] = read_reddit([path])
    >>> article.category, article.comments[0].text, article.comments[0].upvotes
    ('weather', 'Oh', 3)
    """
    yield from read_threads(paths, report or ImportReport(), lang, _add_reddit)


def _add_reddit(row: Record, where: str, line: int, threads: Threads) -> None:
    """Add an object of a dump, or all in a listing."""
    things: list[object] = [row]
    while things:  # and no recursion, as replies may be a thousand deep
        thing = things.pop()
        if not isinstance(thing, dict):
            raise InvalidInput(f"expected an object with kind and data, got {shown(thing)}", field="children")
        kind, data = thing.get("kind"), thing.get("data")
        if isinstance(data, dict) and kind == LISTING:
            children = data.get("children")
            if not isinstance(children, list):
                raise InvalidInput(f"expected an array, got {shown(children)}", field="data.children")
            things += reversed(children)
        elif isinstance(data, dict) and kind == "more":
            count = data.get("count")
            threads.report.absent += count if is_integer(count) else 1
        else:
            one = data if isinstance(data, dict) and isinstance(kind, str) else thing
            _add_one(one, where, line, threads)
            replies = one.get("replies")
            if isinstance(replies, dict):
                things.append(replies)


def _add_one(row: Record, where: str, line: int, threads: Threads) -> None:
    name = text_at(row, "id")
    if name is None:
        raise InvalidInput("missing", field="id")
    body, link = text_at(row, "body"), text_at(row, "link_id")
    if link is None:
        _add_submission(row, name, where, line, threads)
    elif body is None:
        raise InvalidInput("missing", field="body")
    elif body.strip() in GONE or _is_of_moderators(row):
        threads.report.withheld += 1
    else:
        above = text_at(row, "parent_id") or ""
        parent = above.removeprefix(OF_COMMENTS) if above.startswith(OF_COMMENTS) else None
        fields = {
            "id": name,
            "text": without_quotes(unescaped(body)),
            "upvotes": row.get("score"),
            "date": row.get("created_utc"),
            "parent": parent,
        }
        threads.add_comment(fields, where, line, name=name, above=parent, article=link.removeprefix(OF_SUBMISSIONS))


def _is_of_moderators(row: Record) -> bool:
    """True if a comment is an announcement: of a moderator as such, of an admin, of AutoModerator, or pinned."""
    return bool(row.get("distinguished") or row.get("stickied")) or row.get("author") == AUTOMATIC


def _add_submission(row: Record, name: str, where: str, line: int, threads: Threads) -> None:
    title, text, path = text_at(row, "title"), text_at(row, "selftext"), text_at(row, "permalink")
    if title is None:
        raise InvalidInput("missing; expected a submission, or a comment with link_id", field="title")
    fields = {
        "id": name,
        "title": unescaped(title),
        "content": unescaped(text).strip() or None if text and text.strip() not in GONE else None,
        "category": text_at(row, "subreddit"),
        "url": f"{REDDIT}{path}" if path else text_at(row, "url"),
        "date": row.get("created_utc"),
    }
    threads.add_article(fields, where, line)


def without_quotes(text: str) -> str:
    r"""A text without the lines that quote another one, and without those that are empty.

    Args:
        text: The text, in which such lines begin with ``>``.

    >>> without_quotes("> It will rain.\n\nNo.\n> Snow?\nYes.")
    'No.\nYes.'
    """
    lines = (line.strip() for line in text.splitlines())
    return "\n".join(line for line in lines if line and not line.startswith(">"))


HACKERNEWS: Final = "https://news.ycombinator.com/item?id="
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
                _add_hackernews(one, where, line, threads, html)
            except InvalidInput as error:
                if error.where:  # whoever takes what is broken has stopped
                    raise
                threads.report.refuse(InvalidInput(error.problem, where=where, line=line, field=error.field))
            children = one.get("children")
            if isinstance(children, list):  # Algolia's lists of hits have numbers there
                waiting += [child for child in reversed(children) if isinstance(child, dict)]

    yield from read_threads(paths, report or ImportReport(), lang, add)


def _add_hackernews(item: Record, where: str, line: int, threads: Threads, html: HtmlText) -> None:
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
            "url": text_at(item, "url") or f"{HACKERNEWS}{name}",
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
