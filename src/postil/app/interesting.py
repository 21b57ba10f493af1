"""`postil interesting` and `postil.rank_passages`: the best passages of a page, with per-unit score contributions."""

from __future__ import annotations

import os
from functools import cache
from typing import TYPE_CHECKING, Annotated, Final

import numpy as np

from postil.app.columns import as_list
from postil.app.options import TableInputOptions
from postil.app.page import Split, graded_passages, passages_of, references_of
from postil.errors import InvalidInput, UsageError
from postil.metrics.measures import Overlap
from postil.metrics.passage_collection import Preprocessing
from postil.metrics.pool import one_pool
from postil.metrics.spec import parse_measure
from postil.metrics.unit_contributions import DECOMPOSABLE, unit_contributions
from postil.options import Flag, options
from postil.records.arguments import check_arguments
from postil.records.checks import is_number
from postil.records.explain import shown
from postil.records.frames import ColumnNames, is_table, open_rows
from postil.records.ranking import best_first
from postil.records.results import InterestingResult, RankedPassage, UnitContribution
from postil.records.row_locations import RowLocations
from postil.records.rows import Passage
from postil.text.han import HanTexts
from postil.text.tokenizers import tokenizer as named_tokenizer

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from postil.app.columns import Column
    from postil.app.progress import OnMessage
    from postil.records.frames import Table

__all__ = ["InterestingOptions", "rank_page", "rank_passages"]

MEASURE: Final = "logsim-1"
"""Default measure; the paper's best."""

UNITS: Final = 5
"""Number of units that are given for a passage."""


@options
class InterestingOptions(Preprocessing):
    """Options of `postil interesting`.

    Args:
        k: Number of passages.
        reference: Interesting passages; by default the rest of the page.
        measure: Spec of a measure over units, such as logsim-1, f1-2 or tf-idf-1.
        split: Unit of a plain text that is a passage: paragraphs, sentences or lines.
        anchors: Not of a page.
    """

    k: Annotated[int, Flag(("--k", "-k"), min=1)] = 5
    reference: Annotated[str | None, Flag(("--reference", "-r"), metavar="FILE")] = None
    measure: Annotated[str, Flag(("--measure", "-m"), metavar="SPEC")] = MEASURE
    split: Annotated[Split, Flag(metavar="WHAT")] = "paragraphs"
    anchors: Annotated[bool, Flag(hidden=True)] = False


def rank_page(
    page: str,
    options: InterestingOptions,
    inputs: TableInputOptions | None = None,
    on_message: OnMessage = lambda _: None,
) -> tuple[InterestingResult, list[str]]:
    """Rank the passages of a file.

    Args:
        page: A text, or rows of passages; ``-`` for a text on standard input.
        options: Options.
        inputs: Options of reading tables.
        on_message: Callback for status messages.

    Returns:
        The best passages, and warnings about the ranking; docs/findings/passages.md has the numbers.

    Raises:
        InvalidInput: A file cannot be read or holds no passage; and as `rank_passages`.
        UnknownName, UsageError: As `rank_passages`.
    """
    if page == options.reference == "-":
        raise UsageError("only one of the files can be standard input")
    given = (inputs or TableInputOptions()).readings({"passages": Passage, "reference": Passage}, on_message)
    known, weights = (
        references_of(options.reference, options.split, given["reference"])
        if options.reference is not None
        else (None, None)
    )
    found = rank_passages(
        passages_of(page, options.split, given["passages"]),
        known,
        weights=weights,
        k=options.k,
        measure=options.measure,
        tokenizer=options.tokenizer,
        stem=options.stem,
        stop=options.stop,
    )
    han = HanTexts(named_tokenizer(options.tokenizer), "passages shown")
    han.see(each.text for each in found)
    warnings = [han.remark] if han.remark else []
    if known is None and getattr(parse_measure(options.measure), "family", "") == "kl":
        warnings.append(
            "on a page that is its own reference kl puts short passages first; name a --reference, or take logsim"
        )
    return InterestingResult(measure=options.measure, passages=tuple(found)), warnings


def rank_passages(
    passages: Column | Table,
    reference: Column | Table | None = None,
    *,
    weights: Column | None = None,
    columns: Mapping[str, str] | None = None,
    k: int | None = None,
    measure: str = MEASURE,
    tokenizer: str = "words",
    stem: str = "none",
    stop: str = "none",
    jobs: int = 1,
) -> list[RankedPassage]:
    """Rank the passages of a page by similarity with reference passages.

    Args:
        passages: n texts; or a table with a column of texts: a data frame, rows or dictionaries, or the path of a file
            (rows of passages, or a plain text, whose paragraphs they are).
        reference: Passages that people found interesting: texts, or a table, whose grades become weights if all have
            one (grade / highest grade; grade 0 is ignored). Without them each passage is compared with the other
            passages of the page, which finds the ones that say most of what the page is about. A passage leaves
            its reference where it is one itself (a text with the same words).
        weights: Weight of each reference, in [0, 1]; for measures with ``w-``.
        columns: Columns of tables by field: ``{"text": "sentence"}`` of the passages, ``{"reference.grade": "stars"}``.
        k: Number of passages to return; by default all.
        measure: Spec of a measure over units, such as ``logsim-2``, ``f1-1`` or ``w-f1-2``.
        tokenizer: A name in `postil.text.TOKENIZERS`.
        stem: A name in `postil.text.STEMMERS`, or ``none``.
        stop: A name in `postil.text.STOP_LISTS`, or ``none``.
        jobs: Number of threads.

    Returns:
        The best first; of equal ones the earlier. Passages without a unit are last, without score and contributions.

    Raises:
        InvalidInput: A passage is no text, more than a tenth of all passages are Han text and meet the ``words``
            tokenizer, or the reference is empty.
        UnknownName, UsageError: A name does not exist, the measure has no units, or weights are missing or wrong.

    >>> page = ["Coffee was first roasted in Yemen.", "Prices rose.", "A goat herd found coffee in Yemen first."]
    >>> best, *others = rank_passages(page, stop="en")
    >>> best.text, [each.unit for each in best.reasons]
    ('A goat herd found coffee in Yemen first.', ['coffee', 'yemen', 'first'])
    >>> rank_passages([{"text": text} for text in page], stop="en") == [best, *others]
    True
    """
    check_arguments(rank_passages, locals())
    chosen = parse_measure(measure)
    if not isinstance(chosen, Overlap) or chosen.family not in DECOMPOSABLE:
        raise UsageError(f"{measure} does not decompose into unit contributions; use {', '.join(DECOMPOSABLE)}")
    names = ColumnNames(
        {"passages": Passage, "reference": Passage}, columns, constants={"topic": "page", "id": "passage"}
    )
    texts = _texts(passages, "passages", names)
    known = texts
    if is_table(reference):
        known, of_grades = _references(reference, names)
        weights = of_grades if weights is None else weights
    elif reference is not None:
        known = _texts(reference, "reference", names)
    weight = _weights(weights, len(known), needed=chosen.weighted)
    if not texts:
        return []
    if not known:
        raise InvalidInput("expected at least one passage, got none", where="reference")
    every = texts if reference is None else [*texts, *known]
    how = Preprocessing(tokenizer=tokenizer, stem=stem, stop=stop)
    rows = [Passage("page", str(i), text) for i, text in enumerate(every)]
    collection = how.collection(rows, RowLocations("passages"), jobs)
    same = collection.duplicates()
    pools = one_pool(same, np.arange(len(every) - len(known), len(every)), weight, np.arange(len(texts)))
    scores = chosen.ranked(chosen.values(collection, pools, jobs))

    @cache  # duplicates of a text share its contributions
    def contributions(index: int) -> tuple[UnitContribution, ...]:
        return tuple(unit_contributions(chosen, collection, pools, index, UNITS))

    return [
        RankedPassage(
            rank=rank,
            index=index,
            text=texts[index],
            score=float(scores[index]) if np.isfinite(scores[index]) else None,
            reasons=contributions(same[index]),
        )
        for rank, index in enumerate(best_first(scores, k=k).tolist(), start=1)
    ]


def _references(reference: Table, names: ColumnNames) -> tuple[list[str], list[float] | None]:
    if isinstance(reference, str | os.PathLike):
        return references_of(os.fspath(reference), reading=names.reading("reference"))
    return graded_passages(open_rows(reference, Passage, "reference", names))


def _texts(column: object, where: str, names: ColumnNames) -> list[str]:
    if isinstance(column, str | os.PathLike):
        return passages_of(os.fspath(column), reading=names.reading(where))
    if is_table(column):
        return [row.text for row in open_rows(column, Passage, where, names)]
    texts = []
    for line, text in enumerate(as_list(column, where), start=1):
        if not isinstance(text, str):
            raise InvalidInput(f"expected text, got {shown(text)}", where=where, line=line)
        texts.append(text)
    return texts


def _weights(weights: Column | None, n: int, *, needed: bool) -> NDArray[np.float64]:
    if weights is None:
        if needed:
            raise UsageError("a measure with w- needs weights of the reference; give weights, or leave w- out")
        return np.ones(n)
    given = as_list(weights, "weights")
    if len(given) != n:
        raise InvalidInput(f"expected a weight for each of {n} references, got {len(given)}", where="weights")
    for line, weight in enumerate(given, start=1):
        if not is_number(weight) or not 0 <= weight <= 1:
            raise InvalidInput(f"expected a number from 0 to 1, got {shown(weight)}", where="weights", line=line)
    return np.array(given, np.float64)
