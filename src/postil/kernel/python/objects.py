"""Detection of repeated keys in JSON Lines, about which parsers are silent."""

from __future__ import annotations

import json

__all__ = ["plain_objects"]


def plain_objects(data: bytes) -> bool:
    r"""Return True if every line is one object and no object repeats a key.

    Args:
        data: Lines of JSON, in UTF-8.

    >>> plain_objects(b'{"a":1,"b":{"a":2}}\n'), plain_objects(b'{"a":1,"a":2}\n'), plain_objects(b"{}{}\n")
    (True, False, False)
    """
    lines = data.removesuffix(b"\n").split(b"\n") if data else []
    try:
        return all(isinstance(json.loads(line, object_pairs_hook=_once), dict) for line in lines)
    except (ValueError, RecursionError):
        return False


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key stands twice")
    return found
