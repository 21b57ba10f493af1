"""Cues of interest in English: superlatives, *first*, *only* and *never*."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["cues"]

WORDS: Final = frozenset({"first", "only", "never"})
QUANTIFIERS: Final = frozenset({"most", "least"})
"""Superlatives after a determiner (the most); else numbers of things (most people) or degrees (most unusual)."""
IRREGULAR: Final = frozenset({"best", "worst", "utmost", "foremost"}) | QUANTIFIERS
"""Superlatives without the ending -est."""
DETERMINERS: Final = frozenset(
    {"the", "its", "his", "her", "their", "our", "my", "your", "whose", "s", "second", "third"}
)
"""Words before a superlative; *s* is that of a genitive."""
_ENDING_IN_EST: Final = (
    "anapest armrest arrest attest backrest behest bequest bucharest budapest chest congest conquest contest crest "
    "deforest detest digest disinterest divest earnest ernest everest footrest forest forrest guest harvest "
    "headrest hillcrest honest dishonest immodest incest infest ingest inquest interest invest jest lest manifest "
    "midwest modest molest nest northwest palimpsest pest priest protest quest rainforest reforest request rest "
    "retest southwest suggest tempest test unrest vest west wrest zest"
)
NO_SUPERLATIVES: Final = frozenset(_ENDING_IN_EST.split())
"""Words with the ending -est that are no superlatives."""
SHORT: Final = 4
"""Largest number of letters of words in -est that are none, such as rest."""
NOT_AFTER: Final = {
    "first": ("at",),
    "only": ("not", "if"),
    "most": ("at",),
    "least": ("at",),
}
"""Words before a cue that make it none: "at least", "not only"."""
NOT_BEFORE: Final = {"first": (",", " of all"), "most": (" of ",), "least": (" of ",)}
"""Text after a cue that makes it none: "first, …", "most of the …"."""

NEAR: Final = 9
"""Number of characters before a cue in which the word before it is looked for."""

_LAST: Final = re.compile(r"\w+(?=\W*$)")
_CUE: Final = re.compile(r"\b\w*(?:first|only|never|st)\b")


def cues(text: str) -> Iterator[str]:
    """Find the cues of a text, as readers are shown them.

    Args:
        text: The text.

    >>> list(cues("The only lake here: at least the deepest, and the first to freeze. We rest."))
    ['only', 'superlative: deepest', 'first']
    >>> list(cues("Most people rest here, on the most remote of lakes."))
    ['most', 'superlative: most']
    """
    lowered = text.lower()
    for match in _CUE.finditer(lowered):
        word = match[0]
        before = _before(lowered, match.start())
        if word in WORDS or (word in QUANTIFIERS and before not in DETERMINERS):
            shown = word
        elif word in IRREGULAR or (word.endswith("est") and len(word) > SHORT and word not in NO_SUPERLATIVES):
            shown = f"superlative: {word}"
        else:
            continue
        if before not in NOT_AFTER.get(word, ()) and not lowered.startswith(NOT_BEFORE.get(word, ()), match.end()):
            yield shown


def _before(text: str, start: int) -> str:
    """The last word before a place; of a long one its end."""
    before = _LAST.search(text[max(0, start - NEAR) : start])
    return before[0] if before else ""
