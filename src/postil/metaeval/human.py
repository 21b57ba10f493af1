"""How well people agree with people: what a metric's correlation is to be held against."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

import numpy as np

from postil.errors import Undefined, UsageError
from postil.metaeval.correlation import Absent, Correlations, row_of
from postil.metaeval.multiple_ratings import SeveralRatings
from postil.metaeval.replicates import resampled
from postil.metaeval.resampling import RESAMPLES, SEED, counts_of
from postil.records.names import CEILING, HALVES, ONE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from postil.engine import Engine
    from postil.metaeval.coefficients import Coefficient
    from postil.metaeval.correlation import Correlation
    from postil.metaeval.replicates import By
    from postil.metaeval.table import Table

__all__ = ["SPLITS", "Human", "ceiling", "human"]

SPLITS: Final = 100
"""How many splits, where no number is given."""


@dataclass(frozen=True, slots=True)
class Human:
    """What `human` found.

    Args:
        rows: Split halves (`HALVES`; ``sd`` is over the splits), then one against the rest (`ONE`), by coefficient.
        absent: What does not exist, with why; among it the ceiling (`CEILING`).
        reliability: r, Pearson's coefficient of two single ratings of a text; None if there is none.
        rule: What r is the mean over: ``annotators``, pairs of annotators weighted by the texts they share; or
            ``ratings``, draws of two ratings of every text, where no two annotators share enough texts.
        pairs: How many pairs of annotators, or draws.
        k: Harmonic mean of the number of ratings of a text.
        ceiling: The highest Pearson correlation over all texts that anything can be expected to have with the mean
            grades, see `ceiling`; None if there is none.
        n: How many texts have two ratings or more.
        left_out: How many have one.
        splits: How many splits.
    """

    rows: tuple[Correlation, ...]
    absent: tuple[Absent, ...]
    reliability: float | None
    rule: Literal["annotators", "ratings"]
    pairs: int
    k: float
    ceiling: float | None
    n: int
    left_out: int
    splits: int


def ceiling(reliability: float | None, k: float) -> float:
    """The reliability ceiling: the highest correlation to be expected of anything with the mean of k ratings.

    The square root of the reliability of that mean, ``k r / (1 + (k - 1) r)`` (Spearman 1910, Brown 1910). It bounds
    the correlation in the population; in a sample a metric can exceed it by chance.

    Args:
        reliability: r, the correlation of two single ratings; None if there is none.
        k: How many ratings the mean is over.

    Raises:
        Undefined: There is no r, or it is not above 0.

    >>> round(ceiling(0.597, 2), 3)
    0.865
    """
    if reliability is None:
        raise Undefined("two ratings of a text have no correlation, since one side's grades are all the same")
    if reliability <= 0:
        raise Undefined(f"two ratings of a text correlate {reliability:.3f}, and a ceiling needs more than 0")
    return math.sqrt(k * reliability / (1 + (k - 1) * reliability))


def human(
    table: Table,
    coefficients: Sequence[Coefficient] = ("pearson", "spearman", "kendall-b"),
    by: By = "pool",
    *,
    splits: int = SPLITS,
    resamples: int = RESAMPLES,
    seed: int = SEED,
    jobs: int = 1,
    engine: Engine | None = None,
) -> Human:
    """People against people, over the texts with two ratings or more.

    *Split halves*: each text's ratings are split at random into two groups whose sizes differ by at most one, and the
    groups' mean grades correlated; the mean over the splits. That is no reliability: it is not stepped up from half the
    ratings to all of them. In the interval each resample of the items takes one of
    the splits in turn, so it covers the chance in both. *One against the rest*: every rating is a point, against the
    mean of the other ratings of its text; always over all texts together, since within an item or a system the rating
    and the rest come from the same few grades. *Ceiling*: see `ceiling`. Annotators who differ in severity lower the
    first two, but not r where that is over pairs of annotators.

    Args:
        table: A table of n texts; an annotator's name is only an id, texts may have different ones.
        coefficients: Which coefficients.
        by: What the split halves are over; see `correlations`.
        splits: How many splits.
        resamples: How many resamples of the items.
        seed: Of splits and resamples.
        jobs: Threads; the numbers do not depend on it.
        engine: Where resamples are gone through, if not here.

    Raises:
        Undefined: There is one annotator only, or no text has two ratings.
        UnknownName: There is no such coefficient or level.
        UsageError: Fewer than one split or resample.

    >>> from postil.metaeval.table import join
    >>> from postil.records.rows import Judgement, Score
    >>> scores = [Score(str(i), "a", "length", i, "") for i in range(12)]
    >>> judges = {"ann": 0, "bob": 6}
    >>> grades = [Judgement(str(i), "a", who, i + (i == differs)) for i in range(12) for who, differs in judges.items()]
    >>> found = human(join(scores, grades), ["pearson"])
    >>> round(found.reliability, 4), found.rule, found.k, round(found.ceiling, 4)
    (0.9937, 'annotators', 2.0, 0.9984)
    """
    if splits < 1:
        raise UsageError(f"expected at least one split, got {splits}")
    rated = SeveralRatings.of(table)
    rng = np.random.default_rng(seed)
    orders = [rated.shuffled(rng) for _ in range(splits)]
    halves = [rated.halves(order, rng) for order in orders]
    counts = counts_of(int(rated.item[-1]) + 1, resamples, seed)
    rows: list[Correlation | Absent] = []
    for coefficient in dict.fromkeys(coefficients):
        parts = [
            resampled(
                *(one[:, None], other, rated.item, rated.system, counts[split::splits], coefficient, by),
                jobs=jobs,
                engine=engine,
            )
            for split, (one, other) in enumerate(halves)
        ]
        values, samples = (np.concatenate(each) for each in zip(*((p.values, p.samples) for p in parts), strict=True))
        dropped = max(int(part.dropped[0]) for part in parts)
        rows.append(row_of(HALVES, coefficient, by, values, samples, parts[0].n, dropped, rated.why_not(by)))
    of_rating = np.repeat(rated.item, rated.sizes), np.repeat(rated.system, rated.sizes)
    for coefficient in dict.fromkeys(coefficients):
        one, rest = rated.grades[:, None], rated.rest
        part = resampled(one, rest, *of_rating, counts, coefficient, "pool", jobs=jobs, engine=engine)
        rows.append(row_of(ONE, coefficient, "pool", part.values, part.samples, part.n, 0, rated.why_not("pool")))

    rule: Literal["annotators", "ratings"] = "annotators"
    each, shared = rated.pairs_of_annotators()
    if not len(each):
        rule = "ratings"
        each = rated.pairs_of_ratings(orders)
        shared = np.ones(len(each), np.int64)
    reliability = float(np.average(each, weights=shared)) if len(each) else None
    k = float(1 / np.mean(1 / table.ratings.counts))
    highest = None
    try:
        highest = ceiling(reliability, k)
    except Undefined as why:
        rows.append(Absent(CEILING, "pearson", "pool", str(why)))
    found = Correlations.of(rows)
    return Human(
        rows=found.rows,
        absent=found.absent,
        reliability=reliability,
        rule=rule,
        pairs=len(each),
        k=k,
        ceiling=highest,
        n=len(rated.sizes),
        left_out=len(table) - len(rated.sizes),
        splits=splits,
    )
