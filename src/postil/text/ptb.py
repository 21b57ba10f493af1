r"""Penn Treebank tokens, equal to those of pycocoevalcap, without Java.

pycocoevalcap gives captions to the PTBTokenizer of Stanford CoreNLP 3.4.1 (``-preserveLines -lowerCase``) and drops 16
punctuation marks from its output. These rules restate what that program does with a text; they were found by comparing
outputs, for all code points of the basic plane, all strings of three ASCII marks and letters, and tables of words. The
program is under the GPL: none of its code was read or used. Where a rule costs more than it gives, as for a surrogate
in a web address and a soft hyphen before a digit, the two differ still.

- The longest token wins, as in any scanner; the alternatives of `_RULES` stand in that order.
- Contractions are cut: ``do n't``, ``it 's``, ``can not``, ``gon na``. Names keep theirs: ``o'neill``.
- Abbreviations keep their full stop; any word does before ``,``, ``;`` or ``:`` (``school.,`` is ``school.``).
- Hyphenated and slashed words stay whole, and so do words around ``.``, ``!`` and ``?`` without a space: ``go?in``.
- Brackets become ``-lrb-`` and the like, and stay, in lower case, as the program's list has them in upper case.
- Quotes, dashes, ``.``, ``,``, ``:``, ``;``, single ``?`` and ``!`` and ``...`` are dropped; ``!!`` and ``?!`` stay.
- Letters are those of Unicode 6; what the program calls untokenizable (emoji, private use) parts words and is dropped.

A text is tokenized as if alone. pycocoevalcap joins texts by newlines, and where a text ends in a single letter and a
full stop its program looks at the first word of the next. White space within a token (``1 1/2``) parts it here, as
BLEU and CIDEr there do.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from contextlib import suppress
from functools import cache, lru_cache
from importlib import resources
from itertools import chain
from typing import Final

__all__ = ["SIGNATURE", "split_ptb"]

SIGNATURE: Final = "ptb-coco-3.4.1"
"""Name of the tokenizer, the program whose tokens it gives, and the list of marks that it drops."""

# ---- words of the rules ----------------------------------------------------------------------------------------------

_FINAL = (  # abbreviations that may end a sentence: no hyphen goes on after them
    "al ala apr ariz assn aug bancorp bhd bldg blvd bros calif co colo conn corp cos ct dak dec dept esq est etc ext "
    "feb fla fri ga inc ind intl jan jr jul jun kan kans ky ltd mar md mich minn mo mon mont neb nev nov oct okla penn "
    "plc ppte ppty pte ptes pty ptys rd rt sep sept seq sq sr sys tel tenn thu thurs tue tues univ va vt wed wis wisc "
    "wyo"
)
_OTHER = (
    "adj adm adv alex assoc asst atty ave brig capt cf cie cmdr col cpl det dr drs elec ens ft gen gov govs hon insp "
    "invt jos lieut lt maj messrs mfg mlle mme mr mrs ms msgr mt mtg natl pfc ph pres prof profs pvt rep reps rev sen "
    "sens sfc sgt spc st ste supt vs wm"
)
_CAPITALIZED = "Ark Az Del Ill La Mass Miss Ore Pa Tex Wash"
_BEFORE_NUMBER = "art ca fig figs no nos op pp prop"
_OPENERS = (  # words before which a single letter and its full stop end a sentence
    "A About According Additionally After An As At But Earlier He Her Here However If In It Last Many More Now Once "
    "One Other Our She Since So Some Such That The Their Then There These They This We What When While Yet You"
)


def _any(words: str) -> str:
    return "|".join(sorted(words.split(), key=len, reverse=True))


def _capitalized(words: str) -> str:
    return "|".join(f"{word[0]}(?i:{word[1:]})" for word in sorted(words.split(), key=len, reverse=True))


# ---- characters ------------------------------------------------------------------------------------------------------

# Rules see one stand-in per class of characters beyond ASCII, so that their sets stay small.
_LETTER, _DIGIT, _MARK, _SYMBOL, _BLANK, _NONE = "ª", "٠", "\u0300", "¡", "\u2003", "\x7f"
_OWN: Final = "\xa0\xad\u058a\u2010\u2011¢£\x80¤₠€¼½¾⅓⅔\x91\x92\x93\x94\x96\x97‘’‚‛“”„‟«»‹›–—―…⁄٫٬"
"""Characters beyond ASCII that a rule names."""


_BLANKS: Final = (*range(0x2000, 0x200B), 0x3000)
"""Spaces of the program beyond Latin-1."""


class _Shapes(dict[int, str]):
    """Stand-in of each character, found when it is first asked for; for `str.translate`."""

    def __init__(self) -> None:
        super().__init__({ord(one): one for one in (*map(chr, range(128)), *_OWN)} | dict.fromkeys(_BLANKS, _BLANK))
        edges: list[tuple[int, str]] = []
        for line in resources.files("postil.text").joinpath("ptb_characters.txt").read_text("utf-8").splitlines():
            name, _, ranges = line.partition(" ")
            if name in _CLASSES:
                for first, _, last in (pair.partition("-") for pair in ranges.split()):
                    edges += [(int(first, 16), _CLASSES[name]), (int(last or first, 16) + 1, _NONE)]
        # The end of a range may be the start of another; the start is the later of equal edges then.
        edges.sort(key=lambda edge: (edge[0], edge[1] != _NONE))
        self._edges = [edge for edge, _ in edges]
        self._stand_ins = [one for _, one in edges]

    def __missing__(self, code: int) -> str:
        at = bisect_right(self._edges, code) - 1
        self[code] = one = self._stand_ins[at] if at >= 0 else _NONE
        return one


_CLASSES: Final = {"letters": _LETTER, "digits": _DIGIT, "marks": _MARK, "symbols": _SYMBOL, "powers": "²"}

# ---- rules -----------------------------------------------------------------------------------------------------------

_A = "A-Za-z"
_L = f"{_A}{_LETTER}"
_D = f"0-9{_DIGIT}"
_M = _MARK
_SPACE = "[ \\t\\n\xa0]"
_WHITE = f"[ \\t\\n\xa0{_BLANK}]"
_APOSTROPHE = "['’]"
_TICK = "['’`‘]"
_HYPHEN = "[-_\u058a\u2010\u2011]"
_NO_LETTER = f"(?![{_A}])"
_END = f"(?![{_L}{_D}{_M}])"

_FAR: Final = 500
"""Largest number of characters that a rule looks over for what it needs, which makes the time linear in any text."""

_WORD = f"(?:[{_D}]*[{_L}]|[{_M}])[{_L}{_D}{_M}\xad]*"
_NUMBER = f"[-+]?(?:[{_D}][{_D}\xad]*(?:[.,:٫٬][{_D}\xad]+)*|(?:[.,:٫٬][{_D}\xad]+)+)"
_CONTRACTION = f"['’](?:ll|re|ve|[smd]){_NO_LETTER}"
_CURLY = "’(?:ll|re|ve|[smd])"
_NOT = f"[nN]{_TICK}[tT]"
_REST = f"[{_L}{_D}{_M}\xad]*"
_LETTERS = f"[{_L}{_M}\xad]*"
_NAME = (  # words with an apostrophe inside
    f"(?:[{_L}]+[aeiouyAEIOUY]{_TICK}[aeiouA-Z]{_LETTERS}|[A-HJ-XZ]{_TICK}[{_L}]{{2}}{_REST}"
    f"|(?i:[dlno]){_TICK}[{_L}]{{2}}{_REST}|(?i:o{_TICK}o|(?:c(?={_APOSTROPHE}e)|cap(?=.n)){_APOSTROPHE}(?:est|n)"
    f"|c'mon|ev'ry|e'er|nat'l|nor'easter|s'mores|li'l))"
)
_PART = f"(?:(?i:[dlo]){_APOSTROPHE}[{_L}]{{2}}{_REST}|[{_L}{_D}][{_L}{_D}\xad]*)"
_ACRONYM = f"[{_A}](?:\\.[{_A}])+\\.?"
_HYPHENATED = (
    f"(?:(?!(?i:{_any(_FINAL)})\\.-)[A-Za-z0-9][A-Za-z0-9.,\xad]{{0,{_FAR}}}(?=-)|{_PART})"
    f"(?:{_HYPHEN}(?:{_ACRONYM}{_NO_LETTER}|\xad*{_PART}))+"
)
_ABBREVIATION = (
    f"(?:(?i:{_any(_FINAL)}|{_any(_OTHER)}|[a-z])|{_capitalized(_CAPITALIZED)}"
    f"|(?i:{_any(_BEFORE_NUMBER)})(?=\\.{_WHITE}*[{_D}]))"
)
_DOTTED = f"[{_L}{_M}]{_REST}(?:[.!?][{_L}{_M}]{_REST})+"
_PHONE = (
    "\\([0-9]{2,3}\\)[ \xa0]?[0-9]{3,4}[- \xa0][0-9]{3,5}"
    f"|(?=[-+0-9]{{0,{_FAR}}}[ \xa0])"
    "(?:\\+{0,2}[0-9]{2,4}[- \xa0])?[0-9]{2,4}[- \xa0][0-9]{3,4}[- \xa0]?[0-9]{3,5}"
)
_SLASHED = "[A-Za-z0-9]+(?:-[A-Za-z]+){0,2}"
_TAG = (
    "</?[A-Za-z][A-Za-z0-9.:_-]*>|<(?:[!?][A-Za-z]|!-)[^<>\\n]*>"
    "|<[A-Za-z][A-Za-z0-9.:_-]*(?: +[A-Za-z][A-Za-z0-9.:_-]*(?: *= *(?:\"[^\"]*\"|'[^']*'))?)* */?>"
)
_PATH = '(?:/[^ \\t\\n"<>|()]+[^ \\t\\n"<>|.!?(){},-])?'


def _host(excluded: str) -> str:
    """Labels with a dot after each, as in ``www.ely.`` of ``www.ely.org``, without the characters that are excluded."""
    return f"(?=[^{excluded}.])(?:[^{excluded}.]|\\.(?!\\.)){{1,{_FAR}}}(?<=\\.)"


_WWW_HOST = _host(" \\t\\n\"`'<>|!?(){},")
_HOST = _host(" \\t\\n\"`'<>|!$(){},-_")
_IN_ADDRESS = '[^ \\t\\n"<>|(){}]'
_WEB = (
    ("address", f'(?i:https?)://(?>{_IN_ADDRESS}{{1,{_FAR}}}?\\.){_IN_ADDRESS}*[^ \\t\\n"<>|.!?(){{}},-]'),
    ("address", f"(?i:www)\\.{_WWW_HOST}[A-Za-z]{{2,4}}(?![A-Za-z0-9]){_PATH}"),
    ("address", f"{_HOST}(?:com|net|org|edu)(?![A-Za-z0-9]){_PATH}"),
    (
        "address",
        f'<?[a-zA-Z0-9][^ \\t\\n\xa0"<>|()]{{0,{_FAR}}}@(?:[^ \\t\\n\xa0"<>|().{{}}]+\\.)*[^ \\t\\n\xa0"<>|().{{}}]+>?',
    ),
)
"""Rules that need an ``@``, a ``://`` or a dot before a known ending; most texts have none."""

_RULES = (
    ("word", f"(?!(?i:{_any('cannot gonna gotta wanna lemme gimme')})[ ,;\\n])[{_A}]+(?=[,;]?[ \\n])"),
    ("as_is", _TAG),
    ("entity", "&(?i:amp|lt|gt|quot|apos|nbsp|mdash|ndash);"),
    ("as_is", "&#[0-9]+;"),
    ("as_is", f"(?:{_HYPHENATED}|{_NAME}|{_DOTTED}|[{_L}{_D}][{_L}{_D}\xad]*)\\.(?=[,;:])"),
    ("as_is", f"[{_A}](?=\\.{_WHITE}+(?:(?:{_capitalized(_OPENERS)}){_WHITE}|{_TAG}))"),
    ("face", _PHONE),
    ("as_is", "[0-9]{1,2}[-/][0-9]{1,2}[-/][0-9]{2,4}(?![A-Za-z0-9])"),
    ("as_is", f"{_SLASHED}/{_SLASHED}(?:/{_SLASHED})?|[0-9]{{1,4}}[- \xa0][0-9]{{1,4}}[/⁄][0-9]{{1,4}}"),
    ("as_is", "[0-9]{1,4}⁄[0-9]{1,4}"),
    ("as_is", _HYPHENATED),
    ("as_is", f"[{_A}](?:\\.[{_A}])+(?![{_L}{_D}]|\\.[{_L}])\\.?|(?i:(?:ph|ed)\\.d)(?![{_L}{_D}]|\\.[{_L}]{{2}})\\.?"),
    ("as_is", f"(?i:{_any(_FINAL)})\\.(?=[{_L}](?![{_L}{_D}{_M}.!?]))|{_DOTTED}|[0-9]+\\.[xX]{_END}"),
    ("as_is", f"{_ABBREVIATION}\\."),
    ("face", "[<>]?[:;=][-o*']?[()@\\[\\\\\\]{|dpDPO](?![A-Za-z0-9])"),
    ("as_is", "[-<>'=^~]_+[-<>'=^~]"),
    ("as_is", f"{_APOSTROPHE}(?:[0-9][0-9](?={_WHITE})|[2-9]0s)"),
    ("as_is", f"{_APOSTROPHE}(?:(?i:em|till?|cause)|[nN]{_APOSTROPHE})"),
    ("as_is", f"'(?:[nN](?={_SPACE})|[tT](?=(?i:is|was)))|’[nN]"),
    ("quote", "''|``"),
    ("short", f"(?i:{_CONTRACTION}|{_CURLY})"),
    ("as_is", "(?i:c\\+\\+|[cf]#)"),
    ("joined", "[A-Z]+(?:(?:\\+|&(?:amp;)?)[A-Z]+)+"),
    ("as_is", "[A-Z]+\\$"),
    ("as_is", f"[{_A}]*?[A-MO-Za-mo-z](?={_NOT})|(?i:[{_A}]+(?={_CONTRACTION}))"),
    ("as_is", f"{_NAME}|(?i:[{_A}]+(?={_CURLY}))"),
    (
        "as_is",
        f"(?i:can(?=not{_END})|(?:gon|wan)(?=na{_END})|got(?=ta{_END})|(?:lem|gim)(?=me{_END}))",
    ),
    ("short", _NOT),
    ("as_is", f"(?i:y{_APOSTROPHE}(?=[{_L}])|(?:dunkin|somethin|ol|[djl]){_APOSTROPHE})"),
    ("as_is", _WORD),
    ("as_is", _NUMBER),
    ("address", f"@[A-Za-z_][A-Za-z0-9_]*|#[{_L}{_M}\xad]+"),
    ("mark", "[¢£\x80¤₠€¼½¾⅓⅔()\\[\\]{}]"),
    ("dropped", "\\.\\.\\.+|\\.(?:[ \xa0]\\.){2,}|…|-{1,4}(?!-)|[\x96\x97–—―]"),
    ("as_is", "-+|[!?]+|(?:\\\\\\*){1,3}|\\*+|#+|@+|_+|<<|>>|²+"),
    ("quote", "\"|'|[`\x91-\x94‘’‚‛“”„‟«»‹›]{1,2}"),
    ("as_is", f"[<>.,:/+$%&;=\\\\^|~⁄{_SYMBOL}]"),
)


@cache
def _scanner(*, web: bool) -> re.Pattern[str]:
    """All rules as one expression; the number of the group that matched is that of the rule."""
    rules = ((*_WEB, *_RULES)) if web else _RULES
    return re.compile("|".join(f"({rule})" for _, rule in rules))


_KINDS: Final = {web: ["", *(kind for kind, _ in ((*_WEB, *_RULES) if web else _RULES))] for web in (False, True)}
_shapes = cache(_Shapes)


# ---- what tokens are written as --------------------------------------------------------------------------------------

_DROPPED: Final = frozenset({"''", "'", "``", "`", ".", "?", "!", ",", ":", "-", "--", "...", ";"})
"""The list of pycocoevalcap, less its brackets, which it has in upper case and therefore never meets."""

_ROUND: Final = str.maketrans({"(": "-lrb-", ")": "-rrb-"})
_QUOTES: Final = str.maketrans(
    dict.fromkeys("\x91‘‛‹", "`")
    | dict.fromkeys("\x92’›", "'")
    | dict.fromkeys("\x93“«", "``")
    | dict.fromkeys("\x94”»", "''")
)
_MARKS: Final = {
    "(": "-lrb-", ")": "-rrb-", "[": "-lsb-", "]": "-rsb-", "{": "-lcb-", "}": "-rcb-",
    "¢": "cents", "£": "#", "\x80": "$", "¤": "$", "₠": "$", "€": "$",
    "¼": "1/4", "½": "1/2", "¾": "3/4", "⅓": "1/3", "⅔": "2/3",
}  # fmt: skip
_ENTITIES: Final = {"&amp;": "&", "&lt;": "<", "&gt;": ">"}

_LINES = re.compile("[\r\n\x0b\x0c\x85\u2028\u2029]")
_OTHER_WHITE = re.compile("[\x1c-\x1f\u1680\u2000-\u200a\u202f\u205f\u3000]")
"""White space of Python that is none for the program, or not for all of its rules."""
_ADDRESS = re.compile(r"@|://|(?i:www)\.|\.(?:com|net|org|edu)")


def _written(kind: str, token: str) -> str:
    """The token as the program writes it, or nothing."""
    match kind:
        case "short":
            token = token.replace("’", "'").replace("‘", "`")
        case "mark":
            return _MARKS[token]
        case "quote":
            token = token.replace('"', "''").translate(_QUOTES)
        case "face":
            token = token.translate(_ROUND)
        case "joined":
            token = token.replace("&amp;", "&")
        case "entity":
            return _ENTITIES.get(token.lower(), "")
        case "dropped":
            return ""
        case _:
            pass
    return "" if token in _DROPPED else token


def _scan(text: str) -> list[str]:
    """Apply the rules to a text."""
    text = _LINES.sub(" ", text) + "\n"  # a line ends in a newline, which some rules look at
    shape = text if text.isascii() else text.translate(_shapes())
    web = _ADDRESS.search(text) is not None
    kinds = _KINDS[web]
    tokens: list[str] = []
    for found in _scanner(web=web).finditer(shape):
        kind = kinds[found.lastindex or 0]
        if kind == "word":
            tokens.append(found[0].lower())
            continue
        token = text[found.start() : found.end()] if shape is not text else found[0]
        if (kind != "as_is" and not (token := _written(kind, token))) or token in _DROPPED:
            continue
        if "\xad" in token and kind != "address":
            token = token.replace("\xad", "")
        token = token.lower()
        if not token.isprintable() or " " in token:
            tokens += token.split()
        else:
            tokens.append(token)
    return tokens


# ---- the fast path ---------------------------------------------------------------------------------------------------

_PLAIN = re.compile(r"[A-Za-z]+[,;:]?|[A-Za-z]{2,}\.")
_SPLIT: Final = frozenset({"cannot", "gonna", "gotta", "wanna", "lemme", "gimme"})
_ABBREVIATED: Final = frozenset(f"{word}." for word in f"{_FINAL} {_OTHER} {_CAPITALIZED}".lower().split())
_AFTER = re.compile(r"^(?:[+(]?\d|\.+[^.])")
"""Chunks that may belong to a number, a telephone number or dots before them."""
_INITIAL = re.compile(r"^(?!(?:[A-Za-z]\.){2,}$)(?:.*[^A-Za-z])?[A-Za-z]\.$")
"""Chunks whose tokens depend on a capital after them."""
_OPEN = re.compile(r"<[A-Za-z/!?][^<> ]*(?: |$)")
"""Tags that may go on after a space."""
_NUMBER_ENDS: Final = frozenset("0123456789).")
_LONGEST: Final = 32
_MOST: Final = 1 << 16

_KNOWN: dict[str, tuple[str, ...]] = {}
"""Tokens of text between white space whose neighbors cannot change them, as it came before; at most `_MOST`."""


def _learn(chunk: str) -> tuple[str, ...] | None:
    """Tokens of a chunk that is not known; None if its neighbors may change them."""
    plain = _PLAIN.fullmatch(chunk) and chunk.lower() not in _ABBREVIATED
    if plain and (word := chunk.rstrip(".,;:").lower()) not in _SPLIT:
        found: tuple[str, ...] = (word,)
    elif any(rule.search(chunk) for rule in (_AFTER, _INITIAL, _OPEN, _ADDRESS)):
        return None
    else:
        found = tuple(_scan(chunk))
    if len(chunk) <= _LONGEST:
        if len(_KNOWN) >= _MOST:
            _KNOWN.clear()
        _KNOWN[chunk] = found
    return found


@lru_cache(_MOST)
def _scan_group(group: str) -> tuple[str, ...]:
    return tuple(_scan(group))


def _belongs(chunk: str, before: str) -> bool:
    """True if a chunk may change, or be changed by, the one before it."""
    last = before[-1]
    if last in _NUMBER_ENDS and (chunk[0] == "." or _AFTER.match(chunk)):
        return True
    return last == "." and (chunk[0].isupper() or chunk[0] == "<") and _INITIAL.search(before) is not None


def _split_with_neighbors(text: str, chunks: list[str]) -> list[str]:
    """Tokens of a text of which a chunk may depend on its neighbors: those that may are tokenized together."""
    if ("<" in text and _OPEN.search(text)) or (not text.isascii() and _ADDRESS.search(text)):
        return _scan(text)
    alone = " ".join(chunks) == _LINES.sub(" ", text).strip(" ")  # single spaces between all chunks
    tokens: list[str] = []
    group = ""
    for chunk in (*chunks, ""):
        if chunk and group and _belongs(chunk, group):
            if not alone:
                return _scan(text)
            group += " " + chunk
            continue
        if group:
            found = _KNOWN.get(group)
            if found is None and (" " in group or (found := _learn(group)) is None):
                found = _scan_group(group) if len(group) <= _LONGEST else tuple(_scan(group))
            tokens += found
        group = chunk
    return tokens


def split_ptb(text: str) -> list[str]:
    """Return the Penn Treebank tokens of one text, as pycocoevalcap has them.

    >>> split_ptb("A man (in a red hat) can't sit, isn't it?")
    ['a', 'man', '-lrb-', 'in', 'a', 'red', 'hat', '-rrb-', 'ca', "n't", 'sit', 'is', "n't", 'it']
    >>> split_ptb("“We're gonna pay $3.50,” said Mr. O'Neill...")
    ['we', "'re", 'gon', 'na', 'pay', '$', '3.50', 'said', 'mr.', "o'neill"]
    """
    with suppress(TypeError):  # None: a chunk is new, needs a look at its neighbors, or has other white space in it
        return list(chain.from_iterable(map(_KNOWN.get, text.split(" "))))  # type: ignore[arg-type]
    if _OTHER_WHITE.search(text):
        return _scan(text)
    chunks = text.split()
    with suppress(TypeError):
        return list(chain.from_iterable(map(_KNOWN.get, chunks)))  # type: ignore[arg-type]
    return _split_with_neighbors(text, chunks)
