"""Operations of a PDF's content streams, less those that only draw."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["RULE", "Operand", "operations"]

Operand: TypeAlias = float | bytes | list[float | bytes]
"""A number, a string or a name, or an array of numbers and strings."""
MOST_OPERANDS: Final = 64
RULE: Final = b"rule"
"""Stands for the operators that draw one line that is level: its left end, height, width and thickness."""
LONGEST_RULE: Final = 80
"""Number of bytes of the operators of one line."""

_NUMBER: Final = rb"[-+]?(?:\d+\.?\d*|\.\d+)"
_STRING: Final = rb"\((?:[^()\\]++|\\.|\((?:[^()\\]++|\\.|\((?:[^()\\]++|\\.)*+\))*+\))*+\)"
# Operators that draw, with their operands, are passed over in one step.
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
    """Strings and offsets of an array; anything else in it is passed over."""
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
    depth = 1
    start = at
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
