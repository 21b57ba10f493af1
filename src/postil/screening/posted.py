"""Reasons to hold a reader's own comment back until a person has looked at it.

A comment that is posted stands under its article and among others, so that a reply, a quotation, a question to somebody
or a few words are fine, which a suggestion must not be.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from postil.corpus.duplicates import BigramSets, units_of
from postil.documents.markup import plain_text
from postil.screening.reasons import BLOCKED, ProfanityModel, because, check_profanity_model, screen
from postil.text.addresses import MASKS, kinds_of_address

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from postil.data.rows import Comment
    from postil.screening.filtering import CandidateFilter
    from postil.screening.reasons import ProfanityFilter

__all__ = ["NO_TEXT", "reasons_to_hold"]

NO_TEXT: Final = "no text"
"""The reason to hold a comment without a character that can be seen."""

_FINE: Final = ("replies", "quotations", "edits", "addresses")
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
