"""Erasure of comments from the service's store."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import msgspec

from postil.commenters.near_duplicates import compact_text
from postil.records.labels import Label

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Collection, Iterator

__all__ = ["Erased", "erase_comments"]

QUOTED: Final = 30
"""Least number of characters of a text whose quotation within another one counts as the text."""

PROBLEM: Final = "a comment in it was erased"


@dataclass(frozen=True, slots=True)
class Erased:
    """Numbers of what was erased.

    Args:
        labels: Number of labels.
        deliveries: Number of deliveries that waited, and are given up.
    """

    labels: int
    deliveries: int


def erase_comments(
    connection: sqlite3.Connection, comments: Collection[tuple[str, str]], texts: Collection[str]
) -> Erased:
    """Erase labels of comments, and the contents of waiting deliveries with them.

    A label is one of a comment if its source is the comment, or if its text is that of the comment or of such a label.
    A delivery has a comment if an object in it names the comment's ids, or a text in it is the comment's or quotes it.

    Args:
        connection: Connection to write, in a transaction.
        comments: Ids of article and comment of each comment.
        texts: Texts of comments, compared regardless of case and spaces.
    """
    wanted = {compact_text(text) for text in texts} - {""}
    labels = [
        (number, msgspec.json.decode(row, type=Label))
        for number, row in connection.execute("SELECT number, row FROM labels")
    ]
    wanted |= {compact_text(one.text) for _, one in labels if (one.source_article, one.source_comment) in comments}
    erased = [(number,) for number, one in labels if compact_text(one.text) in wanted]
    connection.executemany("DELETE FROM labels WHERE number = ?", erased)
    waiting = connection.execute("SELECT number, body FROM deliveries WHERE body IS NOT NULL").fetchall()
    given_up = [(PROBLEM, number) for number, body in waiting if _holds(body, comments, wanted)]
    change = "UPDATE deliveries SET body = NULL, due = NULL, state = 'failed', problem = ? WHERE number = ?"
    connection.executemany(change, given_up)
    return Erased(len(erased), len(given_up))


def _holds(body: bytes, comments: Collection[tuple[str, str]], texts: Collection[str]) -> bool:
    """True if a document of JSON has one of some comments or texts; also if it cannot be read."""
    try:
        document = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return True
    for value in _values(document):
        if isinstance(value, dict):
            if (f"{value.get('article')}", f"{value.get('comment')}") in comments:
                return True
        elif _repeats(compact_text(value), texts):
            return True
    return False


def _repeats(text: str, others: Collection[str]) -> bool:
    return text in others or any(len(one) >= QUOTED and one in text for one in others)


def _values(document: object) -> Iterator[dict[str, object] | str]:
    """The objects and texts of a document."""
    left = [document]
    while left:
        value = left.pop()
        if isinstance(value, dict):
            yield value
            left += value.values()
        elif isinstance(value, list):
            left += value
        elif isinstance(value, str):
            yield value
