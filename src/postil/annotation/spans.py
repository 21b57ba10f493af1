"""Marks on a text, and the grade of a passage that several people marked."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from postil.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from postil.annotation.models import Span

__all__ = ["from_json", "from_utf16", "passage_grade", "share", "to_json", "union"]


def union(spans: Iterable[Span]) -> tuple[Span, ...]:
    """The parts that are in at least one span, in order and apart from one another.

    Args:
        spans: Begin and end of each; the end is not in it. Empty ones are passed over.

    >>> union([(4, 9), (0, 2), (8, 12), (2, 3)])
    ((0, 3), (4, 12))
    """
    found: list[Span] = []
    for start, end in sorted(span for span in spans if span[0] < span[1]):
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((start, end))
    return tuple(found)


def share(text: str, spans: Iterable[Span]) -> float:
    """The share of a text that is marked, from 0 to 1; white space counts neither as marked nor as text.

    Args:
        text: The text.
        spans: The marks.

    >>> share("ab cd", [(0, 2)])
    0.5
    """
    length = sum(not character.isspace() for character in text)
    marked = sum(not character.isspace() for start, end in union(spans) for character in text[start:end])
    return marked / length if length else 0.0


def passage_grade(text: str, marks: Sequence[Sequence[Span]]) -> float:
    """The grade of a passage that several people marked.

    It is the length of the union of all marks over the length of the passage, and 2 where at least two people marked it
    and each of them marked the whole: the labels of INEX Tweet Contextualization 2012, ``[0, 1]`` and 2. Lengths are
    counted in characters that are no white space.

    Args:
        text: The passage.
        marks: The marks of each person.

    >>> passage_grade("ab cd", [[(0, 2)], [(1, 4)]])
    0.75
    >>> passage_grade("ab cd", [[(0, 5)], [(0, 2), (3, 5)]])
    2.0
    """
    if len(marks) > 1 and all(share(text, of_one) == 1 for of_one in marks):
        return 2.0
    return share(text, [span for of_one in marks for span in of_one])


def from_utf16(text: str, spans: Iterable[Span]) -> tuple[Span, ...]:
    """Spans that count in UTF-16 units, as JavaScript does, as spans that count in characters.

    Args:
        text: The text.
        spans: Begin and end of each. A place inside a character is its end.

    >>> from_utf16("a😀b", [(1, 3), (3, 4)])
    ((1, 2), (2, 3))
    """
    places = [0]
    for place, character in enumerate(text, 1):
        places.extend([place] * (2 if ord(character) > 0xFFFF else 1))
    last = len(places) - 1
    return tuple((places[min(max(start, 0), last)], places[min(max(end, 0), last)]) for start, end in spans)


def to_json(spans: Sequence[Span]) -> str:
    """Spans as the database keeps them.

    Args:
        spans: Begin and end of each.
    """
    return msgspec.json.encode(spans).decode()


def from_json(text: str | None) -> tuple[Span, ...]:
    """Spans as the database keeps them; none where it keeps none.

    Args:
        text: What is kept.

    Raises:
        InvalidInput: It is something else.

    >>> from_json(to_json([(0, 2)])), from_json(None)
    (((0, 2),), ())
    """
    try:
        return () if text is None else msgspec.json.decode(text, type=tuple[tuple[int, int], ...])
    except msgspec.MsgspecError as error:
        raise InvalidInput(f"expected pairs of begin and end as JSON: {error}", field="event.spans") from None
