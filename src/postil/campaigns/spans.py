"""Span annotations of a text, and the grade of a passage annotated by several people."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from postil.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from postil.campaigns.models import Span

__all__ = ["annotated_share", "from_json", "passage_grade", "to_json", "union"]


def union(spans: Iterable[Span]) -> tuple[Span, ...]:
    """Merge spans into sorted, disjoint ones that cover the same characters.

    Args:
        spans: Start and exclusive end of each; empty ones are ignored.

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


def annotated_share(text: str, spans: Iterable[Span]) -> float:
    """Compute the share of a text that is annotated, from 0 to 1; white space is not counted.

    Args:
        text: The text.
        spans: Span annotations.

    >>> annotated_share("ab cd", [(0, 2)])
    0.5
    """
    length = sum(not character.isspace() for character in text)
    marked = sum(not character.isspace() for start, end in union(spans) for character in text[start:end])
    return marked / length if length else 0.0


def passage_grade(text: str, spans: Sequence[Sequence[Span]]) -> float:
    """Compute the grade of a passage annotated by several people.

    It is the length of the union of all spans over the length of the passage, and 2 if at least two people annotated it
    and each of them the whole: the labels of INEX Tweet Contextualization 2012, ``[0, 1]`` and 2. Lengths are in
    characters, without white space.

    Args:
        text: The passage.
        spans: Span annotations of each person.

    >>> passage_grade("ab cd", [[(0, 2)], [(1, 4)]])
    0.75
    >>> passage_grade("ab cd", [[(0, 5)], [(0, 2), (3, 5)]])
    2.0
    """
    if len(spans) > 1 and all(annotated_share(text, of_one) == 1 for of_one in spans):
        return 2.0
    return annotated_share(text, [span for of_one in spans for span in of_one])


def to_json(spans: Sequence[Span]) -> str:
    """Encode spans for the database.

    Args:
        spans: Start and exclusive end of each.
    """
    return msgspec.json.encode(spans).decode()


def from_json(text: str | None) -> tuple[Span, ...]:
    """Decode spans from the database; none for NULL.

    Args:
        text: The stored text.

    Raises:
        InvalidInput: The text is no list of spans.

    >>> from_json(to_json([(0, 2)])), from_json(None)
    (((0, 2),), ())
    """
    try:
        return () if text is None else msgspec.json.decode(text, type=tuple[tuple[int, int], ...])
    except msgspec.MsgspecError as error:
        raise InvalidInput(f"expected pairs of start and end as JSON: {error}", field="event.spans") from None
