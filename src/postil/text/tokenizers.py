"""Tokenizers.

The Python functions here define each tokenizer. `Tokenizer.native` names the splitting that the compiled kernel runs by
itself on raw strings; it gives the same tokens.

| name | tokens |
|---|---|
| ``space`` | text between white space |
| ``words`` | lower-cased runs of letters, digits and underscores, with their combining marks; see below |
| ``characters`` | every character that is not white space |
| ``rouge`` | lower-cased runs of a to z and 0 to 9, as rouge-score splits; all other characters are dropped |
| ``13a`` | the tokenization of NIST's mteval-v13a, as sacreBLEU's default does it |
| ``ptb`` | Penn Treebank tokens without punctuation, as pycocoevalcap's PTBTokenizer gives them, without Java |
| ``jieba`` | Chinese words by jieba, hidden Markov model on, default dictionary |
| ``rjieba`` | the same tokens, many times faster |

``words``, which signatures call ``words-2``, takes texts without soft hyphens, in lower case and composed (NFC). A word
begins with a letter, a digit or ``_`` and goes on with these, combining marks (Mn, Mc, Me), and U+200C and
U+200D between two of them; everything else parts words, and emoji are none. ``jieba`` and ``rjieba`` take composed
texts too. The others take texts as they are.

Rankings of passages and comments (`ranking_tokenizer`) take ``runs`` for ``characters``: a character of a script
without spaces, or a run of other letters, digits and their marks, so that ``iPhone`` and ``2026`` are one unit each.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import partial
from importlib import util
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, Literal

from postil.errors import UnknownName
from postil.kernel.python.interning import SPLIT, is_han_text
from postil.kernel.unicode_forms import normalized
from postil.text import ptb
from postil.text.chinese import jieba_signature, rjieba_signature, split_jieba, split_rjieba

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

__all__ = [
    "TOKENIZERS",
    "Native",
    "Tokenizer",
    "is_han_text",
    "native_tokenizer",
    "ranking_tokenizer",
    "stored_tokenizer",
    "tokenizer",
]

Native = Literal["space", "words", "characters", "rouge", "every-character", "marks", "unspaced"]


@dataclass(frozen=True)
class Tokenizer:
    """A tokenizer.

    Two tokenizers with the same name and signature are equal. A tokenizer can be sent to another process.

    Args:
        name: The name that folders keep: that in `TOKENIZERS`, and ``words-2`` of ``words``.
        signature: Its part of a result's signature; it has the version where another package tokenizes.
        cut: Function from a text to its tokens.
        native: The splitting of the compiled kernel that gives the same tokens, if there is one.

    >>> tokenizer("words").split("It's 5 o'clock, Ana!")
    ['it', 's', '5', 'o', 'clock', 'ana']
    """

    name: str
    signature: str
    cut: Callable[[str], list[str]] = field(repr=False, compare=False)
    native: Native | None = None

    def split(self, text: str) -> list[str]:
        """Return the tokens of one text, in order; an empty or blank text has none.

        >>> tokenizer("characters").split("你 好!")
        ['你', '好', '!']
        """
        return self.cut(text)

    def split_all(self, texts: Sequence[str]) -> list[list[str]]:
        """Return the tokens of each text.

        >>> tokenizer("space").split_all(["a b", "", "c"])
        [['a', 'b'], [], ['c']]
        """
        cut = self.cut
        return [cut(text) for text in texts]


_MARKUP = (
    ("<skipped>", ""),
    ("-\n", ""),
    ("\n", " "),
    ("&quot;", '"'),
    ("&amp;", "&"),
    ("&lt;", "<"),
    ("&gt;", ">"),
)
# The rules run in this order, and each one consumes the neighbor that it looks at: ",.5" stays in one piece because
# the comma is spent when the full stop comes. Lookarounds would give other tokens.
_RULES_13A = (
    (re.compile(r"""([!"#$%&()*+/:;<=>?@\[\\\]^_`{|}~])"""), r" \1 "),
    (re.compile(r"([^0-9])([.,])"), r"\1 \2 "),
    (re.compile(r"([.,])([^0-9])"), r" \1 \2"),
    (re.compile(r"([0-9])(-)"), r"\1 \2 "),
)


def _split_13a(text: str) -> list[str]:
    for old, new in _MARKUP:
        text = text.replace(old, new)
    text = f" {text} "
    for pattern, spaced in _RULES_13A:
        text = pattern.sub(spaced, text)
    return text.split()


def native_tokenizer(native: Native) -> Tokenizer:
    """The tokenizer that is a splitting of the compiled kernel.

    >>> native_tokenizer("marks").split("Well, (it is)")
    ['Well', ',', '(', 'it', 'is', ')']
    """
    name = _NEWER.get(native, native)
    return Tokenizer(name, name, SPLIT[native], native)


_NEWER: Final[Mapping[str, str]] = {"words": "words-2"}
"""Name of the rule of a tokenizer whose first rule was another."""
_FIRST_WORD: Final = re.compile(r"\w+")


def _split_first_words(text: str) -> list[str]:
    return _FIRST_WORD.findall(text.lower())


def _split_composed(split: Callable[[str], list[str]], text: str) -> list[str]:
    return split(text if text.isascii() else normalized("NFC", text))


def _13a() -> Tokenizer:
    return Tokenizer("13a", "13a", _split_13a)


def _ptb() -> Tokenizer:
    return Tokenizer("ptb", ptb.SIGNATURE, ptb.split_ptb)


def _jieba() -> Tokenizer:
    return Tokenizer("jieba", jieba_signature(), partial(_split_composed, split_jieba))


def _rjieba() -> Tokenizer:
    return Tokenizer("rjieba", rjieba_signature(), partial(_split_composed, split_rjieba))


TOKENIZERS: Mapping[str, Callable[[], Tokenizer]] = MappingProxyType(
    {
        "space": partial(native_tokenizer, "space"),
        "words": partial(native_tokenizer, "words"),
        "characters": partial(native_tokenizer, "characters"),
        "rouge": partial(native_tokenizer, "rouge"),
        "13a": _13a,
        "ptb": _ptb,
        "jieba": _jieba,
        "rjieba": _rjieba,
    },
)
"""Constructor of each tokenizer, by name."""


def tokenizer(name: str) -> Tokenizer:
    """Return the tokenizer of that name.

    Args:
        name: A name in `TOKENIZERS`, the one that folders keep, or ``runs``.

    Raises:
        UnknownName: There is no such tokenizer.
        MissingExtra: ``jieba`` or ``rjieba`` is asked for and not installed.

    >>> tokenizer("13a").split('He paid 1,000.50, "all" of it.')
    ['He', 'paid', '1,000.50', ',', '"', 'all', '"', 'of', 'it', '.']
    """
    if name == "runs":
        return Tokenizer(name, name, SPLIT["unspaced"], "unspaced")
    asked = next((first for first, newer in _NEWER.items() if newer == name), name)
    if asked not in list(TOKENIZERS):  # a list asks for no hash, which not everything has
        raise UnknownName("tokenizer", name, TOKENIZERS)
    return TOKENIZERS[asked]()


def ranking_tokenizer(script: str) -> str:
    """Name of the tokenizer that ranks texts of a script: a segmenter where one is installed, else ``runs``.

    Args:
        script: A name of `postil.kernel.python.interning.SPACELESS`; empty for a script with spaces.

    >>> ranking_tokenizer(""), ranking_tokenizer("Thai")
    ('words', 'runs')
    """
    if not script:
        return "words"
    segments = script == "Han" and all(util.find_spec(package) is not None for package in ("jieba", "rjieba"))
    return "rjieba" if segments else "runs"


def stored_tokenizer(name: str) -> Tokenizer:
    r"""Return the tokenizer that a folder names.

    A folder that was made before ``words`` took combining marks into words names ``words``. It gets the rule of its
    time, which cut words at them, so that its own words are found and its numbers stay what they were.

    Args:
        name: `Tokenizer.name` of the tokenizer that the folder was made with.

    Raises:
        UnknownName, MissingExtra: As `tokenizer`.

    >>> [stored_tokenizer(name).split("cre\u0300me") for name in ("words", "words-2")]
    [['cre', 'me'], ['crème']]
    """
    return Tokenizer(name, name, _split_first_words) if name in list(_NEWER) else tokenizer(name)
