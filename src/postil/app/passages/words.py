"""Passages as words: split, without stop words, as stems, or the anchors in their place."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from postil.errors import UsageError
from postil.metrics.measures import Collection
from postil.text.han import HanTexts
from postil.text.stems import stems
from postil.text.stop_words import stop_words, stop_words_signature
from postil.text.tokenizers import tokenizer as named_tokenizer
from postil.text.tokens import Tokens, Vocabulary

if TYPE_CHECKING:
    from collections.abc import Sequence

    from postil.app.passages.files import PassagesOptions
    from postil.records.row_locations import Places
    from postil.records.rows import Passage

__all__ = ["collect", "han_in", "stop_signature", "without_stop_words"]


def collect(passages: Sequence[Passage], options: PassagesOptions, places: Places) -> Collection:
    """Passages as words: split, without stop words, as stems, or the anchors in their place.

    Args:
        passages: n passages.
        options: How they are read.
        places: Where they stand, for messages.

    Raises:
        InvalidInput: More than a tenth of the passages are Han text and meet the ``words`` tokenizer.
        UnknownName: There is no such tokenizer, stop list or stemmer.
        UsageError: The anchors are asked for and no passage has any.
    """
    cut = named_tokenizer(options.tokenizer)
    if options.anchors:
        anchors = [[" ".join(each.lower().split()) for each in passage.anchors] for passage in passages]
        if not any(anchors):
            raise UsageError("anchors are asked for, and no passage has any; fill the field anchors or leave that out")
        return Collection(Vocabulary().encode_tokens(anchors))
    han_in(passages, options).check(lambda place, problem: places.error(place, "text", problem))
    plain = Vocabulary().encode([passage.text for passage in passages], cut, options.jobs, allow_han=True)
    words = tokens = without_stop_words(plain, options.stop)
    if options.stem != "none":
        of_word = Vocabulary().encode_tokens([stems(words.vocabulary.words(), options.stem)])
        tokens = Tokens(of_word.ids[words.ids], words.offsets, of_word.vocabulary)
    return Collection(tokens, words)


def han_in(passages: Sequence[Passage], options: PassagesOptions) -> HanTexts:
    """The passages in Han characters that the tokenizer cuts at spaces and punctuation; none where anchors are read.

    Args:
        passages: n passages.
        options: How they are read.
    """
    met = HanTexts(named_tokenizer(options.tokenizer), "passages")
    met.see(passage.text for passage in (() if options.anchors else passages))
    return met


def without_stop_words(tokens: Tokens, stop: str) -> Tokens:
    """The texts without the words of a stop list; those on either side of one become neighbours.

    Args:
        tokens: n texts.
        stop: A name in `postil.text.STOP_LISTS`, or ``none``.

    Raises:
        UnknownName: There is no such list.

    >>> tokens = Vocabulary().encode_tokens([["end", "of", "the", "line"], ["the"]])
    >>> without_stop_words(tokens, "en").lengths.tolist()
    [2, 0]
    """
    if stop == "none":
        return tokens
    kept = tokens.vocabulary.flags(stop_words(stop))[tokens.ids] == 0
    offsets = np.concatenate([[0], np.cumsum(kept, dtype=np.int64)])[tokens.offsets]
    return Tokens(tokens.ids[kept], offsets, tokens.vocabulary)


def stop_signature(stop: str) -> str:
    """What signatures and ``made.json`` say of a stop list.

    Args:
        stop: A name in `postil.text.STOP_LISTS`, or ``none``.

    Raises:
        UnknownName: There is no such list.
    """
    return "none" if stop == "none" else stop_words_signature(stop)
