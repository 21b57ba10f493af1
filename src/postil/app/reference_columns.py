"""References as columns: sets of texts for `postil.score`, a set that candidates share only once."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from itertools import chain, compress
from typing import TYPE_CHECKING

import numpy as np

from postil.app.columns import as_list
from postil.errors import InvalidInput
from postil.metrics.evaluation import ReferenceTexts
from postil.records.checks import is_number
from postil.records.counting import have
from postil.records.explain import out_of_range, shown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from postil.app.columns import Column

__all__ = ["GradedColumns", "ReferenceColumns"]


@dataclass(frozen=True, eq=False, slots=True)
class ReferenceColumns:
    """Distinct sets of references; made by `gather`.

    Args:
        references: The sets, m texts in all.
        sets: int32[n], the set of each candidate.
        rows: int64[m], the first candidate with each text, for messages.
    """

    references: ReferenceTexts
    sets: NDArray[np.int32]
    rows: NDArray[np.int64]

    @classmethod
    def gather(
        cls, n: int, references: Column, weights: Column | None = None, items: Column | None = None, lowest: float = 0.0
    ) -> ReferenceColumns:
        """Find the distinct sets.

        Args:
            n: Number of candidates.
            references: References of each candidate.
            weights: Their weights, if there are any.
            items: Item of each candidate; by default those with the same list of references share one.
            lowest: The lowest weight that all metrics take.

        Raises:
            InvalidInput: Shapes do not fit, a candidate has no references, or a weight is out of range.
        """
        rows = _rows(references, n, "references")
        weight_rows = [None] * n if weights is None else _rows(weights, n, "weights")
        if items is None and len(set(map(id, rows))) == n:  # the usual case: every candidate has a list of its own
            firsts, of_item, of_row = list(range(n)), [1] * n, np.arange(n, dtype=np.int32)
        else:
            firsts, of_item, of_row = _shared(rows, weight_rows, items)
        lists = [_texts(rows[row], row) for row in firsts]
        sizes = [len(texts) for texts in lists]
        return cls(
            ReferenceTexts(
                texts=list(chain.from_iterable(lists)),
                offsets=np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
                weights=None if weights is None else _weights(firsts, sizes, weight_rows, lowest),
                items=np.repeat(np.arange(len(of_item), dtype=np.int32), of_item),
            ),
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


@dataclass(frozen=True, eq=False, slots=True)
class GradedColumns:
    """Columns without ungraded references, nor candidates that have no others; made by `select`.

    Args:
        rows: Index of each candidate that is left.
        references: Their references.
        weights: Their weights.
        items: Item of each, as given; without items a number for each list of references.
        whole: Least and largest number of references of a candidate before.
        remark: Numbers of what is excluded, in words; empty for nothing.
    """

    rows: list[int]
    references: list[object]
    weights: list[object]
    items: list[object]
    whole: tuple[int, int]
    remark: str

    @classmethod
    def select(cls, n: int, references: Column, weights: Column, items: Column | None) -> GradedColumns:
        """Exclude references whose weight is None or NaN.

        Args:
            n: Number of candidates.
            references: References of each candidate.
            weights: Their weights.
            items: Item of each candidate; by default those with the same list of references share one.

        Raises:
            InvalidInput: Shapes do not fit, or no reference has a weight.
        """
        rows, weight_rows = _rows(references, n, "references"), _rows(weights, n, "weights")
        named = list(map(id, rows)) if items is None else _rows(items, n, "items")
        # The same lists give the same lists, so that they are still tokenized once.
        known: dict[tuple[int, int], tuple[list[object], list[object], int]] = {}
        for row, key in enumerate(zip(map(id, rows), map(id, weight_rows), strict=True)):
            if key not in known:
                known[key] = _graded(rows[row], weight_rows[row], row)
        found = [known[id(texts), id(values)] for texts, values in zip(rows, weight_rows, strict=True)]
        kept = [row for row, (texts, _, _) in enumerate(found) if texts]
        if not kept:
            raise InvalidInput("no reference has a weight, so none is left", where="weights")
        sizes = [found[row][2] for row in kept]
        excluded = n - len(kept)
        return cls(
            rows=kept,
            references=[found[row][0] for row in kept],
            weights=[found[row][1] for row in kept],
            items=[named[row] for row in kept],
            whole=(min(sizes), max(sizes)),
            remark=f"{excluded:,} of {n:,} candidates {have(excluded)} no graded reference: excluded"
            if excluded
            else "",
        )


def _graded(texts: object, weights: object, row: int) -> tuple[list[object], list[object], int]:
    """References of one row that have a weight, their weights, and the number of all."""
    each, values = _texts(texts, row), as_list(weights, f"weights:{row + 1}")
    if len(each) != len(values):
        problem = f"expected a weight for each of {len(each)} references, got {len(values)}"
        raise InvalidInput(problem, where="weights", line=row + 1)
    graded = [not (value is None or value != value) for value in values]  # noqa: PLR0124 - NaN
    return list(compress(each, graded)), list(compress(values, graded)), len(each)


def _shared(
    rows: Sequence[object], weight_rows: Sequence[object], items: Column | None
) -> tuple[list[int], list[int], NDArray[np.int32]]:
    """Sets that several candidates share.

    Returns:
        The first candidate of each set, the number of sets of each item, and the set of each candidate, int32[n].
    """
    n = len(rows)
    names = list(map(id, rows)) if items is None else [_item(i, row) for row, i in enumerate(_rows(items, n, "items"))]
    # Sets of one item stand together; a list that was seen with the same weights is the same set.
    keys = list(zip(names, map(id, rows), map(id, weight_rows), strict=True))
    known = {key: row for row, key in zip(reversed(range(n)), reversed(keys), strict=True)}
    members: dict[object, list[int]] = {}
    for row in sorted(known.values()):
        members.setdefault(names[row], []).append(row)
    firsts = list(chain.from_iterable(members.values()))
    number = {row: s for s, row in enumerate(firsts)}
    of_row = np.array([number[known[key]] for key in keys], dtype=np.int32)
    return firsts, [len(sets) for sets in members.values()], of_row


def _rows(column: Column, n: int, where: str) -> list[object]:
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
        problem = f"expected a weight for each of {size} references, got {len(values)}"
        raise InvalidInput(problem, where="weights", line=row + 1)
    for value in values:
        if not is_number(value) or not lowest <= value <= 1.0:
            advice = "; ungraded='drop' excludes references without a weight" if value is None else ""
            raise InvalidInput(out_of_range(value, lowest, 1.0) + advice, where="weights", line=row + 1)
