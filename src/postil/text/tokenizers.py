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
| ``sacrebleu:13a`` | those that BLEU of sacreBLEU counts: ``13a`` of the text without white space at its end |
| ``sacrebleu:zh``, … | the tokenizer of that name in the package sacrebleu; see `postil.text.sacrebleu_tokenizers` |

``words``, which signatures call ``words-2``, takes texts without soft hyphens, in lower case and composed (NFC). A word
begins with a letter, a digit or ``_`` and goes on with these, combining marks (Mn, Mc, Me), and U+200C and
U+200D between two of them; everything else parts words, and emoji are none. It is one rule for all scripts, as a second
tokenizer for some would leave the default wrong. ``jieba`` and ``rjieba`` take composed texts too. The others take
texts as they are.

Rankings of passages and comments (`ranking_tokenizer`) take ``runs`` for ``characters``: a character of a script
without spaces, or a run of other letters, digits and their marks, so that ``iPhone`` and ``2026`` are one unit each.

rjieba (jieba-rs) differs from jieba 0.42.1 in three places, and all are mended here:

- An ASCII run that holds one of ``# % & + - . _`` stays whole (``3-0``, ``i5-7300HQ``). jieba cuts it at those marks
  unless its dictionary has the run.
- Rare ideographs (U+3400-4DBF, 9FD6-9FFF, F900-FAFF, 20000 and above) count as Han and join with their neighbors.
  jieba makes each one a token.
- Where jieba's hidden Markov model finds two segmentations equally probable, rounding decides, and the two round
  differently: ``危危危危危`` is 危危危 危危 by one and 危危 危危危 by the other. It takes a stretch of unknown
  words in which every character comes twice. Such a text, one in a few hundred comments, is given to jieba itself if
  it is installed. Else it has rjieba's words, which differ in 2 of 100,280 titles, articles and comments of news, and
  the signature says ``rjieba-2``.

White space is no token in either. Punctuation is, one token per mark.
"""

from __future__ import annotations

import re
import warnings
from collections import Counter
from dataclasses import dataclass, field
from functools import cache, partial
from importlib import import_module, metadata, util
from types import MappingProxyType, ModuleType
from typing import TYPE_CHECKING, Final, Literal, Protocol, cast

from postil.errors import MissingExtra, UnknownName, UsageError
from postil.kernel.python.interning import SPACELESS, SPLIT, UNSPACED, is_han_text, word_class
from postil.kernel.unicode_forms import normalized
from postil.text import ptb, sacrebleu_tokenizers

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

__all__ = [
    "TOKENIZERS",
    "WHOLE",
    "Native",
    "Tokenizer",
    "check_tokenizer_name",
    "is_han_text",
    "native_tokenizer",
    "ranking_tokenizer",
    "split_jieba",
    "split_rjieba",
    "stored_tokenizer",
    "tokenizer",
    "word_pattern",
]

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


def _jieba_signature() -> str:
    """Return the name and version of the jieba installed.

    Raises:
        UsageError: jieba is not installed.

    >>> _jieba_signature()
    'jieba-0.42.1'
    """
    _load("jieba")
    return f"jieba-{metadata.version('jieba')}"


def _rjieba_signature(*, alone: bool) -> str:
    """Return the name and version of the rjieba installed; ``2`` where equal paths are its own.

    Raises:
        MissingExtra: rjieba is not installed.

    >>> _rjieba_signature(alone=False).startswith("rjieba-0."), _rjieba_signature(alone=True).startswith("rjieba-2-0.")
    (True, True)
    """
    _load("rjieba")
    return f"rjieba-{'2-' if alone else ''}{metadata.version('rjieba')}"


def split_jieba(text: str) -> list[str]:
    """Return the words of a text by jieba: default dictionary, hidden Markov model on, white space dropped.

    Args:
        text: Any text; what is not Chinese is cut by jieba's rules too.

    Raises:
        UsageError: jieba is not installed.

    >>> split_jieba("我 爱北京,i5-7300HQ")
    ['我', '爱', '北京', ',', 'i5', '-', '7300HQ']
    """
    return [token for token in _jieba_cut()(text) if not token.isspace()]


def split_rjieba(text: str, *, alone: bool = False) -> list[str]:
    """Return the words of a text by rjieba, mended so that they are those of `split_jieba`.

    Args:
        text: Any text.
        alone: True to take what rjieba says where jieba would have to be asked.

    Raises:
        UsageError: rjieba is not installed, or jieba where it is needed.

    >>> split_rjieba("我 爱北京,i5-7300HQ")
    ['我', '爱', '北京', ',', 'i5', '-', '7300HQ']
    """
    cut = _rjieba_cut()
    if not alone and _REPEATS.search(text) is not None and _may_tie(text, cut):
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
            if name == "jieba":
                raise UsageError("tokenizer 'jieba' needs its package: pip install jieba; or take rjieba") from error
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


def _split_sacrebleu_13a(text: str) -> list[str]:
    return _split_13a(text.rstrip())


def _of_sacrebleu(name: str) -> Tokenizer:
    split = partial(sacrebleu_tokenizers.split_sacrebleu, name)
    return Tokenizer(f"sacrebleu:{name}", sacrebleu_tokenizers.sacrebleu_signature(name), split)


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


def _rjieba() -> Tokenizer:
    alone = util.find_spec("jieba") is None
    split = partial(split_rjieba, alone=alone)
    return Tokenizer("rjieba", _rjieba_signature(alone=alone), partial(_split_composed, split))


TOKENIZERS: Mapping[str, Callable[[], Tokenizer]] = MappingProxyType(
    {
        "space": partial(native_tokenizer, "space"),
        "words": partial(native_tokenizer, "words"),
        "characters": partial(native_tokenizer, "characters"),
        "rouge": partial(native_tokenizer, "rouge"),
        "13a": lambda: Tokenizer("13a", "13a", _split_13a),
        "ptb": lambda: Tokenizer("ptb", ptb.SIGNATURE, ptb.split_ptb),
        "jieba": lambda: Tokenizer("jieba", _jieba_signature(), partial(_split_composed, split_jieba)),
        "rjieba": _rjieba,
        "sacrebleu:13a": lambda: Tokenizer("sacrebleu:13a", "sacrebleu:13a", _split_sacrebleu_13a),
        **{f"sacrebleu:{name}": partial(_of_sacrebleu, name) for name in sacrebleu_tokenizers.PACKAGED},
    },
)
"""Constructor of each tokenizer, by name."""


def tokenizer(name: str) -> Tokenizer:
    """Return the tokenizer of that name.

    Args:
        name: A name in `TOKENIZERS`, the one that folders keep, or ``runs``.

    Raises:
        UnknownName: There is no such tokenizer.
        UsageError: ``jieba`` or ``rjieba`` is asked for and not installed.

    >>> tokenizer("13a").split('He paid 1,000.50, "all" of it.')
    ['He', 'paid', '1,000.50', ',', '"', 'all', '"', 'of', 'it', '.']
    """
    if name == "runs":
        return Tokenizer(name, name, SPLIT["unspaced"], "unspaced")
    asked = next((first for first, newer in _NEWER.items() if newer == name), name)
    if asked not in list(TOKENIZERS):  # a list asks for no hash, which not everything has
        raise UnknownName("tokenizer", name, TOKENIZERS)
    return TOKENIZERS[asked]()


def check_tokenizer_name(name: str) -> None:
    """Refuse a name that no tokenizer has, installed or not.

    Args:
        name: The name.

    Raises:
        UnknownName: There is no such tokenizer; the message offers the nearest.

    >>> check_tokenizer_name("13A")
    Traceback (most recent call last):
    ...
    postil.errors.UnknownName: unknown tokenizer '13A'; did you mean '13a'? Known: space, words, characters, rouge, ...
    """
    UnknownName.check("tokenizer", name, list(TOKENIZERS))


WHOLE: Final = Tokenizer("whole", "whole", lambda _: [])
"""The tokenizer of texts whose tokens nothing reads."""


def ranking_tokenizer(script: str) -> str:
    """Name of the tokenizer that ranks texts of a script: a segmenter where one is installed, else ``runs``.

    Args:
        script: A name of `postil.kernel.python.interning.SPACELESS`; empty for a script with spaces.

    >>> ranking_tokenizer(""), ranking_tokenizer("Thai")
    ('words', 'runs')
    """
    if not script:
        return "words"
    return "rjieba" if script == "Han" and util.find_spec("rjieba") is not None else "runs"


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


_ASCII_WORD: Final = re.compile(r"\w+(?:['-]\w+)*", re.ASCII)
_LETTERS: Final = 5
"""Number of characters of a word in an alphabet without spaces, such as Thai."""


def word_pattern(text: str) -> re.Pattern[str]:
    """The pattern of the words of a text, with their marks and joiners, apostrophes and hyphens.

    A character of Han or kana is a word, and so are a few of an alphabet without spaces.

    Args:
        text: The text.

    >>> text = "L’été, aujourd’hui; 今天"
    >>> word_pattern(text).findall(text)
    ['L’été', 'aujourd’hui', '今', '天']
    """
    return _ASCII_WORD if text.isascii() else _word()


@cache
def _word() -> re.Pattern[str]:
    han = SPACELESS["Han"] + SPACELESS["Japanese"]
    alphabets = "".join(SPACELESS[name] for name in SPACELESS if name not in {"Han", "Japanese"})
    part = rf"(?=\w)[^{UNSPACED}](?:(?![{UNSPACED}])[\w{word_class()}\u200c\u200d\xad])*"
    return re.compile(
        rf"(?=\w)[{han}]|(?=\w)[{alphabets}](?:[\w{word_class()}](?<=[{alphabets}])){{0,{_LETTERS - 1}}}"
        rf"|{part}(?:['’-]{part})*"
    )
