"""Anchors of a judge: for each text, graded references of its item as examples."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from postil.app.reference_rows import Weighting, read_references
from postil.app.score_rows import Candidates
from postil.judges import Anchor
from postil.messages import Message, Setting
from postil.metrics.consensus import similarity_metric
from postil.metrics.evaluation import Evaluation
from postil.records.counting import have
from postil.records.row_locations import LocatedRows
from postil.records.rows import Reference
from postil.render.formats import counted
from postil.unicode_forms import normalized

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from postil.app.score_rows import CandidateBatch
    from postil.records.row_locations import Source
    from postil.records.rows import Candidate
    from postil.records.scale import Scale

__all__ = ["CHOICES", "AnchorOptions", "Anchored", "choose_anchors"]

CHOICES: Final = ("nearest", "spread", "none")
"""Choices of anchors."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnchorOptions:
    """Options of choosing anchors.

    Args:
        choice: ``nearest`` (most similar to the text) or ``spread`` (of median length).
        metric: Similarity of a text to a reference, with ``nearest``.
        per_grade: Number of anchors per grade.
        scale: Scale of the grades.
        tokenizer: Name of the tokenizer.
        jobs: Number of threads.
    """

    choice: str
    metric: str
    per_grade: int
    scale: Scale
    tokenizer: str
    jobs: int


@dataclass(frozen=True, slots=True)
class Anchored:
    """Anchors of candidates.

    Args:
        anchors: Those of each candidate, in rising order of grades.
        signature: Their choice, as signatures have it.
        notes: Notes on the references and the texts.
    """

    anchors: list[tuple[Anchor, ...]]
    signature: str
    notes: tuple[str, ...]


def choose_anchors(candidates: Source[Candidate], references: Source[Reference], options: AnchorOptions) -> Anchored:
    """Choose graded references of its item for each candidate: for each grade that they have, rounded half up, some.

    Left out are references without a grade, those by the candidate's own system, and those that are the candidate but
    for case, character width and white space. Of equally similar or long ones the first rows are chosen.

    Args:
        candidates: The candidates.
        references: The references.
        options: Options of the choice.

    Raises:
        UsageError: The metric is no similarity, or there is no such tokenizer.
        InvalidInput: Something in the rows is wrong, or no reference has a grade; says where.
    """
    metric = similarity_metric(options.metric, Setting("anchor_metric"))
    rows, asked = list(references), {options.metric: metric}
    notes = list[str]()
    texts = [Reference(row.item, row.text) for row in rows]
    found = read_references(LocatedRows(iter(texts), references.places), Weighting(metrics=asked), notes.append)
    grades = [row.mean_grade for row in rows]
    for index, grade in enumerate(grades):
        if grade is not None and (problem := options.scale.check(grade)):
            raise references.places.error(index, "grade", problem)
    if all(grade is None for grade in grades):
        problem = Message(
            "missing; anchors are references with a grade (or {anchors})", anchors=Setting("anchors", "none")
        )
        raise references.places.error(0, "grade", problem)
    evaluation = Evaluation(
        asked, found.references, tokenizer=options.tokenizer, jobs=options.jobs, split=True, refuse=found.refuse
    )
    given = Candidates(candidates, found.items)
    order = np.argsort([found.items[row.item] for row in rows], kind="stable").tolist()
    pool = [_Graded(rows[row], row, grades[row]) for row in order]
    choice = _Choice(pool, found.references.offsets, options)
    anchors = [each for batch in _preferences(evaluation, given, candidates, options) for each in choice.of(*batch)]
    notes += evaluation.remarks
    if without := sum(not each for each in anchors):
        notes.append(f"{counted(without, 'text')} without an anchor, as no other graded reference of the item is left")
    if ungraded := sum(grade is None for grade in grades):
        notes.append(
            f"{ungraded:,} of {len(grades):,} references {have(ungraded)} no grade: no anchor{'s' * (ungraded != 1)}"
        )
    said = f"|anchor-metric:{metric.signature}" if options.choice == "nearest" else ""
    signature = f"anchors-per-grade:{options.per_grade}{said}|tokenizer:{evaluation.tokenizer.signature}"
    return Anchored(anchors, signature, tuple(notes))


@dataclass(frozen=True, slots=True)
class _Graded:
    """A reference that may be an anchor."""

    row: Reference
    number: int
    grade: float | None


def _preferences(
    evaluation: Evaluation, given: Candidates, candidates: Iterable[Candidate], options: AnchorOptions
) -> Iterator[tuple[CandidateBatch, NDArray[np.float64] | None, NDArray[np.int64]]]:
    """Batches of candidates with the similarity of each pair, and the number of tokens of each reference."""
    lengths = np.diff(evaluation.references.tokens.offsets)
    batches = given.batches(iter(candidates))
    if options.choice == "spread":
        for batch in batches:
            yield batch, None, lengths
        return
    for batch, scores in evaluation.pair_scores(batches, given.refuse):
        yield batch, scores[options.metric], lengths


@dataclass(frozen=True, slots=True)
class _Choice:
    """References as they are grouped by item, and how to choose among them."""

    pool: Sequence[_Graded]
    offsets: NDArray[np.int64]
    options: AnchorOptions

    def of(
        self, batch: CandidateBatch, similarities: NDArray[np.float64] | None, lengths: NDArray[np.int64]
    ) -> Iterator[tuple[Anchor, ...]]:
        """Anchors of each candidate of a batch."""
        pair = 0
        for candidate, item in zip(batch.rows, batch.sets.tolist(), strict=True):
            first, end = self.offsets[item : item + 2].tolist()
            ranks = lengths[first:end] if similarities is None else -similarities[pair : pair + end - first]
            pair += end - first
            yield self._chosen(candidate, self.pool[first:end], ranks.tolist())

    def _chosen(self, candidate: Candidate, pool: Sequence[_Graded], ranks: Sequence[float]) -> tuple[Anchor, ...]:
        by_grade: dict[float, list[tuple[float, int, str]]] = {}
        plain = _plain(candidate.text)
        for each, rank in zip(pool, ranks, strict=True):
            own = each.row.system is not None and each.row.system == candidate.system
            if each.grade is None or own or _plain(each.row.text) == plain:
                continue
            grade = float(min(math.floor(each.grade + 0.5), math.floor(self.options.scale.high)))
            by_grade.setdefault(grade, []).append((rank, each.number, each.row.text))
        anchors = list[Anchor]()
        for grade in sorted(by_grade):
            several = sorted(by_grade[grade])
            begin = max(0, (len(several) - self.options.per_grade) // 2) if self.options.choice == "spread" else 0
            anchors += [Anchor(text, grade) for _, _, text in several[begin : begin + self.options.per_grade]]
        return tuple(anchors)


def _plain(text: str) -> str:
    """A text without what makes no difference to readers: case, character width, white space."""
    return " ".join(normalized("NFKC", text).casefold().split())
