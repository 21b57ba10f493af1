"""Pairs of texts to compare, with all that a judge sees of each pair."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

from postil.data.explain import counted, have
from postil.data.fields import as_id, draw_key
from postil.errors import InvalidInput, UnknownName
from postil.judging.judge import Case
from postil.judging.texts import anchors_of, articles_of, count_words, read_candidates

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from postil.data.rows import Candidate
    from postil.judging.options import JudgeOptions
    from postil.judging.texts import TextSources

__all__ = ["JudgedPairs", "Pair", "choose_pairs", "gather_pairs"]


@dataclass(frozen=True, slots=True)
class Pair:
    """A pair of texts for one item.

    Args:
        a: The text of the system that comes first in the data.
        b: The other.
        cases: All that the judge sees, with text a first and with text b first; empty where both are equal, so that
            there is nothing to ask.
        longer: 1 if text a has more words, 0 if text b has; None where both have the same number.
    """

    a: Candidate
    b: Candidate
    cases: tuple[Case, ...]
    longer: int | None

    @property
    def key(self) -> tuple[str, frozenset[str]]:
        """Item and systems."""
        return self.a.item, frozenset((self.a.system, self.b.system))


@dataclass(frozen=True, slots=True)
class JudgedPairs:
    """Pairs to judge.

    Args:
        pairs: The pairs.
        anchors: Choice of the anchors, as signatures have it; empty without any.
        with_article: True if the judge sees articles.
        notes: Notes on the data.
    """

    pairs: list[Pair]
    anchors: str
    with_article: bool
    notes: tuple[str, ...]


def gather_pairs(sources: TextSources, options: JudgeOptions) -> JudgedPairs:
    """Gather the pairs with their articles and anchors.

    Args:
        sources: Rows of the texts.
        options: Options of the command.

    Raises:
        UsageError: The metric is no similarity, or there is no such tokenizer or system.
        InvalidInput: Something in the rows is wrong, or no item has texts of two systems; says where.
    """
    rows = read_candidates(sources.candidates)
    chosen = choose_pairs(rows, options)
    if not chosen:
        problem = "expected texts of two systems for the same item, to compare them; got none"
        raise InvalidInput(problem, where=sources.candidates.places.where)
    anchors, signature, notes = anchors_of(rows, sources, options, chosen)
    articles, words = articles_of(rows, sources, options), count_words(rows, options)
    pairs = [
        _pair(rows[a], rows[b], Case(rows[a].text, articles[a], each, rows[b].text), words[[a, b]])
        for (a, b), each in zip(chosen, anchors, strict=True)
    ]
    return JudgedPairs(pairs, signature, sources.articles is not None, (*notes, *_notes(rows, pairs)))


def _pair(a: Candidate, b: Candidate, case: Case, words: NDArray[np.float64]) -> Pair:
    turned = Case(b.text, case.article, case.anchors, a.text)
    equal = a.text.split() == b.text.split()
    longer = None if words[0] == words[1] else int(words[0] > words[1])
    return Pair(a, b, () if equal else (case, turned), longer)


def _notes(rows: Sequence[Candidate], pairs: Sequence[Pair]) -> Iterator[str]:
    if equal := sum(not pair.cases for pair in pairs):
        yield f"{equal:,} of {counted(len(pairs), 'pair')} {have(equal)} two equal texts: ties that nobody is asked for"
    items, compared = {row.item for row in rows}, {pair.a.item for pair in pairs}
    if alone := len(items - compared):
        yield f"{alone:,} of {counted(len(items), 'item')} {have(alone)} no pair of texts"


def choose_pairs(rows: Sequence[Candidate], options: JudgeOptions) -> list[tuple[int, int]]:
    """Choose pairs of texts of the same item.

    All pairs of systems are chosen, or those with the baseline. With a largest number of pairs per item those pairs of
    systems are that were chosen least often for the items before, and of equals a seeded choice, so that further items
    at the end change nothing.

    Args:
        rows: The texts.
        options: Options of the command.

    Returns:
        Places of the two texts of each pair, that of the system first which comes first in the data.

    Raises:
        UnknownName: There is no such baseline.

    >>> from postil.data.rows import Candidate
    >>> from postil.judging.options import JudgeOptions
    >>> rows = [Candidate(item, system, "text") for item in "12" for system in "xyz"]
    >>> choose_pairs(rows, JudgeOptions(model="m", baseline="y"))
    [(0, 1), (1, 2), (3, 4), (4, 5)]
    >>> len(choose_pairs(rows, JudgeOptions(model="m", pairs_per_item=1)))
    2
    """
    systems = {system: place for place, system in enumerate(dict.fromkeys(row.system for row in rows))}
    baseline = None if options.baseline is None else as_id(options.baseline)
    if baseline is not None and baseline not in systems:
        raise UnknownName("system", baseline, list(systems))
    by_item: dict[str, dict[str, int]] = {}
    for index, row in enumerate(rows):
        by_item.setdefault(row.item, {})[row.system] = index
    used: Counter[tuple[str, str]] = Counter()
    found: list[tuple[int, int]] = []
    for item, texts in by_item.items():
        names = sorted(texts, key=systems.__getitem__)
        pairs = [pair for pair in combinations(names, 2) if baseline is None or baseline in pair]
        if options.pairs_per_item is not None:
            ranks = {pair: (used[pair], draw_key(options.seed, "pairs", item, *pair)) for pair in pairs}
            least = set(sorted(pairs, key=ranks.__getitem__)[: options.pairs_per_item])
            pairs = [pair for pair in pairs if pair in least]
        used.update(pairs)
        found += [(texts[a], texts[b]) for a, b in pairs]
    return found
