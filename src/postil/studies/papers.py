"""The published figures of the two papers, as they are bundled with the sample, and a study's deviations from one."""

from __future__ import annotations

from importlib.resources import files
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

import msgspec

from postil.studies.result import StudyCell, StudyPart, StudyRow, StudyTable

if TYPE_CHECKING:
    from collections.abc import Iterable


__all__ = [
    "PRINTED",
    "Claim",
    "CommentsPaper",
    "PassagesPaper",
    "Range",
    "Relation",
    "Sentence",
    "comments_paper",
    "deviations",
    "passages_paper",
    "printed_row",
]

PRINTED: Final = "in the paper"
"""Name of rows and columns of published numbers."""

Values = dict[str, dict[str, int | float]]


class _Paper(msgspec.Struct, frozen=True, kw_only=True):
    source: str
    of: str


class Kappa(msgspec.Struct, frozen=True, kw_only=True):
    """Published inter-annotator agreement: Cohen's kappa, the pairs that it is over, annotators, ratings per text."""

    what: str
    kappa: float
    annotators: int
    ratings: int


class Statement(msgspec.Struct, frozen=True, kw_only=True):
    """A number of the data that the text of a paper gives: its statistic, its words, its place."""

    statistic: str
    said: str
    where: str


class Deviation(msgspec.Struct, frozen=True, kw_only=True):
    """A choice that the paper leaves open or that differs: in the paper, here, its source, and what it is about.

    The last are names of commenters, ``relevance`` for its network, names of metrics, or ``judgements``; none for all.
    """

    choice: str
    paper: str
    here: str
    source: str
    of: tuple[str, ...] = ()


class CommentsPaper(_Paper, frozen=True, kw_only=True):
    """Figures of Automatic Article Commenting (Qin et al. 2018).

    Args:
        source: The publication.
        of: Description of its data.
        statistics: Table 2: by statistic, then by split.
        text: Further numbers of the data, from the text.
        agreement: Inter-annotator agreement.
        correlations: Table 3: by metric, then by coefficient.
        systems: Table 7: by metric, then by system.
        deviations: Choices that it leaves open or that differ here: of ``systems`` and of ``metrics``.
    """

    statistics: Values
    text: tuple[Statement, ...]
    agreement: Kappa
    correlations: Values
    systems: Values
    deviations: dict[Literal["systems", "metrics"], tuple[Deviation, ...]]


class Vectors(msgspec.Struct, frozen=True, kw_only=True):
    """Published word vectors: the model with its unit, and the number of vectors."""

    model: str
    vectors: int


class Claim(msgspec.Struct, frozen=True, kw_only=True):
    """A published comparison of two measures.

    Args:
        figure: Number of the figure.
        reference: The protocol: ``topic`` or ``others``.
        first: A measure, or ``w2v`` for word vectors.
        second: Another.
        claim: Claim of the paper, as a sentence.
    """

    figure: int
    reference: Literal["topic", "others"]
    first: str
    second: str
    claim: str


class PaperMeasure(msgspec.Struct, frozen=True, kw_only=True):
    """A measure of the paper: its name there, its name here, and its definition."""

    name: str
    here: str
    definition: str


Range: TypeAlias = Literal["low", "medium", "high"]
"""Rank cutoffs as the text names them."""

Relation: TypeAlias = Literal["higher", "alike", "not higher", "not significant", "below", "reaches", "near"]
"""Relations of two measures (the first four), or of one measure and a level."""


class Sentence(msgspec.Struct, frozen=True, kw_only=True):
    """A sentence of the paper about its figures, in a form that can be checked.

    Args:
        section: Section of the sentence.
        figure: Number of the figure.
        reference: The protocol.
        claim: The sentence, in our words.
        relation: The relation of each pair.
        pairs: Pairs of measures, or single measures where the relation is to a level.
        at: Ranges of rank cutoffs that the sentence is about.
        level: The level of nCG.
    """

    section: str
    figure: int
    reference: Literal["topic", "others"]
    claim: str
    relation: Relation
    pairs: tuple[tuple[str, ...], ...]
    at: tuple[Range, ...] = ("low", "medium", "high")
    level: float = 0.0


class PassagesPaper(_Paper, frozen=True, kw_only=True):
    """Figures of the paper on passage interestingness.

    Args:
        source: The publication.
        of: Description of its data.
        vectors: Table 2.
        claims: Comparisons that the study checks without the preset.
        measures: The measures of section 3.3.
        sentences: Sentences about the figures, which the preset checks.
        deviations: Choices that the paper leaves open or that differ.
    """

    vectors: tuple[Vectors, ...]
    claims: tuple[Claim, ...]
    measures: tuple[PaperMeasure, ...]
    sentences: tuple[Sentence, ...]
    deviations: tuple[Deviation, ...]


def comments_paper() -> CommentsPaper:
    """Read the figures of the paper on comments.

    >>> comments_paper().correlations["w-meteor"]["pearson"]
    0.5747
    """
    return msgspec.json.decode(_file("comments"), type=CommentsPaper)


def passages_paper() -> PassagesPaper:
    """Read the figures of the paper on passages.

    >>> passages_paper().vectors[1].vectors
    30000
    """
    return msgspec.json.decode(_file("passages"), type=PassagesPaper)


def printed_row(cells: Iterable[StudyCell], digits: int) -> StudyRow:
    """The row of published numbers below the same numbers of a study.

    Args:
        cells: The numbers; None where nothing is published.
        digits: Number of decimals.

    >>> printed_row([0.137, None], 3).cells
    (0.137, None)
    """
    return StudyRow(name=PRINTED, cells=tuple(cells), kind="control", digits=digits)


def deviations(rows: Iterable[tuple[str, str, str, str]]) -> StudyPart:
    """The section of a study that lists each choice that the paper leaves open or that differs from it.

    Args:
        rows: Quadruples of the choice, the paper’s words on it, the value taken here, and the place where the paper
            or the documentation says so.

    >>> part = deviations([("attention", "Bahdanau et al. (2014)", "bahdanau", "section 5")])
    >>> part.tables[0].head
    ('choice', 'the paper', 'here', 'source')
    >>> part.tables[0].rows[0].cells
    ('Bahdanau et al. (2014)', 'bahdanau', 'section 5')
    """
    table = StudyTable(
        key="deviations",
        caption="Choices that the paper leaves open, or that differ from it",
        head=("choice", "the paper", "here", "source"),
        rows=tuple(StudyRow(name=choice, cells=tuple(cells)) for choice, *cells in rows),
    )
    return StudyPart(key="deviations", title="Deviations from the paper", tables=(table,))


def _file(name: str) -> bytes:
    return (files("postil.sample") / f"paper-{name}.json").read_bytes()
