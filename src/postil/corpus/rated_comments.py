"""Ratings of comments that were made elsewhere, such as in an annotation campaign, put back to their comments."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec

from postil.data.explain import shown
from postil.data.fields import coerce_ids
from postil.data.row_files import PLAIN, read
from postil.data.rows import Article, Comment, Id, Rating, Reference
from postil.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from postil.data.grades import Scale
    from postil.data.reading import Reading
    from postil.data.row_locations import RowLocations
    from postil.data.streams import FilePath

__all__ = ["RatedComments"]


class RatedReference(Reference, frozen=True, omit_defaults=True, gc=False):
    """A reference, or one rating of it.

    Args:
        annotator: The annotator whose rating the grade is; None where the grade is agreed.
    """

    annotator: Id | None = None

    def __post_init__(self) -> None:
        Reference.__post_init__(self)
        if self.annotator is not None:
            coerce_ids(self, "annotator")


@dataclass(frozen=True, eq=False, slots=True)
class RatedComments:
    """Ratings by comment; they can be sent to another process.

    Args:
        where: Their file.
        rows: The row of each comment, by the ids of article and comment; with the ratings of all its rows.
        lines: The line of the first of them.
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
            InvalidInput: A row has no id, or neither ratings nor a grade, or two rows of a comment differ in more than
                their annotators.
        """
        found: dict[tuple[str, str], RatedReference] = {}
        lines: dict[tuple[str, str], int] = {}
        rows = read(path, RatedReference, reading)
        for index, row in enumerate(rows):
            if row.id is None:
                problem = "expected the id of a comment, as postil annotate export writes it, got none"
                raise rows.places.error(index, "id", problem)
            if row.mean_grade is None:
                raise rows.places.error(index, "ratings", "expected ratings or a grade, got neither")
            key = row.item, row.id
            if row.annotator is not None and row.grade is not None and not row.ratings:
                row = msgspec.structs.replace(row, grade=None, ratings=(Rating(row.annotator, row.grade),))  # noqa: PLW2901
            found[key] = row if key not in found else _joined(found[key], row, index, rows.places)
            lines.setdefault(key, rows.places.line(index))
        return cls(rows.places.where, found, lines)

    def check(self, scale: Scale) -> None:
        """Check the grades.

        Args:
            scale: The scale that they are on.

        Raises:
            InvalidInput: One is not on it; `line` is that of the first row of the comment.
        """
        for key, row in self.rows.items():
            graded = [(each.grade, "ratings") for each in row.ratings]
            for grade, field in [(row.grade, "grade")] if row.grade is not None else graded:
                if problem := scale.check(grade):
                    of = f"{problem}, for comment {shown(row.id)} of article {shown(row.item)}"
                    raise InvalidInput(of, where=self.where, line=self.lines[key], field=field)

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


def _joined(before: RatedReference, row: RatedReference, index: int, places: RowLocations) -> RatedReference:
    """The row of a comment with the ratings of a second row."""
    again = f"a second row of comment {shown(row.id)} of article {shown(row.item)}"
    if row.text != before.text:
        raise places.error(index, "text", f"{again} has another text; keep one of them")
    if not row.ratings or not before.ratings or {row.grade, before.grade} != {None}:
        problem = f"{again}; keep one of them, or, where each is a rating, name who gave it in a column annotator"
        raise places.error(index, "id", problem)
    if both := {each.annotator for each in before.ratings} & {each.annotator for each in row.ratings}:
        problem = f"{again} with a rating of annotator {shown(min(both))}; keep one of them"
        raise places.error(index, "ratings" if row.annotator is None else "annotator", problem)
    return msgspec.structs.replace(before, ratings=(*before.ratings, *row.ratings))
