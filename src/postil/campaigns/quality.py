"""Quality of the ratings of each annotator: gold and repeated items, attention checks, time, agreement over time.

A concern is a measure that is worse than chance explains: a share that is less probable than 1 in 200 if the annotator
is like the others together (Fisher's exact test), or a mean that is more than three standard errors away.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from itertools import combinations, pairwise
from statistics import fmean, median
from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec
import numpy as np

from postil.campaigns.result import AnnotatorQuality, ConcernKind, QualityConcern, RatingWindow
from postil.data.groups import grouped
from postil.data.parts import Estimate
from postil.data.rows import Judgement
from postil.errors import Undefined
from postil.messages import Message
from postil.raters.result import Consistency

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from postil.campaigns.models import Purpose, Rating
    from postil.campaigns.rubric import Rubric
    from postil.raters.options import CompetenceModel

__all__ = [
    "InferredGrades",
    "annotator_quality",
    "inferred_grades",
    "reading_length",
    "with_gold_labels",
    "with_themselves",
]


def with_themselves(ratings: Sequence[Rating]) -> tuple[Consistency, ...]:
    """Compare each annotator's second rating of a repeated item with the first (intra-annotator agreement).

    Args:
        ratings: The ratings.
    """
    second = {(one.number, one.annotator): one.grade for one in ratings if one.round > 1}
    return tuple(
        _compare(
            (one.annotator, second[one.number, one.annotator], one.grade)
            for one in ratings
            if one.round == 1 and (one.number, one.annotator) in second
        )
    )


def with_gold_labels(ratings: Sequence[Rating], purpose: Purpose = "") -> tuple[Consistency, ...]:
    """Compare each annotator's first rating of a gold item with its label.

    Args:
        ratings: The ratings.
        purpose: Purpose of the gold items, see `postil.campaigns.models.Item`.
    """
    return tuple(
        _compare(
            (one.annotator, one.grade, one.gold)
            for one in ratings
            if one.round == 1 and one.gold is not None and one.purpose == purpose
        )
    )


def _compare(pairs: Iterable[tuple[str, float, float]]) -> Iterator[Consistency]:
    """One row per annotator, of the differences between ratings and their references."""
    differences = grouped((name, grade - reference) for name, grade, reference in pairs)
    for name, mine in sorted(differences.items()):
        yield Consistency(
            annotator=name,
            n=len(mine),
            equal=fmean(difference == 0 for difference in mine),
            apart=fmean(map(abs, mine)),
            above=fmean(mine),
        )


RARE: Final = 0.005
"""Largest probability of a share that is a concern."""

FAR: Final = 3.0
"""Smallest number of standard errors of a mean that is a concern."""

FEWEST: Final = 10
"""Smallest number of ratings that a mean is judged by."""

LARGE: Final = 0.1
"""Smallest bias or drift that is a concern, as a share of the scale."""

WINDOWS: Final = 20
"""Maximum number of windows per annotator; none has fewer than `FEWEST` ratings, if there are as many."""

READ_PER_SECOND: Final = 120.0
"""Characters per second that nobody reads faster: about 1,250 English words per minute."""

HURRY: Final = 0.25
"""Share of the typical time for texts of this length; a faster rating counts as fast."""

WIDE: Final = 4
"""Characters of English that take as long to read as one of Chinese, Japanese or Korean."""

GRAVITY: Final[Mapping[ConcernKind, int]] = {
    "attention": 4,
    "gold": 3,
    "fast": 3,
    "competence": 3,
    "apart": 2,
    "repeated": 2,
    "drift": 1,
    "severity": 1,
}
"""Weight of each concern in the order of annotators."""

_CJK: Final = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")


class InferredGrades(NamedTuple):
    """Competence of annotators, and the grades that it implies.

    Args:
        competence: Competence by annotator; without those who share no item with others.
        weighted: Mean grade weighted by competence, by number of the item.
        expected: Posterior mean of the grade, by number of the item.
        reason: The reason where there are none; else empty.
    """

    competence: Mapping[str, float]
    weighted: Mapping[int, float]
    expected: Mapping[int, float]
    reason: str = ""


def reading_length(text: str) -> float:
    """Length of a text in characters of English that take as long to read.

    Args:
        text: The text.

    >>> reading_length("a swimmer"), reading_length("游泳")
    (9.0, 8.0)
    """
    return float(len(text) + (WIDE - 1) * len(_CJK.findall(text)))


def annotator_quality(
    ratings: Sequence[Rating],
    lengths: Mapping[int, float],
    rubric: Rubric,
    competence: Mapping[str, float] | None = None,
) -> tuple[AnnotatorQuality, ...]:
    """Measure the quality of each annotator's ratings, those with the gravest concerns first.

    Args:
        ratings: The ratings.
        lengths: Length of each item's text by its number, see `reading_length`.
        rubric: The rubric.
        competence: Competence by annotator, as far as it is known.
    """
    competence = competence or {}
    gold, again = _by_annotator(with_gold_labels(ratings)), _by_annotator(with_themselves(ratings))
    trained = _by_annotator(with_gold_labels(ratings, "training"))
    checks = _by_annotator(with_gold_labels(ratings, "attention"))
    beside, equal = _beside_others(ratings), _equal_to_others(ratings)
    fast = _fast(ratings, lengths)
    found = []
    by_name = grouped((one.annotator, one) for one in ratings)
    for name, mine in sorted(by_name.items(), key=lambda pair: (len(pair[0]), pair[0])):
        seconds = [one.seconds for one in mine if one.seconds is not None]
        check, hurried = checks.get(name), fast.get(name, ())
        made = AnnotatorQuality(
            annotator=name,
            ratings=len(mine),
            gold=gold.get(name),
            training=trained.get(name),
            repeated=again.get(name),
            attention=check.n if check else 0,
            passed=round(check.n * check.equal) if check else 0,
            seconds=median(seconds) if seconds else None,
            timed=len(hurried),
            fast=sum(hurried) / len(hurried) if hurried else None,
            competence=competence.get(name),
        )
        found.append(_with_others(made, beside.get(name)))
    scale = float(rubric.high - rubric.low) if rubric.grades else 1.0
    judged = [
        _with_concerns(one, [other for other in found if other is not one], beside, equal, scale) for one in found
    ]
    if rubric.kind == "pair":  # neither side of a pair is the higher grade
        judged = [_without_directions(one) for one in judged]
    return tuple(sorted(judged, key=lambda one: -sum(GRAVITY[each.kind] for each in one.concerns)))


def _by_annotator(rows: Iterable[Consistency]) -> dict[str, Consistency]:
    return {row.annotator: row for row in rows}


class _Share(NamedTuple):
    """Number of good ratings, and of all."""

    good: int
    n: int

    @property
    def value(self) -> float:
        return self.good / self.n

    def is_less(self, other: _Share) -> bool:
        """True if so small a share is less probable than `RARE` where both are equal, by Fisher's exact test."""
        if not self.n or not other.n or self.value >= other.value:
            return False
        n, good = self.n + other.n, self.good + other.good
        some = range(max(0, good - other.n), self.good + 1)
        logs = (_log_choose(good, k) + _log_choose(n - good, self.n - k) - _log_choose(n, self.n) for k in some)
        return math.fsum(map(math.exp, logs)) < RARE


def _log_choose(n: int, k: int) -> float:
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)


class _Beside(NamedTuple):
    """Ratings of an annotator beside the mean of the others, in order of time."""

    grades: NDArray[np.float64]
    others: NDArray[np.float64]
    seconds: NDArray[np.float64]

    @property
    def above(self) -> NDArray[np.float64]:
        return self.grades - self.others


def _by_item(ratings: Sequence[Rating]) -> Iterable[list[Rating]]:
    """First ratings of each item that is not gold."""
    return grouped((one.number, one) for one in ratings if one.round == 1 and one.gold is None).values()


def _equal_to_others(ratings: Sequence[Rating]) -> dict[str, tuple[_Share, _Share]]:
    """Share of equal grades among the pairs of ratings of an item that are an annotator's, and among all the others."""
    pairs = [
        ((one.annotator, other.annotator), one.grade == other.grade)
        for given in _by_item(ratings)
        for one, other in combinations(given, 2)
    ]
    mine = grouped((name, same) for names, same in pairs for name in names)
    equal = sum(same for _, same in pairs)
    return {
        name: (_Share(sum(same), len(same)), _Share(equal - sum(same), len(pairs) - len(same)))
        for name, same in mine.items()
    }


def _beside_others(ratings: Sequence[Rating]) -> dict[str, _Beside]:
    """First ratings of items that are not gold, each beside the mean of the others of its item."""
    rows: defaultdict[str, list[tuple[float, float, float, float]]] = defaultdict(list)
    for given in _by_item(ratings):
        total = math.fsum(one.grade for one in given)
        for one in given if len(given) > 1 else ():
            rest = (total - one.grade) / (len(given) - 1)
            rows[one.annotator].append((one.time, one.grade, rest, math.nan if one.seconds is None else one.seconds))
    return {name: _Beside(*np.array([row[1:] for row in sorted(mine)]).T) for name, mine in rows.items()}


def _fast(ratings: Sequence[Rating], lengths: Mapping[int, float]) -> dict[str, list[bool]]:
    """First ratings with a time, by annotator: True where the text cannot have been read.

    The typical time is that of texts of about the same length: a tenth of the ratings, or 20 of them. It is the median
    of the annotators' medians, so that one who hurries through many texts does not set it.
    """
    timed = sorted(
        (lengths.get(one.number, 0.0), one.seconds, one.annotator)
        for one in ratings
        if one.round == 1 and one.seconds is not None
    )
    found: defaultdict[str, list[bool]] = defaultdict(list)
    size = max(2 * FEWEST, -(-len(timed) // 10))
    starts = list(range(0, len(timed), size))
    if len(starts) > 1 and len(timed) - starts[-1] < 2 * FEWEST:
        starts.pop()
    for start, end in pairwise([*starts, len(timed)]):
        part = timed[start:end]
        typical = median(map(median, grouped((name, took) for _, took, name in part).values()))
        for length, took, name in part:
            found[name].append(took < max(length / READ_PER_SECOND, HURRY * typical))
    return found


def _with_others(made: AnnotatorQuality, beside: _Beside | None) -> AnnotatorQuality:
    """Add the agreement with the others, as a whole and over time."""
    if beside is None:
        return made
    return msgspec.structs.replace(
        made,
        shared=len(beside.above),
        apart=float(np.abs(beside.above).mean()),
        above=float(beside.above.mean()),
        correlation=_correlation(beside),
        drift=_drift(beside.above),
        windows=tuple(_windows(beside)),
    )


def _correlation(beside: _Beside) -> float | None:
    if len(beside.grades) < FEWEST or not (np.ptp(beside.grades) > 0 and np.ptp(beside.others) > 0):
        return None
    return float(np.corrcoef(beside.grades, beside.others)[0, 1])


def _drift(above: NDArray[np.float64]) -> Estimate | None:
    """Mean of the second half minus that of the first, with a 95 % interval by the normal distribution."""
    if len(above) < 2 * FEWEST:
        return None
    first, second = np.array_split(above, 2)
    error = 1.96 * math.sqrt(sum(half.var(ddof=1) / len(half) for half in (first, second)))
    value = float(second.mean() - first.mean())
    return Estimate(value=value, low=value - error, high=value + error)


def _windows(beside: _Beside) -> Iterator[RatingWindow]:
    parts = max(1, min(WINDOWS, len(beside.above) // FEWEST))
    for part in np.array_split(np.arange(len(beside.above)), parts):
        seconds = beside.seconds[part]
        known = seconds[~np.isnan(seconds)]
        yield RatingWindow(
            first=int(part[0]) + 1,
            n=len(part),
            apart=float(np.abs(beside.above[part]).mean()),
            above=float(beside.above[part].mean()),
            seconds=float(np.median(known)) if len(known) else None,
        )


def _with_concerns(
    one: AnnotatorQuality,
    others: Sequence[AnnotatorQuality],
    beside: Mapping[str, _Beside],
    equal: Mapping[str, tuple[_Share, _Share]],
    scale: float,
) -> AnnotatorQuality:
    """Add the concerns, the gravest first."""
    found = [*_shares(one, others), *_means(one, beside, scale)]
    if one.passed < one.attention:
        found.append(QualityConcern(kind="attention", value=float(one.passed), usual=None, n=one.attention))
    known = [other.competence for other in others if other.competence is not None]
    if one.competence is not None and len(known) > 1 and one.shared >= FEWEST:
        usual = median(known)
        mine, rest = equal[one.annotator]
        if one.competence < usual / 2 and mine.is_less(rest):  # few ratings say little about competence
            found.append(QualityConcern(kind="competence", value=one.competence, usual=usual, n=one.shared))
    return msgspec.structs.replace(one, concerns=tuple(sorted(found, key=lambda each: -GRAVITY[each.kind])))


def _without_directions(one: AnnotatorQuality) -> AnnotatorQuality:
    kept = tuple(each for each in one.concerns if each.kind not in {"severity", "drift"})
    windows = tuple(msgspec.structs.replace(each, above=None) for each in one.windows)
    return msgspec.structs.replace(one, concerns=kept, above=None, drift=None, windows=windows)


def _shares(one: AnnotatorQuality, others: Sequence[AnnotatorQuality]) -> Iterator[QualityConcern]:
    """Concerns about shares of ratings: equal to gold labels, equal to one's own, slow enough."""
    kinds: tuple[ConcernKind, ...] = ("gold", "repeated", "fast")
    for kind in kinds:
        mine, theirs = _share(one, kind), [_share(other, kind) for other in others]
        rest = _Share(sum(each.good for each in theirs), sum(each.n for each in theirs))
        if mine.is_less(rest):
            yield QualityConcern(kind=kind, value=mine.value, usual=rest.value, n=mine.n)


def _share(one: AnnotatorQuality, kind: ConcernKind) -> _Share:
    if kind == "fast":
        return _Share(round(one.timed * (1 - (one.fast or 0.0))), one.timed)
    rows = one.gold if kind == "gold" else one.repeated
    return _Share(round(rows.n * rows.equal), rows.n) if rows else _Share(0, 0)


def _means(one: AnnotatorQuality, beside: Mapping[str, _Beside], scale: float) -> Iterator[QualityConcern]:
    """Concerns about differences from the others: too large, in one direction, or moving."""
    mine = beside.get(one.annotator)
    if mine is None or len(mine.above) < FEWEST or one.above is None or one.apart is None:
        return
    n, distances = len(mine.above), np.abs(mine.above)
    rest = [np.abs(each.above) for name, each in beside.items() if name != one.annotator]
    usual = float(np.concatenate(rest).mean())
    if len(rest) > 1 and one.apart - usual > FAR * distances.std(ddof=1) / math.sqrt(n):
        yield QualityConcern(kind="apart", value=one.apart, usual=usual, n=n)
    if abs(one.above) > max(LARGE * scale, FAR * float(mine.above.std(ddof=1)) / math.sqrt(n)):
        yield QualityConcern(kind="severity", value=one.above, usual=None, n=n)
    drift = one.drift
    if drift is not None and drift.high is not None:
        error = (drift.high - drift.value) / 1.96
        if abs(drift.value) > max(LARGE * scale, FAR * error):
            yield QualityConcern(kind="drift", value=drift.value, usual=None, n=n)


def inferred_grades(ratings: Sequence[Rating], rubric: Rubric, model: CompetenceModel = "one-factor") -> InferredGrades:
    """Infer the competence of annotators from their ratings of one another's items, and of those whose grade is known.

    Gold items and attention checks are items with a known grade for the model; training and repeated items are left
    out. Whoever missed attention checks has a competence of at most ``(passed + 1) / (checks + 1)``.

    Args:
        ratings: Ratings of a campaign.
        rubric: Rubric of the campaign.
        model: Model of the competence.
    """
    from postil.meta.table import Judged  # noqa: PLC0415 - it loads statistics
    from postil.raters.competence import infer, weighted_means  # noqa: PLC0415 - the same

    if not rubric.grades:
        reason = Message("competence is estimated from grades, and this campaign has marks")
        return InferredGrades({}, {}, {}, reason)
    first = [one for one in ratings if one.round == 1 and (one.gold is None or one.purpose != "training")]
    known = {one.number: one.gold for one in first if one.gold is not None}
    if len({one.number for one in first}) == len(known):
        return InferredGrades({}, {}, {}, Message("competence needs grades, and there are none"))
    judged = Judged(Judgement(str(one.number), "", one.annotator, one.grade) for one in first)
    keys = list(judged.rows)
    numbers = [int(item) for item, _ in keys]
    given = judged.of(keys)
    try:
        found = infer(given, model, np.array([known.get(number, math.nan) for number in numbers]))
    except Undefined as error:
        return InferredGrades({}, {}, {}, error.message)
    checks = with_gold_labels(ratings, "attention")
    most = {one.annotator: (round(one.n * one.equal) + 1) / (one.n + 1) for one in checks}
    competence = np.minimum(found.competence, [most.get(name, 1.0) for name in given.names])
    told = zip(given.names, competence.tolist(), found.identified.tolist(), strict=True)
    weighted = zip(numbers, weighted_means(given, competence).tolist(), strict=True)
    expected = zip(numbers, found.expected.tolist(), strict=True)
    return InferredGrades(
        {name: value for name, value, identified in told if identified},
        {number: grade for number, grade in weighted if number not in known},
        {number: grade for number, grade in expected if number not in known},
    )
