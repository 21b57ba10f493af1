"""Fields of every type of row that files hold: what each refuses, and the words for it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from postil.data.impressions import Impression
from postil.data.labels import Label
from postil.data.preferences import PairPreference
from postil.data.row_files import read
from postil.data.rows import Article, Candidate, Judgement, Passage, Reference, Score
from postil.errors import InvalidInput

if TYPE_CHECKING:
    from pathlib import Path

Row = dict[str, Any]

ROWS: dict[type, tuple[Row, str, dict[str, str]]] = {
    Candidate: (
        {"item": "a", "system": "s", "text": "t"},
        "a candidate needs item, system, text",
        {"item": "id", "system": "id", "text": "text"},
    ),
    Reference: (
        {"item": "a", "text": "t"},
        "a reference needs item, text",
        {"item": "id", "text": "text", "grade": "number?", "weight": "number?", "upvotes": "integer?", "id": "id?"},
    ),
    Judgement: (
        {"item": "a", "system": "s", "annotator": "ann", "grade": 3},
        "a judgement needs item, system, annotator, grade",
        {"item": "id", "system": "id", "annotator": "id", "grade": "number", "aspect": "text?"},
    ),
    Score: (
        {"item": "a", "system": "s", "metric": "m", "score": 0.5},
        "a score needs item, system, metric, score",
        {"item": "id?", "system": "id", "metric": "text", "score": "number"},
    ),
    Passage: (
        {"topic": "t", "id": 1, "text": "t"},
        "a passage needs topic, id, text",
        {"topic": "id", "id": "id", "text": "text", "grade": "number?", "anchors": "texts?"},
    ),
    Article: (
        {"id": 1, "title": "t", "comments": []},
        "an article needs id, title, comments",
        {"id": "id", "title": "text", "category": "text?", "comments": "array"},
    ),
    Label: (
        {"article": "a", "text": "t", "show": True},
        "a label needs article, text, show",
        {"article": "id", "text": "text", "annotator": "id?"},
    ),
    Impression: (
        {"impression": 1, "article": "a", "models": ["a", "b"], "teams": [0, 1], "clicked": [2]},
        "an impression needs impression, article, models, teams, clicked",
        {"impression": "id", "article": "id", "clicked": "array"},
    ),
    PairPreference: (
        {"item": 1, "system_a": "x", "system_b": "y", "annotator": 7, "preference": "tie"},
        "a pair preference needs item, system_a, system_b, annotator, preference",
        {"item": "id", "system_a": "id", "system_b": "id", "annotator": "id"},
    ),
}
"""For each type a good row, what it needs, and of which kind its fields are; with ? they may be null or absent."""

ID = "expected text or an integer, got "
WRONG: dict[str, list[tuple[str, str]]] = {
    "id": [("null", f"{ID}null"), ('["i0"]', f"{ID}an array"), ("true", f"{ID}true"), ('"\\ud800"', f'{ID}"\\ud800"')],
    "text": [("null", "expected text, got null"), ("7", "expected text, got 7")],
    "number": [
        ("null", "expected a number, got null"),
        ('"3"', 'expected a number, got "3"; write it without quotes'),
        ('"good"', 'expected a number, got "good"'),
        ('""', 'expected a number, got ""'),
        ("true", "expected a number, got true"),
        ("[1, 2]", "expected a number, got an array"),
        ('{"a": 1}', "expected a number, got an object"),
        ("NaN", "NaN is not JSON; write null, or leave the field out"),
        ("Infinity", "Infinity is not JSON; write null, or leave the field out"),
        ("-Infinity", "-Infinity is not JSON; write null, or leave the field out"),
    ],
    "integer": [("0.5", "expected an integer"), ('"3"', "expected an integer"), ("true", "expected an integer")],
    "array": [('"duck"', "expected an array"), ("1", "expected an array, got 1")],
}
WRONG["texts"] = WRONG["array"]
CASES = [
    pytest.param(kind, field, value, said, id=f"{kind.__name__}-{field}-{value}")
    for kind, (_, _, fields) in ROWS.items()
    for field, of in fields.items()
    for value, said in WRONG[of.rstrip("?")]
    if not (value == "null" and of.endswith("?"))
]


def refusal(tmp_path: Path, kind: type, *lines: str) -> str:
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    with pytest.raises(InvalidInput) as caught:
        list(read(path, kind))
    return str(caught.value).removeprefix(f"{path}:")


@pytest.mark.parametrize(("kind", "field", "value", "said"), CASES)
def test_a_wrong_value(tmp_path: Path, kind: type, field: str, value: str, said: str) -> None:
    """Blank lines count."""
    good = ROWS[kind][0]
    line = json.dumps(good | {field: "HERE"}).replace('"HERE"', value)
    assert refusal(tmp_path, kind, json.dumps(good), " ", line).startswith(f"3: {field}: {said}")


@pytest.mark.parametrize("kind", ROWS, ids=lambda kind: kind.__name__)
def test_what_a_row_needs(tmp_path: Path, kind: type) -> None:
    good, needs, fields = ROWS[kind]
    for field in good:
        if fields.get(field, "").endswith("?"):
            continue
        rest = {name: value for name, value in good.items() if name != field}
        said = f"1: {field}: missing; {needs}; this row has: {', '.join(rest)}"
        assert refusal(tmp_path, kind, json.dumps(rest)) == said
    assert refusal(tmp_path, kind, '{"other": 1}').endswith(f": missing; {needs}; this row has: other")


@pytest.mark.parametrize("kind", ROWS, ids=lambda kind: kind.__name__)
def test_what_a_row_may_lack(tmp_path: Path, kind: type) -> None:
    good, _, fields = ROWS[kind]
    null = dict.fromkeys(field for field, of in fields.items() if of.endswith("?"))
    path = tmp_path / "rows.jsonl"
    path.write_text(f"{json.dumps(good)}\n{json.dumps(good | null | {'more': 1})}\n", encoding="utf-8")
    if kind is not Score:  # without an item it is the score of a corpus
        one, other = read(path, kind)
        assert one == other
