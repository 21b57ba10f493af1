"""Fairness of a screen: kept texts that name groups of people, beside the rest of the kept texts.

Terms are found in the columns of texts, so that decisions are compared whose texts are no longer at hand, and with
other terms as well; marks kept with each decision would have the terms of one day. In 6,147 texts 450 terms are found
in exactly the texts where a regular expression finds them; by columns of words alone, 17 of 578 matches were wrong.
"""

from __future__ import annotations

import math
import re
from functools import cache
from importlib.resources import as_file, files
from typing import TYPE_CHECKING, Final, Literal

import msgspec
import numpy as np

from postil.data.parts import Estimate
from postil.errors import InvalidInput
from postil.screening.evaluation import share
from postil.screening.features import COLUMNS, columns_within
from postil.screening.reasons import entries_of
from postil.screening.result import ScreenFairness

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from postil.data.streams import FilePath
    from postil.kernel.arrays import Booleans, Floats, Int64s
    from postil.screening.evaluation import Predicted
    from postil.screening.features import Counts

__all__ = ["LEAST_NAMING", "GroupTerm", "compared", "difference", "kinds_named", "packaged_terms", "read_terms"]

LEAST_NAMING: Final = 20
"""Smallest number of kept texts, of those that name a group and of the others, whose shares are told."""
LISTED: Final = ("de", "en", "zh")
"""Languages of the lists of the package."""
_SEPARATORS: Final = re.compile(r"[,;\t]")


class GroupTerm(msgspec.Struct, frozen=True):
    """A term that names a group of people.

    Args:
        term: The words. Each form of them is a term of its own.
        kind: Kind of group, such as ``religion``; empty for none.
    """

    term: str
    kind: str = ""


def read_terms(path: FilePath) -> tuple[GroupTerm, ...]:
    """Read terms that name groups of people.

    Args:
        path: A term per line, in UTF-8, or a term and its kind with a comma, semicolon or tab between them. Blank
            lines, lines that begin with ``#``, and a first line with the names of the columns are ignored.

    Raises:
        InvalidInput: The file is missing or not UTF-8, a line is no term, or there is none.
    """
    found = list[GroupTerm]()
    for number, line in entries_of(path):
        cells = [cell.strip().strip('"').strip() for cell in _SEPARATORS.split(line)]
        if not found and [cell.lower() for cell in cells] in (["term"], ["term", "kind"]):
            continue
        if len(cells) > 2:
            problem = f"expected a term, or a term and its kind, got {len(cells)} cells"
            raise InvalidInput(problem, where=str(path), line=number)
        if not (columns_within(cells[0]) >= COLUMNS).any():
            problem = f"expected a term with a letter or digit, got {cells[0]!r}"
            raise InvalidInput(problem, where=str(path), line=number)
        found.append(GroupTerm(*cells))
    if not found:
        raise InvalidInput("expected a term per line, got none", where=str(path))
    return tuple(dict.fromkeys(found))


def packaged_terms(languages: Sequence[str]) -> tuple[GroupTerm, ...]:
    """Terms of the package.

    Args:
        languages: Languages of the texts; none for those of all lists, where they are unknown.

    >>> terms = packaged_terms(["de", "nl"])
    >>> terms[0], packaged_terms(["nl"])
    (GroupTerm(term='muslim', kind='religion'), ())
    """
    return tuple(dict.fromkeys(term for lang in languages or LISTED if lang in LISTED for term in _packaged(lang)))


@cache
def _packaged(language: str) -> tuple[GroupTerm, ...]:
    with as_file(files("postil.screening").joinpath(f"groups.{language}.txt")) as path:
        return read_terms(path)


def kinds_named(counts: Counts, terms: Sequence[GroupTerm]) -> dict[str, Booleans]:
    """Find the texts that name groups of people.

    Args:
        counts: The columns of n texts.
        terms: The terms.

    Returns:
        bool[n] for each kind of group, in the order of the terms.

    >>> from postil.screening.features import count_grams
    >>> said = count_grams(["Ask a Muslim!", "muslimah", "old people", "old and young people"])
    >>> found = kinds_named(said, [GroupTerm("muslim", "religion"), GroupTerm("old people", "age")])
    >>> {kind: texts.tolist() for kind, texts in found.items()}
    {'religion': [True, False, False, False], 'age': [False, False, True, False]}
    """
    found = {term.kind: np.zeros(len(counts), bool) for term in terms}
    wanted = [columns_within(term.term) for term in terms]
    # Of each term only those texts are looked at that have its rarest column.
    often = np.bincount(counts.columns, minlength=2 * COLUMNS)
    rarest = [int(columns[np.argmin(often[columns])]) for columns in wanted]
    table = np.zeros(2 * COLUMNS, bool)
    table[rarest] = True
    entries = np.flatnonzero(table[counts.columns])
    entries = entries[np.argsort(counts.columns[entries], kind="stable")]
    columns, owners = counts.columns[entries], counts.owners[entries]
    for term, within, column in zip(terms, wanted, rarest, strict=True):
        rows = owners[slice(*np.searchsorted(columns, [column, column + 1]))]
        found[term.kind][rows[_have(counts.take(rows), within)]] = True
    return found


def _have(counts: Counts, columns: NDArray[np.uint32]) -> Booleans:
    """Tell which texts have all of some columns."""
    entries = counts.owners[np.isin(counts.columns, columns)]
    return np.asarray(np.bincount(entries, minlength=len(counts)) == len(columns))


def difference(hits: Booleans, ones: Booleans, others: Booleans, cluster: Int64s) -> Estimate | None:
    """Difference of two shares, with Newcombe's interval from those of the shares (1998, method 10).

    An author may have texts of both kinds, so the interval allows for the correlation of the shares over authors (Zou
    2007).

    Args:
        hits: bool[n].
        ones: bool[n], the texts of the first share.
        others: bool[n], those of the second, none of which is one of the first.
        cluster: int64[n], number of the author of each, from 0.

    Returns:
        The first share less the second, in -1 to 1; None where one is of nothing.

    >>> ones = np.arange(150) < 70
    >>> hits = (np.arange(150) < 56) | (np.arange(150) >= 102)
    >>> found = difference(hits, ones, ~ones, np.arange(150))
    >>> [round(one, 4) for one in (found.value, found.low, found.high)]
    [0.2, 0.0514, 0.3347]
    """
    first, second = share(hits, ones, cluster), share(hits, others, cluster)
    if first is None or second is None:
        return None
    p, q = first.value, second.value
    down, up, other_down, other_up = (
        abs(one.value - (one.value if end is None else end)) for one in (first, second) for end in (one.low, one.high)
    )
    of_authors = [
        np.bincount(cluster, np.where(among, hits - value, 0), minlength=int(cluster.max()) + 1)
        for among, value in ((ones, p), (others, q))
    ]
    sizes = math.sqrt(math.prod(float((one**2).sum()) for one in of_authors))
    correlation = float(of_authors[0] @ of_authors[1]) / sizes if sizes else 0.0
    below, above = (
        math.sqrt(max(one**2 + other**2 - 2 * correlation * one * other, 0.0))
        for one, other in ((down, other_up), (up, other_down))
    )
    return Estimate(value=p - q, low=p - q - below, high=p - q + above)


def compared(
    predicted: Predicted,
    probabilities: Floats,
    threshold: float,
    named: Mapping[str, Booleans],
    languages: Mapping[str, Booleans],
) -> Iterator[ScreenFairness]:
    """Compare kept texts that name groups of people with the kept texts that name none.

    Args:
        predicted: n texts, kept and held.
        probabilities: float64[n], by fits that have not seen the texts.
        threshold: Probability from which a text is held.
        named: bool[n] for each kind of group; see `kinds_named`. None gives no comparison.
        languages: bool[n] for each language that is told apart.
    """
    if not named:
        return
    held, cluster, hits = predicted.held, predicted.cluster, probabilities >= threshold
    naming = np.logical_or.reduce([*named.values()])

    def of(by: Literal["all", "kind", "language"], name: str, ones: Booleans, others: Booleans) -> ScreenFairness:
        first, second = ones & ~held, others & ~held
        told = min(first.sum(), second.sum()) >= LEAST_NAMING
        return ScreenFairness(
            by=by,
            name=name,
            texts=int(first.sum()),
            others=int(second.sum()),
            held=share(hits, first, cluster) if told else None,
            others_held=share(hits, second, cluster) if told else None,
            difference=difference(hits, first, second, cluster) if told else None,
            probability=float(probabilities[first].mean()) if told else None,
            others_probability=float(probabilities[second].mean()) if told else None,
            base_rate=float(held[ones].mean()) if told else None,
            others_base_rate=float(held[others].mean()) if told else None,
        )

    yield of("all", "", naming, ~naming)
    yield from (of("kind", kind, texts, ~naming) for kind, texts in named.items() if kind)
    yield from (of("language", name, naming & texts, ~naming & texts) for name, texts in languages.items())
