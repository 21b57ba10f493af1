"""Scores and human grades of the same texts, joined; what did not join is counted and named."""

from __future__ import annotations

import math
import re
from array import array
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np

from postil.errors import InvalidInput, Undefined, UnknownName
from postil.records.explain import shown
from postil.records.place import Places

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from postil.records.rows import Judgement, Score
    from postil.records.scale import Scale

__all__ = [
    "CONTROL",
    "DRAW",
    "NAMED",
    "Key",
    "LeftOut",
    "Rated",
    "Ratings",
    "Scored",
    "Table",
    "join",
    "name_left_out",
]

Key: TypeAlias = tuple[str, str]
"""What joins: item and system."""

NAMED: Final = 5
"""How many of the left out are named."""

DRAW: Final = re.compile(r"(?P<name>control:.*),draw=(?P<draw>0|[1-9][0-9]{0,8})\)")
"""The name of one draw of a random control, for example ``control:shuffled(w-meteor,draw=7)``."""

CONTROL: Final = re.compile(r"control:(?P<kind>[^(]+)\((?P<metric>.+)\)")
"""The name of a control, with the metric that it is a control of."""


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

    def __str__(self) -> str:
        more = f" and {self.n - len(self.examples)} more" if self.n > len(self.examples) else ""
        return f"{self.why}: {self.n} ({', '.join(self.examples)}{more})"


@dataclass(frozen=True, slots=True, eq=False)
class Ratings:
    """The single grades behind the mean grade of each of n texts.

    Args:
        offsets: int64[n + 1]; text i has the ratings ``offsets[i]:offsets[i + 1]``.
        annotators: int32[r], the number of the annotator of each.
        grades: float64[r], the grade that each gave.
        names: The annotators' names, sorted.
    """

    offsets: NDArray[np.int64]
    annotators: NDArray[np.int32]
    grades: NDArray[np.float64]
    names: tuple[str, ...]

    @property
    def counts(self) -> NDArray[np.int64]:
        """int64[n], how many ratings each text has."""
        return np.diff(self.offsets)


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
        return np.flatnonzero(np.r_[True, np.diff(self.item) != 0])

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
    wanted = tuple(dict.fromkeys([*metrics, *(name for name in scored.metrics if _metric_of(name) in metrics)]))
    wanted = wanted or scored.metrics
    draws = _draws(scored.columns, metrics)

    needed = [*wanted, *(name for names in draws.values() for name in names)]
    complete = ~np.isnan(scored.dense[:, [scored.columns[name] for name in needed]]).any(axis=1)
    keys = list(scored.rows)
    judged = np.array([key in rated.grades for key in keys], bool)
    kept = np.flatnonzero(complete & judged)
    if not len(kept):
        raise Undefined(
            f"no text has both scores and judgements: {len(keys)} scored{_such(keys)}, {len(rated.grades)} judged"
            f"{_such(rated.grades)}, {int((judged & ~complete).sum())} judged but not scored by every metric; they "
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
        grades=np.add.reduceat(ratings.grades, ratings.offsets[:-1]) / ratings.counts,
        ratings=ratings,
        aspect=rated.aspect,
        scale=scale,
        left_out=(
            *name_left_out("scored but not judged", [keys[row] for row in np.flatnonzero(~judged)]),
            *name_left_out("judged but not scored", [key for key in rated.grades if key not in scored.rows]),
            *name_left_out("not scored by every metric", [keys[row] for row in np.flatnonzero(judged & ~complete)]),
            *name_left_out(
                "graded more than once by one annotator, the mean taken",
                [keys[row] for row in kept if keys[row] in rated.repeated],
            ),
        ),
    )


class Scored:
    """Score rows as a matrix: texts by metrics, NaN where there is none.

    Args:
        scores: Score rows; those without an item (corpus scores) are passed over.
        places: Where they stand, for messages.

    Attributes:
        rows: The row of each text, in the order in which they first came.
        columns: The column of each metric and each draw of a random control, likewise.
        metrics: The columns that are no draws.
        signatures: The signature of each column.
        dense: float64[rows, columns].

    Raises:
        InvalidInput: There is no item score of a metric, a text has two scores by one metric, or a metric has two
            signatures.

    >>> from postil.records.rows import Score
    >>> scored = Scored([Score("1", "a", "bleu-4", 0.5, ""), Score("2", "a", "meteor", 0.25, "")])
    >>> scored.rows, scored.dense.tolist()
    ({('1', 'a'): 0, ('2', 'a'): 1}, [[0.5, nan], [nan, 0.25]])
    """

    def __init__(self, scores: Iterable[Score], places: Places | None = None) -> None:
        places = places or Places("scores")
        self.rows: dict[Key, int] = {}
        self.columns: dict[str, int] = {}
        self.signatures: dict[str, str] = {}
        rows, columns, values, index = array("q"), array("q"), array("d"), array("q")
        corpus = 0
        for place, score in enumerate(scores):
            if score.item is None:
                corpus += 1
                continue
            rows.append(self.rows.setdefault((score.item, score.system), len(self.rows)))
            columns.append(self.columns.setdefault(score.metric, len(self.columns)))
            values.append(score.score)
            index.append(place)
            if self.signatures.setdefault(score.metric, score.signature) != score.signature:
                both = f"{self.signatures[score.metric]} and {score.signature}"
                problem = (
                    f"{score.metric} has two signatures, so its numbers cannot be compared: {both}; give the scores"
                )
                raise places.error(place, "signature", f"{problem} of one run at a time")
        if not rows:
            had = f"{corpus} corpus scores, which have no item" if corpus else "no rows"
            problem = f"expected item scores (postil score --items FILE writes them), got {had}"
            raise InvalidInput(problem, where=places.where)
        self.metrics = tuple(name for name in self.columns if not DRAW.fullmatch(name))
        if not self.metrics:
            problem = "expected item scores of a metric, got nothing but draws of random controls, such as "
            raise InvalidInput(problem + next(iter(self.columns)), where=places.where)
        at = np.frombuffer(rows, np.int64), np.frombuffer(columns, np.int64)
        flat = at[0] * len(self.columns) + at[1]
        first = np.unique(flat, return_index=True)[1]
        if len(first) < len(flat):
            again = int(np.setdiff1d(np.arange(len(flat)), first)[0])
            item, system = list(self.rows)[rows[again]]
            problem = f"a second score of item {shown(item)} by system {shown(system)} for one metric"
            name = list(self.columns)[columns[again]]
            raise places.error(index[again], "metric", f"{problem}: {name}; keep one of them")
        self.dense = np.full((len(self.rows), len(self.columns)), np.nan)
        self.dense[at] = values

    def of(self, rows: NDArray[np.int64], metrics: Sequence[str]) -> NDArray[np.float64]:
        """Some rows and columns: float64[rows, metrics]."""
        columns = np.array([self.columns[name] for name in metrics], np.int64)
        return self.dense[np.ix_(rows, columns)]


class Rated:
    """Judgements by text and annotator.

    Args:
        judgements: The grades.
        aspect: The question to keep the answers of, where judgements have more than one.
        scale: The scale of the grades.
        places: Where they stand, for messages.

    Attributes:
        grades: The grades of each text by each annotator, in the order in which they came.
        aspect: The question.
        repeated: The texts that an annotator graded more than once.

    Raises:
        InvalidInput: There are no judgements, a grade is not on the scale, or there are several aspects and none was
            chosen.
        UnknownName: There is no such aspect.

    >>> from postil.records.rows import Judgement
    >>> rated = Rated([Judgement("1", "a", who, grade) for who, grade in (("bob", 2.0), ("ann", 4.0), ("bob", 3.0))])
    >>> rated.grades, list(rated.repeated), rated.of([("1", "a")]).grades.tolist()
    ({('1', 'a'): {'bob': [2.0, 3.0], 'ann': [4.0]}}, [('1', 'a')], [4.0, 2.5])
    """

    def __init__(
        self,
        judgements: Iterable[Judgement],
        aspect: str | None = None,
        scale: Scale | None = None,
        places: Places | None = None,
    ) -> None:
        places = places or Places("judgements")
        self.grades: dict[Key, dict[str, list[float]]] = {}
        aspects: dict[str | None, None] = {}
        for place, row in enumerate(judgements):
            aspects[row.aspect] = None
            if aspect is not None and row.aspect != aspect:
                continue
            if aspect is None and len(aspects) > 1:
                names = " and ".join("none" if name is None else shown(name) for name in aspects)
                problem = f"judgements of more than one aspect ({names}, perhaps more); choose one: --aspect NAME"
                raise places.error(place, "aspect", problem)
            off_scale = scale.check(row.grade) if scale else None
            if off_scale:
                raise places.error(place, "grade", off_scale)
            self.grades.setdefault((row.item, row.system), {}).setdefault(row.annotator, []).append(row.grade)
        if not aspects:
            raise InvalidInput("expected judgements, got no rows", where=places.where)
        if not self.grades:
            known = sorted(name for name in aspects if name is not None)
            if not known:
                raise InvalidInput(f"no judgement names an aspect, so none is {shown(aspect)}", where=places.where)
            raise UnknownName("aspect", aspect or "", known)
        self.aspect = aspect if aspect is not None else next(iter(aspects))
        graded = self.grades.items()
        self.repeated = dict.fromkeys(key for key, by in graded if any(len(several) > 1 for several in by.values()))

    def of(self, keys: Sequence[Key]) -> Ratings:
        """The ratings of some texts, the annotators of each in the order of their names."""
        names = sorted({name for key in keys for name in self.grades[key]})
        number = {name: i for i, name in enumerate(names)}
        ratings = [(number[name], several) for key in keys for name, several in sorted(self.grades[key].items())]
        return Ratings(
            offsets=np.cumsum([0, *(len(self.grades[key]) for key in keys)], dtype=np.int64),
            annotators=np.array([who for who, _ in ratings], np.int32),
            grades=np.array([math.fsum(several) / len(several) for _, several in ratings]),
            names=tuple(names),
        )


def _draws(columns: Iterable[str], metrics: Collection[str]) -> dict[str, list[str]]:
    """The columns of each random control, by the number of the draw; those of some metrics, if any are named."""
    found: dict[str, dict[int, str]] = {}
    for name in columns:
        match = DRAW.fullmatch(name)
        if match:
            found.setdefault(f"{match['name']})", {})[int(match["draw"])] = name
    return {
        control: [names[draw] for draw in sorted(names)]
        for control, names in found.items()
        if not metrics or _metric_of(control) in metrics
    }


def _metric_of(name: str) -> str | None:
    """The metric that a control is of."""
    control = CONTROL.fullmatch(name)
    return control["metric"] if control else None


def _points_down(name: str, lower_is_better: Collection[str]) -> bool:
    """Whether small numbers are good ones; a control in the numbers of its metric points its way, a weight does not."""
    control = CONTROL.fullmatch(name)
    in_its_numbers = control is not None and control["kind"] != "nearest" and control["metric"] in lower_is_better
    return name in lower_is_better or in_its_numbers


def _numbers(names: Iterable[str]) -> dict[str, int]:
    """Names numbered in the order in which they first come."""
    return {name: number for number, name in enumerate(dict.fromkeys(names))}


def _named(key: Key) -> str:
    return f"{key[0]} by {key[1]}"


def _such(keys: Iterable[Key]) -> str:
    first = next(iter(keys), None)
    return f" (such as {_named(first)})" if first else ""


def name_left_out(why: str, keys: Sequence[Key]) -> Iterator[LeftOut]:
    """What to say of texts that are left out: one `LeftOut`, or none where there are no texts.

    >>> [str(each) for each in name_left_out("scored but not judged", [("1", "a"), ("2", "a")])]
    ['scored but not judged: 2 (1 by a, 2 by a)']
    """
    if keys:
        yield LeftOut(why, len(keys), tuple(map(_named, keys[:NAMED])))
