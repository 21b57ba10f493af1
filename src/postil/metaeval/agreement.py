"""How far annotators agree with one another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from postil.errors import Undefined
from postil.metaeval.coefficients import ratio, starts_of
from postil.metaeval.raters import raters
from postil.metaeval.rating_pairs import RatingPairs
from postil.metaeval.resampling import RESAMPLES, SEED, counts_of, estimate, in_blocks
from postil.metaeval.score_matrix import Rated
from postil.metaeval.table import LeftOut, name_left_out
from postil.records.explain import shown
from postil.records.names import STATISTICS
from postil.records.row_locations import Places

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from postil.metaeval.raters import Rater
    from postil.metaeval.resampling import Estimate
    from postil.records.rows import Judgement
    from postil.records.scale import Scale

__all__ = ["MOST_LABELS", "STATISTICS", "Agreement", "PairAgreement", "agreement"]

MOST_LABELS: Final = 100
"""With more distinct grades than this they are numbers rather than labels, and only what reads numbers is given."""

ENOUGH: Final = 20
"""Where two annotators share fewer texts than this on average, the mean of their kappas has no interval.

A resample that draws a text of theirs twice has fewer different ones, and the kappas of few texts are too low: the
interval would lie below the value.
"""

_TOO_MANY = f"more than {MOST_LABELS} distinct grades are numbers rather than labels"


@dataclass(frozen=True, slots=True)
class PairAgreement:
    """How far two annotators agree on the texts that they share.

    Args:
        first: An annotator.
        second: Another.
        n: How many texts they share.
        agreement: The share of equal grades.
        unweighted: Cohen's kappa, from -1 to 1.
        linear: Cohen's kappa with linear weights.
        quadratic: Cohen's kappa with quadratic weights.
        reason: Why there is no kappa, where they are None; else empty.
    """

    first: str
    second: str
    n: int
    agreement: float
    unweighted: float | None
    linear: float | None
    quadratic: float | None
    reason: str


@dataclass(frozen=True, slots=True, eq=False)
class Agreement:
    """How far annotators agree.

    Args:
        texts: How many texts were graded.
        items: How many items have a text with two grades or more; these are resampled.
        ratings: How many grades there are.
        labels: The distinct grades, rising.
        estimates: The statistics that exist, in the order of `STATISTICS`.
        absent: Why the others do not, in words.
        confusion: int64[labels, labels], how often two ratings of one text are a row's and a column's label, each pair
            in both orders; None where there are too many labels.
        pairs: Every two annotators who share a text.
        raters: Every annotator.
        left_out: Texts that are in no pair, or not as they came.
        notes: What else to know, in words.
        aspect: What was judged, where there was more than one question.
        scale: The scale of the grades, where it is known.
        resamples: How many resamples the intervals are of.
        seed: Their seed.
    """

    texts: int
    items: int
    ratings: int
    labels: tuple[float, ...]
    estimates: Mapping[str, Estimate]
    absent: Mapping[str, str]
    confusion: NDArray[np.int64] | None
    pairs: tuple[PairAgreement, ...]
    raters: tuple[Rater, ...]
    left_out: tuple[LeftOut, ...]
    notes: tuple[str, ...]
    aspect: str | None
    scale: Scale | None
    resamples: int
    seed: int


def agreement(
    judgements: Iterable[Judgement],
    *,
    aspect: str | None = None,
    scale: Scale | None = None,
    labels: Sequence[float] | None = None,
    resamples: int = RESAMPLES,
    seed: int = SEED,
    places: Places | None = None,
) -> Agreement:
    """Kappas, alphas and more of all ratings, of each pair of annotators and of each annotator.

    A text is an item and a system. Cohen's kappa is ``1 - observed / expected disagreement`` of two annotators, with
    disagreement ``x != y``, ``|x - y|`` (linear) or ``(x - y)^2`` (quadratic) of the grades themselves, not of their
    ranks. Over many annotators it is taken in two ways, see `STATISTICS`. Krippendorff's alpha (2011, "Computing
    Krippendorff's Alpha-Reliability") takes any number of ratings of a text. All are 1 for perfect agreement and 0 for
    chance. Intervals are by the bootstrap over items. Several grades of one text by one annotator count as one, their
    mean.

    Args:
        judgements: The grades.
        aspect: The question to keep the answers of, where judgements have more than one.
        scale: The scale of the grades.
        labels: The grades that can be given; by default those that are. A mean of several grades is added to them.
        resamples: How many resamples.
        seed: The seed.
        places: Where the rows stand, for messages.

    Raises:
        InvalidInput: A grade is not on the scale or not a label, or there are several aspects and none was chosen.
        UnknownName: There is no such aspect.
        Undefined: There is one annotator, or no text has the grades of two.

    >>> from postil.records.rows import Judgement
    >>> grades = {"ann": [1, 2, 3, 3], "bob": [1, 2, 3, 2]}
    >>> found = agreement(Judgement(i, "a", who, grade) for who in grades for i, grade in enumerate(grades[who]))
    >>> found.estimates["agreement"].value, round(found.estimates["kappa-quadratic-pairs"].value, 4)
    (0.75, 0.8)
    >>> found.confusion.tolist()
    [[2, 0, 0], [0, 2, 1], [0, 1, 2]]
    >>> [(rater.name, rater.severity.value) for rater in found.raters]
    [('ann', 0.25), ('bob', -0.25)]
    """
    places = places or Places("judgements")
    rated = Rated(_labelled(judgements, aspect, labels, places), aspect, scale, places)
    keys = sorted(rated.rows)
    ratings = rated.of(keys)
    if len(ratings.names) < 2:
        raise Undefined(f"agreement needs two annotators, and all grades are by {ratings.names[0]}")
    several = ratings.counts > 1
    if not several.any():
        raise Undefined("agreement needs texts with the grades of two annotators, and every text has those of one")
    item = np.full(len(keys), -1)
    item[several] = np.unique([keys[text][0] for text in np.flatnonzero(several)], return_inverse=True)[1]
    items = int(item.max()) + 1
    copies = np.concatenate([np.ones((1, items), np.int32), counts_of(items, resamples, seed)])  # first the data itself
    values = np.unique(np.concatenate([ratings.grades, np.array([] if labels is None else labels, np.float64)]))
    few = len(values) <= MOST_LABELS
    pairs = RatingPairs(ratings, item, values)
    samples = _statistics(pairs, copies, few=few)
    absent = {name: _TOO_MANY for name in STATISTICS if name not in samples}
    absent |= {name: _why(name, values[pairs.labels[0, 0]]) for name in samples if np.isnan(samples[name][0])}
    of_annotators = tuple(_pairs(pairs, few=few))
    return Agreement(
        texts=len(keys),
        items=items,
        ratings=len(ratings.grades),
        labels=tuple(values.tolist()),
        estimates={name: estimate(samples[name], items) for name in STATISTICS if name not in absent},
        absent=absent,
        confusion=pairs.confusion() if few else None,
        pairs=of_annotators,
        raters=tuple(raters(ratings, item, values, copies, few=few)),
        left_out=(
            *name_left_out("graded by one annotator only, so in no pair", [keys[i] for i in np.flatnonzero(~several)]),
            *name_left_out("graded more than once by one annotator, the mean taken", list(rated.repeated)),
        ),
        notes=tuple(_notes(pairs.shared, of_annotators)) if few else (),
        aspect=rated.aspect,
        scale=scale,
        resamples=resamples,
        seed=seed,
    )


def _labelled(
    judgements: Iterable[Judgement], aspect: str | None, labels: Sequence[float] | None, places: Places
) -> Iterator[Judgement]:
    """The judgements, refusing a grade that is not a label."""
    known = None if labels is None else set(labels)
    for place, row in enumerate(judgements):
        if known is not None and aspect in (None, row.aspect) and row.grade not in known:
            problem = f"expected one of the labels {', '.join(map(shown, sorted(known)))}, got {shown(row.grade)}"
            raise places.error(place, "grade", problem)
        yield row


def _notes(shared: float, pairs: Sequence[PairAgreement]) -> Iterator[str]:
    """What else to know of the kappas that are means over pairs."""
    without = [f"{pair.first} and {pair.second}" for pair in pairs if pair.reason]
    if without:
        yield str(LeftOut.of("no kappa, so not in the mean over pairs", without))
    if shared < ENOUGH:
        yield (
            f"two annotators share {shared:.1f} texts on average; kappas of fewer than {ENOUGH} are pulled towards 0, "
            "and their mean over pairs is given without an interval: read the pooled ones"
        )


def _why(name: str, label: float) -> str:
    """Why a statistic of all ratings does not exist."""
    if name.endswith("pairs"):
        return "every two annotators gave only one label to the texts that they share"
    return f"all texts with two grades or more have only the label {shown(label)}"


def _statistics(pairs: RatingPairs, copies: NDArray[np.int32], *, few: bool) -> dict[str, NDArray[np.float64]]:
    """Every statistic for each row of copies of the items, or for the first alone; NaN where it does not exist."""
    pooled, per_rating = pairs.pooled(), np.tile(1 / pairs.others, 2)

    def of_all(block: NDArray[np.int32]) -> dict[str, NDArray[np.float64]]:
        cells = pooled.cells(block)
        kappas = pooled.kappas(cells) if few else {}
        # For alpha each rating counts once, however many its text has.
        alphas = pooled.alphas(pooled.cells(block, per_rating))
        return {
            "agreement": pooled.share(cells, 0.0)[:, 0],
            "within-1": pooled.share(cells, 1.0)[:, 0],
            **{f"kappa-{kind}-pooled": kappa[:, 0] for kind, kappa in kappas.items()},
            **{f"alpha-{level}": alpha for level, alpha in alphas.items() if few or level == "interval"},
        }

    def of_pairs(block: NDArray[np.int32]) -> dict[str, NDArray[np.float64]]:
        cells = pairs.tables.cells(block)
        n = pairs.tables.sizes(cells)
        return {f"kappa-{kind}-pairs": _weighted_mean(kappa, n) for kind, kappa in pairs.tables.kappas(cells).items()}

    samples = in_blocks(of_all, copies, 2 * len(pairs.item))
    if few:
        of_enough = copies if pairs.shared >= ENOUGH else copies[:1]
        samples |= in_blocks(of_pairs, of_enough, max(len(pairs.item), pairs.tables.crossing.shape[1]))
    return samples


def _weighted_mean(values: NDArray[np.float64], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Means over the last axis of the values that are there."""
    there = ~np.isnan(values)
    return ratio((np.where(there, values, 0) * weights).sum(axis=-1), (there * weights).sum(axis=-1))


def _pairs(pairs: RatingPairs, *, few: bool) -> Iterator[PairAgreement]:
    """Every two annotators who share a text."""
    tables = pairs.tables
    cells = tables.cells(np.ones((1, pairs.item.max() + 1), np.int32))
    shared, equal = tables.sizes(cells)[0], tables.share(cells, 0.0)[0]
    kappas = {kind: kappa[0] for kind, kappa in tables.kappas(cells).items()} if few else {}
    label = tables.first[starts_of(tables.group)]
    for number, code in enumerate(pairs.codes.tolist()):
        first, second = (pairs.names[i] for i in divmod(code, len(pairs.names)))
        reason = "" if kappas else _TOO_MANY
        if kappas and np.isnan(kappas["unweighted"][number]):
            reason = f"{first} and {second} gave only the label {shown(float(pairs.values[label[number]]))}"
        of_pair = {kind: None if reason else float(kappa[number]) for kind, kappa in kappas.items()}
        yield PairAgreement(
            first=first,
            second=second,
            n=round(shared[number]),
            agreement=float(equal[number]),
            unweighted=of_pair.get("unweighted"),
            linear=of_pair.get("linear"),
            quadratic=of_pair.get("quadratic"),
            reason=reason,
        )
