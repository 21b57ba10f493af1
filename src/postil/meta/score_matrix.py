"""Matrix of scores by text and metric, and single ratings by text."""

from __future__ import annotations

import math
import re
from array import array
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np

from postil.data.explain import shown
from postil.data.row_locations import located
from postil.data.ties import without_noise
from postil.errors import InvalidInput, UnknownName
from postil.messages import Blank, Message, Setting
from postil.meta.column_correlations import starts_of
from postil.results.names import falls_by_signature

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from numpy.typing import NDArray

    from postil.data.rows import Judgement, Score
    from postil.data.scale import Scale

__all__ = ["Judged", "Key", "Ratings", "Scored"]

Key: TypeAlias = tuple[str, str]
"""Join key of scores and judgements: item and system."""

DRAW: Final = re.compile(r"(?P<name>control:.*),draw=(?P<draw>0|[1-9][0-9]{0,8})\)")
"""The name of one draw of a random control, for example ``control:shuffled(w-meteor,draw=7)``."""

TOKENIZER: Final = re.compile(r"\|tokenizer:([^|]*)")
"""The tokenizer in a signature."""


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
            problem = f"expected item scores (postil score --items FILE writes them), got {had}"
            raise InvalidInput(problem, where=self.where)
        self.draws = _draws(self.columns)
        drawn = {name for names in self.draws.values() for name in names}
        self.metrics = tuple(name for name in self.columns if name not in drawn)
        if not self.metrics:
            problem = "expected item scores of a metric, got nothing but draws of random controls, such as "
            raise InvalidInput(problem + next(iter(self.columns)), where=self.where)
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
        aspects: dict[str | None, None] = {}
        for place, row in enumerate(judgements):
            aspects[row.aspect] = None
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
            raise UnknownName("aspect", aspect or "", known)
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


def _draws(columns: Iterable[str]) -> dict[str, list[str]]:
    """Columns of each random control, ordered by draw."""
    found: dict[str, dict[int, str]] = {}
    for name in columns:
        match = DRAW.fullmatch(name)
        if match:
            found.setdefault(f"{match['name']})", {})[int(match["draw"])] = name
    return {control: [names[draw] for draw in sorted(names)] for control, names in found.items()}
