"""References as columns: sets of texts for `postil.score`, a set that candidates share only once."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from itertools import chain, compress
from typing import TYPE_CHECKING

import numpy as np

from postil.data.checks import is_number
from postil.data.columns import as_list
from postil.data.explain import out_of_range, shown
from postil.errors import InvalidInput
from postil.metrics.evaluation import ReferenceTexts

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from postil.data.columns import Column

__all__ = ["ReferenceColumns", "entries"]


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
    members: dict[object, list[int]] = {}
    for row in known.values():
        members.setdefault(names[row], []).append(row)
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
