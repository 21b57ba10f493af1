"""Tokens as they stand in texts, beside those of tokenizers that lower-case: vectors may tell Rice from rice."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Final

from postil.kernel.unicode_forms import normalized
from postil.text.tokens import Tokens, Vocabulary

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["as_written"]

COMPOSING: Final = "words-2"
"""The tokenizer whose tokens are composed (NFC) and without soft hyphens as well."""
LOWERING: Final = frozenset({COMPOSING, "words", "rouge", "ptb"})
"""Tokenizers whose tokens are in lower case."""


def as_written(tokens: Tokens) -> Tokens:
    """The tokens of texts as they stand there, one for each token.

    A token that does not stand in its text, such as a bracket of ptb, stays as it is; and so do all tokens where the
    texts were not kept, or the tokenizer does not lower-case.

    Args:
        tokens: n texts.

    >>> from postil.text.tokenizers import tokenizer
    >>> tokens = Vocabulary().encode(["Rice and rice (NASA's)"], tokenizer("words"), keep_texts=True)
    >>> tokens.words(0), as_written(tokens).words(0)
    (['rice', 'and', 'rice', 'nasa', 's'], ['Rice', 'and', 'rice', 'NASA', 's'])
    """
    if tokens.texts is None or tokens.tokenizer is None or tokens.tokenizer.name not in LOWERING:
        return tokens
    known, bounds = tokens.vocabulary.words(), pairwise(tokens.offsets.tolist())
    composed = tokens.tokenizer.name == COMPOSING
    forms = [
        _forms(
            normalized("NFC", text.replace("\xad", "")) if composed else text,
            [known[i] for i in tokens.ids[begin:end].tolist()],
        )
        for text, (begin, end) in zip(tokens.texts, bounds, strict=True)
    ]
    return Vocabulary().encode_tokens(forms)


def _forms(text: str, tokens: Sequence[str]) -> Sequence[str]:
    """The tokens of one text as they stand there."""
    lowered = text.lower()
    if lowered == text:
        return tokens
    # Some letters, such as the Turkish capital I with a dot, become two characters, which a token may part.
    place = range(len(lowered) + 1) if len(lowered) == len(text) else _places(text)
    found, at = [], 0
    for token in tokens:
        begin = lowered.find(token, at)
        at = at if begin < 0 else begin + len(token)
        form = token if begin < 0 else text[place[begin] : place[at]]
        found.append(form if len(form.lower()) == len(token) else token)
    return found


def _places(text: str) -> list[int]:
    """The place in a text of each character of its lower-case form, and its end."""
    places = [place for place, character in enumerate(text) for _ in character.lower()]
    return [*places, len(text)]
