"""Field names of a source (JSON lines, rows of Parquet or of a table) for the fields of postil's rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, TypeAlias

from postil.errors import UnknownName

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["FIELDS", "FIELDS_OF_COMMENTS", "Fields", "Names"]

Names: TypeAlias = tuple[str, ...]
"""Alternative names of a field; the first that is there and not null is taken. Empty: the source has no such field."""

FIELDS: Final = ("id", "title", "content", "category", "lang", "url", "date", "comments")
"""Fields of an article."""

FIELDS_OF_COMMENTS: Final = ("id", "text", "upvotes", "grade", "user", "date", "parent", "replies")
"""Fields of a comment; its replies are comments in it."""


@dataclass(frozen=True, slots=True)
class Fields:
    """Field names of a source.

    Args:
        article: Names for `FIELDS`.
        comment: Names for `FIELDS_OF_COMMENTS`.
        lang: Language of articles without one.
        fixed: True if users cannot map the names.
    """

    article: Mapping[str, Names]
    comment: Mapping[str, Names]
    lang: str | None = None
    fixed: bool = False

    def mapped(
        self,
        article: Mapping[str, str] | None = None,
        comment: Mapping[str, str] | None = None,
        lang: str | None = None,
    ) -> Fields:
        """A copy with other names.

        Args:
            article: Name of each field that has another one; empty if the source has no such field.
            comment: The same for comments.
            lang: Language of articles without one.

        Raises:
            UnknownName: There is no such field.

        >>> fields = Fields({"id": ("id",), "content": ("content",)}, {})
        >>> fields.mapped({"content": "body", "id": ""}).article
        {'id': (), 'content': ('body',)}
        """
        return replace(
            self,
            article=_over(self.article, article or {}, "field of an article", FIELDS),
            comment=_over(self.comment, comment or {}, "field of a comment", FIELDS_OF_COMMENTS),
            lang=lang or self.lang,
        )


def _over(names: Mapping[str, Names], others: Mapping[str, str], kind: str, known: Names) -> dict[str, Names]:
    for name in others:
        UnknownName.check(kind, name, known)
    return {**names, **{name: (other,) if other else () for name, other in others.items()}}
