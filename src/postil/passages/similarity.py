"""`postil.rank_passages`: passages by similarity with others, with per-unit score contributions."""

from __future__ import annotations

import os
from functools import cache
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from postil.data.arguments import check_arguments
from postil.data.explain import shown
from postil.data.fields import is_number
from postil.data.frames import ColumnNames, as_list, is_table, open_rows
from postil.data.ranking import best_first
from postil.data.row_files import PLAIN, read
from postil.data.row_locations import RowLocations, Source
from postil.data.rows import Passage
from postil.documents.document import FailedPage
from postil.documents.feed import FeedReport, is_feed
from postil.documents.options import PassageSplit, SourceOptions
from postil.documents.passages import document_passages
from postil.documents.reading import entries_of, has_rows, load, read_source
from postil.errors import InvalidInput, UsageError
from postil.metrics.passage_measures import FScore, KullbackLeibler, LogSim, Overlap, PooledRouge, TfIdf
from postil.metrics.passage_pools import Bags, PassageCollection, Pools, one_pool
from postil.metrics.preprocessing import Preprocessing
from postil.metrics.spec import parse_measure
from postil.passages.result import RankedPassage, UnitContribution

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from postil.data.frames import Column, Table
    from postil.data.reading import Reading
    from postil.kernel.arrays import Floats, Int32s

__all__ = [
    "MEASURE",
    "UNITS",
    "Ranking",
    "decomposable",
    "graded_passages",
    "measure_ranking",
    "passages_of",
    "rank_passages",
    "reference_weights",
    "references_of",
    "rows_of",
    "unit_contributions",
]


def rows_of(path: str, reading: Reading) -> list[Passage]:
    """Read a table of passage rows, also those with an empty text.

    Args:
        path: The table.
        reading: Options of reading it.

    Raises:
        InvalidInput: It cannot be read, or holds no passage.
    """
    rows = list(read(path, Passage, reading))
    if not any(row.text.strip() for row in rows):
        raise InvalidInput("expected passages, got none", where=path)
    return rows


def passages_of(path: str, split: PassageSplit = "paragraphs", reading: Reading = PLAIN) -> list[str]:
    """Read the passages of a page.

    Args:
        path: A table of passage rows, by its ending or a named format, else a document or a feed; see `read_source`.
        split: Unit of a document that is a passage.
        reading: Options of reading a table.

    Raises:
        UnknownName: There is no such way to split.
        InvalidInput: The file cannot be read, or holds no passage.
        MissingExtra: A reader of this format is not installed.
    """
    if has_rows(path, reading):
        return [row.text for row in rows_of(path, reading)]
    loaded, options = load(path), SourceOptions()
    found = entries_of(loaded, options) if is_feed(loaded.data) else [read_source(loaded, options)]
    documents = (each for each in found if not isinstance(each, FailedPage | FeedReport))
    texts = [each.text for document in documents for each in document_passages(document, split)]
    if not texts:
        raise InvalidInput("expected passages, got none", where=path)
    return texts


def references_of(
    path: str, split: PassageSplit = "paragraphs", reading: Reading = PLAIN
) -> tuple[list[str], list[float] | None]:
    """Read passages that people found interesting, with their weights where all of them have a grade.

    Args:
        path: As in `passages_of`. Rows with the grade 0 are ignored.
        split: As in `passages_of`.
        reading: As in `passages_of`.

    Returns:
        n texts, and n weights, the grades divided by the highest; None where a grade is missing.

    Raises:
        UnknownName, InvalidInput, MissingExtra: As `passages_of`, or a grade is negative or no grade is above 0.
    """
    if not has_rows(path, reading):
        return passages_of(path, split), None
    return graded_passages(read(path, Passage, reading))


def graded_passages(rows: Source[Passage]) -> tuple[list[str], list[float] | None]:
    """Select the passages that people found interesting, with their weights where all of them have a grade.

    Args:
        rows: Passages. Rows with the grade 0 are ignored.

    Returns:
        n texts, and n weights, the grades divided by the highest; None where a grade is missing.

    Raises:
        InvalidInput: A row is invalid, a grade is negative, or no grade is above 0.
    """
    graded: list[tuple[str, float | None]] = []
    for place, row in enumerate(rows):
        if row.grade is not None and row.grade < 0:
            raise rows.places.error(place, "grade", f"expected a number of at least 0, got {row.grade:g}")
        if row.grade != 0 and row.text.strip():
            graded.append((row.text, row.grade))
    if not graded:
        raise InvalidInput("expected passages with a grade above 0, got none", where=rows.places.where)
    grades = [grade for _, grade in graded if grade is not None]
    highest = max(grades, default=1.0)
    weights = [grade / highest for grade in grades] if len(grades) == len(graded) else None
    return [text for text, _ in graded], weights


DECOMPOSABLE: Final = ("f1", "kl", "logsim", "rouge", "tf-idf")
"""Families of measures whose scores decompose into unit contributions."""


def unit_contributions(
    measure: Overlap, collection: PassageCollection, pools: Pools, index: int, most: int | None = None
) -> list[UnitContribution]:
    """The units that a passage shares with its reference, the largest contribution first.

    The contributions of F, LogSim, ROUGE and the TF-IDF cosine add up to the score.

    Args:
        measure: The measure that scored the passage, of a family in `DECOMPOSABLE`.
        collection: The passages.
        pools: Their references.
        index: The passage, as an index into ``pools.texts``.
        most: Largest number of units; by default all.

    Raises:
        UsageError: The measure does not decompose.

    >>> from postil.metrics.passage_pools import PassageCollection
    >>> from postil.metrics.passage_pools import informativeness
    >>> from postil.text.tokens import Vocabulary
    >>> collection = PassageCollection(Vocabulary().encode_tokens([["a", "b", "c"], ["b", "d"], ["b", "c", "x"]]))
    >>> pools = informativeness([0, 0, 0], [1, 1, 0])
    >>> [(each.unit, round(each.part, 3)) for each in unit_contributions(FScore(), collection, pools, 2)]
    [('b', 0.286), ('c', 0.286)]
    """
    pool = int(np.searchsorted(pools.text_offsets, index, side="right")) - 1
    held = np.arange(pools.reference_offsets[pool], pools.reference_offsets[pool + 1])
    held = np.setdiff1d(held, pools.own_of(index))
    bags = collection.bags(measure.unit, upto=measure.upto)
    units = bags.units

    text = int(pools.texts[index])
    mine = slice(units.offsets[text], units.offsets[text + 1])
    number, k = units.units[mine], units.counts[mine].astype(np.float64)
    most_of = np.zeros(units.distinct)
    most_of[number] = k

    begins, sizes = units.offsets[pools.references[held]], units.types[pools.references[held]]
    entries = np.arange(sizes.sum()) + np.repeat(begins - (np.cumsum(sizes) - sizes), sizes)
    unit, times = units.units[entries], units.counts[entries]
    weights = np.repeat(pools.weights[held] if measure.weighted else np.ones(len(held)), sizes)
    count = np.asarray(np.bincount(unit, weights * times, units.distinct), np.float64)
    parts = _parts(measure, number, k, count, bags)
    if isinstance(measure, FScore):
        squared, best = measure.beta**2, np.zeros(units.distinct)
        np.maximum.at(best, unit, weights)
        parts = (1 + squared) * best[number] / (squared * np.count_nonzero(count) + len(number))
    elif isinstance(measure, PooledRouge):
        matched = np.bincount(unit, weights * np.minimum(times, most_of[unit]), units.distinct)
        parts = matched[number] / max(1, int(times.sum()))
    order = [i for i in np.argsort(-parts, kind="stable").tolist() if count[number[i]] > 0]
    words = collection.tokens.vocabulary.words()
    return [
        UnitContribution(unit=" ".join(words[word] for word in units.grams[number[i]]), part=float(parts[i]))
        for i in order[:most]
    ]


def _parts(measure: Overlap, number: Int32s, k: Floats, count: Floats, bags: Bags) -> Floats:
    """Contribution of each unit, for measures where it depends on counts alone."""
    c, total = count[number], float(count.sum())
    if isinstance(measure, FScore | PooledRouge) or not total:
        return np.zeros(len(number))
    if isinstance(measure, LogSim):
        of_text, of_pool = np.log1p(k * total / k.sum()), np.log1p(c)
        return np.asarray(c / total * np.minimum(of_text, of_pool) / np.maximum(of_text, of_pool))
    if isinstance(measure, KullbackLeibler):
        share = bags.share[number]
        return np.asarray(c / total * (np.log(k + share) - np.log(share)))
    if isinstance(measure, TfIdf):
        idf = bags.idf[number]
        norms = np.sqrt(((k * idf) ** 2).sum() * ((count * bags.idf) ** 2).sum())
        return np.asarray(k * c * idf**2 / norms)
    raise UsageError(f"{measure.name} does not decompose into unit contributions; use {', '.join(DECOMPOSABLE)}")


MEASURE: Final = "logsim-1"
"""Default measure; the paper's best."""

UNITS: Final = 5
"""Number of units that are given for a passage."""


class Ranking(NamedTuple):
    """Scores of the passages of a page.

    Args:
        scores: float64[n], higher is better; minus infinity for passages without units, or with nothing to be compared
            with.
        reasons: Function from the index of a passage to the units that make its score, the largest contribution first.
    """

    scores: NDArray[np.float64]
    reasons: Callable[[int], tuple[UnitContribution, ...]]


def rank_passages(
    passages: Column | Table,
    reference: Column | Table | None = None,
    *,
    weights: Column | None = None,
    columns: Mapping[str, str] | None = None,
    missing: Sequence[str] = (),
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
        missing: Texts of cells that hold no value, such as ``["n/a"]``.
        k: Number of passages to return; by default all.
        measure: Spec of a measure over units, such as ``logsim-2``, ``f1-1`` or ``w-f1-2``.
        tokenizer: A name in `postil.text.tokenizers.TOKENIZERS`.
        stem: A name in `postil.text.stems.STEMMERS`, or ``none``.
        stop: A name in `postil.text.stop_words.STOP_LISTS`, or ``none``.
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
    chosen = decomposable(measure)
    names = ColumnNames(
        {"passages": Passage, "reference": Passage},
        columns,
        constants={"topic": "page", "id": "passage"},
        missing=missing,
    )
    texts = _texts(passages, "passages", names)
    known = texts
    if is_table(reference):
        known, of_grades = _references(reference, names)
        weights = of_grades if weights is None else weights
    elif reference is not None:
        known = _texts(reference, "reference", names)
    weight = reference_weights(weights, len(known), needed=chosen.weighted)
    if not texts:
        return []
    if not known:
        raise InvalidInput("expected at least one passage, got none", where="reference")
    how = Preprocessing(tokenizer=tokenizer, stem=stem, stop=stop)
    ranking = measure_ranking(texts, None if reference is None else known, weight, measure=chosen, how=how, jobs=jobs)
    return [
        RankedPassage(
            rank=rank,
            index=index,
            text=texts[index],
            score=float(ranking.scores[index]) if np.isfinite(ranking.scores[index]) else None,
            reasons=ranking.reasons(index),
        )
        for rank, index in enumerate(best_first(ranking.scores, k=k).tolist(), start=1)
    ]


def measure_ranking(
    texts: Sequence[str],
    reference: Sequence[str] | None,
    weights: NDArray[np.float64],
    *,
    measure: Overlap,
    how: Preprocessing,
    jobs: int = 1,
    stops: Sequence[str] | None = None,
) -> Ranking:
    """Score passages by a measure.

    Args:
        texts: n passages.
        reference: m texts; None for the passages themselves. A text with the same words leaves it while it is scored.
        weights: float64[m], or of the n passages, the weight of each.
        measure: A measure that decomposes.
        how: Preprocessing.
        jobs: Number of threads.
        stops: Stop list of each passage, in place of that of `how`, which is that of the reference.

    Raises:
        InvalidInput: More than a tenth of all texts are Han text and meet the ``words`` tokenizer.
    """
    every = [*texts, *(reference or ())]
    rows = [Passage("page", str(i), text) for i, text in enumerate(every)]
    lists = None if stops is None else [*stops, *[how.stop] * len(reference or ())]
    collection = how.collection(rows, RowLocations("passages"), jobs, stops=lists)
    same = collection.duplicates()
    known = np.arange(0 if reference is None else len(texts), len(every))
    pools = one_pool(same, known, weights, np.arange(len(texts)))

    @cache  # duplicates of a text share its contributions
    def contributions(index: int) -> tuple[UnitContribution, ...]:
        return tuple(unit_contributions(measure, collection, pools, index, UNITS))

    return Ranking(measure.ranked(measure.values(collection, pools, jobs)), lambda index: contributions(same[index]))


def decomposable(spec: str) -> Overlap:
    """Parse the spec of a measure whose scores are sums over units.

    Args:
        spec: The spec.

    Raises:
        UnknownName: There is no such measure.
        UsageError: The measure has no units.
    """
    measure = parse_measure(spec)
    if not isinstance(measure, Overlap) or measure.family not in DECOMPOSABLE:
        raise UsageError(f"{spec} does not decompose into unit contributions; use {', '.join(DECOMPOSABLE)}")
    return measure


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


def reference_weights(weights: Column | None, n: int, *, needed: bool) -> NDArray[np.float64]:
    """Weights of the texts of a reference; all 1 where there are none.

    Args:
        weights: n numbers from 0 to 1.
        n: Number of texts.
        needed: True for a measure that counts them.

    Raises:
        UsageError: They are needed, and not given.
        InvalidInput: They are not n numbers from 0 to 1.
    """
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
