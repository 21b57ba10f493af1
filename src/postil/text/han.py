"""Detection of texts that a tokenizer is not for.

``words`` takes whole sentences of a script without spaces for words, ``rouge`` drops all letters but a to z.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from postil.kernel.python.interning import SPACELESS, fold_words, is_spaceless_text
from postil.kernel.unicode_forms import is_composed, normalized

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from postil.errors import InvalidInput
    from postil.text.tokenizers import Tokenizer

__all__ = [
    "CANNOT_SPLIT",
    "SAMPLE",
    "SHARE",
    "HanTexts",
    "advice_for",
    "all_remarks",
    "composed",
    "composed_remark",
    "spaceless_script",
]

SHARE: Final = 0.1
"""Largest accepted share of texts without spaces: a forum in English has some comments in Chinese."""

SAMPLE: Final = 200
"""Number of texts that are kept to tell their script and language by."""
LONGEST: Final = 1000
"""Number of characters of each."""

_ELSE: Final = "characters, or space where the words are separated already"
_ADVICE: Final[dict[str, str]] = {
    "Han": "jieba (or rjieba, the same words faster), " + _ELSE,
    "Japanese": f"{_ELSE}, by MeCab for instance",
    "Thai": f"{_ELSE}, by PyThaiNLP for instance",
}
"""Tokenizers that can split a text of a script without spaces, for messages."""
_SPLITTERS: Final = {"Han": "jieba, rjieba and characters do"}

CANNOT_SPLIT: Final = "text cannot be split into words at spaces and punctuation"
_SCRIPTS: Final = {name: re.compile(f"[{characters}]") for name, characters in SPACELESS.items()}
_JOINTS: Final = re.compile("[\xad\u2060\ufeff]")
"""Places where a word may be broken, or may not."""
_COMPOSING: Final = frozenset({"words-2", "jieba", "rjieba"})
"""Tokenizers that see texts in NFC."""


def spaceless_script(text: str) -> str:
    """The name of the script of a text in a script without spaces: a name of `SPACELESS`, ``Japanese`` with any kana.

    >>> spaceless_script("日本語です"), spaceless_script("今天天气很好"), spaceless_script("น้ำ")
    ('Japanese', 'Han', 'Thai')
    """
    found = {name: len(characters.findall(text)) for name, characters in _SCRIPTS.items()}
    return "Japanese" if found["Japanese"] else max(found, key=found.__getitem__)


def advice_for(script: str) -> str:
    """The tokenizers that can split texts of a script, for messages."""
    return _ADVICE.get(script, _ELSE)


def _is_spaceless(text: str) -> bool:
    return is_spaceless_text(fold_words(text))


def _loses_letters(text: str) -> bool:
    """True if less than half of the letters and digits are among a to z and 0 to 9."""
    letters = [character.isascii() for character in text if character.isalnum()]
    return 2 * sum(letters) < len(letters)


@dataclass(frozen=True, slots=True)
class _Unfit:
    """Texts that a tokenizer is not for.

    Args:
        is_unfit: True for such a text; asked only of texts that are not ASCII.
        name: Name of such a text; a script stands before it where texts are unfit for their script.
        problem: The tokenizer's problem with it, likewise.
        remedy: Tokenizers to take instead; empty for those of the script.
        remark: The end of the remark on a few of them.
    """

    is_unfit: Callable[[str], bool]
    name: str
    problem: str
    remedy: str
    remark: str


_UNFIT: Final = {
    "words-2": _Unfit(_is_spaceless, "text", CANNOT_SPLIT, "", "the tokenizer words does not split; "),
    "rouge": _Unfit(
        _loses_letters,
        "text in other letters than a to z",
        "text in other letters than a to z is dropped by the tokenizer rouge",
        "words, or jieba for Chinese",
        "the tokenizer rouge drops; words, and jieba for Chinese, keep them",
    ),
}


class HanTexts:
    """A count of the texts that their tokenizer is not for, with a limit: scripts without spaces for ``words``.

    It counts the texts that the tokenizer composes (NFC), too.

    Args:
        tokenizer: The tokenizer of the texts; with another than ``words`` and ``rouge`` nothing is counted.
        what: Name of the texts, in the plural.

    >>> from postil.text.tokenizers import tokenizer
    >>> met = HanTexts(tokenizer("words"), "comments")
    >>> met.see(["Nice weather today"] * 39 + ["哈哈哈"])
    >>> met.remark
    '1 of 40 comments is Han text, which the tokenizer words does not split; jieba, rjieba and characters do'
    """

    def __init__(self, tokenizer: Tokenizer, what: str) -> None:
        self.what = what
        self.texts = 0
        self.han = 0
        self.first = -1
        """Index of the first such text among all that were seen."""
        self.composed = 0
        """Number of texts that the tokenizer composes."""
        self.scripts = Counter[str]()
        """Number of such texts by script."""
        self.sample: list[str] = []
        """The first texts, which tell the script and the language."""
        self._unfit = _UNFIT.get(tokenizer.name)
        self._composes = tokenizer.name in _COMPOSING

    def see(self, texts: Iterable[object]) -> None:
        """Count the next texts; a value that is no text counts as any other.

        Args:
            texts: Texts before tokenization.
        """
        is_unfit = self._unfit.is_unfit if self._unfit else None
        for text in texts:
            if self.texts < SAMPLE and isinstance(text, str):
                self.sample.append(text[:LONGEST])
            if isinstance(text, str) and not text.isascii():
                if is_unfit and is_unfit(text):
                    self.first = self.texts if self.first < 0 else self.first
                    self.han += 1
                    self.scripts[spaceless_script(text)] += 1
                self.composed += self._composes and not is_composed(text)
            self.texts += 1

    @property
    def many(self) -> bool:
        """True if they are more than `SHARE` of the texts."""
        return self.han > SHARE * self.texts

    def check(self, refuse: Callable[[int, str], InvalidInput]) -> None:
        """Refuse texts of which the tokenizer is not for too many.

        Args:
            refuse: Function from the index of a text and a problem to the error with its location.

        Raises:
            InvalidInput: They are; the first of them is named.
        """
        if self._unfit and self.many:
            are = "is" if self.han == 1 else "are"
            remedy = self._unfit.remedy or advice_for(self._script)
            raise refuse(
                self.first,
                f"{self._named(self._unfit.problem)}, and {self.han:,} of {self.texts:,} {self.what} {are}; "
                f"expected another tokenizer: {remedy}",
            )

    @property
    def remark(self) -> str:
        """A note on the few such texts; empty without any."""
        if not self._unfit or not self.han:
            return ""
        are = "is" if self.han == 1 else "are"
        of_which = f"{self.han:,} of {self.texts:,} {self.what} {are} {self._named(self._unfit.name)}"
        splits = "" if self._unfit.remedy else _SPLITTERS.get(self._script, "characters does")
        return f"{of_which}, which {self._unfit.remark}{splits}"

    @property
    def _script(self) -> str:
        return self.scripts.most_common(1)[0][0]

    def _named(self, words: str) -> str:
        return words if self._unfit and self._unfit.remedy else f"{self._script} {words}"


def composed(text: str) -> str:
    r"""A text in NFC, without soft hyphens and word joiners.

    >>> composed("Mu\u0308h\u00adl\u2060e")
    'Mühle'
    """
    return text if text.isascii() else normalized("NFC", _JOINTS.sub("", text))


def all_remarks(*counts: HanTexts) -> list[str]:
    """The notes on texts that their tokenizer is not for, and on those that it composed.

    Args:
        counts: The counts, each of texts with a name of their own.
    """
    return [note for note in (*(each.remark for each in counts), composed_remark(*counts)) if note]


def composed_remark(*counts: HanTexts) -> str:
    r"""A note on the texts that their tokenizer composed; empty without any.

    Args:
        counts: The counts, each of texts with a name of their own.

    >>> from postil.text.tokenizers import tokenizer
    >>> met = HanTexts(tokenizer("words"), "candidates")
    >>> met.see(["cre\u0300me", "tea"])
    >>> composed_remark(met)
    '1 of 2 candidates is not in the Unicode form NFC, and was read in it'
    """
    found = [f"{each.composed:,} of {each.texts:,} {each.what}" for each in counts if each.composed]
    if not found:
        return ""
    one = sum(each.composed for each in counts) == 1
    are, were = ("is", "was") if one else ("are", "were")
    return f"{' and '.join(found)} {are} not in the Unicode form NFC, and {were} read in it"
