r"""Escaping of user text for terminals, Markdown, LaTeX and spreadsheets.

All that is printed, and every table, goes through these functions, so that no name of a system, title, file or comment
is taken for a command there. Letters of all scripts stay as they are, and so do joined emoji.
"""

from __future__ import annotations

import csv
import re
from typing import TYPE_CHECKING, Final, TextIO
from unicodedata import combining, east_asian_width

if TYPE_CHECKING:
    import _csv
    from collections.abc import Iterable

__all__ = [
    "apostrophed",
    "csv_writer",
    "display_width",
    "latex_line",
    "latex_text",
    "markdown_cell",
    "one_line",
    "printed",
    "visible",
    "without_apostrophe",
]

_UNSEEN: Final = re.compile(
    "[\0-\x08\x0b-\x1f\x7f-\x9f"  # control characters of ASCII and of Latin-1, less tab and line feed
    "\u061c\u200e\u200f\u2028-\u202e\u2066-\u206f"  # what breaks a line, or turns the letters after it round
    "\u180e\u200b\u2060-\u2065\ufeff\ufff9-\ufffb\U000e0000-\U000e0fff"  # what nobody sees
    "\ud800-\udfff]"  # halves of surrogate pairs, such as Python reads from file names that are not UTF-8
)
_GAPS: Final = re.compile("[\t\n\r\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]")

_MARKDOWN: Final = re.compile(r"[\\|`]|<(?=[A-Za-z/!?])|&(?=#?[0-9A-Za-z]+;)|\](?=\()")
_ENTITIES: Final = {"<": "&lt;", "&": "&amp;"}

_LATEX: Final = str.maketrans(
    {c: f"\\{c}" for c in "&%$#_{}"}
    | {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    | {"<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}", "`": r"\textasciigrave{}"}
    | {"−": "$-$", "–": "--", "’": "'", "×": r"$\times$", "†": r"$\dagger$", "↓": r"$\downarrow$"}
    | {'"': r"\char34{}"}  # a command of its own in German and other languages
)

_FORMULA: Final = re.compile(  # after blanks, seen or not: a sign that begins a formula, or a break
    "'*(?![+-]?(?:[0-9]++(?:\\.[0-9]*+)?|\\.[0-9]++)(?:[eE][+-]?[0-9]++)?\\Z)"
    "[\\s\0-\x1f\x7f-\x9f\xad\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]*"
    "[=+\\-@\t\r\n＝＋－＠﹦﹢﹣﹫]"
)


def visible(text: str) -> str:
    r"""Escape characters that control a terminal or are invisible; tabs and line feeds stay.

    Args:
        text: Any text.

    >>> print(visible("red\x1b[31m, file\u202egpj.exe"))
    red\x1b[31m, file\u202egpj.exe
    """
    return text if text.isprintable() else _UNSEEN.sub(_escape, text)


def printed(value: float, digits: int = 2, *, sign: bool = False) -> str:
    """A number as tables of correlations have it: without the 0 before the point; a huge one with an exponent.

    Args:
        value: The number.
        digits: Number of decimals.
        sign: True for a plus sign before what is above 0.

    >>> printed(0.5), printed(-0.1234, 3), printed(0.031, 3, sign=True), printed(1.0), printed(-0.0001), printed(2e9)
    ('.50', '−.123', '+.031', '1.00', '.00', '2e+09')
    """
    text = f"{value:{'+' if sign else ''}{f'.{digits}f' if abs(value) < 1e6 else '.3g'}}"
    if float(text) == 0:
        text = text.lstrip("+-")
    return re.sub(r"^([+-]?)0\.", r"\1.", text).replace("-", "−")


def one_line(text: str) -> str:
    r"""Escape a text and put it on one line: white space of any kind becomes spaces.

    Args:
        text: Any text.

    >>> print(one_line("two\nlines\x07"))
    two lines\x07
    """
    return text if text.isprintable() else visible(_GAPS.sub(" ", text))


def display_width(text: str) -> int:
    """Number of columns that a text takes on a terminal; wide characters take two.

    Args:
        text: The text.

    >>> display_width("rain"), display_width("雨"), display_width("e\u0301")
    (4, 2, 1)
    """
    if text.isascii():
        return len(text)
    text = text.replace("\u200c", "").replace("\u200d", "")  # joiners
    return sum(0 if combining(character) else 2 if east_asian_width(character) in "WF" else 1 for character in text)


def markdown_cell(text: str) -> str:
    r"""Escape a cell of a Markdown table, so that it has no cell end, HTML, code or link.

    Args:
        text: Its content.

    >>> print(markdown_cell("a|<b>"))
    a\|&lt;b>
    """
    return _MARKDOWN.sub(_in_markdown, one_line(text))


def latex_text(text: str) -> str:
    r"""Escape a text for LaTeX.

    Args:
        text: Any text; white space of any kind becomes spaces.

    >>> print(latex_text("50 % of a_b"))
    50 \% of a\_b
    """
    return one_line(text).translate(_LATEX)


def latex_line(cells: Iterable[str]) -> str:
    r"""A row of a table in LaTeX, of cells that are LaTeX.

    Args:
        cells: The cells.

    >>> print(latex_line([r"\textbf{a}", "1"]))
    \textbf{a} & 1 \\
    """
    row = " & ".join(cells) + r" \\"
    return "{}" * row.lstrip().startswith(("[", "*")) + row  # else they were arguments of the command before


def apostrophed(text: str) -> str:
    """Put an apostrophe before a text that a spreadsheet would run; a plain number stays a number.

    A text whose own apostrophes stand before such a formula gets one more, so that `without_apostrophe` always gives
    the text back.

    Args:
        text: The content of a cell.

    >>> apostrophed("=1+1"), apostrophed("'=1+1"), apostrophed("-0.5"), apostrophed("'tis")
    ("'=1+1", "''=1+1", '-0.5', "'tis")
    """
    return f"'{text}" if not text[:1].isalnum() and _FORMULA.match(text) else text  # letters are quick to tell


def without_apostrophe(text: str) -> str:
    """Undo `apostrophed`.

    Args:
        text: A text from `apostrophed`.

    >>> without_apostrophe("'=1+1"), without_apostrophe("'tis")
    ('=1+1', "'tis")
    """
    return text[1:] if text.startswith("'") and _FORMULA.match(text) else text


def csv_writer(out: TextIO) -> _csv.Writer:
    r"""Writer of CSV whose rows end in LF, and whose cells with a line break of either kind are quoted.

    Args:
        out: The text file, which translates no line ends.

    >>> import io
    >>> _ = csv_writer(out := io.StringIO(newline="")).writerow(["a\rb", 1])
    >>> out.getvalue()
    '"a\rb",1\n'
    """
    return csv.writer(_LineFeeds(out), lineterminator="\r\n")


class _LineFeeds:
    """Turns CR LF at the end of a row into LF; a writer of rows that end in both quotes cells with either."""

    def __init__(self, out: TextIO) -> None:
        self._out = out

    def write(self, row: str) -> int:
        return self._out.write(row[:-2] + "\n")


def _escape(match: re.Match[str]) -> str:
    return match[0].encode("unicode_escape").decode()


def _in_markdown(match: re.Match[str]) -> str:
    return _ENTITIES.get(match[0], f"\\{match[0]}")
