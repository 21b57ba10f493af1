"""Text of the pages of a PDF with its positions: operators of a content stream that show text, and their fonts.

pypdf opens the file, decrypts and decompresses streams, and knows the characters of fonts (``Font``, which its own
extraction of text uses and its documentation does not list, so the extra names one major version of pypdf). That
extraction takes as long as all else that happens to a page; this one passes drawing operators over with one regular
expression, keeps fonts over the pages, and stops at limits of its own.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, replace
from math import isfinite
from typing import TYPE_CHECKING, Final, TypeAlias

from pypdf._codecs.adobe_glyphs import adobe_glyphs
from pypdf.errors import LimitReachedError
from pypdf.generic import DictionaryObject, NameObject, PdfObject, StreamObject
from pypdf.generic._font import Font

from postil.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from pypdf import PageObject

__all__ = [
    "ACCENTS",
    "RULE",
    "UNREADABLE",
    "ContentReader",
    "PdfFont",
    "Run",
    "State",
    "accented",
    "number_of",
    "operations",
    "read_font",
    "times",
    "turned",
]

UNREADABLE: Final = "\ufffd"
"""Stands for a character that the file does not name."""
FIXED_PITCH: Final = 1
KEPT: Final = 20_000
"""Largest number of strings whose characters are kept."""
LEAST_GAP: Final = 0.1
WIDEST_GAP: Final = 0.14
"""Bounds of the least width of a space between words, as a share of the size; lines of narrow fonts can have .16."""

_BOLD: Final = re.compile(r"bold|black|heavy|(?<![a-z])cmbx|semibold|demi(?!sans)", re.IGNORECASE)
_MONO: Final = re.compile(r"mono|courier|consol|cmtt|typewriter|fixed|menlo|inconsolata", re.IGNORECASE)
SIGNS: Final = {
    0xA0: " ",
    0x2002: " ",
    0x2003: " ",
    0x2009: " ",
    0x202F: " ",
    0x200B: "",
    0xFEFF: "",
    0x2010: "-",
    0x2011: "-",
    0x88: "•",
    **dict.fromkeys((*range(9), *range(11, 13), *range(14, 32), 0x7F), ""),
    **dict.fromkeys((9, 10, 13), " "),
    **dict(zip(range(0xFB00, 0xFB07), ("ff", "fi", "fl", "ffi", "ffl", "st", "st"), strict=True)),
}
"""Ligatures and other characters that are written as others in plain text."""
ACCENTS: Final = dict(
    zip("`´ˆ˜¯˘˙¨˚˝ˇ¸˛", "\u0300\u0301\u0302\u0303\u0304\u0306\u0307\u0308\u030a\u030b\u030c\u0327\u0328", strict=True)
)
"""Accents that stand for themselves, and those of letters."""
_SPACING: Final = {f" {mark}": sign for sign, mark in ACCENTS.items()}
"""The same of accents without a letter."""
_DOTLESS: Final = {"ı": "i", "ȷ": "j"}

_PUT: Final = re.compile(rb"dup\s{1,9}(\d{1,3})\s{0,9}/([A-Za-z][A-Za-z0-9.]{0,40})\s{1,9}put")
_NUMBERED: Final = re.compile(r"/a(\d{1,3})")
_PROGRAM: Final = 1 << 15
"""Number of bytes of a font's program in which its encoding is looked for."""
_OT1: Final = {
    **dict(zip(range(11, 16), ("ff", "fi", "fl", "ffi", "ffl"), strict=True)),
    **dict(zip(range(16, 32), "ıȷ`´ˇ˘¯˚¸ßæœøÆŒØ", strict=True)),
    34: "”",
    39: "’",
    92: "“",
    96: "‘",
    123: "–",
    124: "—",
    125: "˝",
    126: "˜",
    127: "¨",
}
_T1: Final = {
    **dict(zip(range(16, 24), ("“", "”", "„", "«", "»", "–", "—", ""), strict=True)),
    **dict(zip(range(25, 32), ("ı", "ȷ", "ff", "fi", "fl", "ffi", "ffl"), strict=True)),
    39: "’",
    96: "‘",
    127: "-",
}
"""The encodings of TeX's fonts, where they differ from ASCII and Latin-1."""


class PdfFont:
    """A font.

    Args:
        font: Its encoding and widths as pypdf reads them; None if it cannot be read.
        unit: Width of a unit of its glyphs, for a font of size 1.
        signs: The characters of codes that its encoding does not name.
    """

    def __init__(self, font: Font | None, unit: float = 0.001, signs: Mapping[int, str] | None = None) -> None:
        self._font = font
        self._unit = unit
        self._signs = signs or {}
        self._known: dict[bytes, tuple[str, float, int, int]] = {}
        name = "" if font is None else font.name
        flags = 0 if font is None else _integer(font.font_descriptor.flags)
        self.bold = _BOLD.search(name) is not None
        self.mono = _MONO.search(name) is not None or bool(flags & FIXED_PITCH)
        if font is not None and not self.mono and isinstance(font.encoding, dict):
            widths = [width for code, width in font.character_widths.items() if code != "default" and width]
            self.mono = len(widths) > 9 and len(set(widths)) == 1
        self.space = _finite(250.0 if font is None else font.space_width) * self._unit
        """Width of its space, for a font of size 1."""
        self.gap = min(max(0.5 * self.space, LEAST_GAP), WIDEST_GAP)
        """Least width of a space between words, for a font of size 1."""

    def decode(self, string: bytes) -> tuple[str, float, int, int]:
        """The characters of a string, its width for a font of size 1, and the numbers of its codes and spaces.

        Args:
            string: The string.
        """
        if (known := self._known.get(string)) is not None:
            return known
        found = self._decoded(string)
        if len(self._known) < KEPT and len(string) < 256:
            self._known[string] = found
        return found

    def _decoded(self, string: bytes) -> tuple[str, float, int, int]:
        font = self._font
        if font is None or not font.interpretable:
            return UNREADABLE * len(string), 0.5 * len(string), len(string), 0
        if isinstance(font.encoding, str):
            codes = string.decode(font.encoding, "surrogatepass" if "utf-16" in font.encoding else "replace")
            characters = [font.character_map.get(code, code) for code in codes]
            if not font.character_map and font.encoding == "utf-16-be" and font.sub_type == "Type0":
                characters = [UNREADABLE] * len(codes)
        else:
            codes = string.decode("latin-1")
            named = font.encoding
            first = [named.get(code, chr(code)) for code in string]
            characters = [font.character_map.get(each, each) for each in first]
            if self._signs:
                characters = [self._signs.get(code, sign) for code, sign in zip(string, characters, strict=True)]
        widths, usual = font.character_widths, font.character_widths.get("default", 500)
        width = sum(_finite(widths.get(code, usual)) for code in codes) * self._unit
        text = "".join(map(str, characters))
        if not text.isascii():
            text = "".join(_SPACING.get(each, each) for each in map(str, characters))
        return _joined(text.translate(SIGNS)), width, len(codes), string.count(b" ")


def read_font(resource: object) -> PdfFont:
    """Read a font.

    Args:
        resource: The object that the file describes it by; without one its characters are unreadable.

    Raises:
        LimitReachedError: It is larger than fonts are.
    """
    try:
        resource = resource.get_object() if isinstance(resource, PdfObject) else resource
        if not isinstance(resource, DictionaryObject):
            return PdfFont(None)
        return PdfFont(Font.from_font_resource(resource), _unit(resource), _unnamed(resource))
    except LimitReachedError:
        raise
    except Exception:  # of damaged fonts pypdf raises whatever its code meets
        return PdfFont(None)


def _unit(resource: DictionaryObject) -> float:
    """Width of a unit of a font's glyphs: fonts of drawings (Type 3) have their own."""
    matrix = _entry(resource, "/FontMatrix") if resource.get("/Subtype") == "/Type3" else None
    unit = float(matrix[0]) if isinstance(matrix, list) and matrix else 0.001
    return unit if 1e-6 < unit < 1 else 0.001


def _unnamed(resource: DictionaryObject) -> dict[int, str]:
    """The characters of codes that only the font's own program names, or nothing but the habits of TeX."""
    if "/ToUnicode" in resource:
        return {}
    if resource.get("/Subtype") == "/Type3":
        names = _entry(_entry(resource, "/Encoding"), "/Differences")
        return tex_signs([name for name in names if isinstance(name, str)]) if isinstance(names, list) else {}
    program = _entry(_entry(resource, "/FontDescriptor"), "/FontFile")
    if "/Encoding" in resource or not isinstance(program, StreamObject):
        return {}
    # The beginning of the program of a Type 1 font, which is in clear, names the characters of codes.
    found = ((int(code), f"/{name.decode('ascii')}") for code, name in _PUT.findall(program.get_data()[:_PROGRAM]))
    return {code: adobe_glyphs[name] for code, name in found if name in adobe_glyphs}


def _entry(of: object, name: str) -> object:
    """An entry of a dictionary; None where there is none."""
    return of[name] if isinstance(of, DictionaryObject) and name in of else None


def _finite(width: object) -> float:
    """A width within bounds; 500 where the file gives none."""
    return max(-4000.0, min(4000.0, float(width))) if isinstance(width, int | float) and isfinite(width) else 500.0


def _integer(flags: object) -> int:
    return int(flags) if isinstance(flags, int | float) and isfinite(flags) else 0


def _joined(text: str) -> str:
    """Make halves of one character (surrogates) one; those without a partner are unreadable."""
    if text.isascii() or not any("\ud800" <= sign <= "\udfff" for sign in text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def accented(text: str, letters: str) -> str:
    """The characters of two strings that are drawn over each other: an accent at the end of one, and letters.

    Args:
        text: The first string; it ends in an accent.
        letters: The second.

    >>> accented("Torbj¨", "orn")
    'Torbjörn'
    """
    base = _DOTLESS.get(letters[0], letters[0])
    return text[:-1] + unicodedata.normalize("NFC", base + ACCENTS[text[-1]]) + letters[1:]


def tex_signs(names: Sequence[str]) -> dict[int, str]:
    """The characters of a font of drawings that names them by their numbers alone, as TeX's are.

    Args:
        names: Its names.
    """
    codes = {int(found[1]) for name in names if (found := _NUMBERED.fullmatch(name))}
    if len(codes) < len(set(names) - {"/.notdef"}):
        return {}
    newer = codes & {16, 17, 21, 22, 27, 28, 29, 30, 31} and not codes & {11, 12, 13, 14, 15, 123, 124}
    return {code: sign for code, sign in (_T1 if newer else _OT1).items() if code in codes}


Operand: TypeAlias = float | bytes | list[float | bytes]
"""A number, a string or a name, or an array of numbers and strings."""
MOST_OPERANDS: Final = 64
RULE: Final = b"rule"
"""Stands for the operators that draw one line that is level: its left end, height, width and thickness."""
LONGEST_RULE: Final = 80
"""Number of bytes of the operators of one line."""

_NUMBER: Final = rb"[-+]?(?:\d+\.?\d*|\.\d+)"
_STRING: Final = rb"\((?:[^()\\]++|\\.|\((?:[^()\\]++|\\.|\((?:[^()\\]++|\\.)*+\))*+\))*+\)"
# Operators that draw, with their operands, are skipped in one step.
_DRAWING: Final = (
    rb"(?:(?:[-+.\d]++[\s\0]++){0,6}+(?:[lcvyhnwMiSsFfBbWgGkKjJ]|m|re|rg|RG|[fBbW]\*)(?=[\s\0]))(?:[\s\0]++(?:[-+.\d]++"
    rb"[\s\0]++){0,6}+(?:[lcvyhnwMiSsFfBbWgGkKjJ]|m|re|rg|RG|[fBbW]\*)(?=[\s\0]))*+"
)
_RULE: Final = re.compile(
    rb"(?:[-+.\d\s]*[wJj]\s)*+\s*(?:" + rb"\s+".join([rb"([-+]?[\d.]+)"] * 4) + rb"\s+re\s+f"
    rb"|"
    + rb"\s+".join([rb"([-+]?[\d.]+)"] * 2)
    + rb"\s+m\s+"
    + rb"\s+".join([rb"([-+]?[\d.]+)"] * 2)
    + rb"\s+l\s+S)\s*"
)
_TOKEN: Final = re.compile(
    rb"[\s\0]*+(?:"
    rb"(?P<drawing>" + _DRAWING + rb")"
    rb"|(?P<number>" + _NUMBER + rb")"
    rb"|(?P<array>\[(?:[^\[\]()%]++|" + _STRING + rb")*+\])"
    rb"|(?P<operator>[A-Za-z'\"][A-Za-z0-9*]*+)"
    rb"|(?P<name>/[^\s\0()<>\[\]{}/%]*+)"
    rb"|(?P<string>" + _STRING + rb")"
    rb"|(?P<hex><[0-9A-Fa-f\s]*+>)"
    rb"|(?P<comment>%[^\r\n]*+)"
    rb"|(?P<open>\()"
    rb"|(?P<other><<|>>|.))",
    re.DOTALL,
)
_ELEMENT: Final = re.compile(rb"(" + _NUMBER + rb")|(" + _STRING + rb")|(<[0-9A-Fa-f\s]*+>)", re.DOTALL)
_ESCAPE: Final = re.compile(rb"\\([0-7]{1,3}|\r\n|.)|\r\n?", re.DOTALL)
_ESCAPED: Final = {
    **dict(zip((b"n", b"r", b"t", b"b", b"f"), (b"\n", b"\r", b"\t", b"\b", b"\f"), strict=True)),
    **dict.fromkeys((b"\r", b"\n", b"\r\n"), b""),
}
_PARENTHESIS: Final = re.compile(rb"\\.|[()]", re.DOTALL)
_INLINE_END: Final = re.compile(rb"[\s\0]EI(?=[\s\0]|$)")
_HEX: Final = re.compile(rb"[^0-9A-Fa-f]")


def operations(data: bytes) -> Iterator[tuple[bytes, list[Operand]]]:
    r"""The operations of a content stream.

    Each place of the stream is looked at a bounded number of times, whatever is in it.

    Args:
        data: The stream.

    Yields:
        An operator and its operands; names begin with a slash, strings are without their parentheses and escapes.

    >>> list(operations(rb"q 1 0 0 1 9 9 cm 5 5 m 9 9 l S BT /F1 12 Tf [(Du\143k) -250 <73>] TJ ET"))
    ... # doctest: +NORMALIZE_WHITESPACE
    [(b'q', []), (b'cm', [1.0, 0.0, 0.0, 1.0, 9.0, 9.0]), (b'BT', []), (b'Tf', [b'/F1', 12.0]),
     (b'TJ', [[b'Duck', -250.0, b's']]), (b'ET', [])]
    """
    operands: list[Operand] = []
    match, at, end = _TOKEN.match, 0, len(data)
    while at < end and (found := match(data, at)) is not None:
        at, kind = found.end(), found.lastgroup or ""
        if kind == "operator":
            if found[kind] == b"ID":
                closing = _INLINE_END.search(data, at)
                at = end if closing is None else closing.end()
            else:
                yield found[kind], operands
            operands = []
        elif kind == "drawing":
            if data[at - 1] in b"Sf" and at - found.start() < LONGEST_RULE and (rule := _rule(found[kind])) is not None:
                yield RULE, rule
        elif kind == "open":
            inside, at = _deep_string(data, at)
            operands.append(_unescaped(inside))
        elif kind in _READERS:
            operands.append(_READERS[kind](found[kind]))
        if len(operands) > MOST_OPERANDS:
            del operands[: MOST_OPERANDS // 2]


def _rule(drawing: bytes) -> list[Operand] | None:
    """The left end, height, width and thickness of a line that is level; None of any other drawing."""
    found = _RULE.fullmatch(drawing)
    if found is None:
        return None
    try:
        numbers = [float(number) for number in found.groups() if number is not None]
    except ValueError:
        return None
    if found[1] is None:
        x, y, right, end = numbers
        return [x, y, right - x, 0.0] if y == end else None
    return list[Operand](numbers)


def _elements(array: bytes) -> list[float | bytes]:
    """Strings and offsets of an array; anything else in it is skipped."""
    return [
        float(number) if number else _unescaped(string[1:-1]) if string else _from_hex(coded)
        for number, string, coded in _ELEMENT.findall(array)
    ]


def _unescaped(string: bytes) -> bytes:
    if b"\\" not in string and b"\r" not in string:
        return string
    return _ESCAPE.sub(_escaped, string)


def _escaped(found: re.Match[bytes]) -> bytes:
    sign = found[1]
    if sign is None:
        return b"\n"
    if sign[:1].isdigit():
        return bytes((int(sign, 8) & 255,)) if sign[0] < 56 else sign
    return _ESCAPED.get(sign, sign)


def _from_hex(coded: bytes) -> bytes:
    digits = _HEX.sub(b"", coded)
    return bytes.fromhex((digits + b"0" * (len(digits) % 2)).decode("ascii"))


def _deep_string(data: bytes, at: int) -> tuple[bytes, int]:
    """A string with parentheses deeper than the expression knows; of one without an end, all that is left."""
    depth, start = 1, at
    for found in _PARENTHESIS.finditer(data, at):
        if found[0] in b"()":
            depth += 1 if found[0] == b"(" else -1
        if not depth:
            return data[start : found.start()], found.end()
    return data[start:], len(data)


_READERS: Final[dict[str, Callable[[bytes], Operand]]] = {
    "number": float,
    "array": _elements,
    "name": bytes,
    "string": lambda string: _unescaped(string[1:-1]),
    "hex": _from_hex,
}


Matrix: TypeAlias = tuple[float, float, float, float, float, float]
IDENTITY: Final[Matrix] = (1.0, 0.0, 0.0, 1.0, 0.0, 0.0)


@dataclass(frozen=True, slots=True)
class State:
    """The state that ``q`` saves and ``Q`` restores.

    Args:
        matrix: From the units at hand to points of the page.
        font: The font.
        size: Its size.
        spacing: Extra width of each character.
        word_spacing: Extra width of each space.
        scale: Horizontal scale.
        leading: Distance of the next line.
        rise: Height above the baseline.
    """

    matrix: Matrix = IDENTITY
    font: PdfFont | None = None
    size: float = 0.0
    spacing: float = 0.0
    word_spacing: float = 0.0
    scale: float = 1.0
    leading: float = 0.0
    rise: float = 0.0


def number_of(operands: Sequence[Operand], at: int = -1) -> float:
    """An operand that is a number.

    Args:
        operands: The operands.
        at: Its place.

    Raises:
        TypeError: It is none.
        IndexError: There are fewer.
    """
    value = operands[at]
    if not isinstance(value, float):
        raise TypeError("expected a number")
    return value


def _matrix_of(operands: Sequence[Operand]) -> Matrix:
    """The last six operands as a matrix.

    Args:
        operands: The operands.

    Raises:
        TypeError: They are no numbers.
        IndexError: They are fewer.
    """
    a, b, c, d, e, f = (number_of(operands, at) for at in range(-6, 0))
    return a, b, c, d, e, f


def times(m: Matrix, n: Matrix) -> Matrix:
    """The product of two matrices: first `m`, then `n`.

    Args:
        m: The first.
        n: The second.
    """
    a, b, c, d, e, f = m
    p, q, r, s, t, u = n
    return a * p + b * r, a * q + b * s, c * p + d * r, c * q + d * s, e * p + f * r + t, e * q + f * s + u


def turned(a: float, b: float) -> int:
    """Quarter turns of a baseline, counterclockwise.

    Args:
        a: Its direction to the right.
        b: Its direction upwards.
    """
    if abs(a) >= abs(b):
        return 0 if a >= 0 else 2
    return 1 if b > 0 else 3


MOST_CONTENT: Final = 1 << 28
"""Largest number of bytes of content streams, each counted as often as it is drawn."""
MOST_OPERATORS: Final = 5_000_000
"""Largest number of operators that are not drawing; a page of text has about a thousand."""
MOST_TEXT: Final = 1 << 24
"""Largest number of characters of a document."""
DEEPEST: Final = 12
"""Deepest nesting of forms, which are pictures that contain text."""
BATCH: Final = 10_000
STACK: Final = 256
"""Largest number of saved states."""
BACK: Final = 0.2
"""Least step back over an accent to the letter under it, as a share of the size."""
APART: Final = 3
"""Largest number of characters that are set apart as words by the space between characters (as Ghostscript does)."""


@dataclass(slots=True, eq=False)
class Run:
    """Text in one font on one baseline, without a wide gap.

    Args:
        text: Its characters.
        x: Its left end in points, on a page that is turned so that its text is upright.
        right: Its right end.
        y: Height of its baseline above the bottom of the page.
        size: Size of the font.
        bold: True if the font is bold.
        mono: True if all its characters have one width.
        artifact: True if the file marks it as a page header, a page number or the like.
        turned: Quarter turns of the text against the page, counterclockwise.
    """

    text: str
    x: float
    right: float
    y: float
    size: float
    bold: bool
    mono: bool
    artifact: bool
    turned: int


class ContentReader:
    """Reader of the pages of one file.

    Args:
        source: Name of the file, for errors.
    """

    def __init__(self, source: str) -> None:
        self._source = source
        self._fonts: dict[object, PdfFont] = {}
        self._content = 0
        self._text = self._operators = 0

    def runs(self, page: PageObject) -> list[Run]:
        """The text of a page, in the order of its content stream.

        Args:
            page: The page.

        Raises:
            InvalidInput: The pages up to this one are longer than any text is.
        """
        contents = page.get_contents()
        if contents is None:
            return []
        turn = {90: (0, -1, 1, 0, 0, 0), 180: (-1, 0, 0, -1, 0, 0), 270: (0, 1, -1, 0, 0, 0)}.get(_rotation(page))
        sheet = _Sheet(self)
        matrix: Matrix = IDENTITY if turn is None else tuple(map(float, turn))  # type: ignore[assignment]
        sheet.draw(contents.get_data(), _dictionary(page.get("/Resources")), State(matrix), 0)
        self._text += sum(len(run.text) for run in sheet.runs)
        if self._text > MOST_TEXT:
            raise InvalidInput(f"expected at most {MOST_TEXT:,} characters of text, got more", where=self._source)
        return sheet.runs

    def work(self, operators: int) -> None:
        """Count operators that were carried out.

        Args:
            operators: Their number.

        Raises:
            InvalidInput: They are more than any document has.
        """
        self._operators += operators
        if self._operators > MOST_OPERATORS:
            problem = f"expected at most {MOST_OPERATORS:,} operators on its pages, got more"
            raise InvalidInput(problem, where=self._source)

    def count(self, data: bytes) -> None:
        """Count a content stream that is about to be read.

        Args:
            data: The stream.

        Raises:
            InvalidInput: All streams together are too large.
        """
        self._content += len(data) + 8192  # a form can be drawn again and again
        if self._content > MOST_CONTENT:
            problem = f"expected pages of at most {MOST_CONTENT >> 20} MiB when decompressed, got more"
            raise InvalidInput(problem, where=self._source)

    def font(self, fonts: DictionaryObject, name: str) -> PdfFont:
        """A font of a page.

        Args:
            fonts: The fonts of the page.
            name: Its name there.
        """
        reference = fonts.raw_get(name) if name in fonts else None
        key = (getattr(reference, "idnum", None), getattr(reference, "generation", None))
        if key[0] is None:
            return read_font(reference)
        if key not in self._fonts:
            self._fonts[key] = read_font(reference)
        return self._fonts[key]


class _Sheet:
    """A page while it is read."""

    def __init__(self, reader: ContentReader) -> None:
        self.runs: list[Run] = []
        self._reader = reader
        self._state = State()
        self._stack: list[State] = []
        self._text: Matrix = IDENTITY
        self._line: Matrix = IDENTITY
        self._marks: list[bool] = []
        self._artifacts = 0
        self._fonts = self._forms = DictionaryObject()
        self._depth = 0
        self._seen: set[tuple[int, int, str]] = set()
        self._spacing = 0.0

    def draw(self, data: bytes, resources: DictionaryObject, state: State, depth: int) -> None:
        """Read a content stream, that of the page or of a form in it."""
        self._reader.count(data)
        kept = self._fonts, self._forms, self._state, self._stack, self._depth
        self._fonts, self._forms = _dictionary(resources.get("/Font")), _dictionary(resources.get("/XObject"))
        self._state, self._stack, self._depth = state, [], depth
        count = 0
        for operator, operands in operations(data):
            count += 1
            if count == BATCH:
                self._reader.work(count)
                count = 0
            if (act := _OPERATORS.get(operator)) is not None:
                try:
                    act(self, operands)
                except (AssertionError, IndexError, TypeError, ValueError, OverflowError):
                    continue  # one whose operands are missing or of a wrong type has no effect
        self._reader.work(count)
        self._fonts, self._forms, self._state, self._stack, self._depth = kept

    def save(self, _: list[Operand]) -> None:
        if len(self._stack) < STACK:
            self._stack.append(self._state)

    def restore(self, _: list[Operand]) -> None:
        if self._stack:
            self._state = self._stack.pop()

    def transform(self, operands: list[Operand]) -> None:
        self._state = replace(self._state, matrix=times(_matrix_of(operands), self._state.matrix))

    def begin(self, _: list[Operand]) -> None:
        self._text = self._line = IDENTITY

    def set_font(self, operands: list[Operand]) -> None:
        name, size = operands[-2], number_of(operands)
        assert isinstance(name, bytes)  # noqa: S101 - operands of a wrong type are skipped
        font = self._reader.font(self._fonts, name.decode("latin-1"))
        self._state = replace(self._state, font=font, size=size)

    def set(self, field: str, operands: list[Operand], unit: float = 1) -> None:
        """Set a number of the state."""
        self._state = replace(self._state, **{field: number_of(operands) / unit})  # type: ignore[arg-type]

    def move(self, operands: list[Operand]) -> None:
        x, y = number_of(operands, -2), number_of(operands)
        a, b, c, d, e, f = self._line
        self._text = self._line = (a, b, c, d, x * a + y * c + e, x * b + y * d + f)

    def move_leading(self, operands: list[Operand]) -> None:
        self._state = replace(self._state, leading=-number_of(operands))
        self.move(operands)

    def set_matrix(self, operands: list[Operand]) -> None:
        self._text = self._line = _matrix_of(operands)

    def next_line(self, _: list[Operand]) -> None:
        self.move([0.0, -self._state.leading])

    def show(self, operands: list[Operand]) -> None:
        self.show_array([[operands[-1]]])  # type: ignore[list-item]

    def show_next(self, operands: list[Operand]) -> None:
        self.next_line([])
        self.show(operands)

    def show_spaced(self, operands: list[Operand]) -> None:
        self.set("word_spacing", operands[-3:-2])
        self.set("spacing", operands[-2:-1])
        self.show_next(operands)

    def show_array(self, operands: list[Operand]) -> None:
        """Show strings with offsets between them."""
        array, state = operands[-1], self._state
        font = state.font
        if font is None or not isinstance(array, list):
            return
        unit = state.size * state.scale
        pieces: list[str] = []
        x = start = gap = 0.0  # along the baseline, in units of the text
        least = font.gap * abs(state.size)
        apart = state.spacing > least and state.spacing != self._spacing and _is_short(array)
        closed = state.word_spacing < 0 and font.space * state.size + state.word_spacing + state.spacing < 0.5 * least
        self._spacing = state.spacing
        for element in array:
            if isinstance(element, float):
                x -= element / 1000 * unit
                gap -= element / 1000 * state.size
                continue
            text, width, count, spaces = font.decode(element)
            if gap > least and pieces:
                if gap > 0.9 * state.size:
                    self._emit("".join(pieces), start, x - gap * state.scale)
                    pieces, start = [], x
                else:
                    pieces.append(" ")
            elif pieces and gap < -BACK * state.size and text[:1].isalpha() and pieces[-1][-1:] in ACCENTS:
                text = accented(pieces.pop(), text)
            if not pieces:
                start = x
            gap = 0.0
            if closed:
                text = text.replace(" ", "")
            if apart:
                text, gap = " ".join(text), state.spacing
            pieces.append(text)
            x += width * unit + (state.spacing * count + state.word_spacing * spaces) * state.scale
        if pieces:
            self._emit("".join(pieces), start, x - gap * state.scale)
        a, b, c, d, e, f = self._text
        self._text = (a, b, c, d, x * a + e, x * b + f)

    def _emit(self, text: str, start: float, end: float) -> None:
        state = self._state
        font = state.font
        a, b, c, d, e, f = times(self._text, state.matrix)
        turns = turned(a, b)
        along = (a * a + b * b) ** 0.5
        size = abs(state.size) * abs(a * d - b * c) / (along or 1.0)
        left, base = start * a + state.rise * c + e, start * b + state.rise * d + f
        if turns == 1:
            left, base = base, -left
        elif turns == 2:
            left, base = -left, -base
        elif turns == 3:
            left, base = -base, left
        right = left + (end - start) * along
        if font is None or not size < 1e4 or not abs(left) + abs(base) + abs(right) < 1e7:
            return
        place = (int(left * 2), int(base * 2), text)
        if place in self._seen:  # drawn twice, which looks bold
            return
        self._seen.add(place)
        last = self.runs[-1] if self.runs else None
        if last is not None and last.text in ACCENTS and text[0].isalpha() and _is_over(last, left, base, size):
            text, left = accented(last.text, text), min(left, last.x)
            self.runs.pop()
            last = self.runs[-1] if self.runs else None
        if (
            last is not None
            and last.turned == turns
            and abs(last.y - base) < 0.08 * size
            and abs(last.size - size) < 0.1 * size
            and last.artifact == bool(self._artifacts)
            and (last.bold == font.bold or not any(map(str.isalnum, text)))
            and -0.4 * size < (gap := left - last.right) < 0.9 * size
        ):
            spaced = gap > font.gap * size and last.text[-1:] != " " and text[:1] != " "
            if gap < -BACK * size and text[0].isalpha() and last.text[-1] in ACCENTS:
                last.text = accented(last.text, text)
            else:
                last.text += " " + text if spaced else text
            last.right = max(right, last.right)
            last.mono &= font.mono
            last.bold &= font.bold or text.isspace()
        elif text.strip() and not all("\u0300" <= sign <= "\u036f" for sign in text):
            self.runs.append(Run(text, left, right, base, size, font.bold, font.mono, bool(self._artifacts), turns))

    def rule(self, operands: list[Operand]) -> None:
        """A short line after a word on its baseline is an underscore, which TeX draws."""
        x, y, width, height = (number_of(operands, at) for at in range(-4, 0))
        a, b, c, d, e, f = self._state.matrix
        last = self.runs[-1] if self.runs else None
        if last is None or last.turned or a <= 0 or b or c:
            return
        left, base, width, size = a * x + e, d * y + f, a * width, last.size
        if (
            0.2 * size < width < 0.62 * size
            and abs(d * height) < 0.1 * size
            and abs(left - last.right) < 0.12 * size
            and -0.25 * size < base - last.y < 0.08 * size
        ):
            last.text += "_"
            last.right = left + width

    def mark(self, operands: list[Operand]) -> None:
        artifact = bool(operands) and operands[0] == b"/Artifact"
        self._marks.append(artifact)
        self._artifacts += artifact

    def unmark(self, _: list[Operand]) -> None:
        if self._marks:
            self._artifacts -= self._marks.pop()

    def draw_form(self, operands: list[Operand]) -> None:
        name = operands[-1]
        if self._depth >= DEEPEST or not isinstance(name, bytes):
            return
        form = self._forms.get(name.decode("latin-1"))
        form = None if form is None else form.get_object()
        if not isinstance(form, StreamObject) or form.get("/Subtype") != "/Form":
            return
        matrix: Matrix = IDENTITY
        if (own := form.get("/Matrix")) is not None:
            matrix = _matrix_of([float(each) for each in own.get_object()])
        state = replace(self._state, matrix=times(matrix, self._state.matrix))
        kept = self._text, self._line
        if "/Resources" in form:
            resources = _dictionary(form["/Resources"])
        else:
            resources = DictionaryObject({NameObject("/Font"): self._fonts, NameObject("/XObject"): self._forms})
        self.draw(form.get_data(), resources, state, self._depth + 1)
        self._text, self._line = kept


_OPERATORS: Final[dict[bytes, Callable[[_Sheet, list[Operand]], None]]] = {
    b"q": _Sheet.save,
    b"Q": _Sheet.restore,
    b"cm": _Sheet.transform,
    b"BT": _Sheet.begin,
    b"Tf": _Sheet.set_font,
    b"Tc": lambda sheet, operands: sheet.set("spacing", operands),
    b"Tw": lambda sheet, operands: sheet.set("word_spacing", operands),
    b"Tz": lambda sheet, operands: sheet.set("scale", operands, 100),
    b"TL": lambda sheet, operands: sheet.set("leading", operands),
    b"Ts": lambda sheet, operands: sheet.set("rise", operands),
    b"Td": _Sheet.move,
    b"TD": _Sheet.move_leading,
    b"Tm": _Sheet.set_matrix,
    b"T*": _Sheet.next_line,
    b"Tj": _Sheet.show,
    b"TJ": _Sheet.show_array,
    b"'": _Sheet.show_next,
    b'"': _Sheet.show_spaced,
    b"BMC": _Sheet.mark,
    b"BDC": _Sheet.mark,
    b"EMC": _Sheet.unmark,
    b"Do": _Sheet.draw_form,
    RULE: _Sheet.rule,
}


def _is_short(array: list[float | bytes]) -> bool:
    """True of strings of at most three characters, which together have at least two."""
    lengths = [len(string) for string in array if isinstance(string, bytes)]
    return max(lengths, default=0) <= APART and sum(lengths) > 1


def _is_over(accent: Run, left: float, base: float, size: float) -> bool:
    """True of an accent that stands, raised, over the capital that begins here."""
    over = accent.x - 0.3 * size < left < accent.right - BACK * size
    return over and 0.08 * size <= accent.y - base < 0.4 * size


def _dictionary(value: object) -> DictionaryObject:
    """A dictionary that another one names, or an empty one."""
    value = value.get_object() if isinstance(value, PdfObject) else value
    return value if isinstance(value, DictionaryObject) else DictionaryObject()


def _rotation(page: PageObject) -> int:
    try:
        return int(page.rotation) % 360
    except (TypeError, ValueError, AttributeError):
        return 0
