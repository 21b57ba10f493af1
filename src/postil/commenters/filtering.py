r"""Filter of candidate comments: near duplicates are merged, and others filtered out with a reason.

Texts are compared regardless of case, character width (NFKC), invisible characters and kind of apostrophe. A word is a
sequence of letters and digits; Han characters and kana are one word each, since no spaces separate words there.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from postil.errors import InvalidInput, UsageError
from postil.records.jsonl import lines_in
from postil.records.ranking import best_first
from postil.text.addresses import kinds_of_address

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence
    from typing import Self

    from numpy.typing import ArrayLike, NDArray

    from postil.records.row_files import FilePath

__all__ = [
    "Accepted",
    "Blocklist",
    "CandidateFilter",
    "FilterResult",
    "jaccard_similarity",
    "near_duplicates",
    "normalize_text",
]

_UNSPACED: Final = r"\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_WORD: Final = re.compile(rf"[{_UNSPACED}]|[^\W_{_UNSPACED}]+")
_ASCII_WORD: Final = re.compile(r"[a-z0-9]+")
_PIECE: Final = re.compile(rf"{_WORD.pattern}|[^\w\s]|_")
_MARK: Final = ""
_INVISIBLE: Final = re.compile(r"[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufe00-\ufe0f\ufeff]")


@dataclass(frozen=True)
class Blocklist:
    """Words and phrases that no suggestion may contain.

    An entry matches its words in sequence as whole words: ``ass`` is not in ``class``. In Chinese it matches wherever
    its characters occur. Other forms of a word are separate entries; there are no patterns.

    Args:
        entries: The words and phrases.

    >>> blocklist = Blocklist(("shut up", "傻逼"))
    >>> [blocklist.find(text) for text in ("Oh SHUT  UP!", "shutup", "他是个傻逼。", "你好傻，逼人太甚")]
    ['shut up', None, '傻逼', None]
    """

    entries: tuple[str, ...]
    _heads: dict[str, list[tuple[list[str], str]]] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        heads: dict[str, list[tuple[list[str], str]]] = {}
        for entry in self.entries:
            pieces = _PIECE.findall(normalize_text(entry))
            if pieces:
                heads.setdefault(pieces[0], []).append((pieces, entry))
        object.__setattr__(self, "_heads", heads)

    @classmethod
    def read(cls, path: FilePath) -> Self:
        """Read a blocklist from a file.

        Args:
            path: One word or phrase per line, in UTF-8. Blank lines and lines that begin with ``#`` are ignored.

        Raises:
            InvalidInput: The file is missing or not UTF-8, or a line is too long.
        """
        entries = []
        try:
            with Path(path).open("rb") as stream:
                lines = chain.from_iterable(lines_in(stream, str(path)))
                # Some editors end lines with a carriage return alone.
                parts = chain.from_iterable(line.splitlines() or [b""] for line in lines)
                for number, line in enumerate(parts, 1):
                    entry = line.decode("utf-8-sig" if number == 1 else "utf-8").strip()
                    if entry and not entry.startswith("#"):
                        entries.append(entry)
        except OSError as error:
            raise InvalidInput(f"cannot be read: {error.strerror or error}", where=str(path)) from error
        except UnicodeDecodeError as error:
            raise InvalidInput("not UTF-8; save the file as UTF-8", where=str(path), line=number) from error
        return cls(tuple(entries))

    def find(self, text: str) -> str | None:
        """Find the first entry that a text contains.

        Args:
            text: The text.
        """
        pieces = _PIECE.findall(normalize_text(text))
        if self._heads.keys().isdisjoint(pieces):
            return None
        for at, piece in enumerate(pieces):
            for blocked, entry in self._heads.get(piece, ()):
                if pieces[at : at + len(blocked)] == blocked:
                    return entry
        return None


@dataclass(frozen=True, slots=True)
class Accepted:
    """A candidate that passed the filter.

    Args:
        position: Its index among the candidates.
        merged: The indices of its near duplicates, best score first.
    """

    position: int
    merged: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class FilterResult:
    """Result of `CandidateFilter.apply`.

    Args:
        accepted: The accepted candidates, best first.
        filtered: Indices of those filtered out, with the reason, best first; those that score below the last accepted
            one are not listed.
    """

    accepted: tuple[Accepted, ...]
    filtered: tuple[tuple[int, str], ...]


@dataclass(frozen=True, slots=True)
class CandidateFilter:
    """Filter of candidate comments.

    Args:
        min_words: Minimum number of words of a comment.
        max_words: Maximum number of words; None is any.
        dedup_threshold: Smallest `jaccard_similarity` of near duplicates, in (0, 1]; None merges none.
        allow_addresses: True to accept web and e-mail addresses, handles such as ``@ana`` and masks of them.
        blocklist: Words and phrases that no comment may contain.

    Raises:
        UsageError: A number is out of range.

    >>> texts = ["So proud of you, well done!", "so proud of you... well done", "Nice", "See www.web.org for more."]
    >>> CandidateFilter().apply(texts, [0.5, 0.8, 0.9, 0.1])
    FilterResult(accepted=(Accepted(position=1, merged=(0,)),), filtered=((2, 'too short: 1 word, expected at least \
3'), (3, 'holds a web address')))
    """

    min_words: int = 3
    max_words: int | None = None
    dedup_threshold: float | None = 0.6
    allow_addresses: bool = False
    blocklist: Blocklist | None = None

    def __post_init__(self) -> None:
        if self.min_words < 0 or (self.max_words is not None and self.max_words < max(self.min_words, 1)):
            raise UsageError(f"no comment has at least {self.min_words} and at most {self.max_words} words")
        if self.dedup_threshold is not None and not 0 < self.dedup_threshold <= 1:
            raise UsageError(f"dedup_threshold: expected above 0 to 1, got {self.dedup_threshold}")

    def apply(
        self,
        texts: Sequence[str],
        scores: ArrayLike,
        *,
        k: int | None = None,
        keys: Collection[str] | Collection[int] | None = None,
        languages: Sequence[str | None] | None = None,
        language: str | None = None,
        reasons: Mapping[int, str] | None = None,
    ) -> FilterResult:
        """Accept the best candidates.

        In descending score, a candidate is filtered out, or accepted and all near duplicates below it merged with it
        (greedy deduplication): the best of them stays, and no two accepted ones are near duplicates.

        Args:
            texts: The n candidates.
            scores: n numbers, higher is better.
            k: Maximum number to accept; by default all.
            keys: Tie-breaking keys, see `best_first`; by default the positions.
            languages: The languages of the candidates' articles, None where unknown.
            language: The language of the article to comment on, if known. ``zh-CN`` and ``zh`` are the same.
            reasons: Reasons to filter candidates out, by position, that are known already.

        Returns:
            The accepted candidates, and those filtered out.

        Raises:
            InvalidInput: A score is NaN, or texts, scores, keys and languages differ in number.
            UsageError: k is negative.
        """
        if k is not None and k < 0:
            raise UsageError(f"k: expected at least 0, got {k}")
        order = best_first(scores, keys=keys)
        for name, size in (("scores", len(order)), ("languages", len(texts if languages is None else languages))):
            if size != len(texts):
                raise InvalidInput(f"expected one per text: {len(texts)}, got {size}", where=name)
        words = [_words(text) for text in texts]
        bigrams = _BigramSets([found or _units(text) for text, found in zip(texts, words, strict=True)])
        left = np.ones(len(order), bool)
        accepted: list[Accepted] = []
        filtered: list[tuple[int, str]] = []
        for position in order.tolist():
            if len(accepted) == k:
                break
            if not left[position]:
                continue
            left[position] = False
            other = languages[position] if languages is not None else None
            reason = (reasons or {}).get(position) or next(
                self._reasons(texts[position], len(words[position]), other, language), None
            )
            if reason:
                filtered.append((position, reason))
            elif self.dedup_threshold is None:
                accepted.append(Accepted(position))
            else:
                same = left & (bigrams.jaccard(position) >= self.dedup_threshold)
                left &= ~same
                accepted.append(Accepted(position, tuple(order[same[order]].tolist())))
        return FilterResult(tuple(accepted), tuple(filtered))

    def _reasons(self, text: str, words: int, theirs: str | None, ours: str | None) -> Iterator[str]:
        if not text.strip():
            yield "empty"
        if words < self.min_words:
            yield f"too short: {_many(words, text)}, expected at least {self.min_words}"
        if self.max_words is not None and words > self.max_words:
            yield f"too long: {_many(words, text)}, expected at most {self.max_words}"
        if theirs and ours and _primary(theirs) != _primary(ours):
            yield f"its article is in another language: {theirs}, not {ours}"
        if self.blocklist and (entry := self.blocklist.find(text)):
            yield f"on the block list: {entry}"
        if not self.allow_addresses:
            yield from (f"holds {kind}" for kind in kinds_of_address(text))


def jaccard_similarity(one: str, other: str) -> float:
    """Jaccard similarity of the word bigram sets of two texts.

    The beginning and the end of a text count as words, so a text of n words has n + 1 bigrams. Texts without words,
    such as emoji, are compared by their characters.

    Args:
        one: A text.
        other: Another.

    Returns:
        From 0 to 1. Replacing one word of n makes it (n - 1) / (n + 3).

    >>> jaccard_similarity("Rain again!", "rain again"), jaccard_similarity("We need rain.", "We need sun.")
    (1.0, 0.3333333333333333)
    """
    return float(_BigramSets([_units(one), _units(other)]).jaccard(0)[1])


def near_duplicates(texts: Sequence[str], order: ArrayLike, threshold: float = 0.6) -> NDArray[np.int64]:
    """The near duplicate of each text that comes first in an order, by greedy deduplication.

    Args:
        texts: n texts.
        order: n indices of texts, each once, best first.
        threshold: Smallest `jaccard_similarity` of near duplicates, in (0, 1].

    Returns:
        int64[n], by text: the index of the first; its own where no near duplicate is before it.

    >>> near_duplicates(["Rain again!", "Sun.", "rain again"], [2, 1, 0]).tolist()
    [2, 1, 2]
    """
    first = np.arange(len(texts))
    if len(texts) < 2:
        return first
    bigrams = _BigramSets([_units(text) for text in texts])
    left = np.ones(len(texts), bool)
    for position in np.asarray(order, np.int64).tolist():
        if left[position]:
            same = left & (bigrams.jaccard(position) >= threshold)
            first[same], first[position] = position, position
            left &= ~same
            left[position] = False
    return first


class _BigramSets:
    """The bigram sets of n texts, as numbers."""

    def __init__(self, units: list[list[str]]) -> None:
        numbers = {unit: number for number, unit in enumerate({_MARK, *chain.from_iterable(units)})}
        marked = chain(chain.from_iterable(([_MARK, *found]) for found in units), (_MARK,))
        ids = np.fromiter(map(numbers.__getitem__, marked), np.int64)
        texts = np.repeat(np.arange(len(units)), [len(found) + 1 for found in units])
        # A bigram and a text as one number, so that one sort finds the distinct ones.
        entries = np.unique((ids[:-1] * len(numbers) + ids[1:]) * len(units) + texts)
        pairs, self._texts = np.divmod(entries, len(units))
        self._pairs = np.cumsum(np.diff(pairs, prepend=-1) > 0)
        self._sizes = np.bincount(self._texts, minlength=len(units))

    def jaccard(self, text: int) -> NDArray[np.float64]:
        """Jaccard similarity of each text and one of them, float64[n]."""
        mine = np.zeros(self._pairs[-1] + 1, bool)
        mine[self._pairs[self._texts == text]] = True
        shared = np.bincount(self._texts[mine[self._pairs]], minlength=len(self._sizes))
        return np.asarray(shared / (self._sizes[text] + self._sizes - shared), np.float64)


def normalize_text(text: str) -> str:
    """Normalize case, character width, apostrophes and invisible characters, before texts are compared.

    Args:
        text: The text.

    >>> normalize_text("Ｄon’t")
    "don't"
    """
    if text.isascii():
        return text.lower()
    return _INVISIBLE.sub("", unicodedata.normalize("NFKC", text)).casefold().replace("’", "'")


def _words(text: str) -> list[str]:
    plain = normalize_text(text)
    return (_ASCII_WORD if plain.isascii() else _WORD).findall(plain)


def _units(text: str) -> list[str]:
    return _words(text) or _PIECE.findall(normalize_text(text))


def _many(words: int, text: str) -> str:
    kind = "character" if re.search(f"[{_UNSPACED}]", text) else "word"
    return f"{words} {kind}{'' if words == 1 else 's'}"


def _primary(language: str) -> str:
    return re.split("[-_]", language.lower())[0]
