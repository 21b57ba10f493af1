"""Tags of template languages and components in the source of a page: Liquid, Jinja, Hugo, Handlebars, ERB, MDX.

Tags are told by their brackets alone: a parser of Liquid, Jinja or MDX reads one language and refuses the others, and a
page does not say which it is in.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["TemplateLines", "holder_of", "is_template", "without_tags"]

_LONGEST: Final = 4_000
"""Largest number of characters of a tag; what goes on for longer is text."""
_MOST_TRIED: Final = 1_000_000
"""Largest number of characters that are read for the ends of components that have none."""
_NAME: Final = 64
_MOST_OF_TAG: Final = 40
"""Largest number of lines of a tag of a component."""
_MOST_DECLARED: Final = 100
"""Largest number of lines of imports and exports that are one block."""
_MOST_LINES: Final = 400
"""Largest number of lines of a comment or a block of code."""
_PAIRS: Final = (
    ("{{!--", "--}}"),
    ("{{/*", "*/}}"),
    ("{{</*", "*/>}}"),
    ("{{<", ">}}"),
    ("{{%", "%}}"),
    ("{{{", "}}}"),
    ("{{", "}}"),
    ("{%", "%}"),
    ("{#", "#}"),
    ("{/*", "*/}"),
    ("{:", "}"),
    ("<%", "%>"),
)
"""First and last characters of a tag, the longer ones before those that they begin with."""
_BEGIN: Final = re.compile(r"`+|\{\{|\{[%#:]|\{/\*|<%|</?[A-Z][\w.]*(?=[\s/>])|</?>|<(?:code|pre|kbd|samp)\b", re.ASCII)
_TAG_AT: Final = re.compile(r"\{\{|\{[%#:]|\{/\*|<%")
_CODE: Final = "highlight|codeblock|code|comment|schema|javascript|stylesheet|style|css|prism|mermaid"
_HOLDER: Final = re.compile(rf"\{{%-?\s*({_CODE})\b|\{{\{{[<%]\s*({_CODE})\b")
"""A tag that holds code or a comment, up to its end tag."""
_END_OF_HOLDER: Final = re.compile(
    rf"\{{%-?\s*end({_CODE})\b[^%]{{0,200}}%\}}|\{{\{{[<%]\s*/\s*({_CODE})\b[^%>]{{0,200}}[>%]\}}\}}"
)
_COMMENTS: Final = (("{{!--", "--}}"), ("{{/*", "*/}}"), ("{#", "#}"), ("{/*", "*/}"))
_IMPORT: Final = re.compile(
    r"import\s+(?:['\"]|[\w$*{][^'\";]{0,2000}\sfrom\s+['\"])[^'\"\n]{1,500}['\"];?[ \t]*(?:\n|\Z)"
)
_EXPORT: Final = re.compile(
    r"export\s+(?:[{*]|default\s+(?:(?:async\s+)?function\b|class\b|[({\['\"`]|[\w$.]++(?:[(;]|[ \t]*(?:=>|\n|\Z)))"
    r"|(?:const|let|var)\s+(?:[\w$]++\s*[=:;,]|[{\[])|(?:async\s+)?function\b[\s*]*+[\w$]++\s*[(<]"
    r"|class\s+[\w$]++(?:\s+extends\s+[\w$.]++)?\s*\{)"
)
_ATTRIBUTES: Final = re.compile(
    r"\{:(?:[ \t]*+(?:[\w:-]++=(?:\"[^\"\n]*+\"|'[^'\n]*+'|[^\s{}\"']++)|[.#]?[\w:-]++))*+[ \t]*+\}"
)
"""Attributes of a block, and not a tuple or a map of a programming language."""
_IN_SETS: Final = re.compile(r"[^{}]*+\}")
"""Text of braces that close before they open, as in a set of sets: it is not within a tag."""
_DIRECTIVE: Final = re.compile(r":{3,}.{0,200}")
_IN_MATHS: Final = re.compile(r"(?:[$^_{}]|\\[A-Za-z]{1,30})\Z")
_CLOSING: Final = ".,;:!?)]’”»。，；：！？"


def without_tags(text: str) -> str:
    """Take the tags out of a text; what is between backticks stays as it is.

    Args:
        text: The text, with its mark-up.

    >>> without_tags('Boats {% include "wait.html" %} wait in {{ site.town }}. Write `{{ name }}`.')
    'Boats wait in. Write `{{ name }}`.'
    """
    if "{" not in text and "<" not in text:
        return text
    kept, place = list[str](), 0
    for begin, end in _tags(text):
        before = text[place:begin]
        place = end
        if before[-1:].isspace() and (end == len(text) or text[end].isspace() or text[end] in _CLOSING):
            before = before.rstrip(" \t")
        kept.append(before)
    kept.append(text[place:])
    return "".join(kept)


def is_template(text: str) -> bool:
    """True if a text has tags, and no word beside them.

    Args:
        text: The text.

    >>> is_template("{% figure %} {% endfigure %}"), is_template("{{ town }} froze."), is_template("It froze.")
    (True, False, False)
    """
    if "{" not in text and "<" not in text:
        return False
    return _TAG_AT.search(text[:_LONGEST]) is not None and not any(map(str.isalnum, without_tags(text)))


class TemplateLines:
    """A search for lines of comments, of code between tags, of declarations of MDX, and of directives.

    >>> lines = ["{% comment %}", "", "It froze.", "", "{% endcomment %}", "It rained."]
    >>> search = TemplateLines()
    >>> search.number(lines.__getitem__, 0, 6), search.number(lines.__getitem__, 5, 6)
    (5, 0)
    """

    def __init__(self) -> None:
        self._without = dict[str, tuple[int, int]]()

    def number(self, line: Callable[[int], str], first: int, last: int) -> int:
        """The number of lines of what begins in a line; 0 where nothing does.

        Args:
            line: The text of a line by its number.
            first: Number of the line.
            last: Number after the last line.
        """
        begin = line(first)[:_LONGEST].lstrip()
        if begin.startswith(":::"):
            return int(_DIRECTIVE.fullmatch(begin) is not None)
        if begin.startswith(("import", "export")):
            return _declaration(line, first, last)
        if begin.startswith("<"):
            return _component(line, first, last)
        if (name := holder_of(begin)) is not None:
            return self._until(
                name, lambda text: name in _names(_END_OF_HOLDER.finditer(text[:_LONGEST])), line, first, last
            )
        closing = next((closing for opening, closing in _COMMENTS if begin.startswith(opening)), None)
        return 0 if closing is None else self._until(closing, lambda text: closing in text, line, first, last)

    def _until(self, name: str, ends: Callable[[str], bool], line: Callable[[int], str], first: int, last: int) -> int:
        """Number of lines up to the first that has an end; 0 if none has. No line is searched twice for it in vain."""
        begin, end = self._without.get(name, (0, 0))
        known = end if begin <= first < end else first
        for number in range(known, min(last, first + _MOST_LINES)):
            if ends(line(number)):
                return number + 1 - first
        self._without[name] = (min(begin, first) if begin <= first < end else first, min(last, first + _MOST_LINES))
        return 0


def holder_of(text: str) -> str | None:
    """The name of the tag that holds code or a comment which a text begins with; None if it begins with none.

    Args:
        text: The text.

    >>> holder_of("{% highlight ruby %}"), holder_of("{% include town.html %}")
    ('highlight', None)
    """
    found = _HOLDER.match(text)
    return None if found is None else found[1] or found[2]


def _component(line: Callable[[int], str], first: int, last: int) -> int:
    """Number of lines of a tag of a component; 0 if it ends in its first line, or within a line."""
    lines = list[str]()
    for number in range(first, min(last, first + _MOST_OF_TAG)):
        if not (text := line(number)).strip():
            break
        lines.append(text)
    whole = "\n".join(lines)
    found = _BEGIN.match(whole)
    end = 0 if found is None or not found[0].startswith("<") else _end_of_component(whole, found)
    return 0 if whole[end : end + 1].strip() else whole.count("\n", 0, end) + 1 if "\n" in whole[:end] else 0


def _declaration(line: Callable[[int], str], first: int, last: int) -> int:
    """Number of lines of imports and exports of MDX; an export goes up to a blank line outside of its brackets."""
    lines, depth, to_blank, exported = list[str](), 0, 0, False
    for number in range(first, min(last, first + _MOST_DECLARED)):
        text = line(number)
        if not text.strip():
            to_blank = to_blank or len(lines)
            if depth <= 0 or not exported:
                break
        exported |= text.startswith("export")
        depth += sum(map(text.count, "{[(")) - sum(map(text.count, "}])"))
        lines.append(text)
    whole, place = "\n".join(lines if depth <= 0 else lines[: to_blank or None]) + "\n", 0
    while (found := _IMPORT.match(whole, place)) is not None:
        place = found.end()
    return whole.count("\n", 0, len(whole) if _EXPORT.match(whole, place) else place)


def _tags(text: str) -> Iterator[tuple[int, int]]:
    """Bounds of the tags of a text outside of code, with what they hold where that is code or a comment."""
    runs: dict[int, list[int]] | None = None
    ends: dict[str, list[int]] | None = None
    closings: dict[str, int] = {}
    place = before = tried = 0
    while (found := _BEGIN.search(text, place)) is not None:
        begin, place = found.span()
        if found[0][0] == "`":
            runs = _runs(text) if runs is None else runs
            place = _after(runs[place - begin], begin, place)
        elif found[0][1:].islower():  # code of HTML
            place = _next(text, f"</{found[0][1:]}", place, closings) or place
        elif found[0][0] == "<" and found[0] != "<%":
            end = _end_of_component(text, found) if tried <= _MOST_TRIED else 0
            tried += 0 if end else _LONGEST
            if end:
                place = before = end
                yield begin, end
        elif end := _end_of_tag(text, begin, closings, follows=begin == before):
            if (name := holder_of(text[begin : begin + _NAME])) is not None:
                ends = _ends(text) if ends is None else ends
                following = bisect_right(ends[name], end)
                end = ends[name][following] if following < len(ends[name]) else end
            place = before = end
            yield begin, end


def _names(ends: Iterator[re.Match[str]]) -> set[str]:
    """Names of the tags that are ended."""
    return {end[1] or end[2] for end in ends}


def _ends(text: str) -> dict[str, list[int]]:
    """Places after the tags that end code and comments, by their names."""
    ends = defaultdict[str, list[int]](list)
    for end in _END_OF_HOLDER.finditer(text):
        ends[end[1] or end[2]].append(end.end())
    return ends


def _runs(text: str) -> dict[int, list[int]]:
    """Places of the runs of backticks, by their length."""
    runs = defaultdict[int, list[int]](list)
    for run in re.finditer("`+", text):
        runs[run.end() - run.start()].append(run.start())
    return runs


def _after(runs: list[int], begin: int, end: int) -> int:
    """The place after the code that a run of backticks begins; that after the run if no other one ends it."""
    following = bisect_right(runs, begin)
    return runs[following] + end - begin if following < len(runs) else end


def _next(text: str, closing: str, place: int, closings: dict[str, int]) -> int:
    """The next place of what closes a tag, where that is near; 0 if it is not. No part of a text is searched twice."""
    if closings.get(closing, 0) < place:
        found = text.find(closing, place)
        closings[closing] = len(text) + _LONGEST if found < 0 else found
    return closings[closing] if closings[closing] < place + _LONGEST else 0


def _end_of_tag(text: str, begin: int, closings: dict[str, int], *, follows: bool) -> int:
    """The place after the tag that begins at a place, which may follow another one; 0 if there is none."""
    opening, closing = next(pair for pair in _PAIRS if text.startswith(pair[0], begin))
    if not follows and opening in {"{{", "{{{", "{#"} and _IN_MATHS.search(text, max(0, begin - 32), begin):
        return 0
    found = _next(text, closing, begin + len(opening), closings)
    if not found or (opening == "{:" and not _ATTRIBUTES.fullmatch(text, begin, found + 1)):
        return 0
    inside = begin + len(opening)
    if opening in {"{{", "{{{"} and (found == inside or _IN_SETS.match(text, inside, found)):
        return 0
    return found + len(closing)


def _end_of_component(text: str, found: re.Match[str]) -> int:
    """The place after the tag of a component of JSX; 0 if it is another tag, or none."""
    name = found[0].lstrip("</")
    if name.isupper() and len(name) > 1:  # HTML in capitals
        return 0
    quote, depth = "", 0
    for place in range(found.end(), min(len(text), found.end() + _LONGEST)):
        sign = text[place]
        if quote:
            quote = "" if sign == quote else quote
        elif sign in "\"'`":
            quote = sign
        elif sign in "{}":
            depth += 1 if sign == "{" else -1
        elif sign == ">" and not depth:
            return place + 1
        elif sign == "<" and not depth:
            return 0
    return 0
