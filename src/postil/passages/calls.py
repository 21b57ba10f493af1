"""`postil passages`: rank graded passages by measures and compare the rankings by nCG."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Final

import numpy as np

from postil.data.options import InputOptions
from postil.data.parts import Excluded
from postil.data.progress import OnMessage, steps
from postil.data.row_files import read
from postil.data.row_locations import RowLocations
from postil.data.rows import Passage
from postil.errors import UsageError
from postil.messages import Listed, Setting
from postil.meta.resampling import Draws
from postil.metrics.folds import folds_of
from postil.metrics.passage_measures import Measure, Overlap, measure_passages
from postil.metrics.passage_pools import PassageCollection, Pools, informativeness, interestingness
from postil.metrics.spec import parse_measure
from postil.passages.by_length import RankingsByLength
from postil.passages.files import GradedPassages, PassageScores, check_passages
from postil.passages.gain import LINE_RESAMPLES, PassageRanking, PassageRankings
from postil.passages.options import OF_OTHERS, PassagesOptions
from postil.passages.result import NcgResult, PassageData, PassageSettings
from postil.version import VERSION

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from postil.data.grades import Scale


__all__ = [
    "BASELINES",
    "MEASURES",
    "find_gains",
    "gains_of_file",
]

MEASURES: Final = tuple(f"{family}-{unit}" for family in ("f1", "kl", "logsim") for unit in ("1", "2", "sk"))
"""The nine discrete measures of the paper."""

BASELINES: Final = ("length", "random")


def gains_of_file(
    path: str,
    options: PassagesOptions,
    *,
    command: str = "",
    lines: bool = True,
    inputs: InputOptions | None = None,
    on_message: OnMessage = lambda _: None,
) -> tuple[NcgResult, PassageScores]:
    """Rank the passages of a file; see `find_gains`.

    Args:
        path: A file of passage rows; `-` for standard input.
        options: Options.
        command: The command line, if there was one.
        lines: False to leave out the curves, which take time.
        inputs: Options of reading the file.
        on_message: Callback for status messages.

    Raises:
        InvalidInput, UnknownName, UsageError, Undefined: As `find_gains`.
    """
    given = (inputs or InputOptions()).readings({"passages": Passage}, on_message)
    rows = read(path, Passage, given["passages"])
    return find_gains(list(rows), options, rows.places, command=command, lines=lines)


def find_gains(
    passages: Sequence[Passage],
    options: PassagesOptions,
    places: RowLocations | None = None,
    *,
    command: str = "",
    lines: bool = True,
) -> tuple[NcgResult, PassageScores]:
    """Rank graded passages by every measure and compare the rankings by nCG.

    Args:
        passages: Passages with a topic, an id that is unique in the topic, and a grade.
        options: Options.
        places: Locations of the passages, for messages.
        command: The command line, if there was one.
        lines: False to leave out the curves, which take time.

    Raises:
        InvalidInput: A passage has no grade or one that is not on the scale, an id stands twice in a topic, or more
            than a tenth of the passages are Han text and meet the ``words`` tokenizer (fewer are in the notes).
        UnknownName, UsageError: A measure, tokenizer, stemmer or stop list does not exist, or options of references of
            other topics are given without them.
        Undefined: No passage has a grade above 0, or there is one topic where others are needed.
    """
    _check_protocol(options)
    default = (*MEASURES, *(f"w-{each}" for each in MEASURES[:3]), *BASELINES)
    measures = {name: parse_measure(name) for name in options.measures or default}
    places = places or RowLocations("passages")
    data = check_passages(passages, options.scale, places)
    with steps(4) as begin:
        begin("words")
        collection = options.collection(passages, places, options.jobs)
        begin("units")
        units = dict.fromkeys((each.unit, each.upto) for each in measures.values() if isinstance(each, Overlap))
        with ThreadPoolExecutor(options.jobs) as threads:
            list(threads.map(lambda each: collection.bags(each[0], upto=each[1]), units))
        begin("measures")
        pools = _pools(data, collection, options)
        rankings = _rankings(data, measures, collection, pools, options)
        begin("gains")
        curves = rankings.curves(options.k)
        points = rankings.lines() if lines else ()
        words = collection.lengths[pools.texts]
        by_length = RankingsByLength(rankings, words, options.strata_k)
        rows_by_length = by_length.rows()
    used = [passages[row] for row in pools.texts]
    coverage = ((name, each.coverage(collection, options)) for name, each in measures.items())
    result = NcgResult(
        gains=rankings.gains(curves, options.reference),
        differences=rankings.differences(curves),
        lines=points,
        data=PassageData(
            passages=len(used),
            topics=len(np.unique(data.topic[pools.texts])),
            informative=int((rankings.grades > 0).sum()),
            scale=str(data.scale),
            left_out=tuple(_left_out(data, collection, pools, units, curves[0].left_out)),
        ),
        notes=(
            *([collection.note] if collection.note else ()),
            *(f"{name}: {note}" for name, note in coverage if note),
            *rankings.notes(len(curves[0].topics), options.reference),
            *by_length.notes(),
        ),
        settings=PassageSettings(
            reference=options.reference,
            pool=options.pool,
            leave_one_out=options.leave_one_out,
            folds=options.folds,
            folds_by=options.folds_by,
            repeated_texts=options.repeated_texts,
            equal_texts=options.equal_texts,
            tokenizer=options.tokenizer,
            stem=options.stem,
            stop=options.stop,
            anchors=options.anchors,
            resamples=options.resamples,
            line_resamples=min(options.resamples, LINE_RESAMPLES),
            seed=options.seed,
            postil=VERSION,
            command=command,
            strata_k=options.strata_k,
        ),
        by_length=rows_by_length,
    )
    return result, PassageScores(used, rankings.groups, rankings.rankings, places.where, words)


def _check_protocol(options: PassagesOptions) -> None:
    """Raise where options are given that the reference does not have."""
    usual = PassagesOptions()
    given = [name for name in OF_OTHERS if getattr(options, name) != getattr(usual, name)]
    if options.reference == "topic" and given:
        raise UsageError(
            "{given}: for references of other topics alone; add {others}, or leave it out",
            given=Listed(list(map(Setting, given)), last=", "),
            others=Setting("reference", "others"),
        )


def _pools(data: GradedPassages, collection: PassageCollection, options: PassagesOptions) -> Pools:
    """The references that are asked for."""
    weights = data.grades / data.scale.high
    if options.reference == "topic":
        return informativeness(data.topic, weights)
    # Passages with the same anchors can have different texts.
    texts = [" ".join(each.text.lower().split()) for each in data.passages] if options.anchors else None
    folds = folds_of(len(data.topics), options.folds, by=options.folds_by, seed=options.seed)
    once = options.repeated_texts == "once"
    return interestingness(data.topic, weights, collection.duplicates(texts), folds, names=data.topics, once=once)


def _rankings(
    data: GradedPassages,
    measures: Mapping[str, Measure],
    collection: PassageCollection,
    pools: Pools,
    options: PassagesOptions,
) -> PassageRankings:
    """Score passages by each measure: with every passage in its reference, then leave-one-out."""
    of_others = options.reference == "others"
    stay = of_others and options.equal_texts == "stay"
    inside = [name for name, each in measures.items() if stay or not (of_others or each.weighted)]
    outside = [
        name for name, each in measures.items() if name not in inside or (options.leave_one_out and each.uses_reference)
    ]
    rankings = []
    for leave, names in ((False, inside), (True, outside)):
        held = pools if leave else pools.all_inside()
        values = measure_passages([measures[name] for name in names], collection, held, options.jobs)
        for name in names:
            measure = measures[name]
            spec = "|".join((str(measure), *measure.notes(collection)))
            rankings.append(
                PassageRanking(
                    measure=name,
                    leave_one_out=leave and measure.uses_reference,
                    is_baseline=not measure.uses_reference,
                    signature=_signature(spec, leave, data.scale, options),
                    values=values[measure],
                    scores=measure.ranked(values[measure]),
                )
            )
    folds = of_others and options.pool == "all"
    return PassageRankings(
        rankings=rankings,
        grades=data.grades[pools.texts],
        groups=np.repeat(np.arange(len(pools)), np.diff(pools.text_offsets)) if folds else data.topic[pools.texts],
        pool=options.pool,
        draws=Draws(resamples=options.resamples, seed=options.seed, jobs=options.jobs),
    )


def _signature(spec: str, leave: bool, scale: Scale, options: PassagesOptions) -> str:  # noqa: FBT001
    folds = f"|folds:{options.folds}|folds-by:{options.folds_by}|seed:{options.seed}"
    folds += "|repeated-texts:once" if options.repeated_texts == "once" else ""
    return (
        f"{spec}|{options.signature}|reference:{options.reference}"
        f"|itself:{'out' if leave else 'in'}{folds if options.reference == 'others' else ''}"
        f"|scale:{scale.low:g}:{scale.high:g}|pool:{options.pool}|ties:expected:1e-12|postil:{VERSION}"
    )


def _left_out(
    data: GradedPassages,
    collection: PassageCollection,
    pools: Pools,
    units: Mapping[tuple[str, bool], None],
    topics: Sequence[int],
) -> Iterator[Excluded]:
    missing = np.setdiff1d(np.arange(len(data.passages)), pools.texts)
    poor = sorted({*data.topic[missing].tolist(), *topics})
    if poor:
        names = tuple(data.topics[number] for number in poor[:5])
        yield Excluded(why="topics without a passage above grade 0, not ranked", n=len(poor), examples=names)
    for unit, upto in units:
        none = pools.texts[collection.bags(unit, upto=upto).units.types[pools.texts] == 0]
        if len(none):
            such = tuple(f"{data.passages[row].id} of {data.passages[row].topic}" for row in none[:5])
            yield Excluded(why=f"passages without a unit of {unit}, ranked last", n=len(none), examples=such, kept=True)
