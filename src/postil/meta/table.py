"""Scores by text and metric, ratings by text, and the table of texts that have both; excluded texts are named.

The table knows no metric and no text, so scores of other tools are as good as those of postil. It also turns the sign
of a metric for which lower is better, and of its controls, so that no coefficient has to know the direction of a
metric.
"""

from __future__ import annotations

import math
import re
from array import array
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Final, Self, TypeAlias

import numpy as np

from postil.data.explain import shown
from postil.data.frames import SYSTEM
from postil.data.groups import nested
from postil.data.parts import NAMED, Excluded
from postil.data.ranking import without_noise
from postil.data.row_locations import located
from postil.errors import InvalidInput, Undefined, UnknownName
from postil.messages import Blank, Listed, Message, Setting
from postil.meta.column_correlations import Texts, starts_of
from postil.results.names import CONTROL, falls_by_signature, metric_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from postil.data.grades import Scale
    from postil.data.row_locations import RowLocations
    from postil.data.rows import Judgement, Score

__all__ = [
    "Judged",
    "Key",
    "Ratings",
    "Scored",
    "Table",
    "excluded_texts",
    "join",
    "meet",
    "repeated_texts",
    "such_as",
    "united",
]

Key: TypeAlias = tuple[str, str]
"""Join key of scores and judgements: item and system."""

DRAW: Final = re.compile(r"(?P<name>control:.*),draw=(?P<draw>0|[1-9][0-9]{0,8})\)")
"""The name of one draw of a random control, for example ``control:shuffled(w-meteor,draw=7)``."""

TOKENIZER: Final = re.compile(r"\|tokenizer:([^|]*)")
"""The tokenizer in a signature."""

REPEATED: Final = Message("graded more than once by one annotator, the mean taken")
"""Texts with several ratings by one annotator; they are kept."""


class Scored:
    """Score rows as a matrix: texts by metrics, NaN where there is none.

    Args:
        scores: Score rows; those without an item (corpus scores) are ignored.
        statistics: True to keep the statistics of the texts.

    Attributes:
        rows: The row of each text, in order of first appearance.
        columns: The column of each metric and each draw of a random control, likewise.
        metrics: The columns that are not draws.
        draws: The columns of each random control, by the number of the draw.
        signatures: The signature of each column.
        where: Name of the scores, for messages.
        copies: The texts that are references of their item.
        corpus: Number of corpus scores that were ignored.
        dense: float64[rows, columns].
        statistics: By metric, where its scores have statistics and they are kept, float64[rows, k]; NaN where there is
            no score.

    Raises:
        InvalidInput: There is no item score of a metric, a text has two scores by one metric, or a metric has two
            signatures, or statistics of different lengths.

    >>> from postil.data.rows import Score
    >>> scored = Scored([Score("1", "a", "bleu-4", 0.5, ""), Score("2", "a", "meteor", 0.25, "")])
    >>> scored.rows, scored.dense.tolist()
    ({('1', 'a'): 0, ('2', 'a'): 1}, [[0.5, nan], [nan, 0.25]])
    """

    def __init__(self, scores: Iterable[Score], *, statistics: bool = False) -> None:
        scores = located(scores, "scores")
        places, self.where = scores.places, scores.places.where
        kept = _Statistics()
        self.rows: dict[Key, int] = {}
        self.columns: dict[str, int] = {}
        self.signatures: dict[str, str] = {}
        rows, columns, values, index = array("q"), array("q"), array("d"), array("q")
        self.copies: set[Key] = set()
        self.corpus = 0
        for place, score in enumerate(scores):
            if score.item is None:
                self.corpus += 1
                continue
            rows.append(self.rows.setdefault((score.item, score.system), len(self.rows)))
            columns.append(self.columns.setdefault(score.metric, len(self.columns)))
            values.append(score.score)
            index.append(place)
            if score.equal_references:
                self.copies.add((score.item, score.system))
            if self.signatures.setdefault(score.metric, score.signature) != score.signature:
                both = (self.signatures[score.metric], score.signature)
                split = [name for each in both for name in TOKENIZER.findall(each)]
                why = f"; their tokenizers are others: {' and '.join(split)}" if len(set(split)) > 1 else ""
                problem = f"{score.metric} has two signatures, so its numbers cannot be compared: {' and '.join(both)}"
                raise places.error(place, "signature", f"{problem}{why}; give the scores of one run at a time")
            if statistics and (unlike := kept.add(score, rows[-1])):
                raise places.error(place, "statistics", unlike)
        if not rows:
            had = f"{self.corpus} corpus scores, which have no item" if self.corpus else "no rows"
            raise InvalidInput(
                f"expected item scores (postil score --items FILE writes them), got {had}", where=self.where
            )
        self.draws = _draws(self.columns)
        drawn = {name for names in self.draws.values() for name in names}
        self.metrics = tuple(name for name in self.columns if name not in drawn)
        if not self.metrics:
            raise InvalidInput(
                "expected item scores of a metric, got nothing but draws of random controls, such as "
                + next(iter(self.columns)),
                where=self.where,
            )
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
        self.statistics = kept.by_metric(len(self.rows))

    def check(self, metrics: Iterable[str]) -> None:
        """Raise `UnknownName` for the first of some metrics that is not scored."""
        for name in metrics:
            UnknownName.check("metric", name, self.metrics)

    def falling(self, named: Collection[str]) -> set[str]:
        """The metrics for which lower is better.

        Args:
            named: Those that are named, besides those whose signatures say so.

        Raises:
            UnknownName: One that is named is not scored.
        """
        self.check(named)
        return {*named, *(name for name in self.metrics if falls_by_signature(name, self.signatures[name]))}

    def of(self, rows: NDArray[np.int64], metrics: Sequence[str]) -> NDArray[np.float64]:
        """float64[rows, metrics], selected rows and columns."""
        columns = np.array([self.columns[name] for name in metrics], np.int64)
        return self.dense[np.ix_(rows, columns)]

    def of_system(self, system: str) -> Self:
        """The same scores, all of one system.

        Args:
            system: Its name.
        """
        made = copy(self)
        made.rows = {(item, system): row for (item, _), row in self.rows.items()}
        made.copies = {(item, system) for item, _ in self.copies}
        return made


class _Statistics:
    """Statistics of texts by metric, as score rows come."""

    def __init__(self) -> None:
        self._widths: dict[str, int] = {}
        self._rows: dict[str, array[int]] = {}
        self._values: dict[str, array[float]] = {}

    def add(self, score: Score, row: int) -> str | None:
        """Keep the statistics of a row; the problem where it has not as many as those before."""
        width = self._widths.setdefault(score.metric, len(score.statistics))
        if len(score.statistics) != width:
            return Message(
                "expected {width} numbers, as the first row of {metric} has, got {got}; give the scores of one run at "
                "a time, or compare means of item scores: {item_means}",
                width=width,
                metric=score.metric,
                got=len(score.statistics),
                item_means=Setting("item_means", value=True),
            )
        if width:
            self._rows.setdefault(score.metric, array("q")).append(row)
            self._values.setdefault(score.metric, array("d")).extend(score.statistics)
        return None

    def by_metric(self, texts: int) -> dict[str, NDArray[np.float64]]:
        """float64[texts, k] by metric; NaN for texts without a row."""
        found = {}
        for metric, rows in self._rows.items():
            found[metric] = np.full((texts, self._widths[metric]), np.nan)
            found[metric][rows] = np.frombuffer(self._values[metric]).reshape(len(rows), -1)
        return found


@dataclass(frozen=True, slots=True, eq=False)
class Ratings:
    """Single ratings of n texts.

    Args:
        offsets: int64[n + 1]; text i has the ratings ``offsets[i]:offsets[i + 1]``.
        annotators: int32[r], index of the annotator of each rating.
        grades: float64[r], the ratings.
        names: The annotators' names, sorted.
    """

    offsets: NDArray[np.int64]
    annotators: NDArray[np.int32]
    grades: NDArray[np.float64]
    names: tuple[str, ...]

    @property
    def counts(self) -> NDArray[np.int64]:
        """int64[n], number of ratings of each text."""
        return np.diff(self.offsets)

    @property
    def means(self) -> NDArray[np.float64]:
        """float64[n], mean rating of each text."""
        total, size = (np.add.reduceat(each, self.offsets[:-1]) for each in (self.grades, np.abs(self.grades)))
        return without_noise(total, size) / self.counts

    @property
    def numbered(self) -> bool:
        """True if the annotators of every text are named 1, 2 and so on, as positions are that stand for nobody.

        >>> from postil.data.rows import Judgement
        >>> rows = [Judgement("1", "a", "1", 2.0), Judgement("1", "a", "2", 4.0)]
        >>> texts = [("1", "a"), ("2", "a")]
        >>> [Judged([*rows, Judgement("2", "a", name, 3.0)]).of(texts).numbered for name in ("1", "2")]
        [True, False]
        """
        places = {str(place): place for place in range(1, len(self.names) + 1)}
        if len(places) < 2 or set(self.names) != places.keys():
            return False
        of_rating = np.array([places[name] for name in self.names])[self.annotators]
        return bool((np.maximum.reduceat(of_rating, self.offsets[:-1]) == self.counts).all())

    @property
    def positions(self) -> bool:
        """True if the names of annotators are positions: `numbered`, and texts have unequal numbers of ratings."""
        return self.numbered and not (self.counts == len(self.names)).all()

    def of(self, texts: NDArray[np.int64]) -> Ratings:
        """Ratings of some texts, and the annotators who have any of them.

        Args:
            texts: int64[k], the texts, in the order of the result.
        """
        counts = self.counts[texts]
        offsets = np.concatenate([[0], np.cumsum(counts)])
        at = np.arange(offsets[-1]) + np.repeat(self.offsets[texts] - offsets[:-1], counts)
        known, annotators = np.unique(self.annotators[at], return_inverse=True)
        return Ratings(
            offsets=offsets,
            annotators=annotators.astype(np.int32),
            grades=self.grades[at],
            names=tuple(self.names[number] for number in known.tolist()),
        )


class Judged:
    """Judgements by text and annotator.

    Args:
        judgements: The ratings.
        aspect: The aspect to keep, where judgements have more than one.
        scale: Scale of the ratings.

    Attributes:
        rows: The index of each text, in order of first appearance.
        aspect: The aspect.
        repeated: The texts that an annotator rated more than once.
        left_out: Judgements that were left out before.

    Raises:
        InvalidInput: There are no judgements, a grade is not on the scale, or there are several aspects and none was
            chosen.
        UnknownName: There is no such aspect.

    >>> from postil.data.rows import Judgement
    >>> judged = Judged([Judgement("1", "a", who, grade) for who, grade in (("bob", 2.0), ("ann", 4.0), ("bob", 3.0))])
    >>> judged.rows, list(judged.repeated), judged.of([("1", "a")]).grades.tolist()
    ({('1', 'a'): 0}, [('1', 'a')], [4.0, 2.5])
    """

    def __init__(self, judgements: Iterable[Judgement], aspect: str | None = None, scale: Scale | None = None) -> None:
        judgements = located(judgements, "judgements")
        places, self.left_out = judgements.places, judgements.left_out
        self.rows: dict[Key, int] = {}
        numbers: dict[str, int] = {}
        texts, annotators, grades = array("q"), array("q"), array("d")
        aspects: dict[str | None, int] = {}
        of_rows = array("I")
        for place, row in enumerate(judgements):
            of_rows.append(aspects.setdefault(row.aspect, len(aspects)))
            if aspect is not None and row.aspect != aspect:
                continue
            if aspect is None and len(aspects) > 1:
                problem = Message(
                    "judgements of more than one aspect ({names}, perhaps more); choose one: {aspect}",
                    names=" and ".join("none" if name is None else shown(name) for name in aspects),
                    aspect=Setting("aspect", Blank("NAME")),
                )
                raise places.error(place, "aspect", problem)
            off_scale = scale.check(row.grade) if scale else None
            if off_scale:
                raise places.error(place, "grade", off_scale)
            texts.append(self.rows.setdefault((row.item, row.system), len(self.rows)))
            annotators.append(numbers.setdefault(row.annotator, len(numbers)))
            grades.append(row.grade)
        if not aspects:
            raise InvalidInput("expected judgements, got no rows", where=places.where)
        if not texts:
            known = sorted(name for name in aspects if name is not None)
            if not known:
                raise InvalidInput(f"no judgement names an aspect, so none is {shown(aspect)}", where=places.where)
            raise UnknownName("aspect", aspect or "", known, _by_file(places, list(aspects), of_rows))
        self.aspect = aspect if aspect is not None else next(iter(aspects))
        annotated = sorted(numbers)
        rank = np.argsort([numbers[name] for name in annotated])
        text, annotator, grade = np.frombuffer(texts, np.int64), rank[annotators], np.frombuffer(grades)
        order = np.lexsort((annotator, text))
        text, annotator, grade = text[order], annotator[order], grade[order]
        starts = starts_of(text, annotator)
        ends = np.append(starts[1:], len(text))
        means = grade[starts]
        for rating in np.flatnonzero(ends - starts > 1).tolist():
            several = grade[starts[rating] : ends[rating]].tolist()
            means[rating] = math.fsum(several) / len(several)
        offsets = np.concatenate([[0], np.cumsum(np.bincount(text[starts]))])
        self._ratings = Ratings(offsets, annotator[starts].astype(np.int32), means, tuple(annotated))
        keys = list(self.rows)
        self.repeated = dict.fromkeys(keys[number] for number in text[starts][ends - starts > 1].tolist())

    def of(self, keys: Sequence[Key]) -> Ratings:
        """Ratings of some texts, the annotators of each in the order of their names."""
        return self._ratings.of(np.array([self.rows[key] for key in keys], np.int64))

    def of_system(self, system: str) -> Self:
        """The same ratings, all of texts of one system.

        Args:
            system: Its name.
        """
        made = copy(self)
        made.rows = {(item, system): row for (item, _), row in self.rows.items()}
        made.repeated = {(item, system): None for item, _ in self.repeated}
        return made


def _by_file(places: RowLocations, aspects: Sequence[str | None], of_rows: Sequence[int]) -> str:
    """A clause on the aspects of each of several files; empty where there is one file."""
    found: dict[str, dict[str, None]] = {}
    for index, number in enumerate(of_rows):
        found.setdefault(places.file(index), {})[aspects[number] or "none"] = None
    if len(found) < 2:
        return ""
    has = [Message("{file} has {names}", file=file, names=Listed(list(names))) for file, names in found.items()]
    return Message(
        "; no file has it: {files}; choose: {aspect}",
        files=Listed(has, last=", "),
        aspect=Setting("aspect", Blank("NAME")),
    )


def _draws(columns: Iterable[str]) -> dict[str, list[str]]:
    """Columns of each random control, ordered by draw."""
    matches = filter(None, map(DRAW.fullmatch, columns))
    found = nested((f"{match['name']})", int(match["draw"]), match[0]) for match in matches)
    return {control: [names[draw] for draw in sorted(names)] for control, names in found.items()}


def excluded_texts(why: str, keys: Sequence[Key]) -> Iterator[Excluded]:
    """One `Excluded` for some texts, or none where there are no texts.

    >>> [str(each) for each in excluded_texts("scored but not judged", [("1", "a"), ("2", "a")])]
    ['scored but not judged: 2 (item 1 by a, item 2 by a)']
    """
    if keys:
        yield Excluded(why=why, n=len(keys), examples=tuple(map(_named, keys[:NAMED])))


def repeated_texts(keys: Sequence[Key]) -> Iterator[Excluded]:
    """The texts that an annotator graded more than once, as `excluded_texts` has them.

    Args:
        keys: Items and systems.
    """
    for each in excluded_texts(REPEATED, keys):
        yield Excluded(why=each.why, n=each.n, examples=each.examples, kept=True)


def _named(key: Key) -> Message:
    item = Message("item {number}", number=key[0]) if key[0].isdigit() else key[0]
    return Message("{item} by {system}", item=item, system=key[1])


@dataclass(frozen=True, eq=False)
class Table:
    """Scores by m metrics and human ratings of n texts.

    Rows are sorted by item; items and systems are numbered in order of first appearance, so that each item's rows are
    contiguous. Made by `join`.

    Args:
        items: Names of the items.
        systems: Names of the systems.
        item: int32[n], item of each row, ascending.
        system: int32[n], system of each row.
        metrics: Names of the metrics, as their user wrote them.
        signatures: Signature of each metric.
        lower_is_better: bool[m], True for metrics for which lower is better, and for controls computed by them.
        scores: float64[n, m], in their own direction.
        draws: Random controls by name: float64[n, d], one column per draw, higher is better.
        grades: float64[n], mean rating of each text.
        ratings: The single ratings.
        repeated: int64[k], the texts with several ratings by one annotator, in the order of the judgements.
        aspect: The aspect that was judged; None where there is only one, without a name.
        scale: Scale of the ratings, where it is known.
        copies: Number of texts that are references of their item.
        left_out: Texts that were excluded, and texts whose ratings were averaged.
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
    repeated: NDArray[np.int64]
    aspect: str | None
    scale: Scale | None
    copies: int
    left_out: tuple[Excluded, ...]

    def __len__(self) -> int:
        return len(self.grades)

    @cached_property
    def oriented(self) -> NDArray[np.float64]:
        """float64[n, m], scores with the sign that makes higher better."""
        return np.where(self.lower_is_better, -self.scores, self.scores)

    @cached_property
    def starts(self) -> NDArray[np.int64]:
        """int64[k], first row of each of k items."""
        return starts_of(self.item)

    def texts(self, scores: NDArray[np.float64]) -> Texts:
        """The texts with other scores, float64[n, M], higher is better."""
        return Texts(scores, self.grades, self.item, self.system)

    def key(self, text: int) -> Key:
        """Item and system of a text, by name."""
        return self.items[self.item[text]], self.systems[self.system[text]]

    def only(self, metrics: Sequence[str]) -> Table:
        """The same texts with the scores of some metrics, without random controls.

        Args:
            metrics: Names of the metrics.

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
        """Column of a metric.

        Raises:
            UnknownName: The table has no such metric.
        """
        UnknownName.check("metric", metric, self.metrics)
        return self.metrics.index(metric)


def join(
    scores: Iterable[Score],
    judgements: Iterable[Judgement],
    *,
    metrics: Sequence[str] = (),
    beside: Sequence[str] = (),
    lower_is_better: Collection[str] = (),
    aspect: str | None = None,
    scale: Scale | None = None,
) -> Table:
    """Join scores and human judgements of the same texts on (item, system).

    A text without a judgement, or without the score of a metric that others have, is excluded, counted and named;
    nothing is imputed. Several ratings of one text by one annotator count as one, their mean.

    Args:
        scores: Item scores; rows without an item (corpus scores) are ignored.
        judgements: Human judgements of the same texts.
        metrics: The metrics to keep, in this order, with their controls; by default all.
        beside: Metrics to keep as well, where they are scored.
        lower_is_better: Names of the metrics for which lower is better, beside those whose signatures say so.
        aspect: The aspect to keep, where judgements have more than one.
        scale: Scale of the ratings.

    Raises:
        InvalidInput: There are no item scores of a metric, a text has two scores by one metric, a grade is not on the
            scale, or there are several aspects and none was chosen.
        UnknownName: A metric or an aspect does not occur.
        Undefined: No text is on both sides; the message gives the numbers of either side.

    >>> from postil.data.rows import Judgement, Score
    >>> scores = [Score(item, "a", "bleu-4", score, "") for item, score in (("1", 0.2), ("2", 0.4), ("3", 0.1))]
    >>> judgements = [Judgement(item, "a", who, 4) for item in ("1", "2", "4") for who in ("ann", "bob")]
    >>> table = join(scores, judgements)
    >>> len(table), table.items, table.grades.tolist()
    (2, ('1', '2'), [4.0, 4.0])
    >>> print(*table.left_out, sep="; ")
    scored but not judged: 1 (item 3 by a); judged but not scored: 1 (item 4 by a)
    """
    judged = Judged(judgements, aspect, scale)
    scored = Scored(scores)
    scored.check(metrics)
    lower_is_better = scored.falling(lower_is_better)
    some = (*metrics, *(name for name in beside if name in scored.metrics)) if metrics else ()
    wanted = tuple(dict.fromkeys([*some, *(name for name in scored.metrics if metric_of(name) in metrics)]))
    wanted = wanted or scored.metrics
    draws = {control: names for control, names in scored.draws.items() if not metrics or metric_of(control) in metrics}
    scored, judged = united(scored, judged)
    kept, left_out = meet(scored, judged, [*wanted, *(name for names in draws.values() for name in names)])
    keys = list(scored.rows)
    items, systems = (_numbers(keys[row][part] for row in kept.tolist()) for part in (0, 1))
    kept = kept[np.argsort([items[keys[row][0]] for row in kept.tolist()], kind="stable")]
    texts = {keys[row]: text for text, row in enumerate(kept.tolist())}
    ratings = judged.of(list(texts))
    repeated = np.array([texts[key] for key in judged.repeated if key in texts], np.int64)
    return Table(
        items=tuple(items),
        systems=tuple(systems),
        item=np.array([items[item] for item, _ in texts], np.int32),
        system=np.array([systems[system] for _, system in texts], np.int32),
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
        repeated=repeated,
        aspect=judged.aspect,
        scale=scale,
        copies=len(scored.copies.intersection(texts)),
        left_out=(
            *left_out,
            *repeated_texts([keys[row] for row in kept[np.sort(repeated)]]),
            *judged.left_out,
        ),
    )


def united(scored: Scored, judged: Judged) -> tuple[Scored, Judged]:
    """Scores and ratings, of which those that came without systems have the one system of the other side.

    Args:
        scored: The scores.
        judged: The ratings.

    >>> from postil.data.rows import Judgement, Score
    >>> scored, judged = Scored([Score("1", "gpt", "a", 0.5, "")]), Judged([Judgement("1", SYSTEM, "ann", 4.0)])
    >>> list(united(scored, judged)[1].rows), list(judged.rows)
    ([('1', 'gpt')], [('1', 'candidates')])
    """
    named = {system for _, system in (*scored.rows, *judged.rows)}
    sides = {system for _, system in scored.rows}, {system for _, system in judged.rows}
    if len(named) != 2 or {SYSTEM} not in sides or max(map(len, sides)) > 1:
        return scored, judged
    [name] = named - {SYSTEM}
    return scored.of_system(name), judged.of_system(name)


def meet(scored: Scored, judged: Judged, needed: Sequence[str]) -> tuple[NDArray[np.int64], tuple[Excluded, ...]]:
    """Select the score rows of texts that have ratings and all needed scores; name the excluded ones.

    Args:
        scored: The scores.
        judged: The ratings.
        needed: Names of the metrics that a text must be scored by.

    Raises:
        Undefined: There is no such text.
    """
    complete = ~np.isnan(scored.dense[:, [scored.columns[name] for name in needed]]).any(axis=1)
    keys = list(scored.rows)
    there = np.array([key in judged.rows for key in keys], bool)
    kept = np.flatnonzero(complete & there)
    if not len(kept):
        raise Undefined(
            f"no text has both scores and judgements: {len(keys)} scored{such_as(keys)}, {len(judged.rows)} judged"
            f"{such_as(judged.rows)}, {int((there & ~complete).sum())} judged but not scored by every metric; they "
            "meet on item and system"
        )
    return kept, (
        *excluded_texts("scored but not judged", [keys[row] for row in np.flatnonzero(~there)]),
        *excluded_texts("judged but not scored", [key for key in judged.rows if key not in scored.rows]),
        *excluded_texts("not scored by every metric", [keys[row] for row in np.flatnonzero(there & ~complete)]),
    )


def _points_down(name: str, lower_is_better: Collection[str]) -> bool:
    """True if lower is better: a control that is computed by its metric has its direction, a weight has not."""
    control = CONTROL.fullmatch(name)
    in_its_numbers = (
        control is not None
        and control["kind"] not in {"nearest", "mean-weight"}
        and control["metric"] in lower_is_better
    )
    return name in lower_is_better or in_its_numbers


def _numbers(names: Iterable[str]) -> dict[str, int]:
    """Number names in order of first appearance."""
    return {name: number for number, name in enumerate(dict.fromkeys(names))}


def such_as(keys: Iterable[Key]) -> str:
    """The first of some texts as an example, in brackets; empty without any."""
    first = next(iter(keys), None)
    return f" (such as {_named(first)})" if first else ""
