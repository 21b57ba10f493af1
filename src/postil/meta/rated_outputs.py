"""Assembly of scores and ratings into outputs: items by systems, each with all scores, and some with ratings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from postil.data.ties import without_noise
from postil.errors import Undefined, UsageError
from postil.messages import Message, Setting
from postil.meta.estimation import Outputs
from postil.meta.severity import severities
from postil.meta.table import excluded_texts, repeated_texts
from postil.results.parts import Excluded

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from postil.kernel.arrays import Floats, Int64s
    from postil.meta.score_matrix import Judged, Key, Ratings, Scored
    from postil.meta.severity import Rule
    from postil.results.parts import Severity

__all__ = ["RatedOutputs", "chosen_metrics", "outputs_of"]


@dataclass(frozen=True, slots=True, eq=False)
class RatedOutputs:
    """Outputs of S systems for N items, with their names.

    Args:
        outputs: Scores and mean ratings, without severities where they are removed.
        single: The single ratings of the rated outputs, without severities likewise.
        single_given: The same as they were given.
        places: int64[n] twice, the item and the system of each of these outputs.
        items: Names of the items.
        systems: Names of the systems.
        metrics: Names of the scores.
        signatures: Signature of each metric.
        ratings: int64[S], number of ratings of each system.
        annotators: Number of annotators.
        aspect: The aspect that was judged; None where there is only one, without a name.
        excluded: Everything that was excluded, and outputs whose ratings were averaged.
        severity: Severities of the annotators; None where no output has two ratings.
    """

    outputs: Outputs
    single: Ratings
    single_given: Ratings
    places: tuple[Int64s, Int64s]
    items: tuple[str, ...]
    systems: tuple[str, ...]
    metrics: tuple[str, ...]
    signatures: tuple[str, ...]
    ratings: Int64s
    annotators: int
    aspect: str | None
    excluded: tuple[Excluded, ...]
    severity: Severity | None


def outputs_of(
    scored: Scored | None,
    judged: Judged,
    metrics: Sequence[str] = (),
    *,
    scores: bool = True,
    severity: Rule = "keep",
) -> RatedOutputs:
    """Assemble scores and ratings.

    Every item has all systems with all scores, and every system has ratings: what lacks something is excluded, counted
    and named. Nothing is imputed.

    Args:
        scored: The scores; None where there are only ratings.
        judged: The ratings.
        metrics: The metrics to keep; by default all but controls.
        scores: False to use the ratings alone, so that outputs without a score stay.
        severity: Rule for severities of annotators in the ratings.

    Raises:
        UnknownName: There is no such metric.
        UsageError: There is no metric besides controls.
        Undefined: No output has both scores and ratings.

    >>> from postil.meta.score_matrix import Judged, Scored
    >>> from postil.data.rows import Judgement, Score
    >>> rows = [Score(item, system, "judge", 0.5, "") for item in "123" for system in "ab"]
    >>> made = outputs_of(Scored(rows), Judged([Judgement("2", "a", "ann", 4.0), Judgement("9", "a", "ann", 2.0)]))
    >>> made.systems, made.outputs.grades.tolist(), list(map(str, made.excluded))
    (('a',), [[nan], [4.0], [nan]], ['systems without grades: 1 (b)', 'judged but not scored: 1 (9 by a)'])
    """
    if scored is None or not scores:
        keys = list(dict.fromkeys([*(scored.rows if scored else ()), *judged.rows]))
        return _made(keys, None, judged, (), severity)
    wanted = chosen_metrics(scored, metrics)
    dense = scored.dense[:, [scored.columns[name] for name in wanted]]
    keys, complete = list(scored.rows), ~np.isnan(dense).any(axis=1)
    graded = {key[1] for key in keys if key in judged.rows}
    lacking = [key for key, there in zip(keys, complete.tolist(), strict=True) if not there and key[1] in graded]
    systems, items = _whole([key for key, there in zip(keys, complete.tolist(), strict=True) if there], judged)
    if not items:
        raise Undefined(_nothing(keys, judged, lacking))
    lost = [name for name in dict.fromkeys(key[0] for key in keys) if name not in items]
    return _made(
        [key for key in keys if key[0] in items and key[1] in systems],
        (scored, wanted),
        judged,
        (
            *_named(Message("systems without grades"), [each for each in _systems(keys) if each not in graded]),
            *_named(
                "systems whose grades are all excluded",
                [each for each in _systems(keys) if each in graded and each not in systems],
            ),
            *excluded_texts("not scored by every metric", lacking),
            *_named("items without all systems, excluded with their grades", lost),
            *excluded_texts("judged but not scored", [key for key in judged.rows if key not in scored.rows]),
        ),
        severity,
    )


def chosen_metrics(scored: Scored, metrics: Sequence[str]) -> tuple[str, ...]:
    """Metrics to use of scores.

    Args:
        scored: The scores.
        metrics: The metrics that were asked for; by default all but controls.

    Raises:
        UnknownName: There is no such metric.
        UsageError: There is no metric besides controls.
    """
    scored.check(metrics)
    wanted = tuple(dict.fromkeys(metrics or [name for name in scored.metrics if not name.startswith("control:")]))
    if not wanted:
        raise UsageError(
            "all scores are controls, which are used where {metrics} names them: {control}",
            metrics=Setting("metrics"),
            control=scored.metrics[0],
        )
    return wanted


def _whole(keys: Sequence[Key], judged: Judged) -> tuple[set[str], set[str]]:
    """Systems with ratings, and the items that have all of them.

    A system whose ratings are all on other items has none left, so it goes, and more items may be whole without it.
    """
    of: dict[str, set[str]] = {}
    for item, system in keys:
        of.setdefault(item, set()).add(system)
    systems = {key[1] for key in keys if key in judged.rows}
    while systems:
        items = {item for item, several in of.items() if systems <= several}
        left = {
            system for item, system in keys if item in items and system in systems and (item, system) in judged.rows
        }
        if left == systems:
            return systems, items
        systems = left
    return set(), set()


def _nothing(keys: Sequence[Key], judged: Judged, lacking: Sequence[Key]) -> str:
    def such(some: Iterable[Key]) -> str:
        item, system = next(iter(some))
        return f" (such as {item} by {system})"

    return (
        f"no graded output has all scores on an item that all systems have: {len(keys)} scored{such(keys)}, "
        f"{len(judged.rows)} judged{such(judged.rows)}, {len(lacking)} not scored by every metric; scores and "
        "judgements meet on item and system"
    )


def _systems(keys: Iterable[Key]) -> list[str]:
    return list(dict.fromkeys(key[1] for key in keys))


def _named(why: str, names: Sequence[str]) -> tuple[Excluded, ...]:
    return (Excluded.of(why, names),) if names else ()


def _made(
    keys: Sequence[Key],
    scores: tuple[Scored, tuple[str, ...]] | None,
    judged: Judged,
    excluded: tuple[Excluded, ...],
    rule: Rule,
) -> RatedOutputs:
    """Outputs of some keys; without scores, systems without ratings are excluded here."""
    graded = [key for key in keys if key in judged.rows]
    there = set(_systems(graded))
    items = {name: place for place, name in enumerate(dict.fromkeys(key[0] for key in keys))}
    systems = {name: place for place, name in enumerate(each for each in _systems(keys) if each in there)}
    if scores is None:
        excluded = _named(Message("systems without grades"), [each for each in _systems(keys) if each not in there])
    scored, wanted = scores if scores is not None else (None, ())
    grid = np.zeros((len(items), len(systems), len(wanted)))
    if scored is not None:
        rows = np.zeros(grid.shape[:2], np.int64)
        for key in keys:
            rows[items[key[0]], systems[key[1]]] = scored.rows[key]
        grid = scored.dense[:, [scored.columns[name] for name in wanted]][rows]
    given = judged.of(graded)
    biased = severities(given)
    removed = biased if biased is not None and biased.removed(rule) else None
    ratings = removed.adjusted if removed else given
    at = np.array([items[key[0]] for key in graded], np.int64), np.array([systems[key[1]] for key in graded], np.int64)
    grades, counts = np.full(grid.shape[:2], np.nan), np.zeros(grid.shape[:2], np.int64)
    grades[at], counts[at] = ratings.means, ratings.counts
    return RatedOutputs(
        outputs=Outputs(
            scores=grid,
            grades=grades,
            counts=counts,
            rater_variance=removed.variance if removed else _rater_variance(given),
            by_severities=removed.covariance(_shares(ratings, at[1], len(systems))) if removed else None,
        ),
        single=ratings,
        single_given=given,
        places=at,
        items=tuple(items),
        systems=tuple(systems),
        metrics=wanted,
        signatures=tuple(scored.signatures[name] for name in wanted) if scored is not None else (),
        ratings=np.asarray(counts.sum(axis=0)),
        annotators=len(ratings.names),
        aspect=judged.aspect,
        excluded=(
            *excluded,
            *repeated_texts([key for key in graded if key in judged.repeated]),
            *judged.left_out,
        ),
        severity=biased.told(rule) if biased else None,
    )


def _shares(ratings: Ratings, system: Int64s, systems: int) -> Floats:
    """float64[S, A], share of each annotator in the mean rating of each system.

    Args:
        ratings: Ratings of n outputs.
        system: int64[n], system of each output.
        systems: S.
    """
    counts, annotators = ratings.counts, len(ratings.names)
    cell = np.repeat(system, counts) * annotators + ratings.annotators
    shares = np.bincount(cell, np.repeat(1 / counts, counts), minlength=systems * annotators)
    return np.asarray(shares.reshape(systems, annotators) / np.bincount(system, minlength=systems)[:, None])


def _rater_variance(ratings: Ratings) -> float | None:
    """Variance of ratings within outputs, pooled; None where no output has two."""
    counts = ratings.counts
    spare = int((counts - 1).sum())
    if spare < 1:
        return None
    of = np.repeat(np.arange(len(counts)), counts)
    apart = without_noise(ratings.grades - ratings.means[of], np.abs(ratings.grades))
    return float((apart**2).sum() / spare)
