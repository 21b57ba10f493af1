"""Filters of comments: candidates are merged or filtered out with a reason, and what a reader posts is held.

Near duplicates among candidates are merged. A comment that is posted stands under its article and among others, so that
a reply, a quotation, a question to somebody or a few words are fine, which a suggestion must not be.
"""

from __future__ import annotations

import re
from collections import Counter, deque
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import TYPE_CHECKING, Final, get_args

import numpy as np

from postil.corpus.duplicates import UNSPACED, BigramSets, units_of, words_of
from postil.data.ranking import best_first
from postil.documents.markup import plain_text
from postil.errors import InvalidInput, UnknownName, UsageError, check_least
from postil.messages import Note
from postil.screening.reasons import (
    BLOCKED,
    FIGURES,
    Blocklist,
    ProfanityFilter,
    ProfanityModel,
    because,
    check_profanity_model,
    check_screens,
    screen,
    stale_figures,
)
from postil.text.addresses import MASKS, kinds_of_address
from postil.text.languages import primary_language

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from numpy.typing import ArrayLike

    from postil.data.rows import Comment

__all__ = ["NO_TEXT", "WINDOW", "Accepted", "CandidateFilter", "FilterResult", "RepeatLimit", "reasons_to_hold"]

WINDOW: Final = 100
"""Number of successive articles in which a text may be suggested `CandidateFilter.repeat` times."""
_HAN: Final = re.compile(f"[{UNSPACED}]")


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
            one are not listed. A reason with details is a `postil.messages.Note`, whose code is its kind.
    """

    accepted: tuple[Accepted, ...]
    filtered: tuple[tuple[int, str], ...]

    @property
    def nothing(self) -> str | None:
        """Reason why nothing was accepted although there were candidates; None otherwise.

        >>> CandidateFilter().apply(["Nice", "So so nice"], [0.9, 0.8]).nothing
        'all 2 candidates are filtered out: too short'
        """
        if self.accepted or not self.filtered:
            return None
        kinds = (reason.code if isinstance(reason, Note) else reason for _, reason in self.filtered)
        ((kind, times),) = Counter(kinds).most_common(1)
        most = "" if times == len(self.filtered) else f", {times:,} of them with the reason"
        return f"all {len(self.filtered):,} candidates are filtered out{most}: {kind}"


class RepeatLimit:
    """Limit on how often a text is suggested in a run over many articles.

    Near duplicates count as the same text.

    Args:
        limit: Maximum number of articles among `WINDOW` successive ones that a text is suggested for; 0 is any.
        dedup_threshold: Smallest Jaccard similarity of near duplicates; None counts texts with the same bigrams.

    >>> repeats = RepeatLimit(1)
    >>> repeats.add(["Bring a coat."])
    >>> repeats.reason("bring a COAT!"), repeats.reason("Bring a hat.")
    ('suggested for 1 of the last 100 articles already', None)
    """

    def __init__(self, limit: int, dedup_threshold: float | None = 0.6) -> None:
        self._limit = limit
        self._threshold = 1.0 if dedup_threshold is None else dedup_threshold
        self._articles: deque[list[frozenset[tuple[str, str]]]] = deque()
        # The texts of the window by bigram, oldest first, each as the numbers of its article and of its bigrams.
        self._texts: dict[tuple[str, str], deque[tuple[int, int, int]]] = {}
        self._count = 0

    def reason(self, text: str) -> str | None:
        """Reason not to suggest a text again, or None.

        Args:
            text: The text.
        """
        if not self._limit:
            return None
        bigrams = _bigrams(text)
        shared = Counter(entry for bigram in bigrams for entry in self._texts.get(bigram, ()))
        articles = {
            article
            for (article, _, size), common in shared.items()
            if common >= self._threshold * (size + len(bigrams) - common)
        }
        if len(articles) < self._limit:
            return None
        return f"suggested for {len(articles)} of the last {WINDOW} articles already"

    def add(self, texts: Iterable[str]) -> None:
        """End an article.

        Args:
            texts: The texts that were suggested for it.
        """
        if not self._limit:
            return
        said = [_bigrams(text) for text in texts]
        for number, bigrams in enumerate(said):
            for bigram in bigrams:
                self._texts.setdefault(bigram, deque()).append((self._count, number, len(bigrams)))
        self._articles.append(said)
        self._count += 1
        if len(self._articles) == WINDOW:
            for bigrams in self._articles.popleft():
                for bigram in bigrams:
                    entries = self._texts[bigram]
                    entries.popleft()
                    if not entries:
                        del self._texts[bigram]


def _bigrams(text: str) -> frozenset[tuple[str, str]]:
    return frozenset(pairwise(["", *units_of(text), ""]))


@dataclass(frozen=True, slots=True)
class CandidateFilter:
    """Filter of candidate comments.

    Args:
        min_words: Minimum number of words of a comment, a word that is repeated at once counting once. Three Han
            characters count as two words, so that 4 words are 6 characters.
        max_words: Maximum number of words; None is any.
        dedup_threshold: Smallest `jaccard_similarity` of near duplicates, in (0, 1]; None merges none.
        allow: Kinds of comments to accept, of `postil.screening.reasons.ALLOWED`: ``replies``, ``quotations``,
            ``edits``, ``trackbacks``, ``code``, ``profanity``, ``addresses``, ``unfinished``, ``figures``; or ``all``.
        blocklist: Words and phrases that no comment may contain.
        repeat: Maximum number of articles among `WINDOW` successive ones of a run that a text is suggested for; 0 for
            any number.
        profanity: Filter of profanity where that is not allowed: ``list``, the word lists of the package, or ``model``,
            these and a probability of .5 or more by alt-profanity-check.

    Raises:
        UsageError: A number is out of range.
        UnknownName: `allow` or `profanity` has an unknown name.
        MissingExtra: The model of profanity is not installed.

    >>> texts = ["So proud of you, well done!", "so proud of you... well done", "Nice", "See www.web.org for more."]
    >>> found = CandidateFilter().apply(texts, [0.5, 0.8, 0.9, 0.1])
    >>> found.accepted, [f"{position} {reason}" for position, reason in found.filtered]
    ((Accepted(position=1, merged=(0,)),), ['2 too short: 1 word, expected at least 4', '3 holds a web address'])
    """

    min_words: int = 4
    max_words: int | None = None
    dedup_threshold: float | None = 0.6
    allow: Collection[str] = ()
    blocklist: Blocklist | None = None
    repeat: int = 2
    profanity: ProfanityFilter = "list"

    def __post_init__(self) -> None:
        if self.min_words < 0 or (self.max_words is not None and self.max_words < max(self.min_words, 1)):
            raise UsageError(f"no comment has at least {self.min_words} and at most {self.max_words} words")
        if self.dedup_threshold is not None and not 0 < self.dedup_threshold <= 1:
            raise UsageError(f"dedup_threshold: expected above 0 to 1, got {self.dedup_threshold}")
        check_least(0, repeat=self.repeat)
        check_screens(self.allow)
        UnknownName.check("filter of profanity", self.profanity, get_args(ProfanityFilter))
        if self._asks_model:
            check_profanity_model()

    @property
    def _asks_model(self) -> bool:
        return self.profanity == "model" and not {"all", "profanity"} & set(self.allow)

    def repeats(self) -> RepeatLimit:
        """The repeat limit of a run, before its first article."""
        return RepeatLimit(self.repeat, self.dedup_threshold)

    def apply(
        self,
        texts: Sequence[str],
        scores: ArrayLike,
        *,
        k: int | None = None,
        keys: Collection[str] | Collection[int] | None = None,
        languages: Sequence[str | None] | None = None,
        language: str | None = None,
        article: str = "",
        reasons: Mapping[int, str] | None = None,
        flags: Sequence[int] | None = None,
        repeats: RepeatLimit | None = None,
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
            article: Title and content of that article; without it no figure is stale.
            reasons: Reasons to filter candidates out, by position, that are known already.
            flags: The bits `REPLY` and `QUOTATION` of the candidates; see `postil.screening.reasons`.
            repeats: The repeat limit of the run; None for none. What is shown of the result is to be added to it.

        Returns:
            The accepted candidates, and those filtered out.

        Raises:
            InvalidInput: A score is NaN, or texts, scores, keys, languages and flags differ in number.
            UsageError: k is negative.
        """
        check_least(0, k=k)
        order = best_first(scores, keys=keys)
        for name, values in (("scores", order), ("languages", languages), ("flags", flags)):
            if values is not None and len(values) != len(texts):
                raise InvalidInput(f"expected one per text: {len(texts)}, got {len(values)}", where=name)
        profanity = ProfanityModel(texts, order.tolist()) if self._asks_model else None
        left = np.ones(len(order), bool)
        accepted: list[Accepted] = []
        filtered: list[tuple[int, str]] = []
        bigrams: BigramSets | None = None
        for rank, position in enumerate(order.tolist()):
            if len(accepted) == k:
                break
            if not left[position]:
                continue
            left[position] = False
            other = languages[position] if languages is not None else None
            reason = (reasons or {}).get(position) or next(self._reasons(texts[position], other, language), None)
            reason = reason or next(
                screen(texts[position], flags[position] if flags is not None else 0, allow=self.allow), None
            )
            if article and not {"all", FIGURES} & set(self.allow):
                reason = reason or stale_figures(texts[position], article)
            reason = reason or (profanity.reason(rank) if profanity is not None else None)
            reason = reason or (repeats.reason(texts[position]) if repeats is not None else None)
            if reason:
                filtered.append((position, reason))
            elif self.dedup_threshold is None:
                accepted.append(Accepted(position))
            else:
                bigrams = bigrams or BigramSets(texts)
                same = left & (bigrams.jaccard(position) >= self.dedup_threshold)
                left &= ~same
                accepted.append(Accepted(position, tuple(order[same[order]].tolist())))
        return FilterResult(tuple(accepted), tuple(filtered))

    def _reasons(self, text: str, theirs: str | None, ours: str | None) -> Iterator[str]:
        words = words_of(text)
        if not text.strip():
            yield "empty"
        if too_short := self._too_short(words):
            yield too_short
        if self.max_words is not None and len(words) > self.max_words:
            kind = "character" if _HAN.search(text) else "word"
            yield because("too long", f"{_many(len(words), kind)}, expected at most {self.max_words}")
        if theirs and ours and primary_language(theirs) != primary_language(ours):
            yield because("its article is in another language", f"{theirs}, not {ours}")
        if self.blocklist and (entry := self.blocklist.find(text)):
            yield because(BLOCKED, entry)

    def _too_short(self, words: list[str]) -> str | None:
        if len(words) < self.min_words or not all(first != second for first, second in pairwise(words)):
            once = [word for word, _ in groupby(words)]
        else:
            once = words
        han = sum(1 for word in once if _HAN.match(word))
        if 2 * han + 3 * (len(once) - han) >= 3 * self.min_words:
            return None
        least, kind = (-(-3 * self.min_words // 2), "character") if han else (self.min_words, "word")
        again = " without repetitions" if len(once) < len(words) else ""
        return because("too short", f"{_many(len(once), kind)}{again}, expected at least {least}")


def _many(count: int, kind: str) -> str:
    return f"{count} {kind}{'' if count == 1 else 's'}"


NO_TEXT: Final = "no text"
"""The reason to hold a comment without a character that can be seen."""

_FINE: Final = ("replies", "quotations", "edits", "addresses", "unfinished")
"""Screens of suggestions that say nothing against a comment that is posted; of addresses there is a rule of its own."""
_ADDRESSES: Final = frozenset({"a web address", "an e-mail address"})
"""Kinds of address that are a reason; a handle names the reader whom a comment answers."""
_SHORT: Final = 4
"""Number of words below which the same words of two readers are no copy."""
_SIMILAR: Final = 0.6
"""Smallest Jaccard similarity of near copies."""


def reasons_to_hold(
    text: str, settings: CandidateFilter, comments: Iterable[Comment], *, profanity: ProfanityFilter | None = None
) -> tuple[str, ...]:
    """Find the reasons to hold a comment.

    Args:
        text: The comment, with its mark-up.
        settings: Settings of the filter: what is allowed, the block list, and the filter of profanity.
        comments: The comments that are under the article already.
        profanity: Filter of profanity in place of that of the settings.

    Raises:
        MissingExtra: The model of profanity is asked for and not installed.

    >>> from postil.screening.filtering import CandidateFilter
    >>> [*map(str, reasons_to_hold("Thanks, <b>idi</b>ot!", CandidateFilter(), ()))]
    ['profanity or an insult: idiot']
    """
    plain = plain_text(text).text
    empty = not any(one.isprintable() and not one.isspace() for one in plain)
    found = [*[NO_TEXT] * empty, *_in_text(plain, text, settings)]
    if (profanity or settings.profanity) == "model" and not {"all", "profanity"} & set(settings.allow):
        check_profanity_model()
        found += filter(None, [ProfanityModel([plain], [0]).reason(0)])
    if (copied := _copied(plain, comments)) is not None:
        found.append(f"a near copy of comment {copied} under the article")
    return tuple(dict.fromkeys(found))


def _in_text(plain: str, text: str, settings: CandidateFilter) -> Iterator[str]:
    """The reasons that stand in a text, with its mark-up and without."""
    allow = (*_FINE, *settings.allow)
    yield from screen(plain, allow=allow)
    # Mark-up splits words that a reader sees as one, and holds what `plain` leaves out: quotations, targets of links.
    yield from screen(text, allow=(*allow, "trackbacks", "code"))
    for view in (plain, text):
        if settings.blocklist and (entry := settings.blocklist.find(view)):
            yield because(BLOCKED, entry)
        if not {"all", "addresses"} & set(settings.allow):
            yield from (f"holds {kind}" for kind in kinds_of_address(view) if kind in _ADDRESSES)
    if not {"all", "addresses"} & set(settings.allow) and MASKS["phones"][1].search(plain):
        yield "holds what may be a telephone number"


def _copied(plain: str, comments: Iterable[Comment]) -> str | None:
    """The id of the comment that a text is most like, if it is a near copy of one."""
    if len(units_of(plain)) < _SHORT or not (others := [*comments]):
        return None
    similarity = BigramSets([plain, *(plain_text(one.text).text for one in others)]).jaccard(0)[1:]
    best = int(similarity.argmax())
    return others[best].id if similarity[best] >= _SIMILAR else None
