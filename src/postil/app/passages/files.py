"""The journey of `postil passages`: graded passages in, how much each measure gains out."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, TypeAlias, get_args

import numpy as np

from postil.app.names import ranking
from postil.app.passages.data import check_passages, pools_of
from postil.app.passages.notes import notes_on_tests, notes_on_texts, notes_on_vectors
from postil.app.passages.words import collect, stop_signature
from postil.app.progress import steps
from postil.errors import UnknownName, UsageError
from postil.metaeval.gain import GainCurve, Pool, gain_curve, gain_differences
from postil.metaeval.resampling import RESAMPLES, SEED
from postil.metaeval.table import LeftOut
from postil.metrics.measures import Overlap, measure_passages
from postil.metrics.pool import FOLDS, FoldsBy
from postil.metrics.spec import parse_measure
from postil.records.row_files import read
from postil.records.row_locations import Places
from postil.records.rows import Passage
from postil.text.stems import stems_signature
from postil.text.tokenizers import tokenizer as named_tokenizer
from postil.version import VERSION

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from postil.app.passages.data import GradedPassages
    from postil.metaeval.gain import GainDifference
    from postil.metrics.measures import Collection, Measure
    from postil.metrics.pool import Pools
    from postil.records.scale import Scale

__all__ = [
    "MEASURES",
    "Asked",
    "PassageFindings",
    "PassagesOptions",
    "Ranked",
    "collect",
    "find_gains",
    "gain_lines",
    "gains_of_file",
]

MEASURES: Final = tuple(f"{family}-{unit}" for family in ("f1", "kl", "logsim") for unit in ("1", "2", "sk"))
"""The nine discrete measures of the paper."""

BASELINES: Final = ("length", "random")
SHORT, LONG = (5, 10, 20, 50, 100), (10, 100, 1000, 10_000)
POINTS: Final = 60
"""About how many points a line has."""
LINE_RESAMPLES: Final = 200
"""The most resamples for the band of a line."""

Asked: TypeAlias = Literal["topic", "others"]
"""What a passage is held against: the informative passages of its topic, or those of other topics."""


@dataclass(frozen=True, kw_only=True)
class PassagesOptions:
    """What to compute, and how passages are read.

    Args:
        measures: Specs; empty for the nine of the paper, their weighted F1 and the baselines.
        reference: ``topic`` for informativeness, ``others`` for interestingness.
        folds: For ``others``, the most folds of topics.
        folds_by: ``seed`` or ``order``.
        leave_one_out: For ``topic``, each passage is also scored without itself in its reference. Measures with ``w-``
            are so in any case, and ``others`` has no passage in its own reference.
        pool: ``all`` ranks all passages in one list, ``topic`` a list a topic and takes the mean.
        ks: The cuts; empty for some that suit the pool.
        tokenizer: A name in `postil.text.TOKENIZERS`.
        stem: A name in `postil.text.STEMMERS`, or ``none``.
        stop: A name in `postil.text.STOP_LISTS`, or ``none``.
        anchors: Whether the passages' anchors are the words.
        scale: The scale of the grades; by default 0 to the highest that occurs.
        resamples: How many resamples of topics or folds.
        seed: The seed of folds and resamples.
        jobs: Threads; the numbers do not depend on it.

    Raises:
        UnknownName, UsageError: Something is none of the above.
    """

    measures: tuple[str, ...] = ()
    reference: Asked = "topic"
    folds: int = FOLDS
    folds_by: FoldsBy = "seed"
    leave_one_out: bool = False
    pool: Pool = "all"
    ks: tuple[int, ...] = ()
    tokenizer: str = "words"
    stem: str = "none"
    stop: str = "none"
    anchors: bool = False
    scale: Scale | None = None
    resamples: int = RESAMPLES
    seed: int = SEED
    jobs: int = 1

    def __post_init__(self) -> None:
        for kind, choice, known in (
            ("reference", self.reference, get_args(Asked)),
            ("pool", self.pool, get_args(Pool)),
            ("way to make folds", self.folds_by, get_args(FoldsBy)),
        ):
            if choice not in known:
                raise UnknownName(kind, choice, known)
        for name, number, least in (
            ("resamples", self.resamples, 1),
            ("jobs", self.jobs, 1),
            ("seed", self.seed, 0),
            ("folds", self.folds, 2),
        ):
            if number < least:
                raise UsageError(f"{name}: expected at least {least}, got {number}")
        if any(k < 1 for k in self.ks):
            raise UsageError(f"k: expected at least 1, got {min(self.ks)}")


@dataclass(frozen=True, eq=False)
class Ranked:
    """Passages ranked by one measure.

    Args:
        measure: The spec, as its user wrote it.
        leave_one_out: Whether each passage left its reference while it was scored.
        signature: All that the numbers depend on.
        values: float64[t], the measure of each scored passage; NaN where nothing was left of its reference.
        scores: float64[t], the same with the sign that makes high good, and minus infinity for NaN.
        curve: nCG at the cuts that were asked for.
    """

    measure: str
    leave_one_out: bool
    signature: str
    values: NDArray[np.float64]
    scores: NDArray[np.float64]
    curve: GainCurve

    @property
    def is_baseline(self) -> bool:
        """Whether no reference changes it."""
        return self.measure.partition("(")[0] in BASELINES

    @property
    def name(self) -> str:
        """The measure, and whether passages left their references."""
        return ranking(self.measure, leave_one_out=self.leave_one_out)


@dataclass(frozen=True, eq=False)
class PassageFindings:
    """What `find_gains` found.

    Args:
        passages: The passages that were scored, t of them.
        grades: float64[t], theirs.
        groups: int64[t], the topics or folds that intervals are over.
        ranked: A ranking for each measure.
        differences: Every ranking against every other at each cut.
        topics: How many topics the passages are of.
        informative: How many of the passages have a grade above 0.
        left_out: What was not scored, and why.
        notes: What else to know, in words.
        options: What was asked for.
        scale: The scale of the grades.
        where: The file that the passages stood in.
    """

    passages: list[Passage]
    grades: NDArray[np.float64]
    groups: NDArray[np.int64]
    ranked: list[Ranked]
    differences: tuple[GainDifference, ...]
    topics: int
    informative: int
    left_out: tuple[LeftOut, ...]
    notes: tuple[str, ...]
    options: PassagesOptions
    scale: Scale
    where: str


def gains_of_file(path: str, options: PassagesOptions) -> PassageFindings:
    """The same for the passages of a file.

    Args:
        path: JSON Lines or Parquet, `-` for standard input.
        options: What to compute.

    Raises:
        InvalidInput, UnknownName, UsageError, Undefined: As `find_gains`.
    """
    rows = read(path, Passage)
    return find_gains(list(rows), options, rows.places)


def find_gains(passages: Sequence[Passage], options: PassagesOptions, places: Places | None = None) -> PassageFindings:
    """Rank graded passages by every measure and find what the top of each ranking gains.

    Args:
        passages: Each with a topic, an id that no other passage of the topic has, and a grade.
        options: What to compute.
        places: Where they stand, for messages.

    Raises:
        InvalidInput: A passage has no grade or one that is not on the scale, an id stands twice in a topic, or more
            than a tenth of the passages are Han text and meet the ``words`` tokenizer (fewer are in the notes).
        UnknownName, UsageError: A measure, tokenizer, stemmer or stop list does not exist.
        Undefined: No passage has a grade above 0, or there is one topic where others are needed.
    """
    names = list(dict.fromkeys(options.measures or (*MEASURES, *(f"w-{each}" for each in MEASURES[:3]), *BASELINES)))
    measures = {name: parse_measure(name) for name in names}
    places = places or Places("passages")
    data = check_passages(passages, options.scale, places)
    with steps(4) as begin:
        begin("words")
        collection = collect(passages, options, places)
        begin("units")
        units = dict.fromkeys((each.unit, each.upto) for each in measures.values() if isinstance(each, Overlap))
        with ThreadPoolExecutor(options.jobs) as threads:
            list(threads.map(lambda each: collection.bags(each[0], upto=each[1]), units))
        begin("measures")
        pools = pools_of(data, collection, options)
        scored = list(_scored(measures, collection, pools, options))
        begin("gains")
        grades, groups = data.grades[pools.texts], data.topic[pools.texts]
        if options.reference == "others" and options.pool == "all":
            groups = np.repeat(np.arange(len(pools)), np.diff(pools.text_offsets))
        ranked = _ranked(scored, grades, groups, data.scale, options)
    pairs = max((len(group) * (len(group) - 1) // 2 for group in _protocols(ranked)), default=0)
    several = pairs > 0 and len(ranked[0].curve.topics) > 1
    return PassageFindings(
        passages=[data.passages[row] for row in pools.texts],
        grades=grades,
        groups=groups,
        ranked=ranked,
        differences=_differences(ranked) if several else (),
        topics=len(np.unique(data.topic[pools.texts])),
        informative=int((grades > 0).sum()),
        left_out=tuple(_left_out(data, collection, pools, units, ranked[0].curve)),
        notes=(
            *notes_on_texts(passages, options),
            *notes_on_vectors(measures, collection, options),
            *notes_on_tests(ranked, pairs, options),
        ),
        options=options,
        scale=data.scale,
        where=places.where,
    )


@dataclass(frozen=True, eq=False)
class _Scored:
    """The values of a measure, with its full spec and what that does not hold."""

    name: str
    spec: str
    measure: Measure
    leave: bool
    values: NDArray[np.float64]


def _scored(
    measures: dict[str, Measure], collection: Collection, pools: Pools, options: PassagesOptions
) -> Iterator[_Scored]:
    """Each measure with its values: first with every passage in its reference, then without."""
    inside = {name: each for name, each in measures.items() if options.reference == "topic" and not each.weighted}
    outside = {
        name: each
        for name, each in measures.items()
        if name not in inside or (options.leave_one_out and name.partition("(")[0] not in BASELINES)
    }
    for leave, some in ((False, inside), (True, outside)):
        values = measure_passages(list(some.values()), collection, pools if leave else pools.all_inside(), options.jobs)
        for name, measure in some.items():
            spec = "|".join((str(measure), *measure.notes(collection)))
            yield _Scored(name, spec, measure, leave, values[measure])


def _ranked(
    scored: Sequence[_Scored],
    grades: NDArray[np.float64],
    groups: NDArray[np.int64],
    scale: Scale,
    options: PassagesOptions,
) -> list[Ranked]:
    """The gains of each ranking at the cuts that are asked for, or at some that suit the lists."""
    longest = _longest(groups, options)
    usual = tuple(k for k in (LONG if options.pool == "all" else SHORT) if k < longest) or (1,)
    ks = tuple(sorted(set(options.ks))) or usual

    def rank(each: _Scored) -> Ranked:
        scores = each.measure.ranked(each.values)
        return Ranked(
            measure=each.name,
            leave_one_out=each.leave and each.name.partition("(")[0] not in BASELINES,
            signature=_signature(each.spec, each.leave, scale, options),
            values=each.values,
            scores=scores,
            curve=gain_curve(
                scores, grades, groups, ks, pool=options.pool, resamples=options.resamples, seed=options.seed
            ),
        )

    with ThreadPoolExecutor(options.jobs) as threads:
        return list(threads.map(rank, scored))


def gain_lines(found: PassageFindings) -> list[GainCurve]:
    """For each ranking nCG at many cuts, as far apart on a logarithmic scale; for pictures.

    Args:
        found: What was found.
    """
    options = found.options
    cuts = np.unique(np.geomspace(1, _longest(found.groups, options), POINTS).round().astype(int)).tolist()
    resamples = min(options.resamples, LINE_RESAMPLES)

    def line(each: Ranked) -> GainCurve:
        return gain_curve(
            each.scores, found.grades, found.groups, cuts, pool=options.pool, resamples=resamples, seed=options.seed
        )

    with ThreadPoolExecutor(options.jobs) as threads:
        return list(threads.map(line, found.ranked))


def _longest(groups: NDArray[np.int64], options: PassagesOptions) -> int:
    """How many passages are in the longest list."""
    return len(groups) if options.pool == "all" else int(np.bincount(groups).max())


def _differences(ranked: Sequence[Ranked]) -> tuple[GainDifference, ...]:
    """Rankings of one protocol against one another."""
    found: dict[tuple[str, str, int], GainDifference] = {}
    for group in _protocols(ranked):
        rows = gain_differences({each.name: each.curve for each in group})
        found |= {(row.first, row.second, row.k): row for row in rows if (row.first, row.second, row.k) not in found}
    return tuple(found.values())


def _protocols(ranked: Sequence[Ranked]) -> Iterator[list[Ranked]]:
    """Rankings that are compared: with passages in their references, then without; baselines stand in both."""
    for leave in (False, True):
        group = [each for each in ranked if each.leave_one_out is leave or each.is_baseline]
        only_baselines = all(each.is_baseline for each in group) and not all(each.is_baseline for each in ranked)
        if len(group) > 1 and not only_baselines:
            yield group


def _signature(spec: str, leave: bool, scale: Scale, options: PassagesOptions) -> str:  # noqa: FBT001
    stem = "none" if options.stem == "none" else stems_signature(options.stem)
    words = "anchors" if options.anchors else f"{named_tokenizer(options.tokenizer).signature}"
    folds = f"|folds:{options.folds}|folds-by:{options.folds_by}|seed:{options.seed}"
    return (
        f"{spec}|words:{words}|stop:{stop_signature(options.stop)}|stem:{stem}|reference:{options.reference}"
        f"|itself:{'out' if leave else 'in'}{folds if options.reference == 'others' else ''}"
        f"|scale:{scale.low:g}:{scale.high:g}|pool:{options.pool}|ties:expected:1e-12|postil:{VERSION}"
    )


def _left_out(
    data: GradedPassages, collection: Collection, pools: Pools, units: dict[tuple[str, bool], None], curve: GainCurve
) -> Iterator[LeftOut]:
    missing = np.setdiff1d(np.arange(len(data.passages)), pools.texts)
    poor = sorted({*data.topic[missing].tolist(), *curve.left_out})
    if poor:
        names = tuple(data.topics[number] for number in poor[:5])
        yield LeftOut("topics without a passage above grade 0, not ranked", len(poor), names)
    for unit, upto in units:
        none = pools.texts[collection.bags(unit, upto=upto).units.types[pools.texts] == 0]
        if len(none):
            such = tuple(f"{data.passages[row].id} of {data.passages[row].topic}" for row in none[:5])
            yield LeftOut(f"passages without a unit of {unit}, ranked last", len(none), such)
