"""Scores and human grades of the same texts, joined; what did not join is counted and named."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np

from postil.errors import Undefined, UnknownName
from postil.metaeval.coefficients import starts_of
from postil.metaeval.score_matrix import Rated, Scored
from postil.records.names import CONTROL, metric_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from postil.metaeval.score_matrix import Key, Ratings
    from postil.records.row_locations import Places
    from postil.records.rows import Judgement, Score
    from postil.records.scale import Scale

__all__ = ["LeftOut", "Table", "join", "name_left_out"]

NAMED: Final = 5
"""How many of the left out are named."""


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Texts that are not in a table, or not as they came.

    Args:
        why: The reason, in words.
        n: How many there are.
        examples: The first few of them.
    """

    why: str
    n: int
    examples: tuple[str, ...]

    @classmethod
    def of(cls, why: str, names: Sequence[str]) -> LeftOut:
        """All of them, of which the first few are named."""
        return cls(why, len(names), tuple(names[:NAMED]))

    def __str__(self) -> str:
        more = f" and {self.n - len(self.examples)} more" if self.n > len(self.examples) else ""
        return f"{self.why}: {self.n} ({', '.join(self.examples)}{more})"


def name_left_out(why: str, keys: Sequence[Key]) -> Iterator[LeftOut]:
    """What to say of texts that are left out: one `LeftOut`, or none where there are no texts.

    >>> [str(each) for each in name_left_out("scored but not judged", [("1", "a"), ("2", "a")])]
    ['scored but not judged: 2 (1 by a, 2 by a)']
    """
    if keys:
        yield LeftOut.of(why, list(map(_named, keys)))


def _named(key: Key) -> str:
    return f"{key[0]} by {key[1]}"


@dataclass(frozen=True, eq=False)
class Table:
    """Scores and human grades of n texts by m metrics.

    Rows are sorted by item, items and systems numbered in the order in which they first came, so that each item's rows
    are neighbours. Made by `join`.

    Args:
        items: Names of the items.
        systems: Names of the systems.
        item: int32[n], the number of each row's item; rising.
        system: int32[n], the number of each row's system.
        metrics: Names of the metrics, as their user wrote them.
        signatures: All that each metric's numbers depend on.
        lower_is_better: bool[m], whether a small number is a good one, of a metric or of a control in its numbers.
        scores: float64[n, m], as they came.
        draws: Random controls by name: float64[n, d], one column a draw, high is good.
        grades: float64[n], the mean of each text's ratings.
        ratings: The ratings.
        aspect: What was judged, where there was more than one question.
        scale: The scale of the grades, where it is known.
        left_out: What did not join, and what was changed in joining.
    """

    items: tuple[str, ...]
    systems: tuple[str, ...]
    item: NDArray[np.int32]
    system: NDArray[np.int32]
    metrics: tuple[str, ...]
    signatures: tuple[str, ...]
    lower_is_better: NDArray[np.bool_]
    scores: NDArray[np.float64]
    draws: Mapping[str, NDArray[np.float64]]
    grades: NDArray[np.float64]
    ratings: Ratings
    aspect: str | None
    scale: Scale | None
    left_out: tuple[LeftOut, ...]

    def __len__(self) -> int:
        return len(self.grades)

    @cached_property
    def oriented(self) -> NDArray[np.float64]:
        """float64[n, m], the scores with the sign that makes high good."""
        return np.where(self.lower_is_better, -self.scores, self.scores)

    @cached_property
    def starts(self) -> NDArray[np.int64]:
        """int64[k], the first row of each of k items."""
        return starts_of(self.item)

    def only(self, metrics: Sequence[str]) -> Table:
        """The same texts with the scores of some metrics, without random controls.

        Args:
            metrics: Their names.

        Raises:
            UnknownName: The table has no such metric.
        """
        columns = [self.column(name) for name in metrics]
        return replace(
            self,
            metrics=tuple(metrics),
            signatures=tuple(self.signatures[column] for column in columns),
            lower_is_better=self.lower_is_better[columns],
            scores=self.scores[:, columns],
            draws={},
        )

    def column(self, metric: str) -> int:
        """The number of a metric.

        Raises:
            UnknownName: The table has no such metric.
        """
        if metric not in self.metrics:
            raise UnknownName("metric", metric, self.metrics)
        return self.metrics.index(metric)


def join(
    scores: Iterable[Score],
    judgements: Iterable[Judgement],
    *,
    metrics: Sequence[str] = (),
    lower_is_better: Collection[str] = (),
    aspect: str | None = None,
    scale: Scale | None = None,
    score_places: Places | None = None,
    judgement_places: Places | None = None,
) -> Table:
    """Bring scores and judgements of the same texts together.

    They meet on (item, system). A text that lacks a judgement, or the score of a metric that others have, is left out,
    counted and named; nothing is filled in. Several grades of one text by one annotator count as one, their mean.

    Args:
        scores: Item scores; rows without an item (corpus scores) are passed over.
        judgements: What people think of the same texts.
        metrics: The metrics to keep, in this order, and with them their controls; by default all.
        lower_is_better: Names of the metrics whose small numbers are good ones.
        aspect: The question to keep the answers of, where judgements have more than one.
        scale: The scale of the grades.
        score_places: Where the score rows stand, for messages.
        judgement_places: Where the judgement rows stand, for messages.

    Raises:
        InvalidInput: There are no item scores of a metric, a text has two scores by one metric, a grade is not on the
            scale, or there are several aspects and none was chosen.
        UnknownName: A metric or an aspect does not occur.
        Undefined: Nothing joins; says what stands on either side.

    >>> from postil.records.rows import Judgement, Score
    >>> scores = [Score(item, "a", "bleu-4", score, "") for item, score in (("1", 0.2), ("2", 0.4), ("3", 0.1))]
    >>> judgements = [Judgement(item, "a", who, 4) for item in ("1", "2", "4") for who in ("ann", "bob")]
    >>> table = join(scores, judgements)
    >>> len(table), table.items, table.grades.tolist()
    (2, ('1', '2'), [4.0, 4.0])
    >>> print(*table.left_out, sep="; ")
    scored but not judged: 1 (3 by a); judged but not scored: 1 (4 by a)
    """
    scored = Scored(scores, score_places)
    rated = Rated(judgements, aspect, scale, judgement_places)
    for name in (*metrics, *lower_is_better):
        if name not in scored.metrics:
            raise UnknownName("metric", name, scored.metrics)
    wanted = tuple(dict.fromkeys([*metrics, *(name for name in scored.metrics if metric_of(name) in metrics)]))
    wanted = wanted or scored.metrics
    draws = {control: names for control, names in scored.draws.items() if not metrics or metric_of(control) in metrics}

    needed = [*wanted, *(name for names in draws.values() for name in names)]
    complete = ~np.isnan(scored.dense[:, [scored.columns[name] for name in needed]]).any(axis=1)
    keys = list(scored.rows)
    judged = np.array([key in rated.rows for key in keys], bool)
    kept = np.flatnonzero(complete & judged)
    if not len(kept):
        raise Undefined(
            f"no text has both scores and judgements: {len(keys)} scored{_such(keys)}, {len(rated.rows)} judged"
            f"{_such(rated.rows)}, {int((judged & ~complete).sum())} judged but not scored by every metric; they "
            "meet on item and system"
        )
    items = _numbers(keys[row][0] for row in kept)
    systems = _numbers(keys[row][1] for row in kept)
    kept = kept[np.argsort([items[keys[row][0]] for row in kept], kind="stable")]
    ratings = rated.of([keys[row] for row in kept])
    return Table(
        items=tuple(items),
        systems=tuple(systems),
        item=np.array([items[keys[row][0]] for row in kept], np.int32),
        system=np.array([systems[keys[row][1]] for row in kept], np.int32),
        metrics=wanted,
        signatures=tuple(scored.signatures[name] for name in wanted),
        lower_is_better=np.array([_points_down(name, lower_is_better) for name in wanted], bool),
        scores=scored.of(kept, wanted),
        draws={
            control: -scored.of(kept, names) if _points_down(control, lower_is_better) else scored.of(kept, names)
            for control, names in draws.items()
        },
        grades=ratings.means,
        ratings=ratings,
        aspect=rated.aspect,
        scale=scale,
        left_out=(
            *name_left_out("scored but not judged", [keys[row] for row in np.flatnonzero(~judged)]),
            *name_left_out("judged but not scored", [key for key in rated.rows if key not in scored.rows]),
            *name_left_out("not scored by every metric", [keys[row] for row in np.flatnonzero(judged & ~complete)]),
            *name_left_out(
                "graded more than once by one annotator, the mean taken",
                [keys[row] for row in kept if keys[row] in rated.repeated],
            ),
        ),
    )


def _points_down(name: str, lower_is_better: Collection[str]) -> bool:
    """Whether small numbers are good ones; a control in the numbers of its metric points its way, a weight does not."""
    control = CONTROL.fullmatch(name)
    in_its_numbers = (
        control is not None
        and control["kind"] not in {"nearest", "mean-weight"}
        and control["metric"] in lower_is_better
    )
    return name in lower_is_better or in_its_numbers


def _numbers(names: Iterable[str]) -> dict[str, int]:
    """Names numbered in the order in which they first come."""
    return {name: number for number, name in enumerate(dict.fromkeys(names))}


def _such(keys: Iterable[Key]) -> str:
    first = next(iter(keys), None)
    return f" (such as {_named(first)})" if first else ""
