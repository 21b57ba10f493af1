"""`postil.score` and `postil.consensus_weights`: columns or tables in, a result or weights out."""

from __future__ import annotations

import warnings
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import chain, compress
from typing import TYPE_CHECKING, Final, cast, overload

import msgspec
import numpy as np

from postil.data.arguments import check_arguments
from postil.data.explain import counted, have, out_of_range, shown
from postil.data.fields import as_id, is_integer, is_number
from postil.data.frames import (
    ColumnNames,
    as_list,
    is_table,
    open_rows,
    plain_value,
    refuse_other_form,
    warn,
    with_texts,
)
from postil.data.groups import grouped
from postil.data.paired_tables import PAIR, alone, firsts, pair_tables, several_tables
from postil.data.row_locations import LocatedRows
from postil.data.rows import Candidate, Reference
from postil.errors import InvalidInput, UsageError
from postil.metrics.evaluation import (
    CHUNK,
    NO_REFERENCES,
    Batch,
    Evaluation,
    ItemScores,
    ReferenceTexts,
    bind_references,
    counts,
)
from postil.metrics.metric_set import DEFAULT_METRICS, lowest_weight, parse_all
from postil.metrics.ungraded import NAME, SIMILARITY, similarity_of
from postil.scoring.graded import Graded, Weighting, check_alone, graded_rows
from postil.scoring.options import ScoreOptions
from postil.scoring.programs import as_program
from postil.text.han import all_remarks
from postil.text.tokenizers import tokenizer as named_tokenizer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from postil.data.frames import Column, Table
    from postil.data.grades import Scale
    from postil.metrics.background import DocumentFrequencies
    from postil.metrics.base import Metric
    from postil.metrics.controls import ControlOptions
    from postil.metrics.own import Metrics
    from postil.metrics.result import ScoreResult

__all__ = ["consensus_weights", "entries", "score"]

SHOWN: Final = 3
"""Number of rows that a warning names."""


def score(
    candidates: Column | Table | None = None,
    references: Column | Table | Sequence[Table] | None = None,
    *,
    predictions: Column | Table | None = None,
    weights: Column | str | None = None,
    metrics: Metrics | None = None,
    tokenizer: str = "words",
    like: str | None = None,
    items: Column | None = None,
    systems: Column | None = None,
    item: str | None = None,
    system: str | None = None,
    text: str | Sequence[str] | None = None,
    columns: Mapping[str, str] | None = None,
    missing: Sequence[str] = (),
    scale: Scale | None = None,
    as_grade: bool = False,
    background: DocumentFrequencies | None = None,
    controls: ControlOptions | None = None,
    ungraded: str = "error",
    jobs: int = 1,
) -> ScoreResult:
    """Score candidates against weighted references.

    There are two forms. **Columns**: ``score(texts, lists_of_references, weights=…, items=…, systems=…)``, one entry
    per candidate. **Tables**: ``score(candidates, references, item=…, system=…, text=…, scale=…, weights=METHOD)``,
    where both are a data frame (pandas, Polars, pyarrow, or another that narwhals takes), the path of a file, or a list
    of rows or of dictionaries; they meet on the item, as in the command `postil score`. The same data give the same
    numbers in both forms and in the command.

    Args:
        candidates: n texts, or n lists of tokens. Lists, NumPy, Arrow, Polars and pandas columns are taken as they are.
            Or a table with the fields item, system (where there is more than one) and text. A missing text is an empty
            one, with a warning.
        references: References of each candidate, any number of them: n lists of texts, or of lists of tokens. A list
            that stands at several places (the same object) is tokenized once. Or a table with the fields item and text,
            and grade, ratings, weight or upvotes where it has them: one row per reference, or one row per item with
            lists of them; rows that repeat a reference count once, unless their ``id`` differs. Or a list of tables, as
            ``["ref.txt", "ref2.txt"]``. Where no table has items, row i of each belongs together. None where all
            metrics are functions of the candidate alone.
        predictions: Another name of ``candidates``.
        weights: For columns: the shape of ``references``, numbers in [0, 1] (for delta-bleu in [-1, 1]);
            ``postil.Scale(1, 5).weights(grades)`` makes them from grades. For tables: the method that makes them, as in
            the command: score, minmax, item-max or signed (of grades), votes (of upvotes), consensus, given. By default
            score where there is a scale, and given where all rows have a weight. Metrics with ``w-`` need weights.
        metrics: Specs such as ``"meteor"`` or ``"w-rouge-l(reading=union)"``; see `postil.metrics.spec`. A function
            of a candidate and its references, or of a candidate alone, is a metric as well; see
            `postil.register_metric`. By default bleu-4, meteor, rouge-l and cider-d; of tables with weights their w-
            forms too.
        tokenizer: Name in `postil.text.tokenizers.TOKENIZERS`. Lists of tokens are taken as they are.
        like: Program whose numbers are wanted, ``sacrebleu``, ``rouge-score`` or ``pycocoevalcap``: its metrics, by
            default those that it computes by itself, with its parameters and its tokenizer.
        items: Item of each candidate, so that the references of one item count once for CIDEr's document frequencies,
            whether several systems answer it or its references differ (leave-one-out). By default candidates with the
            same list of references share an item.
        systems: System of each candidate; by default all are of one. Each has corpus scores of its own.
        item: Column of the item, in both tables.
        system: Column of the system; by default ``system``, and without such a column all are of one system.
        text: Column of the candidates' texts; or several, each of them of a system with its name.
        columns: Columns by field, as ``--column`` has them, for fields without a keyword:
            ``{"references.text": "gold", "references.grade": "stars"}``. ``"=NAME"`` is a constant.
        missing: Texts of cells of tables that hold no value, such as ``["n/a"]``; ``"references=n/a"`` is of that table
            alone.
        scale: Scale of the references' grades.
        as_grade: True for scores with ``over=kernel`` as grades on the scale, ``low + score (high - low)``; only for
            tables with ``weights="minmax"``.
        background: Saved document frequencies in place of those of ``references``.
        controls: Controls of the ``w-`` metrics to add to the item scores, under names such as
            ``control:nearest(w-meteor)``; see `postil.metrics.controls.Controls`.
        ungraded: ``error``, or ``drop`` to exclude references without a weight (None among ``weights``; in tables
            without what the method reads), and with their candidates the items that have no others: the item scores
            are of the other candidates.
        jobs: Number of threads. The numbers do not depend on it.

    Returns:
        The result, with ``.corpus``, ``.items`` and ``.signatures`` by spec; of several systems with ``.by_system``.

    Warns:
        UserWarning: Some texts are Han text and meet the ``words`` tokenizer, the data show a sign against
            ``over=near`` or ``over=kernel`` (see `postil.metrics.reference_aggregation.Over`), or some items of a table
            have no candidate.

    Raises:
        UnknownName: A metric, tokenizer or weights method does not exist; the message offers the nearest.
        UsageError: An argument is of another kind, or of the other form.
        InvalidInput: Shapes do not fit, a candidate has no references, a weight is out of range, a column is missing, a
            text is missing, or more than a tenth of the candidates or references are Han text and meet the ``words``
            tokenizer (of fewer a warning tells). ``line`` counts candidates, or rows of a table, from 1.
        Undefined: CIDEr of a single item without a background.

    >>> result = score(["a b c"], [["a b c d", "x"]], weights=[[0.5, 1.0]], metrics=["rouge-l", "w-rouge-l"])
    >>> result.corpus["w-rouge-l"] == result.corpus["rouge-l"] / 2
    True

    >>> import pandas as pd, postil
    >>> outputs = pd.DataFrame({"id": [1, 2], "model": ["a", "a"], "text": ["a b c", "d e"]})
    >>> gold = pd.DataFrame({"id": [1, 1, 2], "text": ["a b c d", "x", "d e"], "grade": [3, 5, 5]})
    >>> result = score(outputs, gold, item="id", system="model", metrics="w-rouge-l", scale=postil.Scale(1, 5))
    >>> result.items["w-rouge-l"].round(3).tolist(), result.item_names
    ([0.501, 1.0], ('1', '2'))
    """
    check_arguments(score, locals())
    if predictions is not None:
        if candidates is not None:
            raise UsageError("predictions: another name of candidates, which are given too; expected one of them")
        candidates = predictions
    several = [metrics] if isinstance(metrics, str) or callable(metrics) else metrics
    if like is not None:
        several, tokenizer = as_program(like, several or (), tokenizer)
    method = weights if isinstance(weights, str) else None
    options = ScoreOptions(
        tokenizer=tokenizer, weights=method, scale=scale, as_grade=as_grade, ungraded=ungraded, jobs=jobs
    )
    graded: Graded[Candidate] | Graded[int]
    tables = several_tables(references)
    is_alone = references is None
    if is_table(candidates) and (is_alone or is_table(references) or tables or not isinstance(candidates, str)):
        refuse_other_form("candidates are a table, so name its columns: item=…, system=…", items=items, systems=systems)
        if not (is_alone or is_table(references) or tables):
            raise UsageError(
                "references: expected a table like the candidates: a data frame, a path, or a list of rows or "
                f"dictionaries, got {type(references).__name__}"
            )
        if not (weights is None or isinstance(weights, str)):
            raise UsageError("weights: candidates are a table, so expected the name of a method, such as 'score'")
        named = {**(columns or {}), **({} if system is None else {"system": system})}
        names = ColumnNames(PAIR, with_texts(named, text), everywhere={"item": item}, missing=missing)
        given = tables or cast("Table | None", references)
        graded = _of_tables(candidates, given, names, several, options, background, controls)
    else:
        of_tables = {
            "item": item,
            "system": system,
            "text": text,
            "columns": columns,
            "scale": scale,
            "missing": tuple(missing),
        }
        problem = "only for tables (a data frame, a path, rows), and candidates are a column"
        refuse_other_form(problem, **of_tables, as_grade=as_grade or None)
        graded = _of_columns(
            cast("Column", candidates),
            cast("Column | None", references),
            weights=weights,
            metrics=parse_all(DEFAULT_METRICS if several is None else several, weighted=weights is not None),
            items=items,
            systems=systems,
            options=options,
            background=background,
            controls=controls,
        )
    found = ItemScores(graded.evaluation)
    for scored in graded.measure():
        found.add(scored)
    for remark in (*graded.remarks, *graded.missing()):
        warnings.warn(remark, stacklevel=2)
    result = found.result(graded.totals)
    return msgspec.structs.replace(result, like=like) if like else result


def _of_tables(  # noqa: PLR0917
    candidates: Table,
    references: Table | Sequence[Table] | None,
    names: ColumnNames,
    metrics: Sequence[str | Callable[..., object]] | None,
    options: ScoreOptions,
    background: DocumentFrequencies | None,
    controls: ControlOptions | None,
) -> Graded[Candidate]:
    weighted = options.weights is not None or options.scale is not None
    asked = None if metrics is None else parse_all(metrics, weighted=weighted)
    weighting = Weighting(options.weights, options.scale, asked)
    readings = {role: names.reading(role) for role in PAIR}
    if references is None:
        lone = alone(candidates, readings).candidates(candidates)
        return graded_rows(lone, None, options, weighting, background=background, controls=controls)
    pair = pair_tables(candidates, references, readings)
    rows, opened = pair.candidates(candidates), pair.references(references, weighting.fields)
    if metrics is not None and not weighted and any(map(callable, metrics)):
        # A function that reads weights gets them if a reference has one.
        several = list(opened)
        opened = LocatedRows(iter(several), opened.places)
        asked = parse_all(metrics, weighted=any(row.weight is not None for row in several))
    return graded_rows(
        rows, opened, options, replace(weighting, metrics=asked), background=background, controls=controls
    )


def _of_columns(
    candidates: Column,
    references: Column | None,
    *,
    weights: Column | None,
    metrics: dict[str, Metric],
    items: Column | None,
    systems: Column | None,
    options: ScoreOptions,
    background: DocumentFrequencies | None,
    controls: ControlOptions | None,
) -> Graded[int]:
    if references is None:
        check_alone(metrics, weights=weights, background=background, ungraded=options.ungraded == "drop")
    elif any(metric.needs_weights for metric in metrics.values()) and weights is None:
        raise InvalidInput("missing; a w- metric needs a weight for every reference", where="weights")
    named_tokenizer(options.tokenizer)  # an unknown one is reported before the columns are read
    texts = _texts_of(candidates)
    if not texts:
        raise InvalidInput("expected at least one candidate, got none", where="candidates")
    of_system = [] if systems is None else _systems(systems, len(texts))
    if items is not None:
        items = [as_id(each) if isinstance(each, str) else each for each in as_list(items, "items")]
    names = [] if items is None else [each if isinstance(each, str) else str(each) for each in items]
    if options.ungraded == "drop" and weights is None:
        raise UsageError("ungraded='drop': expected weights, with None for each reference that has no grade")
    lowest, n = lowest_weight(metrics, -1.0), len(texts)
    if references is None:
        columns = ReferenceColumns(NO_REFERENCES, [*range(n)], np.zeros(n, np.int32), np.zeros(1, np.int64))
        if items is not None:
            entries(items, n, "items")
    else:
        columns = ReferenceColumns.gather(n, references, weights, items, lowest, drop=options.ungraded == "drop")
    if excluded := n - len(columns.candidates):
        warnings.warn(f"{excluded:,} of {n:,} candidates {have(excluded)} no graded reference: excluded", stacklevel=3)
        texts = [texts[row] for row in columns.candidates]
        names, of_system = ([each[row] for row in columns.candidates if each] for each in (names, of_system))
    evaluation = Evaluation(
        metrics,
        columns.references,
        tokenizer=options.tokenizer,
        background=background,
        controls=controls,
        jobs=options.jobs,
        tokenized=not isinstance(texts[0], str)
        and (references is None or not isinstance(columns.references.texts[0], str)),
        refuse=columns.refuse,
    )

    def batch(begin: int) -> Batch:
        of = slice(begin, begin + CHUNK)
        return Batch(texts[of], columns.sets[of], begin, names[of], of_system[of])

    def refuse(index: int, problem: str) -> InvalidInput:
        return InvalidInput(problem, where="candidates", line=columns.candidates[index] + 1)

    return Graded(evaluation, range(0, len(texts), CHUNK), lambda begins: map(batch, begins), refuse)


def _texts_of(candidates: Column) -> list[object]:
    """Candidates; one that is missing in a column of a data frame is an empty text, with a warning."""
    texts = as_list(candidates, "candidates")
    if isinstance(candidates, list | tuple):
        return texts
    gaps = [row for row, text in enumerate(texts) if not isinstance(text, str | list) and plain_value(text) is None]
    if gaps:
        rows = ", ".join(str(row + 1) for row in gaps[:SHOWN]) + ", …" * (len(gaps) > SHOWN)
        warn(f"candidates: {counted(len(gaps), 'missing text')} (row {rows}), taken as empty")
        empty: object = [] if any(isinstance(text, list) for text in texts) else ""
        for row in gaps:
            texts[row] = empty
    return texts


def _systems(systems: Column, n: int) -> list[str]:
    names = entries(systems, n, "systems")
    for row, name in enumerate(names):
        if not isinstance(name, str) and not is_integer(name):
            raise InvalidInput(f"expected text or an integer, got {shown(name)}", where="systems", line=row + 1)
    return [as_id(str(name)) for name in names]


@overload
def consensus_weights(  # type: ignore[overload-overlap]  # a list of rows is a list; at run time its elements tell
    references: Column, *, tokenizer: str = "words", metric: str = SIMILARITY, jobs: int = 1
) -> list[list[float]]: ...
@overload
def consensus_weights(
    references: Table,
    *,
    item: str | None = None,
    columns: Mapping[str, str] | None = None,
    missing: Sequence[str] = (),
    tokenizer: str = "words",
    metric: str = SIMILARITY,
    jobs: int = 1,
) -> list[float]: ...
def consensus_weights(
    references: Column | Table,
    *,
    item: str | None = None,
    columns: Mapping[str, str] | None = None,
    missing: Sequence[str] = (),
    tokenizer: str = "words",
    metric: str = SIMILARITY,
    jobs: int = 1,
) -> list[list[float]] | list[float]:
    """Weight ungraded references by their similarity to the others of their row.

    A reference's mean similarity to the others, divided by the highest of its row; where no reference is like another,
    or there is only one, all have 1.

    Args:
        references: n lists of texts, or of lists of tokens, as ``postil.score`` takes them. A list that stands at
            several places (the same object) is tokenized once. Or a table (a data frame, a path, rows) with one row
            per reference: item and text.
        item: Column of the item, in a table.
        columns: Columns of a table by field, such as ``{"text": "gold"}``.
        missing: Texts of cells of a table that hold no value, such as ``["n/a"]``.
        tokenizer: Name in `postil.text.tokenizers.TOKENIZERS`. Lists of tokens are taken as they are.
        metric: The similarity, a spec without ``w-``.
        jobs: Number of threads. The numbers do not depend on it.

    Returns:
        The shape of ``references``, numbers in [0, 1]; of a table one number per row, in its order.

    Raises:
        UnknownName, UsageError: A metric or tokenizer does not exist, or the metric reads weights.
        InvalidInput: A row is empty or no list of texts, or more than a tenth of the references are Han text and meet
            the ``words`` tokenizer (of fewer a warning tells). ``line`` counts rows from 1.
        Undefined: CIDEr of a single row.

    >>> consensus_weights([["a b", "a c", "d b"], ["e"]])
    [[1.0, 0.5, 0.5], [1.0]]
    >>> rows = [{"item": 1, "text": "a b"}, {"item": 2, "text": "e"}, {"item": 1, "text": "a c"}]
    >>> consensus_weights(rows + [{"item": 1, "text": "d b"}])
    [1.0, 1.0, 0.5, 0.5]
    """
    check_arguments(consensus_weights, locals())
    if is_table(references):
        names = ColumnNames({"references": Reference}, columns, everywhere={"item": item}, missing=missing)
        return _consensus_of_rows(open_rows(references, Reference, "references", names), tokenizer, metric, jobs)
    problem = "only for tables (a data frame, a path, rows)"
    refuse_other_form(problem, item=item, columns=columns, missing=tuple(missing))
    similarity = similarity_of(f"{NAME}({metric})")
    chosen = named_tokenizer(tokenizer)
    rows = as_list(references, "references")
    if not rows:
        return []
    sets = ReferenceColumns.gather(len(rows), rows)
    texts = replace(sets.references, similarity=similarity)
    split = similarity is None or not similarity.own_tokenizer
    met = counts(filter(None, [similarity]), chosen, "references", split=split)
    bound = bind_references(texts, chosen, jobs=jobs, split=split, refuse=sets.refuse, met=met)
    for remark in all_remarks(*met):
        warnings.warn(remark, stacklevel=2)
    of_set = np.split(bound.weights, bound.offsets[1:-1])
    return [of_set[number].tolist() for number in sets.sets]


def _consensus_of_rows(rows: LocatedRows[Reference], tokenizer: str, metric: str, jobs: int) -> list[float]:
    texts: dict[str, list[str]] = {}
    places = list[tuple[str, int]]()
    several = list(rows)
    for index, first in enumerate(firsts(several, map(rows.places.line, range(len(several))))):
        of_row = texts.setdefault(several[index].item, [])
        if first == index:
            places.append((several[index].item, len(of_row)))
            of_row.append(several[index].text)
        else:
            places.append(places[first])
    weights = consensus_weights(list(texts.values()), tokenizer=tokenizer, metric=metric, jobs=jobs)
    of_item = dict(zip(texts, weights, strict=True))
    return [of_item[item][position] for item, position in places]


@dataclass(frozen=True, eq=False, slots=True)
class ReferenceColumns:
    """Distinct sets of references; made by `gather`.

    Args:
        references: The sets, m texts in all.
        candidates: Index of each candidate that has references, all but for those that were excluded.
        sets: int32[n], the set of each of them.
        rows: int64[m], the first candidate with each text, for messages.
    """

    references: ReferenceTexts
    candidates: list[int]
    sets: NDArray[np.int32]
    rows: NDArray[np.int64]

    @classmethod
    def gather(
        cls,
        n: int,
        references: Column,
        weights: Column | None = None,
        items: Column | None = None,
        lowest: float = 0.0,
        *,
        drop: bool = False,
    ) -> ReferenceColumns:
        """Find the distinct sets.

        Args:
            n: Number of candidates.
            references: References of each candidate.
            weights: Their weights, if there are any.
            items: Item of each candidate; by default those with the same list of references share one.
            lowest: The lowest weight that all metrics take.
            drop: True to exclude references whose weight is None or NaN, and candidates that have no others.

        Raises:
            InvalidInput: Shapes do not fit, a candidate has no references, a weight is out of range, or none is left.
        """
        rows: Sequence[object] = entries(references, n, "references")
        weight_rows: Sequence[object] = [None] * n if weights is None else entries(weights, n, "weights")
        names: list[object] = [id(each) for each in rows]
        if items is not None:
            names = [_item(item, row) for row, item in enumerate(entries(items, n, "items"))]
        candidates, whole = list(range(n)), None
        if drop:
            rows, weight_rows, all_sizes = zip(*_graded(rows, weight_rows), strict=True)
            candidates = [row for row, texts in enumerate(rows) if texts]
            if not candidates:
                raise InvalidInput("no reference has a weight, so none is left", where="weights")
            whole = min(all_sizes[row] for row in candidates), max(all_sizes[row] for row in candidates)
        firsts, of_item, of_row = _shared(rows, weight_rows, names, candidates)
        lists = [_texts(rows[row], row) for row in firsts]
        sizes = [len(texts) for texts in lists]
        return cls(
            ReferenceTexts(
                texts=list(chain.from_iterable(lists)),
                offsets=np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
                weights=None if weights is None else _weights(firsts, sizes, weight_rows, lowest),
                items=np.repeat(np.arange(len(of_item), dtype=np.int32), of_item),
                whole=whole,
            ),
            candidates,
            sets=of_row,
            rows=np.repeat(np.array(firsts, dtype=np.int64), sizes),
        )

    def refuse(self, text: int, problem: str) -> InvalidInput:
        """Make the error for a text, which names the first candidate with it.

        Args:
            text: Index of the text.
            problem: The problem, in words.
        """
        return InvalidInput(problem, where="references", line=int(self.rows[text]) + 1)


def _graded(rows: Sequence[object], weight_rows: Sequence[object]) -> Iterator[tuple[list[object], list[object], int]]:
    """Yield the references of each row that have a weight, their weights, and the number of all."""
    # The same lists give the same lists, so that they are still tokenized once.
    known: dict[tuple[int, int], tuple[list[object], list[object], int]] = {}
    for row, (references, weights) in enumerate(zip(rows, weight_rows, strict=True)):
        key = id(references), id(weights)
        if key not in known:
            texts, values = _texts(references, row), as_list(weights, f"weights:{row + 1}")
            if len(texts) != len(values):
                raise _another_length(len(texts), len(values), row)
            graded = [not (value is None or value != value) for value in values]  # noqa: PLR0124 - NaN
            known[key] = list(compress(texts, graded)), list(compress(values, graded)), len(texts)
        yield known[key]


def _shared(
    rows: Sequence[object], weight_rows: Sequence[object], names: Sequence[object], candidates: list[int]
) -> tuple[list[int], list[int], NDArray[np.int32]]:
    """Sets that several candidates share.

    Returns:
        The first candidate of each set, the number of sets of each item, and the set of each candidate, int32[n].
    """
    n = len(candidates)
    if len({names[row] for row in candidates}) == n:  # the usual case: every candidate has a list of its own
        return candidates, [1] * n, np.arange(n, dtype=np.int32)
    # Sets of one item stand together; a list that was seen with the same weights is the same set.
    known: dict[tuple[object, int, int], int] = {}
    first_of = [known.setdefault((names[row], id(rows[row]), id(weight_rows[row])), row) for row in candidates]
    members = grouped((names[row], row) for row in known.values())
    firsts = list(chain.from_iterable(members.values()))
    number = {row: s for s, row in enumerate(firsts)}
    return firsts, [len(sets) for sets in members.values()], np.array([number[row] for row in first_of], dtype=np.int32)


def entries(column: Column, n: int, where: str) -> list[object]:
    """List a column that has an entry for each of n candidates.

    Args:
        column: The column.
        n: Number of candidates.
        where: Name of the argument, for messages.

    Raises:
        InvalidInput: It is no column, or of another length.
    """
    rows = as_list(column, where)
    if len(rows) != n:
        raise InvalidInput(f"expected one entry for each of {n} candidates, got {len(rows)}", where=where)
    return rows


def _item(item: object, row: int) -> object:
    """Check the name of an item."""
    if isinstance(item, str) or is_number(item):
        return item
    raise InvalidInput(f"expected text or a number, got {shown(item)}", where="items", line=row + 1)


def _texts(references: object, row: int) -> list[object]:
    """List the references of one row, at least one."""
    if type(references) is list and references:
        return references
    if isinstance(references, str):
        problem = "expected a list or a column, got str; for one reference of each candidate: [[text] for text in …]"
        raise InvalidInput(problem, where="references", line=row + 1)
    texts = as_list(references, f"references:{row + 1}")
    if not texts:
        raise InvalidInput("expected at least one reference, got none", where="references", line=row + 1)
    return texts


def _weights(firsts: list[int], sizes: list[int], weight_rows: Sequence[object], lowest: float) -> NDArray[np.float64]:
    """List the weights of all sets, float64[m]; they are read row by row only to say what is wrong."""
    rows = [as_list(weight_rows[row], f"weights:{row + 1}") for row in firsts]
    values = list(chain.from_iterable(rows))
    if set(map(type, values)) <= {float, int} and list(map(len, rows)) == sizes:
        with suppress(OverflowError):
            weights = np.array(values, dtype=np.float64)
            if ((weights >= lowest) & (weights <= 1.0)).all():
                return weights
    for row, size, of_row in zip(firsts, sizes, rows, strict=True):
        _check_weights(of_row, size, lowest, row)
    return np.array(values, dtype=np.float64)


def _check_weights(values: list[object], size: int, lowest: float, row: int) -> None:
    """Refuse weights of one row that do not fit its references."""
    if len(values) != size:
        raise _another_length(size, len(values), row)
    for value in values:
        if not is_number(value) or not lowest <= value <= 1.0:
            advice = "; ungraded='drop' excludes references without a weight" if value is None else ""
            raise InvalidInput(out_of_range(value, lowest, 1.0) + advice, where="weights", line=row + 1)


def _another_length(references: int, weights: int, row: int) -> InvalidInput:
    problem = f"expected a weight for each of {references} references, got {weights}"
    return InvalidInput(problem, where="weights", line=row + 1)
