"""Raw exports, told by their beginning, where article rows were expected."""

from __future__ import annotations

import json
import os
import re
from typing import TYPE_CHECKING, Final

from postil.data.streams import DAMAGE, opened
from postil.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from postil.data.streams import FilePath

__all__ = ["import_of"]

HEAD: Final = 1 << 20
"""Number of bytes that are looked at."""
MOST: Final = 20
"""Largest number of objects that are looked at."""
XML: Final = (
    ("wordpress", re.compile(r"<rss\b[^>]{0,2000}\bxmlns:wp=")),
    ("disqus", re.compile(r"<disqus\b")),
)
SIGNS: Final[Mapping[str, tuple[frozenset[str], ...]]] = {
    "reddit": tuple(map(frozenset, (("link_id", "body"), ("subreddit",), ("selftext",), ("kind", "data")))),
    "discourse": (frozenset(("post_stream",)),),
    "coral": tuple(map(frozenset, (("storyID",), ("metadata", "url", "id"), ("revisions", "id")))),
    "deepcom": (frozenset(("cmts",)),),
}
"""Fields that only the objects of an export have together, any of several sets."""
HACKERNEWS: Final = frozenset(("story", "comment", "job", "poll", "pollopt"))
"""Types of the items of Hacker News."""
ARRAYS_OF_COMMENTS: Final = ("comments", "comment", "replies", "posts", "answers", "responses")


def import_of(path: FilePath) -> str | None:
    """The name of the import for a raw export; None for article rows, and for what is not known.

    Args:
        path: The file; it may be compressed.

    Returns:
        A format of `postil corpus import`: ``forum`` for articles with comments inside under other names.

    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "dump.jsonl")
    ...     _ = path.write_text('{"id": "c1", "body": "Oh", "link_id": "t3_a1", "parent_id": "t3_a1"}')
    ...     import_of(path)
    'reddit'
    """
    try:
        with opened(path) as stream:
            head = stream.read(HEAD).decode("utf-8", "replace").lstrip("\ufeff \t\r\n")
    except (InvalidInput, *DAMAGE):  # whoever reads it says so
        return None
    if head.startswith("<"):
        return next((name for name, sign in XML if sign.search(head[:10_000])), None)
    name = os.fspath(path).lower()
    if not name.removesuffix(".gz").removesuffix(".zst").endswith((".jsonl", ".ndjson", ".json")):
        return None
    rows = list(_objects(head))
    return None if any(map(_is_article, rows)) else next(filter(None, map(_kind, rows)), None)


def _objects(head: str) -> Iterator[Mapping[str, object]]:
    """The first objects of JSON Lines or of an array; nulls are left out."""
    decode, place = json.JSONDecoder().raw_decode, 0
    for _ in range(MOST):
        while place < len(head) and (head[place].isspace() or head[place] in "[,"):
            place += 1
        try:
            value, place = decode(head, place)
        except (ValueError, RecursionError):
            return
        if isinstance(value, dict):
            yield value


def _kind(row: Mapping[str, object]) -> str | None:
    """The import for an object that is no article row; None if it is not known."""
    for name, signs in SIGNS.items():
        if any(sign <= row.keys() for sign in signs):
            return name
    if "objectID" in row or (
        row.get("type") in HACKERNEWS and row.keys() & {"by", "time", "kids", "parent", "children"}
    ):
        return "hackernews"
    if isinstance(row.get("comment"), list) and "title" in row:
        return "tokenized" if "body" in row else "tencent"
    arrays = (row[name] for name in ARRAYS_OF_COMMENTS if name in row)
    return "forum" if any(isinstance(each, list) and each for each in arrays) else None


def _is_article(row: Mapping[str, object]) -> bool:
    """True if an object is an article row with comments."""
    comments = row.get("comments")
    return {"id", "title"} <= row.keys() and isinstance(comments, list) and any(map(_is_comment, comments[:MOST]))


def _is_comment(value: object) -> bool:
    return isinstance(value, dict) and isinstance(value.get("id"), str | int) and isinstance(value.get("text"), str)
