r"""Which of many candidate comments may be suggested: near duplicates are merged, and some are held, with the reason.

Texts are compared without regard to case, width of characters (NFKC), invisible characters and kinds of apostrophe. A
word is a run of letters and digits; Han characters and kana are a word each, since no spaces part words there.
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
    from collections.abc import Collection, Iterator, Sequence
    from typing import Self

    from numpy.typing import ArrayLike, NDArray

    from postil.records.row_files import FilePath

__all__ = ["BlockList", "Kept", "Screen", "Sifted", "likeness"]

_UNSPACED: Final = r"\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_WORD: Final = re.compile(rf"[{_UNSPACED}]|[^\W_{_UNSPACED}]+")
_ASCII_WORD: Final = re.compile(r"[a-z0-9]+")
_PIECE: Final = re.compile(rf"{_WORD.pattern}|[^\w\s]|_")
_MARK: Final = ""
_INVISIBLE: Final = re.compile(r"[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufe00-\ufe0f\ufeff]")


@dataclass(frozen=True)
class BlockList:
    """Words and phrases that no suggestion may hold.

    An entry is found where its words stand behind one another as whole words: ``ass`` is not in ``class``. In Chinese
    it is found wherever its characters stand. Other forms of a word are entries of their own; there are no patterns.

    Args:
        entries: The words and phrases.

    >>> block = BlockList(("shut up", "傻逼"))
    >>> block.find("Oh SHUT  UP!"), block.find("shutup"), block.find("他是个傻逼。"), block.find("你好傻，逼人太甚")
    ('shut up', None, '傻逼', None)
    """

    entries: tuple[str, ...]
    _heads: dict[str, list[tuple[list[str], str]]] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        heads: dict[str, list[tuple[list[str], str]]] = {}
        for entry in self.entries:
            pieces = _PIECE.findall(_plain(entry))
            if pieces:
                heads.setdefault(pieces[0], []).append((pieces, entry))
        object.__setattr__(self, "_heads", heads)

    @classmethod
    def read(cls, path: FilePath) -> Self:
        """Read a list from a file.

        Args:
            path: A word or phrase a line, in UTF-8. Blank lines and lines that begin with ``#`` are passed over.

        Raises:
            InvalidInput: The file is missing or not UTF-8, or a line is too long to be one.
        """
        entries = []
        try:
            with Path(path).open("rb") as stream:
                lines = chain.from_iterable(lines_in(stream, str(path)))
                # Some editors end lines with carriage returns alone.
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
        """The first entry that a text holds, as the list has it.

        Args:
            text: The text.
        """
        pieces = _PIECE.findall(_plain(text))
        if self._heads.keys().isdisjoint(pieces):
            return None
        for place, piece in enumerate(pieces):
            for blocked, entry in self._heads.get(piece, ()):
                if pieces[place : place + len(blocked)] == blocked:
                    return entry
        return None


@dataclass(frozen=True, slots=True)
class Kept:
    """A candidate that may be suggested.

    Args:
        position: Which one.
        merged: Which near duplicates it stands for, the better scored first.
    """

    position: int
    merged: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Sifted:
    """What `Screen.sift` finds.

    Args:
        kept: The candidates that may be suggested, best first.
        held: Those that may not, with the reason, best first; of those scored below the last one kept nothing is said.
    """

    kept: tuple[Kept, ...]
    held: tuple[tuple[int, str], ...]


@dataclass(frozen=True, slots=True)
class Screen:
    """What may be suggested.

    Args:
        shortest: How many words a comment must have.
        longest: How many it may have; None for any number.
        alike: From which `likeness` on two comments are one; None merges none.
        addresses: Whether comments with web and e-mail addresses, handles such as ``@ana`` and what masks them stay.
        block: What no comment may hold.

    Raises:
        UsageError: A number makes no sense.

    >>> texts = ["So proud of you, well done!", "so proud of you... well done", "Nice", "See www.web.org for more."]
    >>> Screen().sift(texts, [0.5, 0.8, 0.9, 0.1])
    Sifted(kept=(Kept(position=1, merged=(0,)),), held=((2, 'too short: 1 word, expected at least 3'), \
(3, 'holds a web address')))
    """

    shortest: int = 3
    longest: int | None = None
    alike: float | None = 0.6
    addresses: bool = False
    block: BlockList | None = None

    def __post_init__(self) -> None:
        if self.shortest < 0 or (self.longest is not None and self.longest < max(self.shortest, 1)):
            raise UsageError(f"no comment has at least {self.shortest} and at most {self.longest} words")
        if self.alike is not None and not 0 < self.alike <= 1:
            raise UsageError(f"likeness is above 0 and at most 1, got {self.alike}")

    def sift(
        self,
        texts: Sequence[str],
        scores: ArrayLike,
        *,
        k: int | None = None,
        keys: Collection[str] | Collection[int] | None = None,
        languages: Sequence[str | None] | None = None,
        language: str | None = None,
    ) -> Sifted:
        """Find the best candidates that may be suggested.

        From the best to the worst, a candidate is held, or kept, and then all worse ones that are like it are merged
        with it. So the better scored stays, and no two that are kept are alike.

        Args:
            texts: The n candidates.
            scores: n numbers, high is good.
            k: How many to keep; by default all.
            keys: What decides ties, see `best_first`; by default the positions.
            languages: The languages of the articles that the candidates stood under, as far as they are known.
            language: The language of the article to comment on, if it is known. ``zh-CN`` and ``zh`` are one.

        Returns:
            What is kept and what is held.

        Raises:
            InvalidInput: A score is NaN, or texts, scores, keys and languages differ in number.
            UsageError: k is negative.
        """
        if k is not None and k < 0:
            raise UsageError(f"k counts from 0 up, got {k}")
        order = best_first(scores, keys=keys)
        for name, size in (("scores", len(order)), ("languages", len(texts if languages is None else languages))):
            if size != len(texts):
                raise InvalidInput(f"expected one a text: {len(texts)}, got {size}", where=name)
        words = [_words(text) for text in texts]
        alike = _Alike([found or _units(text) for text, found in zip(texts, words, strict=True)])
        left = np.ones(len(order), bool)
        kept: list[Kept] = []
        held: list[tuple[int, str]] = []
        for position in order.tolist():
            if len(kept) == k:
                break
            if not left[position]:
                continue
            left[position] = False
            other = languages[position] if languages is not None else None
            reason = next(self._reasons(texts[position], len(words[position]), other, language), None)
            if reason:
                held.append((position, reason))
            elif self.alike is None:
                kept.append(Kept(position))
            else:
                same = left & (alike.to(position) >= self.alike)
                left &= ~same
                kept.append(Kept(position, tuple(order[same[order]].tolist())))
        return Sifted(tuple(kept), tuple(held))

    def _reasons(self, text: str, words: int, theirs: str | None, ours: str | None) -> Iterator[str]:
        if not text.strip():
            yield "empty"
        if words < self.shortest:
            yield f"too short: {_many(words, text)}, expected at least {self.shortest}"
        if self.longest is not None and words > self.longest:
            yield f"too long: {_many(words, text)}, expected at most {self.longest}"
        if theirs and ours and _primary(theirs) != _primary(ours):
            yield f"its article is in another language: {theirs}, not {ours}"
        if self.block and (entry := self.block.find(text)):
            yield f"on the block list: {entry}"
        if not self.addresses:
            yield from (f"holds {kind}" for kind in kinds_of_address(text))


def likeness(one: str, other: str) -> float:
    """How alike two texts are: Jaccard's coefficient of the sets of their pairs of neighbouring words.

    The beginning and the end of a text count as words here, so a text of n words has n + 1 pairs. Texts without words,
    such as emoji, are compared by their characters.

    Args:
        one: A text.
        other: Another.

    Returns:
        From 0, nothing shared, to 1. Another word in a text of n makes it (n - 1) / (n + 3).

    >>> likeness("Rain again!", "rain again"), likeness("We need rain.", "We need sun.")
    (1.0, 0.3333333333333333)
    """
    return float(_Alike([_units(one), _units(other)]).to(0)[1])


class _Alike:
    """The pairs of neighbours in each of n texts, as numbers."""

    def __init__(self, units: list[list[str]]) -> None:
        numbers = {unit: number for number, unit in enumerate({_MARK, *chain.from_iterable(units)})}
        marked = chain(chain.from_iterable(([_MARK, *found]) for found in units), (_MARK,))
        ids = np.fromiter(map(numbers.__getitem__, marked), np.int64)
        texts = np.repeat(np.arange(len(units)), [len(found) + 1 for found in units])
        # A pair and a text as one number, so that one sort finds what is distinct.
        entries = np.unique((ids[:-1] * len(numbers) + ids[1:]) * len(units) + texts)
        pairs, self._texts = np.divmod(entries, len(units))
        self._pairs = np.cumsum(np.diff(pairs, prepend=-1) > 0)
        self._sizes = np.bincount(self._texts, minlength=len(units))

    def to(self, text: int) -> NDArray[np.float64]:
        """How alike each is to one of them, float64[n]."""
        mine = np.zeros(self._pairs[-1] + 1, bool)
        mine[self._pairs[self._texts == text]] = True
        shared = np.bincount(self._texts[mine[self._pairs]], minlength=len(self._sizes))
        return np.asarray(shared / (self._sizes[text] + self._sizes - shared), np.float64)


def _plain(text: str) -> str:
    if text.isascii():
        return text.lower()
    return _INVISIBLE.sub("", unicodedata.normalize("NFKC", text)).casefold().replace("’", "'")


def _words(text: str) -> list[str]:
    plain = _plain(text)
    return (_ASCII_WORD if plain.isascii() else _WORD).findall(plain)


def _units(text: str) -> list[str]:
    return _words(text) or _PIECE.findall(_plain(text))


def _many(words: int, text: str) -> str:
    kind = "character" if re.search(f"[{_UNSPACED}]", text) else "word"
    return f"{words} {kind}{'' if words == 1 else 's'}"


def _primary(language: str) -> str:
    return re.split("[-_]", language.lower())[0]
