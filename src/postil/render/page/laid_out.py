"""Results that are rows and little else, laid out as the tables of a study."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import msgspec

from postil.errors import InvalidInput
from postil.records.results import Result, StudyResult

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    Row = Mapping[str, Any]

__all__ = ["laid_out"]

TITLES: Final = {
    "statistics": "A corpus in numbers",
    "commenters": "Commenters against readers",
    "evaluation": "How well a commenter finds comments",
    "training": "A training",
    "agreement": "Agreement of the annotators",
    "interesting": "Interesting passages",
    "suggestions": "Suggested comments",
    "ranked-comments": "Comments in order",
}
"""The kinds, and what a page calls them."""

INTERVAL: Final = ("low", "high")


def laid_out(result: Result) -> StudyResult:
    """A result as a study: a table for each of its lists of rows, and the rest as settings.

    Args:
        result: The result.

    Raises:
        InvalidInput: It holds no rows.
    """
    value: Row = result.to_dict()
    kind = str(value.get("kind", "agreement"))
    try:
        tables = [table for name, rows in _lists(kind, value) if rows for table in [_table(name, rows)] if table]
    except (KeyError, TypeError, AttributeError) as error:
        missing = f"no field {error}" if isinstance(error, KeyError) else "fields of another kind"
        raise InvalidInput(f"not what postil prints of kind '{kind}': {missing}") from None
    if not tables:
        raise InvalidInput(f"expected rows, got none of kind '{kind}'")
    said = value.get("remarks", value.get("notes", ()))
    part = {"key": kind, "title": "Numbers", "words": [str(line) for line in said], "tables": tables}
    made = {
        "kind": "study",
        "title": TITLES.get(kind, kind.capitalize()),
        "parts": [part],
        "settings": [[name, str(each)] for name, each in _settings(value) if each is not None],
    }
    return msgspec.convert(made, StudyResult)


def _lists(kind: str, value: Row) -> Iterator[tuple[str, Sequence[Row]]]:
    """The lists of rows in a result, each with a name."""
    if kind == "statistics":
        yield from _statistics(value["statistics"]["splits"])
    elif kind == "commenters":
        yield "scores", list(_by_system(value["scores"]))
        yield "suggestions", value["suggestions"]
    elif kind == "agreement":
        found = value["agreement"] or {}
        yield "statistics", [{"statistic": name, **each} for name, each in found.get("estimates", {}).items()]
        yield "pairs", found.get("pairs", ())
        yield "annotators", found.get("raters", ())
    elif kind == "suggestions":
        yield (
            kind,
            [
                {
                    "article": row["article"],
                    **{name: each[name] for name in ("rank", "score", "text")},
                    "made": (each.get("provenance") or {}).get("label"),
                }
                for row in value["suggestions"]
                for each in row["suggestions"]
            ],
        )
    else:
        others = {"remarks", "absent"}
        yield from (
            (name, rows) for name, rows in value.items() if isinstance(rows, list | tuple) and name not in others
        )


def _statistics(splits: Mapping[str, Row]) -> Iterator[tuple[str, Sequence[Row]]]:
    """A row a number, a column a split."""
    flat = {split: dict(_flat(of)) for split, of in splits.items()}
    names = dict.fromkeys(name for of in flat.values() for name in of)
    for title, chosen in (("numbers", False), ("categories", True)):
        yield (
            title,
            [
                {"": name.removeprefix("categories, "), **{split: of.get(name) for split, of in flat.items()}}
                for name in names
                if name.startswith("categories, ") == chosen
            ],
        )


def _flat(of: Row) -> Iterator[tuple[str, Any]]:
    for name, value in of.items():
        words = name.replace("_", " ")
        if isinstance(value, dict):
            yield from ((f"{words}, {part}", number) for part, number in value.items())
        else:
            yield words, value


def _by_system(scores: Sequence[Row]) -> Iterator[Row]:
    for system in dict.fromkeys(row["system"] for row in scores):
        yield {"commenter": system, **{row["metric"]: row["score"] for row in scores if row["system"] == system}}


def _table(name: str, rows: Sequence[Row]) -> dict[str, Any] | None:
    """A table of rows; the first field names them, an interval joins its value, and what is no cell is left out."""
    fields = list(dict.fromkeys(key for row in rows for key in row))
    joined = set(INTERVAL) if {"value", *INTERVAL} <= set(fields) else set()
    first, *rest = [key for key in fields if key not in joined and all(_is_cell(row.get(key)) for row in rows)]
    if not rest:
        return None
    return {
        "key": name,
        "caption": name,
        "head": [_called(key) for key in (first, *rest)],
        "rows": [
            {"name": _text(row.get(first)), "cells": [_cell(row, key, joined=bool(joined)) for key in rest]}
            for row in rows
        ],
    }


def _is_cell(value: object) -> bool:
    return value is None or isinstance(value, str | int | float)


def _cell(row: Row, key: str, *, joined: bool) -> Any:
    value = row.get(key)
    if isinstance(value, bool):
        return "yes" if value else ""
    if key == "value" and joined and value is not None:
        return [value, *(row.get(end) for end in INTERVAL)]
    return value


def _text(value: object) -> str:
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)


def _called(key: str) -> str:
    return key.replace("_", " ")


def _settings(value: Row) -> Iterator[tuple[str, Any]]:
    """The scalars of a result, those of its settings too."""
    for name, each in {**value, **(value.get("settings") or {})}.items():
        if name not in {"schema", "kind", "name"} and isinstance(each, str | int | float):
            yield _called(name), each
