"""The study of passages as the paper has it: measures, figures, models, whole runs, sentences and deviations."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec
import numpy as np

from postil.corpus.duplicates import merge_duplicates
from postil.data.row_files import read, write
from postil.data.rows import Judgement, Passage, Score
from postil.messages import Blank, Command, Message, Setting
from postil.meta.coefficients import linear
from postil.meta.correlation import correlations
from postil.meta.resampling import Draws
from postil.meta.table import join
from postil.metrics.passage_measures import HILDERMAN, PRINCIPLES, of_paper
from postil.passages.by_length import RankingsByLength
from postil.passages.calls import MEASURES, gains_of_file
from postil.passages.gain import PassageRankings
from postil.passages.summaries import SummariesOptions, SummaryFiles, score_summary_files
from postil.results.numbers import number
from postil.studies.papers import PRINTED, PassagesPaper, Range, deviations, passages_paper
from postil.studies.passages.figures import (
    CAUTION,
    ENTITIES,
    FAMILIES,
    GIVEN_UNITS,
    NO_ANCHORS,
    QUESTIONS,
    SENSES,
    UNITS,
    Evidence,
    Model,
    Series,
    claims_part,
    cutoffs_of,
    differences,
    figure,
    findings,
    gains,
    vectors_part,
)
from postil.studies.result import StudyCell, StudyPart, StudyResult, StudyRow, StudyTable
from postil.studies.stages import Stage, as_line, settings_of, words_of, write_result

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from postil.meta.parts import Correlation
    from postil.passages.options import PassagesOptions
    from postil.passages.result import NcgResult, PassageSettings, SummaryResult

__all__ = [
    "RANKS",
    "Facts",
    "anchors_stage",
    "collection_stage",
    "paper_study",
    "range_of",
    "scaled_cutoffs",
    "summaries_stage",
]


RANKS: Final = (100, 300, 1000, 2500, 5000, 10_000)
"""Rank cutoffs within the curves of the paper, whose text names 2,500 and 5,000."""

INFORMATIVE: Final = 3000
"""Number of informative passages in the paper (section 4.2)."""

REPEATED: Final = {
    "once": Message(
        "once, with its highest grade, as the equation prints it; {each} is the concatenation",
        each=Setting("repeated_texts", "each"),
    ),
    "each": Message(
        "once for every topic, as in the concatenation of the text; {once} is the union",
        once=Setting("repeated_texts", "once"),
    ),
}
EQUAL: Final = {
    "leave": Message(
        "they leave the reference: by its own words a passage would find itself, which the folds are to prevent; "
        "{stay} keeps them",
        stay=Setting("equal_texts", "stay"),
    ),
    "stay": Message(
        "they are part of the reference, as no word of the paper takes them out; {leave} does",
        leave=Setting("equal_texts", "leave"),
    ),
}
"""The references of other topics by option, and the reasons."""

LOW: Final = 1 / 6
"""Low cutoffs end at this share of the informative passages, high ones begin above all of them."""


@dataclass(frozen=True, kw_only=True)
class Facts:
    """Facts that the results do not have.

    Args:
        name: Name of the collection.
        models: The word vectors that were trained or given.
        trained: Names of those trained on the collection.
        merged: Number of passages merged into others as duplicates.
        otherwise: Options that contradict the paper: the option, the paper's value, and the value that was given.
        summaries: Scores of whole runs; None if none were given.
    """

    name: str
    models: Sequence[Model]
    trained: Sequence[str]
    merged: int
    otherwise: Sequence[tuple[Setting, str, str]]
    summaries: SummaryResult | None = None


def scaled_cutoffs(informative: int, passages: int) -> tuple[int, ...]:
    """The paper's rank cutoffs in proportion to the number of informative passages, those below all passages.

    Args:
        informative: Number of passages with a grade above 0.
        passages: Number of passages.

    >>> scaled_cutoffs(1500, 5000)
    (50, 150, 500, 1250, 2500)
    """
    ks = dict.fromkeys(max(1, round(rank * informative / INFORMATIVE)) for rank in RANKS)
    return tuple(k for k in ks if k < passages) or (1,)


def range_of(k: int, informative: float) -> Range:
    """Range of a rank cutoff: low, medium, or high above the number of informative passages.

    Args:
        k: The rank cutoff.
        informative: Number of passages with a grade above 0; with one list per topic, their mean number.
    """
    if k <= LOW * informative:
        return "low"
    return "medium" if k <= informative else "high"


def paper_study(found: Mapping[str, NcgResult], facts: Facts) -> StudyResult:
    """The study with the preset of the paper.

    Args:
        found: Results of `postil passages`: ``informativeness`` and ``interestingness``; those of ``-anchors`` are of
            whole passages and of anchors together.
        facts: Facts besides the results.
    """
    printed = passages_paper()
    first = found["informativeness"]
    data, settings = first.data, first.settings
    informative = data.informative / (1 if settings.pool == "all" else data.topics)
    evidence = Evidence(
        found=found,
        models={model.name: model.spec for model in facts.models},
        ranges={k: range_of(k, informative) for k in cutoffs_of(first)},
    )
    parts = [_measures(found, facts, printed), vectors_part(facts.models, printed)]
    for index, sense in enumerate(SENSES.values()):
        parts += _figures(3 * index + 1, found, sense, evidence.models)
    parts += [
        _kinds(found, facts),
        _local_and_given(found, facts),
        claims_part(printed.sentences, evidence),
        _principles(),
        _summaries_part(facts.summaries),
        deviations(_deviations(printed, facts, found)),
    ]
    lists = "all in one list" if settings.pool == "all" else "one list per topic, and their mean"
    return StudyResult(
        name=facts.name,
        title="Interestingness of passages, as in the paper",
        data=f"{data.passages:,} passages of {data.topics:,} topics, {data.informative:,} with a grade above 0; "
        f"{facts.merged:,} duplicates merged; {lists}",
        conclusion=(
            QUESTIONS,
            *findings(printed.sentences, evidence),
            _principle(),
            *_agreement_words(facts.summaries),
            CAUTION,
        ),
        parts=tuple(parts),
        settings=(
            ("preset", "paper"),
            ("words", f"{settings.tokenizer}; stop words: {settings.stop}; stems: {settings.stem}"),
            ("the paper", printed.source),
            ("its data", printed.of),
        ),
    )


def _missing(name: str) -> str:
    """Reason why a measure of word vectors has no numbers."""
    return "not given" if name in GIVEN_UNITS else "not trained"


def _label(measure: str, printed: PassagesPaper) -> str:
    """A measure with its name in the paper: ``f1-1 (F1_1)``."""
    plain = measure.removesuffix(ENTITIES)
    names = {each.here: each.name for each in printed.measures if each.here != each.name}
    return measure if plain not in names else f"{plain} ({names[plain]}){measure[len(plain) :]}"


def _measures(found: Mapping[str, NcgResult], facts: Facts, printed: PassagesPaper) -> StudyPart:
    """The measures of section 3.3, and nCG of each in both protocols, leave-one-out beside."""
    specs = {model.name: model.spec for model in facts.models}
    ours = [(each, specs.get(each.here, "" if each.here.startswith("w2v") else each.here)) for each in printed.measures]
    rows = [
        StudyRow(name=each.name, cells=(each.here if spec else _missing(each.here), each.definition))
        for each, spec in ours
    ]
    tables = [
        StudyTable(
            key="measures",
            caption="The thirteen measures of section 3.3, and the baseline",
            head=("in the paper", "here", "definition"),
            rows=tuple(rows),
        )
    ]
    for sense in SENSES.values():
        result, cutoffs = found[sense], cutoffs_of(found[sense])
        lines = []
        for each, spec in ours:
            label = _label(each.here, printed) if spec else f"{each.here}: {_missing(each.here)}"
            lines.append(StudyRow(name=label, cells=(*gains(result, spec, cutoffs),)))
            alone = gains(result, spec, cutoffs, leave_one_out=True)
            if result.settings.reference == "topic" and any(alone):
                lines.append(StudyRow(name="leave-one-out", cells=(*alone,), kind="control"))
        lines.append(StudyRow(name="random order", cells=(*gains(result, "random", cutoffs),)))
        tables.append(_at_cutoffs(f"measures-{sense}", f"nCG of the measures for {sense}", result, lines))
    return StudyPart(key="measures-part", title="Measures (section 3.3)", tables=tuple(tables))


def _at_cutoffs(key: str, caption: str, result: NcgResult, rows: Sequence[StudyRow]) -> StudyTable:
    over = "folds" if result.settings.reference == "others" else "topics"
    return StudyTable(
        key=key,
        caption=f"{caption}, 95 % confidence intervals over {over}",
        head=("measure", *(f"@{k:,}" for k in cutoffs_of(result))),
        rows=tuple(rows),
    )


def _figures(first: int, found: Mapping[str, NcgResult], sense: str, models: Mapping[str, str]) -> Iterator[StudyPart]:
    """The three figures of a protocol."""
    printed, whole = passages_paper(), found[sense]

    def curve(result: NcgResult, measure: str) -> Series:
        if measure.startswith("w2v"):
            there = measure in models
            return result, models.get(measure, ""), measure if there else f"{measure}: {_missing(measure)}"
        return result, measure, _label(measure, printed)

    names = [f"f1-{unit}" for unit in UNITS] + ["w2v_g", "w2v_c"]
    names += [] if first == 1 else ["w2v_c_bi", "w2v_wp_bi", "length"]
    yield figure(first, f"{sense}, F1 and word vectors", [curve(whole, name) for name in names])
    yield figure(first + 1, f"{sense}, F1, KL and LogSim", [curve(whole, name) for name in FAMILIES])
    title = f"{sense}, whole passages and their anchors alone"
    if f"{sense}-anchors" not in found:
        yield StudyPart(key=f"figure-{first + 2}", title=f"Figure {first + 2}: {title}", words=(NO_ANCHORS,))
        return
    both = [f"{family}-{unit}{end}" for end in ("", ENTITIES) for family in ("f1", "logsim") for unit in UNITS]
    yield figure(first + 2, title, [curve(found[f"{sense}-anchors"], name) for name in both])


def _kinds(found: Mapping[str, NcgResult], facts: Facts) -> StudyPart:
    """Models and output layers of word2vec, and their differences from the one that stands for the paper's."""
    title = "Skip-gram and CBOW, negative sampling and hierarchical softmax"
    if not facts.trained:
        return StudyPart(key="kinds", title=title, words=("No word vectors were trained on the collection.",))
    models = {model.name: model for model in facts.models}
    tables = []
    for sense in SENSES.values():
        result, cutoffs = found[sense], cutoffs_of(found[sense])
        rows = []
        for main in ("w2v_c", "w2v_c_bi"):
            others = [name for name in facts.trained if name.startswith(f"{main}-")]
            rows.append(StudyRow(name="pairs of words" if models[main].pairs else "words", kind="group"))
            rows.append(StudyRow(name=f"{main}: {_kind(main)}", cells=(*gains(result, models[main].spec, cutoffs),)))
            for name in others:
                rows.append(StudyRow(name=_kind(name), cells=(*gains(result, models[name].spec, cutoffs),)))
                minus = differences(result, models[name].spec, models[main].spec, cutoffs)
                rows.append(StudyRow(name=f"minus {main}", cells=(*minus,), kind="control"))
        tables.append(_at_cutoffs(f"kinds-{sense}", f"nCG of word vectors by their training, {sense}", result, rows))
    return StudyPart(key="kinds", title=title, tables=tuple(tables))


def _kind(name: str) -> str:
    """The training in words."""
    kind = name.partition("-")[2] or "skip-gram-negative"
    return kind.replace("-negative", ", negative sampling").replace("-hierarchical", ", hierarchical softmax")


def _local_and_given(found: Mapping[str, NcgResult], facts: Facts) -> StudyPart:
    """Word vectors trained on the collection minus given ones of the same unit, and the shares without a vector."""
    title = "Word vectors of the collection and given ones"
    trained = {model.pairs: model for model in facts.models if model.name in {"w2v_c", "w2v_c_bi"}}
    given = [model for model in facts.models if model.name not in facts.trained]
    compared = [(trained[model.pairs], model) for model in given if model.pairs in trained]
    shares = StudyTable(
        key="without-vector",
        caption="Share of the units of the passages without a vector",
        head=("model", "units", "without a vector", "training"),
        rows=tuple(
            StudyRow(name=model.name, cells=("pairs of words" if model.pairs else "words", model.unknown, model.made))
            for model in facts.models
        ),
    )
    tables = [shares] if facts.models else []
    for sense in SENSES.values() if compared else ():
        rows = [
            StudyRow(
                name=f"{local.name} − {other.name}",
                cells=(*differences(found[sense], local.spec, other.spec, cutoffs_of(found[sense])),),
            )
            for local, other in compared
        ]
        caption = f"nCG with vectors of the collection minus nCG with given ones, {sense}"
        tables.append(_at_cutoffs(f"local-{sense}", caption, found[sense], rows))
    words = (
        "The paper compares vectors trained on its passages with those of Google News (w2v_g) and, for pairs of words, "
        "of Wikipedia (w2v_wp_bi)."
    )
    missing = [name for name in GIVEN_UNITS if name not in {model.name for model in facts.models}]
    ask = tuple(
        Message(
            "{name} is not given; {vectors} takes it.", name=name, vectors=Setting("vectors", Blank(f"{name}=FOLDER"))
        )
        for name in missing
    )
    return StudyPart(key="local", title=title, words=(words, *ask), tables=tuple(tables))


def _principles() -> StudyPart:
    """The principles of section 2.3, and those of Hilderman and Hamilton."""
    tables = [
        StudyTable(
            key=key,
            caption=caption,
            head=("measure", *next(iter(table.values()))),
            rows=tuple(StudyRow(name=name, cells=tuple(row.values())) for name, row in table.items()),
        )
        for key, caption, table in (
            ("principles", "Principles of section 2.3, in this reading: yes, weakly or no", PRINCIPLES),
            (
                "principles-hilderman",
                "Principles of Hilderman and Hamilton (2003), of the counts of a passage",
                HILDERMAN,
            ),
        )
    ]
    return StudyPart(key="principles", title="Principles (section 2.3)", words=(_principle(),), tables=tuple(tables))


def _principle() -> str:
    """The claim of section 2.3."""
    claim = "holds" if of_paper() == ("logsim",) else "does not hold"
    return (
        "Section 2.3: only LogSim has diversity, permutation invariance and transfer. In this reading all three are "
        f"satisfied by {', '.join(of_paper())}: the claim {claim}. The definitions and their tests are in measures.md."
    )


def _folds(settings: PassageSettings) -> Message:
    """The folds of interestingness, and the reason for them."""
    if settings.folds_by == "seed":
        return Message(
            "{folds} folds of whole topics, at random by the seed {seed}: the order of the paper’s topics is not "
            "known, and neighbors in an order may be alike, so that a fold would say more than another about itself; "
            "{runs} cuts the topics of the file into runs",
            folds=settings.folds,
            seed=settings.seed,
            runs=Setting("folds_by", "consecutive"),
        )
    if settings.folds_by == "consecutive":
        return Message(
            "{folds} runs of whole topics in the order of the file, as the text has it", folds=settings.folds
        )
    return Message(
        "{folds} folds of whole topics: topic i of the file is in fold i modulo their number", folds=settings.folds
    )


def _deviations(
    printed: PassagesPaper, facts: Facts, found: Mapping[str, NcgResult]
) -> Iterator[tuple[str, str, str, str]]:
    first = found["informativeness"]
    data, others = first.data, found["interestingness"].settings
    for option, paper, given in facts.otherwise:
        yield Message("option {option}", option=option), paper, given, "this command"
    dynamic = {
        "topics and passages": f"{data.topics:,} topics, {data.passages:,} passages, {data.informative:,} with a grade "
        "above 0",
        "assessment scale": f"grades on a scale of {data.scale}; above 0 is informative",
        "rank cutoffs k": f"{', '.join(f'{k:,}' for k in cutoffs_of(first))}; by default in proportion to the paper's "
        f"100 and 300 (low), 1,000 and 2,500 (medium), 5,000 and 10,000 (high) of about {INFORMATIVE:,} informative "
        "passages, and below the number of passages",
        "folds of interestingness": _folds(others),
        "a text that is informative for several topics": REPEATED[others.repeated_texts],
        "texts equal to the scored passage": EQUAL[others.equal_texts],
        "duplicates": f"the same within a topic, {facts.merged:,} merged; the one with the highest grade stays",
    }
    for each in printed.deviations:
        yield each.choice, each.paper, dynamic.get(each.choice, each.here), each.source
    models = {model.name: model for model in facts.models}
    for name in GIVEN_UNITS:
        if model := models.get(name):
            share = f", {number(model.unknown, 3)} of the units have no vector" if model.unknown is not None else ""
            yield (
                f"vectors {name}",
                "its own",
                f"given: {model.made or 'their training is unknown'}{share}",
                Message("{vectors}", vectors=Setting("vectors")),
            )
    for sense in SENSES.values():
        values = msgspec.structs.asdict(found[sense].settings)
        every = ", ".join(f"{name} {values[name]}" for name in values if name not in {"postil", "command"})
        yield f"all options of {sense}", "see above; others are not said", every, "this command"


TITLE: Final = "Whole runs (section 3.2)"


PUBLISHED: Final = 0.88


def summaries_stage(target: Path, files: SummaryFiles, options: SummariesOptions) -> Stage:
    """The stage that scores whole summaries.

    Args:
        target: Output file.
        files: Passages, summaries and articles.
        options: Options.
    """
    settings = settings_of(
        {
            "summaries": files.summaries,
            "articles": files.articles,
            "stop": options.stop,
            "stem": options.stem,
            "tokenizer": options.tokenizer,
            "scale": options.scale,
            "resamples": options.resamples,
            "seed": options.seed,
        }
    )
    command = as_line(Command("passages", (str(files.passages),), (*settings, *settings_of({"format": "json"}))))
    return Stage(
        name="summaries",
        outputs=[target],
        inputs=[Path(path) for path in files.paths],
        request={"flags": words_of(settings)},
        command=command,
        printed=True,
        work=partial(write_result, target, lambda: score_summary_files(files, options, command=command)[0]),
    )


def _summaries_part(result: SummaryResult | None) -> StudyPart:
    """The section on whole runs.

    Args:
        result: Their scores; None if no runs were given.
    """
    if result is None:
        none = Message(
            "No runs are given: {summaries} (rows of item, the topic, system and text) scores whole summaries of at "
            "most 500 words against the pool, and {articles} (topic, text) against an article of each topic as well.",
            summaries=Setting("summaries", Blank("FILE")),
            articles=Setting("articles", Blank("FILE")),
        )
        return StudyPart(key="runs", title=TITLE, words=(none,))
    measures = tuple(dict.fromkeys(row.measure for row in result.scores))
    scores = {(row.system, row.measure): row for row in result.scores if row.reference == "passages"}
    systems = tuple(dict.fromkeys(system for system, _ in scores))
    cells = {of: _cell(row.mean, row.low, row.high) for of, row in scores.items()}
    rows = (StudyRow(name=system, cells=tuple(cells[system, measure] for measure in measures)) for system in systems)
    lower = [row.measure for row in result.scores if row.better == "low"]
    better = f"; lower is better: {', '.join(dict.fromkeys(lower))}" if lower else ""
    table = StudyTable(
        key="runs",
        caption=f"Runs against the pool, means over {result.data.topics} topics with 95 % confidence intervals{better}",
        head=("run", *measures),
        rows=tuple(rows),
    )
    words = (
        (
            f"Each summary is cut at {result.settings.max_words} words and scored against the informative passages of "
            "its topic, pooled; a run has the mean over its topics."
        ),
        *result.notes,
    )
    if not result.agreement:
        return StudyPart(key="runs-part", title=TITLE, words=words, tables=(table,))
    check = (
        "The paper verified its pool on topics that came with an article: the rankings of the runs by pool and by "
        "article had Pearson's r .88, p < .000001; it does not name the measure. Runs that differ greatly, such as "
        "random ones beside good ones, raise r, and so does a pool that is a part of the article."
    )
    return StudyPart(key="runs-part", title=TITLE, words=(*words, check), tables=(_agreement(result), table))


def _agreement_words(result: SummaryResult | None) -> tuple[str, ...]:
    """The range of Pearson's r between scores by pool and by articles; nothing without articles.

    Args:
        result: Scores of whole runs; None if there are none.
    """
    rows = sorted((row.value, row.metric) for row in (result.agreement if result else ()) if linear([row.coefficient]))
    if result is None or not rows:
        return ()
    (low, first), (high, last) = rows[0], rows[-1]
    return (
        (
            f"Whole runs: by pool and by article the means of {result.data.systems} runs have Pearson's r from "
            f"{number(low)} ({first}) to {number(high)} ({last}); in the paper {number(PUBLISHED, 2)}."
        ),
    )


def _cell(value: float, low: float | None, high: float | None) -> StudyCell:
    return value if low is None or high is None else (value, low, high)


def _agreement(result: SummaryResult) -> StudyTable:
    """Correlations of the runs' means by pool and by article, with intervals over topics and over runs."""
    over_topics = {(row.metric, row.coefficient): row for row in result.agreement}
    over_runs = _over_runs(result)
    rows = []
    for measure in dict.fromkeys(row.metric for row in result.agreement):
        pearson, other = over_topics.get((measure, "pearson")), over_runs.get(measure)
        if pearson is None or other is None:
            continue
        rank = over_topics.get((measure, "spearman"))
        cells = (_cell(row.value, row.low, row.high) if row else None for row in (pearson, other, rank))
        rows.append(StudyRow(name=measure, cells=(*cells, PUBLISHED)))
    return StudyTable(
        key="agreement",
        caption=f"Pool and articles as references: correlations over {result.data.systems} runs, 95 % confidence "
        f"intervals over {result.data.topics} topics, and for Pearson's r over runs as well",
        head=("measure", "Pearson, over topics", "Pearson, over runs", "Spearman, over topics", PRINTED),
        rows=tuple(rows),
    )


def _over_runs(result: SummaryResult) -> dict[str, Correlation]:
    """Pearson's r between the runs' means by both references, with runs in place of items, which are resampled."""
    sides = {
        kind: [
            (row.system, row.measure, -row.mean if row.better == "low" else row.mean)
            for row in result.scores
            if row.reference == kind
        ]
        for kind in ("passages", "articles")
    }
    found = {}
    for measure in dict.fromkeys(row.measure for row in result.scores):
        table = join(
            [Score(run, "mean", measure, mean, "") for run, name, mean in sides["passages"] if name == measure],
            [Judgement(run, "mean", "articles", mean) for run, name, mean in sides["articles"] if name == measure],
        )
        draws = Draws(resamples=result.settings.resamples, seed=result.settings.seed)
        for row in correlations(table, ["pearson"], draws=draws).rows:
            found[measure] = row
    return found


def collection_stage(passages: Path, target: Path, command: str) -> Stage:
    """The stage that merges duplicates of a topic, by their first and last 25 characters.

    Args:
        passages: The collection.
        target: Output file.
        command: Line of the study's command for this stage.
    """
    return Stage(
        name="collection",
        outputs=[target],
        inputs=[passages],
        request={},
        command=command,
        work=lambda: write(str(target), merge_duplicates(read(passages, Passage)).passages),
    )


def anchors_stage(target: Path, passages: Path, options: PassagesOptions, command: str, words: Sequence[str]) -> Stage:
    """The stage that measures whole passages and anchors, so that their differences have intervals.

    Args:
        target: Output file.
        passages: The collection.
        options: Options of whole passages.
        command: Line of the study's command for this stage.
        words: Words of it that the result depends on.
    """
    return Stage(
        name=target.stem,
        outputs=[target],
        inputs=[passages],
        request={"flags": list(words)},
        command=command,
        work=partial(write_result, target, partial(_with_anchors, passages, options)),
    )


def _with_anchors(passages: Path, options: PassagesOptions) -> NcgResult:
    """Rankings of whole passages and of their anchors in one result; the names of the latter say so."""
    whole, scored = gains_of_file(str(passages), replace(options, measures=(*MEASURES, "random")), lines=False)
    alone, parts = gains_of_file(str(passages), replace(options, measures=MEASURES, anchors=True), lines=False)
    rankings = PassageRankings(
        rankings=[
            *scored.rankings,
            *(replace(each, measure=each.measure + ENTITIES) for each in parts.rankings),
        ],
        grades=np.array([passage.grade for passage in scored.passages], np.float64),
        groups=scored.groups,
        pool=options.pool,
        draws=Draws(resamples=options.resamples, seed=options.seed, jobs=options.jobs),
    )
    curves = rankings.curves(options.k)
    return msgspec.structs.replace(
        whole,
        gains=rankings.gains(curves, options.reference),
        differences=rankings.differences(curves),
        lines=rankings.lines(),
        by_length=RankingsByLength(rankings, scored.words, options.strata_k).rows(),
        notes=tuple(dict.fromkeys((*whole.notes, *(Message("anchors: {note}", note=note) for note in alone.notes)))),
    )
