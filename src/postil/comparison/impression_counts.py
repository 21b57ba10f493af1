"""Numbers of events of impressions, by pair of models, impression and rank."""

from __future__ import annotations

from array import array
from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from postil.data.impressions import EVENTS
from postil.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Iterable

    from postil.data.impressions import Impression
    from postil.data.row_locations import RowLocations
    from postil.kernel.arrays import Int64s

__all__ = ["ImpressionCounts", "PairCounts"]


class PairCounts:
    """Events of the impressions of two models that were displayed.

    Args:
        names: The models.

    Attributes:
        impressions: Number of impressions, displayed or not.
        uncounted: Number of events at suggestions of neither model.
    """

    def __init__(self, names: tuple[str, ...]) -> None:
        self.names = names
        self.impressions = 0
        self.uncounted = 0
        self._articles: dict[str, int] = {}
        self._owners = array("q")
        self._events = array("q")
        self._lists: dict[tuple[int | None, ...], int] = {}
        self._list_of = array("q")
        self._at_ranks: Counter[tuple[int, int, int]] = Counter()

    def add(self, row: Impression) -> None:
        """Count an impression that was displayed.

        Args:
            row: The impression, of the two models in either order.
        """
        turned = row.models != self.names
        teams = tuple([None if team is None else team ^ turned for team in row.teams])
        self._list_of.append(self._lists.setdefault(teams, len(self._lists)))
        self._owners.append(self._articles.setdefault(row.article, len(self._articles)))
        counts = [0] * (2 * len(EVENTS))
        for event, ranks in enumerate((row.clicked, row.answered, row.hidden)):
            for rank in ranks:
                team = teams[rank - 1]
                if team is None:
                    self.uncounted += 1
                else:
                    counts[team * len(EVENTS) + event] += 1
                    self._at_ranks[rank, team, event] += 1
        self._events.extend(counts)

    @property
    def owners(self) -> Int64s:
        """The article of each impression, int64[n]."""
        return np.array(self._owners, np.int64)

    @property
    def events(self) -> Int64s:
        """Numbers of suggestions by impression, model and event, int64[n, 2, 3]; see `EVENTS`."""
        return np.array(self._events, np.int64).reshape(-1, 2, len(EVENTS))

    @property
    def teams(self) -> Int64s:
        """The model of each suggestion, int64[n, ranks]: 0 or 1, -1 for neither and where there is no suggestion."""
        ranks = max(map(len, self._lists), default=0)
        lists = [
            [-1 if team is None else team for team in teams] + [-1] * (ranks - len(teams)) for teams in self._lists
        ]
        found = np.array(lists, np.int64).reshape(-1, ranks)
        return found[np.array(self._list_of, np.int64)]

    @property
    def events_at_ranks(self) -> Int64s:
        """Numbers of impressions by rank, model of the suggestion there and event at it, int64[ranks, 2, 3]."""
        found = np.zeros((max(map(len, self._lists), default=0), 2, len(EVENTS)), np.int64)
        for (rank, team, event), n in self._at_ranks.items():
            found[rank - 1, team, event] = n
        return found


class ImpressionCounts:
    """Events of a log, by pair of models in the order of their first impressions.

    Args:
        impressions: The impressions.
        places: Locations of the rows, for messages.

    Raises:
        InvalidInput: An impression is there twice; says where.

    Attributes:
        pairs: The pairs.
        not_shown: Impressions that were not displayed, and have no event.
        shown_by_events: Impressions that were not displayed by what the log says, and have an event.
    """

    def __init__(self, impressions: Iterable[Impression], places: RowLocations | None = None) -> None:
        self.not_shown: list[str] = []
        self.shown_by_events: list[str] = []
        found: dict[frozenset[str], PairCounts] = {}
        rows: dict[str, int] = {}
        for index, row in enumerate(impressions):
            first = rows.setdefault(row.impression, index)
            if first != index:
                raise _repeated(row.impression, first, index, places)
            pair = found.setdefault(frozenset(row.models), PairCounts(row.models))
            pair.impressions += 1
            if not row.shown and not (row.clicked or row.answered or row.hidden):
                self.not_shown.append(row.impression)
                continue
            if not row.shown:
                self.shown_by_events.append(row.impression)
            pair.add(row)
        self.pairs = list(found.values())


def _repeated(name: str, first: int, index: int, places: RowLocations | None) -> InvalidInput:
    lines = (first + 1, index + 1) if places is None else (places.line(first), places.line(index))
    problem = f"expected one row per impression, got '{name}' of line {lines[0]} again"
    if places is None:
        return InvalidInput(problem, where="impressions", line=lines[1], field="impression")
    return places.error(index, "impression", problem)
