"""The six figures of the paper on passage interestingness with their numbers, and the word vectors they compare."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias

import msgspec

from postil.errors import InvalidInput, UsageError
from postil.messages import Command, Message, Setting
from postil.passages.result import Gain, NcgResult
from postil.results.formats import listed
from postil.results.numbers import number
from postil.results.page.blocks import first_minus_second
from postil.studies.papers import passages_paper
from postil.studies.result import StudyCell, StudyPart, StudyPicture, StudyResult, StudyRow, StudyTable
from postil.studies.stages import Stage, as_line, settings_of, words_of
from postil.text.vectors import Vectors
from postil.vectors.calls import VectorTrainingOptions, train_on_file

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from postil.data.progress import OnMessage
    from postil.metrics.passage_pools import PassageCollection
    from postil.studies.papers import PassagesPaper
    from postil.vectors.training import OutputLayer, Word2VecModel

__all__ = [
    "CAUTION",
    "ENTITIES",
    "FAMILIES",
    "GIVEN_UNITS",
    "NO_ANCHORS",
    "PAPER",
    "QUESTIONS",
    "SENSES",
    "TRAINED",
    "UNITS",
    "Model",
    "Series",
    "Training",
    "cutoffs_of",
    "differences",
    "figure",
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
        rows = [row for row in result.gains if row.k == k and row.measure in FAMILIES and _is_of_figures(row, result)]
        top = max(rows, key=lambda row: row.ncg)
        best.setdefault(top.measure, []).append(f"{number(top.ncg)} at k = {k:,}")
    return (
        f"Highest of F1, KL and LogSim for {sense}: {'; '.join(f'{name}, {listed(at)}' for name, at in best.items())}."
    )


def cutoffs_of(result: NcgResult) -> list[int]:
    """The rank cutoffs of a result.

    Args:
        result: The result.
    """
    return list(dict.fromkeys(row.k for row in result.gains))


def _is_of_figures(row: Gain, result: NcgResult) -> bool:
    return row.leave_one_out == ranking(result, row.measure).endswith(Gain.WITHOUT)


def ranking(result: NcgResult, measure: str) -> str:
    """Name of a ranking: with the passages in their references, or leave-one-out where there is no other.

    Args:
        result: The result that has it.
        measure: The measure.
    """
    names = {line.measure for line in result.lines}
    return measure if measure in names else measure + Gain.WITHOUT


def differences(result: NcgResult, first: str, second: str, cutoffs: Iterable[int]) -> tuple[StudyCell, ...]:
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
    return tuple((row.value, row.low, row.high) if row else None for row in rows)


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
    rows = []
    for result, measure, name in series:
        at = {row.k: row for row in result.gains if row.measure == measure and _is_of_figures(row, result)}
        cells = ((at[k].ncg, at[k].low, at[k].high) if k in at else None for k in cutoffs)
        rows.append(StudyRow(name=name, cells=tuple(cells)))
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
