"""Rows of impressions: interleaved suggestions under an article, and what a reader or an editor did with them.

A row of the log, here on two lines::

    {"impression": "i7", "article": "a1", "models": ["base", "new"], "teams": [0, 1, 1, 0],
     "shown": true, "clicked": [2], "answered": [], "hidden": [4]}
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, TypeAlias

import msgspec
from msgspec.structs import force_setattr

from postil.data.checks import coerce_ids, coerce_tuple, is_integer
from postil.data.explain import shown as text_of
from postil.data.rows import Row
from postil.errors import InvalidInput

__all__ = ["EVENTS", "Impression"]

EVENTS = ("clicked", "answered", "hidden")
"""Fields with the ranks of suggestions that something was done with."""


def _check_shown(value: object) -> None:
    if not isinstance(value, bool):
        raise InvalidInput(f"expected true or false, got {text_of(value)}", field="shown")


if TYPE_CHECKING:
    Id: TypeAlias = str
    Names: TypeAlias = tuple[str, ...]
    Ranks: TypeAlias = tuple[int, ...]
    Shown: TypeAlias = bool
else:
    Id = str | int
    Names = tuple[str, ...]
    Ranks = tuple[int, ...] | None
    Shown = Annotated[bool, msgspec.Meta(extra={"check": _check_shown})]


class Impression(Row, frozen=True, omit_defaults=False, gc=False):
    """Suggestions of two models under an article, interleaved, and the ranks at which something was done.

    Args:
        impression: The id of the impression.
        article: The id of the article.
        models: The names of the two models.
        teams: The model of each suggestion by rank: 0 for the first of them, 1 for the second; None for one that
            counts for neither.
        clicked: Ranks, from 1, of the suggestions that were opened or used.
        shown: True if they were displayed.
        answered: Ranks of those that were replied to.
        hidden: Ranks of those that were hidden or reported.

    >>> Impression("i7", "a1", ("base", "new"), (0, 1), clicked=(3,))
    Traceback (most recent call last):
    ...
    postil.errors.InvalidInput: clicked: expected ranks from 1 to 2, got 3
    """

    impression: Id
    article: Id
    models: Names
    teams: tuple[int | None, ...]
    clicked: Ranks
    shown: Shown = True
    answered: Ranks = ()
    hidden: Ranks = ()

    def __post_init__(self) -> None:
        coerce_ids(self, "impression", "article")
        coerce_tuple(self, "models", str)
        if len(self.models) != 2 or self.models[0] == self.models[1]:
            got = ", ".join(map(text_of, self.models)) or "none"
            raise InvalidInput(f"expected the names of two models that differ, got {got}", field="models")
        coerce_tuple(self, "teams", object)
        for team in self.teams:
            if team is not None and not (is_integer(team) and team in {0, 1}):
                raise InvalidInput(f"expected 0, 1 or null for each rank, got {text_of(team)}", field="teams")
        force_setattr(self, "teams", tuple(None if team is None else int(team) for team in self.teams))
        _check_shown(self.shown)
        for name in EVENTS:
            coerce_tuple(self, name, object)
            ranks = getattr(self, name)
            if not ranks:
                continue
            for rank in ranks:
                if not (is_integer(rank) and 1 <= rank <= len(self.teams)):
                    found = f"ranks from 1 to {len(self.teams)}" if self.teams else "no rank where teams is empty"
                    raise InvalidInput(f"expected {found}, got {text_of(rank)}", field=name)
            force_setattr(self, name, tuple(sorted(set(map(int, ranks)))))
