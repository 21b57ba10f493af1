"""The six figures of the paper on passage interestingness, and verdicts on its sentences about them, with numbers.

The word vectors that they compare are given, or trained here on the collection.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

import msgspec

from postil.data.explain import counted
from postil.errors import InvalidInput, UsageError
from postil.messages import Command, Message, Setting
from postil.passages.result import Gain, NcgResult
from postil.results.formats import listed
from postil.results.numbers import interval, number, signed
from postil.results.page.blocks import first_minus_second
from postil.studies.papers import PassagesPaper, Range, Relation, Sentence, passages_paper
from postil.studies.result import StudyCell, StudyPart, StudyPicture, StudyResult, StudyRow, StudyTable
from postil.studies.stages import Stage, as_line, settings_of, words_of
from postil.text.vectors import Vectors
from postil.vectors.calls import train_on_file

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from postil.data.progress import OnMessage
    from postil.metrics.passage_pools import PassageCollection
    from postil.vectors.options import OutputLayer, VectorTrainingOptions, Word2VecModel

__all__ = [
    "CAUTION",
    "ENTITIES",
    "FAILS",
    "FAMILIES",
    "GIVEN_UNITS",
    "HOLDS",
    "NO_ANCHORS",
    "PAPER",
    "QUESTIONS",
    "SENSES",
    "TRAINED",
    "UNDECIDED",
    "UNITS",
    "UNTESTED",
    "CutoffEstimate",
    "Evidence",
    "Model",
    "Series",
    "Training",
    "claims_part",
    "cutoffs_of",
    "decide",
    "differences",
    "figure",
    "findings",
    "gains",
    "given_vectors",
    "opened",
    "passages_study",
    "ranking",
    "vectors_part",
    "vectors_stage",
]

UNITS: Final = ("1", "2", "sk")
FAMILIES: Final = tuple(f"{family}-{unit}" for family in ("f1", "kl", "logsim") for unit in UNITS)
SENSES: Final = {"topic": "informativeness", "others": "interestingness"}
ENTITIES: Final = " of anchors"
QUESTIONS: Final = (
    "Informativeness (Figures 1 to 3): which measure finds what is informative for a topic, given all that is. "
    "Interestingness (4 to 6): which one finds it given what is informative for other topics."
)
CAUTION: Final = (
    "In the paper a passage is part of its own reference where informativeness is measured, which favors it; the "
    "chapter on informativeness has every measure leave-one-out as well."
)
NO_VECTORS: Final = "No word vectors were given or trained, so that F1 stands alone."
NO_ANCHORS: Final = "No passage has anchors (links), so there is none."


@dataclass(frozen=True, slots=True)
class Model:
    """Word vectors.

    Args:
        name: Their label.
        spec: The measure that uses them.
        vectors: Number of vectors.
        pairs: True if they are of pairs of words.
        made: The spec of their training, empty if unknown.
        unknown: Share of the units of the passages without a vector, from 0 to 1; None if it was not counted.
    """

    name: str
    spec: str
    vectors: int
    pairs: bool
    made: str = ""
    unknown: float | None = None


IntervalCell: TypeAlias = tuple[float, float | None, float | None]
"""A number with its interval, as a cell of a study."""

Series: TypeAlias = "tuple[NcgResult, str, str]"
"""A curve of a figure: the result, the measure, and its label."""


def passages_study(name: str, found: Mapping[str, NcgResult], models: Sequence[Model]) -> StudyResult:
    """The figures of a study.

    Args:
        name: Name of the collection.
        found: Results of `postil passages`: ``informativeness``, ``interestingness``, and the same of ``-anchors``.
        models: The word vectors.
    """
    printed = passages_paper()
    first = found["informativeness"]
    data, settings = first.data, first.settings
    lists = "all in one list" if settings.pool == "all" else "one list per topic, and their mean"
    parts = [vectors_part(models, printed)] if models else []
    for index, sense in enumerate(SENSES.values()):
        parts += [
            _vectors_figure(3 * index + 1, found[sense], models, sense),
            figure(3 * index + 2, f"{sense}, F1, KL and LogSim", [(found[sense], each, each) for each in FAMILIES]),
            _anchors_figure(3 * index + 3, found, sense),
        ]
    return StudyResult(
        name=name,
        title="Interestingness of passages, figure by figure",
        data=f"{data.passages:,} passages of {data.topics:,} topics, {data.informative:,} with a grade above 0; "
        f"{lists}",
        conclusion=(QUESTIONS, *(_highest(sense, found[sense]) for sense in SENSES.values()), CAUTION),
        parts=(*parts, _claims(found, models, printed)),
        settings=(
            ("words", f"{settings.tokenizer}; stop words: {settings.stop}; stems: {settings.stem}"),
            ("the paper", printed.source),
            ("its data", printed.of),
        ),
    )


def _highest(sense: str, result: NcgResult) -> str:
    """The measure with the highest nCG at each rank cutoff, among the discrete measures of the paper."""
    best: dict[str, list[str]] = {}
    for k in cutoffs_of(result):
        values = {name: cell[0] for name in FAMILIES for cell in gains(result, name, [k]) if cell}
        top = max(values, key=values.__getitem__)
        best.setdefault(top, []).append(f"{number(values[top])} at k = {k:,}")
    return (
        f"Highest of F1, KL and LogSim for {sense}: {'; '.join(f'{name}, {listed(at)}' for name, at in best.items())}."
    )


def cutoffs_of(result: NcgResult) -> list[int]:
    """The rank cutoffs of a result.

    Args:
        result: The result.
    """
    return list(dict.fromkeys(row.k for row in result.gains))


def ranking(result: NcgResult, measure: str, *, leave_one_out: bool = False) -> str:
    """Name of a ranking: with the passages in their references, or leave-one-out where there is no other.

    Args:
        result: The result that has it.
        measure: The measure.
        leave_one_out: True for leave-one-out where there are both.
    """
    names, without = {line.measure for line in result.lines}, measure + Gain.WITHOUT
    return without if measure not in names or (leave_one_out and without in names) else measure


def gains(
    result: NcgResult, measure: str, cutoffs: Iterable[int], *, leave_one_out: bool | None = None
) -> list[IntervalCell | None]:
    """The nCG of a measure at rank cutoffs; nothing where there is none.

    Args:
        result: The result that has it.
        measure: The measure.
        cutoffs: The rank cutoffs.
        leave_one_out: True for the ranking without the passages in their references, False for the other one; by
            default as `ranking`.
    """
    alone = ranking(result, measure) != measure if leave_one_out is None else leave_one_out
    at = {row.k: row for row in result.gains if row.measure == measure and row.leave_one_out == alone}
    return [(at[k].ncg, at[k].low, at[k].high) if k in at else None for k in cutoffs]


def differences(result: NcgResult, first: str, second: str, cutoffs: Iterable[int]) -> list[IntervalCell | None]:
    """Differences in nCG of two measures at rank cutoffs; nothing where there is none.

    Args:
        result: The result that has them.
        first: The first measure.
        second: The second one, whose nCG is subtracted.
        cutoffs: The rank cutoffs.
    """
    pairs = {(row.first, row.second, row.k): row for row in result.differences}
    names = ranking(result, first), ranking(result, second)
    rows = (first_minus_second(pairs, names[0], names[1], k) for k in cutoffs)
    return [(row.value, row.low, row.high) if row else None for row in rows]


def vectors_part(models: Sequence[Model], printed: PassagesPaper) -> StudyPart:
    """Table 2 of the paper.

    Args:
        models: The word vectors.
        printed: The paper.
    """
    rows = [
        StudyRow(name=model.name, cells=(model.vectors, "pairs of words" if model.pairs else "words"))
        for model in models
    ]
    for each in printed.vectors:
        name, _, unit = each.model.partition(", ")
        rows.append(StudyRow(name=f"in the paper: {name}", cells=(each.vectors, unit), kind="control"))
    head = ("model", "vectors", "of")
    table = StudyTable(key="vectors", caption="Table 2: word vectors", head=head, rows=tuple(rows))
    return StudyPart(key="vectors", title="Word vectors (Table 2)", tables=(table,))


def _vectors_figure(number: int, result: NcgResult, models: Sequence[Model], sense: str) -> StudyPart:
    measures = [f"f1-{unit}" for unit in UNITS] + [model.spec for model in models] + ["length"]
    names = {model.spec: model.name for model in models}
    series = [(result, measure, names.get(measure, measure)) for measure in measures]
    return figure(number, f"{sense}, F1 and word vectors", series, () if models else (NO_VECTORS,))


def _anchors_figure(number: int, found: Mapping[str, NcgResult], sense: str) -> StudyPart:
    title = f"{sense}, whole passages and their anchors alone"
    if f"{sense}-anchors" not in found:
        return StudyPart(key=f"figure-{number}", title=f"Figure {number}: {title}", words=(NO_ANCHORS,))
    measures = [f"{family}-{unit}" for family in ("f1", "logsim") for unit in UNITS]
    series = [(found[sense], measure, measure) for measure in measures]
    series += [(found[f"{sense}-anchors"], measure, f"{measure}{ENTITIES}") for measure in measures]
    return figure(number, title, series)


def figure(number: int, of: str, series: Sequence[Series], words: tuple[str, ...] = ()) -> StudyPart:
    """Curves, and their numbers at the rank cutoffs.

    Args:
        number: Number of the figure.
        of: Its subject.
        series: The curves.
        words: Paragraphs above it.
    """
    title = f"Figure {number}: {of}"
    lines = [
        msgspec.structs.replace(line, measure=name)
        for result, measure, name in series
        for line in result.lines
        if line.measure == ranking(result, measure)
    ]
    cutoffs = list(dict.fromkeys(k for result, _, _ in series for k in cutoffs_of(result)))
    rows = (StudyRow(name=name, cells=(*gains(result, measure, cutoffs),)) for result, measure, name in series)
    over = "folds" if series[0][0].settings.reference == "others" else "topics"
    table = StudyTable(
        key=f"figure-{number}",
        caption=f"{title}: nCG at each rank cutoff, 95 % confidence intervals over {over} in brackets",
        head=("measure", *(f"@{k:,}" for k in cutoffs)),
        rows=tuple(rows),
    )
    pictures = (
        StudyPicture(
            title=title,
            caption=f"{title}; nCG over k, bands: 95 % confidence intervals",
            xlabel="passages from the top, k",
            ylabel="nCG@k",
            curves=tuple(lines),
        ),
    )
    return StudyPart(
        key=f"figure-{number}-part", title=title, words=words, pictures=pictures if lines else (), tables=(table,)
    )


def _claims(found: Mapping[str, NcgResult], models: Sequence[Model], printed: PassagesPaper) -> StudyPart:
    """Each comparison that the paper makes, beside the difference found here."""
    words = next((model for model in models if not model.pairs), None)
    cutoffs = cutoffs_of(found["informativeness"])
    table = StudyTable(
        key="claims",
        caption="Claims of the paper, and nCG of the first minus that of the second here, 95 % confidence intervals",
        head=("figure", "in the paper", "here", *(f"@{k:,}" for k in cutoffs)),
        rows=tuple(_claimed(found, words, printed, cutoffs)),
    )
    return StudyPart(key="claims", title="Claims of the paper", tables=(table,))


def _claimed(
    found: Mapping[str, NcgResult], model: Model | None, printed: PassagesPaper, cutoffs: Sequence[int]
) -> Iterator[StudyRow]:
    for claim in printed.claims:
        result = found[SENSES[claim.reference]]
        names = (claim.first, claim.second)
        if "w2v" in names and model is None:
            continue
        first, second = (model.spec if name == "w2v" and model else name for name in names)
        cells = differences(result, first, second, cutoffs)
        shown = " − ".join(model.name if name == "w2v" and model else name for name in names)
        yield StudyRow(name=f"Figure {claim.figure}", cells=(claim.claim, shown, *cells))


@dataclass(frozen=True, slots=True)
class Training:
    """A training of word vectors on the collection.

    Args:
        pairs: True for vectors of pairs of words.
        model: Model of word2vec.
        output: Its output layer.
    """

    pairs: bool
    model: Word2VecModel = "skip-gram"
    output: OutputLayer = "negative"


TRAINED: Final = {"w2v-words": Training(pairs=False), "w2v-pairs": Training(pairs=True)}
"""Word vectors trained on the collection, by name."""

OTHERS: Final[tuple[tuple[Word2VecModel, OutputLayer], ...]] = (
    ("skip-gram", "hierarchical"),
    ("cbow", "negative"),
    ("cbow", "hierarchical"),
)
"""Kinds of word2vec besides the one that stands for the paper's, skip-gram with negative sampling."""

PAPER: Final = {
    name: training
    for main, pairs in (("w2v_c", False), ("w2v_c_bi", True))
    for name, training in (
        (main, Training(pairs)),
        *((f"{main}-{model}-{output}", Training(pairs, model, output)) for model, output in OTHERS),
    )
}
"""Word vectors that the preset of the paper trains; the first of words and of pairs are the paper's measures."""

GIVEN: Final = {"google_news": "w2v_g", "wiki": "w2v_wp_bi"}
"""The paper's names of vectors from elsewhere, and the measures that use them."""

GIVEN_UNITS: Final = {"w2v_g": False, "w2v_wp_bi": True}
"""True if the vectors of a measure are of pairs of words."""

PAIRS: Final = Message(
    "pairs of words ({command})", command=Command("vectors convert", settings=settings_of({"bigrams": True}))
)
"""Units of such vectors, and how they are made."""


def given_vectors(vectors: Mapping[str, str]) -> dict[str, Path]:
    """The given vectors by the paper's names of their measures.

    Args:
        vectors: Folders by name.

    Raises:
        UsageError: Two names mean the same, or one is that of vectors trained here.
        InvalidInput: A folder holds vectors of other units, or none.

    >>> given_vectors({})
    {}
    """
    found: dict[str, Path] = {}
    for given, folder in vectors.items():
        name, setting = GIVEN.get(given, given), Setting("vectors", given)
        if name in found:
            raise UsageError("{setting}: {name} is given twice; name it once", setting=setting, name=name)
        if name in PAPER:
            raise UsageError("{setting}: the study trains vectors of that name; give another", setting=setting)
        if name in GIVEN_UNITS and Vectors.open(folder).bigrams is not GIVEN_UNITS[name]:
            units = PAIRS if GIVEN_UNITS[name] else "words"
            raise InvalidInput(Message("expected vectors of {units} for {name}", units=units, name=name), where=folder)
        found[name] = Path(folder)
    return found


def vectors_stage(
    name: str, passages: Path, folder: Path, options: VectorTrainingOptions, on_message: OnMessage
) -> Stage:
    """The stage that trains word vectors.

    Args:
        name: Their name.
        passages: The collection.
        folder: Output folder.
        options: Training options.
        on_message: Callback for status messages.
    """
    settings = settings_of(
        {
            "tokenizer": options.tokenizer,
            "stop": options.stop,
            "seed": options.seed,
            "bigrams": options.bigrams or None,
            "model": options.model if options.model != "skip-gram" else None,
            "output": options.output if options.output != "negative" else None,
        }
    )
    return Stage(
        name=name,
        outputs=[folder],
        inputs=[passages],
        request={"flags": words_of(settings)},
        command=as_line(Command("vectors train", (str(passages),), (*settings_of({"out": folder}), *settings))),
        work=lambda: train_on_file(str(passages), str(folder), options, on_message),
    )


def opened(name: str, folder: Path, collection: PassageCollection | None = None) -> Model:
    """Describe word vectors.

    Args:
        name: Their name.
        folder: Their folder.
        collection: Passages of which the units without a vector are counted; None to leave that out.
    """
    vectors = Vectors.open(folder)
    return Model(
        name,
        f"cosine(vectors={folder})",
        len(vectors),
        pairs=vectors.bigrams,
        made=str(vectors.metadata.get("spec", "")),
        unknown=None if collection is None else collection.vector_sums(vectors).unknown,
    )


MARGIN: Final = 0.05
"""Largest difference in nCG that counts as alike, and tolerance of a level that is read off a figure."""

HOLDS: Final = "holds"
FAILS: Final = "does not hold"
UNDECIDED: Final = "not decided"
UNTESTED: Final = "not tested"

_NEAR: Final = number(MARGIN, 2)
RULES: Final = (
    "A sentence holds if it holds for each of its pairs at each rank cutoff of its range, by 95 % intervals that are "
    "not adjusted for the number of comparisons; pairs with a measure that is missing here do not count. Higher: the "
    f"interval of the difference lies above 0. Alike: it lies within {_NEAR} of 0. Not higher: it ends below {_NEAR} "
    "and does not lie above 0. Higher, not significantly: it contains 0 and the difference is not below 0. Below: the "
    "interval of nCG lies below the level. "
    f"Reaches, near: at some cutoff of the range it lies above the level less {_NEAR}, or within {_NEAR} of it. A "
    "sentence does not hold if an interval of one of its pairs rules it out; for reaches and near, those of all "
    "cutoffs of the range. Otherwise it is not decided."
)


class CutoffEstimate(NamedTuple):
    """A number at a rank cutoff, with its 95 % confidence interval."""

    k: int
    value: float
    low: float
    high: float


_SUPPORTS: Final[Mapping[Relation, Callable[[CutoffEstimate, float], bool]]] = {
    "higher": lambda found, _: found.low > 0,
    "alike": lambda found, _: found.low >= -MARGIN and found.high <= MARGIN,
    "not higher": lambda found, _: found.low <= 0 and found.high <= MARGIN,
    "not significant": lambda found, _: found.low <= 0 <= found.value,
    "below": lambda found, level: found.high < level,
    "reaches": lambda found, level: found.low >= level - MARGIN,
    "near": lambda found, level: found.low >= level - MARGIN and found.high <= level + MARGIN,
}
_CONTRADICTS: Final[Mapping[Relation, Callable[[CutoffEstimate, float], bool]]] = {
    "higher": lambda found, _: found.high < 0,
    "alike": lambda found, _: found.low > MARGIN or found.high < -MARGIN,
    "not higher": lambda found, _: found.low > 0,
    "not significant": lambda found, _: not found.low <= 0 <= found.high,
    "below": lambda found, level: found.low >= level,
    "reaches": lambda found, level: found.high < level - MARGIN,
    "near": lambda found, level: found.low > level + MARGIN or found.high < level - MARGIN,
}


def decide(relation: Relation, estimates: Sequence[CutoffEstimate], level: float = 0.0) -> str:
    """The verdict on a relation at several rank cutoffs.

    Args:
        relation: The relation.
        estimates: Differences, or nCG where the relation is to a level.
        level: The level.

    >>> decide("higher", [CutoffEstimate(10, 0.2, 0.1, 0.3), CutoffEstimate(20, 0.1, -0.1, 0.3)])
    'not decided'
    >>> decide("reaches", [CutoffEstimate(10, 0.5, 0.4, 0.5), CutoffEstimate(20, 0.7, 0.68, 0.72)], 0.7)
    'holds'
    """
    if not estimates:
        return UNTESTED
    supported = [_SUPPORTS[relation](each, level) for each in estimates]
    contradicted = [_CONTRADICTS[relation](each, level) for each in estimates]
    some, every = (all, any) if relation in {"reaches", "near"} else (any, all)
    if some(contradicted):
        return FAILS
    return HOLDS if every(supported) else UNDECIDED


@dataclass(frozen=True, eq=False)
class Evidence:
    """The numbers that sentences are compared with.

    Args:
        found: Results by protocol; those of ``-anchors`` have both whole passages and anchors.
        models: Measures of word vectors by the paper's names.
        ranges: Range of each rank cutoff.
        leave_one_out: True to take the rankings without the passages in their references, where there are both.
    """

    found: Mapping[str, NcgResult]
    models: Mapping[str, str]
    ranges: Mapping[int, Range]
    leave_one_out: bool = False

    def estimates(self, sentence: Sentence, pair: Sequence[str]) -> list[CutoffEstimate]:
        """Differences of a pair, or nCG of a single measure, at all rank cutoffs; empty if a measure is missing.

        Args:
            sentence: The sentence.
            pair: The measures.
        """
        anchors = any(name.endswith(ENTITIES) for name in pair)
        key = SENSES[sentence.reference] + "-anchors" * anchors
        if key not in self.found or any(name.startswith("w2v") and name not in self.models for name in pair):
            return []
        result = self.found[key]
        cutoffs = cutoffs_of(result)
        measures = [self.models.get(name, name) for name in pair]
        names = [ranking(result, measure, leave_one_out=self.leave_one_out) for measure in measures]
        if len(names) == 1:
            cells = gains(result, measures[0], cutoffs, leave_one_out=names != measures)
        else:
            cells = differences(result, names[0], names[1], cutoffs)
        found = ((k, *cell) for k, cell in zip(cutoffs, cells, strict=True) if cell)
        return [
            CutoffEstimate(k, value, low, high) for k, value, low, high in found if low is not None and high is not None
        ]


class _Checked(NamedTuple):
    """A sentence with its verdict, and each of its pairs with a verdict and estimates."""

    sentence: Sentence
    verdict: str
    pairs: list[tuple[tuple[str, ...], str, list[CutoffEstimate]]]
    of_range: dict[int, bool]


def _checked(sentence: Sentence, evidence: Evidence) -> _Checked:
    of_range = {k: name in sentence.at for k, name in evidence.ranges.items()}
    pairs = []
    for pair in sentence.pairs:
        every = evidence.estimates(sentence, pair)
        within = [each for each in every if of_range[each.k]]
        pairs.append((pair, decide(sentence.relation, within, sentence.level), every))
    verdicts = {verdict for _, verdict, _ in pairs} - {UNTESTED}
    found = next((verdict for verdict in (FAILS, UNDECIDED, HOLDS) if verdict in verdicts), UNTESTED)
    return _Checked(sentence, found, pairs, of_range)


def findings(sentences: Sequence[Sentence], evidence: Evidence) -> tuple[str, ...]:
    """Paragraphs on the sentences that hold, that do not, and that are not decided.

    Args:
        sentences: The sentences.
        evidence: The numbers.
    """
    checked = [_checked(each, evidence) for each in sentences]
    some = {name: [each for each in checked if each.verdict == name] for name in (HOLDS, FAILS, UNDECIDED, UNTESTED)}
    tested = len(checked) - len(some[UNTESTED])
    head = (
        f"Of {counted(len(checked), 'sentence')} of the paper about its figures, {tested} can be tested here: "
        f"{len(some[HOLDS])} hold, {len(some[FAILS])} do not, {len(some[UNDECIDED])} are not decided."
    )
    if some[UNTESTED]:
        head += f" For the other {len(some[UNTESTED])} there is no such measure or rank cutoff here."
    titles = {HOLDS: "Hold", FAILS: "Do not hold", UNDECIDED: "Not decided"}
    told = [f"{title}: {'; '.join(map(_told, some[name]))}." for name, title in titles.items() if some[name]]
    changed = [
        f"{checked[place].sentence.claim}: {verdict}"
        for place, verdict in _leave_one_out(checked, evidence).items()
        if verdict != checked[place].verdict
    ]
    if changed:
        told.append(f"Leave-one-out, these verdicts on informativeness change: {'; '.join(changed)}.")
    return (head, *told)


def _leave_one_out(checked: Sequence[_Checked], evidence: Evidence) -> dict[int, str]:
    """Verdicts without the passages in their references, by the place of the sentence; of informativeness alone."""
    alone = replace(evidence, leave_one_out=True)
    return {
        place: _checked(each.sentence, alone).verdict
        for place, each in enumerate(checked)
        if each.sentence.reference == "topic"
    }


def _told(checked: _Checked) -> str:
    """A sentence with the numbers of the first pair that has its verdict."""
    sentence = checked.sentence
    said = f"{sentence.claim} (figure {sentence.figure}"
    for pair, verdict, every in checked.pairs:
        for each in every:
            alone = decide(sentence.relation, [each], sentence.level)
            if verdict == checked.verdict == alone and checked.of_range[each.k]:
                shown = number(each.value) if len(pair) == 1 else signed(each.value)
                return f"{said}: {_minus(pair)} {shown} {interval(each.low, each.high)} at k = {each.k:,})"
    return f"{said})"


def _minus(pair: Sequence[str]) -> str:
    return " − ".join(pair)


def claims_part(sentences: Sequence[Sentence], evidence: Evidence) -> StudyPart:
    """Each sentence with its verdict, then each of its comparisons.

    Args:
        sentences: The sentences.
        evidence: The numbers.
    """
    checked = [_checked(each, evidence) for each in sentences]
    cutoffs = list(evidence.ranges)
    alone = _leave_one_out(checked, evidence)
    verdicts = StudyTable(
        key="verdicts",
        caption="Sentences of the paper about its figures, and whether they hold here",
        head=("figure", "section", "in the paper", "rank cutoffs", "here", "leave-one-out"),
        rows=tuple(
            StudyRow(
                name=f"Figure {each.sentence.figure}",
                cells=(each.sentence.section, each.sentence.claim, _at(each.sentence), each.verdict, alone.get(place)),
            )
            for place, each in enumerate(checked)
        ),
    )
    compared = StudyTable(
        key="comparisons",
        caption="The comparisons of these sentences: nCG of the first minus that of the second, or nCG itself, "
        "95 % confidence intervals",
        head=("measures", "expected", "at", "here", *(f"@{k:,}" for k in cutoffs)),
        rows=tuple(row for each in checked for row in _rows(each, cutoffs)),
    )
    names = {name: [f"{k:,}" for k in cutoffs if evidence.ranges[k] == name] for name in ("low", "medium", "high")}
    ranges = f"Rank cutoffs: {'; '.join(f'{name} {listed(ks)}' for name, ks in names.items() if ks)}."
    return StudyPart(
        key="claims", title="Sentences of the paper, checked", words=(RULES, ranges), tables=(verdicts, compared)
    )


def _rows(checked: _Checked, cutoffs: Sequence[int]) -> Iterator[StudyRow]:
    sentence = checked.sentence
    yield StudyRow(name=f"Figure {sentence.figure}: {sentence.claim}", kind="group")
    expected = sentence.relation + f" {number(sentence.level, 2)}" * (sentence.relation in {"below", "reaches", "near"})
    for pair, verdict, every in checked.pairs:
        at = {each.k: (each.value, each.low, each.high) for each in every}
        cells: list[StudyCell] = [at.get(k) for k in cutoffs]
        yield StudyRow(name=_minus(pair), cells=(expected, _at(sentence), verdict, *cells))


def _at(sentence: Sentence) -> str:
    return "all" if len(sentence.at) == 3 else listed(sentence.at)
