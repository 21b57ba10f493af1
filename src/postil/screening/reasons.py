"""Reasons not to suggest a comment: it needs another text beside it, or an editor would not publish it.

Block lists hold words and phrases that no suggestion may contain. A pattern here would rather miss a comment than take
a good one; `research/commenters.md` says how often those that filter out most are right. All of them take time in
proportion to the text, whatever it holds. alt-profanity-check, a linear model over the words of a comment in English,
reads its parameters from pickles as it is imported, so it is imported only where it was asked for.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, Literal, Self, TypeAlias

from postil.corpus.duplicates import pieces_of
from postil.data.groups import grouped
from postil.data.streams import FilePath, lines_in
from postil.errors import InvalidInput, MissingExtra, UnknownName, needs
from postil.messages import Note
from postil.text.addresses import kinds_of_address

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence


__all__ = [
    "ALLOWED",
    "BLOCKED",
    "FIGURES",
    "PROFANITY",
    "QUOTATION",
    "REPLY",
    "SCREENS",
    "Blocklist",
    "ProfanityFilter",
    "ProfanityModel",
    "because",
    "check_profanity_model",
    "check_screens",
    "entries_of",
    "find_profanity",
    "screen",
    "stale_figures",
]


REPLY: Final = 1
"""Bit of the flags of a comment: it replies to another one."""
QUOTATION: Final = 2
"""Bit of the flags of a comment: it quotes another text in mark-up, which is left out of its text."""

BLOCKED: Final = "on the block list"
PROFANITY: Final = "profanity or an insult"
"""Kinds of reasons."""


@dataclass(frozen=True)
class Blocklist:
    """Words and phrases that no suggestion may contain.

    An entry matches its words in sequence as whole words: ``ass`` is not in ``class``. In Chinese it matches wherever
    its characters occur. Other forms of a word are separate entries; there are no patterns.

    Args:
        entries: The words and phrases.

    >>> blocklist = Blocklist(("shut up", "傻逼"))
    >>> [blocklist.find(text) for text in ("Oh SHUT  UP!", "shutup", "他是个傻逼。", "你好傻，逼人太甚")]
    ['shut up', None, '傻逼', None]
    """

    entries: tuple[str, ...]
    _heads: dict[str, list[tuple[list[str], str]]] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        split = ((pieces_of(entry), entry) for entry in self.entries)
        object.__setattr__(self, "_heads", grouped((each[0][0], each) for each in split if each[0]))

    @classmethod
    def read(cls, path: FilePath) -> Self:
        """Read a blocklist from a file.

        Args:
            path: One word or phrase per line, in UTF-8. Blank lines and lines that begin with ``#`` are ignored.

        Raises:
            InvalidInput: The file is missing or not UTF-8, or a line is too long.
        """
        return cls(tuple(entry for _, entry in entries_of(path)))

    def find(self, text: str) -> str | None:
        """Find the first entry that a text contains.

        Args:
            text: The text.
        """
        pieces = pieces_of(text)
        if self._heads.keys().isdisjoint(pieces):
            return None
        for at, piece in enumerate(pieces):
            for blocked, entry in self._heads.get(piece, ()):
                if pieces[at : at + len(blocked)] == blocked:
                    return entry
        return None


def entries_of(path: FilePath) -> list[tuple[int, str]]:
    """Read the entries of a list, each with the number of its line.

    Args:
        path: One entry per line, in UTF-8. Blank lines and lines that begin with ``#`` are ignored.

    Raises:
        InvalidInput: The file is missing or not UTF-8, or a line is too long.
    """
    entries = []
    try:
        with Path(path).open("rb") as stream:
            lines = chain.from_iterable(lines_in(stream, str(path)))
            # Some editors end lines with a carriage return alone.
            parts = chain.from_iterable(line.splitlines() or [b""] for line in lines)
            for number, line in enumerate(parts, 1):
                entry = line.decode("utf-8-sig" if number == 1 else "utf-8").strip()
                if entry and not entry.startswith("#"):
                    entries.append((number, entry))
    except OSError as error:
        raise InvalidInput(f"cannot be read: {error.strerror or error}", where=str(path)) from error
    except UnicodeDecodeError as error:
        raise InvalidInput("not UTF-8; save the file as UTF-8", where=str(path), line=number) from error
    return entries


def find_profanity(text: str) -> str | None:
    """Find a word of profanity, a slur or an insult in English or Chinese.

    Args:
        text: The text.

    Returns:
        The entry of the lists of the package that it contains, or None.

    >>> find_profanity("What a SHITTY day"), find_profanity("Scunthorpe"), find_profanity("你这个白痴")
    ('shitty', None, '白痴')
    """
    found = _packaged("en").find(text)
    return _packaged("zh").find(text) if found is None and not text.isascii() else found


@cache
def _packaged(language: str) -> Blocklist:
    lines = files("postil.screening").joinpath(f"profanity.{language}.txt").read_text(encoding="utf-8").splitlines()
    return Blocklist(tuple(line for line in lines if line and not line.startswith("#")))


_QUESTION_TO_YOU: Final = "|".join(
    (
        (
            r"(?:(?:what|which|where|when|who|why|how)\b(?:['’]s)?[^.?!\n]{0,30}\b)?"
            r"(?:do|did|are|were|have|had|can|could|would|will|is|was|does|has)(?:n['’]?t)? (?:you|your|u|ur|op)\b"
        ),
        r"(?:what|how|where|who|when|why)(?:['’]?s|['’]?re| r)? (?:you|your|ur|u)\b",
    )
)
_BEFORE_QUESTION: Final = "|".join(
    (
        r"so|but|and|also|wait|hey|lol|ok|okay|just|curious|well|oh|hi|or|question",
        r"out of curiosity|may i ask|can i ask|if i may ask|if you don['’]t mind me asking",
    )
)
_BEFORE_THANKS: Final = "ok|okay|oh|ah|wow|cool|great|awesome|nice|got it|gotcha|alright|lol|haha|yes|yeah|omg|hey|and"
_THANKED_FOR: Final = "|".join(
    (
        "your|this|that|sharing|posting|answering|replying|responding|explaining|clarifying|asking|commenting|doing",
        "making|writing|letting|telling|pointing|taking|being|giving|putting",
        "the (?:reply|answer|response|info|information|advice|help|tips?|links?|comment|explanation|clarification)",
        "the (?:input|feedback|insight|suggestions?|correction|heads|post|article|update)",
    )
)
_NUMBER: Final = r"(?:#|no\.? ?|number |point |points |item )\d{1,3}\b"
_SAID: Final = (
    rf"(?:{_NUMBER}|(?:this|that|these|the above)(?=[\s,.;!-]{{0,3}}(?:\Z|[,.;!-]|i\b))"
    r"|what (?:you|u|others?|everyone|everybody|someone|somebody|people|the (?:other|above))\b)"
)
_CONTINUED: Final = "|".join(
    (
        "(?:i(?:['’]d|['’]ll| would| will| want| just want)(?: like)?(?: also)? )?(?:to |also )?add|adding",
        "(?:to )?(?:expand|build|elaborate|follow up|piggy ?back)",
        "expanding|building|elaborating|following up|piggy ?backing",
    )
)
_WHICH: Final = (
    r"which(?: is|['’]s| was| would be| might be| may be| explains| leads| means| makes)"
    r"(?: exactly| precisely| also| probably| partly| part of| the reason| one reason)?"
)
_BEGINS: Final = (
    # A name or a greeting.
    r"@\w",
    r"(?:hey|hi|hello|dear|yo)\b[ ,]{1,2}(?!guys|all|everyone|everybody|folks|y['’]?all)[a-z]+",
    r"(?-i:[A-Z][a-z]{1,20}), (?:i (?:dis)?agree|thanks|thank you|you(?:['’]re| are) (?:right|wrong))\b",
    # Thanks and agreement, which say nothing without what they answer.
    (
        rf"(?:(?:{_BEFORE_THANKS})\b[\s,.!]{{0,9}}){{0,3}}(?:many |big )?(?:thanks|thank (?:you|u)|thx|ty|tysm)\b"
        rf"(?:\W{{0,9}}\Z|[^.!?\n]{{0,40}}\bfor (?:{_THANKED_FOR})\b"
        r"|[^.!?\n]{0,25}\b(?:op|man|dude|bro|guys|you all|everyone)\b)"
    ),
    r"i (?:dis|totally |completely |100% |strongly |fully )?agree with (?:you|u)\b|agree with you\b",
    (
        r"(?:you|u)(?:['’]re| are|r)? (?:so |absolutely |totally |completely |very |100% )?"
        r"(?:right|wrong|correct|welcome|kidding|joking|not alone)\b"
    ),
    r"(?:good|great|excellent|fair|valid) (?:point|question|catch|write[- ]?up|summary|response|answer)\b",
    r"(?:nice|great|good|awesome|amazing|interesting|excellent) (?:post|write[- ]?up|guide|article|read|thread)\b",
    r"(?:well said|came here to say|username checks|no problem)\b",
    # A continuation of what somebody wrote, or an answer to a numbered part of it.
    (
        rf"(?:same|similar)(?: thing)? (?:as|to|with) (?:you|u|op|{_NUMBER})\b"
        r"(?! (?:can|could|do|would|see|get|use|have|might|may|want|need)\b)"
    ),
    (
        rf"(?:(?:just|also|and|so) )?(?:{_CONTINUED})(?: (?:a little|a bit|more|something|one (?:more )?thing))?"
        rf" (?:on|to|off|upon|onto)(?: of| to)? {_SAID}"
    ),
    rf"(?:re|regarding|as for|for|on|to|about|and)[: ]{{1,2}}(?:your |the )?{_NUMBER}",
    rf"{_WHICH} (?:why|because|what|how|that|me to)\b",
    r"to answer (?:your|you|op|the op)\b|in (?:response|answer|reply) to (?:you|op|the (?:above|comments?|posts?))\b",
    (
        r"\\?\^(?:\\?\^){0,9}(?=\s|this\b|that\b|\Z)|\+ ?1\b(?![.,]?\d| ?%)|second(?:ed|ing)\b"
        r"|i(?:['’]ll| will)? second (?:this|that|you|the above)\b"
    ),
    (
        r"so much this\b|this(?: right here)?[.!^ ]{0,9}\Z"
        r"|this is the (?:right|correct|only|real|best) (?:answer|comment|reply)\b"
    ),
    # Chinese: "reply", "the one above", "first!", "passing by", "the same", "as you".
    r"//@|回复|(?:同意|支持|回)?楼[上下]|(?:顶|沙发|路过|转发|板凳|同上|同问|同求)\W{0,9}\Z|(?:我)?(?:和|跟)(?:你|您)一样",
)
_HOLDS: Final = (
    # The poster, or somebody by handle.
    r"(?-i:\bOP)(?:['’]s)?\b|\bu/\w+",
    # What somebody wrote.
    (
        r"\b(?:like|as|what) (?:you|u|others?|someone|somebody|everyone|people|another (?:user|commenter|poster))"
        r"(?: else)?(?: (?:have|has|already|here|above|below)){0,3} (?:said|mentioned|pointed out|stated|noted|wrote)\b"
    ),
    r"\byou(?:['’]ve| have)? (?:said|wrote|mentioned|claimed|stated|posted|commented)\b",
    r"\b(?:comments?|posts?|posters?|commenters?|repl(?:y|ies)|answers?) (?:right )?(?:above|below)\b",
    r"\b(?:above|previous|other|top|earlier) (?:comments?|commenters?|posters?|repl(?:y|ies))\b",
    r"\b(?:this|that|the other|another) commenter\b|\bin reply to\b",
    r"\b(?:guy|person|user|commenter|poster) (?:right |just )?(?:above|below) me\b",
    (
        r"\bi (?:said|mentioned|wrote|posted|commented|explained|stated) in (?:my|the|an?)(?: \w{1,20})? "
        r"(?:comment|reply|post)\b"
    ),
    r"\bmy (?:other|previous|earlier|original) (?:comment|reply|answer)s?\b",
    r"\byour (?:posts?|comments?|question|repl(?:y|ies)|response|flair|username|post history|article|column|blog)\b",
    # An offer to write to one another.
    r"\b(?:pm|dm)(?:['’]?(?:ed|d|ing))? (?:me|you|u|sent)\b|\bmessage me\b|\bchance me\b",
    r"\b(?:sent|send|shoot) (?:you|me|u) a (?:pm|dm|message|chat)\b",
    # A question to the author.
    (
        rf"(?:\A|[.!?\n])[\s\"'“(*-]{{0,9}}(?:(?:{_BEFORE_QUESTION})\b[\s,:-]{{0,3}}){{0,2}}(?:{_QUESTION_TO_YOU})"
        r"[^.!?\n]{0,200}\?"
    ),
    # Chinese: "reply to @", "the poster", "the editor", "reposted", "what you said is right".
    r"回复\s{0,3}@|楼主|层主|小编|转发微博|(?<![a-z])lz(?![a-z])|你(?:上面|刚才)?(?:说|写)的(?:对|不对|很对|没错)",
)
_BEGINNINGS: Final = tuple(re.compile(rf"\W{{0,9}}(?:{pattern})", re.IGNORECASE) for pattern in _BEGINS)
_ADDRESSES: Final = tuple(re.compile(pattern, re.IGNORECASE) for pattern in _HOLDS)
_QUOTED: Final = re.compile(r'"[^"]*"|“[^“”]*”|«[^«»]*»|「[^「」]*」|『[^『』]*』')
_INTRODUCED: Final = re.compile(
    r"(?:[:：说]|\b(?:say|says|said|saying|like|write|writes|wrote|ask|asks|asked|tell|tells|told|answer|answers|answered|"
    r"reply|replies|replied|email|emails|emailed)(?: (?:him|her|it|them|me|us|something like))?,?)\s{0,3}\Z",
    re.IGNORECASE,
)
_QUOTE_LINE: Final = re.compile(r"(?m)^[ \t]{0,3}(?:>|&gt;)[> \t]*(?![.:;=_<>-])\S")
_EDIT: Final = re.compile(
    r"(?i)(?:\A|[\n.!?)*])[ \t]{0,9}[^\w\s]{0,3}(?:edit|update|eta|edited|updated)[ \t]?\d{0,2}[ \t]?(?:[:：=]|[-–—] )"
    r"|(?:\A|[\n。！？])\s{0,9}(?:编辑|更新)[:：]"
)
_TRACKBACK: Final = re.compile(
    r"(?i)\A\s*\[?(?:track|ping)back\b|\A\s*\[(?:…|\.\.\.|&#8230;)\]|\[(?:…|\.\.\.|&#8230;)\]\s*\Z"
    r"|» (?:blog archive|archive)\b|\A[^.!?\n«»]{3,150} [»|] [^.!?\n«»|]{3,60}\Z"
)
_GOING_ON: Final = (",", "，", "、", ";", "；")
_ASIDE: Final = ("(", "[", "（", "【", "［")
_MONTH: Final = (
    "jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|"
    "nov(?:ember)?|dec(?:ember)?"
)
_MONTHS: Final = re.compile(_MONTH, re.IGNORECASE)
_DAY: Final = re.compile(
    rf"\d{{1,2}}月\d{{1,2}}[日号]|\b(?:{_MONTH})\.? \d{{1,2}}(?:st|nd|rd|th)?\b(?!:)|"
    rf"\b\d{{1,2}}(?:st|nd|rd|th)? (?:{_MONTH})\b|\b\d{{4}}-\d\d-\d\d\b",
    re.IGNORECASE,
)
"""A day of a month in English or Chinese."""
_FIGURE: Final = re.compile(r"\d")
_CODE: Final = re.compile(r"[{}<>;=()\[\]|$#\\/&]")
_CODE_MARKS, _CODE_SHARE, _QUOTED_SHARE = 12, 0.1, 0.5
_SNIPPET: Final = 40
_BEFORE: Final = 40


def because(kind: str, detail: str) -> Note:
    """A reason to filter a comment out, which is counted by its kind.

    Args:
        kind: Its kind.
        detail: The words behind it.

    >>> reason = because(PROFANITY, "idiot")
    >>> str(reason), reason.code
    ('profanity or an insult: idiot', 'profanity or an insult')
    """
    return Note(kind, "{kind}: {detail}", kind=kind, detail=detail)


def _replies(text: str, flags: int) -> str | None:
    if flags & REPLY:
        return "a reply to another comment"
    found = next(filter(None, (pattern.match(text) for pattern in _BEGINNINGS)), None)
    found = found or next(filter(None, (pattern.search(text) for pattern in _ADDRESSES)), None)
    return because("speaks to somebody", f"'{_snippet(found[0])}'") if found else None


def _quotations(text: str, flags: int) -> str | None:
    if flags & QUOTATION or _QUOTE_LINE.search(text):
        return "quotes another text"
    # What somebody says in a story, or could write in an e-mail, is the comment's own.
    others = (
        found
        for found in _QUOTED.finditer(text)
        if not _INTRODUCED.search(text, max(0, found.start() - _BEFORE), found.start())
    )
    if sum(len(found[0]) for found in others) > _QUOTED_SHARE * len(text.strip()):
        return "mostly in quotation marks"
    return None


def _edits(text: str, _: int) -> str | None:
    found = _EDIT.search(text)
    return because("a note of an edit", f"'{_snippet(found[0])}'") if found else None


def _trackbacks(text: str, _: int) -> str | None:
    return "a trackback" if _TRACKBACK.search(text) else None


def _code(text: str, _: int) -> str | None:
    marks = sum(1 for _ in _CODE.finditer(text))
    return "code" if marks >= _CODE_MARKS and marks > _CODE_SHARE * len(text) else None


def _profanity(text: str, _: int) -> str | None:
    found = find_profanity(text)
    return because(PROFANITY, found) if found else None


def _addresses(text: str, _: int) -> str | None:
    found = next(kinds_of_address(text), None)
    return f"holds {found}" if found else None


def _unfinished(text: str, _: int) -> str | None:
    said = text.strip()
    if said.endswith(_GOING_ON):
        return because("unfinished", f"ends with '{said[-1]}'")
    return because("unfinished", f"begins with '{said[0]}'") if said.startswith(_ASIDE) else None


def stale_figures(text: str, article: str) -> str | None:
    """The reason not to suggest a comment with figures of a day that the article does not name; None if it has none.

    Args:
        text: The comment.
        article: Title and content of the article to comment on.

    >>> str(stale_figures("截至3月12日24时，新增病例38例", "今天新增病例12例"))
    "figures of another day: '3月12日'"
    >>> stale_figures("It was 38 on March 12", "On March 12 there were 38."), stale_figures("On March 12 it rained", "")
    (None, None)
    """
    days = list(_DAY.finditer(text))
    left = _DAY.sub(" ", text) if days else ""
    if not _FIGURE.search(left):
        return None
    known = {_day(found[0]) for found in _DAY.finditer(article)}
    other = next((found[0] for found in days if _day(found[0]) not in known), None)
    return None if other is None else because("figures of another day", f"'{other}'")


def _day(said: str) -> tuple[str, ...]:
    """A day in the form in which two ways to write it are equal."""
    month = _MONTHS.search(said)
    return ("" if month is None else month[0][:3].lower(), *re.findall(r"\d+", said))


SCREENS: Final[Mapping[str, Callable[[str, int], str | None]]] = MappingProxyType(
    {
        "replies": _replies,
        "quotations": _quotations,
        "edits": _edits,
        "trackbacks": _trackbacks,
        "code": _code,
        "profanity": _profanity,
        "addresses": _addresses,
        "unfinished": _unfinished,
    }
)
"""Screens by name; each gives the reason to filter out a text with its flags (`REPLY`, `QUOTATION`), or None."""


FIGURES: Final = "figures"
"""Name of `stale_figures`, a screen that reads the article besides."""
ALLOWED: Final = (*SCREENS, FIGURES)
"""Kinds of comments that may be allowed, by name."""


def check_screens(names: Collection[str]) -> None:
    """Check names of screens.

    Args:
        names: Names of `ALLOWED`, or ``all``.

    Raises:
        UnknownName: There is no such screen.
    """
    for name in names:
        if name != "all" and name not in ALLOWED:
            raise UnknownName("kind of comments to allow", name, (*ALLOWED, "all"))


def screen(text: str, flags: int = 0, *, allow: Collection[str] = ()) -> Iterator[str]:
    """Find the reasons not to suggest a comment.

    Args:
        text: The comment, without mark-up; see `postil.documents.markup.plain_text`.
        flags: Its bits `REPLY` and `QUOTATION`.
        allow: Names of `SCREENS` that are not applied, or ``all``.

    Yields:
        The reasons, in the order of `SCREENS`.

    >>> [*map(str, screen("Thanks for the answer, you idiot!"))]
    ["speaks to somebody: 'Thanks for the answer'", 'profanity or an insult: idiot']
    >>> list(screen("Edit: it rains", allow=["edits"])), list(screen("Bring a coat."))
    ([], [])
    """
    if "all" not in allow:
        for name, find in SCREENS.items():
            if name not in allow and (reason := find(text, flags)):
                yield reason


def _snippet(text: str) -> str:
    words = " ".join(text.split()).strip(".!?()*,'\"“ ")
    return words if len(words) <= _SNIPPET else f"{words[: _SNIPPET - 1]}…"


ProfanityFilter: TypeAlias = Literal["list", "model"]
_PROFANE: Final = 0.5
_BATCH: Final = 64
"""Number of texts that are scored together: little more than one alone takes."""


def check_profanity_model() -> None:
    """Check that the model is installed, without importing it.

    Raises:
        MissingExtra: It is not.
    """
    if find_spec("profanity_check") is None:
        raise MissingExtra("the profanity model", "profanity")


class ProfanityModel:
    """Profanity of the candidates for one article; those ahead are scored together with the one that is asked for.

    Args:
        texts: The candidates.
        order: Their positions, in the order in which most of them are asked for.
    """

    def __init__(self, texts: Sequence[str], order: Sequence[int]) -> None:
        self._texts, self._order = texts, order
        self._known: dict[int, float] = {}

    def reason(self, rank: int) -> str | None:
        """Reason to filter a candidate out, or None.

        Args:
            rank: Its index in the order.

        Raises:
            MissingExtra: The model is not installed.
        """
        position = self._order[rank]
        if position not in self._known:
            ahead = self._order[rank : rank + _BATCH]
            self._known.update(zip(ahead, _probabilities(self._texts[one] for one in ahead), strict=True))
        probability = self._known[position]
        if probability < _PROFANE:
            return None
        shown = f"{probability:.2f}".removeprefix("0")
        return Note(PROFANITY, "{kind} (probability {probability})", kind=PROFANITY, probability=shown)


def _probabilities(texts: Iterable[str]) -> list[float]:
    with needs("the profanity model", "profanity"):
        from profanity_check import predict_prob  # noqa: PLC0415 - it reads pickles
    return [float(one) for one in predict_prob(list(texts))]
