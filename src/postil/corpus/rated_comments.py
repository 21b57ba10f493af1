"""Ratings of comments that were made elsewhere, such as in an annotation campaign, put back to their comments."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec

from postil.errors import InvalidInput
from postil.records.explain import shown
from postil.records.row_files import PLAIN, read
from postil.records.rows import Reference

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from postil.records.reading import Reading
    from postil.records.row_files import FilePath
    from postil.records.rows import Article, Comment

__all__ = ["RatedComments"]


@dataclass(frozen=True, eq=False, slots=True)
class RatedComments:
    """Ratings by comment; they can be sent to another process.

    Args:
        where: Their file.
        rows: The row of each comment, by the ids of article and comment.
        lines: The line of each row.
    """

    where: str
    rows: Mapping[tuple[str, str], Reference]
    lines: Mapping[tuple[str, str], int]

    @classmethod
    def read(cls, path: FilePath, reading: Reading = PLAIN) -> RatedComments:
        """Read a file of references with the ids of their comments, as `postil annotate export` writes it.

        Args:
            path: The file.
            reading: Options of reading it.

        Raises:
            InvalidInput: A row has no id, or neither ratings nor a grade, or a comment has two rows.
        """
        found: dict[tuple[str, str], Reference] = {}
        lines: dict[tuple[str, str], int] = {}
        rows = read(path, Reference, reading)
        for index, row in enumerate(rows):
            if row.id is None:
                problem = "expected the id of a comment, as postil annotate export writes it, got none"
                raise rows.places.error(index, "id", problem)
            if row.mean_grade is None:
                raise rows.places.error(index, "ratings", "expected ratings or a grade, got neither")
            if (row.item, row.id) in found:
                problem = f"a second row of comment {shown(row.id)} of article {shown(row.item)}; keep one of them"
                raise rows.places.error(index, "id", problem)
            found[row.item, row.id] = row
            lines[row.item, row.id] = rows.places.line(index)
        return cls(rows.places.where, found, lines)

    def rated(self, article: str, comment: Comment, text: str) -> Comment | None:
        """A comment with its ratings, which take the place of those that it has; None where it has no row.

        Args:
            article: Id of its article.
            comment: The comment.
            text: Its text after cleaning.

        Raises:
            InvalidInput: The text that was rated is another one.
        """
        key = (article, comment.id)
        row = self.rows.get(key)
        if row is None:
            return None
        if row.text not in {text, comment.text, comment.text.strip()}:
            problem = (
                f"comment {shown(comment.id)} of article {shown(article)} has another text: expected {shown(text)}, "
                f"got {shown(row.text)}; are these ratings of another corpus?"
            )
            raise InvalidInput(problem, where=self.where, line=self.lines[key], field="text")
        return msgspec.structs.replace(comment, ratings=row.ratings, grade=row.grade)

    def applied(self, articles: Iterable[Article]) -> tuple[list[Article], int]:
        """Articles with the ratings of their comments.

        Args:
            articles: The articles.

        Returns:
            The articles, and the number of comments that have a row.

        Raises:
            InvalidInput: A text that was rated is another one, or no row is of a comment of these articles.
        """
        found, number = [], 0
        for article in articles:
            comments = []
            for comment in article.comments:
                rated = self.rated(article.id, comment, comment.text)
                number += rated is not None
                comments.append(rated or comment)
            found.append(msgspec.structs.replace(article, comments=tuple(comments)))
        if not number:
            raise self.unknown()
        return found, number

    def unknown(self) -> InvalidInput:
        """The error where no row is of a comment that there is."""
        article, comment = next(iter(self.rows))
        problem = f"none of {len(self.rows):,} rows is of a comment that is here; the first one is of {shown(comment)}"
        return InvalidInput(f"{problem} under article {shown(article)}", where=self.where)
