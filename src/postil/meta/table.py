"""Join of scores and human ratings of the same texts; excluded texts are counted and named."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np

from postil.errors import Undefined, UnknownName
from postil.messages import Message
from postil.meta.column_correlations import Texts, starts_of
from postil.meta.score_matrix import Judged, Scored
from postil.results.names import CONTROL, metric_of
from postil.results.parts import NAMED, Excluded

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from postil.data.rows import Judgement, Score
    from postil.data.scale import Scale
    from postil.meta.score_matrix import Key, Ratings

__all__ = ["Table", "excluded_texts", "join", "meet", "repeated_texts"]

REPEATED: Final = Message("graded more than once by one annotator, the mean taken")
"""Texts with several ratings by one annotator; they are kept."""


def excluded_texts(why: str, keys: Sequence[Key]) -> Iterator[Excluded]:
    """One `Excluded` for some texts, or none where there are no texts.

    >>> [str(each) for each in excluded_texts("scored but not judged", [("1", "a"), ("2", "a")])]
    ['scored but not judged: 2 (1 by a, 2 by a)']
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
    return Message("{item} by {system}", item=key[0], system=key[1])


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
    scored but not judged: 1 (3 by a); judged but not scored: 1 (4 by a)
    """
    judged = Judged(judgements, aspect, scale)
    scored = Scored(scores)
    scored.check(metrics)
    lower_is_better = scored.falling(lower_is_better)
    some = (*metrics, *(name for name in beside if name in scored.metrics)) if metrics else ()
    wanted = tuple(dict.fromkeys([*some, *(name for name in scored.metrics if metric_of(name) in metrics)]))
    wanted = wanted or scored.metrics
    draws = {control: names for control, names in scored.draws.items() if not metrics or metric_of(control) in metrics}
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
            f"no text has both scores and judgements: {len(keys)} scored{_such(keys)}, {len(judged.rows)} judged"
            f"{_such(judged.rows)}, {int((there & ~complete).sum())} judged but not scored by every metric; they "
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


def _such(keys: Iterable[Key]) -> str:
    first = next(iter(keys), None)
    return f" (such as {_named(first)})" if first else ""
