"""Cues of interest in English: superlatives, *first*, *only* and *never*."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["cues"]

WORDS: Final = frozenset({"first", "only", "never"})
IRREGULAR: Final = frozenset({"best", "worst", "most", "least", "utmost", "foremost"})
"""Superlatives without the ending -est."""
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

_LAST: Final = re.compile(r"\w+(?=\W*$)")
_CUE: Final = re.compile(r"\b\w*(?:first|only|never|st)\b")


def cues(text: str) -> Iterator[str]:
    """Find the cues of a text, as readers are shown them.

    Args:
        text: The text.

    >>> list(cues("The only lake here: at least the deepest, and the first to freeze. We rest."))
    ['only', 'superlative: deepest', 'first']
    """
    lowered = text.lower()
    for match in _CUE.finditer(lowered):
        word = match[0]
        if word in WORDS:
            shown = word
        elif word in IRREGULAR or (word.endswith("est") and len(word) > SHORT and word not in NO_SUPERLATIVES):
            shown = f"superlative: {word}"
        else:
            continue
        if not _is_idiom(word, lowered, match.start(), match.end()):
            yield shown


def _is_idiom(word: str, text: str, start: int, end: int) -> bool:
    """True if the words around a cue make it none."""
    if text.startswith(NOT_BEFORE.get(word, ()), end):
        return True
    before = _LAST.search(text[max(0, start - 5) : start])
    return before is not None and before[0] in NOT_AFTER.get(word, ())
