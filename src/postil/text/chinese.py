"""Chinese word segmentation by jieba, and by the faster rjieba, corrected to agree with it.

rjieba (jieba-rs) differs from jieba 0.42.1 in three places, and all are mended here:

- An ASCII run that holds one of ``# % & + - . _`` stays whole (``3-0``, ``i5-7300HQ``). jieba cuts it at those marks
  unless its dictionary has the run.
- Rare ideographs (U+3400-4DBF, 9FD6-9FFF, F900-FAFF, 20000 and above) count as Han and join with their neighbors.
  jieba makes each one a token.
- Where jieba's hidden Markov model finds two segmentations equally probable, rounding decides, and the two round
  differently: ``危危危危危`` is 危危危 危危 by one and 危危 危危危 by the other. It takes a stretch of unknown
  words in which every character comes twice. Such a text, one in a few hundred comments, is given to jieba itself.

White space is no token in either. Punctuation is, one token per mark.
"""

from __future__ import annotations

import re
import warnings
from collections import Counter
from functools import cache
from importlib import import_module, metadata, util
from typing import TYPE_CHECKING, Protocol, cast

from postil.errors import MissingExtra

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

__all__ = ["jieba_signature", "rjieba_signature", "split_jieba", "split_rjieba"]

DICTIONARY_RUNS = frozenset({"AT&T", "C#", "C++", "c#", "c++"})
"""The ASCII words of jieba's default dictionary that hold one of the marks; they stay whole."""

_MARK = re.compile(r"[#%&+\-._]")
_RUN = re.compile(r"([a-zA-Z0-9]+(?:\.[0-9]+)?%?)")
# Lone surrogates are here because rjieba, which takes UTF-8, refuses them; jieba makes each one a token.
_RARE = re.compile("([\u3400-\u4dbf\u9fd6-\u9fff\ud800-\udfff\uf900-\ufaff\U00020000-\U0003ffff])")
_HAN = "\u4e00-\u9fd5"
_RETURN = rf"([{_HAN}])[{_HAN}]{{0,4}}"
_REPEATS = re.compile(rf"(?={_RETURN}\1)[{_HAN}]{{1,4}}?(?={_RETURN}\2)")
_SINGLE = re.compile(f"[{_HAN}]")
_WHITE = re.compile(r"\s")


class _Cut(Protocol):
    """The segmentation method of either package."""

    def __call__(self, text: str, *, hmm: bool = True) -> list[str]: ...


def jieba_signature() -> str:
    """Return the name and version of the jieba installed.

    Raises:
        MissingExtra: jieba is not installed.

    >>> jieba_signature()
    'jieba-0.42.1'
    """
    _load("jieba")
    return f"jieba-{metadata.version('jieba')}"


def rjieba_signature() -> str:
    """Return the name and version of the rjieba installed.

    Raises:
        MissingExtra: rjieba is not installed, or jieba is not, which it needs for a few texts.

    >>> rjieba_signature().startswith("rjieba-")
    True
    """
    if util.find_spec("jieba") is None:
        raise MissingExtra("tokenizer 'rjieba'", "zh")
    _load("rjieba")
    return f"rjieba-{metadata.version('rjieba')}"


def split_jieba(text: str) -> list[str]:
    """Return the words of a text by jieba: default dictionary, hidden Markov model on, white space dropped.

    Args:
        text: Any text; what is not Chinese is cut by jieba's rules too.

    Raises:
        MissingExtra: jieba is not installed.

    >>> split_jieba("我 爱北京,i5-7300HQ")
    ['我', '爱', '北京', ',', 'i5', '-', '7300HQ']
    """
    return [token for token in _jieba_cut()(text) if not token.isspace()]


def split_rjieba(text: str) -> list[str]:
    """Return the words of a text by rjieba, mended so that they are those of `split_jieba`.

    Args:
        text: Any text.

    Raises:
        MissingExtra: rjieba is not installed, or jieba where it is needed.

    >>> split_rjieba("我 爱北京,i5-7300HQ")
    ['我', '爱', '北京', ',', 'i5', '-', '7300HQ']
    """
    cut = _rjieba_cut()
    if _REPEATS.search(text) is not None and _may_tie(text, cut):
        return split_jieba(text)
    tokens = cut(text) if _RARE.search(text) is None else _cut_between_rare(text, cut)
    if _WHITE.search(text) is not None:
        tokens = [token for token in tokens if not token.isspace()]
    if _MARK.search(text) is not None:
        tokens = [part for token in tokens for part in _cut_at_marks(token)]
    return tokens


def _cut_between_rare(text: str, cut: _Cut, *, hmm: bool = True) -> list[str]:
    tokens: list[str] = []
    for number, piece in enumerate(_RARE.split(text)):
        if number % 2:
            tokens.append(piece)
        elif piece:
            tokens.extend(cut(piece, hmm=hmm))
    return tokens


def _cut_at_marks(token: str) -> list[str]:
    if len(token) == 1 or not token.isascii() or token.isalnum() or token in DICTIONARY_RUNS:
        return [token]
    return [part for part in _RUN.split(token) if part]


def _may_tie(text: str, cut: _Cut) -> bool:
    """True if the hidden Markov model may find two segmentations equally probable.

    The model sees the stretches of single characters that the dictionary leaves. Two ways of equal probability use
    the same probabilities in another order, so between the first and the last character where they differ every
    character comes at least twice. Up to nine characters, this has two places, at most four apart, where a character
    comes again within five: `_REPEATS`, which is quick to look for.
    """
    stretch = ""
    for token in [*_cut_between_rare(text, cut, hmm=False), ""]:
        if _SINGLE.fullmatch(token):
            stretch += token
        else:
            if _has_all_twice(stretch):
                return True
            stretch = ""
    return False


def _has_all_twice(stretch: str) -> bool:
    """True if some substring of three characters or more has each of them at least twice.

    >>> [_has_all_twice(text) for text in ("危危危", "春肖肖春", "屠呦呦", "甲乙丙甲")]
    [True, True, False, False]
    """
    parts = [stretch]
    while parts:
        part = parts.pop()
        once = {character for character, times in Counter(part).items() if times == 1}
        if len(part) > 2 and not once:
            return True
        if once:  # no such substring reaches across these
            parts += "".join(" " if character in once else character for character in part).split()
    return False


def _load(name: str) -> ModuleType:
    """Import jieba or rjieba, without the warnings that jieba's import gives."""
    with warnings.catch_warnings():
        # jieba 0.42.1 has unescaped backslashes (heard when Python first compiles it) and imports pkg_resources,
        # which newer releases of setuptools call deprecated.
        for escape in (DeprecationWarning, SyntaxWarning):
            warnings.filterwarnings("ignore", r".*invalid escape sequence", escape)
        for deprecated in (DeprecationWarning, UserWarning):
            warnings.filterwarnings("ignore", r".*pkg_resources", deprecated)
        try:
            return import_module(name)
        except ImportError as error:
            raise MissingExtra(f"tokenizer '{name}'", "zh") from error


@cache
def _rjieba_cut() -> _Cut:
    # An instance of our own: words that a program adds to the module's default tokenizer do not come in.
    return cast("_Cut", _load("rjieba").Jieba().cut)


@cache
def _jieba_cut() -> Callable[[str], list[str]]:
    """Return the cut of a jieba of our own, filled from the dictionary of the installed package.

    jieba's own `initialize` would read a cache of fixed name from the shared temporary folder, write it if missing,
    and log to stderr. A stale or planted cache would change numbers, so none is used.
    """
    own = _load("jieba").Tokenizer()
    own.FREQ, own.total = own.gen_pfdict(own.get_dict_file())
    own.initialized = True
    cut: Callable[[str], list[str]] = own.lcut
    return cut
