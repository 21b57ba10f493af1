"""`postil weights plan`: which references to grade, of candidates and references."""

from __future__ import annotations

from fractions import Fraction
from math import floor
from typing import TYPE_CHECKING

import numpy as np

from postil.data.atomic_file import check_apart
from postil.data.explain import counted, have
from postil.data.paired_tables import PAIR, pair_tables
from postil.data.row_files import kind_of, write
from postil.data.row_locations import LocatedRows, Source
from postil.data.rows import Candidate, PlannedReference, Reference
from postil.errors import InvalidInput, UsageError
from postil.messages import Setting
from postil.metrics.evaluation import Evaluation
from postil.metrics.spec import load_plugins
from postil.metrics.ungraded import plan_references, similarity_metric
from postil.results.base import Result
from postil.scoring.graded import Candidates, ReferenceRows, Weighting, read_references
from postil.weights.options import parse_budget

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from postil.data.progress import OnMessage
    from postil.weights.options import WeightsPlanOptions

__all__ = ["WeightsPlanResult", "plan_weights", "plan_weights_files"]


class WeightsPlanResult(Result, frozen=True, kw_only=True, tag="weights-plan"):
    """A plan of which references to grade; any beginning of its rows is a plan.

    Args:
        budget: Number of references to grade.
        rows: The references, in the order in which to grade them.
        covered: Value of the plan after each tenth of the budget, as a share of the value of all references.
        notes: Notes on the data and the numbers.
    """

    budget: int
    rows: tuple[PlannedReference, ...]
    covered: tuple[float, ...]
    notes: tuple[str, ...]


def plan_weights_files(
    candidates: str, references: str, options: WeightsPlanOptions, on_message: OnMessage
) -> WeightsPlanResult:
    """Plan which references of a file to grade, for the candidates of another.

    Args:
        candidates: A file of candidate rows; ``-`` for standard input.
        references: A file of reference rows; ``-`` for standard input.
        options: Options of the command.
        on_message: Callback for status messages.

    Raises:
        UsageError: A name or a combination of options makes no sense.
        InvalidInput: Something in a file is wrong; says where.
        Undefined: CIDEr of a single item.
    """
    load_plugins(options.plugins)
    pair = pair_tables(candidates, references, options.readings(PAIR, on_message))
    if options.out is not None:
        kind_of(options.out)
        check_apart(options.out, [candidates, references])
    rows = pair.candidates(candidates)
    result = plan_weights(rows, pair.references(references), options, on_message)
    if options.out is not None:
        write(options.out, result.rows)
    return result


def plan_weights(
    candidates: Source[Candidate],
    references: Source[Reference],
    options: WeightsPlanOptions,
    on_message: OnMessage = lambda _: None,
) -> WeightsPlanResult:
    """Plan which references to grade: first the best of every item, then those that cover most texts.

    Args:
        candidates: The texts to be scored.
        references: The references; those with a grade, ratings or a weight count as chosen and cost nothing.
        options: Options of the command; files are not read or written.
        on_message: Callback for remarks on the texts.

    Raises:
        UsageError: The metric is no similarity, or the budget is above the number of references without a grade.
        InvalidInput: Something in the rows is wrong; says where.
        Undefined: CIDEr of a single item.
    """
    metric = similarity_metric(options.metric, Setting("metric"))
    rows = list(references)
    asked = {options.metric: metric}
    texts = [Reference(row.item, row.text) for row in rows]
    found = read_references(LocatedRows(iter(texts), references.places), Weighting(metrics=asked), on_message)
    evaluation = Evaluation(
        asked, found.references, tokenizer=options.tokenizer, jobs=options.jobs, refuse=found.refuse
    )
    given = Candidates(candidates, found.items, numbered=found.numbered)
    scored = [
        (batch.sets, scores[options.metric])
        for batch, scores in evaluation.pair_scores(given.batches(iter(candidates)), given.refuse)
    ]
    if not scored:
        raise InvalidInput("expected at least one candidate, got none", where=candidates.places.where)
    for remark in evaluation.remarks:
        on_message(remark)
    sets, similarities = (np.concatenate(parts) for parts in zip(*scored, strict=True))
    return _planned(rows, found, sets, similarities, options)


def _planned(
    rows: list[Reference],
    found: ReferenceRows,
    sets: NDArray[np.int32],
    similarities: NDArray[np.float64],
    options: WeightsPlanOptions,
) -> WeightsPlanResult:
    """Plan references by their similarities to the candidates."""
    offsets = found.references.offsets
    items = np.array([found.items[row.item] for row in rows])
    order = np.argsort(items, kind="stable")  # as the references are grouped
    graded = np.array([row.mean_grade is not None or row.weight is not None for row in rows])
    scored = np.bincount(sets, minlength=len(offsets) - 1) > 0
    available = np.count_nonzero(~graded & scored[items])
    if not available:
        raise UsageError("there is nothing to plan: every reference of an item with candidates has a grade")
    budget = _references_to_grade(parse_budget(options.budget), int(available))
    plan = plan_references(similarities, sets, offsets, graded[order], budget=budget, each=options.each, rows=order)
    known = f"{np.count_nonzero(graded):,} graded" if graded.any() else "none graded"
    sizes = f"{counted(len(graded), 'reference')} of {counted(len(scored), 'item')}, {known}"
    notes = [f"{sizes}; {counted(len(sets), 'text')} to be scored; similarity {options.metric}"]
    if unscored := int(np.count_nonzero(~scored)):
        notes.append(f"{counted(unscored, 'item')} without candidates: none of their references is planned")
    lacking = int(np.count_nonzero(scored & (np.bincount(items[graded], minlength=len(scored)) == 0)))
    if budget < lacking:
        few = f"the budget is below one reference per item ({counted(lacking, 'item')} {have(lacking)} no graded one)"
        notes.append(f"{few}: weighted metrics then gain little or nothing, however the references are chosen")
    return WeightsPlanResult(
        budget=budget,
        rows=tuple(
            PlannedReference(
                item=rows[order[index]].item,
                reference=int(index - offsets[items[order[index]]]) + 1,
                text=rows[order[index]].text,
                order=place,
                gain=gain,
            )
            for place, (index, gain) in enumerate(zip(plan.order.tolist(), plan.gains.tolist(), strict=True), 1)
        ),
        covered=tuple(plan.covered.tolist()),
        notes=tuple(notes),
    )


def _references_to_grade(budget: int | Fraction, available: int) -> int:
    """Number of references that a budget allows, of those that have no grade; of a share at least one.

    Raises:
        UsageError: It is above all.

    >>> [_references_to_grade(parse_budget(budget), 25) for budget in ("7", "20%", "10 %", "0.1%", "100%")]
    [7, 5, 3, 1, 25]
    """
    if isinstance(budget, Fraction):
        return max(1, floor(budget * available + Fraction(1, 2)))
    if budget > available:
        raise UsageError(
            "{setting}: expected at most {available:,}, as many references have no grade, got {budget:,}",
            setting=Setting("budget"),
            available=available,
            budget=budget,
        )
    return budget
